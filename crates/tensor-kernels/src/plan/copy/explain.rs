//! What a plan is made of, for people: the terms of its predicted time, its blocks and the cache
//! lines that it touches.

use super::{
    GroupedStep, Inner, Repeats, Runs, ShuffledBy, Work, cost::COST_TERMS, footprint::lines,
    traversal::Traversal,
};
use crate::{
    memory::{CACHE_LINE, LANE_BYTES, Stores},
    nest::Loop,
};

/// What the predicted time of a copy is spent on; see `CopyExplanation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CostTerm {
    /// Starting the plan, and its tables of offsets.
    Start,
    /// Calls of kernels.
    Calls,
    /// What kernels move, if all of it is in the first-level cache.
    Kernel,
    /// Iterations of the loops around the kernel.
    Loops,
    /// Cache lines fetched into the first-level cache.
    FirstLevel,
    /// Cache lines fetched into the second-level cache.
    SecondLevel,
    /// Cache lines fetched from memory.
    Memory,
    /// Lines of the result that displace each other, because they share few sets of the first-level
    /// cache.
    Displaced,
    /// Lines written by non-temporal stores.
    NonTemporal,
    /// Lines written in part by non-temporal stores and in part by others.
    PartialLines,
    /// Lines written by non-temporal stores that share sets of the second-level cache.
    Clashes,
}

impl CostTerm {
    /// Every term.
    pub const ALL: [Self; COST_TERMS] = [
        Self::Start,
        Self::Calls,
        Self::Kernel,
        Self::Loops,
        Self::FirstLevel,
        Self::SecondLevel,
        Self::Memory,
        Self::Displaced,
        Self::NonTemporal,
        Self::PartialLines,
        Self::Clashes,
    ];

    /// Its name: `calls`, `lines from memory`, ….
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Calls => "calls",
            Self::Kernel => "kernel",
            Self::Loops => "loops",
            Self::FirstLevel => "lines into L1",
            Self::SecondLevel => "lines into L2",
            Self::Memory => "lines from memory",
            Self::Displaced => "displaced lines",
            Self::NonTemporal => "non-temporal stores",
            Self::PartialLines => "partial lines",
            Self::Clashes => "clashes of cache sets",
        }
    }
}

impl Work {
    /// The distinct cache lines of destination and source, on average over all alignments.
    pub(crate) fn cache_lines(&self) -> [f64; 2] {
        let path = Traversal::of(self, LANE_BYTES).path;
        if let Inner::Nothing = self.inner {
            return [0.0; 2];
        }
        let [to, from] = [0, 1].map(|operand| lines(&path, operand, self.unit));
        let all = |repeats: Repeats| {
            let strides = [self.unit as isize, 0];
            lines(&[Loop { len: repeats.units(), strides }], 0, self.unit)
        };
        [self.repeats.map_or(to, all), from]
    }

    /// How the innermost loops are cut.
    pub(crate) fn blocks_text(&self) -> String {
        match self.inner {
            Inner::Nothing
            | Inner::Run { .. }
            | Inner::Fill { .. }
            | Inner::Gather { .. }
            | Inner::Scatter { .. } => "none, row by row".to_owned(),
            Inner::Tile { u, v, block } if block >= u.len.max(v.len) => {
                "none, register tiles sweep along whole rows".to_owned()
            }
            Inner::Tile { block, .. } => format!("{block} x {block} units, of register tiles"),
            Inner::Streamed(plan) => {
                let block = plan.block;
                let (rows, columns) = (block.v * block.v2, block.u * block.u2);
                if plan.runs != Runs::UNITS {
                    return format!("{rows} x {columns} runs of {} units", plan.runs.len);
                }
                format!("{rows} x {columns} units, of register tiles")
            }
            Inner::PackedSource { elements } => {
                format!("tiles of up to {elements} units, packed without the gaps of the source")
            }
            Inner::Grouped(groups) => {
                let [columns, rows] = groups.extent(&self.outer);
                match groups.step {
                    GroupedStep::Runs { len } => format!("{rows} x {columns} runs of {len} units"),
                    _ => format!("{rows} x {columns} units"),
                }
            }
            Inner::Shuffled(plan) => {
                let units = plan.block.iterations_in_block(plan.split(&self.outer).1);
                let bytes = match plan.by {
                    ShuffledBy::Lanes => LANE_BYTES,
                    ShuffledBy::Registers => CACHE_LINE,
                };
                format!("{units} adjacent units, assembled by shuffles of {bytes} bytes")
            }
            Inner::Blocked2d { outer, inner, run, block } => {
                let (rows, columns) = (block.min(outer.len), block.min(inner.len));
                format!("{rows} x {columns} runs of {run} units")
            }
        }
    }

    /// The kind of stores.
    pub(crate) fn stores_text(&self) -> &'static str {
        match self.stores {
            Stores::Plain => "plain, through the caches",
            Stores::Narrow => "plain, through the caches, 16 bytes each",
            Stores::NonTemporal => "non-temporal, past the caches",
        }
    }
}
