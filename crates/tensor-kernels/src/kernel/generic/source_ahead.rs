//! Prefetching the source of a transpose that is read from memory.
//!
//! A tile reads a part of a cache line in each of 4 to 64 rows, which lie in pages of their own:
//! more streams than the hardware follows. So each tile prefetches lines of a few rows for later
//! tiles, such that all tiles within a line prefetch those of all rows.
//!
//! # Figures
//! The share of the copy bandwidth of squares of 10 to 90 MB that are streamed, with and without
//! prefetching (Zen 4, one thread):
//!
//! | | bytes, 4736² | bytes, 6661² | 2 bytes, 4611² | f32, 3336² | f64, 3333² |
//! |---|---|---|---|---|---|
//! | with | 0.8 | 0.45 | 0.78 | 0.85 | 0.92 |
//! | without | 0.5 | 0.3 | 0.50 | 0.66 | 0.76 |
//!
//! Where few rows are written at once, because their lines share a channel of the memory, the gain
//! is larger: 3328² of f32 0.9 and 0.46, of f64 0.84 and 0.54.
//!
//! # Tried and dropped
//! - Plain stores, of sources in a cache: no gain, or a loss of up to a fifth. Of sources in memory
//!   that are packed for elementwise operations: 1.02 of the time in the mean of 120.
//! - All units into the second level: doubles gain a tenth less. All into the first: bytes gain
//!   half as much, and rows that share cache sets nothing, as their lines displace each other.
//! - 128 bytes ahead: as good. 512: less for bytes.

use crate::{
    kernel::{
        prefetch::{prefetch, prefetch_near},
        transpose_block::TransposeBlock,
        unit::Unit,
    },
    memory::CACHE_LINE,
};

/// How far ahead a source row is prefetched.
const BYTES_AHEAD: usize = 256;

/// The lines of a tile with at most this many rows are prefetched into the first-level cache, if
/// they are of the same block.
const MAX_NEAR_ROWS: usize = 16;

/// Are source rows of a block as long as they are prefetched ahead?
#[inline(always)]
pub(super) fn has_rows_ahead<L: Unit>(block: TransposeBlock) -> bool {
    block.nv * L::WIDTH >= BYTES_AHEAD
}

/// Prefetches lines that tiles will read some way behind column `v`. Tiles are `columns` wide, and
/// have as many rows as a cache line has units: the tiles within a line prefetch one line of each
/// row. `NEAR` says that the block [has such lines](has_rows_ahead). It is a constant because the
/// question, asked for each tile, took a tenth of the time of a transpose of doubles.
#[inline(always)]
pub(super) fn prefetch_source<L: Unit, const NEAR: bool>(
    block: TransposeBlock,
    v: usize,
    columns: usize,
) {
    let rows = const { CACHE_LINE / L::WIDTH };
    for i in 0..columns {
        let row = (v + i) % rows;
        let start = block.src.wrapping_offset(row as isize * block.src_step);
        let ahead = start.wrapping_add(v * L::WIDTH + BYTES_AHEAD);
        if const { NEAR && CACHE_LINE / L::WIDTH <= MAX_NEAR_ROWS } {
            prefetch_near(ahead);
        } else {
            prefetch(ahead);
        }
    }
}
