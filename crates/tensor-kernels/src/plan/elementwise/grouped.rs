//! Plans elementwise operations whose loops are short: [groups](crate::plan::group) of them make
//! the rows and the columns of a block.
//!
//! The columns are adjacent in the result, and the rows in an operand that is transposed, if there
//! is one. Operands that are not adjacent along the columns are copied into scratch, by tables of
//! offsets. A multiply-add of [12, 2, 2, 29, 5, 2] floats, with one operand reversed and one
//! permuted, took 26 ns an element when every short row was a loop of its own, and takes 1.4 ns in
//! groups (Zen 5).

use super::{Access, Block, ElementwiseWork, Extent, access_to_short, has_kernels, rows_loop};
use crate::{
    nest::{Loop, NestBuilder},
    plan::group::{self, Group, Side, ascend, continues, grow, ordered, split},
    tuning::{
        FEW_ROWS, GROUPED_COLUMNS, GROUPED_SCRATCH_BYTES, MAX_GROUPED_COLUMNS,
        MAX_GROUPED_COLUMNS_OF_FEW_ROWS, MAX_GROUPED_DIRECT_COLUMNS, MAX_UNGROUPED_BLOCKS,
        MAX_UNGROUPED_ROWS, MIN_PACKED_ROWS, SMALL_BLOCK_ELEMENTS,
    },
};

/// The groups of loops of an elementwise operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementwiseGroups {
    /// The innermost loops, along which the result is adjacent.
    pub(crate) columns: Group,
    /// The loops around those.
    pub(crate) rows: Group,
}

/// The plan by groups; `None` if rows of one loop are as good, or if an element width has no
/// kernels. Some loops may then run in the other direction.
#[inline]
pub(super) fn plan<const N: usize>(
    builder: &mut NestBuilder<'_, N>,
    widths: [usize; N],
) -> Option<ElementwiseWork<N>> {
    let loops = builder.loops();
    let (columns, around) = loops.split_last()?;
    if columns.strides[0] != 1 || around.len() < 2 || !widths.into_iter().all(has_kernels) {
        return None;
    }
    if !has_short_blocks(columns, around) {
        return None;
    }
    let sides = sides(builder, widths)?;
    Some(work(builder, &sides, widths))
}

/// Are the rows of single loops short, or the blocks that are packed, and are there many of them?
fn has_short_blocks<const N: usize>(columns: &Loop<N>, around: &[Loop<N>]) -> bool {
    let rows = rows_loop(around, columns).map_or(Loop::ONCE, |at| around[at]);
    let row_count = group::iterations(around);
    if columns.strides.iter().all(|stride| matches!(stride, 0 | 1)) {
        let is_packed = rows.len >= MIN_PACKED_ROWS
            && (0..N).any(|k| access_to_short(k, &rows, columns).packs_rows());
        return columns.len < MAX_GROUPED_DIRECT_COLUMNS
            && row_count > MAX_UNGROUPED_ROWS
            && !is_packed;
    }
    let limit =
        if rows.len < FEW_ROWS { MAX_GROUPED_COLUMNS_OF_FEW_ROWS } else { MAX_GROUPED_COLUMNS };
    columns.len < limit && row_count / rows.len.max(1) > MAX_UNGROUPED_BLOCKS
}

/// The loops of columns and of rows; `None` if the columns stay short.
fn sides<const N: usize>(
    builder: &mut NestBuilder<'_, N>,
    widths: [usize; N],
) -> Option<[Side; 2]> {
    let innermost = builder.loops().len() - 1;
    let first = builder.loops()[innermost];
    let packed: usize = widths[1..].iter().sum();
    let target = (GROUPED_SCRATCH_BYTES / GROUPED_COLUMNS / packed).clamp(1, GROUPED_COLUMNS);
    if let Some((operand, at)) = transposed(builder.loops()) {
        ascend(builder, at, operand, 1);
        let columns = Side::new(builder, 0, innermost, GROUPED_COLUMNS);
        let mut sides = [columns, Side::new(builder, operand, at, target)];
        grow(&mut sides, builder, 1, continues);
        if sides[0].len >= 2 * first.len {
            return Some(sides);
        }
        // The columns continue with these rows. In small blocks they are better used as columns.
        let block = first.len.saturating_mul(builder.loops()[at].len);
        if block >= SMALL_BLOCK_ELEMENTS || first.len > MAX_GROUPED_COLUMNS {
            return None;
        }
    }
    let mut columns = Side::new(builder, 0, innermost, GROUPED_COLUMNS);
    grow(std::slice::from_mut(&mut columns), builder, 1, continues);
    let next = (0..innermost).rev().find(|at| !columns.loops.contains(at));
    let rows = next.map_or_else(Side::once, |at| Side::new(builder, 0, at, target));
    (columns.len >= 2 * first.len).then_some([columns, rows])
}

/// The first operand that is adjacent along another loop than the columns, and that loop.
fn transposed<const N: usize>(loops: &[Loop<N>]) -> Option<(usize, usize)> {
    let (columns, around) = loops.split_last()?;
    let mut others = (1..N).filter(|&k| !matches!(columns.strides[k], 0 | 1));
    let adjacent = |k: usize| around.iter().position(|l| l.strides[k].unsigned_abs() == 1);
    others.find_map(|k| adjacent(k).map(|at| (k, at)))
}

/// The work for these sides.
fn work<const N: usize>(
    builder: &NestBuilder<'_, N>,
    sides: &[Side; 2],
    widths: [usize; N],
) -> ElementwiseWork<N> {
    let outer = ordered(builder.loops(), sides);
    let [columns, rows] = sides.each_ref().map(|side| side.group(builder.loops()));
    let [_, row_loops, column_loops] = split(&outer, [columns, rows]);
    let access: [Access; N] = std::array::from_fn(|k| access(k, column_loops, row_loops));
    let extent = Extent {
        rows: block_len(row_loops, rows.block),
        columns: block_len(column_loops, columns.block),
    };
    let scratch_rows = access.map(|access| (!access.is_direct()).then_some(extent.rows));
    let block = Block::new(extent, access, widths, scratch_rows);
    let once = Loop { len: 1, strides: [0; N] };
    ElementwiseWork {
        starts: builder.starts,
        outer,
        rows: once,
        columns: once,
        widths,
        block,
        groups: Some(ElementwiseGroups { columns, rows }),
        large: false,
        stream: false,
        path: "grouped",
    }
}

/// The iterations of a block's loops, of which the outermost is cut.
fn block_len<const N: usize>(loops: &[Loop<N>], block: usize) -> usize {
    loops.iter().skip(1).map(|l| l.len).product::<usize>() * block
}

/// How operand `k` is accessed along the loops of columns and of rows, outermost first.
fn access<const N: usize>(k: usize, columns: &[Loop<N>], rows: &[Loop<N>]) -> Access {
    if is_adjacent(k, columns) {
        Access::UnitStride
    } else if columns.iter().all(|l| l.strides[k] == 0) {
        Access::Scalar
    } else if !rows.is_empty() && is_adjacent(k, rows) {
        Access::Transposed
    } else {
        Access::Gather
    }
}

/// Are all iterations of some loops adjacent in operand `k`?
fn is_adjacent<const N: usize>(k: usize, loops: &[Loop<N>]) -> bool {
    let mut len = 1;
    loops.iter().rev().all(|l| {
        let continues = l.strides[k] == len;
        len *= l.len as isize;
        continues
    })
}
