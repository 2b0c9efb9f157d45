//! Plans copies whose loops are short: [groups](crate::plan::group) of them make the sides of a
//! block.
//!
//! A tile needs elements that are adjacent in the destination, and elements that are adjacent in
//! the source. Each side is a group of loops.
//!
//! A transpose of a result larger than the caches is written by non-temporal stores: its lines are
//! stitched, or its rows packed, as those of [`streamed`](super::streamed) are. That has two loops
//! on either side, and no tables; it stages rows whose innermost loop ends within a cache line. Of
//! 28 MB of floats, 10,370 rows of 225 by 3 reach 0.7 of the copy bandwidth, and 0.35 by plain
//! stores; 39 by 17, which would be staged, 0.7 and 0.37 (Zen 4).
//!
//! Short runs that are adjacent in both operands are grouped too. They need no tile; the table
//! replaces the walk over the loops around each run.
//!
//! # Tried and dropped
//! Sides of runs that take no loop whose steps are longer than a page: 0.6 to 1.7 times the time
//! out of cache, and as long in the mean of 36 random layouts of 2 MB and more (Zen 4).

use std::fmt;

use super::{
    Inner, Side as CopySide, Work, strategies::source_side, stream_scratch::packed_rows,
    streamed::rows_at_once,
};
use crate::{
    exec::Machine,
    memory::{CACHE_LINE, LANE_BYTES, Stores},
    nest::{Loop, NestBuilder},
    plan::group::{Group, Side, continues, grow, iterations, ordered, split},
    tuning::{
        MAX_GROUP_ITERATIONS, MAX_PACKED_ROW, MAX_STREAMED_ITERATIONS, MIN_GROUP_ITERATIONS,
        MIN_INNER_ENTRIES, MIN_STITCHED_UNITS, MIN_STREAMED_ROW_LINES, PAGE_BYTES,
    },
};

/// The path of a transpose of groups.
pub(super) const TRANSPOSE: &str = "grouped_transpose";

/// The path of a copy of short runs in groups.
pub(super) const RUNS: &str = "grouped_runs";

/// What a block of two groups contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Grouped {
    /// The innermost loops of the plan: the destination's side.
    pub(crate) u: Group,
    /// The loops around those: the source's side.
    pub(crate) v: Group,
    /// What is copied in each iteration.
    pub(crate) step: GroupedStep,
}

impl Grouped {
    /// Is it a transpose?
    pub(crate) fn is_transpose(&self) -> bool {
        !matches!(self.step, GroupedStep::Runs { .. })
    }

    /// Is it written by non-temporal stores?
    pub(crate) fn is_streamed(&self) -> bool {
        matches!(self.step, GroupedStep::Stitched | GroupedStep::Packed)
    }

    /// The bytes of scratch for blocks that are streamed: a line for each row, or all rows, also if
    /// the next page starts within them.
    pub(super) fn scratch_bytes(&self, loops: &[Loop<2>], unit: usize) -> usize {
        let [columns, rows] = self.extent(loops);
        match self.step {
            GroupedStep::Transpose | GroupedStep::Runs { .. } => 0,
            GroupedStep::Stitched => rows * CACHE_LINE,
            GroupedStep::Packed => 2 * rows * columns * unit,
        }
    }

    /// The lines at the ends of the rows of all blocks, or of the runs of packed rows.
    pub(super) fn partial_lines(&self, loops: &[Loop<2>]) -> f64 {
        let [columns, rows] = self.extent(loops);
        let in_block = if self.step == GroupedStep::Packed { columns * rows } else { columns };
        2.0 * iterations(loops) as f64 / in_block as f64
    }

    /// The columns and the rows of a block.
    pub(crate) fn extent(&self, loops: &[Loop<2>]) -> [usize; 2] {
        let [_, v, u] = split(loops, [self.u, self.v]);
        [self.u.iterations_in_block(u), self.v.iterations_in_block(v)]
    }
}

/// The step inside of two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GroupedStep {
    /// A transpose: the destination is adjacent along `u`, the source along `v`.
    Transpose,
    /// The same by non-temporal stores of whole cache lines, which are stitched.
    Stitched,
    /// The same of rows that follow each other without gaps: they are packed in scratch, and
    /// written as one run.
    Packed,
    /// Runs of adjacent units.
    Runs { len: usize },
}

/// Do short runs follow the rows, and with them the source? Reads that jump are not prefetched: a
/// copy of [69, 3828, 3] floats, four floats apart along the first dimension, took 3.0 ms with the
/// columns inside and takes 0.55 ms with the rows inside (Zen 5). Unless there are few rows.
pub(crate) fn rows_inside([columns, rows]: [usize; 2]) -> bool {
    rows >= columns.min(MIN_INNER_ENTRIES)
}

impl GroupedStep {
    /// The number of units written in each iteration.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Transpose | Self::Stitched | Self::Packed => 1,
            Self::Runs { len } => len,
        }
    }
}

/// `transpose, rows of 2 loops by 4, columns of 3 by 2`: of each group the number of its loops, and
/// the iterations of the outermost one in a block.
impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            GroupedStep::Transpose => f.write_str("transpose")?,
            GroupedStep::Stitched => f.write_str("transpose, stitched lines")?,
            GroupedStep::Packed => f.write_str("transpose, packed lines")?,
            GroupedStep::Runs { len } => write!(f, "runs of {len}")?,
        }
        let Grouped { u, v, .. } = self;
        let (rows, columns) = (v.loops, u.loops);
        write!(f, ", rows of {rows} loops by {}, columns of {columns} by {}", v.block, u.block)
    }
}

/// The sides of a transpose whose blocks are `target` units long and wide.
fn transpose_sides(
    builder: &mut NestBuilder<'_, 2>,
    unit: usize,
    target: usize,
) -> Option<[Side; 2]> {
    let source = source_side(builder.loops())?;
    let innermost = builder.loops().len() - 1;
    let mut sides =
        [(0, innermost), (1, source)].map(|(operand, at)| Side::new(builder, operand, at, target));
    grow(&mut sides, builder, unit, continues);
    Some(sides)
}

/// Plans a transpose with blocks of `bytes` on each side.
pub(super) fn plan_transpose(
    work: &mut Work,
    builder: &mut NestBuilder<'_, 2>,
    bytes: usize,
) -> bool {
    let Some(sides) = transpose_sides(builder, work.unit, target(bytes, work.unit)) else {
        return false;
    };
    work.path = TRANSPOSE;
    finish(work, builder, &sides, GroupedStep::Transpose);
    true
}

/// Plans a transpose that is written by non-temporal stores, if more loops make its sides than the
/// four of [`Streamed`](super::Streamed), or others.
pub(super) fn plan_streamed(
    work: &mut Work,
    builder: &mut NestBuilder<'_, 2>,
    machine: &Machine,
) -> bool {
    let unit = work.unit;
    let Some(mut sides) = transpose_sides(builder, unit, MAX_STREAMED_ITERATIONS) else {
        return false;
    };
    let [u, v] = &mut sides;
    // What is repeated is faster copied once.
    let repeats = builder.loops().iter().any(|l| l.strides[1] == 0);
    if u.loops.len() + v.loops.len() < 3 || repeats {
        return false;
    }
    let rows = builder.loops()[v.loops[0]];
    let rows = CopySide { len: rows.len, stride: rows.strides[0] };
    let step = if v.loops.len() == 1 && packs(u.len, rows, unit) {
        v.target = packed_rows(v.len, u.len, unit, machine.l1).min(MAX_STREAMED_ITERATIONS);
        GroupedStep::Packed
    } else if stitches([u.len, v.len], rows, unit, machine) {
        GroupedStep::Stitched
    } else {
        return false;
    };
    (work.path, work.stores) = (TRANSPOSE, Stores::NonTemporal);
    finish(work, builder, &sides, step);
    true
}

/// Are rows of `columns` units packed? They follow each other without gaps, and are short, or fit a
/// page together.
fn packs(columns: usize, rows: CopySide, unit: usize) -> bool {
    let bytes = rows.len.saturating_mul(columns).saturating_mul(unit);
    let is_short = columns <= MAX_PACKED_ROW || bytes <= PAGE_BYTES;
    is_short
        && columns <= MAX_STREAMED_ITERATIONS
        && rows.stride.unsigned_abs() == columns
        && rows.len >= LANE_BYTES / unit
}

/// Are lines stitched? Rows have a few of them, and the source as many adjacent units as a line
/// has, and [`MIN_STITCHED_UNITS`]. Not if all rows wait for one channel of the memory.
fn stitches([columns, v]: [usize; 2], rows: CopySide, unit: usize, machine: &Machine) -> bool {
    let line = CACHE_LINE / unit;
    columns >= MIN_STREAMED_ROW_LINES * line
        && v >= line.max(MIN_STITCHED_UNITS)
        && rows_at_once(rows, unit, machine.channel).is_none()
}

/// Plans a copy of short runs, or of single units, in blocks of `bytes` on each side.
pub(super) fn plan_runs(work: &mut Work, builder: &mut NestBuilder<'_, 2>, bytes: usize) -> bool {
    let len = match builder.loops().last() {
        Some(l) if l.strides == [1, 1] => l.len,
        _ => 1,
    };
    let count = builder.loops().len() - usize::from(len > 1);
    let target = (target(bytes, work.unit) / len).max(MIN_GROUP_ITERATIONS);
    let next = |builder: &NestBuilder<'_, 2>, operand: usize, taken: &dyn Fn(usize) -> bool| {
        let stride = |&at: &usize| builder.loops()[at].strides[operand].unsigned_abs();
        (0..count).rev().filter(|&at| !taken(at)).min_by_key(stride)
    };
    let Some(u) = next(builder, 0, &|_| false) else { return false };
    let Some(v) = next(builder, 1, &|at| at == u) else { return false };
    let mut sides = [(0, u), (1, v)].map(|(operand, at)| Side::new(builder, operand, at, target));
    grow(&mut sides, builder, work.unit, |side, builder, taken| next(builder, side.operand, taken));
    if len > 1 {
        builder.pop();
    }
    work.path = RUNS;
    finish(work, builder, &sides, GroupedStep::Runs { len });
    true
}

/// The iterations wanted on a side of `bytes`, for units of `unit` bytes.
fn target(bytes: usize, unit: usize) -> usize {
    (bytes / unit).clamp(MIN_GROUP_ITERATIONS, MAX_GROUP_ITERATIONS)
}

/// Sets the step and the loops.
fn finish(work: &mut Work, builder: &NestBuilder<'_, 2>, sides: &[Side; 2], step: GroupedStep) {
    let loops = builder.loops();
    work.starts = builder.starts;
    work.outer = ordered(loops, sides);
    let [u, v] = sides.each_ref().map(|side| side.group(loops));
    work.inner = Inner::Grouped(Grouped { u, v, step });
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;

    /// The steps of the streamed candidates of groups, of a view of a tensor of `width`-byte
    /// elements whose dimensions are permuted.
    fn streamed(base: &[usize], dims: &[isize], width: usize) -> Vec<GroupedStep> {
        let from = Layout::contiguous(base).unwrap().permute(dims).unwrap();
        let to = Layout::contiguous(from.shape()).unwrap();
        let steps = Work::candidates(&from, &to, width, &Machine::REFERENCE);
        let streamed = steps.iter().filter_map(|(work, _)| match work.inner {
            Inner::Grouped(groups) if groups.is_streamed() => Some(groups.step),
            _ => None,
        });
        streamed.collect()
    }

    #[test]
    fn groups_that_make_rows_long_are_streamed() {
        use GroupedStep::{Packed, Stitched};
        assert_eq!(streamed(&[3, 225, 10_467], &[2, 1, 0], 4), [Stitched]);
        assert_eq!(streamed(&[27, 67, 7, 1999], &[3, 1, 2, 0], 8), [Stitched]);
        assert_eq!(streamed(&[3, 13, 254_935], &[2, 1, 0], 4), [Packed]);
        assert_eq!(streamed(&[3, 225, 1000], &[2, 1, 0], 4), [], "in cache");
        assert_eq!(streamed(&[4000, 4001], &[1, 0], 4), [], "two loops");
        assert_eq!(streamed(&[5, 60_000, 12], &[2, 1, 0], 4), [], "short source rows");
        assert_eq!(streamed(&[256, 256, 256], &[2, 1, 0], 4), [], "whole lines without tables");
    }

    #[test]
    fn packed_rows_are_whole_and_stitched_ones_are_cut() {
        let blocks = |base: &[usize], dims: &[isize], width: usize| {
            let from = Layout::contiguous(base).unwrap().permute(dims).unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            let work = Work::new(&from, &to, width, &Machine::REFERENCE);
            match work.inner {
                Inner::Grouped(groups) => groups.extent(&work.outer),
                inner => panic!("{inner}"),
            }
        };
        assert_eq!(blocks(&[3, 225, 10_467], &[2, 1, 0], 4), [675, 952]);
        assert_eq!(blocks(&[9, 700, 10_467], &[2, 1, 0], 4), [9 * 100, 952]);
        let [columns, rows] = blocks(&[3, 13, 254_935], &[2, 1, 0], 4);
        assert!(columns == 39 && columns * rows * 4 <= PAGE_BYTES);
    }
}
