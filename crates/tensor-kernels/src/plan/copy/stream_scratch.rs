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
    /// Does each row lie within one page, if `rows` start at the start of a page?
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
        let in_pages = lines == Lines::Staged && self.stages_in_pages(unit);
        let spare_bytes = match lines {
            _ if in_pages => PAGE_BYTES + 4 * CACHE_LINE,
            // Where the rows would cross the end of a page, they start there.
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
    /// line at both ends. They lie an odd number of lines apart, so that they do not compete for
    /// the same cache sets; a page and a line apart, if each is to lie within a page.
    fn staged_rows(&self, unit: usize) -> Area {
        let row_bytes = ((self.staged_bytes(unit).div_ceil(CACHE_LINE) + 3) | 1) * CACHE_LINE;
        let pitch = if self.stages_in_pages(unit) { PAGE_BYTES + CACHE_LINE } else { row_bytes };
        let pitch = pitch + in_line(self.v.stride, unit);
        Area { start: 0, rows: self.block.v, row_bytes, pitch }
    }

    /// The bytes of a row that are staged at a time.
    fn staged_bytes(&self, unit: usize) -> usize {
        self.block.u * self.block.u2 * self.runs.len * unit
    }

    /// Do staging rows lie within a page each? Those of channels do, which are few.
    fn stages_in_pages(&self, unit: usize) -> bool {
        let StreamExtent { v, v2, .. } = self.block;
        v <= MAX_CHANNELS && v2 == 1 && self.staged_bytes(unit) <= staged_bytes_in_page(v)
    }
}

/// The most bytes of each of `rows` staging rows that lie within a page each, with their spare
/// lines. They lie a page and up to two lines apart, so each starts up to two lines further from
/// the start of its page than the one before.
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

/// How many of `rows` rows of `len` units are packed at a time. As many as a page of scratch holds,
/// in multiples of the units in a cache line of the source: if possible two lines of each source
/// row, else one. If that is more than a page, what half of the first-level cache holds.
pub(super) fn packed_rows(rows: usize, len: usize, unit: usize, l1: usize) -> usize {
    let line = CACHE_LINE / unit;
    // A small matrix of narrow units is packed at once. In parts, most of its source lines would be
    // read for two of them: batches of 87 by 64 units of 2 bytes take 1.8 times as long (Zen 4).
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

/// The most units of each source row that a block of packed rows must have: a line of narrow units
/// has more.
const MAX_PACKED_STEP: usize = 32;

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::{
        super::{Inner, Work},
        *,
    };
    use crate::exec::Machine;

    const L1: usize = 32 << 10;

    #[test]
    fn scratch_of_channels_and_of_packed_rows_has_room_to_start_at_a_page() {
        let streamed = |shape: [usize; 3], strides: [isize; 3]| {
            let from = Layout::new(shape, strides, 0).unwrap();
            let to = Layout::contiguous(shape).unwrap();
            match Work::new(&from, &to, 4, &Machine::REFERENCE).inner {
                Inner::Streamed(plan) => plan,
                inner => panic!("a large transpose is streamed: {inner}"),
            }
        };
        let image = streamed([4, 1193, 707], [1, 3108, 4]).scratch(Lines::Staged, 4);
        assert!(image.in_pages && image.rows.pitch > PAGE_BYTES, "{image:?}");
        assert!(image.bytes >= image.rows.end() + PAGE_BYTES, "{image:?}");
        let matrix = streamed([1, 1204, 3001], [1, 1, 1204]).scratch(Lines::Staged, 4);
        assert!(!matrix.in_pages && matrix.rows.pitch < PAGE_BYTES, "{matrix:?}");
        let pixels = streamed([1, 400_000, 9], [1, 1, 400_000]);
        let scratch = pixels.scratch(pixels.lines, 4);
        let packed = pixels.block.v * 9 * 4;
        assert!(pixels.lines == Lines::Packed && packed <= PAGE_BYTES, "{pixels}");
        assert!(scratch.bytes >= 2 * packed, "{scratch:?}");
    }

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
            // The first row starts up to two lines after the start of its page, each other row up
            // to two lines less a byte later than the row before. A spare line follows each.
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
