//! Plans copies: what will be copied in which order, decided before any byte is moved.
//!
//! A plan is made from two layouts, the width of an element and a [`Machine`]. First the loops are
//! brought into normal form (`nest`), then counted in units that the kernels know (`unit`).
//! Several plans can run them (`candidates`): the first strategy of a table that applies turns the
//! innermost loops into one step of a kernel (`strategies`), several short loops make a side of a
//! block (`grouped`), the source is packed first (`packed_source`), or bytes that move by less
//! than a cache line are shuffled (`shuffled`). Each of them may copy one iteration of a loop that
//! repeats the source, whose results are then repeated (`repeats`). The plan with the least
//! predicted time is taken (`cost`), from what its kernel does (`kernel`), from the cache lines
//! (`footprint`) that its loops touch (`traversal`), and from what these take on the machine
//! (`rates`). A small copy whose plan is slow can be run by a list of offsets, or of picks,
//! instead (`listing`).
//!
//! A part of a plan is again a plan: `partition` cuts plans for threads, and the code that runs
//! them does not distinguish the two.

mod candidates;
mod cost;
mod explain;
mod footprint;
mod grouped;
mod kernel;
mod listing;
mod packed_source;
mod rates;
mod repeats;
mod scratch;
mod shuffled;
mod strategies;
mod stream_scratch;
mod streamed;
mod traversal;
mod unit;

use std::fmt;

use tensor_core::{Layout, sort::sort_by};

use super::fmt_loops;
use crate::{
    exec::Machine,
    kernel::{Residency, narrow_runs},
    memory::Stores,
    nest::{Loop, Loops, NestBuilder, with_nest},
};
pub use explain::CostTerm;
pub(crate) use grouped::{Grouped, GroupedStep, rows_inside};
pub(crate) use listing::Listing;
pub(crate) use packed_source::{source_order, source_tile};
pub(crate) use rates::WIDEST_VECTOR;
pub(crate) use repeats::Repeats;
pub(crate) use scratch::Comparison;
pub(crate) use shuffled::{Shuffled, ShuffledBy, picks, shuffles};
pub(crate) use stream_scratch::StreamScratch;
pub(crate) use streamed::{Along, Lines, Runs, Streamed};

/// A copy between two layouts, together with the plan that was made for them.
///
/// Invariant: `work` was planned for `from`, `to` and `width`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlannedCopy {
    from: Layout,
    to: Layout,
    width: usize,
    work: Work,
}

impl PlannedCopy {
    /// Plans a copy between layouts of one shape.
    pub(crate) fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Self {
        let work = Work::new(from, to, width, machine);
        Self { from: from.clone(), to: to.clone(), width, work }
    }

    /// A copy by a plan that was made for these layouts and this width.
    pub(crate) fn with(from: &Layout, to: &Layout, width: usize, work: Work) -> Self {
        Self { from: from.clone(), to: to.clone(), width, work }
    }

    /// Was it planned for these layouts and this width?
    pub(crate) fn is_for(&self, from: &Layout, to: &Layout, width: usize) -> bool {
        self.width == width && self.from == *from && self.to == *to
    }

    /// The source, the destination, and the bytes of an element.
    pub(crate) fn operands(&self) -> (&Layout, &Layout, usize) {
        (&self.from, &self.to, self.width)
    }

    pub(crate) fn work(&self) -> &Work {
        &self.work
    }
}

/// A plan, or a part of one: outer loops, and the step in each of their iterations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Work {
    /// Bytes of the units in which loops are counted: 1, 2, 4, 8 or 16.
    pub(crate) unit: usize,
    /// The offsets of the first element of destination and source, in bytes.
    pub(crate) starts: [isize; 2],
    /// The loops around the inner step, outermost first.
    pub(crate) outer: Loops<2>,
    /// The step inside the loops.
    pub(crate) inner: Inner,
    /// The kind of stores.
    pub(crate) stores: Stores,
    /// Where the operands lie. In memory if this is a tile of a large operation; what is streamed
    /// is known to be so.
    pub(crate) residency: Residency,
    /// What is done with the results when all have been copied: see
    /// [`repetitions`](Self::repetitions). The loops above are those of one iteration then.
    pub(crate) repeats: Option<Repeats>,
    /// The name of the strategy, which users see.
    pub(crate) path: &'static str,
}

/// The innermost step of a copy, which one kernel performs. Strides are in units; a stride that is
/// not given is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inner {
    /// No elements.
    Nothing,
    /// Adjacent units to adjacent units.
    Run { len: usize },
    /// One unit to adjacent units.
    Fill { len: usize },
    /// Units `step` apart to adjacent units.
    Gather { len: usize, step: isize },
    /// Adjacent units to units `step` apart.
    Scatter { len: usize, step: isize },
    /// A transpose: the destination is adjacent along `u`, the source along `v`. It is cut into
    /// blocks of at most `block` units on each side.
    Tile { u: Side, v: Side, block: usize },
    /// A transpose that is written by non-temporal stores.
    Streamed(Streamed),
    /// Two groups of loops, which are the last of the outer loops.
    Grouped(Grouped),
    /// Blocks of adjacent bytes, assembled by shuffles. Their loops are the last of the outer ones.
    Shuffled(Shuffled),
    /// The whole copy: tiles of at most `elements` units, whose source is packed into scratch
    /// without its gaps, and copied on from there.
    PackedSource { elements: usize },
    /// Two loops over short runs, or over single units for which no step above fits. They are cut
    /// into blocks of at most `block` iterations of each, so that cache lines are used while they
    /// are cached.
    Blocked2d { outer: Loop<2>, inner: Loop<2>, run: usize, block: usize },
}

/// One side of a transpose: its length, and the stride of the operand that is not adjacent along
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub(crate) len: usize,
    pub(crate) stride: isize,
}

impl Work {
    /// Every path.
    pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
        let others =
            [grouped::TRANSPOSE, grouped::RUNS, packed_source::PACKED_SOURCE, repeats::REPEATED];
        [strategies::NOTHING, shuffled::SHUFFLED, strategies::TRANSPOSED_RUNS]
            .into_iter()
            .chain(others)
            .chain(strategies::STRATEGIES.iter().map(|s| s.name))
    }

    /// The plan of a copy between layouts of one shape.
    #[inline(always)]
    pub(crate) fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Self {
        let mut work = Self::nothing();
        work.plan(from, to, width, machine);
        work
    }

    /// The plan for a destination and a source that lie some bytes behind those of this one.
    pub(crate) fn moved(mut self, bytes: [isize; 2]) -> Self {
        for (start, by) in self.starts.iter_mut().zip(bytes) {
            *start = start.wrapping_add(by);
        }
        self
    }

    /// A plan that does nothing.
    #[inline(always)]
    fn nothing() -> Self {
        let (outer, inner) = (Loops::new(), Inner::Nothing);
        Self {
            unit: 1,
            starts: [0; 2],
            outer,
            inner,
            stores: Stores::Plain,
            residency: Residency::Cached,
            repeats: None,
            path: strategies::NOTHING,
        }
    }

    /// Fills in the plan in place: moving a plan takes as long as copying sixteen elements.
    fn plan(&mut self, from: &Layout, to: &Layout, width: usize, machine: &Machine) {
        let bytes = from.numel().saturating_mul(width);
        if bytes == 0 {
            return;
        }
        with_nest([to, from], |builder| {
            builder.starts = builder.starts.map(|start| start * width as isize);
            self.choose(builder, width, machine);
            self.residency = Residency::of(bytes.saturating_mul(2), machine);
        });
    }

    /// Takes the candidate with the least predicted time.
    fn choose(&mut self, builder: &mut NestBuilder<'_, 2>, width: usize, machine: &Machine) {
        let mut least = None;
        candidates::visit(builder, width, machine, &mut |work| {
            let ns = work.predicted_ns(machine);
            // The first one, whatever is predicted: a copy without a plan would copy nothing.
            if least.is_none_or(|least| ns < least) {
                (least, *self) = (Some(ns), work);
            }
        });
    }

    /// Every plan that is considered, with its predicted time in nanoseconds; the shortest first.
    pub(crate) fn candidates(
        from: &Layout,
        to: &Layout,
        width: usize,
        machine: &Machine,
    ) -> Vec<(Self, f64)> {
        let bytes = from.numel().saturating_mul(width);
        if bytes == 0 {
            return vec![(Self::nothing(), 0.0)];
        }
        let residency = Residency::of(bytes.saturating_mul(2), machine);
        let mut found: Vec<(Self, f64)> = Vec::new();
        with_nest([to, from], |builder| {
            builder.starts = builder.starts.map(|start| start * width as isize);
            candidates::visit(builder, width, machine, &mut |work| {
                let work = Self { residency, ..work };
                if !found.iter().any(|(other, _)| *other == work) {
                    let ns = work.predicted_ns(machine);
                    found.push((work, ns));
                }
            });
        });
        sort_by(&mut found, |(_, a), (_, b)| a < b);
        found
    }

    /// The bytes of scratch that the kernels need.
    pub(crate) fn scratch_bytes(&self) -> usize {
        match self.inner {
            Inner::Streamed(plan) => plan.scratch_bytes(self.unit),
            Inner::Grouped(groups) => groups.scratch_bytes(&self.outer, self.unit),
            _ => 0,
        }
    }
}

impl Inner {
    /// Do kernels read the gaps between source elements of `unit` bytes, if they may?
    pub(crate) fn reads_gaps(&self, unit: usize) -> bool {
        match self {
            Inner::Gather { .. }
            | Inner::Tile { .. }
            | Inner::Grouped(_)
            | Inner::Shuffled(_) => true,
            Inner::Streamed(plan) => {
                plan.runs == Runs::UNITS || plan.runs.step.unsigned_abs() != plan.runs.len
            }
            Inner::Blocked2d { outer, inner, run, .. } => {
                narrow_runs::transposed([*inner, *outer], *run, unit)
                    .is_some_and(|[_, rows]| rows.strides[1].unsigned_abs() != *run)
            }
            Inner::Nothing
            | Inner::Run { .. }
            | Inner::Fill { .. }
            | Inner::Scatter { .. }
            // The copies into scratch do, where they may.
            | Inner::PackedSource { .. } => false,
        }
    }

    /// The number of units written in each iteration.
    pub(crate) fn len(&self) -> usize {
        match *self {
            Inner::Nothing => 0,
            Inner::PackedSource { .. } | Inner::Shuffled(_) => 1,
            Inner::Run { len }
            | Inner::Fill { len }
            | Inner::Gather { len, .. }
            | Inner::Scatter { len, .. } => len,
            Inner::Tile { u, v, .. } => u.len * v.len,
            Inner::Streamed(plan) => plan.len(),
            Inner::Grouped(groups) => groups.step.len(),
            Inner::Blocked2d { outer, inner, run, .. } => outer.len * inner.len * run,
        }
    }
}

/// One line: `batched_transpose of 4-byte units: 32 x [301056, 301056], tile 4096 (src 3) x 3 (dst
/// 4096), streamed`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}-byte units: ", self.path, self.unit)?;
        fmt_loops(f, &self.outer)?;
        write!(
            f,
            "{}{}",
            self.inner,
            if self.stores == Stores::NonTemporal { ", streamed" } else { "" }
        )?;
        match self.repeats.map(Repeats::times_of) {
            Some((times, len)) => write!(f, ", then blocks of {len} units {times} times"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Inner::Nothing => f.write_str("nothing"),
            Inner::PackedSource { elements } => {
                write!(f, "source packed, tiles of up to {elements} units")
            }
            Inner::Run { len } => write!(f, "run {len}"),
            Inner::Fill { len } => write!(f, "fill {len}"),
            Inner::Gather { len, step } => write!(f, "gather {len} (src {step})"),
            Inner::Scatter { len, step } => write!(f, "scatter {len} (dst {step})"),
            Inner::Tile { u, v, block } => {
                write!(f, "transpose {} (src {}) x {} (dst {})", u.len, u.stride, v.len, v.stride)?;
                match block < u.len.max(v.len) {
                    true => write!(f, " by {block}"),
                    false => Ok(()),
                }
            }
            Inner::Streamed(plan) => plan.fmt(f),
            Inner::Grouped(groups) => groups.fmt(f),
            Inner::Shuffled(plan) => plan.fmt(f),
            Inner::Blocked2d { outer, inner, run, .. } => write!(
                f,
                "blocked {} (dst {}, src {}) x {} (dst {}, src {}) of {run}",
                outer.len,
                outer.strides[0],
                outer.strides[1],
                inner.len,
                inner.strides[0],
                inner.strides[1]
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If gaps may not be read, these steps use the portable kernels.
    #[test]
    fn steps_that_read_whole_registers_read_gaps() {
        let side = Side { len: 64, stride: 64 };
        let twice = Loop { len: 2, strides: [3, 5] };
        let pixels = |step: isize| {
            let (columns, rows) = ([3, 64 * step], [3 * 64, step]);
            let [inner, outer] = [columns, rows].map(|strides| Loop { len: 64, strides });
            Inner::Blocked2d { outer, inner, run: 3, block: 64 }
        };
        for (inner, expected) in [
            (Inner::Nothing, false),
            (Inner::Run { len: 9 }, false),
            (Inner::Fill { len: 9 }, false),
            (Inner::Gather { len: 9, step: 2 }, true),
            (Inner::Scatter { len: 9, step: 2 }, false),
            (Inner::Tile { u: side, v: side, block: 64 }, true),
            (Inner::Blocked2d { outer: twice, inner: twice, run: 1, block: 64 }, false),
            (pixels(3), false),
            (pixels(4), true),
        ] {
            assert_eq!(inner.reads_gaps(1), expected, "{inner}");
        }
    }
}
