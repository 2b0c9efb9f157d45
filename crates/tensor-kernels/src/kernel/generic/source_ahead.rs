//! Prefetching the source of a transpose that is read from memory.
//!
//! A tile reads a part of a cache line in each of 4 to 64 rows, which lie in pages of their own:
//! more streams than the hardware follows. So each tile prefetches lines of a few rows for later
//! tiles, such that all tiles within a line prefetch those of all rows.
//!
//! Sources that are known to lie in memory are prefetched: those of non-temporal stores, and of
//! tiles of large elementwise operations (0.98 to 1.0 of the time in the mean of 50 to 70 random
//! ones of 2 to 40 MB, 0.84 at the 5th percentile and 1.06 to 1.12 at the 95th, Zen 4).
//!
//! The lines that later tiles read lie in the rows of later groups, a group being the rows of a
//! tile. If a block is a few columns of long rows, whose other columns are read soon, or few groups
//! of rows, they lie further along the same rows.
//!
//! # Figures
//! The share of the copy bandwidth of streamed transposes, with prefetching along the rows and some
//! groups ahead (Zen 4, one thread, source and result in memory; without any the first one reaches
//! 0.66):
//!
//! | rows by columns of the source | along rows | groups |
//! |---|---|---|
//! | f32, 3333 by 3333 | 0.85 | 0.88 |
//! | f32, 40,000 by 160 | 0.70 | 1.15 |
//! | f32, 71,280 by 96 | 1.0 | 1.15 |
//! | f64, 4000 by 1000 | 0.70 | 0.98 |
//! | f64, 37,641 by 96 | 0.57 | 1.05 |
//! | 2 bytes, 40,000 by 256 | 0.57 | 1.0 |
//! | bytes, 60,000 by 256 | 0.55 | 0.64 |
//!
//! A few columns of long rows: 3328 by 3328 of f32 0.46 without and 0.9 with prefetching, of f64
//! 0.54 and 0.84.
//!
//! # Tried and dropped
//! - One group of long rows ahead, or three, of units of 4 bytes and more: doubles lose up to a
//!   fifth by one, matrices of 12 to 16 MB that a cache holds up to a tenth by three.
//! - Long rows of 1- and 2-byte units by groups: as good, or up to a tenth slower with AVX-512.
//! - Both, into the second level two groups ahead and into the first along the rows: the same, but
//!   rows that share cache sets lose a third, as their lines displace each other.
//! - Plain stores of sources in a cache: no gain, or a loss of up to a fifth. Of sources in memory
//!   with fewer rows than two lines have elements, which the hardware follows: up to 1.35 times as
//!   long. Of mirrored images that are staged: 1.7 times.

use crate::{
    kernel::{
        indexed_block::IndexedBlock,
        prefetch::prefetch,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::{CACHE_LINE, Stores},
};

/// How far ahead the rows of a few columns are prefetched.
const BYTES_ALONG_ROWS: usize = 256;

/// Fewer groups are prefetched along the rows, if these are not short: the last groups of a sweep
/// have none behind them.
const FEW_GROUPS: usize = 16;

/// Longer rows of 1- and 2-byte units are prefetched along the rows: by groups, squares of 2269 to
/// 3394 take 1.2 times as long at AVX2 (Zen 4).
const LONG_NARROW_ROW_BYTES: usize = 512;

/// The least distance of long rows. Rows of 0.8 to 1.6 kB reach 1.0 to 1.2 times the speed by
/// groups, of 2 to 8 kB 0.7 to 1.05 times (f32 and f64, Zen 4; 4 kB of doubles 1.4 times).
const LONG_ROW_BYTES: usize = 2 << 10;

/// A group of rows that spans at most this many bytes is prefetched one group ahead: the hardware
/// prefetches such a source, too. Two groups ahead, 40 MB in rows of 20 or 27 floats or doubles
/// take up to 1.7 times as long in some processes, and as long in others. From 48 floats or 37
/// doubles on, one group ahead takes up to 1.15 times as long. 256 bytes along the rows are as good
/// as one group, to 5 % (Zen 4).
const SHORT_GROUP_BYTES: usize = 2 << 10;

/// How many groups ahead lines are prefetched, where a group of rows spans `group_bytes`. A group
/// of narrow units has many rows.
const fn groups_ahead(width: usize, group_bytes: usize) -> usize {
    if width <= 2 || group_bytes <= SHORT_GROUP_BYTES { 1 } else { 2 }
}

/// Does the source lie in memory, in more rows than the hardware follows? Not that of small blocks
/// whose rows descend, which are those of mirrored images: what lies before them has been read.
#[inline(always)]
pub(super) fn is_prefetched<L: Unit>(block: TransposeBlock, stores: Stores) -> bool {
    let has_many_rows = block.nu * L::WIDTH >= 2 * CACHE_LINE && block.src_step > 0;
    stores == Stores::NonTemporal || block.residency == Residency::Memory && has_many_rows
}

/// How many bytes behind the lines that a tile reads those lie that it prefetches.
#[inline(always)]
pub(super) fn prefetch_distance<L: Unit>(block: TransposeBlock) -> isize {
    let group = const { CACHE_LINE / L::WIDTH };
    let row = block.nv * L::WIDTH;
    let goes_along = match row < BYTES_ALONG_ROWS {
        true => block.src_step.unsigned_abs() >= LONG_ROW_BYTES,
        false => block.nu < FEW_GROUPS * group || L::WIDTH <= 2 && row > LONG_NARROW_ROW_BYTES,
    };
    if goes_along {
        return BYTES_ALONG_ROWS as isize;
    }
    let groups = groups_ahead(L::WIDTH, group * block.src_step.unsigned_abs());
    (groups * group) as isize * block.src_step
}

/// Prefetches lines some `distance` behind those around column `v`. Tiles are `columns` wide, and
/// have as many rows as a cache line has units: the tiles within a line prefetch one line of each
/// row.
#[inline(always)]
pub(super) fn prefetch_source<L: Unit>(
    block: TransposeBlock,
    v: usize,
    columns: usize,
    distance: isize,
) {
    let rows = const { CACHE_LINE / L::WIDTH };
    let start = block.src.wrapping_add(v * L::WIDTH).wrapping_offset(distance);
    for i in 0..columns {
        let row = ((v + i) % rows) as isize;
        prefetch(start.wrapping_offset(row * block.src_step));
    }
}

/// Prefetches the source of a transpose whose source rows lie at offsets of a table: lines of the
/// rows some groups behind those of a tile, or, if there are few groups, further along its rows.
/// All tiles within a line, or within shorter rows, prefetch one line of each row of a group.
#[derive(Clone, Copy)]
pub(super) struct IndexedAhead {
    /// Rows behind the first of a tile.
    rows: usize,
    /// Bytes behind the column of a tile.
    bytes: usize,
    /// The rows that a tile prefetches.
    count: usize,
    /// The tiles that prefetch all rows of a group.
    tiles: usize,
}

impl IndexedAhead {
    /// What suits a block.
    #[inline(always)]
    pub(super) fn new<L: Unit>(block: &IndexedBlock<'_, L>) -> Self {
        let group = const { CACHE_LINE / L::WIDTH };
        let (rows, bytes) = match block.columns.len() < FEW_GROUPS * group {
            true => (0, BYTES_ALONG_ROWS),
            false => (if L::WIDTH <= 2 { group } else { 2 * group }, 0),
        };
        let tiles = block.rows.len().min(group).div_ceil(L::PER_LANE);
        Self { rows, bytes, count: group.div_ceil(tiles), tiles }
    }

    /// Prefetches for the tile at source row `u` and column `v`, the `tile`th of those that
    /// prefetch a group. Returns the number of the next one.
    #[inline(always)]
    pub(super) fn prefetch<L: Unit>(
        self,
        block: &IndexedBlock<'_, L>,
        (u, v): (usize, usize),
        tile: usize,
    ) -> usize {
        let start = block.src.cast::<u8>().wrapping_add(v * L::WIDTH + self.bytes);
        let first = u + self.rows + tile * self.count;
        for row in block.columns.iter().skip(first).take(self.count) {
            prefetch(start.wrapping_offset(row[1]));
        }
        if tile + 1 == self.tiles { 0 } else { tile + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance for a block of floats whose source rows lie this many elements apart.
    fn of_floats((nu, nv): (usize, usize), src_stride: isize) -> isize {
        let (from, to) = (std::ptr::null::<u32>(), std::ptr::null_mut::<u32>());
        let to_stride = nu as isize;
        prefetch_distance::<u32>(TransposeBlock::new((from, src_stride), (to, to_stride), (nu, nv)))
    }

    #[test]
    fn rows_are_prefetched_by_groups_unless_other_columns_are_read_soon() {
        assert_eq!(of_floats((1000, 1024), 3000), 2 * 16 * 3000 * 4, "a part of long rows");
        assert_eq!(of_floats((71_280, 96), 96), 2 * 16 * 96 * 4, "short rows");
        assert_eq!(of_floats((1000, 32), -32), -16 * 32 * 4, "shorter ones, backwards");
        assert_eq!(of_floats((64, 16), 3000), 256, "a few columns of long rows");
        assert_eq!(of_floats((64, 16), 300), 2 * 16 * 300 * 4, "a few columns of short rows");
        assert_eq!(of_floats((255, 1024), 3000), 256, "few groups");
    }

    #[test]
    fn long_rows_of_bytes_are_prefetched_along_the_rows() {
        let of_bytes = |columns: usize| {
            let (from, to) = (std::ptr::null::<u8>(), std::ptr::null_mut::<u8>());
            let step = columns as isize;
            let block = TransposeBlock::new((from, step), (to, 5000), (5000, columns.min(1024)));
            prefetch_distance::<u8>(block)
        };
        assert_eq!((of_bytes(5000), of_bytes(300)), (256, 64 * 300));
    }
}
