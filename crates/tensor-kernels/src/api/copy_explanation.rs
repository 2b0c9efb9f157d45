//! Why a copy is done the way it is: the loops, the candidates and their costs, as data and text.

use std::fmt;

use tensor_core::sort::sort_by;

use super::{
    copy_plan::{CopyCandidate, CopyPlan},
    explanation_text::{loops_text, paragraph, tasks_text, time},
};
use crate::{
    exec::Exec,
    nest::{Loop, Nest},
    partition::task_count,
    plan::{CostTerm, Inner, Work},
};

/// How a plan copies, and why it is the one that was chosen; see [`CopyPlan::explain`].
///
/// `Display` prints all of it, in lines of at most 100 columns; a star marks the plan among the
/// candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyExplanation {
    exec: Exec,
    plan: CopyPlan,
    chosen: ExplainedCandidate,
    candidates: Vec<ExplainedCandidate>,
    dims: Vec<Loop<2>>,
    loops: Vec<Loop<2>>,
}

/// A plan that was considered, and what its predicted time is spent on.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedCandidate {
    candidate: CopyCandidate,
    costs: [f64; CostTerm::ALL.len()],
}

impl ExplainedCandidate {
    fn new(plan: CopyPlan, exec: &Exec) -> Self {
        let costs = plan.work().costs(&exec.machine);
        let candidate = CopyCandidate { plan, predicted_ns: costs.iter().sum() };
        Self { candidate, costs }
    }

    /// The plan.
    pub fn plan(&self) -> &CopyPlan {
        &self.candidate.plan
    }

    /// The predicted time of a run on one thread, in nanoseconds.
    pub fn predicted_ns(&self) -> f64 {
        self.candidate.predicted_ns
    }

    /// The terms of which it is the sum, in nanoseconds.
    pub fn costs(&self) -> impl Iterator<Item = (CostTerm, f64)> + '_ {
        CostTerm::ALL.into_iter().zip(self.costs)
    }
}

impl CopyPlan {
    /// How the plan copies, and why it was chosen: the loops, all candidates with their predicted
    /// times, blocks, stores, threads and cache lines. `exec` is what it would be run with.
    ///
    /// ```
    /// use tensor_kernels::{CopyPlan, CostTerm, Exec, Layout};
    ///
    /// let exec = Exec::current()?;
    /// let from = Layout::contiguous(&[16, 9, 400])?.permute(&[2, 0, 1])?;
    /// let to = Layout::contiguous(from.shape())?;
    /// let explained = CopyPlan::new(&from, &to, 4, &exec.machine)?.explain(exec);
    /// assert_eq!((explained.dims().len(), explained.loops().len()), (3, 2)); // two are fused
    /// assert_eq!(explained.rank(), Some(0)); // no other candidate is predicted to be faster
    /// for (term, ns) in explained.candidates()[0].costs() {
    ///     println!("{:20} {ns:8.0} ns", term.name());
    /// }
    /// println!("{explained}");
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    pub fn explain(&self, exec: &Exec) -> CopyExplanation {
        let (from, to, width) = self.0.planned().operands();
        let strides = to.strides().iter().zip(from.strides());
        let dims = from.shape().iter().zip(strides);
        let candidates = Self::candidates(from, to, width, &exec.machine).unwrap_or_default();
        CopyExplanation {
            exec: *exec,
            plan: self.clone(),
            chosen: ExplainedCandidate::new(self.clone(), exec),
            candidates: candidates
                .into_iter()
                .map(|candidate| ExplainedCandidate::new(candidate.plan, exec))
                .collect(),
            dims: dims.map(|(&len, (&to, &from))| Loop { len, strides: [to, from] }).collect(),
            loops: Nest::of([to, from]).map_or_else(|_| Vec::new(), |nest| nest.loops().to_vec()),
        }
    }
}

impl CopyExplanation {
    /// The plan that is explained.
    pub fn plan(&self) -> &CopyPlan {
        &self.plan
    }

    /// The dimensions as loops, with the strides of destination and source in elements.
    pub fn dims(&self) -> &[Loop<2>] {
        &self.dims
    }

    /// The same loops in normal form: sorted by the destination's stride, and fused.
    pub fn loops(&self) -> &[Loop<2>] {
        &self.loops
    }

    /// The plan with its costs.
    pub fn chosen(&self) -> &ExplainedCandidate {
        &self.chosen
    }

    /// All plans that are considered, the shortest predicted time first.
    pub fn candidates(&self) -> &[ExplainedCandidate] {
        &self.candidates
    }

    /// The position of the plan among the [`candidates`](Self::candidates): 0, unless it was chosen
    /// by measuring. `None` if it was made for another machine, which has other candidates.
    pub fn rank(&self) -> Option<usize> {
        self.candidates.iter().position(|candidate| *candidate.plan() == self.plan)
    }

    /// The bytes of all elements. As many are read, and as many written.
    pub fn bytes(&self) -> usize {
        let (from, _, width) = self.plan.0.planned().operands();
        from.numel().saturating_mul(width)
    }

    /// The cache lines of destination and source that are touched, each counted once; on average
    /// over all alignments.
    pub fn cache_lines(&self) -> [f64; 2] {
        self.work().cache_lines()
    }

    /// How the innermost loops are cut into blocks, in words.
    pub fn blocks(&self) -> String {
        self.work().blocks_text()
    }

    /// The kind of stores, in words.
    pub fn stores(&self) -> &'static str {
        self.work().stores_text()
    }

    /// The number of tasks that it is cut into for threads.
    pub fn tasks(&self) -> usize {
        task_count(&self.exec, self.work())
    }

    fn work(&self) -> &Work {
        self.plan.work()
    }

    fn threads_text(&self) -> String {
        tasks_text(&self.exec, self.tasks())
    }

    fn why_text(&self) -> String {
        let is_far = self.bytes() / 2 >= self.exec.machine.stream;
        match (self.rank(), &self.candidates[..]) {
            (None, _) => "it is not a candidate on this machine".to_owned(),
            (Some(0), [_]) if is_far && matches!(self.work().inner, Inner::Streamed(_)) => {
                "a transpose far larger than the caches is streamed without a comparison".to_owned()
            }
            (Some(0), [_]) => "there is no other way to run these loops".to_owned(),
            (Some(0), [_, second, ..]) => self.compared(second, "the next one"),
            (Some(_), [first, ..]) => {
                let text = self.compared(first, "the first one");
                format!("chosen by measuring, not by prediction; {text}")
            }
            (Some(_), []) => String::new(),
        }
    }

    /// The terms in which the plan differs most from another one.
    fn compared(&self, other: &ExplainedCandidate, name: &str) -> String {
        let mut terms: Vec<(CostTerm, f64)> = self
            .chosen
            .costs()
            .zip(other.costs)
            .map(|((term, own), other)| (term, own - other))
            .filter(|(_, more)| *more != 0.0)
            .collect();
        sort_by(&mut terms, |(_, a), (_, b)| a.abs() > b.abs());
        let text = |(term, more): &(CostTerm, f64)| {
            let word = if *more < 0.0 { "less" } else { "more" };
            format!("{} {word} for {}", time(more.abs()), term.name())
        };
        let terms: Vec<String> = terms.iter().take(MAX_COMPARED_TERMS).map(text).collect();
        match terms.is_empty() {
            true => format!("the same time as {name}"),
            false => format!("than {name} it takes {}", terms.join(", ")),
        }
    }
}

/// The most terms in which two plans are compared.
const MAX_COMPARED_TERMS: usize = 3;

impl fmt::Display for CopyExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, _, width) = self.plan.0.planned().operands();
        let [to_lines, from_lines] = self.cache_lines();
        let (numel, s) = (from.numel(), if from.numel() == 1 { "" } else { "s" });
        let copy = format!("{numel} element{s} of {width} bytes, {} bytes", self.bytes());
        paragraph(f, "copy", &copy)?;
        let dims = loops_text(&self.dims);
        paragraph(f, "dims", &format!("{dims} (length x [stride of the result, of the source])"))?;
        paragraph(f, "fused loops", &loops_text(&self.loops))?;
        paragraph(f, "plan", &self.plan.to_string())?;
        paragraph(f, "blocks", &self.blocks())?;
        paragraph(f, "stores", self.stores())?;
        paragraph(f, "threads", &self.threads_text())?;
        let lines = format!("result {to_lines:.0}, source {from_lines:.0}");
        paragraph(f, "cache lines", &lines)?;
        for (rank, candidate) in self.candidates.iter().enumerate() {
            let title = if rank == 0 { "candidates" } else { "" };
            let mark = if Some(rank) == self.rank() { "*" } else { " " };
            let ns = time(candidate.predicted_ns());
            let text = format!("{mark} {ns:>8}  {}", candidate.plan());
            paragraph(f, title, &text)?;
        }
        paragraph(f, "why", &self.why_text())
    }
}
