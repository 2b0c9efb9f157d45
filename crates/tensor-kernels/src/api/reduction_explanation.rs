//! Why a reduction is done the way it is: the loops, the plan, its blocks, scratch and bytes, as
//! data and text.

use std::fmt;

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{DType, DTypeError, Layout, ReduceDims, Result};

use super::{
    explanation_text::{loops_text, paragraph, tasks_text, time},
    ops::reduction_table::reduction_operations,
    reduction::Reduce,
    reductions,
    types::match_dtype,
};
use crate::{
    exec::Exec,
    nest::{Loop, Nest},
    plan::{PlannedReduce, ReduceWork},
    reduction_order::{ReductionForm, Widths},
};

/// How a reduction is planned; see [`explain_reduction`].
///
/// `Display` prints all of it, in lines of at most 100 columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ReductionExplanation {
    exec: Exec,
    op: &'static str,
    direct: ReduceWork,
    plan: PlannedReduce,
    dims: Vec<Loop<2>>,
    loops: Vec<Loop<2>>,
}

/// How a reduction to a new tensor is planned: the loops before and after they are fused, the path,
/// blocks, scratch, threads and bytes.
///
/// `op` is the name of the function in [`ops`](crate::ops), such as `"sum"` or `"argmax"`; `input`
/// and `over` are its arguments. `exec` is what the reduction would be run with. The path is one of
///
/// | path | what is done |
/// |---|---|
/// | `direct` | the input is read where it lies, in blocks of two loops |
/// | `copied` | it is copied to scratch first, part by part |
/// | `listed` | the offsets of a few elements are listed |
/// | `two_stages` | the loops further out are reduced to rows of partial results first |
///
/// ```
/// use tensor_kernels::{DType, Exec, Layout, explain_reduction};
///
/// let batch = Layout::contiguous([8, 125, 800])?;
/// let explained = explain_reduction(Exec::current()?, "sum", DType::F32, &batch, 2)?;
/// assert_eq!((explained.path(), explained.results()), ("direct", 8 * 125));
/// assert_eq!(explained.loops().len(), 2); // what is kept is one loop, what is reduced another
/// assert_eq!(explained.bytes(), 4 * batch.numel());
/// println!("{explained}");
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`DTypeError::Unsupported`] if there is no reduction of this name, or it is not defined for the
/// dtype; [`Error::DimOutOfRange`], [`Error::ReduceTwice`].
pub fn explain_reduction(
    exec: &Exec,
    op: &'static str,
    dtype: DType,
    input: &Layout,
    over: impl Into<ReduceDims>,
) -> Result<ReductionExplanation> {
    let form = form(op, dtype)?;
    let reduced = input.reduced(op, over)?;
    let result = reduced.broadcast_result(&Layout::contiguous(reduced.shape())?)?;
    let indices = if form.returns_indices { reduced.indices()? } else { reduced.zero_layout()? };
    let direct = ReduceWork::plan([input, &result, &indices], form.widths, form.repeats);
    let strides = input.strides().iter().zip(result.strides());
    let dims = input.shape().iter().zip(strides);
    Ok(ReductionExplanation {
        exec: *exec,
        op,
        plan: PlannedReduce::new(direct.clone()),
        direct,
        dims: dims.map(|(&len, (&from, &to))| Loop { len, strides: [from, to] }).collect(),
        loops: Nest::of([input, &result])?.loops().to_vec(),
    })
}

/// What the plan of a reduction depends on.
fn form(op: &'static str, dtype: DType) -> Result<ReductionForm> {
    macro_rules! forms {
        ($(
            $(#[$doc:meta])*
            $reduction:ident<$t:ident: $bound:ident> -> $output:ty:
                $name:ident, $into:ident, $all:ident;
        )*) => {
            match op {
                $(stringify!($name) => match_dtype!($bound, dtype, op, T => {
                    Ok(<reductions::$reduction as Reduce<T>>::form())
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    reduction_operations! { forms }
}

impl ReductionExplanation {
    /// The name of the path: `direct`, `copied`, `listed` or `two_stages`.
    pub fn path(&self) -> &'static str {
        self.plan.path()
    }

    /// The dimensions as loops, with the strides of the input and of the result in elements; that
    /// of the result is 0 where it is reduced.
    pub fn dims(&self) -> &[Loop<2>] {
        &self.dims
    }

    /// The same loops in normal form, sorted by the input's stride and fused.
    pub fn loops(&self) -> &[Loop<2>] {
        &self.loops
    }

    /// The plans that are run, in words, one for each stage or kind of part; none of a reduction by
    /// a list.
    pub fn works(&self) -> Vec<String> {
        self.plan.works().into_iter().map(ToString::to_string).collect()
    }

    /// The bytes of scratch that hold elements of the input at a time, without the accumulators.
    pub fn scratch_bytes(&self) -> usize {
        self.plan.scratch_bytes()
    }

    /// The most tasks that it is cut into for threads.
    pub fn tasks(&self) -> usize {
        self.plan.tasks(&self.exec)
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.direct.results()
    }

    /// The bytes that are read, once. An element that an expanded input repeats for other results
    /// counts as often, and so do a few repetitions for the same result.
    pub fn bytes(&self) -> usize {
        self.direct.bytes()
    }

    /// The predicted time of the path `direct` on one thread in nanoseconds, if all of the input is
    /// cached.
    pub fn direct_ns(&self) -> f64 {
        self.direct.in_place_ns()
    }
}

impl fmt::Display for ReductionExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Widths { input, output, accumulator }, results) = (self.direct.widths, self.results());
        let numel = self.dims.iter().fold(1_usize, |numel, l| numel.saturating_mul(l.len));
        let what = format!(
            "{} of {numel} elements of {input} bytes to {results} of {output} bytes, accumulators \
             of {accumulator} bytes",
            self.op
        );
        paragraph(f, "reduction", &what)?;
        let dims = loops_text(&self.dims);
        paragraph(f, "dims", &format!("{dims} (length x [stride of the input, of the result])"))?;
        paragraph(f, "fused loops", &loops_text(&self.loops))?;
        paragraph(f, "path", self.path())?;
        for work in self.works() {
            paragraph(f, "plan", &work)?;
        }
        paragraph(f, "scratch", &format!("{} bytes of elements", self.scratch_bytes()))?;
        paragraph(f, "threads", &tasks_text(&self.exec, self.tasks()))?;
        let written = results.saturating_mul(output);
        paragraph(f, "bytes", &format!("{} read, {written} written", self.bytes()))?;
        paragraph(
            f,
            "in place",
            &format!("{} predicted, from the caches", time(self.direct_ns())),
        )?;
        paragraph(f, "why", self.plan.why())
    }
}
