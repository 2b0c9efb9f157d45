//! The transpose of a block whose loads would wait for its stores: 4 KiB aliasing.
//!
//! A CPU compares the low 12 bits of a load's address with those of earlier stores that are still
//! on their way to the cache. A load that has the bits of a store waits for it, though it reads
//! another place. Where rows are one element longer than a multiple of a power of two, such as
//! those of squares of 257, 769 or 1025, row `u`, column `v` of the source has the bits of row `v`,
//! column `u` of the destination, but for those of the two buffers. Large buffers are alike too, as
//! they start at pages. Then the loads of each tile wait for the stores of the tile before it.
//!
//! So tiles that lie apart follow each other here, and each reads a cache line of its rows before
//! it stores the first register. The time over that of tiles along the rows, of squares that are
//! written by plain stores (Zen 4, AVX-512, one thread, buffers that start at pages):
//!
//! | squares of | 2 bytes | 4 bytes | 8 bytes | 16 bytes |
//! |---|---|---|---|---|
//! | 257 | | 0.68 | 0.76 | |
//! | 385 | | | 0.80 | 0.66 |
//! | 513 | 0.82 | | | |
//! | 641 | | | 0.80 | |
//! | 769 | | 0.69 | 0.86 | |
//! | 1025 | 0.78 | | | |
//! | 1281 | | 0.77 | | |
//!
//! The others have rows of another length, or are streamed. Non-temporal stores are not covered
//! here: the floats of 1025 squared, whose lines are stitched, take 1.5 times as long from buffers
//! that are alike as from others.
//!
//! # Tried and dropped
//! - Tiles apart whatever the addresses: up to 1.3 times as long from 384 squared on.
//! - Source rows copied to scratch first, then transposed along the rows: 1.3 to 1.7 times as long
//!   as tiles apart for 257, 513 and 769 squared of floats, 0.76 for 1025 (a loop by itself).
//! - Rows that are one element longer than a multiple of 512 bytes: 65 squared of doubles takes
//!   1.12 of the time.

use super::{
    destination_ahead::{Ahead, DestinationAhead},
    finish::Epilogue,
    register::{Computes, LANE_BYTES, Registers, Vector},
    source::Strided,
    unroll::unrolled,
};
use crate::{
    kernel::{
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::{CACHE_LINE, Stores},
};

/// The bytes of an address that loads and stores are compared by.
const COMPARED_BYTES: usize = 4096;

/// Tiles lie apart where rows are one element longer than a multiple of this.
const MIN_PERIOD: usize = 1024;

/// How far apart two tiles are that follow each other. The rows of one reach a cache line and one
/// element for each row: about as many bytes.
const APART_BYTES: usize = 2 * CACHE_LINE;

/// Tiles of this many bytes of each row are visited before those behind them: their source lines
/// stay in the first-level cache, and those that two tiles share are read twice.
const SPAN_BYTES: usize = 512;

/// The lanes of a cache line.
const LINE_LANES: usize = CACHE_LINE / LANE_BYTES;

/// The lanes of each row that a tile reads at once, of which it holds all registers.
const fn lanes_at_once<V: Vector, L: Unit>() -> usize {
    match V::IN_A_TILE / L::PER_LANE {
        0 => 1,
        lanes @ 1..LINE_LANES => lanes,
        _ => LINE_LANES,
    }
}

/// Is a block covered with tiles apart? It has the source rows of a register. Not if tiles would
/// have less than two lanes, nor if the source is read from memory, where it is prefetched by tiles
/// along the rows.
#[inline(always)]
pub(super) fn suits<R: Registers, L: Unit>(block: TransposeBlock, stores: Stores) -> bool {
    let lanes = const { lanes_at_once::<R::Full, L>() };
    lanes >= 2
        && stores != Stores::NonTemporal
        && block.residency != Residency::Memory
        && block.nv >= lanes * L::PER_LANE
        && shares_low_bits::<L>(block)
}

/// Do the loads of a tile have the low address bits of the stores before them?
#[inline(always)]
fn shares_low_bits<L: Unit>(block: TransposeBlock) -> bool {
    let beyond = |step: isize| step.wrapping_sub(L::WIDTH as isize).unsigned_abs();
    let steps = beyond(block.src_step) | beyond(block.dst_step) | COMPARED_BYTES;
    let period = 1 << steps.trailing_zeros();
    let buffers = block.dst.addr().wrapping_sub(block.src.addr()) % period;
    period >= MIN_PERIOD && buffers.min(period - buffers) < CACHE_LINE
}

/// Covers the block with tiles. The last tile of a row or column overlaps the one before.
///
/// # Safety
///
/// M1 to M3 for the block, and F1 if the epilogue is an operation; [`suits`] holds, and the
/// destination rows have a register.
#[inline(always)]
pub(super) unsafe fn cover<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    epilogue: E,
) {
    let lanes = const { lanes_at_once::<V, L>() };
    let (tile_rows, tile_columns) = (V::LANES * L::PER_LANE, lanes * L::PER_LANE);
    let (last_u, last_v) = (block.nu - tile_rows, block.nv - tile_columns);
    let count = block.nv.div_ceil(tile_columns);
    let ahead = DestinationAhead::of_block::<V, L>(block, Stores::Plain);
    let (step, span) = (APART_BYTES / (lanes * LANE_BYTES), SPAN_BYTES / (lanes * LANE_BYTES));
    for u in (0..block.nu).step_by(tile_rows) {
        let rows = block.rows_from::<L>(u.min(last_u));
        for start in (0..count).step_by(span) {
            let end = count.min(start + span);
            // The first tile of a span is not visited first: it would follow its neighbour.
            for turn in (0..step).rev() {
                for nth in (start + turn..end).step_by(step) {
                    let v = (nth * tile_columns).min(last_v);
                    if let Some(ahead) = ahead {
                        let next = ((nth + step) * tile_columns).min(last_v);
                        ahead.at_column(u).prefetch(rows, next, tile_columns);
                    }
                    // SAFETY: `u + tile_rows <= nu` and `v + tile_columns <= nv`.
                    unsafe { tile::<V, L, E>(token, rows.columns_from::<L>(v), epilogue) }
                }
            }
        }
    }
}

/// One tile: all of its loads, then all of its stores.
///
/// # Safety
///
/// That of [`cover`].
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn tile<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    epilogue: E,
) {
    let mut columns = [[V::splat(token, [0; LANE_BYTES]); LANE_BYTES]; LINE_LANES];
    unrolled!(p in 0..lanes_at_once::<V, L>(), 4 => {
        let part = block.columns_from::<L>(p * L::PER_LANE);
        let source = (Strided(part.src_step), part.src);
        // SAFETY: M1 holds: the source rows have all lanes of a tile. F1 holds for the block.
        columns[p] = unsafe { epilogue.load::<V, L>(token, source, |i| part.dst_row(i), None) };
    });
    unrolled!(p in 0..lanes_at_once::<V, L>(), 4 => {
        let part = block.columns_from::<L>(p * L::PER_LANE);
        unrolled!(i in 0..L::PER_LANE, 16 => {
            // SAFETY: M2 holds: the destination rows have room for a register.
            unsafe { columns[p][i].store(part.dst_row(i)) }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_element_more_than_a_power_of_two_share_low_bits() {
        let shares = |rows: isize, columns: isize, apart: usize| {
            let src: *const u32 = std::ptr::without_provenance(1 << 20);
            let dst: *mut u32 = std::ptr::without_provenance_mut((1 << 22) + apart);
            shares_low_bits::<u32>(TransposeBlock::new((src, columns), (dst, rows), (32, 32)))
        };
        assert!(shares(1025, 1025, 0) && shares(257, 1025, 16) && shares(769, 769, 1024 - 16));
        assert!(!shares(1024, 1025, 0) && !shares(1000, 1000, 0) && !shares(1023, 1023, 0));
        assert!(!shares(1025, 1025, 512), "the buffers lie apart");
    }
}
