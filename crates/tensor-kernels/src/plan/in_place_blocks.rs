//! The transpose of a matrix in its own memory, by blocks.
//!
//! The matrix has `m = m1·m2 + rest` rows and `n = n1·n2 + rest` columns. Three passes transpose
//! it, each of which reads and writes long runs:
//!
//! 1. Each panel of `m2` rows is transposed: `[m1][m2][n]` becomes `[m1][n][m2]`.
//! 2. Blocks of `n2·m2` items are moved to their places along the cycles of the permutation:
//!    `[m1][n1]` becomes `[n1][m1]`. A bit for each block says whether it has been moved.
//! 3. Each panel of `n2` columns is permuted: `[m1][n2][m2]` becomes `[n2][m1][m2]`.
//!
//! The first panel goes through scratch, and each of the others is copied to the place of the one
//! before it, where nothing is left that is needed: the second pass takes its blocks from there. It
//! leaves the panels of columns one place too far in front, from where the last pass copies them to
//! theirs. So each pass reads and writes each byte once.
//!
//! The rows and columns that remain are kept in scratch meanwhile: the first pass closes the gaps
//! that columns leave, and the last one, which runs from the end, makes room for the rows. A pass
//! that has nothing to do is left out: `m2` or `n2` is 1 for a matrix of few rows or columns.
//!
//! The sizes are those with the fewest estimated passes whose scratch is within the limit. Blocks
//! are prefetched along their cycles; of 5 KB each, 64 MB take 3.8 ms, and 8.8 ms without that
//! (Zen 5).
//!
//! The decomposition of Catanzaro, Keller and Garland (PPoPP 2014) into rotations and shuffles of
//! rows and columns needs scratch for one row or column only, but most of its accesses are single
//! items. With 1 percent of scratch all accesses are runs.
//!
//! # The estimate
//! Its constants were fitted to 2700 pairs of sides for 31 matrices of 0.6 to 57 MB, items of 1 to
//! 16 bytes (Zen 5). What it chooses takes 1.09 of the time of the best pair in the mean.

use smallvec::SmallVec;

use crate::{
    memory::{CACHE_LINE, LANE_BYTES},
    tuning::{MAX_CHANNELS, PAGE_BYTES},
};

/// The sides of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Rows of a panel.
    pub(crate) m2: usize,
    /// Columns of a panel.
    pub(crate) n2: usize,
}

/// Longer blocks are moved in parts of this many bytes, one after the other.
pub(crate) const MOVED_BYTES: usize = 64 << 10;

/// Passes that long blocks take, and the bytes of a block that takes one more.
const MOVED_PASSES: f64 = 0.9;
const BLOCK_BYTES: f64 = 285.0;

/// Passes that transpose panels of rows. What counts is the bytes that a column has in a panel: a
/// power of two, whole lanes of a register, cut lanes, or few bytes.
const ALIGNED_ROW_PASSES: f64 = 1.0;
const WHOLE_LANE_ROW_PASSES: f64 = 1.3;
const CUT_LANE_ROW_PASSES: f64 = 2.1;
const FEW_BYTES_ROW_PASSES: f64 = 3.0;

/// With more rows than this, as many passes more.
const PASSES_FOR_MANY_ROWS: [(usize, f64); 2] = [(32, 0.1), (128, 0.2)];

/// Passes that permute panels of columns; the bytes of a run that takes one more; and what cut
/// lanes, many columns, and one column add.
const COLUMN_PASSES: f64 = 1.0;
const COLUMN_RUN_BYTES: f64 = 12.0;
const PASSES_FOR_CUT_LANES: f64 = 0.3;
const MANY_COLUMNS: usize = 40;
const PASSES_FOR_MANY_COLUMNS: f64 = 0.25;
const PASSES_FOR_ONE_COLUMN: f64 = 0.8;

/// Passes added by a panel that goes through scratch, if it is the only one.
const STAGED_PANEL_PASSES: f64 = 0.6;

/// Passes that close gaps between rows, or make room between columns.
const GAP_PASSES: f64 = 0.9;

impl Blocks {
    /// Blocks of single items.
    pub(crate) const ITEMS: Self = Self { m2: 1, n2: 1 };

    /// The blocks with the fewest estimated passes, whose scratch is within `limit` if there are
    /// any. Large blocks, which are the best or almost so, come first, and
    /// [`takes_at_least`](Self::takes_at_least) excludes most of the others.
    pub(crate) fn fastest(m: usize, n: usize, item: usize, limit: usize) -> Self {
        let (mut fastest, mut least) = (Self::ITEMS, f64::INFINITY);
        let is_small = |side: usize, other: usize| side == 1 || side * other * item <= limit;
        let columns = sides(n);
        for &m2 in sides(m).iter().rev().filter(|&&m2| is_small(m2, n)) {
            for &n2 in columns.iter().rev().filter(|&&n2| is_small(n2, m)) {
                let blocks = Self { m2, n2 };
                if blocks.takes_at_least(least, m, n, item) {
                    continue;
                }
                let over = blocks.scratch_bytes(m, n, item).saturating_sub(limit);
                let passes = blocks.passes(m, n, item) + over as f64;
                if passes < least {
                    (fastest, least) = (blocks, passes);
                }
            }
        }
        fastest
    }

    /// Whether the [`passes`](Self::passes) are at least this many, as even the least of each kind
    /// tells; a multiplication takes less time than an estimate.
    fn takes_at_least(self, passes: f64, m: usize, n: usize, item: usize) -> bool {
        let Self { m2, n2 } = self;
        if m / 2 < m2 || n / 2 < n2 {
            return false;
        }
        let rows = if m2 > 1 { ALIGNED_ROW_PASSES } else { 0.0 };
        let columns = if n2 > 1 { COLUMN_PASSES } else { 0.0 };
        let for_blocks = passes - rows - columns - MOVED_PASSES;
        for_blocks * (m2 * n2 * item) as f64 <= BLOCK_BYTES
    }

    /// The rows and the columns of whole blocks.
    pub(crate) fn whole(self, m: usize, n: usize) -> (usize, usize) {
        (m - m % self.m2, n - n % self.n2)
    }

    /// Are panels of rows, and panels of columns, copied to the places of their neighbours? All
    /// but one then go without scratch. The blocks that are moved in between make up for it.
    pub(crate) fn shifts(self, m: usize, n: usize) -> [bool; 2] {
        let Self { m2, n2 } = self;
        let are_moved = m / m2 > 1 && n / n2 > 1;
        [are_moved && m2 > 1, are_moved && n2 > 1]
    }

    /// The parts of scratch, in bytes.
    pub(crate) fn scratch(self, m: usize, n: usize, item: usize) -> BlockScratch {
        let (rows, columns) = self.whole(m, n);
        let panel = |count: usize, len: usize| if count > 1 { count * len * item } else { 0 };
        let block = (self.m2 * self.n2 * item).min(MOVED_BYTES);
        let marks = (m / self.m2 * (n / self.n2)).div_ceil(8);
        let work = panel(self.m2, columns).max(panel(self.n2, rows)).max(block + marks);
        BlockScratch { rows: (m - rows) * n * item, columns: (n - columns) * rows * item, work }
    }

    pub(crate) fn scratch_bytes(self, m: usize, n: usize, item: usize) -> usize {
        let BlockScratch { rows, columns, work } = self.scratch(m, n, item);
        rows + columns + work
    }

    /// The estimated time, in passes over the memory.
    pub(crate) fn passes(self, m: usize, n: usize, item: usize) -> f64 {
        let ((rows, columns), Self { m2, n2 }) = (self.whole(m, n), self);
        let (m1, n1) = (rows / m2, columns / n2);
        let moved = match m1 == 1 || n1 == 1 {
            true => 0.0,
            false => MOVED_PASSES + BLOCK_BYTES / (m2 * n2 * item) as f64,
        };
        let first = match m2 {
            1 if columns == n => 0.0,
            1 => GAP_PASSES,
            _ => row_panels(m2, n, item) + STAGED_PANEL_PASSES / m1 as f64,
        };
        let last = match n2 {
            1 if rows == m => 0.0,
            1 => GAP_PASSES,
            _ => column_panels(n2, m2 * item) + STAGED_PANEL_PASSES / n1 as f64,
        };
        first + moved + last
    }
}

/// The passes in which panels of `m2` rows of `n` items are transposed.
fn row_panels(m2: usize, n: usize, item: usize) -> f64 {
    let run = m2 * item;
    let whole_lanes = run.is_multiple_of(LANE_BYTES);
    let passes = match item {
        _ if run.is_power_of_two() && whole_lanes => ALIGNED_ROW_PASSES,
        4.. if whole_lanes || item >= 2 * LANE_BYTES => WHOLE_LANE_ROW_PASSES,
        2 => FEW_BYTES_ROW_PASSES,
        _ if run < 4 * LANE_BYTES => FEW_BYTES_ROW_PASSES,
        _ => CUT_LANE_ROW_PASSES,
    };
    let is_far = |rows: usize| m2 > rows && n * item > CACHE_LINE;
    let many =
        PASSES_FOR_MANY_ROWS.iter().filter(|&&(rows, _)| is_far(rows)).map(|&(_, more)| more);
    let sets = if n > MAX_CHANNELS { same_sets(run, PAGE_BYTES / 4) } else { 0.0 };
    passes + many.sum::<f64>() + sets
}

/// The passes in which panels of `n2` columns are permuted; `run` is the bytes that stay adjacent.
fn column_panels(n2: usize, run: usize) -> f64 {
    let cut = if run.is_multiple_of(LANE_BYTES) { 0.0 } else { PASSES_FOR_CUT_LANES };
    let many = if n2 > MANY_COLUMNS { PASSES_FOR_MANY_COLUMNS } else { 0.0 };
    let sets = if run < CACHE_LINE { same_sets(n2 * run, PAGE_BYTES) } else { 0.0 };
    COLUMN_PASSES
        + COLUMN_RUN_BYTES / run as f64
        + PASSES_FOR_ONE_COLUMN / n2 as f64
        + cut
        + many
        + sets
}

/// The passes added if runs that start `pitch` bytes apart share sets of the first-level cache: if
/// that is a multiple of `bytes`.
fn same_sets(pitch: usize, bytes: usize) -> f64 {
    if pitch.is_multiple_of(bytes) { 1.5 } else { 0.0 }
}

/// The parts of the scratch of a transpose by blocks, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockScratch {
    /// The rows that are in no block.
    pub(crate) rows: usize,
    /// The columns that are in no block.
    pub(crate) columns: usize,
    /// A panel; or a block or a part of one, and a bit for each block.
    pub(crate) work: usize,
}

/// The sides that are tried along a dimension: few, as their pairs are compared.
fn sides(len: usize) -> SmallVec<[usize; 64]> {
    let few = [1, 2, 3, 4, 5, 6, 7];
    let eighths = (3..usize::BITS - 3).flat_map(|bit| [8, 10, 12, 14].map(|n| n << (bit - 3)));
    let parts = (1..=8).map(|parts| len / parts);
    let all = few.into_iter().chain(eighths.take_while(|&side| side <= len)).chain(parts);
    let mut sides: SmallVec<[usize; 64]> = all.filter(|side| (1..=len).contains(side)).collect();
    sides.sort_unstable();
    sides.dedup();
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_blocks_that_are_excluded_take_fewer_passes() {
        for (m, n, item) in [(2000, 60, 4), (24_000, 50, 4), (667, 2917, 1), (7, 9, 5000)] {
            let limit = 256 << 10;
            let least = Blocks::fastest(m, n, item, limit).passes(m, n, item);
            for m2 in sides(m) {
                for n2 in sides(n) {
                    let blocks = Blocks { m2, n2 };
                    let passes = blocks.passes(m, n, item);
                    let fits = blocks.scratch_bytes(m, n, item) <= limit;
                    assert!(!fits || passes >= least, "{m} {n} {item}: {blocks:?}");
                }
            }
        }
    }
}
