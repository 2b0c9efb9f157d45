//! The transpose of a matrix in its own memory, by blocks.
//!
//! The matrix has `m = m1·m2 + rest` rows and `n = n1·n2 + rest` columns. Three passes transpose
//! it, each of which reads and writes long runs:
//!
//! 1. Each panel of `m2` rows is transposed through scratch: `[m1][m2][n]` becomes `[m1][n][m2]`.
//! 2. Blocks of `n2·m2` items are moved to their places along the cycles of the permutation:
//!    `[m1][n1]` becomes `[n1][m1]`. A bit for each block says whether it has been moved.
//! 3. Each panel of `n2` columns is permuted through scratch: `[m1][n2][m2]` becomes
//!    `[n2][m1][m2]`.
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

use crate::{
    memory::CACHE_LINE,
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

/// Sides that are tried up to here one by one.
const MAX_SIDE_IN_STEPS_OF_ONE: usize = 96;

/// Rows that are interleaved by the copy kernels at the speed of memory.
const MAX_INTERLEAVED_ROWS: usize = 128;

/// Panels beyond this size, in bytes, leave the second-level cache before they are copied back.
const PANEL_BYTES: usize = 320 << 10;

/// Longer blocks are moved in parts of this many bytes, one after the other.
pub(crate) const MOVED_BYTES: usize = 64 << 10;

/// The bytes of a block whose copy takes twice as long, byte for byte, as that of a long one.
const BLOCK_BYTES: f64 = 350.0;

/// The passes that long blocks take, and those of panels at best.
const MOVED_PASSES: f64 = 1.1;
const LEAST_PANEL_PASSES: f64 = 1.6;

impl Blocks {
    /// Blocks of single items.
    pub(crate) const ITEMS: Self = Self { m2: 1, n2: 1 };

    /// The blocks with the fewest estimated passes, whose scratch is within `limit` if there are
    /// any. Of thousands of pairs few are estimated: large blocks, which are the best or almost so,
    /// come first, and [`takes_at_least`](Self::takes_at_least) excludes most of the others.
    pub(crate) fn fastest(m: usize, n: usize, item: usize, limit: usize) -> Self {
        let (mut fastest, mut least) = (Self::ITEMS, f64::INFINITY);
        let is_small = |side: usize, other: usize| side == 1 || side * other * item <= limit;
        for m2 in sides(m).rev().filter(|&m2| is_small(m2, n)) {
            for n2 in sides(n).rev().filter(|&n2| is_small(n2, m)) {
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
        let panels = [m2, n2].map(|side| if side > 1 { LEAST_PANEL_PASSES } else { 0.0 });
        let for_blocks = passes - panels[0] - panels[1] - MOVED_PASSES;
        for_blocks * (m2 * n2 * item) as f64 <= BLOCK_BYTES
    }

    /// The rows and the columns of whole blocks.
    pub(crate) fn whole(self, m: usize, n: usize) -> (usize, usize) {
        (m - m % self.m2, n - n % self.n2)
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
        let large = |bytes: usize| if bytes > PANEL_BYTES { 0.5 } else { 0.0 };
        let first = match m2 {
            1 if columns == n => 0.0,
            1 => 1.0,
            _ => LEAST_PANEL_PASSES + large(m2 * columns * item) + same_set(m2 * item),
        };
        let moved = match m1 == 1 || n1 == 1 {
            true => 0.0,
            false => MOVED_PASSES + BLOCK_BYTES / (m2 * n2 * item) as f64,
        };
        let last = match n2 {
            1 if rows == m => 0.0,
            1 => 1.0,
            _ if m2 * item >= CACHE_LINE => 1.8 + large(n2 * rows * item),
            _ if m1 <= MAX_CHANNELS => LEAST_PANEL_PASSES,
            _ if m1 <= MAX_INTERLEAVED_ROWS => 1.8 + same_set(n2 * item),
            _ => 5.0,
        };
        first + moved + last
    }
}

/// A penalty for rows that compete for the same cache sets.
fn same_set(pitch: usize) -> f64 {
    if pitch.is_multiple_of(PAGE_BYTES) { 1.0 } else { 0.0 }
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

/// The sides that are tried along a dimension.
fn sides(len: usize) -> impl DoubleEndedIterator<Item = usize> {
    let doubled = (0..usize::BITS).flat_map(|bit| {
        let power = 1usize.checked_shl(bit).unwrap_or(usize::MAX);
        [power, power.saturating_add(power / 4), power.saturating_add(power / 2)]
    });
    let parts = (1..=16).map(move |parts| len / parts);
    let large = doubled.chain(parts).filter(|&side| side > MAX_SIDE_IN_STEPS_OF_ONE);
    (1..=MAX_SIDE_IN_STEPS_OF_ONE).chain(large).filter(move |&side| side <= len)
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
