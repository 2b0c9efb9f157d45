//! Exchanges two dimensions of equal size, tile by tile.
//!
//! Tile `(i, j)` and tile `(j, i)` change places, each transposed: the first is transposed into a
//! buffer on the stack, the second into the place of the first, and the buffer is copied to where
//! the second was. Both have been read into the cache by then, so that each cache line is read from
//! and written to memory once.

use tensor_core::Layout;

use crate::{
    exec::{Machine, SimdLevel},
    plan::Work,
    run::{copy::run_at, workspace::with_reserve},
};

/// The bytes of a tile, and those of one of its rows, at most.
const TILE_BYTES: usize = 16 << 10;
const TILE_ROW_BYTES: usize = 256;

/// Exchanges the first and the last dimension of `[len][between][len]` items.
///
/// # Panics
/// If the memory is not that of these items.
pub(super) fn swap(simd: SimdLevel, memory: &mut [u8], len: usize, between: usize, item: usize) {
    assert_eq!(memory.len(), len * between * len * item, "the memory of these items");
    if item > TILE_BYTES / 4 {
        return swap_long(memory, len, between, item);
    }
    let side = tile_side(item).min(len);
    with_reserve(TILE_BYTES, |mut scratch| {
        let buffer = scratch.start(side * side * item);
        for at in 0..between {
            let first = memory[at * len * item..].as_mut_ptr();
            let square = Square { simd, first, len, pitch: between * len, item, side };
            // SAFETY: the square lies within the memory, which is borrowed; the buffer has room for
            // a tile.
            unsafe { square.transpose(buffer) };
        }
    });
}

/// The rows and columns of a tile: the largest power of two for which it is small enough, or 2.
fn tile_side(item: usize) -> usize {
    let fits = |side: usize| side * item <= TILE_ROW_BYTES && side * side * item <= TILE_BYTES;
    (1..=7).rev().map(|bits| 1 << bits).find(|&side| fits(side)).unwrap_or(2)
}

/// Exchanges items one by one.
fn swap_long(memory: &mut [u8], len: usize, between: usize, item: usize) {
    let start = |i: usize, at: usize, j: usize| ((i * between + at) * len + j) * item;
    for i in 0..len {
        for at in 0..between {
            for j in i + 1..len {
                // The item of the lower row lies in front of that of the higher one.
                let (front, back) = memory.split_at_mut(start(j, at, i));
                front[start(i, at, j)..][..item].swap_with_slice(&mut back[..item]);
            }
        }
    }
}

/// A square of `len` by `len` items, whose rows lie `pitch` items apart.
struct Square {
    simd: SimdLevel,
    first: *mut u8,
    len: usize,
    pitch: usize,
    item: usize,
    side: usize,
}

/// The plans for an exchange of a tile of some rows and columns with its counterpart.
struct TilePlans {
    /// The tile into the buffer, transposed.
    stage: Work,
    /// The counterpart into the tile, transposed.
    replace: Work,
    /// The buffer into the counterpart.
    restore: Work,
}

impl Square {
    fn plans(&self, rows: usize, columns: usize) -> TilePlans {
        let pitch = self.pitch as isize;
        let layout = |shape: [usize; 2], strides: [isize; 2]| {
            Layout::new(&shape, &strides, 0).expect("a part of the memory")
        };
        let plan = |from: &Layout, to: &Layout| {
            let machine = Machine { stream: usize::MAX, ..Machine::REFERENCE };
            Work::new(from, to, self.item, &machine)
        };
        let buffer = layout([columns, rows], [rows as isize, 1]);
        let (tile, transposed) =
            (layout([rows, columns], [pitch, 1]), layout([columns, rows], [1, pitch]));
        let counterpart = layout([columns, rows], [pitch, 1]);
        TilePlans {
            stage: plan(&transposed, &buffer),
            replace: plan(&layout([rows, columns], [1, pitch]), &tile),
            restore: plan(&buffer, &counterpart),
        }
    }

    /// The address of an item.
    fn at(&self, row: usize, column: usize) -> *mut u8 {
        self.first.wrapping_add((row * self.pitch + column) * self.item)
    }

    /// # Safety
    /// The items of the square can be read and written, and nobody else uses the bytes from its
    /// first to its last. `buffer` has room for a tile.
    unsafe fn transpose(&self, buffer: *mut u8) {
        let (side, whole) = (self.side, self.len - self.len % self.side);
        let rest = self.len - whole;
        let (square, edge, corner) =
            (self.plans(side, side), self.plans(side, rest), self.plans(rest, rest));
        for row in (0..whole).step_by(side) {
            for column in (row..whole).step_by(side) {
                // SAFETY: two tiles of the square, or one on the diagonal.
                unsafe { self.exchange(&square, (row, column), buffer) };
            }
            if rest > 0 {
                // SAFETY: the tile after the last whole one, and its counterpart.
                unsafe { self.exchange(&edge, (row, whole), buffer) };
            }
        }
        if rest > 0 {
            // SAFETY: the last tile on the diagonal.
            unsafe { self.exchange(&corner, (whole, whole), buffer) };
        }
    }

    /// Exchanges a tile with its counterpart, or transposes it if it is on the diagonal.
    ///
    /// # Safety
    /// That of [`transpose`](Self::transpose), for the tiles of the plans at these rows and
    /// columns. Tiles on the diagonal are square; the rows of others are before their columns.
    #[inline]
    unsafe fn exchange(&self, plans: &TilePlans, (row, column): (usize, usize), buffer: *mut u8) {
        let (tile, counterpart) = (self.at(row, column), self.at(column, row));
        // SAFETY: the tile can be read, with the gaps between its rows, and the buffer has room for
        // it.
        unsafe { run_at(self.simd, &plans.stage, buffer, tile, true) };
        if row != column {
            // SAFETY: both tiles lie in the square. Their rows are different ones, so the bytes from
            // the first to the last of the one lie before those of the other.
            unsafe { run_at(self.simd, &plans.replace, tile, counterpart, true) };
        }
        // SAFETY: the buffer has the tile, which has as many rows as the counterpart has columns.
        unsafe { run_at(self.simd, &plans.restore, counterpart, buffer, true) };
    }
}
