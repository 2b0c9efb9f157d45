//! Which loops of a reduction are the rows and the columns of its blocks.
//!
//! The columns are the innermost loop in the input's memory, and the rows the one around it. Where
//! columns are few, or rows and columns would both be kept, another loop is better.

use super::{INDEX, INPUT, is_reduced};
use crate::{
    nest::{Loop, Loops},
    reduction_order::{ROWS_PER_TREE, SHORT_CHUNK, SHORTEST_ROW, TREE_LEAVES},
};

/// Blocks with fewer columns are transposed if they have more rows, unless reduced rows share their
/// trees. A reduced row costs a tree of its partial results; a kept row only the
/// start of a loop, so its limit is lower, but for indices, whose kernel has no chunks.
const SHORT_REDUCED_COLUMNS: usize = 72;
const SHORT_KEPT_COLUMNS: usize = SHORT_CHUNK;
const SHORT_INDEXED_COLUMNS: usize = 16;

/// The fewest bytes of a row for which a block takes its rows from a loop further out, to combine
/// them before they reach the accumulators. Sums of 80 MB over the first of three dimensions become
/// 1.0 to 1.4 times faster with rows of 1 KiB and up to 1.8 times with 4 KiB, but up to 1.4 times
/// slower with 512 bytes and 1.6 times with 96 bytes.
const MIN_GROUPED_ROW_BYTES: usize = 1 << 10;

/// The loops around a block, its rows, and the elements of a row.
pub(super) struct BlockLoops {
    pub(super) outer: Loops<3>,
    pub(super) rows: Loop<3>,
    pub(super) columns: Loop<3>,
}

impl BlockLoops {
    /// Of loops in normal form, over elements of `width` bytes.
    pub(super) fn of(loops: &[Loop<3>], width: usize) -> Self {
        let (mut outer, mut columns) = split_columns(loops);
        let has_indices = loops.iter().any(|l| l.strides[INDEX] != 0);
        let is_short = is_short(&columns, has_indices)
            && !is_dense(&outer, &columns, has_indices)
            && !shares_trees(&outer, &columns, has_indices);
        let at = rows_loop(&outer, &columns, is_short, width);
        let mut rows = at.map_or(Loop::ONCE, |at| outer.remove(at));
        if is_short && rows.len > columns.len {
            (rows, columns) = (columns, rows);
        }
        Self { outer, rows, columns }
    }
}

/// The loops around the columns, and the columns. Loops along which the input does not move are
/// outermost, as everything inside them is read again.
fn split_columns(loops: &[Loop<3>]) -> (Loops<3>, Loop<3>) {
    let stays = |l: &&Loop<3>| l.strides[INPUT] == 0;
    let mut outer: Loops<3> = loops.iter().filter(stays).copied().collect();
    outer.extend(loops.iter().filter(|l| !stays(l)).copied());
    match outer.pop() {
        Some(columns) if columns.strides[INPUT] != 0 => (outer, columns),
        last => {
            outer.extend(last);
            (outer, Loop { len: 1, strides: [1, 1, 0] })
        }
    }
}

/// Are there too few columns for a row of their own?
fn is_short(columns: &Loop<3>, has_indices: bool) -> bool {
    let limit = match (is_reduced(columns), has_indices) {
        (true, _) => SHORT_REDUCED_COLUMNS,
        (false, true) => SHORT_INDEXED_COLUMNS,
        (false, false) => SHORT_KEPT_COLUMNS,
    };
    columns.len < limit
}

/// Are there enough rows with a result each to compute their trees together, of enough columns for
/// a tree?
fn shares_trees(outer: &Loops<3>, columns: &Loop<3>, has_indices: bool) -> bool {
    let blocks = outer.len().checked_sub(2).map_or(1, |at| outer[at].len);
    let is_shared =
        |rows: &Loop<3>| !is_reduced(rows) && rows.len.saturating_mul(blocks) >= TREE_LEAVES;
    is_reduced(columns)
        && !has_indices
        && columns.strides[INPUT] == 1
        && columns.len >= SHORTEST_ROW.start
        && outer.last().is_some_and(is_shared)
}

/// Do rows follow each other without gaps, all reduced to the same indices? A kernel reads them as
/// one.
fn is_dense(outer: &Loops<3>, columns: &Loop<3>, has_indices: bool) -> bool {
    let follows = |rows: &Loop<3>| {
        is_reduced(rows)
            && columns.strides[INPUT] == 1
            && rows.strides[INPUT] == columns.len as isize
    };
    has_indices && is_reduced(columns) && outer.last().is_some_and(follows)
}

/// The loop for the rows of a block: the innermost one. Exceptions: there are few columns and
/// another loop has many iterations, or rows and columns would both be kept.
fn rows_loop(outer: &Loops<3>, columns: &Loop<3>, is_short: bool, width: usize) -> Option<usize> {
    let innermost = outer.len().checked_sub(1)?;
    let many = |l: &Loop<3>| l.strides[INPUT] != 0 && l.len >= SHORT_REDUCED_COLUMNS;
    let instead = if is_short { outer.iter().rposition(many) } else { None };
    let both_kept = !is_reduced(columns) && !is_reduced(&outer[innermost]);
    let grouped = if both_kept { grouped_rows_loop(outer, columns, width) } else { None };
    Some(instead.or(grouped).unwrap_or(innermost))
}

/// The reduced loop nearest to the columns, as the rows of a block, where the innermost loop would
/// be kept. Its rows are combined before they reach the accumulators; without it every element is
/// combined with an accumulator by itself. Such rows are far apart. A few bytes of each at a time
/// are slower out of cache than an accumulator per element, unless accumulators hold an index.
fn grouped_rows_loop(outer: &Loops<3>, columns: &Loop<3>, width: usize) -> Option<usize> {
    let is_group = |l: &Loop<3>| is_reduced(l) && l.len >= ROWS_PER_TREE;
    let has_places = outer.iter().any(|l| l.strides[INDEX] != 0);
    let is_worth_it = has_places || columns.len * width >= MIN_GROUPED_ROW_BYTES;
    outer.iter().rposition(is_group).filter(|_| is_worth_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of a block of rows, each with a result, that have gaps between them.
    fn columns(rows: usize, blocks: usize, columns: usize, is_indexed: bool) -> usize {
        let step = columns as isize + 1;
        let row = Loop { len: rows, strides: [step, 1, 0] };
        let block = Loop { len: blocks, strides: [step * (rows as isize + 1), rows as isize, 0] };
        let column = Loop { len: columns, strides: [1, 0, isize::from(is_indexed)] };
        BlockLoops::of(&[block, row, column], 4).columns.len
    }

    #[test]
    fn rows_that_share_their_trees_are_not_transposed() {
        let rows = SHORTEST_ROW.start;
        assert_eq!(columns(100, 1, rows, false), rows);
        assert_eq!(columns(100, 1, rows - 1, false), 100, "too short for a tree");
        assert_eq!(columns(100, 1, rows, true), 100, "indices");
        assert_eq!(columns(8, 100, rows, false), rows, "rows of several blocks");
        assert_eq!(columns(3, 5, 2 * rows, false), 2 * rows, "few rows");
    }
}
