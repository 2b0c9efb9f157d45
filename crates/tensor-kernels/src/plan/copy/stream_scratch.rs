//! The scratch memory of streamed transposes.

use super::streamed::{Lines, StreamExtent, Streamed};
use crate::{
    memory::CACHE_LINE,
    plan::area::{Area, Extent},
};

/// Scratch of a streamed transpose: a set of rows for each iteration of `v2` in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamScratch {
    /// The rows of the first set.
    pub(crate) rows: Area,
    pub(crate) sets: usize,
    /// Bytes from one set to the next.
    pub(crate) set_pitch: usize,
    /// Rows of the source, behind all sets; none if they are not copied.
    pub(crate) buffer: Area,
    pub(crate) bytes: usize,
}

impl Streamed {
    /// The scratch for a method, with units of `unit` bytes.
    pub(crate) fn scratch(&self, lines: Lines, unit: usize) -> StreamScratch {
        let StreamExtent { u, v, v2, .. } = self.block;
        let is_staged = matches!(lines, Lines::Staged | Lines::Buffered);
        let (rows, sets) = match lines {
            Lines::Aligned => (Area { start: 0, rows: 0, row_bytes: 0, pitch: 0 }, 0),
            Lines::Stitched => (one_line(v), v2),
            Lines::Staged | Lines::Buffered => (self.staged_rows(unit), v2),
            Lines::Packed => {
                (Area::new(Extent { rows: 1, columns: u * v * self.runs.len }, unit), 1)
            }
        };
        let line_offset = if is_staged { in_line(self.v2.stride, unit) } else { 0 };
        let set_pitch = rows.end() + line_offset;
        let spare_bytes = if is_staged { 4 * CACHE_LINE } else { 0 };
        let staged = sets * set_pitch + spare_bytes;
        let buffer = match lines {
            Lines::Buffered => self.buffer(unit, staged.next_multiple_of(CACHE_LINE)),
            _ => Area { start: staged, rows: 0, row_bytes: 0, pitch: 0 },
        };
        StreamScratch { rows, sets, set_pitch, buffer, bytes: buffer.end() }
    }

    /// The rows of a buffer from byte `start` of scratch on: parts of as many source rows as a tile
    /// has, a line longer, so that they lie in all sets.
    fn buffer(&self, unit: usize, start: usize) -> Area {
        let row_bytes = (self.block.v * unit).next_multiple_of(CACHE_LINE);
        let rows = self.block.u.min(CACHE_LINE / unit);
        Area { start, rows, row_bytes, pitch: row_bytes + CACHE_LINE }
    }

    /// The most scratch of any method that the destination's address may require.
    pub(crate) fn scratch_bytes(&self, unit: usize) -> usize {
        let lines = match self.lines {
            Lines::Packed | Lines::Buffered => self.lines,
            _ => Lines::Staged,
        };
        self.scratch(lines, unit).bytes.max(self.scratch(Lines::Stitched, unit).bytes)
    }

    /// Staging rows. Each has the same offset in a cache line as in the destination, and a spare
    /// line at both ends. An odd number of lines apart, so that rows do not compete for the same
    /// cache sets.
    fn staged_rows(&self, unit: usize) -> Area {
        let StreamExtent { u, u2, v, .. } = self.block;
        let lines = ((u * u2 * self.runs.len * unit).div_ceil(CACHE_LINE) + 3) | 1;
        let row_bytes = lines * CACHE_LINE;
        Area { start: 0, rows: v, row_bytes, pitch: row_bytes + in_line(self.v.stride, unit) }
    }
}

/// A cache line for each of `rows` rows.
fn one_line(rows: usize) -> Area {
    Area { start: 0, rows, row_bytes: CACHE_LINE, pitch: CACHE_LINE }
}

/// The bytes by which a stride changes the offset within a cache line.
fn in_line(stride: isize, unit: usize) -> usize {
    (stride * unit as isize).rem_euclid(CACHE_LINE as isize) as usize
}
