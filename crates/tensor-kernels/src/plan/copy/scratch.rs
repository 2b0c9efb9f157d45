//! Copies to and from scratch, which elementwise operations, reductions and packed sources plan for
//! themselves.

use smallvec::SmallVec;

use super::Work;
use crate::{
    exec::Machine,
    nest::{Loop, NestBuilder},
};

/// How many plans are compared for a copy to or from scratch, by plain stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Few, because the plan is used a few times.
    #[cfg(feature = "elementwise")]
    Brief,
    /// All, because the plan is used often, or the copy is large.
    Full,
}

impl Comparison {
    /// The machine for which is planned, with these vector registers: by plain stores only, and for
    /// a brief comparison one on which every copy stays in the first-level cache.
    pub(crate) const fn machine(self, vector: usize) -> Machine {
        let [l1, l2] = match self {
            #[cfg(feature = "elementwise")]
            Self::Brief => [usize::MAX; 2],
            Self::Full => [Machine::REFERENCE.l1, Machine::REFERENCE.l2],
        };
        Machine { l1, l2, stream: usize::MAX, vector, ..Machine::REFERENCE }
    }
}

impl Work {
    /// The plan of a copy to or from scratch, of elements of `width` bytes by loops sorted by the
    /// stride of the destination.
    pub(crate) fn of_loops(
        loops: impl Iterator<Item = Loop<2>>,
        width: usize,
        machine: &Machine,
    ) -> Self {
        let mut buffer: SmallVec<[Loop<2>; 9]> = loops.filter(|l| l.len > 1).collect();
        // A nest has room for one more loop.
        buffer.push(Loop::NONE);
        let mut builder = NestBuilder::over(&mut buffer, [0; 2]);
        builder.pop();
        builder.fuse();
        Self::of_nest(&mut builder, width, machine)
    }

    /// The plan of a copy to or from scratch, of elements of `width` bytes by loops in normal form.
    pub(crate) fn of_nest(
        builder: &mut NestBuilder<'_, 2>,
        width: usize,
        machine: &Machine,
    ) -> Self {
        let mut work = Self::nothing();
        work.choose(builder, width, machine);
        work
    }
}
