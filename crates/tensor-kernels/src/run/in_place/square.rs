//! Exchanges the two dimensions of a square of units, in one call of a kernel.
//!
//! Tile `(i, j)` and tile `(j, i)` are transposed into buffers, and copied from there row by row to
//! each other's places. If rows are a multiple of a page apart, so that the lines of a column share
//! a set of the caches, it is the other way round: the rows of a tile, of one cache line each, are
//! copied into a buffer, and transposed from there; so each line is read once and written once.
//! Tiles at the edges are narrower, by the same code. Nothing is planned.
//!
//! Against `memcpy` of the same bytes (Zen 5): 1000² f32 0.56 of its speed, 4001² f32 0.71, 1300²
//! f64 0.72, 1024² u8 0.35; 4096² f32 0.72 with rows first, 0.56 otherwise.
//!
//! # Tried and dropped
//! - Plans for the copies: they take 8 µs to make, and 0.1 µs for each pair of tiles to start.
//! - Rows first for all: 4001² f32 takes twice as long, as transposed rows are written in parts of
//!   lines that are not adjacent.

use pulp::NullaryFnOnce;

use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel, Unit, prefetch},
    memory::{CACHE_LINE, Stores},
    run::walk::starts,
};

/// Rows and columns, or the first of each.
type Pair = (usize, usize);

/// A square of `len` by `len` units, whose rows lie `pitch` units apart.
#[derive(Clone, Copy)]
pub(super) struct Square<L> {
    pub(super) first: *mut L,
    pub(super) len: usize,
    pub(super) pitch: usize,
    /// The rows and columns of a tile.
    pub(super) side: usize,
    /// Whether rows are copied first, and then transposed.
    pub(super) rows_first: bool,
    /// Room for a tile each.
    pub(super) buffers: [*mut L; 2],
}

impl<L: Unit> Square<L> {
    /// Transposes the square.
    ///
    /// # Safety
    /// The units of the square can be read and written, and nobody else uses the bytes from its
    /// first to its last, or the buffers. Each buffer has room for a tile.
    pub(super) unsafe fn transpose(self, simd: SimdLevel) {
        kernel::dispatch(simd, Exchange(self));
    }

    fn at(&self, (row, column): Pair) -> *mut L {
        self.first.wrapping_add(row * self.pitch + column)
    }

    /// Asks for the cache lines of the tile at a row and a column.
    #[inline(always)]
    fn prefetch(&self, (row, column): Pair) {
        let bytes = self.side.min(self.len.saturating_sub(column)) * L::WIDTH;
        for at in row..self.len.min(row + self.side) {
            let start = self.at((at, column)).cast::<u8>();
            let mut line = 0;
            while line < bytes {
                prefetch(start.wrapping_add(line));
                line += CACHE_LINE;
            }
        }
    }
}

/// Invariant: only [`Square::transpose`] makes it, so its contract holds.
struct Exchange<L>(Square<L>);

impl<L: Unit> Kernel for Exchange<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        isa.vectorize(Tiles { isa, square: self.0 });
    }
}

/// Invariant: that of [`Exchange`].
struct Tiles<I, L> {
    isa: I,
    square: Square<L>,
}

impl<I: Isa, L: Unit> NullaryFnOnce for Tiles<I, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Square { len, side, .. } = self.square;
        for row in starts(len, side) {
            let rows = side.min(len - row);
            // SAFETY: the invariant; a tile on the diagonal.
            unsafe { self.load((row, row), (rows, rows), 0) };
            // SAFETY: as above, and it has just been loaded.
            unsafe { self.store(0, (rows, rows), (row, row)) };
            for column in starts(len - row, side).skip(1).map(|at| row + at) {
                let columns = side.min(len - column);
                self.square.prefetch((row, column + side));
                self.square.prefetch((column + side, row));
                // SAFETY: the invariant; a tile of the square.
                unsafe { self.load((row, column), (rows, columns), 0) };
                // SAFETY: as above, its counterpart.
                unsafe { self.load((column, row), (columns, rows), 1) };
                // SAFETY: as above, and both have been loaded.
                unsafe { self.store(0, (rows, columns), (column, row)) };
                // SAFETY: as above.
                unsafe { self.store(1, (columns, rows), (row, column)) };
            }
        }
    }
}

impl<I: Isa, L: Unit> Tiles<I, L> {
    /// Brings a tile of some rows and columns into a buffer.
    ///
    /// # Safety
    /// It lies in the square, and the invariant of the square holds.
    #[inline(always)]
    unsafe fn load(&self, at: Pair, tile: Pair, buffer: usize) {
        let (from, to) = (self.square.at(at).cast_const(), self.square.buffers[buffer]);
        let pitch = self.square.pitch;
        match self.square.rows_first {
            // SAFETY: M1 to M3 for the tile and its place in the buffer, by this function's
            // contract.
            true => unsafe { self.copy_rows((from, pitch), (to, tile.1), tile) },
            // SAFETY: as above.
            false => unsafe { self.transpose((from, pitch), (to, tile.0), tile) },
        }
    }

    /// Writes the tile of some rows and columns in a buffer, transposed, to a place in the square.
    ///
    /// # Safety
    /// Such a tile has been loaded into the buffer, the transposed one lies in the square at the
    /// place, and the invariant of the square holds.
    #[inline(always)]
    unsafe fn store(&self, buffer: usize, tile: Pair, at: Pair) {
        let (from, to) = (self.square.buffers[buffer].cast_const(), self.square.at(at));
        let ((rows, columns), pitch) = (tile, self.square.pitch);
        match self.square.rows_first {
            // SAFETY: M1 to M3 for the buffer and the tile's place, by this function's contract.
            true => unsafe { self.transpose((from, columns), (to, pitch), tile) },
            // SAFETY: as above; the buffer has the transposed tile.
            false => unsafe { self.copy_rows((from, rows), (to, pitch), (columns, rows)) },
        }
    }

    /// Copies rows between addresses of which each has a distance between its rows.
    ///
    /// # Safety
    /// M1 to M3 for the rows.
    #[inline(always)]
    unsafe fn copy_rows(
        &self,
        (from, from_pitch): (*const L, usize),
        (to, to_pitch): (*mut L, usize),
        (rows, columns): Pair,
    ) {
        for row in 0..rows {
            let from = from.wrapping_add(row * from_pitch);
            let to = to.wrapping_add(row * to_pitch);
            // SAFETY: M1 to M3 for a row, by this function's contract.
            unsafe { self.isa.run(from, to, columns, Stores::Plain) };
        }
    }

    /// Transposes a tile of some rows and columns, between addresses of which each has a distance
    /// between its rows.
    ///
    /// # Safety
    /// M1 to M3 for the elements of the tile, and for the gaps between the rows that are read.
    #[inline(always)]
    unsafe fn transpose(
        &self,
        (from, from_pitch): (*const L, usize),
        (to, to_pitch): (*mut L, usize),
        (rows, columns): Pair,
    ) {
        let [step, pitch] = [from_pitch, to_pitch].map(|pitch| pitch as isize);
        // SAFETY: this function's contract.
        unsafe { self.isa.transpose(from, step, to, pitch, rows, columns) };
    }
}
