//! Exchanges the two dimensions of a square of units, in one call of a kernel.
//!
//! Tile `(i, j)` and tile `(j, i)` change places. Most squares have [tiles of a cache line a
//! row](super::line_tiles), each of whose lines is read and written once. Where these are slow, and
//! at the edges, tiles are larger and staged. How depends on the distance between rows:
//!
//! - [`Staging::One`]: the first tile is transposed into a buffer, the second one to the place of
//!   the first, and the buffer is copied, row by row, to the place of the second. Both tiles and
//!   the buffer stay in the first-level cache, so each line is brought there once.
//! - [`Staging::Both`]: if the rows of a tile [crowd](is_crowded) a few sets of that cache, it does
//!   not keep both tiles. Both are transposed into buffers, and copied from there in rows of many
//!   lines. Each line is brought there twice.
//! - [`Staging::Lines`]: the same for single bytes, of which a tile of whole lines has 64 rows. A
//!   cache line of each is copied to a small buffer, and transposed from there.
//!
//! Rows of buffers are a line longer than those of tiles, so that they never crowd sets. Tiles at
//! the edges are narrower, by the same code. Nothing is planned.
//!
//! In parts of the speed of `memcpy` of the same bytes (Zen 5, one thread): 1000² of 2 bytes 0.76,
//! 3000² 0.9. With crowded sets 0.2 to 0.6, as is a copy of the tiles to buffers and back that
//! transposes nothing: 1025² f32 0.38, 1024² of 2 bytes 0.45, 2048² u8 0.24.
//!
//! # Tried and dropped
//! - Plans for the copies: they take 8 µs to make, and 0.1 µs for each pair of tiles to start.
//! - Copying tiles first and transposing them from the buffers: transposed rows are written in
//!   parts of lines that are not adjacent.

use std::mem::MaybeUninit;

use super::line_tiles::{LineTiles, PREFETCHED_BEHIND};
use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel, Residency, Rows, Units, prefetch},
    memory::{CACHE_LINE, most_lines_in_a_set},
    run::walk::starts,
};

/// Rows and columns, or the first of each.
type Pair = (usize, usize);

/// How two tiles change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Staging {
    One,
    Both,
    Lines,
}

/// The tiles of a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    staging: Staging,
    /// The rows and columns of a tile.
    side: usize,
}

/// Lines of a tile in one set of the first-level cache from which on it does not keep two tiles: it
/// has 8 or 12 lines.
pub(super) const CROWDED_LINES: usize = 8;

/// Squares of this many bytes and more are read from memory. If their items are narrow, so that
/// rows of tiles are short, the next tiles are prefetched: 3000² of 2 bytes take 0.54 ms, and 0.79
/// without that. If they are wide, or the square is in a cache, the instructions take longer than
/// they save: 1000² f32 take 90 µs with them and 79 without (Zen 5).
pub(super) const FAR_BYTES: usize = 16 << 20;

impl Tiling {
    /// That of a square of `len` by `len` units of `width` bytes, whose rows lie `pitch` bytes
    /// apart.
    pub(super) fn new(len: usize, width: usize, pitch: usize) -> Self {
        let sides: &[usize] = match width {
            1 => &[128],
            2 | 4 => &[64, 32],
            _ => &[32, 16],
        };
        let sides = sides.iter().map(|&side| side.min(len));
        if let Some(side) = sides.into_iter().find(|&side| !is_crowded(pitch, side, side * width)) {
            return Self { staging: Staging::One, side };
        }
        let (staging, side) = match width {
            1 => (Staging::Lines, 128),
            2 => (Staging::Both, 128),
            4 => (Staging::Both, 96),
            8 => (Staging::Both, 64),
            _ => (Staging::Both, 32),
        };
        Self { staging, side: side.min(len) }
    }

    /// Units from one row of a buffer to the next.
    fn pitch(self, width: usize) -> usize {
        self.side + CACHE_LINE / width
    }
}

/// Whether too many lines of some rows, of this many bytes each, share a set of the first-level
/// cache.
fn is_crowded(pitch: usize, rows: usize, bytes: usize) -> bool {
    most_lines_in_a_set(pitch, rows, bytes) > CROWDED_LINES
}

/// The bytes of the largest tile that needs one buffer, with the additional line of each row.
const ONE_BUFFER_BYTES: usize = 128 * (128 + CACHE_LINE);

/// The bytes of each of two buffers.
const BUFFER_BYTES: usize = 96 * (96 * 4 + CACHE_LINE);

/// Buffers on the stack: no memory is needed. A small frame takes less time to enter.
pub(super) struct Buffers<'b>(&'b mut [MaybeUninit<u8>]);

impl Buffers<'_> {
    /// Calls `f` with buffers for these tiles.
    pub(super) fn with<R>(tiling: Tiling, f: impl FnOnce(Buffers<'_>) -> R) -> R {
        match tiling.staging {
            Staging::One => Self::in_frame::<ONE_BUFFER_BYTES, R>(f),
            Staging::Both | Staging::Lines => Self::in_frame::<{ 2 * BUFFER_BYTES }, R>(f),
        }
    }

    #[inline(never)]
    fn in_frame<const BYTES: usize, R>(f: impl FnOnce(Buffers<'_>) -> R) -> R {
        #[repr(align(64))]
        struct Frame<const BYTES: usize>([MaybeUninit<u8>; BYTES]);
        f(Buffers(&mut Frame([MaybeUninit::uninit(); BYTES]).0))
    }

    /// One buffer, or two, of which each has room for this many bytes.
    ///
    /// # Panics
    /// If there is no room.
    fn start(&mut self, tiling: Tiling, bytes: usize) -> [*mut u8; 2] {
        match tiling.staging {
            Staging::One => [self.0[..bytes].as_mut_ptr().cast(); 2],
            Staging::Both | Staging::Lines => {
                let (first, second) = self.0.split_at_mut(BUFFER_BYTES);
                [first[..bytes].as_mut_ptr(), second[..bytes].as_mut_ptr()].map(<*mut _>::cast)
            }
        }
    }
}

/// A square of `len` by `len` units of `width` bytes, whose rows lie `pitch` units apart.
#[derive(Clone, Copy)]
pub(super) struct Square {
    pub(super) first: *mut u8,
    pub(super) width: usize,
    pub(super) len: usize,
    pub(super) pitch: usize,
    pub(super) tiling: Tiling,
}

impl Square {
    /// Transposes the square.
    ///
    /// # Safety
    /// The units of the square can be read and written, and nobody else uses the bytes from its
    /// first to its last.
    pub(super) unsafe fn transpose(self, simd: SimdLevel, buffers: &mut Buffers<'_>) {
        let tile = self.tiling.side * self.tiling.pitch(self.width) * self.width;
        let buffers = buffers.start(self.tiling, tile);
        kernel::dispatch(simd, Exchange { square: self, buffers });
    }

    fn at(&self, (row, column): Pair) -> *mut u8 {
        self.first.wrapping_add((row * self.pitch + column) * self.width)
    }

    /// Asks for the first cache line of some rows of a tile, wherever it lies.
    #[inline(always)]
    fn prefetch_lines(&self, (row, column): Pair, rows: usize) {
        for at in row..row + rows {
            prefetch(self.at((at, column)));
        }
    }

    /// Asks for the cache lines of the tile at a row and a column.
    #[inline(always)]
    fn prefetch(&self, (row, column): Pair) {
        let side = self.tiling.side;
        let bytes = side.min(self.len.saturating_sub(column)) * self.width;
        for at in row..self.len.min(row + side) {
            let start = self.at((at, column));
            let mut line = 0;
            while line < bytes {
                prefetch(start.wrapping_add(line));
                line += CACHE_LINE;
            }
        }
    }
}

/// Invariant: only [`Square::transpose`] makes it, so its contract holds, and each buffer, which
/// nobody else uses, has room for a tile whose rows are [`Tiling::pitch`] apart. The second is the
/// first if tiles need one only.
struct Exchange {
    square: Square,
    buffers: [*mut u8; 2],
}

impl Kernel for Exchange {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { square, buffers } = self;
        Tiles { units: Units { isa, width: square.width }, square, buffers }.exchange_all();
    }
}

/// Invariant: that of [`Exchange`].
struct Tiles<I> {
    units: Units<I>,
    square: Square,
    buffers: [*mut u8; 2],
}

/// The address of a tile, and the units from one of its rows to the next.
type Place = (*mut u8, usize);

impl<I: Isa> Tiles<I> {
    #[inline(always)]
    fn exchange_all(self) {
        match LineTiles::choose(&self.square, I::EXCHANGED_BYTES) {
            Some(tiles) => self.exchange_lines(tiles),
            None => self.exchange_staged(),
        }
    }

    /// Exchanges tiles of a cache line a row, and what is left at the edges staged.
    #[inline(always)]
    fn exchange_lines(self, tiles: LineTiles) {
        let Square { width, len, pitch, tiling, .. } = self.square;
        let side = CACHE_LINE / width;
        let (whole, rest) = (len - len % side, len % side);
        tiles.each(whole, side, |row, column| {
            let pair = [(row, column), (column, row)];
            if tiles.are_prefetched {
                let behind = |(row, column)| (row + PREFETCHED_BEHIND, column + PREFETCHED_BEHIND);
                pair.map(behind).into_iter().for_each(|at| self.square.prefetch_lines(at, side));
            }
            let pair = pair.map(|at| self.square.at(at));
            // SAFETY: the invariant, for two tiles of the square, or one on the diagonal.
            unsafe { self.units.exchange_tiles(pair, pitch as isize, tiles.how) };
        });
        for row in starts(whole, tiling.side) {
            let rows = tiling.side.min(whole - row);
            // SAFETY: the invariant; a tile right of the diagonal.
            unsafe { self.exchange((row, whole), (rows, rest)) };
        }
        // SAFETY: the invariant; a tile on the diagonal.
        unsafe { self.turn((whole, whole), rest) };
    }

    #[inline(always)]
    fn exchange_staged(self) {
        let Square { width, len, pitch, tiling: Tiling { side, .. }, .. } = self.square;
        let is_far = width <= 4 && len * pitch * width >= FAR_BYTES;
        for row in starts(len, side) {
            let rows = side.min(len - row);
            // SAFETY: the invariant; a tile on the diagonal.
            unsafe { self.turn((row, row), rows) };
            for column in starts(len - row, side).skip(1).map(|at| row + at) {
                let columns = side.min(len - column);
                if is_far {
                    self.square.prefetch((row, column + side));
                    self.square.prefetch((column + side, row));
                }
                // SAFETY: the invariant; a tile right of the diagonal.
                unsafe { self.exchange((row, column), (rows, columns)) };
            }
        }
    }

    fn buffers(&self) -> [Place; 2] {
        self.buffers.map(|buffer| (buffer, self.square.tiling.pitch(self.units.width)))
    }

    fn place(&self, at: Pair) -> Place {
        (self.square.at(at), self.square.pitch)
    }

    /// Transposes a tile on the diagonal.
    ///
    /// # Safety
    /// It lies in the square, and the invariant of the square holds.
    #[inline(always)]
    unsafe fn turn(&self, at: Pair, side: usize) {
        let (place, [buffer, _]) = (self.place(at), self.buffers());
        // SAFETY: M1 to M3 for the tile and a buffer, by this function's contract.
        unsafe { self.transpose(place, buffer, (side, side)) };
        // SAFETY: as above; the buffer has been written.
        unsafe { self.copy_rows(buffer, place, (side, side)) };
    }

    /// Exchanges a tile of some rows and columns, and the one of as many columns and rows across
    /// the diagonal.
    ///
    /// # Safety
    /// Both lie in the square, the first in rows above those of the other, and the invariant of the
    /// square holds.
    #[inline(always)]
    unsafe fn exchange(&self, (row, column): Pair, tile: Pair) {
        let across = (tile.1, tile.0);
        let (upper, lower) = (self.place((row, column)), self.place((column, row)));
        let [first, second] = self.buffers();
        match self.square.tiling.staging {
            Staging::One => {
                // SAFETY: M1 to M3 for a tile and a buffer, by this function's contract.
                unsafe { self.transpose(upper, first, tile) };
                // SAFETY: as above, for the other tile and the place of the one in the buffer. It
                // lies behind all rows of the first.
                unsafe { self.transpose(lower, upper, across) };
                // SAFETY: as above, for the buffer, which has been written.
                unsafe { self.copy_rows(first, lower, across) };
                return;
            }
            Staging::Both => {
                // SAFETY: as above.
                unsafe { self.transpose(upper, first, tile) };
                // SAFETY: as above.
                unsafe { self.transpose(lower, second, across) };
            }
            Staging::Lines => {
                // SAFETY: as above.
                unsafe { self.transpose_lines(upper, first, tile) };
                // SAFETY: as above.
                unsafe { self.transpose_lines(lower, second, across) };
            }
        }
        // SAFETY: as above; both buffers have been written.
        unsafe { self.copy_rows(first, lower, across) };
        // SAFETY: as above.
        unsafe { self.copy_rows(second, upper, tile) };
    }

    /// Copies rows.
    ///
    /// # Safety
    /// M1 to M3 for the rows.
    #[inline(always)]
    unsafe fn copy_rows(&self, from: Place, to: Place, (rows, columns): Pair) {
        let (from, to): (Rows<_>, Rows<_>) =
            ((from.0.cast_const(), from.1 as isize), (to.0, to.1 as isize));
        // SAFETY: this function's contract.
        unsafe { self.units.copy_rows(from, to, (rows, columns)) };
    }

    /// Transposes a tile of some rows and columns.
    ///
    /// # Safety
    /// M1 to M3 for the elements of the tile, and for the gaps between the rows that are read.
    #[inline(always)]
    unsafe fn transpose(&self, from: Place, to: Place, (rows, columns): Pair) {
        let [step, pitch] = [from.1, to.1].map(|pitch| pitch as isize);
        let (from, to): (Rows<_>, Rows<_>) = ((from.0.cast_const(), step), (to.0, pitch));
        // SAFETY: this function's contract.
        unsafe { self.units.transpose(from, to, (rows, columns), Residency::Cached) };
    }

    /// [`transpose`](Self::transpose) by parts of a cache line of as many rows, so that each line
    /// is read once.
    ///
    /// # Safety
    /// That of [`transpose`](Self::transpose).
    #[inline(always)]
    unsafe fn transpose_lines(&self, from: Place, to: Place, (rows, columns): Pair) {
        let width = self.units.width;
        let side = CACHE_LINE / width;
        let mut lines = Lines([[MaybeUninit::<u8>::uninit(); CACHE_LINE]; CACHE_LINE]);
        let lines = (lines.0.as_mut_ptr().cast(), side);
        for row in starts(rows, side) {
            for column in starts(columns, side) {
                let part = (side.min(rows - row), side.min(columns - column));
                let from = (from.0.wrapping_add((row * from.1 + column) * width), from.1);
                let to = (to.0.wrapping_add((column * to.1 + row) * width), to.1);
                // SAFETY: M1 to M3 for a part of the tile and for the lines, which have room for as
                // many rows of a line as a line has units.
                unsafe { self.copy_rows(from, lines, part) };
                // SAFETY: as above.
                unsafe { self.transpose(lines, to, part) };
            }
        }
    }
}

#[repr(align(64))]
struct Lines([[MaybeUninit<u8>; CACHE_LINE]; CACHE_LINE]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::PAGE_BYTES;

    #[test]
    fn tiles_of_some_squares() {
        use Staging::{Both, Lines, One};
        for (len, width, pitch, staging, side) in [
            (1000, 4, 4000, One, 64),
            (1020, 4, 4080, One, 32),
            (1024, 4, 4096, Both, 96),
            (2049, 4, 8196, Both, 96),
            (1000, 1, 1000, One, 128),
            (2048, 1, 2048, Lines, 128),
            (1024, 8, 8192, Both, 64),
            (20, 4, 80, One, 20),
        ] {
            assert_eq!(Tiling::new(len, width, pitch), Tiling { staging, side }, "{len} {width}");
        }
    }

    #[test]
    fn every_tile_fits_into_a_buffer() {
        for width in [1, 2, 4, 8, 16] {
            for pitch in 1..=PAGE_BYTES {
                let tiling = Tiling::new(usize::MAX, width, pitch);
                let tile = tiling.side * tiling.pitch(width) * width;
                Buffers::with(tiling, |mut buffers| _ = buffers.start(tiling, tile));
            }
        }
    }
}
