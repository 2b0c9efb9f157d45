//! Tiles of registers that cover a block of a [`transpose`](super::transpose), strip by strip.
//!
//! The last tile of a row or column overlaps the one before, so there is no remainder.
//! [`STRIP_BYTES`] and [`STRIP_COLUMNS`] limit how far a sweep along the source goes.

use super::{
    destination_ahead::{Ahead, DestinationAhead, NothingAhead},
    finish::Epilogue,
    register::Computes,
    source::Strided,
    source_ahead::{is_prefetched, prefetch_distance, prefetch_source},
    unroll::unrolled,
};
use crate::{
    kernel::{transpose_block::TransposeBlock, unit::Unit},
    memory::Stores,
    tuning::{STRIP_BYTES, STRIP_COLUMNS},
};

/// Lanes that a tile reads of each row, for elements of `width` bytes. A lane of wide elements
/// needs few registers, and reading a whole line of a row at once avoids fetching it twice.
pub(super) const fn lanes_per_tile(width: usize) -> usize {
    match width {
        1 | 2 => 1,
        4 | 8 => 2,
        _ => 4,
    }
}

/// Covers the block with tiles, strip by strip. Within a strip it sweeps along each group of source
/// rows.
///
/// # Safety
///
/// M1, M2, M3 for the block, M4 if the stores are non-temporal, and F1 if the epilogue is an
/// operation; the extents hold a tile of `V::LANES` by `lanes`, counted in lanes.
#[inline(always)]
pub(super) unsafe fn cover<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    lanes: usize,
    stores: Stores,
    epilogue: E,
) {
    match DestinationAhead::of_block::<V, L>(block, stores) {
        // SAFETY: this function's contract.
        None => unsafe {
            by_strips::<V, L, E, _>(token, block, lanes, stores, epilogue, NothingAhead);
        },
        // SAFETY: this function's contract.
        Some(ahead) => unsafe {
            by_strips::<V, L, E, _>(token, block, lanes, stores, epilogue, ahead);
        },
    }
}

/// [`cover`] with what is prefetched of the destination.
///
/// # Safety
///
/// That of [`cover`].
#[inline(always)]
unsafe fn by_strips<V: Computes, L: Unit, E: Epilogue, A: Ahead>(
    token: V::Token,
    block: TransposeBlock,
    lanes: usize,
    stores: Stores,
    epilogue: E,
    ahead: A,
) {
    let tile_rows = V::LANES * L::PER_LANE;
    let mut left = 0;
    while left < block.nv {
        let columns = (left, end_of_strip::<L>(block, left));
        let mut u = 0;
        loop {
            let (rows, ahead) = (block.rows_from::<L>(u), ahead.at_column(u));
            // SAFETY: `u + tile_rows <= nu`, and a strip ends with the block or before.
            unsafe { sweep::<V, L, E, A>(token, rows, columns, lanes, stores, epilogue, ahead) }
            if u + tile_rows >= block.nu {
                break;
            }
            u = (u + tile_rows).min(block.nu - tile_rows);
        }
        left = columns.1;
    }
}

/// Where a strip ends that begins with column `left`.
#[inline(always)]
pub(super) fn end_of_strip<L: Unit>(block: TransposeBlock, left: usize) -> usize {
    block.nv.min(left + STRIP_COLUMNS.min(STRIP_BYTES / L::WIDTH))
}

/// The tiles from column `left` to column `right`; the last one overlaps the one before.
///
/// # Safety
///
/// That of [`cover`], and `right <= nv`.
#[inline(always)]
pub(super) unsafe fn sweep<V: Computes, L: Unit, E: Epilogue, A: Ahead>(
    token: V::Token,
    block: TransposeBlock,
    (left, right): (usize, usize),
    lanes: usize,
    stores: Stores,
    epilogue: E,
    ahead: A,
) {
    let (tile_rows, tile_columns) = (V::LANES * L::PER_LANE, lanes * L::PER_LANE);
    let last = right - tile_columns;
    let is_prefetched = const { E::PREFETCHES } && is_prefetched::<L>(block, stores);
    let distance = prefetch_distance::<L>(block);
    let mut v = left.min(last);
    loop {
        if is_prefetched {
            prefetch_source::<L>(block, v, tile_columns, distance);
        }
        if v < last {
            ahead.prefetch(block, (v + tile_columns).min(last), tile_columns);
        } else if block.nu > tile_rows {
            let next = block.rows_from::<L>(tile_rows.min(block.nu - tile_rows));
            ahead.prefetch(next, left.min(last), tile_columns);
        }
        // SAFETY: `v + tile_columns <= nv`.
        unsafe { tile::<V, L, E>(token, block.columns_from::<L>(v), lanes, stores, epilogue) }
        if v >= last {
            break;
        }
        v = (v + tile_columns).min(last);
    }
}

/// One tile: `V::LANES * PER_LANE` source rows by `lanes` lanes.
///
/// # Safety
///
/// That of [`cover`].
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn tile<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    lanes: usize,
    stores: Stores,
    epilogue: E,
) {
    unrolled!(p in 0..lanes_per_tile(L::WIDTH), 4 => if p < lanes {
        let part = block.columns_from::<L>(p * L::PER_LANE);
        let source = (Strided(part.src_step), part.src);
        // SAFETY: M1 holds: the source rows have `lanes` lanes. F1 holds for the block.
        let columns = unsafe { epilogue.load::<V, L>(token, source, |i| part.dst_row(i), None) };
        unrolled!(i in 0..L::PER_LANE, 16 => {
            // SAFETY: M2 holds: the destination rows have room for a register; M4 if streamed.
            unsafe { columns[i].put(part.dst_row(i), stores) }
        });
    });
}
