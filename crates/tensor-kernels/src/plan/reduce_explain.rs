//! What a plan of a reduction is made of, for people: its kind, why that was chosen, its scratch.

use super::{PlannedReduce, ReduceWork};
use crate::exec::Exec;

impl PlannedReduce {
    /// The name of the kind.
    pub(crate) fn path(&self) -> &'static str {
        match self {
            Self::Direct(_) => "direct",
            Self::Copied(_) => "copied",
            Self::Listed(_) => "listed",
            Self::TwoStage(_) => "two_stages",
        }
    }

    /// What is done, and when that is predicted to be the fastest.
    pub(crate) fn why(&self) -> &'static str {
        match self {
            Self::Direct(_) => "no other way is predicted to be faster than reading it in place",
            Self::Copied(_) => {
                "its loops are short where it lies: the input is copied first, so that rows and \
                 columns are long"
            }
            Self::Listed(_) => "it has so few elements that a list of their offsets is faster",
            Self::TwoStage(_) => {
                "the loops further out are reduced first, along rows of several loops; the rest \
                 of the partial results after them"
            }
        }
    }

    /// The plans of the loops, in the order in which they are run; of parts of the same form, one.
    pub(crate) fn works(&self) -> Vec<&ReduceWork> {
        match self {
            Self::Direct(work) => vec![work],
            Self::Copied(copied) if copied.parts() == 0 => vec![],
            Self::Copied(copied) => vec![&copied.part(0).part.reduce],
            Self::Listed(_) => vec![],
            Self::TwoStage(two) => two.pieces().map(|piece| &piece.first).collect(),
        }
    }

    /// The bytes of scratch that hold elements of the input at a time.
    pub(crate) fn scratch_bytes(&self) -> usize {
        let copied = if let Self::Copied(copied) = self { copied.part_bytes() } else { 0 };
        let blocks = self.works().into_iter().map(|work| work.block.scratch_bytes());
        copied + blocks.max().unwrap_or(0)
    }

    /// The most tasks that it is cut into for threads.
    pub(crate) fn tasks(&self, exec: &Exec) -> usize {
        match self {
            Self::Direct(work) => exec.tasks(work.bytes()),
            Self::Copied(copied) => {
                let (parts, part_bytes) = (copied.parts(), copied.part_bytes());
                let of_parts = exec.tasks(parts.saturating_mul(part_bytes)).min(parts);
                if of_parts > 1 { of_parts } else { exec.tasks(part_bytes) }
            }
            Self::Listed(_) => 1,
            Self::TwoStage(two) => {
                two.pieces().map(|piece| exec.tasks(piece.first.bytes())).max().unwrap_or(1)
            }
        }
    }
}

impl ReduceWork {
    /// The predicted time of the plan that reads the input where it lies, on one thread of a CPU of
    /// about 4 GHz, without the time of memory.
    pub(crate) fn in_place_ns(&self) -> f64 {
        self.predicted_ns()
    }
}
