//! Transposes whose result goes past the caches.
//!
//! A transpose of memory to memory has three enemies. *Short runs*: a register tile reads and
//! writes a cache line here and a cache line there, each in another page. *Partial lines*: a line
//! that is streamed in two parts costs many times its share. *Waiting*: reading and writing should
//! overlap, so what has been read must leave soon. So tiles sweep along the source, [`SWEEP_ROWS`]
//! columns of it at a time, and stream whole lines as they go; see `run::stream` for the ways in
//! which lines are made whole.
//!
//! Where planes are small, a loop that goes on where `u` ends in the destination (`u2`), and one
//! that goes on where `v` ends in the source (`v2`), make the runs longer: a reversed array of six
//! short dimensions has runs as long as a matrix.
//!
//! # Tried and dropped
//!
//! - Blocks staged_extent in half a second-level cache and written in runs of 512 bytes, for all such
//!   transposes: 0.3 to 0.6 of the roof where sweeping tiles reach 0.7 to 1, as the machine reads
//!   for a while and then writes for a while.
//! - Source runs of 256 bytes to 1 KiB copied to a first-level scratch before they are transposed:
//!   a fifth slower, apart from bytes, a tenth faster.
//! - 512, 2048 and 4096 rows in place of 1024: within the noise for pages of 2 MiB, up to a third
//!   slower for pages of 4 KiB.

use std::fmt;

use super::Side;
use crate::plan::block::{Area, Extent};
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::{Loop, Loops},
};

/// A transpose by tiles that stream. It has a row for each index along `v` and `v2`, and a column
/// for each along `u` and `u2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Streamed {
    /// Adjacent in the destination; its stride is the source's.
    pub(crate) u: Side,
    /// Adjacent in the source; its stride is the destination's.
    pub(crate) v: Side,
    /// Goes on in the destination where `u` ends, or once; its stride is the source's.
    pub(crate) u2: Side,
    /// Goes on in the source where `v` ends, or once; its stride is the destination's.
    pub(crate) v2: Side,
    /// The extents of a block along `u`, `u2`, `v` and `v2`: what a scratch area holds, where one
    /// is used.
    pub(crate) block: StreamExtent,
    /// How lines are made whole.
    pub(crate) lines: Lines,
}

/// How the lines of the destination lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lines {
    /// Every row starts and ends where lines do, if the first one does.
    Aligned,
    /// Rows have the length of lines, or are not continued; they start anywhere.
    Stitched,
    /// Rows start and end anywhere.
    Staged,
    /// Rows are shorter than some lines, and lie one behind the other.
    Packed,
}

/// The extents of a block along the four loops, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StreamExtent {
    pub(crate) u: usize,
    pub(crate) u2: usize,
    pub(crate) v: usize,
    pub(crate) v2: usize,
}

/// Rows of the destination, which are columns of the source, that a sweep covers. Each may lie in a
/// page of its own, and a second-level TLB holds some 1500.
const SWEEP_ROWS: usize = 1024;

/// Bytes of a row that scratch collects before they leave: with [`SWEEP_ROWS`], under half of a
/// second-level cache.
const STAGED_ROW_BYTES: usize = 256;

/// Lines of a row from which on streaming pays.
const MIN_STREAMED_ROW_LINES: usize = 4;

/// A run of the destination is made longer if it has fewer lines than this.
const LONG_RUN_LINES: usize = 16;

/// A side this short is a handful of channels: the other one alone gives long runs.
const MAX_CHANNELS: usize = 8;

impl Streamed {
    /// Takes from `outer` the loops that make runs longer. `None` if rows are too short to be
    /// streamed; then `outer` stays as it is.
    pub(super) fn new(
        u: Side,
        v: Side,
        outer: &mut Loops<2>,
        unit: usize,
        machine: &Machine,
    ) -> Option<Self> {
        let line = CACHE_LINE / unit;
        let short = |len: usize, enough: usize| len < enough;
        let at_u2 =
            find(outer, short(u.len, LONG_RUN_LINES * line), |l| l.strides[0] == u.len as isize);
        let columns = u.len * at_u2.map_or(1, |at| outer[at].len);
        let packed = columns < MIN_STREAMED_ROW_LINES * line;
        if packed && (v.stride != u.len as isize || u.len * v.len < LONG_RUN_LINES * line) {
            return None;
        }
        let u2 = take(outer, at_u2.filter(|_| !packed), 1);
        let at_v2 =
            find(outer, short(v.len, SWEEP_ROWS) && !packed, |l| l.strides[1] == v.len as isize);
        let v2 = take(outer, at_v2, 0);
        let lines = if packed { Lines::Packed } else { lines(u, u2, v, v2, line) };
        let block = if packed {
            let v = v.len.min((machine.l1 / 2 / unit / u.len).max(1));
            StreamExtent { u: u.len, u2: 1, v, v2: 1 }
        } else if v.len <= MAX_CHANNELS && u2.len == 1 {
            let columns = (machine.l1 / 2 / unit / v.len / line * line).max(line);
            StreamExtent { u: u.len.min(columns), u2: 1, v: v.len, v2: 1 }
        } else {
            staged_extent(u.len, u2.len, v.len, v2.len, unit, machine)
        };
        Some(Self { u, v, u2, v2, block, lines })
    }

    /// The scratch that a way to make lines whole needs, for units of so many bytes.
    pub(crate) fn scratch(&self, lines: Lines, unit: usize) -> StreamScratch {
        let StreamExtent { u, v, v2, .. } = self.block;
        let (rows, planes) = match lines {
            Lines::Aligned => (Area { start: 0, rows: 0, row_bytes: 0, pitch: 0 }, 0),
            Lines::Stitched => (one_line(v), v2),
            Lines::Staged => (self.staged_rows(unit), v2),
            Lines::Packed => (Area::new(Extent { rows: 1, columns: u * v }, unit), 1),
        };
        let alike = if lines == Lines::Staged { in_line(self.v2.stride, unit) } else { 0 };
        let plane_pitch = rows.end() + alike;
        let slack = if lines == Lines::Staged { 4 * CACHE_LINE } else { 0 };
        StreamScratch { rows, planes, plane_pitch, bytes: planes * plane_pitch + slack }
    }

    /// The most scratch that any way needs which the destination's address may ask for.
    pub(crate) fn scratch_bytes(&self, unit: usize) -> usize {
        let lines = if self.lines == Lines::Packed { Lines::Packed } else { Lines::Staged };
        self.scratch(lines, unit).bytes.max(self.scratch(Lines::Stitched, unit).bytes)
    }

    /// Rows in scratch that lie at the same place in a cache line as in the destination, with a
    /// line to spare at both ends. An odd number of lines, so that rows do not fall on the same
    /// cache sets.
    fn staged_rows(&self, unit: usize) -> Area {
        let StreamExtent { u, u2, v, .. } = self.block;
        let lines = ((u * u2 * unit).div_ceil(CACHE_LINE) + 3) | 1;
        let row_bytes = lines * CACHE_LINE;
        Area { start: 0, rows: v, row_bytes, pitch: row_bytes + in_line(self.v.stride, unit) }
    }

    /// The number of units written.
    pub(crate) fn len(&self) -> usize {
        self.u.len * self.v.len * self.u2.len * self.v2.len
    }
}

/// Scratch of a streamed transpose: as many planes of rows as a block has iterations of `v2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamScratch {
    /// The rows of the first plane.
    pub(crate) rows: Area,
    pub(crate) planes: usize,
    /// From plane to plane, in bytes.
    pub(crate) plane_pitch: usize,
    pub(crate) bytes: usize,
}

/// A cache line for each of so many rows.
fn one_line(rows: usize) -> Area {
    Area { start: 0, rows, row_bytes: CACHE_LINE, pitch: CACHE_LINE }
}

/// How far a stride of units leads within a cache line, in bytes.
fn in_line(stride: isize, unit: usize) -> usize {
    (stride * unit as isize).rem_euclid(CACHE_LINE as isize) as usize
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

/// A loop that fits, if one is wanted.
fn find(outer: &Loops<2>, wanted: bool, fits: impl Fn(&Loop<2>) -> bool) -> Option<usize> {
    if wanted { outer.iter().position(fits) } else { None }
}

/// Takes the loop there, or none, as a side with the stride of an operand.
fn take(outer: &mut Loops<2>, at: Option<usize>, operand: usize) -> Side {
    at.map_or(Side { len: 1, stride: 0 }, |at| {
        let l = outer.remove(at);
        Side { len: l.len, stride: l.strides[operand] }
    })
}

/// Some lines of as many rows as a sweep covers.
fn staged_extent(
    u: usize,
    u2: usize,
    v: usize,
    v2: usize,
    unit: usize,
    machine: &Machine,
) -> StreamExtent {
    let rows = SWEEP_ROWS.min(machine.l2 / 4 / STAGED_ROW_BYTES).max(1);
    let (u, u2) = extents(u, u2, STAGED_ROW_BYTES / unit);
    let (v, v2) = extents(v, v2, rows);
    StreamExtent { u, u2, v, v2 }
}

/// How much of a loop and of the one that goes on after it makes `target`.
fn extents(len: usize, next: usize, target: usize) -> (usize, usize) {
    if len >= target { (target, 1) } else { (len, target.div_ceil(len).min(next)) }
}

/// `tile 4096 (src 4096) x 4096 (dst 4096) of whole lines`.
impl fmt::Display for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Streamed { u, v, u2, v2, lines, .. } = self;
        write!(f, "tile {} (src {}) x {} (dst {})", u.len, u.stride, v.len, v.stride)?;
        for (name, operand, side) in [("u2", "src", u2), ("v2", "dst", v2)] {
            if side.len > 1 {
                write!(f, ", {name} {} ({operand} {})", side.len, side.stride)?;
            }
        }
        write!(f, ", {} lines", format!("{lines:?}").to_lowercase())
    }
}
