//! The scratch memory of streamed transposes.

use super::streamed::{Lines, StreamExtent, Streamed};
use crate::{
    memory::CACHE_LINE,
    plan::area::{Area, Extent},
    tuning::{MAX_CHANNELS, PACKED_BYTES, PAGE_BYTES},
};

/// Scratch of a streamed transpose: a set of rows for each iteration of `v2` in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamScratch {
    /// The rows of the first set.
    pub(crate) rows: Area,
    pub(crate) sets: usize,
    /// Bytes from one set to the next.
    pub(crate) set_pitch: usize,
    /// Does each row lie in a page of its own, if the first starts near the start of one?
    pub(crate) in_pages: bool,
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
        let in_pages = lines == Lines::Staged && rows.pitch > PAGE_BYTES;
        let spare_bytes = match lines {
            _ if in_pages => PAGE_BYTES + 4 * CACHE_LINE,
            // So that the rows fit before the end of a page, or behind it.
            Lines::Packed if set_pitch <= PAGE_BYTES => set_pitch,
            _ if is_staged => 4 * CACHE_LINE,
            _ => 0,
        };
        let staged = sets * set_pitch + spare_bytes;
        let buffer = match lines {
            Lines::Buffered => self.buffer(unit, staged.next_multiple_of(CACHE_LINE)),
            _ => Area { start: staged, rows: 0, row_bytes: 0, pitch: 0 },
        };
        StreamScratch { rows, sets, set_pitch, in_pages, buffer, bytes: buffer.end() }
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
    /// cache sets; few rows a page and a line, so that none crosses the end of a page.
    fn staged_rows(&self, unit: usize) -> Area {
        let StreamExtent { u, u2, v, v2 } = self.block;
        let bytes = u * u2 * self.runs.len * unit;
        let row_bytes = ((bytes.div_ceil(CACHE_LINE) + 3) | 1) * CACHE_LINE;
        let in_pages = v <= MAX_CHANNELS && v2 == 1 && bytes <= staged_bytes_in_page(v);
        let pitch = if in_pages { PAGE_BYTES + CACHE_LINE } else { row_bytes };
        Area { start: 0, rows: v, row_bytes, pitch: pitch + in_line(self.v.stride, unit) }
    }
}

/// The bytes of each of `rows` staging rows that lie in a page each, with their spare lines: a row
/// starts up to two lines further from the start of its page than the one before.
pub(super) fn staged_bytes_in_page(rows: usize) -> usize {
    PAGE_BYTES.saturating_sub((2 * rows + 1) * CACHE_LINE)
}

/// A cache line for each of `rows` rows.
fn one_line(rows: usize) -> Area {
    Area { start: 0, rows, row_bytes: CACHE_LINE, pitch: CACHE_LINE }
}

/// The bytes by which a stride changes the offset within a cache line.
fn in_line(stride: isize, unit: usize) -> usize {
    (stride * unit as isize).rem_euclid(CACHE_LINE as isize) as usize
}

/// How many of `rows` rows of `len` units are packed at a time: as many as a page of scratch holds,
/// if these are two lines of each source row, or one, or some units of narrow ones.
pub(super) fn packed_rows(rows: usize, len: usize, unit: usize, l1: usize) -> usize {
    let line = CACHE_LINE / unit;
    // A few narrow rows lie apart in the source: parts of them would be parts of its lines. 87 rows
    // of 64 times 2 bytes would take 1.8 times as long (Zen 4).
    if unit <= 2 && rows * len * unit <= l1 / 2 {
        return rows;
    }
    let step = line.min(MAX_PACKED_STEP);
    let fit = |&(bytes, lines): &(usize, usize)| {
        let most = bytes / unit / len / step * step;
        (most >= (lines * line).min(MAX_PACKED_STEP)).then_some(most)
    };
    match [(PACKED_BYTES, 2), (PAGE_BYTES, 2), (PAGE_BYTES, 1)].iter().find_map(fit) {
        Some(most) => rows.div_ceil(rows.div_ceil(most)).next_multiple_of(step).min(rows),
        None => rows.div_ceil(rows.div_ceil((l1 / 2 / unit / len).max(line))),
    }
}

/// Packed rows are a multiple of a line of their source, or of this many units.
const MAX_PACKED_STEP: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const L1: usize = 32 << 10;

    #[test]
    fn packed_rows_fit_a_page_with_a_line_of_each_source_row() {
        for unit in [1, 2, 4, 8, 16] {
            let line = (CACHE_LINE / unit).min(MAX_PACKED_STEP);
            for len in 1..=64 {
                let rows = packed_rows(1 << 20, len, unit, L1);
                assert!(rows * len * unit <= PAGE_BYTES, "{rows} rows of {len} by {unit}");
                assert!(rows > 0 && rows.is_multiple_of(line), "{rows} rows of {len} by {unit}");
            }
        }
        assert_eq!(packed_rows(1 << 20, 32, 4, L1), 32, "two lines of each row, not one");
        assert_eq!(packed_rows(7, 3, 4, L1), 7, "fewer rows");
        assert_eq!(packed_rows(87, 64, 2, L1), 87, "a few narrow ones");
    }

    #[test]
    fn few_staging_rows_lie_in_a_page_each() {
        for rows in 1..=MAX_CHANNELS {
            let bytes = staged_bytes_in_page(rows);
            // The first row starts up to two lines behind the start of its page, and each of the
            // others a line and a part of one further from its own; a spare line follows.
            let end = 2 * CACHE_LINE + (rows - 1) * (2 * CACHE_LINE - 1) + bytes + CACHE_LINE;
            assert!(end <= PAGE_BYTES && end + CACHE_LINE > PAGE_BYTES, "{rows} rows: {end}");
        }
    }

    #[test]
    fn longer_rows_are_packed_in_half_of_the_first_level() {
        assert_eq!(packed_rows(30, 135, 4, L1), 30);
        assert_eq!(packed_rows(1 << 20, 200, 4, L1).div_ceil(16), 2);
    }
}
