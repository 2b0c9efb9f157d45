//! The methods of streamed transposes that go through scratch: staged, buffered and packed lines.

use super::{Pair, Tiles};
use crate::{
    kernel::{Isa, Residency, Rows, StagedRows, Units, short_runs},
    memory::{CACHE_LINE, FIRST_LEVEL_WAY, Stores},
    nest::Loop,
    plan::{Lines, Runs, StreamScratch, Streamed},
    run::workspace::Scratch,
    tuning::SOURCE_STREAMS,
};

/// Fewer columns of runs are transposed along the rows.
const FEW_COLUMNS: usize = 8;

/// Rows in scratch for parts of as many source rows.
#[derive(Clone, Copy)]
struct Buffer {
    rows: usize,
    place: Rows<*mut u8>,
}

impl<'a, I: Isa> Tiles<'a, I> {
    /// The same transpose, by kernels that copy.
    #[inline(always)]
    fn copies(self) -> Tiles<'a, I::Copies> {
        let Self { units: Units { isa, width }, plan, src, dst } = self;
        Tiles { units: Units { isa: isa.copies(), width }, plan, src, dst }
    }

    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    pub(super) unsafe fn stage_lines(self, lines: Lines, scratch: &mut Scratch<'_>) {
        let Streamed { u, u2, v, runs, block, .. } = *self.plan;
        let layout = self.plan.scratch(lines, self.units.width);
        let total = u.len * u2.len * runs.len * self.units.width;
        let buffer = (lines == Lines::Buffered).then(|| {
            let area = layout.buffer;
            let extents = (area.rows, area.row_bytes);
            let first = scratch.rows(area.start, extents, area.pitch).start(extents.0, extents.1);
            Buffer { rows: area.rows, place: (first, (area.pitch / self.units.width) as isize) }
        });
        let page = if layout.in_pages { scratch.bytes_to_page() } else { 0 };
        self.for_rows(|(j2, j), (n2, nv)| {
            let front = page + CACHE_LINE + self.destination((0, 0), (j2, j)).addr() % CACHE_LINE;
            let mut done = 0;
            self.for_columns((block.u2, block.u), u.len, |column, (nu2, nu)| {
                let (bytes, before) = (nu * nu2 * runs.len * self.units.width, done);
                done += bytes;
                for k in 0..n2 {
                    let start = front + before % CACHE_LINE + k * layout.set_pitch;
                    let row = staged_rows(scratch, layout, start, (nv, bytes));
                    let staged = (row, (layout.rows.pitch / self.units.width) as isize);
                    let (first, extents) = ((column, (j2 + k, j)), (nu2, nu, nv));
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
                    if self.units.isa.finishes_rows() {
                        // SAFETY: M1 holds for these elements; `staged_rows` has checked the rows
                        // of scratch, `rows` those of the buffer.
                        unsafe { self.copies().stage(first, extents, staged, buffer) };
                    } else {
                        // SAFETY: as above.
                        unsafe { self.stage(first, extents, staged, buffer) };
                    }
                    // SAFETY: the rows have just been filled, at the same offset in a line as in
                    // the destination, with a line before and after each (`staged_rows` has checked
                    // it).
                    unsafe { self.units.flush(rows) };
                }
            });
        });
    }

    /// Copies columns of some rows into scratch, through a buffer if there is one.
    ///
    /// # Safety
    /// M1 for the elements; `scratch` has rows for them, and the rows of a buffer hold the units of
    /// a source row in a block.
    #[inline(always)]
    unsafe fn stage(
        self,
        ((i2, i), row): (Pair, Pair),
        (nu2, nu, nv): (usize, usize, usize),
        (scratch, step): Rows<*mut u8>,
        buffer: Option<Buffer>,
    ) {
        // The channels of a pixel are adjacent, and so are pixels: all columns are one stream.
        let is_one_stream = self.plan.is_of_channels() || self.plan.runs != Runs::UNITS;
        let streams = match buffer {
            Some(buffer) => buffer.rows,
            None if is_one_stream => nu,
            None => SOURCE_STREAMS,
        };
        for k in 0..nu2 {
            self.prefetch_image_row(i2 + k, row);
            for c in (0..nu).step_by(streams) {
                let src = self.source((i2 + k, i + c), row);
                let column = (k * nu + c) * self.plan.runs.len;
                let staged = scratch.wrapping_add(column * self.units.width);
                let extents = (streams.min(nu - c), nv);
                match buffer {
                    // SAFETY: M1 holds for these columns, and the rows of scratch hold them.
                    None => unsafe { self.transpose_rows(src, (staged, step), extents) },
                    // SAFETY: the same; the buffer has a row for each of them.
                    Some(buffer) => unsafe {
                        self.transpose_buffered(src, buffer, (staged, step), extents);
                    },
                }
            }
        }
    }

    /// Copies `nu` source rows of `nv` units to the buffer, and transposes them from there.
    ///
    /// # Safety
    /// M1 for the elements, M2 for as many rows in the buffer and columns in scratch.
    #[inline(always)]
    unsafe fn transpose_buffered(
        self,
        src: *const u8,
        Buffer { place, .. }: Buffer,
        scratch: Rows<*mut u8>,
        extents: Pair,
    ) {
        // SAFETY: this function's contract; the buffer overlaps no source.
        unsafe { self.units.copy_rows((src, self.plan.u.stride), place, extents) };
        // SAFETY: this function's contract; the rows of the buffer have been written.
        unsafe {
            let place = (place.0.cast_const(), place.1);
            self.units.transpose(place, scratch, extents, Residency::FirstLevel);
        };
    }

    /// Transposes `nu` columns of `nv` rows, units or runs, to rows that are `step` units apart.
    ///
    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    unsafe fn transpose_rows(self, src: *const u8, (dst, step): Rows<*mut u8>, (nu, nv): Pair) {
        let Streamed { u, runs, .. } = *self.plan;
        if runs == Runs::UNITS {
            // SAFETY: this function's contract.
            return unsafe {
                self.units.transpose((src, u.stride), (dst, step), (nu, nv), Residency::Memory);
            };
        }
        let columns = Loop { len: nu, strides: [runs.len as isize, u.stride] };
        let rows = Loop { len: nv, strides: [step, runs.step] };
        // The overhead around the inner loop is paid least often if it is the longer one, but only
        // along the columns the rows are written line by line.
        let loops = if nu < FEW_COLUMNS && nv > nu { [rows, columns] } else { [columns, rows] };
        let Units { isa, width } = self.units;
        let loops = loops.map(|l| l.in_bytes(width));
        // SAFETY: this function's contract.
        unsafe { short_runs::copy_far_runs(isa, src, dst, runs.len * width, loops) };
    }

    /// Copies runs to their places, through the cache.
    ///
    /// # Safety
    /// M1, M2 and M3 for the elements.
    #[inline(always)]
    pub(super) unsafe fn write_runs(self) {
        let Streamed { u, v, .. } = *self.plan;
        self.for_rows(|(j2, j), (n2, nv)| {
            self.for_columns((1, u.len), u.len, |column, (_, nu)| {
                for j2 in j2..j2 + n2 {
                    let (src, dst) =
                        (self.source(column, (j2, j)), self.destination(column, (j2, j)));
                    // SAFETY: M1 to M3 hold for a part of the elements.
                    unsafe { self.transpose_rows(src, (dst, v.stride), (nu, nv)) };
                }
            });
        });
    }

    /// The source rows that are packed at a time: fewer if they share sets of a first-level cache.
    /// 96 rows of bytes 2¹⁷ apart take half the time then; 200 rows apart by an odd number of lines
    /// a fifth more (Zen 5).
    #[inline(always)]
    fn packed_streams(self) -> usize {
        let u = self.plan.u;
        let zeros = self.units.bytes(u.stride).trailing_zeros().min(FIRST_LEVEL_WAY.ilog2());
        let rows_in_a_set = (u.len << zeros) / FIRST_LEVEL_WAY;
        if rows_in_a_set > SOURCE_STREAMS / 2 { SOURCE_STREAMS } else { u.len }
    }

    /// # Safety
    /// M1, M2 and M3 for the elements, whose rows lie one after the other without gaps, or descend
    /// so.
    #[inline(always)]
    pub(super) unsafe fn pack_lines(self, scratch: &mut Scratch<'_>) {
        let Streamed { u, v, runs, .. } = *self.plan;
        let streams = self.packed_streams();
        self.for_rows(|row, (_, nv)| {
            let (src, dst) = (self.source((0, 0), row), self.destination((0, 0), row));
            let row = u.len * runs.len;
            let packed = scratch.start_in_page(row * nv * self.units.width);
            // Of rows that descend the last one lies at the start.
            let before = if v.stride < 0 { (nv - 1) * row } else { 0 };
            let before = before * self.units.width;
            let first = packed.wrapping_add(before);
            for i in (0..u.len).step_by(streams) {
                let src = src.wrapping_offset(self.units.bytes(i as isize * u.stride));
                let first = first.wrapping_add(i * runs.len * self.units.width);
                let nu = streams.min(u.len - i);
                let (scratch, extents) = ((first, v.stride), (nu, nv));
                if self.units.isa.finishes_rows() {
                    // SAFETY: M1 holds for these elements; `start` has checked that they fit the
                    // scratch, in which rows lie as in the destination.
                    unsafe { self.copies().transpose_rows(src, scratch, extents) };
                } else {
                    // SAFETY: as above.
                    unsafe { self.transpose_rows(src, scratch, extents) };
                }
            }
            let start = dst.wrapping_sub(before);
            let bytes = row * nv * self.units.width;
            if self.units.isa.finishes_rows() {
                let rows = StagedRows::one(packed, start, bytes);
                // SAFETY: the scratch has just been written, with the elements for these places.
                unsafe { self.units.finish_rows(rows) };
            }
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
