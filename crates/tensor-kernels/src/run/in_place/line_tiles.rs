//! Tiles of a cache line a row, which change places without being staged row by row: whether they
//! do, by which means, and in which order.
//!
//! # Order
//! A load whose address has the last 12 bits of an earlier store that has not left the CPU waits
//! for it, as if it read what that stored. Where rows lie 4096 bytes apart, or an even part of
//! that, the lower tiles of a row of pairs all have the same such bits: 512 by 512 floats took 24
//! µs row by row, and take 15 parallel to the diagonal, where each tile lies in other columns than
//! the one before (Zen 5). If rows do not start at cache lines, and are nearly so far apart, tiles
//! overlap those next to them in these bits; every second one does not.
//!
//! # Figures
//! In parts of the speed of `memcpy` of the same bytes (Zen 5, one thread), with the staged tiles
//! that the [square](super::square) had before in brackets:
//!
//! | | f32 | f64 | 16 bytes | f32, AVX2 | f64, AVX2 |
//! |---|---|---|---|---|---|
//! | 1000² | 1.1 (0.8) | 1.3 (0.9) | 1.3 (0.9) | 1.05 (0.87) | 1.1 (0.95) |
//! | 1001² | 0.94 (0.70) | 0.98 (0.80) | 0.9 (0.7) | 0.9 (0.73) | 0.9 (0.83) |
//! | 512² | 1.1 (0.52) | 1.1 (0.53) | 1.1 (0.65) | 0.90 (0.53) | 0.97 (0.52) |
//! | 1024² | 0.49 (0.41) | 1.2 (0.52) | 1.0 (0.63) | 0.39 | 0.94 (0.51) |
//! | 4096² | 0.93 (0.58) | 1.1 (0.72) | 1.2 (0.85) | 0.83 (0.55) | 1.2 (0.64) |
//!
//! 1024² floats have all 16 lines of a tile in one set of the first-level cache, which holds 12:
//! stores wait for lines that have just been displaced.
//!
//! # Tried and dropped
//! - Lines asked for, for writing, eight rows before they are stored: 0.6 to 1.0 of the speed.
//! - Stores in descending order, because the lines read last are still there: as fast.
//! - Units of 2 bytes by buffers: 0.7 to 1.0 of the speed of staged tiles, except 1535 by 1535.

use super::square::{CROWDED_LINES, FAR_BYTES, Square};
use crate::{
    kernel::TileExchange,
    memory::{CACHE_LINE, most_lines_in_a_set},
    run::walk::starts,
    tuning::PAGE_BYTES,
};

/// Tiles are prefetched this many rows and columns before they are exchanged.
pub(super) const PREFETCHED_BEHIND: usize = 64;

/// How the rows of a tile lie.
#[derive(Clone, Copy)]
struct TileRows {
    /// The most lines of them in one set of the first-level cache.
    lines: usize,
    /// Do they start at cache lines?
    are_aligned: bool,
    /// By how many bytes they are farther apart than a multiple of half a page.
    drift: usize,
}

/// How tiles of a cache line a row are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineTiles {
    pub(super) how: TileExchange,
    order: Order,
    pub(super) are_prefetched: bool,
}

/// The order of the tiles on and above the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Row by row; of each row every `step`-th tile, `step` times.
    Rows { step: usize },
    /// Parallel to the diagonal.
    Diagonals,
}

impl LineTiles {
    /// For a level whose registers have this many bytes. `None` if tiles are staged instead.
    #[inline]
    pub(super) fn choose(square: &Square, register: usize) -> Option<Self> {
        let Square { first, width, len, pitch, .. } = *square;
        let (side, pitch) = (CACHE_LINE / width, pitch * width);
        if register == 0 || len < side {
            return None;
        }
        let rows = TileRows {
            lines: most_lines_in_a_set(pitch, side, CACHE_LINE),
            are_aligned: (first.addr() | pitch).is_multiple_of(CACHE_LINE),
            drift: pitch % (PAGE_BYTES / 2),
        };
        Self::of(width, rows, len * pitch, register)
    }

    /// For a square of `bytes`.
    fn of(width: usize, rows: TileRows, bytes: usize, register: usize) -> Option<Self> {
        let TileRows { lines, are_aligned, drift } = rows;
        let (is_line, is_near) = (register == CACHE_LINE, bytes < FAR_BYTES / 2);
        let how = match width {
            // A tile has 64 rows.
            1 if lines <= 2 * CROWDED_LINES => TileExchange::Buffers,
            1 | 2 => return None,
            _ if is_line => TileExchange::Registers,
            _ if !is_near => TileExchange::Buffers,
            // Between its halves a line would be displaced.
            _ if lines > CROWDED_LINES => return None,
            _ => TileExchange::Registers,
        };
        // Of narrow units that are not aligned, the rows of a tile overlap in the bits of an
        // address that are compared.
        let overlap = lines > CROWDED_LINES || drift < 16 && bytes < FAR_BYTES;
        let order = match (lines > CACHE_LINE / width / 4, are_aligned) {
            (true, true) => Order::Diagonals,
            (true, false) if width < 16 && (overlap || !is_line) => return None,
            (true, false) if width < 16 => Order::Rows { step: 2 },
            _ => Order::Rows { step: 1 },
        };
        let are_prefetched = bytes >= FAR_BYTES && order == Order::Diagonals;
        Some(Self { how, order, are_prefetched })
    }

    /// Calls `exchange` with the row and the column of each tile on and above the diagonal of a
    /// square of whole tiles.
    #[inline(always)]
    pub(super) fn each(self, len: usize, side: usize, exchange: impl Fn(usize, usize)) {
        for at in starts(len, side) {
            match self.order {
                Order::Rows { step } => {
                    for first in starts(step * side, side).map(|behind| at + behind) {
                        for behind in starts(len.saturating_sub(first), step * side) {
                            exchange(at, first + behind);
                        }
                    }
                }
                Order::Diagonals => {
                    for row in starts(len - at, side) {
                        exchange(row, row + at);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TileExchange::{Buffers, Registers};

    fn chosen(len: usize, width: usize, register: usize) -> Option<(TileExchange, Order, bool)> {
        let pitch = len * width;
        let rows = TileRows {
            lines: most_lines_in_a_set(pitch, CACHE_LINE / width, CACHE_LINE),
            are_aligned: pitch.is_multiple_of(CACHE_LINE),
            drift: pitch % (PAGE_BYTES / 2),
        };
        let tiles = LineTiles::of(width, rows, len * pitch, register)?;
        Some((tiles.how, tiles.order, tiles.are_prefetched))
    }

    #[test]
    fn tiles_of_some_squares() {
        let (rows, every_second) = (Order::Rows { step: 1 }, Order::Rows { step: 2 });
        for (len, width, register, expected) in [
            (1000, 4, 64, Some((Registers, rows, false))),
            (1001, 4, 64, Some((Registers, rows, false))),
            (1024, 4, 64, Some((Registers, Order::Diagonals, false))),
            (4096, 4, 64, Some((Registers, Order::Diagonals, true))),
            (1025, 4, 64, None),
            (1023, 8, 64, Some((Registers, every_second, false))),
            (1025, 8, 64, None),
            (1025, 16, 64, Some((Registers, rows, false))),
            (1000, 4, 32, Some((Registers, rows, false))),
            (512, 4, 32, Some((Registers, Order::Diagonals, false))),
            (1024, 4, 32, None),
            (3000, 4, 32, Some((Buffers, rows, false))),
            (4096, 4, 32, Some((Buffers, Order::Diagonals, true))),
            (1000, 1, 32, Some((Buffers, rows, false))),
            (2048, 1, 64, None),
            (1000, 2, 64, None),
        ] {
            assert_eq!(chosen(len, width, register), expected, "{len} by {len} of {width} bytes");
        }
    }

    #[test]
    fn each_tile_on_and_above_the_diagonal_once() {
        for order in [Order::Rows { step: 1 }, Order::Rows { step: 2 }, Order::Diagonals] {
            let tiles = LineTiles { how: Buffers, order, are_prefetched: false };
            for count in 0..7 {
                let seen = std::cell::RefCell::new(Vec::new());
                tiles.each(16 * count, 16, |row, column| seen.borrow_mut().push((row, column)));
                let mut seen = seen.into_inner();
                seen.sort_unstable();
                let above = |row| (row..count).map(move |column| (16 * row, 16 * column));
                assert_eq!(seen, (0..count).flat_map(above).collect::<Vec<_>>(), "{order:?}");
            }
        }
    }
}
