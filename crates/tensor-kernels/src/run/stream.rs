//! Transposes with non-temporal stores: five methods that write only whole cache lines of the
//! destination. See [`crate::plan`]'s `streamed` for the reasons.
//!
//! 1. *Aligned*: tiles end where cache lines do, and write them.
//! 2. *Stitched*: the part of a tile after the last whole line is kept, and completed by the next
//!    tile along the row.
//! 3. *Staged*: some columns of every row are staged in scratch, and written as whole lines.
//! 4. *Buffered*: as staged, of source rows that share few sets of a first-level cache. Parts of
//!    them are copied to a buffer first, whose rows lie in all sets.
//! 5. *Packed*: rows without gaps between them are transposed in scratch, a page at a time, and
//!    written as one run.
//!
//! Short runs that a transpose keeps together are staged or packed, and copied instead of tiles.
//!
//! The plan chooses the method for a destination that is aligned as tensors are. If the address is
//! not, or the level lacks the instructions, the next method in this list applies.

mod staged;

use super::workspace::Scratch;
#[cfg(feature = "elementwise")]
use crate::exec::Machine;
#[cfg(feature = "elementwise")]
use crate::tuning::{MIN_FINISHED_ROW_BYTES, MIN_FINISHED_ROWS, MIN_PACKED_FINISHED_ROWS};
use crate::{
    kernel::{Isa, Residency, Units, prefetch},
    memory::CACHE_LINE,
    plan::{Lines, Runs, Streamed},
    tuning::CHANNEL_LINES,
};

/// The transpose that `plan` describes, with scratch of [`Streamed::scratch_bytes`]. Without
/// scratch it goes through the cache, or some lines are written in two parts.
///
/// # Safety
/// M1, M2 and M3 for its elements.
#[inline(always)]
pub(super) unsafe fn transpose<I: Isa>(
    units: Units<I>,
    src: *const u8,
    dst: *mut u8,
    plan: &Streamed,
    scratch: Option<&mut Scratch<'_>>,
) {
    let tiles = Tiles { units, plan, src, dst };
    match (choose_lines(units, plan, dst), scratch) {
        // SAFETY: M1 to M3 hold for the elements, by this function's contract.
        (_, None) if plan.runs != Runs::UNITS => unsafe { tiles.write_runs() },
        // SAFETY: M1 to M3 hold for the elements, by this function's contract.
        (Lines::Aligned, _) | (_, None) => unsafe { tiles.write_lines() },
        // SAFETY: M1 to M3 hold; `choose_lines` has checked that the level stitches lines and that
        // rows start where it does.
        (Lines::Stitched, Some(scratch)) => unsafe { tiles.stitch_lines(scratch) },
        // SAFETY: M1 to M3 hold for the elements, by this function's contract.
        (lines @ (Lines::Staged | Lines::Buffered), Some(scratch)) => unsafe {
            tiles.stage_lines(lines, scratch);
        },
        // SAFETY: M1 to M3 hold; by the plan there are no gaps between rows.
        (Lines::Packed, Some(scratch)) => unsafe { tiles.pack_lines(scratch) },
    }
}

/// The method for rows that start at `dst`.
#[inline(always)]
fn choose_lines<I: Isa>(units: Units<I>, plan: &Streamed, dst: *mut u8) -> Lines {
    // If the first row does, all do: strides count units.
    let are_at_steps = dst.addr().is_multiple_of(units.width.min(MAX_STITCHED_STEP));
    match plan.lines {
        Lines::Aligned if dst.addr().is_multiple_of(CACHE_LINE) => Lines::Aligned,
        Lines::Aligned | Lines::Stitched if are_at_steps && stitches(units, plan) => {
            Lines::Stitched
        }
        Lines::Packed | Lines::Buffered => plan.lines,
        _ => Lines::Staged,
    }
}

/// Can the level stitch lines of these rows, and does it pay? Fewer rows than a lane has units are
/// stitched only if the plan has no others; that reads the source of one more line.
#[inline(always)]
fn stitches<I: Isa>(units: Units<I>, plan: &Streamed) -> bool {
    let Streamed { u, v, u2, v2, .. } = plan;
    let line = CACHE_LINE / units.width;
    match v.len >= units.per_lane() {
        true => I::STITCHES_LINES && u.len >= line,
        false => {
            let are_all = u2.len * v2.len == 1 && v.len > 1;
            I::STITCHES_SHORT_ROWS && u.len >= 2 * line && are_all
        }
    }
}

/// Are all elements transposed by tiles of some lines, on their way to the result or to scratch?
#[cfg(feature = "elementwise")]
pub(super) fn transposes_tiles(plan: &Streamed, unit: usize) -> bool {
    plan.runs == Runs::UNITS
        && matches!(plan.lines, Lines::Aligned | Lines::Stitched | Lines::Staged)
        && plan.u.len * unit >= 2 * CACHE_LINE
        && plan.v.len >= MAX_TILE_ROWS
}

/// Are rows long enough for the transpose to be faster than one by tiles of an elementwise
/// operation?
#[cfg(feature = "elementwise")]
pub(super) fn has_long_rows(plan: &Streamed, unit: usize, machine: &Machine) -> bool {
    let row_bytes = plan.u.len * unit;
    match plan.lines {
        _ if plan.runs != Runs::UNITS => false,
        Lines::Packed => {
            plan.v.len >= MIN_PACKED_FINISHED_ROWS && machine.is_far_larger(plan.len() * unit)
        }
        _ if plan.v.len >= MAX_TILE_ROWS => row_bytes >= 2 * CACHE_LINE,
        _ => plan.v.len >= MIN_FINISHED_ROWS && row_bytes >= MIN_FINISHED_ROW_BYTES,
    }
}

/// Tiles are stitched at multiples of a unit, or of this many bytes if units are wider.
pub(super) const MAX_STITCHED_STEP: usize = 4;

/// How far ahead the rows of a mirrored image are prefetched: about what memory delivers in the
/// time of one access.
const PREFETCH_BYTES: usize = 8 << 10;

/// The most destination rows of a tile.
#[cfg(feature = "elementwise")]
const MAX_TILE_ROWS: usize = 16;

/// A transpose and its pointers. Invariant: M1 to M3 hold for its elements.
#[derive(Clone, Copy)]
struct Tiles<'a, I> {
    units: Units<I>,
    plan: &'a Streamed,
    src: *const u8,
    dst: *mut u8,
}

/// An index, or extents, of rows or of columns.
type Pair = (usize, usize);

impl<I: Isa> Tiles<'_, I> {
    /// The source element at column `(i2, i)` and row `(j2, j)`.
    #[inline(always)]
    fn source(self, (i2, i): Pair, (j2, j): Pair) -> *const u8 {
        let Streamed { u, v, u2, runs, .. } = self.plan;
        let columns = i as isize * u.stride + i2 as isize * u2.stride;
        let rows = (j + j2 * v.len) as isize * runs.step;
        self.src.wrapping_offset(self.units.bytes(columns + rows))
    }

    /// The destination element at that column and row.
    #[inline(always)]
    fn destination(self, (i2, i): Pair, (j2, j): Pair) -> *mut u8 {
        let Streamed { u, v, v2, runs, .. } = self.plan;
        let rows = j as isize * v.stride + j2 as isize * v2.stride;
        let columns = ((i + i2 * u.len) * runs.len) as isize;
        self.dst.wrapping_offset(self.units.bytes(rows + columns))
    }

    /// Calls `visit` with the start and the extents of each block of rows.
    #[inline(always)]
    fn for_rows(self, mut visit: impl FnMut(Pair, Pair)) {
        let Streamed { v, v2, block, .. } = self.plan;
        for j2 in (0..v2.len).step_by(block.v2) {
            for j in (0..v.len).step_by(block.v) {
                visit((j2, j), (block.v2.min(v2.len - j2), block.v.min(v.len - j)));
            }
        }
    }

    /// Calls `visit` with the start and the extents of each block of at most `most` columns, in the
    /// order of the destination.
    #[inline(always)]
    fn for_columns(self, most: Pair, len: usize, mut visit: impl FnMut(Pair, Pair)) {
        for i2 in (0..self.plan.u2.len).step_by(most.0) {
            for i in (0..len).step_by(most.1) {
                visit((i2, i), (most.0.min(self.plan.u2.len - i2), most.1.min(len - i)));
            }
        }
    }

    /// The columns of a sweep. One line, if rows continue along `v2`, so that the source is read
    /// along both loops; a few lines, if few rows are written at once. Else all of them.
    #[inline(always)]
    fn sweep(self, len: usize) -> Pair {
        let lines = match (self.plan.v2.len, self.plan.rows_at_once) {
            (2.., _) => 1,
            (_, Some(_)) => CHANNEL_LINES,
            _ => return (1, len.max(1)),
        };
        (1, (lines * CACHE_LINE / self.units.width).min(len).max(1))
    }

    /// Prefetches a later row of pixels of a mirrored image; the current one is at `i2` along `u2`.
    /// Either each row is read backwards, or they are read from the last to the first. The hardware
    /// does not prefetch that if rows are short: 200 images of 243 rows of 29 pixels of 4 doubles
    /// take 12 ms upside down without prefetching, and 4.9 with it. Mirrored rows of 1000 pixels of
    /// 3 or 4 times 2 bytes reach 0.58 and 0.8 of the copy bandwidth, not 0.47 and 0.57; parts of
    /// longer rows gain nothing (Zen 4).
    #[inline(always)]
    fn prefetch_image_row(self, i2: usize, row: Pair) {
        let Streamed { u, v, u2, .. } = *self.plan;
        let ascends = u.stride >= 0 && u2.stride == u.stride * u.len as isize;
        if ascends || !self.plan.is_of_channels() || self.plan.runs != Runs::UNITS {
            return;
        }
        let bytes = (u.stride.unsigned_abs() * (u.len - 1) + v.len) * self.units.width;
        if bytes > PREFETCH_BYTES {
            return;
        }
        let ahead = i2 + PREFETCH_BYTES.div_ceil(bytes);
        if ahead < u2.len {
            let lowest = self.source((ahead, if u.stride < 0 { u.len - 1 } else { 0 }), row);
            (0..bytes).step_by(CACHE_LINE).for_each(|byte| prefetch(lowest.wrapping_add(byte)));
        }
    }

    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    unsafe fn write_lines(self) {
        let (u, v) = (self.plan.u, self.plan.v);
        self.for_rows(|(j2, j), (n2, nv)| {
            self.for_columns(self.sweep(u.len), u.len, |column, (_, nu)| {
                self.prefetch_image_row(column.0, (j2, j));
                for j2 in j2..j2 + n2 {
                    self.for_rows_at_once(nv, |from, nv| {
                        let row = (j2, j + from);
                        let (src, dst) = (self.source(column, row), self.destination(column, row));
                        // SAFETY: M1 to M3 hold for a part of the elements.
                        unsafe {
                            self.units.transpose_stream((src, u.stride), (dst, v.stride), (nu, nv));
                        }
                    });
                }
            });
        });
    }

    /// Calls `visit` with the start and the number of the rows to write at once, of `nv` rows. The
    /// last are more, never less: few rows make no tile.
    #[inline(always)]
    fn for_rows_at_once(self, nv: usize, mut visit: impl FnMut(usize, usize)) {
        let at_once = self.plan.rows_at_once.unwrap_or(nv);
        let mut from = 0;
        while nv - from >= 2 * at_once.max(1) {
            visit(from, at_once);
            from += at_once;
        }
        visit(from, nv - from);
    }

    /// # Safety
    /// M1, M2 and M3 for the elements; the level stitches lines, and rows start at multiples of a
    /// unit, or of [`MAX_STITCHED_STEP`].
    #[inline(always)]
    unsafe fn stitch_lines(self, scratch: &mut Scratch<'_>) {
        let (u, v) = (self.plan.u, self.plan.v);
        let is_short = v.len < self.units.per_lane();
        let line = CACHE_LINE / self.units.width;
        let whole = (u.len / line - usize::from(is_short)) * line;
        self.for_rows(|(j2, j), (n2, nv)| {
            if nv < self.units.per_lane() && !is_short {
                // SAFETY: M1 to M3 hold for all columns of these rows, which are too few for a
                // tile.
                return unsafe { self.plain_rows((j2, j), (n2, nv)) };
            }
            // A line for each row, one iteration of `v2` after the other.
            let mut pending = |row: usize| {
                let start = (row - j2) * nv * CACHE_LINE;
                scratch.rows(start, (nv, CACHE_LINE), CACHE_LINE).start(nv, CACHE_LINE)
            };
            self.for_columns(self.sweep(whole), whole, |column, (_, nu)| {
                let first = column == (0, 0);
                for j2 in j2..j2 + n2 {
                    let pending = pending(j2);
                    self.for_rows_at_once(nv, |from, nv| {
                        let row = (j2, j + from);
                        let src = (self.source(column, row), u.stride);
                        let dst = (self.destination(column, row), v.stride);
                        let pending = pending.wrapping_add(from * CACHE_LINE);
                        // SAFETY: M1 to M3 hold for these elements, a whole number of lines of each
                        // row. Each row has its line of scratch, which holds what the call before
                        // has left, unless these columns are the first.
                        unsafe {
                            self.units.transpose_stitched(src, dst, (nu, nv), pending, first);
                        };
                    });
                }
            });
            for j2 in j2..j2 + n2 {
                // SAFETY: M1 to M3 hold for the last columns of these rows; those before have been
                // stitched.
                unsafe { self.finish_rows(whole, (j2, j), nv, pending(j2)) };
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
                let (src, dst) = (self.source(column, (j2, j)), self.destination(column, (j2, j)));
                // SAFETY: M1 to M3 hold for a part of the elements.
                unsafe {
                    self.units.transpose(
                        (src, u.stride),
                        (dst, v.stride),
                        (nu, nv),
                        Residency::Memory,
                    );
                };
            }
        });
    }

    /// Writes the bytes `pending` of the columns before `whole`, and the columns from `whole` on.
    ///
    /// # Safety
    /// That of [`Self::stitch_lines`], for these rows; `pending` has a line for each.
    #[inline(always)]
    unsafe fn finish_rows(self, whole: usize, row: Pair, nv: usize, pending: *const u8) {
        let (u, v) = (self.plan.u, self.plan.v);
        let column = (self.plan.u2.len - 1, whole);
        let (src, dst) = (self.source(column, row), self.destination(column, row));
        // SAFETY: the columns before have been stitched, and each row has its line in `pending`.
        unsafe {
            self.units.isa.finish_stitched(dst, self.units.bytes(v.stride), nv, pending);
        };
        let extents = (u.len - whole, nv);
        // SAFETY: M1 to M3 hold for the last columns of the rows.
        unsafe {
            self.units.transpose((src, u.stride), (dst, v.stride), extents, Residency::Memory);
        };
    }
}
