//! Prefetching the destination of a transpose whose rows start anywhere in a cache line.
//!
//! A register of such a row is written by a split store: one across two cache lines. Stores wait in
//! the store buffer until their lines are in the first-level cache. On Intel's Emerald Rapids the
//! misses of several stores seem to overlap, but not those of split stores: squares of odd sizes
//! took two to three times as long as those whose rows start at lines, and no longer do if the
//! lines are prefetched. So while a tile is written, the lines of the next one are prefetched: that
//! of the last byte of each register, and that of its first byte if it may have left the first
//! level since the columns before were written.
//!
//! # Figures
//! The time over that without prefetching (Emerald Rapids, AVX-512, one thread):
//!
//! | squares of | bytes | 2 bytes | 4 bytes | 8 bytes |
//! |---|---|---|---|---|
//! | 131 | 1.00 | 0.53 | 0.38 | 0.41 |
//! | 210 | 0.72 | 0.58 | 0.47 | 0.46 |
//! | 333 | 0.93 | 0.57 | 0.43 | 0.50 |
//! | 601 | 1.00 | 0.52 | 1.00 | 0.45 |
//! | 1003 | 0.71 | 0.46 | 0.38 | 0.38 |
//!
//! The floats of 601 squared are streamed, the bytes of 131 squared are too few to be prefetched.
//! Other CPUs have not been measured.
//!
//! # Tried and dropped
//! - Whole lines stitched from the registers of two tiles, which are kept in scratch or in
//!   registers of the CPU: 1 to 3 times as long as with prefetching, 0.8 for 257 doubles squared.
//! - `prefetchw`, which asks for a line to write: the same as a prefetch to read.
//! - The tile behind the next one: the same in large blocks; a quarter of a small one, such as 64
//!   by 64 floats, is not prefetched then.
//! - Lines beyond the last row of a block: where these rows lie in pages that do not exist, bytes
//!   take 1.4 times as long.
//! - Rows that start at cache lines: no gain, or a loss.

use super::register::Vector;
use crate::{
    kernel::{
        indexed_block::IndexedBlock,
        prefetch::prefetch_written,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::{CACHE_LINE, Stores},
};

/// The fewest bytes from the first row of a block to the last, times the bytes of an element: 24 KB
/// of bytes, 6 KB of floats. Blocks of 2 KB of bytes take up to 1.2 times as long with prefetches,
/// 4 KB of doubles 0.6 times.
const MIN_SPAN_BYTES: usize = 24 << 10;

/// Fewer rows are not prefetched: 5 rows take 0.84 to 1.45 times as long with them.
const MIN_ROWS: usize = 8;

/// Fewer rows are prefetched by the hardware, if they are long: 12 rows of 200 kB of floats take
/// 1.2 times as long with prefetches, 12 rows of 80 kB 0.7 times.
const MIN_LONG_ROWS: usize = 16;

/// Up to this many bytes from the first row to the last, few rows are prefetched.
const MAX_SPAN_OF_FEW_ROWS: usize = 1 << 20;

/// The lines of fewer rows stay in the first level until the next columns are written, and only
/// that of the last byte is prefetched.
const MIN_ROWS_OF_BOTH_LINES: usize = 128;

/// The rows of a table that are prefetched at once, before those in front of them are written: a
/// lane of them, or 8.
pub(super) const fn rows_at_once<L: Unit>() -> usize {
    if L::PER_LANE > 8 { L::PER_LANE } else { 8 }
}

/// What is prefetched of the destination while a tile is written: lines of the next one.
pub(super) trait Ahead: Copy {
    /// What is prefetched for the columns from `u` on: both lines for the first ones, before which
    /// nothing has been written.
    fn at_column(self, u: usize) -> Self;

    /// Prefetches the lines of a register in each of `count` rows from row `v` on.
    fn prefetch(self, block: TransposeBlock, v: usize, count: usize);
}

/// Nothing is prefetched.
#[derive(Clone, Copy)]
pub(super) struct NothingAhead;

impl Ahead for NothingAhead {
    #[inline(always)]
    fn at_column(self, _u: usize) -> Self {
        self
    }

    #[inline(always)]
    fn prefetch(self, _block: TransposeBlock, _v: usize, _count: usize) {}
}

/// Lines of each row of a tile are prefetched: that of its last byte, and that of its first one if
/// `both` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DestinationAhead {
    both: bool,
}

impl Ahead for DestinationAhead {
    #[inline(always)]
    fn at_column(self, u: usize) -> Self {
        Self { both: self.both || u == 0 }
    }

    #[inline(always)]
    fn prefetch(self, block: TransposeBlock, v: usize, count: usize) {
        self.prefetch_rows(block.dst_row(v), block.dst_step, count);
    }
}

/// The rows of the destination of a block.
#[derive(Clone, Copy)]
struct Rows {
    count: usize,
    /// Bytes from the first to the last.
    span: usize,
    /// Do all of them start at cache lines?
    start_at_lines: bool,
}

impl DestinationAhead {
    /// What suits a block that is covered with tiles of registers `V`. `None` if nothing should be
    /// prefetched.
    #[inline(always)]
    pub(super) fn of_block<V: Vector, L: Unit>(
        block: TransposeBlock,
        stores: Stores,
    ) -> Option<Self> {
        if stores != Stores::Plain {
            return None;
        }
        let step = block.dst_step.unsigned_abs();
        let start_at_lines = (block.dst.addr() | step).is_multiple_of(CACHE_LINE);
        let rows = Rows { count: block.nv, span: step.saturating_mul(block.nv), start_at_lines };
        Self::of_rows::<V, L>(rows, block.residency)
    }

    /// The same where rows lie at offsets of a table.
    #[inline(always)]
    pub(super) fn of_indexed<V: Vector, L: Unit>(block: &IndexedBlock<'_, L>) -> Option<Self> {
        let (first, last) = (block.rows.first()?, block.rows.last()?);
        let start = block.dst.addr().wrapping_add_signed(block.columns.first()?[0]);
        let bits = block.rows.iter().fold(start, |bits, row| bits | row[0] as usize);
        let span = last[0].abs_diff(first[0]);
        let start_at_lines = bits.is_multiple_of(CACHE_LINE);
        let rows = Rows { count: block.rows.len(), span, start_at_lines };
        Self::of_rows::<V, L>(rows, block.residency)
    }

    #[inline(always)]
    fn of_rows<V: Vector, L: Unit>(rows: Rows, residency: Residency) -> Option<Self> {
        let Rows { count, span, start_at_lines } = rows;
        let are_enough =
            count >= MIN_LONG_ROWS || count >= MIN_ROWS && span <= MAX_SPAN_OF_FEW_ROWS;
        let pays = const { V::BYTES == CACHE_LINE }
            && residency == Residency::Cached
            && !start_at_lines
            && are_enough
            && span.saturating_mul(L::WIDTH) >= MIN_SPAN_BYTES;
        pays.then_some(Self { both: count >= MIN_ROWS_OF_BOTH_LINES })
    }

    /// Prefetches the lines of a register in each of `count` rows. A function of its own, because
    /// the addresses of tiles fill the registers of the CPU.
    #[inline(never)]
    fn prefetch_rows(self, dst: *const u8, step: isize, count: usize) {
        for row in 0..count as isize {
            self.prefetch_row(dst.wrapping_offset(row * step));
        }
    }

    /// The same of rows at offsets of a table from `dst`.
    #[inline(always)]
    pub(super) fn prefetch_indexed(self, dst: *const u8, rows: &[[isize; 2]]) {
        for row in rows {
            self.prefetch_row(dst.wrapping_offset(row[0]));
        }
    }

    #[inline(always)]
    fn prefetch_row(self, dst: *const u8) {
        prefetch_written(dst.wrapping_add(CACHE_LINE - 1));
        if self.both {
            prefetch_written(dst);
        }
    }
}
