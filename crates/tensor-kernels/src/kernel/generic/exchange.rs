//! Exchanges two square tiles of a matrix, each transposed: a transpose in place.
//!
//! A tile has rows of a cache line, and as many of them as that is units. Both tiles are read
//! before either is written, so each of their lines is read once and written once, wherever it lies
//! in the caches.
//!
//! - [In registers](TileExchange::Registers): where they hold two tiles. These are transposed
//!   within lanes, as those of other kernels are, and then lane by lane. Registers of half a line
//!   exchange the quarters of the tiles one after the other, so that lines are visited twice.
//! - [By buffers](TileExchange::Buffers): what is transposed within lanes is kept in a buffer of a
//!   tile, from which the lanes of a line are loaded side by side.

use std::{marker::PhantomData, mem::MaybeUninit};

use pulp::NullaryFnOnce;

use super::{
    across_lanes::UnzipLanes,
    register::{LANE_BYTES, Registers, Vector, transpose_lanes},
    unroll::unrolled,
};
use crate::{
    kernel::{tile_exchange::TileExchange, unit::Unit},
    memory::CACHE_LINE,
};

/// The most lanes of a register.
const MAX_LANES: usize = 4;

/// Two tiles whose rows are `step` bytes apart. Their exchange is a function of its own, as it is
/// too large to be inlined at every call site.
///
/// Invariant: only [`tiles`] makes it, so its contract holds.
struct Exchange<R, L> {
    isa: R,
    tiles: [*mut u8; 2],
    step: isize,
    how: TileExchange,
    unit: PhantomData<L>,
}

/// Exchanges two tiles whose rows are `step` bytes apart. A tile that is both is transposed.
///
/// # Safety
///
/// The tiles can be read and written, nobody else uses them, and they share no byte unless they are
/// one.
#[inline(always)]
pub(super) unsafe fn tiles<R: Registers, L: Unit>(
    isa: R,
    tiles: [*mut u8; 2],
    step: isize,
    how: TileExchange,
) {
    isa.vectorize(Exchange { isa, tiles, step, how, unit: PhantomData::<L> });
}

impl<R: Registers, L: Unit> NullaryFnOnce for Exchange<R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if const { L::WIDTH >= 4 && R::Native::LANES > 1 } && self.how == TileExchange::Registers {
            self.in_registers();
        } else {
            self.by_buffers();
        }
    }
}

impl<R: Registers, L: Unit> Exchange<R, L> {
    #[inline(always)]
    fn in_registers(self) {
        let Self { isa, tiles: [upper, lower], step, .. } = self;
        let (token, parts) = (isa.into(), const { CACHE_LINE / R::Native::BYTES });
        // The bytes from one part of a tile to the one below it.
        let down = (R::Native::BYTES / L::WIDTH) as isize * step;
        let at = |tile: *mut u8, row: usize, column: usize| {
            tile.wrapping_offset(row as isize * down).wrapping_add(column * R::Native::BYTES)
        };
        for i in 0..parts {
            for j in 0..parts {
                let pair = [at(upper, i, j), at(lower, j, i)];
                if pair[0] == pair[1] {
                    // SAFETY: the invariant, for a part that is its own partner.
                    unsafe { turn_part::<R::Native, L>(token, pair[0], step) }
                } else if upper != lower || i < j {
                    // SAFETY: the invariant, for two parts that share no byte. The parts of one
                    // tile are exchanged once.
                    unsafe { exchange_parts::<R::Native, L>(token, pair, step) }
                }
            }
        }
    }

    #[inline(always)]
    fn by_buffers(self) {
        let Self { isa, tiles: [upper, lower], step, .. } = self;
        let mut above = Buffer::new();
        let above = above.start::<L>();
        // SAFETY: the invariant; a buffer has room for a tile.
        unsafe { stage::<R::Native, L>(isa.into(), upper, step, above) }
        if upper != lower {
            let mut below = Buffer::new();
            let below = below.start::<L>();
            // SAFETY: as above.
            unsafe { stage::<R::Native, L>(isa.into(), lower, step, below) }
            // SAFETY: the invariant; the buffer holds a tile.
            unsafe { restore::<R::Full, L>(isa.into(), below, upper, step) }
        }
        // SAFETY: as above.
        unsafe { restore::<R::Full, L>(isa.into(), above, lower, step) }
    }
}

/// The registers of a part: that of index `[g][j]` is its row `g * PER_LANE + j`.
type Part<V> = [[V; LANE_BYTES]; MAX_LANES];

/// Exchanges two parts of a register in each of as many rows as that is units.
///
/// # Safety
///
/// That of [`tiles`], for these parts.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn exchange_parts<V: UnzipLanes, L: Unit>(
    token: V::Token,
    [upper, lower]: [*mut u8; 2],
    step: isize,
) {
    // SAFETY: the rows can be read, by this function's contract.
    let above = unsafe { load::<V, L>(token, upper, step) };
    // SAFETY: as above.
    let below = unsafe { load::<V, L>(token, lower, step) };
    // SAFETY: the rows can be written, by this function's contract.
    unsafe { store::<V, L>(transposed::<V, L>(above), lower, step) }
    // SAFETY: as above.
    unsafe { store::<V, L>(transposed::<V, L>(below), upper, step) }
}

/// Transposes a part in its place.
///
/// # Safety
///
/// That of [`exchange_parts`], for one part.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn turn_part<V: UnzipLanes, L: Unit>(token: V::Token, part: *mut u8, step: isize) {
    // SAFETY: the rows can be read, by this function's contract.
    let rows = unsafe { load::<V, L>(token, part, step) };
    // SAFETY: the rows can be written, by this function's contract.
    unsafe { store::<V, L>(transposed::<V, L>(rows), part, step) }
}

/// # Safety
///
/// A register can be read from each of `LANES * PER_LANE` rows.
#[inline(always)]
unsafe fn load<V: Vector, L: Unit>(token: V::Token, part: *const u8, step: isize) -> Part<V> {
    let mut rows = [[V::splat(token, [0; LANE_BYTES]); LANE_BYTES]; MAX_LANES];
    unrolled!(g in 0..V::LANES, 4 => unrolled!(j in 0..L::PER_LANE, 16 => {
        let row = part.wrapping_offset((g * L::PER_LANE + j) as isize * step);
        // SAFETY: this function's contract.
        rows[g][j] = unsafe { V::load(token, row) };
    }));
    rows
}

/// # Safety
///
/// A register can be written to each of `LANES * PER_LANE` rows.
#[inline(always)]
unsafe fn store<V: Vector, L: Unit>(rows: Part<V>, part: *mut u8, step: isize) {
    unrolled!(g in 0..V::LANES, 4 => unrolled!(j in 0..L::PER_LANE, 16 => {
        let row = part.wrapping_offset((g * L::PER_LANE + j) as isize * step);
        // SAFETY: this function's contract.
        unsafe { rows[g][j].store(row) }
    }));
}

/// Transposes the elements in each lane, and then the lanes: of register `[g][j]`, lane `p` becomes
/// lane `g` of register `[p][j]`.
#[inline(always)]
fn transposed<V: UnzipLanes, L: Unit>(mut rows: Part<V>) -> Part<V> {
    unrolled!(g in 0..V::LANES, 4 => rows[g] = transpose_lanes::<V, L>(rows[g]));
    // As the zips of `transpose_lanes` do, each round rotates the bits of a lane's position, the
    // number of its group followed by its own: here the other way.
    unrolled!(_round in 0..V::LANES.trailing_zeros(), 4 => {
        let mut unzipped = rows;
        unrolled!(g in 0..V::LANES / 2, 2 => unrolled!(j in 0..L::PER_LANE, 16 => {
            let pair = rows[2 * g][j].unzip_lanes(rows[2 * g + 1][j]);
            [unzipped[g][j], unzipped[g + V::LANES / 2][j]] = pair;
        }));
        rows = unzipped;
    });
    rows
}

/// Room for a tile of bytes, the largest one.
#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; CACHE_LINE * CACHE_LINE]);

impl Buffer {
    #[inline(always)]
    fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; _])
    }

    #[inline(always)]
    fn start<L: Unit>(&mut self) -> *mut u8 {
        const { assert!(CACHE_LINE / L::WIDTH * CACHE_LINE <= size_of::<Self>()) };
        self.0.as_mut_ptr().cast()
    }
}

/// Copies a tile to a buffer, line by line, and transposes the elements in each lane: those of
/// `PER_LANE` rows.
///
/// # Safety
///
/// The tile can be read, and as many bytes be written from `to` on.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn stage<V: Vector, L: Unit>(token: V::Token, tile: *const u8, step: isize, to: *mut u8) {
    for group in 0..CACHE_LINE / LANE_BYTES {
        let first = group * L::PER_LANE;
        for part in 0..CACHE_LINE / V::BYTES {
            let from = tile.wrapping_offset(first as isize * step).wrapping_add(part * V::BYTES);
            let to = to.wrapping_add(first * CACHE_LINE + part * V::BYTES);
            let mut rows = [V::splat(token, [0; LANE_BYTES]); LANE_BYTES];
            unrolled!(j in 0..L::PER_LANE, 16 => {
                // SAFETY: a part of a row of the tile.
                rows[j] = unsafe { V::load(token, from.wrapping_offset(j as isize * step)) };
            });
            rows = transpose_lanes::<V, L>(rows);
            unrolled!(j in 0..L::PER_LANE, 16 => {
                // SAFETY: a part of a line of the buffer.
                unsafe { rows[j].store(to.wrapping_add(j * CACHE_LINE)) }
            });
        }
    }
}

/// Writes the rows of a tile from a buffer that [`stage`] has filled: of the lines that are `j`-th
/// in their group, the lanes `p` are row `p * PER_LANE + j`.
///
/// # Safety
///
/// The tile can be written, and the buffer of one be read. `V` is a line.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn restore<V: Vector, L: Unit>(
    token: V::Token,
    from: *const u8,
    tile: *mut u8,
    step: isize,
) {
    const { assert!(V::BYTES == CACHE_LINE) };
    let group = (L::PER_LANE * CACHE_LINE) as isize;
    for p in 0..V::LANES {
        for j in 0..L::PER_LANE {
            let lanes = from.wrapping_add(j * CACHE_LINE + p * LANE_BYTES);
            let row = tile.wrapping_offset((p * L::PER_LANE + j) as isize * step);
            // SAFETY: a lane of each group of lines in the buffer.
            let line = unsafe { V::load_lanes(token, lanes, group) };
            // SAFETY: a row of the tile.
            unsafe { line.store(row) }
        }
    }
}
