//! Copies whose blocks are assembled by shuffles: see `plan::copy::shuffled`.

use pulp::NullaryFnOnce;

use super::walk::walk;
use crate::{
    kernel::Isa,
    memory::Stores,
    nest::Loop,
    plan::{Shuffled, Work, shuffles},
};

/// All blocks of a plan, by addresses and strides in bytes. A function of its own, as its list of
/// shuffles would make the stack frame of every copy larger.
///
/// Invariant: only `copy::Task::run` makes it; C1 and C2.
pub(super) struct ShuffledTask<'a, I> {
    pub(super) isa: I,
    pub(super) work: &'a Work,
    pub(super) plan: Shuffled,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
}

impl<I: Isa> NullaryFnOnce for ShuffledTask<'_, I> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, work, plan, src, dst } = self;
        let (around, loops) = plan.split(&work.outer);
        let cut = loops.first().copied().unwrap_or(Loop::ONCE);
        let block = plan.block.block.min(cut.len);
        // A part for a thread may be smaller than a block.
        let Some(shuffles) = shuffles(loops, block, work.unit) else {
            return self.unit_by_unit();
        };
        // If there is one block, it is repeated by the loop around.
        let (around, blocks) = match around.split_last() {
            Some((&blocks, around)) if block == cut.len => (around, blocks),
            _ => {
                let strides = cut.strides.map(|stride| stride * block as isize);
                (around, Loop { len: cut.len / block, strides })
            }
        };
        let blocks = Loop { len: blocks.len, strides: self.in_bytes(blocks.strides) };
        // The last block overlaps the one before it.
        let is_cut_short = !cut.len.is_multiple_of(block);
        let last = cut.strides.map(|stride| stride * (cut.len - block) as isize);
        walk(around, |at| {
            let [to, from] = self.in_bytes(at);
            let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
            // SAFETY: the invariant: M1 to M3 for the elements of these blocks, whose sources the
            // shuffles read, and nothing beyond the ends of each.
            unsafe { isa.shuffle_blocks(src, dst, &shuffles, blocks) };
            if is_cut_short {
                let [to, from] = self.in_bytes(last);
                let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
                // SAFETY: the same, for the last block.
                unsafe { isa.shuffle_blocks(src, dst, &shuffles, Loop::ONCE) };
            }
        });
    }
}

impl<I: Isa> ShuffledTask<'_, I> {
    #[inline(always)]
    fn unit_by_unit(&self) {
        walk(&self.work.outer, |at| {
            let [to, from] = self.in_bytes(at);
            let (src, dst) = (self.src.wrapping_offset(from), self.dst.wrapping_offset(to));
            // SAFETY: the invariant: M1 to M3 for the bytes of one unit.
            unsafe { self.isa.run(src, dst, self.work.unit, Stores::Plain) };
        });
    }

    #[inline(always)]
    fn in_bytes(&self, units: [isize; 2]) -> [isize; 2] {
        units.map(|units| units * self.work.unit as isize)
    }
}
