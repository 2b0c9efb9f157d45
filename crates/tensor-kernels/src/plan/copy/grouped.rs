//! Plans copies whose loops are short: [groups](crate::plan::group) of them make the sides of a
//! block.
//!
//! A tile needs elements that are adjacent in the destination, and elements that are adjacent in
//! the source. Each side is a group of loops.
//!
//! Short runs that are adjacent in both operands are grouped too. They need no tile; the table
//! replaces the walk over the loops around each run.
//!
//! # Tried and dropped
//! Sides of runs that take no loop whose steps are longer than a page: 0.6 to 1.7 times the time
//! out of cache, and as long in the mean of 36 random layouts of 2 MB and more (Zen 4).

use std::fmt;

use super::{Inner, Work, strategies::source_side};
#[cfg(feature = "elementwise")]
use crate::{nest::Loop, plan::group::split};
use crate::{
    nest::NestBuilder,
    plan::group::{Group, Side, continues, grow, ordered},
    tuning::{MAX_GROUP_ITERATIONS, MIN_GROUP_ITERATIONS, MIN_INNER_ENTRIES},
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
    /// The columns and the rows of a block.
    #[cfg(feature = "elementwise")]
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
