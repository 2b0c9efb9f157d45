//! What an elementwise operation will do: how each operand reaches contiguous lanes.
//!
//! The arithmetic itself only ever sees adjacent elements, or one element that stands for all. An operand that lies otherwise is brought in block
//! by block through a scratch area that stays in the first-level cache: by the same transposing kernels that copies use, if it is adjacent along
//! some other loop, else by picking elements. Then a transposed operand costs a cached pass more, and not a cache line for every element.

use std::fmt;

use super::fmt_loops;
use crate::{
    Loop,
    drive::Divide,
    nest::{Loops, Nest},
};

/// The bytes of scratch for one operand; four of them fill half of a usual first-level cache.
pub(crate) const SCRATCH: usize = 16 << 10;

/// An elementwise operation, or a piece of one. Operand 0 is written, the others are read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementwiseWork<const N: usize> {
    /// Where operands start, in elements from where their pointers point.
    pub(crate) starts: [isize; N],
    /// Outermost first.
    pub(crate) outer: Loops<N>,
    /// The rows of a block.
    pub(crate) rows: Loop<N>,
    /// The elements of a row.
    pub(crate) lanes: Loop<N>,
    /// How each operand's rows are reached.
    pub(crate) access: [Access; N],
    /// The bytes of an element of each operand.
    pub(crate) widths: [usize; N],
    /// The name of the road.
    pub(crate) path: &'static str,
}

/// How the elements of a row are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// They are adjacent.
    Lanes,
    /// It is one element for all.
    Same,
    /// They are adjacent from row to row: a block is transposed.
    Tile,
    /// They are `stride` apart.
    Pick,
}

impl<const N: usize> ElementwiseWork<N> {
    pub(crate) fn plan(nest: Nest<N>, widths: [usize; N]) -> Self {
        let Nest { mut loops, starts } = nest;
        let one = Loop { len: 1, strides: [1; N] };
        let fits = widths.iter().all(|&width| width <= WIDEST);
        let lanes = if fits { loops.pop().unwrap_or(one) } else { one };
        let rows = match rows_loop(&loops, &lanes) {
            Some(at) => loops.remove(at),
            None => Loop::ONCE,
        };
        let access = std::array::from_fn(|k| access(lanes.strides[k], rows.strides[k]));
        let path = path(&access, loops.is_empty() && rows.len == 1);
        Self { starts, outer: loops, rows, lanes, access, widths, path }
    }

    /// Rows and elements a row of a block: everything at once if no operand needs scratch.
    pub(crate) fn block(&self) -> (usize, usize) {
        if !self.uses_scratch() {
            return (self.rows.len, self.lanes.len);
        }
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        let elements = SCRATCH / widest;
        let lanes = self.lanes.len.min(LANES_PER_BLOCK.min(elements));
        (self.rows.len.min((elements / lanes).max(1)), lanes)
    }

    pub(crate) fn uses_scratch(&self) -> bool {
        self.access.iter().any(|access| matches!(access, Access::Tile | Access::Pick))
    }
}

/// Wider elements, which may also be more aligned than scratch is, are computed one by one where they are.
const WIDEST: usize = 64;

/// A block's rows are this long: as many lines of the source are open at a time.
const LANES_PER_BLOCK: usize = 64;

/// The loop along which an operand is adjacent that is not along the lanes; else the innermost one left.
fn rows_loop<const N: usize>(outer: &Loops<N>, lanes: &Loop<N>) -> Option<usize> {
    let turned = |k: &usize| !matches!(lanes.strides[*k], 0 | 1);
    let adjacent = |k: usize| outer.iter().position(|l| l.strides[k] == 1);
    (0..N).filter(turned).find_map(adjacent).or(outer.len().checked_sub(1))
}

fn access(along_lanes: isize, along_rows: isize) -> Access {
    match (along_lanes, along_rows) {
        (1, _) => Access::Lanes,
        (0, _) => Access::Same,
        (_, 1) => Access::Tile,
        _ => Access::Pick,
    }
}

fn path<const N: usize>(access: &[Access; N], one_row: bool) -> &'static str {
    let any = |kind| access.contains(&kind);
    match (any(Access::Tile), any(Access::Pick), one_row) {
        (true, false, _) => "tiled_lanes",
        (true, true, _) => "tiled_and_picked_lanes",
        (false, true, _) => "picked_lanes",
        (false, false, true) => "lanes",
        (false, false, false) => "rows_of_lanes",
    }
}

impl<const N: usize> Divide for ElementwiseWork<N> {
    fn halves(&self) -> Option<(Self, Self)> {
        if let Some(at) = self.outer.iter().position(|l| l.len > 1) {
            return self.cut(self.outer[at].len / 2, |work| &mut work.outer[at]);
        }
        let (rows, lanes) = self.block();
        let rows = if self.uses_scratch() { rows.min(ALIGN) } else { 1 };
        let middle = |len: usize, block: usize| (len / 2).next_multiple_of(block.max(1));
        self.cut(middle(self.rows.len, rows), |work| &mut work.rows)
            .or_else(|| self.cut(middle(self.lanes.len, lanes.min(ALIGN)), |work| &mut work.lanes))
    }

    fn bytes(&self) -> usize {
        let turns: usize = self.outer.iter().map(|l| l.len).product();
        turns * self.rows.len * self.lanes.len * self.widths.iter().sum::<usize>()
    }
}

/// Lanes are cut at multiples of a line of the smallest elements.
const ALIGN: usize = 64;

impl<const N: usize> ElementwiseWork<N> {
    /// The two parts before and after turn `at` of one loop.
    fn cut(&self, at: usize, part: impl Fn(&mut Self) -> &mut Loop<N>) -> Option<(Self, Self)> {
        let (mut first, mut second) = (self.clone(), self.clone());
        let Loop { len, strides } = *part(&mut second);
        if at == 0 || at >= len {
            return None;
        }
        part(&mut first).len = at;
        part(&mut second).len = len - at;
        for (start, stride) in second.starts.iter_mut().zip(strides) {
            *start += stride * at as isize;
        }
        Some((first, second))
    }
}

impl<const N: usize> fmt::Display for ElementwiseWork<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        fmt_loops(f, &self.outer)?;
        fmt_loops(f, &[self.rows, self.lanes])?;
        write!(f, "operands {:?}", self.access)
    }
}
