//! Plans: what an operation will do, decided before any element is read or written.
//!
//! A plan is made from layouts, the widths of elements and a [`Machine`](crate::exec::Machine). It
//! is plain data without pointers, threads or CPU features; it can be compared, hashed and printed.

mod area;
#[cfg(feature = "elementwise")]
mod block;
mod copy;
#[cfg(feature = "elementwise")]
mod elementwise;
mod group;
#[cfg(feature = "in-place")]
pub(crate) mod in_place;
#[cfg(feature = "in-place")]
mod in_place_blocks;
#[cfg(feature = "elementwise")]
mod reduce;
#[cfg(feature = "elementwise")]
mod reduce_choice;
#[cfg(feature = "elementwise")]
mod reduce_copied;
#[cfg(feature = "elementwise")]
mod reduce_cost;
#[cfg(feature = "reductions")]
mod reduce_explain;
#[cfg(feature = "elementwise")]
mod reduce_listed;
#[cfg(feature = "elementwise")]
mod reduce_loops;
#[cfg(feature = "elementwise")]
mod reduce_second_stage;
#[cfg(feature = "elementwise")]
mod reduce_two_stage;
mod tile;

#[cfg(feature = "elementwise")]
pub(crate) use block::{Access, Area, Extent};
pub use copy::CostTerm;
pub(crate) use copy::{
    Along, Comparison, Grouped, GroupedStep, Inner, Lines, Listing, PlannedCopy, Runs, Shuffled,
    ShuffledBy, Side, StreamScratch, Streamed, WIDEST_VECTOR, Work, picks, rows_inside, shuffles,
    source_order, source_tile,
};
#[cfg(feature = "elementwise")]
pub(crate) use elementwise::{ElementwiseWork, EqualResults, Tile, machine_for};
pub(crate) use group::{Group, split};
#[cfg(feature = "elementwise")]
pub(crate) use reduce::{INDEX, INPUT, RESULT, ReduceWork, halvings, is_reduced};
#[cfg(feature = "elementwise")]
pub(crate) use reduce_choice::PlannedReduce;
#[cfg(feature = "elementwise")]
pub(crate) use reduce_copied::{CopiedReduce, PlacedPart};
#[cfg(feature = "elementwise")]
pub(crate) use reduce_listed::ListedReduce;
#[cfg(feature = "elementwise")]
pub(crate) use reduce_second_stage::{
    OF_PARTIAL, OF_RESULT, RestOfRow, SecondStage, columns_of, reduces,
};
#[cfg(feature = "elementwise")]
pub(crate) use reduce_two_stage::TwoStagePiece;
pub(crate) use tile::Counts;

use std::fmt;

use crate::nest::Loop;

/// Writes loops as `32 x [301056, 301056], `: the length, and the stride of each operand, the
/// destination's first.
fn fmt_loops<const N: usize>(f: &mut fmt::Formatter<'_>, loops: &[Loop<N>]) -> fmt::Result {
    loops.iter().try_for_each(|l| write!(f, "{} x {:?}, ", l.len, l.strides))
}
