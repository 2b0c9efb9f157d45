//! What a part of a reduction's loops receives: the position of its first element, and its scratch
//! memory.
//!
//! Both are divided as the loops are: per iteration, per half, per thread.

use super::workspace::Scratch;

/// The first element of a part of the loops.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) input: *const u8,
    /// The index of that element among those that are reduced to one.
    pub(super) index: isize,
}

// SAFETY: elements are `Sync`, and this pointer is only read through.
unsafe impl Send for Origin {}

/// Scratch for a part of the loops: accumulators of the results, accumulators of halves, and a
/// block of the input.
pub(super) struct Workspaces<'a> {
    pub(super) accumulators: Scratch<'a>,
    pub(super) halves: Scratch<'a>,
    pub(super) block: Scratch<'a>,
}

impl Workspaces<'_> {
    pub(super) fn reborrow(&mut self) -> Workspaces<'_> {
        Workspaces {
            accumulators: self.accumulators.reborrow(),
            halves: self.halves.reborrow(),
            block: self.block.reborrow(),
        }
    }

    /// The same, with accumulators from byte `start` on.
    pub(super) fn accumulators_from(&mut self, start: usize) -> Workspaces<'_> {
        let (_, accumulators) = self.accumulators.reborrow().split_at(start);
        let (halves, block) = (self.halves.reborrow(), self.block.reborrow());
        Workspaces { accumulators, halves, block }
    }
}
