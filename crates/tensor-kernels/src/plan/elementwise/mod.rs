//! Plans elementwise operations: how each operand becomes rows of adjacent elements.
//!
//! The arithmetic works on rows of adjacent elements, or of one scalar. Any other operand is
//! packed, block by block, into scratch memory that stays in the first-level cache. An operand that
//! is adjacent along another loop is packed by the transpose kernels that copies use; any other by
//! gathering elements. So a transposed operand costs one more pass in cache, and not a cache line
//! per element.
//!
//! A row is a loop of its own, which takes a few nanoseconds to start and to end. For short rows
//! that dominates, and many of them are packed into one long row. An operand with gaps between
//! its rows is packed in scratch, a row that repeats is stored once per row of the block, and a
//! scalar per row is repeated along its row. Operands without gaps are used in place. The table
//! shows nanoseconds per row of floats: first row by row, then packed.
//!
//! - a: all inputs are rows of wider tensors
//! - b: the same, and another input is dense
//! - c: one input is the same row for all
//! - d: one input is a scalar per row
//! - e: the result is rows of a wider tensor
//! - f: in place, and one input is the same row for all
//!
//! | floats a row | a | b | c | d | e | f |
//! |---|---|---|---|---|---|---|
//! | 3 | 7.1, 1.3 | 5.5, 1.4 | 5.6, 0.5 | 3.9, 1.4 | 5.5, 1.4 | 11.4, 0.6 |
//! | 6 | 8.2, 1.9 | 7.8, 2.1 | 7.9, 1.0 | 7.9, 1.9 | 7.8, 2.0 | 13.7, 1.2 |
//! | 8 | 6.0, 2.0 | 2.7, 2.3 | 2.8, 1.2 | 3.1, 2.0 | 2.7, 2.0 | 8.3, 1.4 |
//! | 12 | 8.2, 3.0 | 6.6, 3.4 | 6.7, 1.9 | 6.1, 3.0 | 6.6, 3.2 | 14.2, 2.2 |
//! | 16 | 6.5, 3.2 | 3.5, 3.5 | 3.6, 2.4 | 3.9, 3.3 | 3.5, 3.0 | 9.2, 2.8 |
//! | 32 | 8.4, 5.5 | 5.4, 6.3 | 5.4, 4.7 | 5.6, 5.8 | 5.0, 5.5 | 11.7, 5.9 |

use std::{borrow::Cow, fmt};

use tensor_core::Layout;

mod copied_first;
mod explain;
mod tiled;

use super::{
    block::{Access, Block, Extent},
    fmt_loops,
};
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::{Loop, Loops, with_nest},
    tuning::{
        ELEMENTWISE_SCRATCH_BYTES, LARGE_TRANSPOSED_ROW_BYTES, LONG_DIRECT_ROW_BYTES,
        MANY_DIRECT_ROWS, MIN_PACKED_ROWS, MIN_STREAMED_ROW_LINES, NEAR_ROWS_BYTES,
        SHORT_ROW_BYTES, TRANSPOSED_ROW_ELEMENTS,
    },
};
pub(crate) use tiled::Tile;

/// An elementwise operation, or the part of one that a task runs. Operand 0 is written, the others
/// are read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementwiseWork<const N: usize> {
    /// The offset of the first element of each operand, in elements.
    pub(crate) starts: [isize; N],
    /// The loops around a block, outermost first.
    pub(crate) outer: Loops<N>,
    /// The loop over the rows of a block.
    pub(crate) rows: Loop<N>,
    /// The loop over the elements of a row.
    pub(crate) columns: Loop<N>,
    /// The bytes of an element of each operand.
    pub(crate) widths: [usize; N],
    /// The rows and columns processed at a time, and how each operand is accessed.
    pub(crate) block: Block<N>,
    /// The iterations of each outer loop in a tile, if the operation is computed tile by tile.
    /// `rows` and `columns` are then single iterations, and a block is a tile.
    pub(crate) tile: Option<Tile>,
    /// Is the result larger than the caches?
    pub(crate) large: bool,
    /// Is the result written by non-temporal stores? If so it is computed into scratch first. 4096
    /// by 4096 floats take 20 ms instead of 33 ms where an operand is transposed. They would take
    /// 25 ms instead of 19 ms where all are contiguous, and 32 ms instead of 29 ms where one is
    /// gathered.
    pub(crate) stream: bool,
    /// The name of the path, which users see.
    pub(crate) path: &'static str,
}

/// What is done for results that are equal because all inputs are broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EqualResults {
    /// Each is computed, by a function that may count its calls.
    Computed,
    /// One is computed, and copied to the places of the others.
    Copied,
}

/// The machine for which an operation on operands of these layouts is planned: it streams results
/// [from another size on](Machine::stream_of_operation) than a copy does.
#[inline]
pub(crate) fn machine_for<'m, const N: usize>(
    layouts: [&Layout; N],
    widths: [usize; N],
    machine: &'m Machine,
) -> Cow<'m, Machine> {
    let bytes = |k: usize| {
        let dims = layouts[k].shape().iter().zip(layouts[k].strides());
        let moving = dims.filter(|(_, stride)| **stride != 0).map(|(&len, _)| len);
        moving.fold(widths[k], usize::saturating_mul)
    };
    let all = (0..N).fold(0_usize, |all, k| all.saturating_add(bytes(k)));
    match machine.stream_of_operation(bytes(0), all) {
        stream if stream == machine.stream => Cow::Borrowed(machine),
        stream => Cow::Owned(Machine { stream, ..*machine }),
    }
}

impl<const N: usize> ElementwiseWork<N> {
    /// The plan for operands of one shape.
    #[inline(always)]
    pub(crate) fn plan(
        layouts: [&Layout; N],
        widths: [usize; N],
        equal: EqualResults,
        machine: &Machine,
    ) -> Self {
        const { assert!(N > 0, "an operation has a result") };
        with_nest(layouts, |builder| {
            let (starts, loops) = (builder.starts, builder.loops());
            tiled::plan(starts, loops, widths, equal, machine)
                .unwrap_or_else(|| Self::of_loops(starts, loops, widths, machine))
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
        let side = rows_loop(around, &columns, widths);
        let rows = side.map_or(Loop::ONCE, |at| around[at]);
        let mut outer = Loops::new();
        outer.extend((0..around.len()).filter(|&at| side != Some(at)).map(|at| around[at]));
        let access = accesses(&rows, &columns, widths);
        let shape = Shape { outer: &outer, rows, columns, widths, access };
        let large = shape.result_bytes() >= machine.stream;
        let stream = large && access.contains(&Access::Transposed) && shape.writes_lines();
        let path = path(&access, around.is_empty());
        let block = shape.block(large, stream, machine);
        Self { starts, outer, rows, columns, widths, block, tile: None, large, stream, path }
    }

    /// The same work, in blocks whose scratch has at most `bytes` bytes.
    pub(crate) fn within_scratch(&self, bytes: usize) -> Self {
        if let Some(tile) = &self.tile {
            return self.within_scratch_by_tiles(tile.clone(), bytes);
        }
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

impl<const N: usize> ElementwiseWork<N> {
    /// The same work, in tiles whose scratch has at most `bytes` bytes.
    fn within_scratch_by_tiles(&self, mut tile: Tile, bytes: usize) -> Self {
        let packed = std::array::from_fn(|k| self.block.area(k).is_some());
        let mut block = self.block;
        while block.scratch_bytes() > bytes {
            let longest = tile.counts.iter_mut().max().filter(|count| **count > 1);
            let Some(longest) = longest else { break };
            *longest = longest.div_ceil(2);
            block = tiled::block(&self.outer, &tile, packed, self.widths);
        }
        Self { block, tile: Some(tile), ..self.clone() }
    }
}

/// The loops and accesses for which a block is chosen.
struct Shape<'a, const N: usize> {
    outer: &'a Loops<N>,
    rows: Loop<N>,
    columns: Loop<N>,
    widths: [usize; N],
    access: [Access; N],
}

impl<const N: usize> Shape<'_, N> {
    /// Do all rows of the result start at the same offset in a cache line, and are they long enough
    /// to be streamed?
    fn writes_lines(&self) -> bool {
        let width = self.widths[0];
        self.access[0] == Access::UnitStride
            && CACHE_LINE.is_multiple_of(width.max(1))
            && self.columns.len.saturating_mul(width) >= MIN_STREAMED_ROW_LINES * CACHE_LINE
            && rows_start_alike(self.outer.iter().chain([&self.rows]), width)
    }

    /// The block for these loops.
    fn block(&self, large: bool, stream: bool, machine: &Machine) -> Block<N> {
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        let packs_rows = self.access.iter().any(|access| access.packs_rows());
        let transposed = self.access.contains(&Access::Transposed);
        // If there are few rows, they may be longer.
        let shared = 2 * ELEMENTWISE_SCRATCH_BYTES / self.rows.len.max(1);
        let (row_bytes, block_bytes) = match (transposed, large) {
            _ if packs_rows => return self.block_of(self.packed_extent(widest), stream),
            (true, true) => (
                LARGE_TRANSPOSED_ROW_BYTES.max(shared),
                (machine.l2 / 8).max(ELEMENTWISE_SCRATCH_BYTES),
            ),
            (true, false) => {
                ((TRANSPOSED_ROW_ELEMENTS * widest).max(shared), 2 * ELEMENTWISE_SCRATCH_BYTES)
            }
            _ if self.access.iter().any(|access| !access.is_direct()) => {
                (ELEMENTWISE_SCRATCH_BYTES / 4, ELEMENTWISE_SCRATCH_BYTES / 2)
            }
            _ => return self.block_of(self.everything(), stream),
        };
        let mut columns = self.columns.len.min(row_bytes / widest).max(1);
        if stream {
            columns = columns.next_multiple_of(self.line());
        }
        let rows = self.rows.len.min(block_bytes / widest / columns).max(1);
        let rows = if transposed { whole_source_lines(rows, self.rows.len, widest) } else { rows };
        self.block_of(Extent { rows, columns }, stream)
    }

    /// All rows and columns at once: nothing goes through scratch.
    fn everything(&self) -> Extent {
        Extent { rows: self.rows.len.max(1), columns: self.columns.len.max(1) }
    }

    /// The elements of the result in a cache line. A block of a streamed result has a multiple of
    /// it as columns. So no line is written in two parts, and the columns before a row's first
    /// whole line fit into a block.
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

    /// The rows of a streamed result that are computed before they are written from scratch to
    /// memory.
    fn rows_at_once(&self, extent: Extent) -> usize {
        (ELEMENTWISE_SCRATCH_BYTES / 2 / (extent.columns * self.widths[0]).max(1)).max(1)
    }

    /// As many short rows as fit the scratch, or all of them.
    fn packed_extent(&self, widest: usize) -> Extent {
        let (Loop { len, .. }, columns) = (self.rows, self.columns.len.max(1));
        let row = widest * columns;
        let block_bytes = match self.access.iter().filter(|access| !access.is_direct()).count() {
            1 => ELEMENTWISE_SCRATCH_BYTES / 2,
            2 => ELEMENTWISE_SCRATCH_BYTES / 4,
            _ => ELEMENTWISE_SCRATCH_BYTES / 8,
        };
        // Avoids a division, which takes as long as a hundred additions.
        let rows = if len.saturating_mul(row) <= block_bytes { len } else { block_bytes / row };
        Extent { rows: rows.max(1), columns }
    }

    /// The bytes of the result. Saturates, as a broadcast shape may exceed the address space.
    fn result_bytes(&self) -> usize {
        let loops = self.outer.iter().chain([&self.rows, &self.columns]);
        loops.fold(self.widths[0], |bytes, l| bytes.saturating_mul(l.len))
    }
}

/// As many of `len` rows of a transposed block as a whole number of cache lines of its source has
/// elements, if that is at most `rows`. No line of a source whose rows start at lines is then read
/// for two blocks, and tiles of the transpose do not overlap.
fn whole_source_lines(rows: usize, len: usize, width: usize) -> usize {
    let line = (CACHE_LINE / width).max(1);
    if rows < len && rows > line { rows / line * line } else { rows }
}

/// Do all rows of the result start at the same offset in a cache line? The loops are those around a
/// row.
fn rows_start_alike<'l, const N: usize>(
    mut loops: impl Iterator<Item = &'l Loop<N>>,
    width: usize,
) -> bool {
    loops.all(|l| {
        l.len == 1 || l.strides[0].unsigned_abs().wrapping_mul(width).is_multiple_of(CACHE_LINE)
    })
}

/// Wider elements are computed one by one, in place: they may need a larger alignment than scratch
/// has.
const MAX_PACKED_ELEMENT_BYTES: usize = 64;

/// The loop for the rows of a block: one along which an operand is adjacent that is not adjacent
/// along the columns. Without one, that of [`direct_rows_loop`].
fn rows_loop<const N: usize>(
    outer: &[Loop<N>],
    columns: &Loop<N>,
    widths: [usize; N],
) -> Option<usize> {
    let other = |k: &usize| !matches!(columns.strides[*k], 0 | 1);
    let adjacent = |k: usize| outer.iter().position(|l| l.strides[k] == 1);
    let side = (0..N).filter(other).find_map(adjacent);
    side.or_else(|| direct_rows_loop(outer, columns, widths))
}

/// The loop for the rows of a block that lie where they are used: the innermost one, unless it has
/// few iterations and rows are short. Then the longest of those that stay near: starting a block
/// takes as long as three rows.
fn direct_rows_loop<const N: usize>(
    outer: &[Loop<N>],
    columns: &Loop<N>,
    widths: [usize; N],
) -> Option<usize> {
    let innermost = outer.last()?;
    let widest = widths.into_iter().max().unwrap_or(1);
    let row = columns.len.saturating_mul(widest);
    if innermost.len >= MANY_DIRECT_ROWS || !(SHORT_ROW_BYTES..LONG_DIRECT_ROW_BYTES).contains(&row)
    {
        return Some(outer.len() - 1);
    }
    let extent = |l: &Loop<N>, k: usize| {
        l.strides[k].unsigned_abs().saturating_mul(widths[k]).saturating_mul(l.len)
    };
    let is_near = |l: &Loop<N>| (0..N).all(|k| extent(l, k) <= NEAR_ROWS_BYTES);
    let near = (0..outer.len()).filter(|&at| is_near(&outer[at]));
    near.max_by_key(|&at| outer[at].len).or(Some(outer.len() - 1))
}

fn access(along_columns: isize, along_rows: isize) -> Access {
    match (along_columns, along_rows) {
        (1, _) => Access::UnitStride,
        (0, _) => Access::Scalar,
        (_, 1) => Access::Transposed,
        _ => Access::Gather,
    }
}

/// How each operand is accessed.
#[inline(always)]
fn accesses<const N: usize>(rows: &Loop<N>, columns: &Loop<N>, widths: [usize; N]) -> [Access; N] {
    if rows.len >= MIN_PACKED_ROWS && columns.len <= SHORT_ROW_BYTES {
        let short = std::array::from_fn(|k| access_to_short(k, rows, columns));
        if are_worth_packing(&short, columns.len, widths) {
            return short;
        }
    }
    std::array::from_fn(|k| access(columns.strides[k], rows.strides[k]))
}

/// Are all rows too short for a loop of their own, and are few bytes copied through scratch?
fn are_worth_packing<const N: usize>(
    access: &[Access; N],
    columns: usize,
    widths: [usize; N],
) -> bool {
    let moved = |k: &usize| matches!(access[*k], Access::ShortRows | Access::SplatPerRow);
    widths.into_iter().all(|width| has_kernels(width) && columns * width <= SHORT_ROW_BYTES)
        && (0..N).filter(moved).map(|k| columns * widths[k]).sum::<usize>() <= SHORT_ROW_BYTES
}

/// Are there kernels that pack elements of this many bytes?
fn has_kernels(width: usize) -> bool {
    matches!(width, 1 | 2 | 4 | 8 | 16)
}

/// How operand `k` is accessed if rows are short.
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
    let packs_rows = access.iter().any(|access| access.packs_rows());
    match (any(Access::Transposed), any(Access::Gather), packs_rows, one_row) {
        (true, false, ..) => "transposed",
        (true, true, ..) => "transposed_and_gathered",
        (false, true, ..) => "gathered",
        (false, false, true, _) => "packed_rows",
        (false, false, false, true) => "contiguous",
        (false, false, false, false) => "rows",
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop over rows of 40 floats, within loops of these lengths and strides of the result and
    /// the input.
    fn rows(outer: &[(usize, [isize; 2])], columns: usize) -> usize {
        let outer: Vec<_> = outer.iter().map(|&(len, strides)| Loop { len, strides }).collect();
        direct_rows_loop(&outer, &Loop { len: columns, strides: [1; 2] }, [4; 2]).unwrap()
    }

    #[test]
    fn the_longest_near_loop_makes_rows_if_the_innermost_is_short() {
        assert_eq!(rows(&[(30, [400, 800]), (5, [80, 80]), (2, [40, 400])], 40), 0);
        assert_eq!(rows(&[(30, [400, 800]), (20, [40, 80])], 40), 1, "enough rows");
        assert_eq!(rows(&[(3, [80, 160]), (3, [40, 800])], 40), 1, "of equal ones the innermost");
        assert_eq!(rows(&[(60, [9000, 9000]), (5, [80, 80]), (2, [40, 400])], 40), 1, "far");
        assert_eq!(rows(&[(10, [800, 1600]), (2, [400, 800])], 400), 1, "long rows");
        assert_eq!(rows(&[(30, [20, 40]), (2, [10, 400])], 10), 1, "rows that are packed");
    }
}
