//! Cutting work for threads: one rule for copies, elementwise operations and reductions.
//!
//! Work is halved, and the halves again, along the first of its loops that can be cut near its
//! middle. Cuts fall where blocks end, and where cache lines of the result do, as far as that is
//! known: a plan knows where its result starts from the start of the storage, which is aligned.
//! Halves write different elements (the result's indices do), so they may run at the same time.

mod copy;
mod elementwise;

use smallvec::SmallVec;

use crate::exec::{Exec, pool};

/// A loop that work can be cut along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Its iterations.
    pub(crate) len: usize,
    /// Cuts are so many iterations apart: a block, or a cache line.
    pub(crate) multiple: usize,
    /// The first cut is behind so many iterations, less than a granule: those before the first
    /// whole cache line.
    pub(crate) first: usize,
}

/// Loops over adjacent elements are cut at multiples of this many: a cache line of the smallest,
/// and whole register tiles.
const CUT_ALIGNMENT_ELEMENTS: usize = 64;

impl Axis {
    /// A loop that can be cut anywhere.
    pub(crate) fn anywhere(len: usize) -> Self {
        Self { len, multiple: 1, first: 0 }
    }

    /// A loop that can be cut at multiples of `granule`.
    pub(crate) fn at_multiples(len: usize, multiple: usize) -> Self {
        Self { len, multiple: multiple.max(1), first: 0 }
    }

    /// A loop over adjacent elements of a result of which the first one lies `start` bytes behind
    /// the start of a cache line.
    pub(crate) fn adjacent(len: usize, start: isize, width: usize) -> Self {
        let before = start.wrapping_neg().rem_euclid(CUT_ALIGNMENT_ELEMENTS as isize) as usize;
        Self {
            len,
            multiple: CUT_ALIGNMENT_ELEMENTS,
            first: before / width.max(1) % CUT_ALIGNMENT_ELEMENTS,
        }
    }

    /// A loop over results: whole cache lines of the smallest, if there are many.
    pub(crate) fn of_results(len: usize) -> Self {
        Self::at_multiples(
            len,
            if len / 2 < CUT_ALIGNMENT_ELEMENTS { 1 } else { CUT_ALIGNMENT_ELEMENTS },
        )
    }

    /// Where to cut it: nearest behind the middle, else nearest in front of it, if there are
    /// iterations on both sides.
    pub(crate) fn middle(self) -> Option<usize> {
        let Self { len, multiple, first } = self;
        let beyond = (len / 2).saturating_sub(first);
        let behind = first + beyond.next_multiple_of(multiple);
        let before = first + beyond / multiple * multiple;
        [behind, before].into_iter().find(|at| (1..len).contains(at))
    }
}

/// The loops of some work in the order in which they are cut.
pub(crate) type Axes = SmallVec<[Axis; 8]>;

/// Something that can be cut in parts that may run at the same time.
pub(crate) trait Divisible: Sized + Sync {
    /// The loops that it can be cut along, the first one to be cut in front. A loop that must stay
    /// whole has one iteration.
    fn axes(&self) -> Axes;

    /// `len` iterations of a loop of [`axes`](Self::axes), from iteration `start` on.
    fn part(&self, axis: usize, start: usize, len: usize) -> Self;

    /// The bytes that it moves.
    fn bytes(&self) -> usize;
}

/// How work is cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    axis: usize,
    at: usize,
    len: usize,
}

impl Split {
    /// Along the first loop that can be cut; `None` if there is none.
    pub(crate) fn of(work: &impl Divisible) -> Option<Self> {
        let cut = |(axis, loop_): (usize, &Axis)| {
            loop_.middle().map(|at| Self { axis, at, len: loop_.len })
        };
        work.axes().iter().enumerate().find_map(cut)
    }

    /// The two parts.
    pub(crate) fn apply<W: Divisible>(self, work: &W) -> [W; 2] {
        let Self { axis, at, len } = self;
        [work.part(axis, 0, at), work.part(axis, at, len - at)]
    }
}

/// Halves the work until there are as many pieces as `exec` wants, and runs them on whatever
/// threads are free.
#[inline]
pub(crate) fn par_run<W: Divisible>(exec: &Exec, work: &W, run: impl Fn(&W) + Copy + Sync + Send) {
    match exec.tasks(work.bytes()) {
        1 => run(work),
        tasks => run_tasks(work, tasks, run),
    }
}

fn run_tasks<W: Divisible>(work: &W, tasks: usize, run: impl Fn(&W) + Copy + Sync + Send) {
    match if tasks > 1 { Split::of(work) } else { None } {
        None => run(work),
        Some(split) => {
            let [first, second] = split.apply(work);
            pool::join(
                || run_tasks(&first, tasks / 2, run),
                || run_tasks(&second, tasks - tasks / 2, run),
            );
        }
    }
}

#[cfg(test)]
mod tests;
