//! Blocks of adjacent bytes, assembled by shuffles that a list gives.
//!
//! As many blocks as a register has lanes are assembled at once, one in each lane: the shuffles are
//! the same, and are loaded once for all of them.

use pulp::NullaryFnOnce;

use super::register::{Registers, Vector};
use crate::{lane_shuffles::LaneShuffles, nest::Loop};

/// Blocks in each iteration of a loop.
///
/// Invariant: only [`blocks`] makes it; M1 to M3 hold for all blocks.
struct Blocks<'s, R> {
    isa: R,
    src: *const u8,
    dst: *mut u8,
    shuffles: &'s LaneShuffles,
    /// The blocks, with strides in bytes.
    blocks: Loop<2>,
}

/// Assembles a block in each iteration of a loop, whose strides are in bytes.
///
/// # Safety
///
/// M1 for the sources of the shuffles of each block, M2 for the bytes of each block, M3.
#[inline(always)]
pub(super) unsafe fn blocks<R: Registers>(
    isa: R,
    src: *const u8,
    dst: *mut u8,
    shuffles: &LaneShuffles,
    blocks: Loop<2>,
) {
    isa.vectorize(Blocks { isa, src, dst, shuffles, blocks });
}

impl<R: Registers> NullaryFnOnce for Blocks<'_, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let at_once = R::Full::LANES;
        let mut block = 0;
        if self.blocks.len < at_once {
            while block < self.blocks.len {
                // SAFETY: one block, the invariant.
                unsafe { self.assemble::<R::Lane>(self.isa.into(), block) };
                block += 1;
            }
            return;
        }
        while block < self.blocks.len {
            // The last blocks are assembled twice.
            block = block.min(self.blocks.len - at_once);
            // SAFETY: as many blocks follow as a register has lanes; the invariant.
            unsafe { self.assemble::<R::Full>(self.isa.into(), block) };
            block += at_once;
        }
    }
}

impl<R: Registers> Blocks<'_, R> {
    /// Assembles the blocks from `block` on, one in each lane.
    ///
    /// # Safety
    ///
    /// M1 to M3 for as many blocks as `V` has lanes.
    #[inline(always)]
    unsafe fn assemble<V: Vector>(&self, token: V::Token, block: usize) {
        let [to, from] = self.blocks.strides;
        let src = self.src.wrapping_offset(block as isize * from);
        let dst = self.dst.wrapping_offset(block as isize * to);
        for (start, sources) in self.shuffles.lanes() {
            let Some((first, others)) = sources.split_first() else { continue };
            // SAFETY: M1 for the first source of these lanes.
            let lanes =
                unsafe { V::load_lanes(token, src.wrapping_offset(first.offset as isize), from) };
            let mut lanes = lanes.shuffle(first.index);
            for source in others {
                let src = src.wrapping_offset(source.offset as isize);
                // SAFETY: M1 for a source of these lanes.
                let more = unsafe { V::load_lanes(token, src, from) };
                lanes = lanes.or(more.shuffle(source.index));
            }
            // SAFETY: M2 for these lanes of the blocks.
            unsafe { lanes.store_lanes(dst.wrapping_add(start), to) };
        }
    }
}
