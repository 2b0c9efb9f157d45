//! Plans transposes that are written by non-temporal stores.
//!
//! Three effects make a transpose out of cache slow:
//!
//! - *Short runs.* A register tile reads and writes single cache lines, each in another page.
//! - *Partial lines.* A cache line that is streamed in two parts costs many times as much as a
//!   whole line.
//! - *Waiting.* Reads and writes should overlap, so what has been read must be written soon.
//!
//! So tiles sweep along the source, [`SWEEP_ROWS`] columns of it at a time, and stream whole lines
//! as they go. `run::stream` describes the methods that make lines whole.
//!
//! If the extents of a transpose are small, two more loops make the runs longer: `u2`, which
//! continues in the destination where `u` ends, and `v2`, which continues in the source where `v`
//! ends. So a reversed array of six short dimensions has runs as long as those of a matrix.
//!
//! A transpose may keep short runs together, as that of an image keeps the channels of its pixels.
//! Runs have no tiles that write lines: they are staged, as many rows at a time as the second-level
//! cache holds, and each source row is prefetched, because all of a block are read side by side.
//!
//! A tile of single bytes has 64 source rows, one of two bytes 32, and each line is read four
//! times. If rows lie a power of two apart, as those of an image often do, their lines share a few
//! sets of the first-level cache, which does not keep them. So parts of these rows are [copied to a
//! buffer](Lines::Buffered) first, and their columns are staged: lines written one by one in rows
//! that share sets take twice as long as eight at a time.
//!
//! # Tried and dropped
//!
//! - Runs written to each row of the result without staging, as parts of its lines: 1.6 to 3 times
//!   as long for 12 bytes, least with plain stores and prefetches (Zen 5).
//! - Blocks staged in half a second-level cache and written in runs of 512 bytes, for all such
//!   transposes: 30 to 60 % of the copy bandwidth, where sweeping tiles reach 70 to 100 %. The
//!   memory alternates between reading and writing.
//! - Source runs of 256 bytes to 1 KiB copied to scratch in the first-level cache before they are
//!   transposed: a fifth slower, except for bytes, which are a tenth faster.
//! - Crowded source rows staged without a buffer, 16 at a time: 0.9 to 1.25 times as long
//!   (Zen 5).
//! - Short rows packed in parts of 2 KiB of each source row instead of what half a first-level
//!   cache holds, or with the next part prefetched: the same, or a tenth slower (Zen 5).
//! - 512, 2048 and 4096 rows in place of 1024: within the noise with pages of 2 MiB, up to a third
//!   slower with pages of 4 KiB.

use std::fmt;

use super::{
    Side,
    stream_scratch::{packed_rows, staged_bytes_in_page},
};
use crate::{
    exec::Machine,
    kernel::narrow_runs::MAX_NARROW_RUN_BYTES,
    memory::{CACHE_LINE, FIRST_LEVEL_WAY, most_lines_in_a_set},
    nest::{Loop, Loops},
    tuning::{
        BUFFERED_ROW_BYTES, BUFFERED_ROWS, BUFFERED_STREAMS, CHANNEL_ROWS, CROWDED_SOURCE_LINES,
        CROWDED_SOURCE_LINES_PER_WAY, LONG_RUN_LINES, MAX_BUFFERED_UNIT, MAX_CHANNELS,
        MAX_PACKED_ROW, MAX_PACKED_ROW_LINES, MIN_BUFFERED_COLUMNS, MIN_STREAMED_ROW_LINES,
        STAGED_ROW_BYTES, STAGED_RUNS_BYTES, SWEEP_ROWS,
    },
};

/// A transpose with non-temporal stores. Its rows are the indices along `v` and `v2`, its columns
/// those along `u` and `u2`. Strides count units, also of longer [`Runs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Streamed {
    /// Adjacent in the destination; the stride is the source's.
    pub(crate) u: Side,
    /// Adjacent in the source; the stride is the destination's.
    pub(crate) v: Side,
    /// Continues in the destination where `u` ends, or has length 1; the stride is the source's.
    pub(crate) u2: Side,
    /// Continues in the source where `v` ends, or has length 1; the stride is the destination's.
    pub(crate) v2: Side,
    /// The extents of a block along `u`, `u2`, `v` and `v2`: what scratch holds, if any is used.
    pub(crate) block: StreamExtent,
    /// What is transposed as one.
    pub(crate) runs: Runs,
    /// The method that makes cache lines whole.
    pub(crate) lines: Lines,
    /// The rows that are written at once, a few lines each, if more would wait for one channel of
    /// the memory.
    pub(crate) rows_at_once: Option<usize>,
}

/// What a transpose keeps together, and moves as one: single units, or runs of adjacent units, such
/// as the channels of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Runs {
    /// The units of a run. Runs follow each other in the destination.
    pub(crate) len: usize,
    /// The units from one run to the next in the source: `len`, unless there are gaps.
    pub(crate) step: isize,
}

impl Runs {
    /// Single units, adjacent in the source.
    pub(crate) const UNITS: Self = Self { len: 1, step: 1 };
}

/// The method that makes the cache lines of the destination whole; see `run::stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lines {
    /// Every row starts and ends at cache lines, if the first row starts at one.
    Aligned,
    /// Rows start anywhere. They are whole lines long, or `u2` does not continue them.
    Stitched,
    /// Rows start and end anywhere.
    Staged,
    /// As staged. Parts of the source's rows, which share few sets of a first-level cache, are
    /// copied to a buffer before they are transposed.
    Buffered,
    /// Rows have no gaps between them, and are shorter than a few lines, or make up a small matrix.
    /// They may descend.
    Packed,
}

impl Lines {
    /// The name in printed plans.
    fn name(self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Stitched => "stitched",
            Self::Staged => "staged",
            Self::Buffered => "buffered",
            Self::Packed => "packed",
        }
    }
}

/// The extents of a block along the four loops, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StreamExtent {
    pub(crate) u: usize,
    pub(crate) u2: usize,
    pub(crate) v: usize,
    pub(crate) v2: usize,
}

/// A loop of a streamed transpose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Along {
    U,
    U2,
    V,
    V2,
}

impl Streamed {
    /// Takes from `outer` the loops that make rows longer. Returns `None`, and leaves `outer` as it
    /// is, if rows are too short to be streamed.
    pub(super) fn new(
        u: Side,
        v: Side,
        runs: Runs,
        outer: &mut Loops<2>,
        unit: usize,
        machine: &Machine,
    ) -> Option<Self> {
        let (line, row) = (CACHE_LINE / unit, u.len * runs.len);
        let short = |len: usize, enough: usize| len < enough;
        // The rows of an image continue those before. A cache line that two of them share is
        // written once, if both are staged, and later rows can be prefetched. Channels that are
        // parts of longer source rows are read with the other parts instead, if they fill a line:
        // 8 times 8 of 64 doubles take a third of the time, 9 times 3 of 27 would take 1.3 (Zen 4).
        let source_row = v.len as isize * runs.step;
        let continues_source = |l: &Loop<2>| l.strides[1] == source_row;
        let are_parts = v.len >= line && outer.iter().any(continues_source);
        let are_channels = v.len <= MAX_CHANNELS && !are_parts;
        let is_short = short(row, LONG_RUN_LINES * line) || are_channels;
        let at_u2 = find(outer, is_short, |l| l.strides[0] == row as isize);
        let columns = row * at_u2.map_or(1, |at| outer[at].len);
        let is_matrix_of_units = runs == Runs::UNITS && is_small_matrix(u, v, unit, machine);
        let is_dense = v.stride.unsigned_abs() == row;
        let share_lines = columns <= MAX_PACKED_ROW && !columns.is_multiple_of(line) && is_dense;
        let packed = columns < MIN_STREAMED_ROW_LINES * line || share_lines || is_matrix_of_units;
        if packed && (!is_dense || row * v.len < LONG_RUN_LINES * line) {
            return None;
        }
        let u2 = take(outer, at_u2.filter(|_| !packed), 1);
        let at_v2 = find(outer, short(v.len, SWEEP_ROWS) && !packed, continues_source);
        let v2 = take(outer, at_v2, 0);
        let lines = match (packed, runs) {
            (true, _) => Lines::Packed,
            (false, Runs::UNITS) if u2.len * v2.len == 1 && is_crowded(u, v, unit, machine) => {
                Lines::Buffered
            }
            (false, Runs::UNITS) => lines(u, u2, v, v2, line),
            (false, _) => Lines::Staged,
        };
        let block = if packed {
            StreamExtent { u: u.len, u2: 1, v: packed_rows(v.len, row, unit, machine.l1), v2: 1 }
        } else if lines == Lines::Buffered {
            let (columns, rows) = (BUFFERED_ROW_BYTES / unit, v.len.min(BUFFERED_ROWS));
            StreamExtent { u: u.len.min(columns), u2: 1, v: rows, v2: 1 }
        } else if v.len <= MAX_CHANNELS && v2.len == 1 {
            let bytes = (machine.l1 / 2 / v.len).min(staged_bytes_in_page(v.len));
            let columns = (bytes / unit / runs.len / line * line).max(line);
            let (u, u2) = (u.len.min(columns), (columns / u.len).clamp(1, u2.len));
            StreamExtent { u, u2, v: v.len, v2: 1 }
        } else {
            staged_extent((u.len, u2.len), (v.len, v2.len), runs.len * unit, machine)
        };
        let rows_at_once = match runs {
            Runs::UNITS => rows_at_once(v, unit, machine.channel),
            _ => None,
        };
        Some(Self { u, v, u2, v2, runs, block, lines, rows_at_once })
    }

    /// The strides of destination and source along a loop, in units.
    pub(crate) fn strides(&self, along: Along) -> [isize; 2] {
        let Self { u, v, u2, v2, runs, .. } = self;
        match along {
            Along::U => [runs.len as isize, u.stride],
            Along::U2 => [(u.len * runs.len) as isize, u2.stride],
            Along::V => [v.stride, runs.step],
            Along::V2 => [v2.stride, v.len as isize * runs.step],
        }
    }

    /// Do tiles fill cache lines? Where rows or columns are short, the rest of each tile is copied
    /// unit by unit. Channels are separated by shuffles, at any number.
    pub(super) fn fills_lines(&self, line: usize) -> bool {
        let is_matrix = self.u2.len * self.v2.len == 1;
        let is_staged = self.lines == Lines::Packed || self.runs != Runs::UNITS;
        is_staged
            || self.u.len >= line && (self.v.len >= line || is_matrix || self.is_of_channels())
    }

    /// Are parts of the source's rows copied to a buffer first?
    pub(super) fn is_buffered(&self) -> bool {
        self.lines == Lines::Buffered
    }

    /// Are the rows the channels of an image, whose pixels are the columns?
    pub(crate) fn is_of_channels(&self) -> bool {
        self.v.len <= MAX_CHANNELS && self.v2.len == 1
    }

    /// Do tiles fill cache lines, and write each in another row? Channels are written in a few
    /// rows, line after line.
    pub(super) fn jumps_between_lines(&self, line: usize) -> bool {
        self.lines != Lines::Packed && self.u.len * self.runs.len >= line && self.v.len >= line
    }

    /// The number of units written.
    pub(crate) fn len(&self) -> usize {
        self.u.len * self.v.len * self.u2.len * self.v2.len * self.runs.len
    }
}

/// The rows to write at once, if the lines of many lie in one channel of the memory, or in two.
pub(super) fn rows_at_once(v: Side, unit: usize, channel: usize) -> Option<usize> {
    let step = v.stride.unsigned_abs() * unit;
    let each = |channel: usize| channel > 0 && step.is_multiple_of(channel);
    let rows = match (each(channel), each(channel / 2)) {
        (true, _) => CHANNEL_ROWS,
        (_, true) => 2 * CHANNEL_ROWS,
        _ => return None,
    };
    (v.len > 2 * rows).then_some(rows)
}

/// Do the source rows of a tile share so few sets of a first-level cache that it does not keep
/// them? A tile of narrow units has many rows, and reads each lane by lane. Beyond the caches that
/// takes no longer than memory does, unless there are many times as many lines as a set holds.
fn is_crowded(u: Side, v: Side, unit: usize, machine: &Machine) -> bool {
    let bytes = u.len.saturating_mul(v.len).saturating_mul(unit);
    let holds_blocks = u.len * unit >= BUFFERED_ROW_BYTES && v.len >= MIN_BUFFERED_COLUMNS;
    if unit > MAX_BUFFERED_UNIT || !holds_blocks || bytes < machine.l2 {
        return false;
    }
    let pitch = u.stride.unsigned_abs() * unit;
    let lines = most_lines_in_a_set(pitch, CACHE_LINE / unit, CACHE_LINE);
    let is_near = bytes < BUFFERED_STREAMS.saturating_mul(machine.stream);
    unit == 1 && is_near && lines >= CROWDED_SOURCE_LINES
        || lines >= CROWDED_SOURCE_LINES_PER_WAY * (machine.l1 / FIRST_LEVEL_WAY)
}

fn lines(u: Side, u2: Side, v: Side, v2: Side, line: usize) -> Lines {
    let whole = |stride: isize| stride.unsigned_abs().is_multiple_of(line);
    let continued = u2.len > 1 && !u.len.is_multiple_of(line);
    match whole(v.stride) && whole(v2.stride) && u.len.is_multiple_of(line) {
        true => Lines::Aligned,
        false if continued => Lines::Staged,
        false => Lines::Stitched,
    }
}

/// The first loop that fits, if `wanted`.
fn find(outer: &Loops<2>, wanted: bool, fits: impl Fn(&Loop<2>) -> bool) -> Option<usize> {
    if wanted { outer.iter().position(fits) } else { None }
}

/// Is it a small matrix of 1- or 2-byte elements whose rows follow each other without gaps and do
/// not end at cache lines? Two rows then share a line, which writing row by row stores in two
/// parts, both through the cache. The source of a small matrix stays in the second-level cache
/// until all of its lines are used. Packing gained nothing with wider elements: 0.8 to 1.3 of the
/// time, 1.01 in the mean of 72 random batches (Zen 5).
fn is_small_matrix(u: Side, v: Side, unit: usize, machine: &Machine) -> bool {
    let (line, elements) = (CACHE_LINE / unit, u.len.saturating_mul(v.len));
    unit <= 2
        && v.stride.unsigned_abs() == u.len
        && !u.len.is_multiple_of(line)
        && u.len <= MAX_PACKED_ROW_LINES * line
        && (LONG_RUN_LINES * line..=machine.l2 / 2 / unit).contains(&elements)
}

/// Removes a loop and returns it as a side with the stride of one operand; a side of length 1 for
/// `None`.
fn take(outer: &mut Loops<2>, at: Option<usize>, operand: usize) -> Side {
    at.map_or(Side { len: 1, stride: 0 }, |at| {
        let l = outer.remove(at);
        Side { len: l.len, stride: l.strides[operand] }
    })
}

/// The extents of a block that is staged, of runs of `bytes` bytes: some lines of as many rows as a
/// sweep has.
fn staged_extent(
    (u, u2): (usize, usize),
    (v, v2): (usize, usize),
    bytes: usize,
    machine: &Machine,
) -> StreamExtent {
    let row_bytes =
        if bytes <= MAX_NARROW_RUN_BYTES { STAGED_ROW_BYTES } else { STAGED_RUNS_BYTES };
    let rows = SWEEP_ROWS.min(machine.l2 / 4 / row_bytes).max(1);
    let (u, u2) = extents(u, u2, (row_bytes / bytes).max(1));
    let (v, v2) = extents(v, v2, rows);
    StreamExtent { u, u2, v, v2 }
}

/// How many iterations of a loop, and of the one that continues it, reach `target`.
fn extents(len: usize, next: usize, target: usize) -> (usize, usize) {
    if len >= target { (target, 1) } else { (len, target.div_ceil(len).min(next)) }
}

/// `tile 4096 (src 4096) x 4096 (dst 4096) of whole lines`.
impl fmt::Display for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Streamed { u, v, u2, v2, runs, lines, .. } = self;
        write!(f, "transpose {} (src {}) x {} (dst {})", u.len, u.stride, v.len, v.stride)?;
        for (name, operand, side) in [("u2", "src", u2), ("v2", "dst", v2)] {
            if side.len > 1 {
                write!(f, ", {name} {} ({operand} {})", side.len, side.stride)?;
            }
        }
        if runs.len > 1 {
            write!(f, ", of runs of {}", runs.len)?;
        }
        write!(f, ", {} lines", lines.name())
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::{
        super::{Inner, Work},
        Lines, Side, Streamed, rows_at_once,
    };
    use crate::exec::Machine;

    /// A batch of matrices of these sizes, transposed.
    fn transposed(shape: [usize; 3], width: usize) -> Streamed {
        let to = Layout::contiguous(shape).unwrap();
        let from = Layout::contiguous([shape[0], shape[2], shape[1]]).unwrap();
        let from = from.transpose(1, 2).unwrap();
        match Work::new(&from, &to, width, &Machine::REFERENCE).inner {
            Inner::Streamed(plan) => plan,
            inner => panic!("a large transpose is streamed: {inner}"),
        }
    }

    #[test]
    fn small_matrices_of_bytes_are_packed_if_their_rows_share_lines() {
        for (shape, width, lines) in [
            ([9000, 38, 130], 1, Lines::Packed),
            ([9000, 38, 130], 2, Lines::Packed),
            ([9000, 38, 130], 4, Lines::Stitched),
            ([9000, 38, 256], 1, Lines::Aligned),
            ([900, 38, 2600], 1, Lines::Stitched),
            ([90, 1000, 630], 1, Lines::Stitched),
        ] {
            assert_eq!(transposed(shape, width).lines, lines, "{shape:?} of {width} bytes");
        }
    }

    #[test]
    fn source_rows_that_share_few_sets_are_buffered() {
        let eight_ways = Machine::REFERENCE;
        let twelve_ways = Machine { l1: 48 << 10, ..eight_ways };
        for (rows, width, of_eight, of_twelve) in [
            (2049, 1, true, true),
            (6144, 1, true, false),
            (8193, 1, true, true),
            (2047, 2, true, false),
            (2049, 2, true, false),
            (3072, 2, false, false),
            (2048, 4, false, false),
        ] {
            let side = Side { len: rows, stride: rows as isize };
            let is_crowded = |machine| super::is_crowded(side, side, width, machine);
            assert_eq!(is_crowded(&eight_ways), of_eight, "{rows} of {width} bytes, 8 ways");
            assert_eq!(is_crowded(&twelve_ways), of_twelve, "{rows} of {width} bytes, 12 ways");
        }
    }

    #[test]
    fn few_rows_are_written_at_once_if_their_lines_lie_in_one_channel_or_two() {
        let rows = |len, bytes: isize| rows_at_once(Side { len, stride: bytes / 4 }, 4, 512);
        assert_eq!((rows(33, 512), rows(1000, -4096)), (Some(16), Some(16)));
        assert_eq!((rows(32, 512), rows(64, 256)), (None, None), "as many as two channels take");
        assert_eq!((rows(65, 256), rows(1000, 512 + 256)), (Some(32), Some(32)));
        assert_eq!((rows(1000, 128), rows(1000, 512 + 64)), (None, None));
        assert_eq!(rows_at_once(Side { len: 1000, stride: 512 }, 1, 0), None, "unknown channels");
    }

    #[test]
    fn few_rows_are_continued_in_the_source_or_those_of_images_in_the_result() {
        let extents = |shape: [usize; 4], strides: [isize; 4]| {
            let offset =
                shape.iter().zip(strides).map(|(&len, s)| s.min(0).unsigned_abs() * (len - 1));
            let from = Layout::new(shape, strides, offset.sum()).unwrap();
            let to = Layout::contiguous(shape).unwrap();
            match Work::new(&from, &to, 8, &Machine::REFERENCE).inner {
                Inner::Streamed(plan) => (plan.v.len, plan.v2.len, plan.u2.len),
                inner => panic!("a large transpose is streamed: {inner}"),
            }
        };
        assert_eq!(extents([1, 8, 9, 37_641], [1, 1, 8, 72]), (8, 9, 1), "they fill lines");
        let upside_down = extents([203, 4, 243, 29], [28_188, 1, -116, 4]);
        assert_eq!(upside_down, (4, 1, 243), "images");
    }

    #[test]
    fn packed_rows_stay_in_half_of_a_first_level_cache() {
        let plan = transposed([9000, 138, 130], 2);
        assert_eq!(plan.block.v, 46, "three blocks of as many rows");
        assert!(plan.scratch_bytes(2) <= Machine::REFERENCE.l1 / 2);
    }
}
