//! What an elementwise operation will do: how each operand becomes rows of adjacent elements.
//!
//! The arithmetic only ever sees adjacent elements, or one element that stands for all. An operand
//! that lies otherwise is packed block by block into scratch memory that stays in the first-level
//! cache: by the same transposing kernels that copies use if it is adjacent along some other loop,
//! else by gathering elements. So a transposed operand costs one more pass in cache, and not a
//! cache line for every element.
//!
//! A row is a loop of its own, which takes a few nanoseconds to start and to end. Short rows cost
//! little else, so many of them become one: an operand whose rows do not follow each other is
//! packed in scratch, a row that repeats is stored as often as a block has rows, and one element a
//! row is repeated along it. Operands without gaps stay where they are. Nanoseconds for a row of
//! floats of each operation, row by row and packed:
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

use super::{
    block::{Access, Block, Extent},
    fmt_loops,
};
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::{Loop, Loops, with_nest},
};

/// The bytes of scratch for one operand; four of them fill half of a usual first-level cache.
const SCRATCH_BYTES: usize = 16 << 10;

/// An elementwise operation, or a piece of one. Operand 0 is written, the others are read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementwiseWork<const N: usize> {
    /// Where operands start, in elements from where their pointers point.
    pub(crate) starts: [isize; N],
    /// The loops around a block's, outermost first.
    pub(crate) outer: Loops<N>,
    /// The loop over the rows of a block.
    pub(crate) rows: Loop<N>,
    /// The loop over the elements of a row.
    pub(crate) columns: Loop<N>,
    /// The bytes of an element of each operand.
    pub(crate) widths: [usize; N],
    /// What is done at a time, and how each operand is reached.
    pub(crate) block: Block<N>,
    /// Is the result larger than caches?
    pub(crate) large: bool,
    /// Write it past them? Then it is computed into scratch first. Measured on 4096 by 4096 floats:
    /// where an operand is transposed 20 ms instead of 33, but 25 instead of 19 where all are
    /// contiguous, and 32 instead of 29 where one is gathered.
    pub(crate) stream: bool,
    /// The name of the path.
    pub(crate) path: &'static str,
}

impl<const N: usize> ElementwiseWork<N> {
    /// The plan for operands of one shape.
    #[inline(always)]
    pub(crate) fn plan(layouts: [&Layout; N], widths: [usize; N], machine: &Machine) -> Self {
        const { assert!(N > 0, "an operation has a result") };
        with_nest(layouts, |builder| {
            Self::of_loops(builder.starts, builder.loops(), widths, machine)
        })
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
        let (columns, around) = match loops.split_last() {
            Some((&columns, around))
                if widths.iter().all(|&width| width <= MAX_PACKED_ELEMENT_BYTES) =>
            {
                (columns, around)
            }
            _ => (one, loops),
        };
        let side = rows_loop(around, &columns);
        let rows = side.map_or(Loop::ONCE, |at| around[at]);
        let mut outer = Loops::new();
        outer.extend((0..around.len()).filter(|&at| side != Some(at)).map(|at| around[at]));
        let access = accesses(&rows, &columns, widths);
        let shape = Shape { outer: &outer, rows, columns, widths, access };
        let large = shape.result_bytes() >= machine.stream;
        let stream = large && access.contains(&Access::Transposed) && shape.writes_lines();
        let path = path(&access, around.is_empty());
        let block = shape.block(large, stream, machine);
        Self { starts, outer, rows, columns, widths, block, large, stream, path }
    }

    /// The same in blocks whose scratch has at most so many bytes.
    pub(crate) fn within_scratch(&self, bytes: usize) -> Self {
        let shape = Shape {
            outer: &self.outer,
            rows: self.rows,
            columns: self.columns,
            widths: self.widths,
            access: self.block.access(),
        };
        let (mut block, mut extent) = (self.block, self.block.extent());
        while block.scratch_bytes() > bytes && (extent.rows > 1 || extent.columns > CACHE_LINE) {
            match extent.rows {
                1 => extent.columns = (extent.columns / 2).next_multiple_of(CACHE_LINE),
                rows => extent.rows = rows.div_ceil(2),
            }
            block = shape.block_of(extent, self.stream);
        }
        Self { block, ..self.clone() }
    }
}

/// What a block is made for.
struct Shape<'a, const N: usize> {
    outer: &'a Loops<N>,
    rows: Loop<N>,
    columns: Loop<N>,
    widths: [usize; N],
    access: [Access; N],
}

impl<const N: usize> Shape<'_, N> {
    /// Do all rows of the result start at the same place in a cache line, and have some lines?
    fn writes_lines(&self) -> bool {
        let width = self.widths[0];
        let whole = |l: &Loop<N>| {
            l.len == 1 || l.strides[0].unsigned_abs().wrapping_mul(width).is_multiple_of(CACHE_LINE)
        };
        self.access[0] == Access::UnitStride
            && CACHE_LINE.is_multiple_of(width.max(1))
            && self.columns.len.saturating_mul(width) >= MIN_STREAMED_ROW_LINES * CACHE_LINE
            && whole(&self.rows)
            && self.outer.iter().all(whole)
    }

    /// Rows and columns that are done at a time.
    fn block(&self, large: bool, stream: bool, machine: &Machine) -> Block<N> {
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        let joined = self.access.iter().any(|access| access.joins_rows());
        let transposed = self.access.contains(&Access::Transposed);
        // Few rows have room for longer ones.
        let shared = 2 * SCRATCH_BYTES / self.rows.len.max(1);
        let (row_bytes, block_bytes) = match (transposed, large) {
            _ if joined => return self.block_of(self.joined_rows(widest), stream),
            (true, true) => {
                (LARGE_TRANSPOSED_ROW_BYTES.max(shared), (machine.l2 / 8).max(SCRATCH_BYTES))
            }
            (true, false) => ((TRANSPOSED_ROW_ELEMENTS * widest).max(shared), 2 * SCRATCH_BYTES),
            _ if self.access.iter().any(|access| !access.is_direct()) => {
                (SCRATCH_BYTES / 4, SCRATCH_BYTES / 2)
            }
            _ => return self.block_of(self.everything(), stream),
        };
        let mut columns = self.columns.len.min(row_bytes / widest).max(1);
        if stream {
            columns = columns.next_multiple_of(self.line());
        }
        let rows = self.rows.len.min(block_bytes / widest / columns).max(1);
        self.block_of(Extent { rows, columns }, stream)
    }

    /// All rows and columns at once: nothing goes through scratch.
    fn everything(&self) -> Extent {
        Extent { rows: self.rows.len.max(1), columns: self.columns.len.max(1) }
    }

    /// The elements of the result in a cache line. The columns of a block of a streamed result are
    /// a multiple of it: so no line is written in two parts, and the columns in front of a row's
    /// first whole line fit into a block.
    fn line(&self) -> usize {
        (CACHE_LINE / self.widths[0].max(1)).max(1)
    }

    fn block_of(&self, extent: Extent, stream: bool) -> Block<N> {
        let scratch_rows = std::array::from_fn(|k| match self.access[k].is_direct() {
            _ if k == 0 && stream => Some(self.rows_at_once(extent)),
            true => None,
            false => Some(extent.rows),
        });
        Block::new(extent, self.access, self.widths, scratch_rows)
    }

    /// The rows of a streamed result that are computed before they leave scratch.
    fn rows_at_once(&self, extent: Extent) -> usize {
        (SCRATCH_BYTES / 2 / (extent.columns * self.widths[0]).max(1)).max(1)
    }

    /// As many short rows as have room, or all there are.
    fn joined_rows(&self, widest: usize) -> Extent {
        let (Loop { len, .. }, columns) = (self.rows, self.columns.len.max(1));
        let row = widest * columns;
        let block_bytes = match self.access.iter().filter(|access| !access.is_direct()).count() {
            1 => SCRATCH_BYTES / 2,
            2 => SCRATCH_BYTES / 4,
            _ => SCRATCH_BYTES / 8,
        };
        // A division takes as long as a hundred additions.
        let rows = if len.saturating_mul(row) <= block_bytes { len } else { block_bytes / row };
        Extent { rows: rows.max(1), columns }
    }

    /// Saturating: there may be no memory for them.
    fn result_bytes(&self) -> usize {
        let loops = self.outer.iter().chain([&self.rows, &self.columns]);
        loops.fold(self.widths[0], |bytes, l| bytes.saturating_mul(l.len))
    }
}

/// Wider elements, which may also be more aligned than scratch is, are computed one by one where
/// they are.
const MAX_PACKED_ELEMENT_BYTES: usize = 64;

/// A transposed block has so many elements a row in cache, and as many rows as a line of the source
/// has elements. Measured on 512 by 512 floats: 139 µs for a unary operation where blocks of 64 by
/// 64 take 209, and contiguous operands 85.
const TRANSPOSED_ROW_ELEMENTS: usize = 512;

/// Out of cache it has so many bytes a row, and takes an eighth of the second-level cache, so that
/// what is read comes in long runs on both sides. Measured on 4096 by 4096 floats, one operand of
/// two transposed: 33 ms; rows twice as long, in twice the room, 42; half as long 57.
const LARGE_TRANSPOSED_ROW_BYTES: usize = 256;

/// A row of the result is streamed from this many lines on.
const MIN_STREAMED_ROW_LINES: usize = 4;

/// The loop along which an operand is adjacent that is not along the columns; else the innermost
/// one left.
fn rows_loop<const N: usize>(outer: &[Loop<N>], columns: &Loop<N>) -> Option<usize> {
    let other = |k: &usize| !matches!(columns.strides[*k], 0 | 1);
    let adjacent = |k: usize| outer.iter().position(|l| l.strides[k] == 1);
    (0..N).filter(other).find_map(adjacent).or(outer.len().checked_sub(1))
}

fn access(along_columns: isize, along_rows: isize) -> Access {
    match (along_columns, along_rows) {
        (1, _) => Access::UnitStride,
        (0, _) => Access::Scalar,
        (_, 1) => Access::Transposed,
        _ => Access::Gather,
    }
}

/// Rows of at most so many bytes are short, and so are those of all operands together that are
/// moved through scratch, which rows that repeat are not. Where three operands of 8 floats lie in
/// wider rows, 2.7 ns a row became 4.9.
const SHORT_ROW_BYTES: usize = 64;

/// So many short rows are worth the way through scratch. Measured on rows of 3 floats, minus one
/// row for all: 32 rows take 0.6 µs on either way, 64 take 0.8 row by row and 0.6 packed.
const MIN_JOINED_ROWS: usize = 64;

/// How each operand is reached.
#[inline(always)]
fn accesses<const N: usize>(rows: &Loop<N>, columns: &Loop<N>, widths: [usize; N]) -> [Access; N] {
    if rows.len >= MIN_JOINED_ROWS && columns.len <= SHORT_ROW_BYTES {
        let short = std::array::from_fn(|k| access_to_short(k, rows, columns));
        if are_worth_joining(&short, columns.len, widths) {
            return short;
        }
    }
    std::array::from_fn(|k| access(columns.strides[k], rows.strides[k]))
}

/// Is no row worth a loop of its own, and little to be moved?
fn are_worth_joining<const N: usize>(
    access: &[Access; N],
    columns: usize,
    widths: [usize; N],
) -> bool {
    let has_kernels = |width| matches!(width, 1 | 2 | 4 | 8 | 16);
    let moved = |k: &usize| matches!(access[*k], Access::ShortRows | Access::SplatPerRow);
    widths.into_iter().all(|width| has_kernels(width) && columns * width <= SHORT_ROW_BYTES)
        && (0..N).filter(moved).map(|k| columns * widths[k]).sum::<usize>() <= SHORT_ROW_BYTES
}

/// How an operand is reached where rows are short.
fn access_to_short<const N: usize>(k: usize, rows: &Loop<N>, columns: &Loop<N>) -> Access {
    match (columns.strides[k], rows.strides[k]) {
        (1, row) if row == columns.len as isize => Access::UnitStride,
        (1, 0) => Access::BroadcastRow,
        (1, _) => Access::ShortRows,
        (0, 0) => Access::Scalar,
        (0, _) => Access::SplatPerRow,
        (along_columns, along_rows) => access(along_columns, along_rows),
    }
}

fn path<const N: usize>(access: &[Access; N], one_row: bool) -> &'static str {
    let any = |kind| access.contains(&kind);
    let joined = access.iter().any(|access| access.joins_rows());
    match (any(Access::Transposed), any(Access::Gather), joined, one_row) {
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
        fmt_loops(f, &[self.rows, self.columns])?;
        write!(f, "operands {:?}", self.block.access())
    }
}
