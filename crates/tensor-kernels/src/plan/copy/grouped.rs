//! Plans copies whose loops are short: [groups](crate::plan::group) of them make the sides of a
//! block.
//!
//! A tile needs elements that are adjacent in the destination, and elements that are adjacent in
//! the source. Each side is a group of loops.
//!
//! Short runs that are adjacent in both operands are grouped too. They need no tile; the table
//! replaces the walk over the loops around each run.

use std::fmt;

use super::{
    Inner, Work,
    candidates::{nearest, source_side},
};
use crate::{
    memory::{CACHE_LINE, LANE_BYTES},
    nest::{Loop, NestBuilder},
    plan::group::{Group, Side, continues, grow, iterations, ordered},
    tuning::{
        GROUP_BYTES, MAX_BLOCK_SIDE_UNITS, MAX_BLOCKED_BYTES, MAX_GATHERED_BYTES,
        MAX_GROUP_ITERATIONS, MAX_PIXEL_UNITS, MAX_REPEATED_UNITS, MAX_SLOW_TILE_UNITS,
        MAX_WALKED_RUNS, MIN_GROUP_ITERATIONS, MIN_GROUPED_UNITS, SHORT_ROW_BYTES,
        SMALL_TILE_BYTES, TINY_COPY_ELEMENTS,
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

/// The step inside of two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GroupedStep {
    /// A transpose: the destination is adjacent along `u`, the source along `v`.
    Transpose,
    /// Runs of adjacent units.
    Runs { len: usize },
}

impl GroupedStep {
    /// The number of units written in each iteration.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Transpose => 1,
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
            GroupedStep::Runs { len } => write!(f, "runs of {len}")?,
        }
        let Grouped { u, v, .. } = self;
        let (rows, columns) = (v.loops, u.loops);
        write!(f, ", rows of {rows} loops by {}, columns of {columns} by {}", v.block, u.block)
    }
}

/// Plans a copy by groups of loops. Returns `false` if the other strategies are as good; some loops
/// may then run in the other direction.
pub(super) fn plan(work: &mut Work, builder: &mut NestBuilder<'_, 2>) -> bool {
    let loops = builder.loops();
    let Some((&Loop { len, strides }, around)) = loops.split_last() else { return false };
    // One run, or the transpose of a matrix: nothing to group.
    if around.is_empty() || around.len() == 1 && around[0].strides[1] == 1 && strides[1] != 0 {
        return false;
    }
    let units = iterations(loops);
    if units <= TINY_COPY_ELEMENTS {
        return false;
    }
    let is_nested = around.len() > 1;
    let is_short = len < SHORT_ROW_BYTES / work.unit;
    let is_walked_often = is_nested && is_short && units >= 2 * MIN_GROUPED_UNITS;
    match strides {
        // Runs that are adjacent in both operands. If the next loop is short, the loops around it
        // are advanced every few runs.
        [1, 1] => {
            is_walked_often
                && around[around.len() - 1].len <= MAX_WALKED_RUNS
                && runs(work, builder)
        }
        // One unit repeated.
        [1, 0] if len > MAX_REPEATED_UNITS => false,
        [1, 0] => is_nested && transpose(work, builder, units) || runs(work, builder),
        // A transpose.
        _ if source_side(loops).is_some() => {
            let is_slow = has_slow_tiles(loops, work.unit, units);
            is_nested && (transpose(work, builder, units) || is_slow && runs(work, builder))
        }
        // A reversed or strided row.
        [1, _] if nearest(loops) == around.len() => is_short && runs(work, builder),
        // Single units.
        _ => {
            let is_large = units > MAX_BLOCKED_BYTES / work.unit;
            is_nested && (len < MAX_BLOCK_SIDE_UNITS / 2 || is_large) && runs(work, builder)
        }
    }
}

/// Plans a transpose, if larger groups make better tiles than the two loops alone.
fn transpose(work: &mut Work, builder: &mut NestBuilder<'_, 2>, units: usize) -> bool {
    let Some(source) = source_side(builder.loops()) else { return false };
    let innermost = builder.loops().len() - 1;
    let mut sides = [(0, innermost), (1, source)]
        .map(|(operand, at)| Side::new(builder, operand, at, target(work.unit)));
    let first = sides.each_ref().map(|side| side.len);
    grow(&mut sides, builder, work.unit, continues);
    let longer = sides.each_ref().map(|side| side.len.min(side.target));
    if !makes_better_tiles(first, longer, work.unit, units) {
        return false;
    }
    work.path = TRANSPOSE;
    finish(work, builder, &sides, GroupedStep::Transpose);
    true
}

/// Do sides of `longer` units make better tiles than sides of `first` units? A tile fills lanes; a
/// lane that is partly used costs as much, and so does the step from a small tile to the next.
fn makes_better_tiles(first: [usize; 2], longer: [usize; 2], unit: usize, units: usize) -> bool {
    let lane = LANE_BYTES / unit;
    let area = |[u, v]: [usize; 2]| u.saturating_mul(v);
    // Source rows of half a lane or less are gathered, which takes about as long as half a lane.
    let used = |[u, v]: [usize; 2]| u.min(lane) * v.clamp(lane / 2, lane);
    let fills_lane = (0..2).any(|k| first[k] < lane && longer[k] >= lane);
    let is_slow = unit <= 2 && (MAX_PIXEL_UNITS + 1..lane).contains(&first[0]);
    let is_better = fills_lane && longer[0].min(longer[1]) >= lane
        || used(longer) >= 2 * used(first)
        || is_slow && longer[1] >= lane;
    let is_larger =
        area(first) <= SMALL_TILE_BYTES / unit && area(longer) >= area(first).saturating_mul(4);
    // Out of cache, sides shorter than a line are read or written several times.
    let fills_lines =
        (0..2).any(|k| first[k] < CACHE_LINE / unit && longer[k] >= GROUP_BYTES / unit);
    units >= MIN_GROUPED_UNITS && is_better
        || units >= 2 * MIN_GROUPED_UNITS && is_larger
        || units > MAX_BLOCKED_BYTES / unit && unit >= 4 && fills_lines
}

/// Is a transpose of the two loops alone slow? Its source rows do not fill a lane, its destination
/// rows are few units, and no gather applies.
fn has_slow_tiles(loops: &[Loop<2>], unit: usize, units: usize) -> bool {
    let (Some(u), Some(side)) = (loops.last(), source_side(loops)) else { return false };
    let (lane, v) = (LANE_BYTES / unit, loops[side].len);
    let is_gathered = v <= MAX_PIXEL_UNITS && u.strides[1] == v as isize && u.len >= lane;
    let is_small = v < lane && u.len < 4 * lane && u.len.saturating_mul(v) <= MAX_SLOW_TILE_UNITS;
    is_small && !(is_gathered && units <= MAX_GATHERED_BYTES / unit)
}

/// Plans a copy of short runs, or of single units.
fn runs(work: &mut Work, builder: &mut NestBuilder<'_, 2>) -> bool {
    let len = match builder.loops().last() {
        Some(l) if l.strides == [1, 1] => l.len,
        _ => 1,
    };
    let count = builder.loops().len() - usize::from(len > 1);
    let target = (target(work.unit) / len).max(MIN_GROUP_ITERATIONS);
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

/// The iterations wanted on a side, for units of `unit` bytes.
fn target(unit: usize) -> usize {
    (GROUP_BYTES / unit).clamp(MIN_GROUP_ITERATIONS, MAX_GROUP_ITERATIONS)
}

/// Sets the step and the loops.
fn finish(work: &mut Work, builder: &NestBuilder<'_, 2>, sides: &[Side; 2], step: GroupedStep) {
    let loops = builder.loops();
    work.starts = builder.starts;
    work.outer = ordered(loops, sides);
    let [u, v] = sides.each_ref().map(|side| side.group(loops));
    work.inner = Inner::Grouped(Grouped { u, v, step });
}
