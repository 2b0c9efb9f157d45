//! Plans: what an operation will do, decided before any element is read or written.
//!
//! A plan is made from layouts, the widths of elements and a [`Machine`](crate::exec::Machine). It
//! is plain data without pointers, threads or CPU features; it can be compared, hashed and printed.

mod block;
mod copy;
mod elementwise;
mod group;
pub(crate) mod in_place;
mod in_place_blocks;
mod reduce;
mod reduce_copied;

pub(crate) use block::{Access, Area, Extent};
pub use copy::CostTerm;
pub(crate) use copy::{
    Comparison, Grouped, GroupedStep, Inner, Lines, Listing, PlannedCopy, Side, StreamScratch,
    Streamed, Work, rows_inside,
};
pub(crate) use elementwise::{ElementwiseWork, Tile};
pub(crate) use group::{Group, split};
pub(crate) use reduce::{INDEX, INPUT, RESULT, ReduceWork, is_reduced};
pub(crate) use reduce_copied::{CopiedPart, CopiedReduce};

use std::fmt;

use crate::nest::Loop;

/// Writes loops as `32 x [301056, 301056], `: the length, and the stride of each operand, the
/// destination's first.
fn fmt_loops<const N: usize>(f: &mut fmt::Formatter<'_>, loops: &[Loop<N>]) -> fmt::Result {
    loops.iter().try_for_each(|l| write!(f, "{} x {:?}, ", l.len, l.strides))
}
