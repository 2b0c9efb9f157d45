//! Exchanges two dimensions of equal size, tile by tile.
//!
//! Items that have kernels are exchanged by [one call](super::square) for each square. Others are
//! copied by plans: tile `(i, j)` and tile `(j, i)` are transposed into buffers on the stack, and
//! copied from there row by row. So each cache line is read from and written to memory once. The
//! tiles after them are prefetched: their rows are short and far apart, which the CPU does not
//! recognise.
//!
//! # Tried and dropped
//! - One buffer, and the second tile transposed to the place of the first: with rows that are a
//!   power of two apart its loads and stores compete for the same cache sets. 64 by 64 floats take
//!   2.9 µs in place of 0.7 (Zen 5).

use tensor_core::Layout;

use super::square::{Buffers, Square, Tiling};
use crate::{
    exec::{Machine, SimdLevel},
    kernel::prefetch,
    memory::CACHE_LINE,
    plan::Work,
    run::{
        copy::run_at,
        workspace::{RESERVE_BYTES, with_reserve},
    },
};

/// The most bytes of a tile: two of them are on the stack.
const TILE_BYTES: usize = RESERVE_BYTES / 2;

/// Exchanges the first and the last dimension of each part of `[len][between][len]` items.
///
/// # Panics
/// If the memory is not that of such parts.
pub(super) fn swap(simd: SimdLevel, memory: &mut [u8], len: usize, between: usize, item: usize) {
    let part = len * between * len * item;
    assert!(memory.len().is_multiple_of(part), "the memory of these items");
    let parts = memory.chunks_exact_mut(part);
    if item > TILE_BYTES / 4 {
        return parts.for_each(|part| swap_long(part, len, between, item));
    }
    if matches!(item, 1 | 2 | 4 | 8 | 16) {
        return swap_units(simd, parts, len, between, item);
    }
    let side = tile_side(item).min(len);
    let square = PlannedSquare::new(simd, (len, between * len), item, side);
    with_reserve(2 * TILE_BYTES, |scratch| {
        let (mut first, mut second) = scratch.split_at(TILE_BYTES);
        let tile = side * side * item;
        let buffers = [first.start(tile), second.start(tile)];
        for part in parts {
            for at in 0..between {
                let first = part[at * len * item..].as_mut_ptr();
                // SAFETY: the square lies within the part, which is borrowed; each buffer has room
                // for a tile.
                unsafe { square.transpose(first, buffers) };
            }
        }
    });
}

/// Exchanges dimensions of items that have kernels of their own.
fn swap_units(
    simd: SimdLevel,
    parts: std::slice::ChunksExactMut<'_, u8>,
    len: usize,
    between: usize,
    width: usize,
) {
    let pitch = between * len;
    let tiling = Tiling::new(len, width, pitch * width);
    Buffers::with(tiling, |mut buffers| {
        for part in parts {
            for at in 0..between {
                let first = part[at * len * width..].as_mut_ptr();
                let square = Square { first, width, len, pitch, tiling };
                // SAFETY: the square lies within the part, which is borrowed.
                unsafe { square.transpose(simd, &mut buffers) };
            }
        }
    });
}

/// The rows and columns of a tile: as many whole cache lines of items as fit.
fn tile_side(item: usize) -> usize {
    let side = (TILE_BYTES / item).isqrt();
    side - side % (CACHE_LINE / item).clamp(1, side)
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
struct PlannedSquare {
    simd: SimdLevel,
    len: usize,
    pitch: usize,
    item: usize,
    side: usize,
    /// Of whole tiles.
    whole: TilePlans,
    /// Of those after the last whole tile of a row, of those below the last one of a column, and
    /// of the corner.
    edges: [TilePlans; 3],
}

/// The plans for tiles of some rows and columns.
struct TilePlans {
    /// A tile into a buffer, transposed.
    stage: Work,
    /// A buffer into a tile of as many rows and columns.
    restore: Work,
}

impl TilePlans {
    fn new((rows, columns): (usize, usize), pitch: usize, item: usize) -> Self {
        let pitch = pitch as isize;
        let layout = |shape: [usize; 2], strides: [isize; 2]| {
            Layout::new(shape, strides, 0).expect("a part of the memory")
        };
        let plan = |from: &Layout, to: &Layout| {
            let machine = Machine { stream: usize::MAX, ..Machine::REFERENCE };
            Work::new(from, to, item, &machine)
        };
        let transposed = layout([columns, rows], [1, pitch]);
        let tile = layout([rows, columns], [pitch, 1]);
        Self {
            stage: plan(&transposed, &layout([columns, rows], [rows as isize, 1])),
            restore: plan(&layout([rows, columns], [columns as isize, 1]), &tile),
        }
    }
}

impl PlannedSquare {
    fn new(simd: SimdLevel, (len, pitch): (usize, usize), item: usize, side: usize) -> Self {
        let rest = len % side;
        let plans = |sides: (usize, usize)| TilePlans::new(sides, pitch, item);
        let (whole, edges) =
            (plans((side, side)), [(side, rest), (rest, side), (rest, rest)].map(plans));
        Self { simd, len, pitch, item, side, whole, edges }
    }

    /// The bytes from the first item to another.
    fn at(&self, row: usize, column: usize) -> usize {
        (row * self.pitch + column) * self.item
    }

    /// Transposes the square that begins at `first`.
    ///
    /// # Safety
    /// The items of the square can be read and written, and nobody else uses the bytes from its
    /// first to its last. Each buffer has room for a tile.
    unsafe fn transpose(&self, first: *mut u8, buffers: [*mut u8; 2]) {
        let (side, whole) = (self.side, self.len - self.len % self.side);
        let [right, below, corner] = &self.edges;
        for row in (0..whole).step_by(side) {
            for column in (row..whole).step_by(side) {
                self.prefetch(first, row, column + side);
                self.prefetch(first, column + side, row);
                let plans = [&self.whole, &self.whole];
                // SAFETY: two tiles of the square, or one on the diagonal.
                unsafe { self.exchange(plans, first, (row, column), buffers) };
            }
            if whole < self.len {
                // SAFETY: the tile after the last whole one, and its counterpart.
                unsafe { self.exchange([right, below], first, (row, whole), buffers) };
            }
        }
        if whole < self.len {
            // SAFETY: the last tile on the diagonal.
            unsafe { self.exchange([corner, corner], first, (whole, whole), buffers) };
        }
    }

    /// Asks for the cache lines of a tile, if there is a whole one.
    #[inline]
    fn prefetch(&self, first: *mut u8, row: usize, column: usize) {
        if row + self.side > self.len || column + self.side > self.len {
            return;
        }
        for at in row..row + self.side {
            let start = first.wrapping_add(self.at(at, column));
            let lines = (0..self.side * self.item).step_by(CACHE_LINE);
            lines.for_each(|byte| prefetch(start.wrapping_add(byte)));
        }
    }

    /// Exchanges a tile with its counterpart, or transposes it if it is on the diagonal.
    ///
    /// # Safety
    /// That of [`transpose`](Self::transpose), for the tiles of the plans at these rows and
    /// columns; those on the diagonal are square.
    #[inline]
    unsafe fn exchange(
        &self,
        plans: [&TilePlans; 2],
        first: *mut u8,
        (row, column): (usize, usize),
        buffers: [*mut u8; 2],
    ) {
        let tiles =
            [self.at(row, column), self.at(column, row)].map(|bytes| first.wrapping_add(bytes));
        let stage = |k: usize| {
            // SAFETY: the tile can be read, with the gaps between its rows, and the buffer has room
            // for it.
            unsafe { run_at(self.simd, &plans[k].stage, buffers[k], tiles[k], true) };
        };
        let restore = |from: usize, to: usize| {
            // SAFETY: the buffer has the other tile, transposed: as many rows and columns as this
            // one has, which can be written.
            unsafe { run_at(self.simd, &plans[to].restore, tiles[to], buffers[from], true) };
        };
        stage(0);
        if row == column {
            return restore(0, 0);
        }
        stage(1);
        restore(0, 1);
        restore(1, 0);
    }
}
