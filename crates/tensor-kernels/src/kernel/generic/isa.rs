//! Implements every kernel of [`Isa`] for every instruction set with [`Registers`].

#[cfg(feature = "in-place")]
use super::exchange;
#[cfg(any(feature = "elementwise", feature = "in-place"))]
use super::register::Vector;
use super::{
    across_lanes::Pick, copy, finish::Keep, gather, indexed, narrow_runs, picked_blocks,
    picked_copy, register::Registers, row_writer, shuffled, stitch, stitch_indexed, transpose,
};
#[cfg(feature = "in-place")]
use crate::kernel::tile_exchange::TileExchange;
#[cfg(feature = "elementwise")]
use crate::math::Fused;
use crate::{
    kernel::{
        indexed_block::IndexedBlock,
        isa::Isa,
        narrow_runs::NarrowRuns,
        staged_rows::StagedRows,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    lane_shuffles::LaneShuffles,
    memory::Stores,
    nest::Loop,
    picked_copy::PickedCopy,
    register_picks::RegisterPicks,
};

impl<R: Registers> Isa for R {
    type Copies = Self;

    #[inline(always)]
    fn copies(self) -> Self {
        self
    }

    // Every level with registers has FMA: x86-64-v3 and -v4 by definition, and NEON on AArch64.
    #[cfg(feature = "elementwise")]
    type FmaMode = Fused;

    #[cfg(feature = "elementwise")]
    const HAS_WIDE_REGISTERS: bool = R::Native::BYTES == crate::memory::CACHE_LINE;

    #[inline(always)]
    fn fence(self) {
        Registers::fence(self);
    }

    // Also where no store is non-temporal: without it rows would be staged in scratch
    // (`Lines::Staged`), with as many loads and stores per line.
    const STITCHES_LINES: bool = true;

    const STITCHES_SHORT_ROWS: bool = true;

    #[inline(always)]
    unsafe fn transpose_stitched<L: Unit>(
        self,
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
        pending: *mut u8,
        first: bool,
    ) {
        let block = TransposeBlock::new((src, src_stride), (dst, dst_stride), (nu, nv));
        // SAFETY: `Isa::transpose_stitched`'s contract, for the same elements and pending lines.
        unsafe { stitch::transpose::<R, L, _>(self, block, pending, first, Keep) }
    }

    #[inline(always)]
    unsafe fn finish_stitched(self, dst: *mut u8, dst_step: isize, nv: usize, pending: *const u8) {
        // SAFETY: `Isa::finish_stitched`'s contract, for the same rows and pending lines.
        unsafe { stitch::finish(self, dst, dst_step, nv, pending) }
    }

    #[inline(always)]
    unsafe fn transpose_indexed_lines<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
    ) {
        let residency = Residency::Memory;
        let block = IndexedBlock { src, dst, columns, rows, residency };
        // SAFETY: `Isa::transpose_indexed_lines`'s contract, for the same elements.
        unsafe { stitch_indexed::copy(self, block, pending) }
    }

    #[inline(always)]
    unsafe fn flush<L: Unit>(self, rows: StagedRows) {
        // SAFETY: `Isa::flush`'s contract, for the same rows.
        unsafe { row_writer::flush(self, rows) }
    }

    #[inline(always)]
    unsafe fn run<L: Unit>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: M1 to M3 hold for `len` elements, which are `len * WIDTH` bytes.
        unsafe { copy::copy(self, src.cast(), dst.cast(), len * L::WIDTH, stores) }
    }

    #[inline(always)]
    unsafe fn run_by_lines(self, src: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: M1 to M3 hold for the bytes, by this function's contract.
        unsafe { copy::copy_by_lines(self, src, dst, bytes) }
    }

    #[inline(always)]
    unsafe fn fill<L: Unit>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: M2 holds for `len` elements.
        unsafe { copy::fill(self, value, dst.cast(), len, stores) }
    }

    #[inline(always)]
    unsafe fn gather_run<L: Unit>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        stores: Stores,
    ) {
        // A gather is the transpose of source rows of one element.
        let block = TransposeBlock::new((src, step), (dst, 0), (len, 1));
        match stores {
            // Only elements with gaps between them are picked out of registers.
            Stores::Plain | Stores::Narrow if step.unsigned_abs() > 1 => {
                let once = Loop { len: 1, strides: [0; 2] };
                // SAFETY: M1 to M3 hold for these rows, one time.
                unsafe { gather::rows::<R, L>(self, block, once) }
            }
            // SAFETY: M1 to M3 hold for these rows.
            Stores::Plain | Stores::Narrow => unsafe { transpose::plain::<R, L>(self, block) },
            // SAFETY: M1 to M3 hold for these rows; the kernel finds the whole lines itself (M4).
            Stores::NonTemporal => unsafe { transpose::streamed::<R, L>(self, block) },
        }
    }

    #[inline(always)]
    unsafe fn gather_rows<L: Unit>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        rows: Loop<2>,
    ) {
        let block = TransposeBlock::new((src, step), (dst, 0), (len, 1));
        // SAFETY: M1 to M3 hold for the elements of all rows, by this function's contract.
        unsafe { gather::rows::<R, L>(self, block, rows) }
    }

    #[inline(always)]
    unsafe fn transpose<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        residency: Residency,
    ) {
        let block = TransposeBlock { residency, ..TransposeBlock::new(src, dst, extents) };
        // SAFETY: M1 to M3 hold for the elements of the block, by this function's contract.
        unsafe { transpose::plain::<R, L>(self, block) }
    }

    // Registers of one lane have not been measured.
    #[cfg(feature = "in-place")]
    const EXCHANGED_BYTES: usize = if R::Native::LANES > 1 { R::Native::BYTES } else { 0 };

    #[cfg(feature = "in-place")]
    #[inline(always)]
    unsafe fn exchange_tiles<L: Unit>(self, tiles: [*mut u8; 2], step: isize, how: TileExchange) {
        // SAFETY: this function's contract, for the same tiles.
        unsafe { exchange::tiles::<R, L>(self, tiles, step, how) }
    }

    #[inline(always)]
    unsafe fn transpose_indexed<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        residency: Residency,
    ) {
        // SAFETY: M1 to M3 hold for the elements of the block, by this function's contract.
        unsafe { indexed::transpose(self, IndexedBlock { src, dst, columns, rows, residency }) }
    }

    #[inline(always)]
    unsafe fn shuffle_blocks(
        self,
        src: *const u8,
        dst: *mut u8,
        shuffles: &LaneShuffles,
        blocks: Loop<2>,
    ) {
        // SAFETY: M1 to M3 hold for the blocks, by this function's contract.
        unsafe { shuffled::blocks(self, src, dst, shuffles, blocks) }
    }

    #[inline(always)]
    unsafe fn transpose_narrow_runs(self, runs: NarrowRuns) -> bool {
        // SAFETY: M1 to M3 hold for the runs, by this function's contract.
        unsafe { narrow_runs::transpose(self, runs) };
        true
    }

    const PICKS: bool = <R::Full as Pick>::PICKS;

    #[inline(always)]
    unsafe fn pick_blocks<L: Unit, const P: usize>(
        self,
        src: *const L,
        dst: *mut L,
        picks: &RegisterPicks<P>,
        blocks: Loop<2>,
    ) {
        // SAFETY: M1 to M3 hold for the blocks, by this function's contract.
        unsafe { picked_blocks::blocks(self, src, dst, picks, blocks) }
    }

    #[inline(always)]
    unsafe fn copy_picked<L: Unit>(self, src: *const L, dst: *mut L, picks: &PickedCopy) {
        // SAFETY: M1 to M3 hold for the copy, by this function's contract.
        unsafe { picked_copy::copy(self, src, dst, picks) }
    }

    #[inline(always)]
    unsafe fn transpose_stream<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
    ) {
        let block = TransposeBlock::new(src, dst, extents);
        // SAFETY: M1 to M3 hold for the block; the kernel finds the whole lines itself (M4).
        unsafe { transpose::streamed::<R, L>(self, block) }
    }
}
