//! Transposes past the caches: four ways to make the lines of the destination whole. See [`crate::plan`]'s `streamed` for why.
//!
//! 1. *Whole lines*: tiles end where lines do, and write them.
//! 2. *Shifted lines*: what a tile leaves over is carried to the next one along the row.
//! 3. *Ragged lines*: scratch collects some columns of every row, and whole lines leave.
//! 4. *Packed lines*: short rows that lie one behind the other are put together in scratch, and leave as one run.
//!
//! The plan says which one fits if the destination is aligned as tensors are; an address that is not, or a level without the instructions, takes the
//! next one.

use super::workspace::Scratch;
use crate::{
    kernel::{Isa, Rows, Unit},
    memory::{CACHE_LINE, Stores},
    plan::{Block, Lines, Streamed},
};

/// The transpose that `plan` describes.
///
/// # Safety
/// M1, M2 and M3 for its elements.
#[inline(always)]
pub(super) unsafe fn transpose<I: Isa, L: Unit>(
    isa: I,
    src: *const L,
    dst: *mut L,
    plan: &Streamed,
) {
    let tiles = Tiles { isa, plan, src, dst };
    let way = way::<I, L>(plan, dst);
    match (way, Scratch::take(room(way, plan, L::WIDTH))) {
        // SAFETY: the caller's, and no scratch is needed.
        (Lines::Whole, _) | (_, None) => unsafe { tiles.write_lines() },
        // SAFETY: the caller's; the way is open, and there is scratch for it.
        (Lines::Shifted, Some(mut carry)) => unsafe { tiles.carry_lines(carry.start()) },
        // SAFETY: as above.
        (Lines::Ragged, Some(mut scratch)) => unsafe { tiles.collect_lines(scratch.start()) },
        // SAFETY: as above.
        (Lines::Packed, Some(mut scratch)) => unsafe { tiles.pack_lines(scratch.start().cast()) },
    }
}

/// The way for rows that start at `dst`.
#[inline(always)]
fn way<I: Isa, L: Unit>(plan: &Streamed, dst: *mut L) -> Lines {
    let words = |stride: isize| (stride * L::WIDTH as isize) % WORD as isize == 0;
    let rows_in_words =
        dst.addr().is_multiple_of(WORD) && words(plan.v.stride) && words(plan.v2.stride);
    match plan.lines {
        Lines::Whole if dst.addr().is_multiple_of(CACHE_LINE) => Lines::Whole,
        Lines::Whole | Lines::Shifted
            if I::CARRIES
                && rows_in_words
                && plan.u.len * L::WIDTH >= CACHE_LINE
                && plan.v.len >= LEAST_ROWS =>
        {
            Lines::Shifted
        }
        Lines::Packed => Lines::Packed,
        _ => Lines::Ragged,
    }
}

/// Tiles are joined at multiples of so many bytes.
const WORD: usize = 4;

/// Rows of the source that are read side by side where scratch collects them: as many as hardware prefetches. A tile of bytes would take twice as many,
/// a third slower.
const STREAMS: usize = 32;

/// A tile has this many rows at most.
const LEAST_ROWS: usize = 16;

/// The bytes of scratch that a way needs.
#[inline(always)]
fn room(way: Lines, plan: &Streamed, width: usize) -> usize {
    let Block { u, v, v2, .. } = plan.block;
    match way {
        Lines::Whole => 0,
        Lines::Shifted => v * v2 * CACHE_LINE,
        Lines::Ragged => Collected::of(plan, width).bytes,
        Lines::Packed => u * v * width,
    }
}

/// A transpose on its elements, which the maker vouches for.
#[derive(Clone, Copy)]
struct Tiles<'a, I, L> {
    isa: I,
    plan: &'a Streamed,
    src: *const L,
    dst: *mut L,
}

/// An index, or extents, of rows or of columns.
type Pair = (usize, usize);

impl<I: Isa, L: Unit> Tiles<'_, I, L> {
    /// The source at column `(i2, i)` and row `(j2, j)`.
    #[inline(always)]
    fn source(self, (i2, i): Pair, (j2, j): Pair) -> *const L {
        let Streamed { u, v, u2, .. } = self.plan;
        self.src.wrapping_offset(
            i as isize * u.stride + j as isize + i2 as isize * u2.stride + (j2 * v.len) as isize,
        )
    }

    /// The destination there.
    #[inline(always)]
    fn target(self, (i2, i): Pair, (j2, j): Pair) -> *mut L {
        let Streamed { u, v, v2, .. } = self.plan;
        self.dst.wrapping_offset(
            i as isize + j as isize * v.stride + (i2 * u.len) as isize + j2 as isize * v2.stride,
        )
    }

    /// Visits blocks of rows: where each starts, and its extents.
    #[inline(always)]
    fn for_rows(self, mut visit: impl FnMut(Pair, Pair)) {
        let Streamed { v, v2, block, .. } = self.plan;
        for j2 in (0..v2.len).step_by(block.v2) {
            for j in (0..v.len).step_by(block.v) {
                visit((j2, j), (block.v2.min(v2.len - j2), block.v.min(v.len - j)));
            }
        }
    }

    /// Visits blocks of at most `most` columns, in the order of the destination: where each starts, and its extents.
    #[inline(always)]
    fn for_columns(self, most: Pair, len: usize, mut visit: impl FnMut(Pair, Pair)) {
        for i2 in (0..self.plan.u2.len).step_by(most.0) {
            for i in (0..len).step_by(most.1) {
                visit((i2, i), (most.0.min(self.plan.u2.len - i2), most.1.min(len - i)));
            }
        }
    }

    /// A line of columns where rows go on in `v2`, so that the source is read along both; else all of them.
    #[inline(always)]
    fn sweep(self, len: usize) -> Pair {
        (1, if self.plan.v2.len > 1 { (CACHE_LINE / L::WIDTH).min(len) } else { len }.max(1))
    }

    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    unsafe fn write_lines(self) {
        let (u, v) = (self.plan.u, self.plan.v);
        self.for_rows(|(j2, j), (n2, nv)| {
            self.for_columns(self.sweep(u.len), u.len, |column, (_, nu)| {
                for j2 in j2..j2 + n2 {
                    let (src, dst) = (self.source(column, (j2, j)), self.target(column, (j2, j)));
                    // SAFETY: some of the caller's elements.
                    unsafe { self.isa.transpose_stream(src, u.stride, dst, v.stride, nu, nv) };
                }
            });
        });
    }

    /// # Safety
    /// M1, M2 and M3 for the elements; `carry` has an aligned line for each row of a block; the level carries lines, and rows start at words.
    #[inline(always)]
    unsafe fn carry_lines(self, carry: *mut u8) {
        let (u, v) = (self.plan.u, self.plan.v);
        let whole = u.len / (CACHE_LINE / L::WIDTH) * (CACHE_LINE / L::WIDTH);
        self.for_rows(|(j2, j), (n2, nv)| {
            if nv < L::PER_PIECE {
                // SAFETY: all columns of these rows, too few for a tile.
                return unsafe { self.plain_rows((j2, j), (n2, nv)) };
            }
            let carry = |j: usize| carry.wrapping_add((j - j2) * nv * CACHE_LINE);
            self.for_columns(self.sweep(whole), whole, |column, (_, nu)| {
                let first = column == (0, 0);
                for j2 in j2..j2 + n2 {
                    let src = (self.source(column, (j2, j)), u.stride);
                    let dst = (self.target(column, (j2, j)), v.stride);
                    // SAFETY: some of the caller's elements, a whole number of lines of each row.
                    unsafe { self.isa.transpose_carried(src, dst, (nu, nv), carry(j2), first) };
                }
            });
            for j2 in j2..j2 + n2 {
                // SAFETY: the rest of these rows.
                unsafe { self.finish_rows(whole, (j2, j), nv, carry(j2)) };
            }
        });
    }

    /// All columns of some rows, through the cache.
    ///
    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    unsafe fn plain_rows(self, (j2, j): Pair, (n2, nv): Pair) {
        let (u, v) = (self.plan.u, self.plan.v);
        self.for_columns((1, u.len), u.len, |column, (_, nu)| {
            for j2 in j2..j2 + n2 {
                let (src, dst) = (self.source(column, (j2, j)), self.target(column, (j2, j)));
                // SAFETY: some of the caller's elements.
                unsafe { self.isa.transpose(src, u.stride, dst, v.stride, nu, nv) };
            }
        });
    }

    /// The columns from `whole` on, and what is left in `carry` of those before.
    ///
    /// # Safety
    /// That of [`Self::carry_lines`], for these rows.
    #[inline(always)]
    unsafe fn finish_rows(self, whole: usize, row: Pair, nv: usize, carry: *const u8) {
        let (u, v) = (self.plan.u, self.plan.v);
        let column = (self.plan.u2.len - 1, whole);
        let (src, dst) = (self.source(column, row), self.target(column, row));
        // SAFETY: the columns before have been carried.
        unsafe {
            self.isa.finish_carried(dst.cast(), v.stride * L::WIDTH as isize, nv, carry);
        };
        // SAFETY: the last columns of the rows.
        unsafe { self.isa.transpose(src, u.stride, dst, v.stride, u.len - whole, nv) };
    }

    /// # Safety
    /// M1, M2 and M3 for the elements; `scratch` starts a line and has room for [`Collected`] rows.
    #[inline(always)]
    unsafe fn collect_lines(self, scratch: *mut u8) {
        let Streamed { u, u2, v, block, .. } = *self.plan;
        let (step, total) = (Collected::of(self.plan, L::WIDTH), u.len * u2.len * L::WIDTH);
        self.for_rows(|(j2, j), (n2, nv)| {
            let front = CACHE_LINE + self.target((0, 0), (j2, j)).addr() % CACHE_LINE;
            let mut done = 0;
            self.for_columns((block.u2, block.u), u.len, |column, (nu2, nu)| {
                let (bytes, before) = (nu * nu2 * L::WIDTH, done);
                done += bytes;
                for k in 0..n2 {
                    let row = scratch.wrapping_add(front + before % CACHE_LINE + k * step.plane);
                    // SAFETY: some of the caller's elements; their place in scratch.
                    unsafe { self.bring_in(column, (j2 + k, j), (nu2, nu, nv), row, step.row) };
                    let rows = Rows {
                        src: row,
                        src_step: step.row as isize,
                        dst: self.target(column, (j2 + k, j)).cast(),
                        dst_step: v.stride * L::WIDTH as isize,
                        count: nv,
                        bytes,
                        first: before == 0,
                        last: done == total,
                        back: done / CACHE_LINE * CACHE_LINE - before / CACHE_LINE * CACHE_LINE,
                    };
                    // SAFETY: rows that have just been filled, at the same place in a line as in the destination.
                    unsafe { self.isa.flush(rows) };
                }
            });
        });
    }

    /// Columns of rows into scratch, `step` bytes from row to row.
    ///
    /// # Safety
    /// M1 for the elements, and room for them.
    #[inline(always)]
    unsafe fn bring_in(
        self,
        (i2, i): Pair,
        row: Pair,
        (nu2, nu, nv): (usize, usize, usize),
        scratch: *mut u8,
        step: usize,
    ) {
        for k in 0..nu2 {
            for c in (0..nu).step_by(STREAMS) {
                let src = self.source((i2 + k, i + c), row);
                let place = scratch.wrapping_add((k * nu + c) * L::WIDTH).cast::<L>();
                let (step, nu) = ((step / L::WIDTH) as isize, STREAMS.min(nu - c));
                // SAFETY: the caller's.
                unsafe { self.isa.transpose(src, self.plan.u.stride, place, step, nu, nv) };
            }
        }
    }

    /// # Safety
    /// M1, M2 and M3 for the elements, whose rows lie one behind the other; `scratch` has room for a block of them.
    #[inline(always)]
    unsafe fn pack_lines(self, scratch: *mut L) {
        let u = self.plan.u;
        self.for_rows(|row, (_, nv)| {
            let (src, dst) = (self.source((0, 0), row), self.target((0, 0), row));
            // SAFETY: some of the caller's elements.
            unsafe { self.isa.transpose(src, u.stride, scratch, u.len as isize, u.len, nv) };
            // SAFETY: what has just been written, to where it belongs.
            unsafe { self.isa.run(scratch.cast_const(), dst, u.len * nv, Stores::Stream) };
        });
    }
}

/// How rows lie in scratch, in bytes: at the same place in a line as in the destination, with a line to spare at both ends.
#[derive(Clone, Copy)]
struct Collected {
    /// From row to row.
    row: usize,
    /// From turn to turn of `v2`.
    plane: usize,
    bytes: usize,
}

impl Collected {
    #[inline(always)]
    fn of(plan: &Streamed, width: usize) -> Self {
        let Block { u, u2, v, v2 } = plan.block;
        let like =
            |stride: isize| (stride * width as isize).rem_euclid(CACHE_LINE as isize) as usize;
        // An odd number of lines, so that rows do not fall on the same cache sets.
        let lines = ((u * u2 * width).div_ceil(CACHE_LINE) + 3) | 1;
        let row = lines * CACHE_LINE + like(plan.v.stride);
        let plane = (v * row).next_multiple_of(CACHE_LINE) + like(plan.v2.stride);
        Self { row, plane, bytes: v2 * plane + 4 * CACHE_LINE }
    }
}
