//! What work will do, decided before an element moves: plain data without pointers, threads or a
//! CPU.
//!
//! A plan is made from layouts, the widths of elements and a [`Machine`](crate::exec::Machine). It
//! can be compared, hashed and printed.

mod block;
mod copy;
mod elementwise;
mod reduce;

pub(crate) use block::{Access, Area, Extent};
pub(crate) use copy::{Inner, Lines, PlannedCopy, Side, StreamScratch, Streamed, Work};
pub(crate) use elementwise::ElementwiseWork;
pub(crate) use reduce::{INDEX, INPUT, RESULT, ReduceWork, is_reduced};

use std::fmt;

use crate::nest::Loop;

/// `32 x [301056, 301056], `: a length and the strides of each operand, the one that is written
/// first.
fn fmt_loops<const N: usize>(f: &mut fmt::Formatter<'_>, loops: &[Loop<N>]) -> fmt::Result {
    loops.iter().try_for_each(|l| write!(f, "{} x {:?}, ", l.len, l.strides))
}
