//! Transposition of a block: source rows become destination columns.
//!
//! # Method
//!
//! A tile reads one lane, 16 bytes or `N` elements, of as many source rows as a destination line
//! has elements. While they are read, the lanes of rows `r`, `r + N`, `r + 2 N` … are put side by
//! side in register `r`; what is left is an `N` by `N` transposition inside each lane, `log2 N`
//! perfect shuffles, after which every register is a whole destination line. So a 512-bit tile of
//! `f32` costs 2 shuffles per line where the textbook 16×16 costs 4, reads of 16 bytes rarely
//! straddle two lines however the rows are aligned, and bytes to 16-byte elements are one
//! algorithm.
//!
//! 1. *Tiles* where both extents hold one. The last tile of a row or column overlaps its neighbour
//!    instead of leaving a remainder. [`STRIP_BYTES`] and [`STRIP_COLUMNS`] bound how far a sweep
//!    along the source goes.
//! 2. *Short source rows*, less than a lane: [`gather`].
//! 3. *Short destination rows*: [`interleave`].
//! 4. Both short: a handful of elements, one by one.
//!
//! # Tried and dropped
//!
//! - The `u` loop inside, along the destination: 10–40 % slower from 64 KiB on for 1- and 2-byte
//!   elements, whose source lines are then fetched once per lane, at strides that are powers of
//!   two from one set of the cache.
//! - Prefetching the source 256 or 512 bytes ahead, or a whole strip of it row by row, or the next
//!   tiles' destination lines: nothing or a loss, in and out of cache.
//! - The loop over small blocks inside: the compiler keeps a pointer for every place of every path,
//!   and moves them all at every turn.
//! - Destination lines in two halves, one per tile of 256 bits: half the speed as soon as a block
//!   leaves L1, and a tenth with streamed stores.

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

use super::{
    copy, gather, interleave,
    register::{Registers, Vector},
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::TransposeBlock, unit::Unit},
    memory::{CACHE_LINE, Stores},
};

/// Bytes of a source row that a sweep covers before it turns to the next rows: a page, as far as
/// the hardware prefetches.
const STRIP_BYTES: usize = 4096;

/// Elements of a source row that a sweep covers at most. Each is a destination row, often in a page
/// of its own, and a second-level TLB holds some 1500 pages: measured a quarter faster than four
/// times as many, out of cache.
const STRIP_COLUMNS: usize = 1024;

/// Pieces that a tile reads of each row for elements of `width` bytes. Wide elements need few
/// registers for a lane, and reading a whole line of a row at once spares a second fetch of it.
const fn lanes_per_tile(width: usize) -> usize {
    match width {
        1 | 2 => 1,
        4 | 8 => 2,
        _ => 4,
    }
}

/// The transposition of a block. It is compiled as a function of its own: too large to be inlined
/// at every call.
///
/// Invariant: made by [`transpose`] only, whose caller vouches for M1 to M4.
struct Transpose<R, L> {
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    unit: PhantomData<L>,
}

/// Transposes a block of elements.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn plain<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    // SAFETY: M1 to M3 for the block; M4 is for streamed stores only.
    unsafe { transpose::<R, L>(isa, block, Stores::Plain) }
}

/// Transposes a block of elements, the whole lines of its destination with streamed stores, if all
/// its rows start at the same place in a line.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn streamed<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let [before, whole, after] = by_lines::<L>(block);
    // SAFETY: the first columns of the destination.
    unsafe { transpose::<R, L>(isa, before, Stores::Plain) }
    // SAFETY: the columns that are whole lines, M4.
    unsafe { transpose::<R, L>(isa, whole, Stores::NonTemporal) }
    // SAFETY: the last columns of the destination.
    unsafe { transpose::<R, L>(isa, after, Stores::Plain) }
}

/// The parts before, in and after the whole lines of the destination; nothing is in them unless all
/// rows start at the same place in a line, and elements do not straddle lines.
fn by_lines<L: Unit>(block: TransposeBlock) -> [TransposeBlock; 3] {
    let (head, per_line) = (copy::to_line(block.dst), CACHE_LINE / L::WIDTH);
    let alike = block.dst_step % CACHE_LINE as isize == 0 && head.is_multiple_of(L::WIDTH);
    let head = if alike { block.nu.min(head / L::WIDTH) } else { block.nu };
    let whole = (block.nu - head) / per_line * per_line;
    [(0, head), (head, whole), (head + whole, block.nu - head - whole)]
        .map(|rows| block.part::<L>(rows, (0, block.nv)))
}

/// # Safety
///
/// M1, M2, M3 for the block, and M4 if the stores are streamed.
#[inline(always)]
unsafe fn transpose<R: Registers, L: Unit>(isa: R, block: TransposeBlock, stores: Stores) {
    if block.nu > 0 && block.nv > 0 {
        isa.vectorize(Transpose { isa, block, stores, unit: PhantomData::<L> });
    }
}

impl<R: Registers, L: Unit> NullaryFnOnce for Transpose<R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.stores {
            // SAFETY: the invariant: M1 to M4 for the block.
            Stores::NonTemporal if R::NON_TEMPORAL => unsafe {
                whole_lines::<R, L>(self.isa, self.block)
            },
            // SAFETY: the invariant: M1 to M3 for the block; M4 is for streamed stores only.
            _ => unsafe { any_block::<R, L>(self.isa, self.block) },
        }
    }
}

/// A block whose destination is whole cache lines, which hold any register: fewer cases to compile.
///
/// # Safety
///
/// M1 to M4 for the block.
#[inline(always)]
unsafe fn whole_lines<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    debug_assert!(block.nu * L::WIDTH >= CACHE_LINE, "whole lines");
    if block.nv >= L::PER_LANE {
        // SAFETY: M1 to M4 for the block, whose extents hold a register and a lane.
        unsafe { wide_tiles::<R, L>(isa, block, Stores::NonTemporal) }
    } else {
        // SAFETY: M1 to M4 for the block, whose source rows are shorter than a lane.
        unsafe { gather::short_source_rows::<R, L>(isa, block, Stores::NonTemporal) }
    }
}

/// A block of any extents, which are not 0.
///
/// # Safety
///
/// M1 to M3 for the block.
#[inline(always)]
unsafe fn any_block<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    match (block.nu >= L::PER_LANE, block.nv >= L::PER_LANE) {
        // SAFETY: a lane of each row at least, in both directions.
        (true, true) => unsafe { tiles::<R, L>(isa, block) },
        // SAFETY: M1 to M3 for the block, whose source rows are shorter than a lane.
        (true, false) => unsafe { gather::short_source_rows::<R, L>(isa, block, Stores::Plain) },
        // SAFETY: M1 to M3 for the block, whose destination rows are shorter than a lane.
        (false, true) => unsafe { interleave::short_destination_rows::<R, L>(isa, block) },
        // SAFETY: M1 to M3 for the block: the same contract.
        (false, false) => unsafe { portable::transpose::<L>(block) },
    }
}

/// Covers the block with tiles of the widest register that fits.
///
/// # Safety
///
/// M1 to M3 for the block, and both extents are at least a lane.
#[inline(always)]
unsafe fn tiles<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    if block.nu >= R::Full::LANES * L::PER_LANE {
        // SAFETY: the extents hold a register and a lane.
        unsafe { wide_tiles::<R, L>(isa, block, Stores::Plain) }
    } else if block.nu >= R::Half::LANES * L::PER_LANE {
        // SAFETY: the extents hold a tile.
        unsafe { cover::<R::Half, L>(isa.into(), block, 1, Stores::Plain) }
    } else {
        // SAFETY: the extents hold a tile.
        unsafe { cover::<R::Lane, L>(isa.into(), block, 1, Stores::Plain) }
    }
}

/// Covers the block with tiles of whole registers.
///
/// # Safety
///
/// That of [`transpose`], and the extents are at least a register and a lane.
#[inline(always)]
unsafe fn wide_tiles<R: Registers, L: Unit>(isa: R, block: TransposeBlock, stores: Stores) {
    let together = lanes_per_tile(L::WIDTH);
    if block.nv >= together * L::PER_LANE {
        // SAFETY: the extents hold a tile.
        unsafe { cover::<R::Full, L>(isa.into(), block, together, stores) }
    } else {
        // SAFETY: the extents hold a tile.
        unsafe { cover::<R::Full, L>(isa.into(), block, 1, stores) }
    }
}

/// Covers the block with tiles, strip after strip, in each from row to row and along the row.
///
/// # Safety
///
/// That of [`transpose`], and the extents hold a tile: `V::LANES` by `lanes`, in lanes.
#[inline(always)]
unsafe fn cover<V: Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    lanes: usize,
    stores: Stores,
) {
    let tall = V::LANES * L::PER_LANE;
    let mut left = 0;
    while left < block.nv {
        let right = block.nv.min(left + STRIP_COLUMNS.min(STRIP_BYTES / L::WIDTH));
        let mut u = 0;
        loop {
            // SAFETY: `u + tall <= nu` and `right <= nv`.
            unsafe { sweep::<V, L>(token, block.rows_from::<L>(u), (left, right), lanes, stores) }
            if u + tall >= block.nu {
                break;
            }
            u = (u + tall).min(block.nu - tall);
        }
        left = right;
    }
}

/// Tiles from column `left` to column `right`; the last one overlaps.
///
/// # Safety
///
/// That of [`cover`], and `right <= nv`.
#[inline(always)]
unsafe fn sweep<V: Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    (left, right): (usize, usize),
    lanes: usize,
    stores: Stores,
) {
    let wide = lanes * L::PER_LANE;
    let last = right - wide;
    let mut v = left.min(last);
    loop {
        // SAFETY: `v + wide <= nv`.
        unsafe { tile::<V, L>(token, block.columns_from::<L>(v), lanes, stores) }
        if v >= last {
            break;
        }
        v = (v + wide).min(last);
    }
}

/// One tile: `V::LANES` times a lane's worth of source rows, by `lanes`.
///
/// # Safety
///
/// That of [`cover`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn tile<V: Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    lanes: usize,
    stores: Stores,
) {
    unrolled!(p in 0..lanes, 4 => {
        let part = block.columns_from::<L>(p * L::PER_LANE);
        // SAFETY: the rows hold so many lanes, M1.
        let columns = unsafe { V::load_columns::<L>(token, part.src, part.src_step) };
        unrolled!(i in 0..L::PER_LANE, 16 => {
            // SAFETY: the destination rows hold a register, M2, M4.
            unsafe { columns[i].put(part.dst_row(i), stores) }
        });
    });
}
