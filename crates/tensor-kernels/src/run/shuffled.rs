//! Copies whose blocks are assembled by shuffles: see `plan::copy::shuffled`.

use pulp::NullaryFnOnce;

use super::walk::iterations;
use crate::{
    kernel::{Isa, Unit},
    memory::Stores,
    nest::Loop,
    plan::{Shuffled, ShuffledBy, Work, picks, shuffles},
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
        let Self { isa, work, plan, .. } = self;
        let (_, loops) = plan.split(&work.outer);
        let block = plan.block.block.min(self.cut().len);
        if plan.by == ShuffledBy::Registers && I::PICKS {
            let are_picked = match work.unit {
                1 => self.pick::<u16, 2>(block),
                2 => self.pick::<u16, 1>(block),
                4 => self.pick::<u32, 1>(block),
                _ => self.pick::<u64, 1>(block),
            };
            if are_picked {
                return;
            }
        }
        // A part for a thread may be smaller than a block.
        let Some(shuffles) = shuffles(loops, block, work.unit) else {
            return self.unit_by_unit();
        };
        self.each(block, |src, dst, blocks| {
            // SAFETY: `each` calls it with blocks of this work, whose lanes and bytes these
            // shuffles reach, and nothing beyond the ends of each: M1 to M3.
            unsafe { isa.shuffle_blocks(src, dst, &shuffles, blocks) };
        });
    }
}

impl<I: Isa> ShuffledTask<'_, I> {
    /// The outermost loop of a block, which is cut.
    #[inline(always)]
    fn cut(&self) -> Loop<2> {
        self.plan.split(&self.work.outer).1.first().copied().unwrap_or(Loop::ONCE)
    }

    /// Assembles all blocks out of words of type `L`, `P` of which make one of the result; `false`
    /// if they cannot be picked.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    fn pick<L: Unit, const P: usize>(&self, block: usize) -> bool {
        let loops = self.plan.split(&self.work.outer).1;
        let Some(picks) = picks::<P>(loops, block, self.work.unit) else { return false };
        self.each(block, |src, dst, blocks| {
            // SAFETY: `each` calls it with blocks of this work, whose windows and bytes these picks
            // reach, and nothing beyond the ends of each: M1 to M3.
            unsafe { self.isa.pick_blocks::<L, P>(src.cast(), dst.cast(), &picks, blocks) };
        });
        true
    }

    /// Calls `assemble` with the first of some blocks, by its addresses, and the loop over them.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    fn each(&self, block: usize, assemble: impl Fn(*const u8, *mut u8, Loop<2>)) {
        let (around, cut) = (self.plan.split(&self.work.outer).0, self.cut());
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
        for at in iterations(around) {
            let [to, from] = self.in_bytes(at);
            let (src, dst) = (self.src.wrapping_offset(from), self.dst.wrapping_offset(to));
            assemble(src, dst, blocks);
            if is_cut_short {
                let [to, from] = self.in_bytes(last);
                assemble(src.wrapping_offset(from), dst.wrapping_offset(to), Loop::ONCE);
            }
        }
    }

    #[inline(always)]
    fn unit_by_unit(&self) {
        for at in iterations(&self.work.outer) {
            let [to, from] = self.in_bytes(at);
            let (src, dst) = (self.src.wrapping_offset(from), self.dst.wrapping_offset(to));
            // SAFETY: the invariant: M1 to M3 for the bytes of one unit.
            unsafe { self.isa.run(src, dst, self.work.unit, Stores::Plain) };
        }
    }

    #[inline(always)]
    fn in_bytes(&self, units: [isize; 2]) -> [isize; 2] {
        units.map(|units| units * self.work.unit as isize)
    }
}
