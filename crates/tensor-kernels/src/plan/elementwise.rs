//! What an elementwise operation will do: how each operand reaches contiguous lanes.
//!
//! The arithmetic itself only ever sees adjacent elements, or one element that stands for all. An operand that lies otherwise is brought in block
//! by block through a scratch area that stays in the first-level cache: by the same transposing kernels that copies use, if it is adjacent along
//! some other loop, else by picking elements. Then a transposed operand costs a cached pass more, and not a cache line for every element.
//!
//! A row is a loop of its own, which takes a few nanoseconds to begin and to end. Where rows are short that is all there is to them, so many of them
//! become one: an operand whose rows do not follow each other is packed in scratch, a row that repeats is there as often as a block has rows, and one
//! element for a row is spread over it. Operands without gaps stay where they are. Nanoseconds for a row of so many floats of each operation, row by row and
//! packed:
//!
//! | floats | of wider rows | the same, and dense | one row for all | one element a row | into wider rows | in place, one row for all |
//! | ---    | ---           | ---                 | ---             | ---               | ---             | ---                       |
//! | 3      | 7.1, 1.3      | 5.5, 1.4            | 5.6, 0.5        | 3.9, 1.4          | 5.5, 1.4        | 11.4, 0.6                 |
//! | 6      | 8.2, 1.9      | 7.8, 2.1            | 7.9, 1.0        | 7.9, 1.9          | 7.8, 2.0        | 13.7, 1.2                 |
//! | 8      | 6.0, 2.0      | 2.7, 2.3            | 2.8, 1.2        | 3.1, 2.0          | 2.7, 2.0        | 8.3, 1.4                  |
//! | 12     | 8.2, 3.0      | 6.6, 3.4            | 6.7, 1.9        | 6.1, 3.0          | 6.6, 3.2        | 14.2, 2.2                 |
//! | 16     | 6.5, 3.2      | 3.5, 3.5            | 3.6, 2.4        | 3.9, 3.3          | 3.5, 3.0        | 9.2, 2.8                  |
//! | 32     | 8.4, 5.5      | 5.4, 6.3            | 5.4, 4.7        | 5.6, 5.8          | 5.0, 5.5        | 11.7, 5.9                 |

use std::fmt;

use tensor_core::Layout;

use super::fmt_loops;
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::{Loop, Loops, with_draft},
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
    /// What is done at a time.
    pub(crate) block: Block,
    /// Is the result larger than caches?
    pub(crate) large: bool,
    /// Write it past them? Then it is computed into scratch first. Measured on 4096 by 4096 floats: where an operand is transposed 20 ms instead of 33,
    /// but 25 instead of 19 where all are contiguous, and 32 instead of 29 where one is picked.
    pub(crate) stream: bool,
    /// The name of the road.
    pub(crate) path: &'static str,
}

/// Rows, and elements a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) rows: usize,
    pub(crate) lanes: usize,
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
    /// They are adjacent, but few, and the next row's lie elsewhere: many rows become one.
    Packed,
    /// They are few, and every row has the same: they are repeated until they are many.
    Repeated,
    /// It is one element for a short row, and another for the next: each is spread over its row.
    Spread,
}

impl Access {
    /// Is an operand computed where it is?
    pub(crate) fn is_direct(self) -> bool {
        match self {
            Self::Lanes | Self::Same => true,
            Self::Tile | Self::Pick | Self::Packed | Self::Repeated | Self::Spread => false,
        }
    }

    /// Are short rows made one?
    fn is_joined(self) -> bool {
        matches!(self, Self::Packed | Self::Repeated | Self::Spread)
    }
}

impl<const N: usize> ElementwiseWork<N> {
    /// The plan for operands of one shape.
    #[inline(always)]
    pub(crate) fn plan(layouts: [&Layout; N], widths: [usize; N], machine: &Machine) -> Self {
        with_draft(layouts, |draft| Self::of_loops(draft.starts, draft.loops(), widths, machine))
    }

    /// The plan for loops in normal form.
    #[inline(always)]
    fn of_loops(
        starts: [isize; N],
        loops: &[Loop<N>],
        widths: [usize; N],
        machine: &Machine,
    ) -> Self {
        let one = Loop { len: 1, strides: [1; N] };
        let (lanes, around) = match loops.split_last() {
            Some((&lanes, around)) if widths.iter().all(|&width| width <= WIDEST) => {
                (lanes, around)
            }
            _ => (one, loops),
        };
        let side = rows_loop(around, &lanes);
        let rows = side.map_or(Loop::ONCE, |at| around[at]);
        let access = accesses(&rows, &lanes, widths);
        let path = path(&access, around.is_empty());
        let block = Block { rows: rows.len, lanes: lanes.len };
        let mut work = Self {
            starts,
            outer: Loops::new(),
            rows,
            lanes,
            access,
            widths,
            block,
            large: false,
            stream: false,
            path,
        };
        for (at, &l) in around.iter().enumerate() {
            if side != Some(at) {
                work.outer.push(l);
            }
        }
        work.large = work.result_bytes() >= machine.stream;
        work.stream = work.large && work.has_tile() && work.writes_lines();
        work.block = work.blocks(machine);
        work
    }

    /// Do all rows of the result start at the same place in a line, and have some lines?
    fn writes_lines(&self) -> bool {
        let width = self.widths[0];
        let whole = |l: &Loop<N>| {
            l.len == 1 || l.strides[0].unsigned_abs().wrapping_mul(width).is_multiple_of(CACHE_LINE)
        };
        self.access[0] == Access::Lanes
            && CACHE_LINE.is_multiple_of(width.max(1))
            && self.lanes.len.saturating_mul(width) >= STREAMED_LINES * CACHE_LINE
            && whole(&self.rows)
            && self.outer.iter().all(whole)
    }

    /// Rows, and elements a row, that are done at a time.
    fn blocks(&self, machine: &Machine) -> Block {
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        if self.joins_rows() {
            return self.joined_rows(widest);
        }
        // Few rows have room for longer ones.
        let shared = 2 * SCRATCH / self.rows.len.max(1);
        let (run, room) = match (self.has_tile(), self.large) {
            (true, true) => (LONG_RUN.max(shared), (machine.l2 / 8).max(SCRATCH)),
            (true, false) => ((SHORT_RUN * widest).max(shared), 2 * SCRATCH),
            _ if self.uses_scratch() => (SCRATCH / 4, SCRATCH / 2),
            _ => return Block { rows: self.rows.len, lanes: self.lanes.len },
        };
        let lanes = self.whole_lines(self.lanes.len.min(run / widest).max(1));
        let rows = self.rows.len.min(room / widest / lanes).max(1);
        Block { rows, lanes }
    }

    /// The columns of a block of a streamed result are a multiple of a cache line of the result: so no line is written in
    /// two parts, and the columns in front of a row's first whole line, fewer than a line, fit into a block.
    fn whole_lines(&self, columns: usize) -> usize {
        if !self.stream {
            return columns;
        }
        columns.next_multiple_of((CACHE_LINE / self.widths[0].max(1)).max(1))
    }

    /// As many short rows as have room, or all there are.
    fn joined_rows(&self, widest: usize) -> Block {
        let (Loop { len, .. }, lanes) = (self.rows, self.lanes.len);
        let row = widest * lanes;
        let room = match self.access.iter().filter(|access| !access.is_direct()).count() {
            1 => SCRATCH / 2,
            2 => SCRATCH / 4,
            _ => SCRATCH / 8,
        };
        // To divide takes as long as a hundred additions.
        let rows = if len.saturating_mul(row) <= room { len } else { room / row };
        Block { rows, lanes }
    }

    /// There may be no memory for them.
    fn result_bytes(&self) -> usize {
        let loops = self.outer.iter().chain([&self.rows, &self.lanes]);
        loops.fold(self.widths[0], |bytes, l| bytes.saturating_mul(l.len))
    }

    /// Rows of a block that are computed at once: all, or what scratch holds of a result that is streamed.
    pub(crate) fn rows_at_once(&self) -> usize {
        let row = (self.block.lanes * self.widths[0]).max(1);
        if self.stream { (SCRATCH / 2 / row).max(1) } else { self.block.rows }
    }

    /// The same in blocks whose scratch needs no allocation.
    pub(crate) fn in_small_blocks(&self) -> Self {
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        let lanes = self.whole_lines(self.block.lanes.min(SCRATCH / 4 / widest).max(1));
        let rows = self.block.rows.min(SCRATCH / 2 / widest / lanes).max(1);
        let mut work = self.clone();
        work.block = Block { rows, lanes };
        work
    }

    fn has_tile(&self) -> bool {
        self.access.contains(&Access::Tile)
    }

    pub(crate) fn uses_scratch(&self) -> bool {
        self.access.iter().any(|access| !access.is_direct())
    }

    pub(crate) fn joins_rows(&self) -> bool {
        self.access.iter().any(|access| access.is_joined())
    }
}

/// Wider elements, which may also be more aligned than scratch is, are computed one by one where they are.
const WIDEST: usize = 64;

/// A transposed block has so many elements a row in cache, and as many rows as a line of the source has elements. Measured on 512 by 512 floats: 139 µs
/// for a unary operation where blocks of 64 by 64 take 209, and contiguous operands 85.
const SHORT_RUN: usize = 512;

/// Out of cache it has so many bytes a row, and takes an eighth of the second-level cache, so that what is read comes in long runs on both sides.
/// Measured on 4096 by 4096 floats, one operand of two transposed: 33 ms; rows twice as long, in twice the room, 42; half as long 57.
const LONG_RUN: usize = 256;

/// A row of the result is streamed from this many lines on.
const STREAMED_LINES: usize = 4;

/// The loop along which an operand is adjacent that is not along the lanes; else the innermost one left.
fn rows_loop<const N: usize>(outer: &[Loop<N>], lanes: &Loop<N>) -> Option<usize> {
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

/// Rows of at most so many bytes are short, and so are those of all operands together that are moved through scratch, which rows that repeat are not.
/// Where three operands of 8 floats lie in wider rows, 2.7 ns a row became 4.9.
const SHORT_ROW: usize = 64;

/// So many short rows are worth the way through scratch. Measured on rows of 3 floats, minus one row for all: 32 rows take 0.6 µs on either way, 64 take
/// 0.8 row by row and 0.6 packed.
const MANY_ROWS: usize = 64;

/// How each operand is reached.
#[inline(always)]
fn accesses<const N: usize>(rows: &Loop<N>, lanes: &Loop<N>, widths: [usize; N]) -> [Access; N] {
    if rows.len >= MANY_ROWS && lanes.len <= SHORT_ROW {
        let short = std::array::from_fn(|k| access_to_short(k, rows, lanes));
        if are_worth_joining(&short, lanes.len, widths) {
            return short;
        }
    }
    std::array::from_fn(|k| access(lanes.strides[k], rows.strides[k]))
}

/// Is no row worth a loop of its own, and little to be moved?
fn are_worth_joining<const N: usize>(
    access: &[Access; N],
    lanes: usize,
    widths: [usize; N],
) -> bool {
    let has_kernels = |width| matches!(width, 1 | 2 | 4 | 8 | 16);
    let moved = |k: &usize| matches!(access[*k], Access::Packed | Access::Spread);
    widths.into_iter().all(|width| has_kernels(width) && lanes * width <= SHORT_ROW)
        && (0..N).filter(moved).map(|k| lanes * widths[k]).sum::<usize>() <= SHORT_ROW
}

/// How an operand is reached where rows are short.
fn access_to_short<const N: usize>(k: usize, rows: &Loop<N>, lanes: &Loop<N>) -> Access {
    match (lanes.strides[k], rows.strides[k]) {
        (1, row) if row == lanes.len as isize => Access::Lanes,
        (1, 0) => Access::Repeated,
        (1, _) => Access::Packed,
        (0, 0) => Access::Same,
        (0, _) => Access::Spread,
        (along_lanes, along_rows) => access(along_lanes, along_rows),
    }
}

fn path<const N: usize>(access: &[Access; N], one_row: bool) -> &'static str {
    let any = |kind| access.contains(&kind);
    let joined = access.iter().any(|access| access.is_joined());
    match (any(Access::Tile), any(Access::Pick), joined, one_row) {
        (true, false, ..) => "tiled_lanes",
        (true, true, ..) => "tiled_and_picked_lanes",
        (false, true, ..) => "picked_lanes",
        (false, false, true, _) => "packed_lanes",
        (false, false, false, true) => "lanes",
        (false, false, false, false) => "rows_of_lanes",
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
