//! Cuts work for threads, by one rule for copies, elementwise operations and reductions.
//!
//! Work is halved recursively, each time along the first loop that can be cut near its middle. Cuts
//! fall at the ends of blocks and of cache lines of the result. A plan knows the offset of its
//! result from the start of the storage, and the storage is aligned. The two halves write different
//! elements, because no two indices of the result share one, so they may run at the same time.

mod copy;
#[cfg(feature = "elementwise")]
mod elementwise;
#[cfg(feature = "elementwise")]
mod reduce;

use smallvec::SmallVec;

use crate::{
    exec::{Exec, pool},
    plan::Group,
};

/// A loop that work can be cut along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The number of iterations.
    pub(crate) len: usize,
    /// Cuts are multiples of this many iterations apart: a block, or a cache line.
    pub(crate) multiple: usize,
    /// The position of the first cut, less than `multiple`: the iterations before the first whole
    /// cache line.
    pub(crate) first: usize,
}

/// Loops over adjacent elements are cut at multiples of this many elements: a cache line of bytes,
/// and whole register tiles.
const CUT_ALIGNMENT_ELEMENTS: usize = 64;

impl Axis {
    /// A loop that can be cut anywhere.
    pub(crate) fn anywhere(len: usize) -> Self {
        Self { len, multiple: 1, first: 0 }
    }

    /// A loop that can be cut at multiples of `multiple`.
    pub(crate) fn at_multiples(len: usize, multiple: usize) -> Self {
        Self { len, multiple: multiple.max(1), first: 0 }
    }

    /// A loop over adjacent elements of a result. The first one lies `start` bytes after the start
    /// of a cache line.
    pub(crate) fn adjacent(len: usize, start: isize, width: usize) -> Self {
        let before = start.wrapping_neg().rem_euclid(CUT_ALIGNMENT_ELEMENTS as isize) as usize;
        Self {
            len,
            multiple: CUT_ALIGNMENT_ELEMENTS,
            first: before / width.max(1) % CUT_ALIGNMENT_ELEMENTS,
        }
    }

    /// Where to cut: the first possible cut from the middle on, else the last one before it. `None`
    /// if a part would have no iterations.
    pub(crate) fn middle(self) -> Option<usize> {
        let Self { len, multiple, first } = self;
        let beyond = (len / 2).saturating_sub(first);
        let behind = first + beyond.next_multiple_of(multiple);
        let before = first + beyond / multiple * multiple;
        [behind, before].into_iter().find(|at| (1..len).contains(at))
    }
}

/// The loops of some work, in the order in which they are cut.
pub(crate) type Axes = SmallVec<[Axis; 8]>;

/// Restricts the axes of loops in groups, which are the last, the innermost group first. The
/// outermost loop of a group is cut between blocks, the others are whole.
fn cut_groups<const N: usize>(axes: &mut Axes, groups: [Group; N]) {
    let mut end = axes.len();
    for group in groups {
        let start = end - group.loops;
        for (at, axis) in axes[start..end].iter_mut().enumerate() {
            let len = if at == 0 { axis.len } else { 1 };
            *axis = Axis::at_multiples(len, group.block);
        }
        end = start;
    }
}

/// Work that can be cut into parts that may run at the same time.
pub(crate) trait Divisible: Sized + Sync {
    /// The loops that it can be cut along, the preferred one first. A loop that must stay whole is
    /// given length 1.
    fn axes(&self) -> Axes;

    /// `len` iterations of a loop of [`axes`](Self::axes), from iteration `start` on.
    fn part(&self, axis: usize, start: usize, len: usize) -> Self;

    /// The bytes that it reads or writes.
    fn bytes(&self) -> usize;
}

/// A cut of some work in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    axis: usize,
    at: usize,
    len: usize,
}

impl Split {
    /// Cuts along the first loop that can be cut; `None` if there is none.
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

/// Halves the work recursively until there are as many tasks as `exec` asks for, and runs them on
/// the pool.
#[inline]
pub(crate) fn par_run<W: Divisible>(exec: &Exec, work: &W, run: impl Fn(&W) + Copy + Sync + Send) {
    match exec.tasks(work.bytes()) {
        1 => run(work),
        tasks => run_tasks(work, tasks, run),
    }
}

/// The number of tasks that [`par_run`] makes of some work.
pub(crate) fn task_count<W: Divisible>(exec: &Exec, work: &W) -> usize {
    count_tasks(work, exec.tasks(work.bytes()))
}

fn count_tasks<W: Divisible>(work: &W, tasks: usize) -> usize {
    match if tasks > 1 { Split::of(work) } else { None } {
        None => 1,
        Some(split) => {
            let [first, second] = split.apply(work);
            count_tasks(&first, tasks / 2) + count_tasks(&second, tasks - tasks / 2)
        }
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
