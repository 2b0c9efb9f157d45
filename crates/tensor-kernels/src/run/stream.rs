//! Transposes with non-temporal stores: four methods that write only whole cache lines of the
//! destination. See [`crate::plan`]'s `streamed` for the reasons.
//!
//! 1. *Aligned*: tiles end where cache lines do, and write them.
//! 2. *Stitched*: the part of a tile after the last whole line is kept, and completed by the next
//!    tile along the row.
//! 3. *Staged*: some columns of every row are staged in scratch, and written as whole lines.
//! 4. *Packed*: rows without gaps between them are transposed in scratch, and written as one run.
//!
//! Short runs that a transpose keeps together are staged or packed, and copied instead of tiles.
//!
//! The plan chooses the method for a destination that is aligned as tensors are. If the address is
//! not, or the level lacks the instructions, the next method in this list applies.

use super::workspace::Scratch;
use crate::{
    kernel::{Isa, Rows, StagedRows, Units, prefetch, short_runs},
    memory::{CACHE_LINE, Stores},
    nest::Loop,
    plan::{Lines, Runs, StreamScratch, Streamed},
    tuning::{CHANNEL_LINES, SOURCE_STREAMS},
};

/// The transpose that `plan` describes, with scratch of [`Streamed::scratch_bytes`]. Without
/// scratch some lines may be written in two parts.
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
        (Lines::Aligned, _) | (_, None) => unsafe { tiles.write_lines() },
        // SAFETY: M1 to M3 hold; `choose_lines` has checked that the level stitches lines and that
        // rows start at multiples of a word.
        (Lines::Stitched, Some(scratch)) => unsafe { tiles.stitch_lines(scratch) },
        // SAFETY: M1 to M3 hold for the elements, by this function's contract.
        (Lines::Staged, Some(scratch)) => unsafe { tiles.stage_lines(scratch) },
        // SAFETY: M1 to M3 hold; by the plan there are no gaps between rows.
        (Lines::Packed, Some(scratch)) => unsafe { tiles.pack_lines(scratch) },
    }
}

/// The method for rows that start at `dst`.
#[inline(always)]
fn choose_lines<I: Isa>(units: Units<I>, plan: &Streamed, dst: *mut u8) -> Lines {
    let words = |stride: isize| units.bytes(stride) % WORD_BYTES as isize == 0;
    let rows_in_words =
        dst.addr().is_multiple_of(WORD_BYTES) && words(plan.v.stride) && words(plan.v2.stride);
    match plan.lines {
        Lines::Aligned if dst.addr().is_multiple_of(CACHE_LINE) => Lines::Aligned,
        Lines::Aligned | Lines::Stitched
            if I::STITCHES_LINES
                && rows_in_words
                && plan.u.len * units.width >= CACHE_LINE
                && plan.v.len >= MAX_TILE_ROWS =>
        {
            Lines::Stitched
        }
        Lines::Packed => Lines::Packed,
        _ => Lines::Staged,
    }
}

/// Are all elements written by tiles, of which registers are stored at their places in the result,
/// wherever it lies? Elements have `unit` bytes, a multiple of [`WORD_BYTES`].
#[cfg(feature = "elementwise")]
pub(super) fn writes_tiles(plan: &Streamed, unit: usize) -> bool {
    matches!(plan.lines, Lines::Aligned | Lines::Stitched)
        && plan.u.len * unit >= CACHE_LINE
        && plan.v.len >= MAX_TILE_ROWS
}

/// Tiles are stitched at multiples of this many bytes.
const WORD_BYTES: usize = 4;

/// How far ahead the rows of a mirrored image are prefetched: about what memory delivers in the
/// time of one access.
const PREFETCH_BYTES: usize = 8 << 10;

/// Addresses this far apart share a set of a first-level cache.
const WAY_BYTES: usize = 4096;

/// The most destination rows of a tile.
const MAX_TILE_ROWS: usize = 16;

/// A transpose and its pointers. Invariant: M1 to M3 hold for its elements.
#[derive(Clone, Copy)]
struct Tiles<'a, I> {
    units: Units<I>,
    plan: &'a Streamed,
    src: *const u8,
    dst: *mut u8,
}

/// Fewer columns of runs are transposed along the rows.
const FEW_COLUMNS: usize = 8;

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

    /// Prefetches a later row of a mirrored image; the current one is at `i2` along `u2`. The rows
    /// of pixels follow each other in memory, but each is read backwards. The hardware does not
    /// prefetch that if rows are short.
    #[inline(always)]
    fn prefetch_descending(self, i2: usize, row: Pair) {
        let Streamed { u, v, u2, .. } = *self.plan;
        if u.stride >= 0 || !self.plan.is_of_channels() || self.plan.runs != Runs::UNITS {
            return;
        }
        let bytes = (u.stride.unsigned_abs() * (u.len - 1) + v.len) * self.units.width;
        if bytes > PREFETCH_BYTES / 2 {
            return;
        }
        let ahead = i2 + PREFETCH_BYTES.div_ceil(bytes);
        if ahead < u2.len {
            let lowest = self.source((ahead, u.len - 1), row);
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
                self.prefetch_descending(column.0, (j2, j));
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
    /// M1, M2 and M3 for the elements; the level stitches lines, and rows start at words.
    #[inline(always)]
    unsafe fn stitch_lines(self, scratch: &mut Scratch<'_>) {
        let (u, v) = (self.plan.u, self.plan.v);
        let whole = u.len / (CACHE_LINE / self.units.width) * (CACHE_LINE / self.units.width);
        self.for_rows(|(j2, j), (n2, nv)| {
            if nv < self.units.per_lane() {
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
                unsafe { self.units.transpose_far((src, u.stride), (dst, v.stride), (nu, nv)) };
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
        unsafe { self.units.transpose_far((src, u.stride), (dst, v.stride), extents) };
    }

    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    unsafe fn stage_lines(self, scratch: &mut Scratch<'_>) {
        let Streamed { u, u2, v, runs, block, .. } = *self.plan;
        let layout = self.plan.scratch(Lines::Staged, self.units.width);
        let total = u.len * u2.len * runs.len * self.units.width;
        self.for_rows(|(j2, j), (n2, nv)| {
            let front = CACHE_LINE + self.destination((0, 0), (j2, j)).addr() % CACHE_LINE;
            let mut done = 0;
            self.for_columns((block.u2, block.u), u.len, |column, (nu2, nu)| {
                let (bytes, before) = (nu * nu2 * runs.len * self.units.width, done);
                done += bytes;
                for k in 0..n2 {
                    let start = front + before % CACHE_LINE + k * layout.set_pitch;
                    let row = staged_rows(scratch, layout, start, (nv, bytes));
                    // SAFETY: M1 holds for these elements, and `staged_rows` has checked the rows
                    // of scratch.
                    unsafe { self.stage(column, (j2 + k, j), (nu2, nu, nv), row, layout) };
                    let rows = StagedRows {
                        src: row,
                        src_step: layout.rows.pitch as isize,
                        dst: self.destination(column, (j2 + k, j)),
                        dst_step: self.units.bytes(v.stride),
                        count: nv,
                        bytes,
                        is_first: before == 0,
                        is_last: done == total,
                        tail_shift: done / CACHE_LINE * CACHE_LINE
                            - before / CACHE_LINE * CACHE_LINE,
                    };
                    // SAFETY: the rows have just been filled, at the same offset in a line as in
                    // the destination, with a line before and after each (`staged_rows` has checked
                    // it).
                    unsafe { self.units.isa.flush(rows) };
                }
            });
        });
    }

    /// Copies columns of some rows into scratch.
    ///
    /// # Safety
    /// M1 for the elements; `scratch` has rows for them as `layout` says.
    #[inline(always)]
    unsafe fn stage(
        self,
        (i2, i): Pair,
        row: Pair,
        (nu2, nu, nv): (usize, usize, usize),
        scratch: *mut u8,
        layout: StreamScratch,
    ) {
        let step = (layout.rows.pitch / self.units.width) as isize;
        // The channels of a pixel are adjacent, and so are pixels: all columns are one stream.
        let is_one_stream = self.plan.is_of_channels() || self.plan.runs != Runs::UNITS;
        let streams = if is_one_stream { nu } else { SOURCE_STREAMS };
        for k in 0..nu2 {
            self.prefetch_descending(i2 + k, row);
            for c in (0..nu).step_by(streams) {
                let src = self.source((i2 + k, i + c), row);
                let column = (k * nu + c) * self.plan.runs.len;
                let staged = scratch.wrapping_add(column * self.units.width);
                let nu = streams.min(nu - c);
                // SAFETY: M1 holds for these columns, and the rows of scratch hold them.
                unsafe { self.transpose_to_scratch(src, (staged, step), (nu, nv)) };
            }
        }
    }

    /// Transposes `nu` columns of `nv` rows, units or runs, into scratch, whose rows are `step`
    /// units apart.
    ///
    /// # Safety
    /// M1 for the elements, and M2 for as many in scratch.
    #[inline(always)]
    unsafe fn transpose_to_scratch(
        self,
        src: *const u8,
        (scratch, step): Rows<*mut u8>,
        (nu, nv): Pair,
    ) {
        let Streamed { u, runs, .. } = *self.plan;
        if runs == Runs::UNITS {
            // SAFETY: this function's contract; scratch overlaps no source.
            return unsafe { self.units.transpose_far((src, u.stride), (scratch, step), (nu, nv)) };
        }
        let columns = Loop { len: nu, strides: [runs.len as isize, u.stride] };
        let rows = Loop { len: nv, strides: [step, runs.step] };
        // The overhead around the inner loop is paid least often if it is the longer one, but only
        // along the columns scratch is written line by line.
        let loops = if nu < FEW_COLUMNS && nv > nu { [rows, columns] } else { [columns, rows] };
        let Units { isa, width } = self.units;
        let loops = loops.map(|l| l.in_bytes(width));
        // SAFETY: this function's contract; scratch overlaps no source.
        unsafe { short_runs::copy_far_runs(isa, src, scratch, runs.len * width, loops) };
    }

    /// The source rows that are packed at a time: fewer if they share sets of a first-level cache.
    /// 96 rows of bytes 2¹⁷ apart take half the time then; 200 rows apart by an odd number of lines
    /// a fifth more (Zen 5).
    #[inline(always)]
    fn packed_streams(self) -> usize {
        let u = self.plan.u;
        let zeros = self.units.bytes(u.stride).trailing_zeros().min(WAY_BYTES.ilog2());
        let rows_in_a_set = (u.len << zeros) / WAY_BYTES;
        if rows_in_a_set > SOURCE_STREAMS / 2 { SOURCE_STREAMS } else { u.len }
    }

    /// # Safety
    /// M1, M2 and M3 for the elements, whose rows lie one after the other without gaps, or descend
    /// so.
    #[inline(always)]
    unsafe fn pack_lines(self, scratch: &mut Scratch<'_>) {
        let Streamed { u, v, runs, .. } = *self.plan;
        let streams = self.packed_streams();
        self.for_rows(|row, (_, nv)| {
            let (src, dst) = (self.source((0, 0), row), self.destination((0, 0), row));
            let row = u.len * runs.len;
            let packed = scratch.start(row * nv * self.units.width);
            // Of rows that descend the last one lies at the start.
            let before = if v.stride < 0 { (nv - 1) * row } else { 0 };
            let before = before * self.units.width;
            let first = packed.wrapping_add(before);
            for i in (0..u.len).step_by(streams) {
                let src = src.wrapping_offset(self.units.bytes(i as isize * u.stride));
                let first = first.wrapping_add(i * runs.len * self.units.width);
                let nu = streams.min(u.len - i);
                // SAFETY: M1 holds for these elements; `start` has checked that they fit the
                // scratch, in which rows lie as in the destination.
                unsafe { self.transpose_to_scratch(src, (first, v.stride), (nu, nv)) };
            }
            let start = dst.wrapping_sub(before);
            // SAFETY: the scratch has just been written; M2 holds for as many elements without gaps
            // at `start`.
            unsafe { self.units.run(packed, start, row * nv, Stores::NonTemporal) };
        });
    }
}

/// The first of `rows` staging rows of `bytes` bytes in scratch, from byte `start` on. The kernel
/// that empties them also touches a line before each row, and two lines after it.
#[inline(always)]
fn staged_rows(
    scratch: &mut Scratch<'_>,
    layout: StreamScratch,
    start: usize,
    (rows, bytes): Pair,
) -> *mut u8 {
    let touched = bytes + 3 * CACHE_LINE;
    let mut area = scratch.rows(start - CACHE_LINE, (rows, touched), layout.rows.pitch);
    area.start(rows, touched).wrapping_add(CACHE_LINE)
}
