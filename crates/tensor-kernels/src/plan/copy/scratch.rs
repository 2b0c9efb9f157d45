//! Copies to and from scratch, which elementwise operations and reductions plan for themselves.

use super::Work;
use crate::{exec::Machine, nest::NestBuilder};

/// How many plans are compared for a copy to or from scratch, by plain stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Few, because the plan is used a few times.
    Brief,
    /// All, because the plan is used often, or the copy is large.
    Full,
}

impl Comparison {
    /// The machine for which is planned: by plain stores only, and for a brief comparison one on
    /// which every copy stays in the first-level cache.
    pub(in crate::plan) const fn machine(self) -> Machine {
        match self {
            Self::Brief => Machine { l1: usize::MAX, l2: usize::MAX, ..Self::Full.machine() },
            Self::Full => Machine { stream: usize::MAX, ..Machine::REFERENCE },
        }
    }
}

impl Work {
    /// The plan of a copy to or from scratch, of elements of `width` bytes by loops in normal form.
    pub(crate) fn of_nest(
        builder: &mut NestBuilder<'_, 2>,
        width: usize,
        comparison: Comparison,
    ) -> Self {
        let mut work = Self::nothing();
        work.choose(builder, width, &comparison.machine());
        work
    }
}
