//! What a reduction will do: the order in which elements are visited, and the tree in which they
//! are joined.
//!
//! Loops follow the *input's* memory, whatever dimensions are reduced, so that it is read once and
//! front to back. The two innermost loops are a block of rows and columns, each kept or reduced;
//! the loops around them are kept, which leads to other results, or reduced, which leads to the
//! same again. A block whose columns are few is transposed into scratch first, so that its rows are
//! columns; one whose columns are not adjacent is picked there.
//!
//! # The tree
//! Elements are joined one after the other up to a fixed number, and halves of more are joined
//! pairwise. All of it follows from the sizes and strides of the input and of the result, whose
//! loops are fused together: neither threads, nor the instruction set, nor the machine's caches
//! decide which element is joined with which, so none of them changes a result. A sum of n elements
//! is off by at most `(128 + log2 n) · u` times the sum of the magnitudes, u being half a unit in
//! the last place of 1: 48 additions at most in a block, 64 around it, one more for each halving
//! and each loop.

use std::fmt;

use tensor_core::Layout;

use super::{
    block::{Access, Block, Extent},
    fmt_loops,
};
use crate::{
    memory::CACHE_LINE,
    nest::{Loop, Loops, with_nest},
    reduction_order::{
        ELEMENTS_PER_BLOCK_ROW, PARTIALS_PER_ROW, ROWS_PER_BLOCK, ROWS_PER_TREE, Widths,
    },
};

/// The operands of a reduction's loops: what is read, what is written, and the place among the
/// elements that are reduced to one.
pub(crate) const INPUT: usize = 0;
pub(crate) const RESULT: usize = 1;
pub(crate) const INDEX: usize = 2;

/// The bytes of scratch for a block, without what sets its rows apart.
const SCRATCH_BYTES: usize = 16 << 10;

/// The rows of a transposed block, at most.
const MAX_TRANSPOSED_ROWS: usize = 64;

/// So many results are joined one after the other.
const MAX_SEQUENTIAL_COMBINES: usize = 64;

/// Rows of fewer columns are transposed if there are more of them: columns that are reduced cost a
/// tree over [`PARTIALS_PER_ROW`] partial results a row, columns that are kept only the start of a loop.
const SHORT_REDUCED_COLUMNS: usize = 96;
const SHORT_KEPT_COLUMNS: usize = 16;

/// The bytes of rows that are worth a walk from one to the next. Sums of 80 MB over the first of
/// three dimensions, whose rows are apart, take by this walk 1.0 to 1.4 times less at 1 KiB a row,
/// up to 1.8 at 4 KiB, but at half a kilobyte up to 1.4 times more, and at 96 bytes 1.6.
const MIN_GROUPED_ROW_BYTES: usize = 1 << 10;

/// A reduction, or a piece of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReduceWork {
    /// Where operands start, in elements.
    pub(crate) starts: [isize; 3],
    /// Outermost first.
    pub(crate) outer: Loops<3>,
    /// The rows of a block.
    pub(crate) rows: Loop<3>,
    /// The elements of a row.
    pub(crate) columns: Loop<3>,
    /// What scratch holds at a time, what of reduced loops is combined at a time, and how the input
    /// is reached.
    pub(crate) block: Block<1>,
    /// The bytes of elements and slots.
    pub(crate) widths: Widths,
}

/// Does a loop lead to one result again and again?
pub(crate) fn is_reduced(l: &Loop<3>) -> bool {
    l.strides[RESULT] == 0
}

impl ReduceWork {
    /// Of layouts of one shape.
    pub(crate) fn plan(layouts: [&Layout; 3], widths: Widths) -> Self {
        with_nest(layouts, |builder| Self::of(builder.loops(), builder.starts, widths))
    }

    fn of(loops: &[Loop<3>], starts: [isize; 3], widths: Widths) -> Self {
        let (mut outer, mut columns) = split_columns(loops);
        let at = rows_loop(&outer, &columns, widths.input);
        let mut rows = at.map_or(Loop::ONCE, |at| outer.remove(at));
        if is_short(&columns) && rows.len > columns.len {
            (rows, columns) = (columns, rows);
        }
        let access = match (columns.strides[INPUT], rows.strides[INPUT]) {
            (1, _) => Access::UnitStride,
            (_, 1) => Access::Transposed,
            _ => Access::Gather,
        };
        let block = block(access, &rows, &columns, widths.input);
        Self { starts, outer, rows, columns, block, widths }
    }

    /// All loops, outermost first.
    pub(crate) fn loops(&self) -> impl DoubleEndedIterator<Item = &Loop<3>> {
        self.outer.iter().chain([&self.rows, &self.columns])
    }

    /// The number of results.
    pub(crate) fn results(&self) -> usize {
        let kept = self.loops().filter(|l| !is_reduced(l));
        kept.fold(1, |count, l| count.saturating_mul(l.len))
    }

    /// The bytes that are read; an expanded input may have more than there are addresses.
    pub(crate) fn bytes(&self) -> usize {
        self.loops().fold(self.widths.input, |bytes, l| bytes.saturating_mul(l.len))
    }

    /// For each of [`loops`](Self::loops) the turns that are joined one after the other; more of
    /// them are halved. Loops that are kept are not.
    pub(crate) fn leaves(&self) -> Loops<3> {
        let mut leaves: Loops<3> = self.loops().copied().collect();
        let block = self.block;
        let (mut inside, mut leaf_of) =
            (self.combines_in_block(), [block.columns(), block.rows()].into_iter());
        for l in leaves.iter_mut().rev() {
            let leaf = match (is_reduced(l), leaf_of.next()) {
                (false, _) => l.len,
                (true, Some(leaf)) => leaf,
                (true, None) => {
                    let leaf = MAX_SEQUENTIAL_COMBINES.checked_div(inside).unwrap_or(1).max(1);
                    inside = if l.len <= leaf { inside * l.len } else { usize::MAX };
                    leaf
                }
            };
            l.len = leaf;
        }
        leaves
    }

    /// How often a slot is joined by the block inside; no bound if that is halved.
    fn combines_in_block(&self) -> usize {
        let (rows, columns) = (is_reduced(&self.rows), is_reduced(&self.columns));
        let halved = (rows && self.rows.len > self.block.rows())
            || (columns && self.columns.len > self.block.columns());
        match (halved, rows, columns) {
            (true, _, _) => usize::MAX,
            (false, true, false) => self.rows.len / 8 + self.rows.len % 8,
            _ => 1,
        }
    }

    /// `len` turns from turn `at` on of a loop of [`loops`](Self::loops).
    pub(crate) fn part(&self, which: usize, at: usize, len: usize) -> Self {
        let mut part = self.clone();
        let l = part.loop_mut(which);
        l.len = len;
        let strides = l.strides;
        for (start, stride) in part.starts.iter_mut().zip(strides) {
            *start += stride * at as isize;
        }
        part
    }

    fn loop_mut(&mut self, which: usize) -> &mut Loop<3> {
        match which.checked_sub(self.outer.len()) {
            None => &mut self.outer[which],
            Some(0) => &mut self.rows,
            Some(_) => &mut self.columns,
        }
    }

    /// So many turns of a loop that is kept, but whole lines of the smallest elements if they are
    /// many.
    pub(crate) fn whole_lines(turns: usize) -> usize {
        if turns < CACHE_LINE { turns } else { turns / CACHE_LINE * CACHE_LINE }
    }
}

/// The loops around columns, and the columns. A loop that stays where it is is outermost: all
/// inside of it is read again.
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

/// Too few to be worth a row?
fn is_short(columns: &Loop<3>) -> bool {
    columns.len < if is_reduced(columns) { SHORT_REDUCED_COLUMNS } else { SHORT_KEPT_COLUMNS }
}

/// The rows of a block: the innermost loop, unless columns are few and another loop that moves has
/// many turns, or rows and columns would both be kept.
fn rows_loop(outer: &Loops<3>, columns: &Loop<3>, width: usize) -> Option<usize> {
    let innermost = outer.len().checked_sub(1)?;
    let many = |l: &Loop<3>| l.strides[INPUT] != 0 && l.len >= SHORT_REDUCED_COLUMNS;
    let instead = if is_short(columns) { outer.iter().rposition(many) } else { None };
    let both_kept = !is_reduced(columns) && !is_reduced(&outer[innermost]);
    let grouped = if both_kept { grouped_rows_loop(outer, columns, width) } else { None };
    Some(instead.or(grouped).unwrap_or(innermost))
}

/// Rows that are joined before they meet a slot, where each element would meet one by itself: the
/// next loop that is reduced. Such rows lie far from each other. A few bytes of each at a time are
/// slower out of cache than a slot for every element, unless that is a slot with a place.
fn grouped_rows_loop(outer: &Loops<3>, columns: &Loop<3>, width: usize) -> Option<usize> {
    let is_group = |l: &Loop<3>| is_reduced(l) && l.len >= ROWS_PER_TREE;
    let has_places = outer.iter().any(|l| l.strides[INDEX] != 0);
    let is_worth_it = has_places || columns.len * width >= MIN_GROUPED_ROW_BYTES;
    outer.iter().rposition(is_group).filter(|_| is_worth_it)
}

/// What is done at a time.
fn block(access: Access, rows: &Loop<3>, columns: &Loop<3>, width: usize) -> Block<1> {
    let area = (SCRATCH_BYTES / width).max(1);
    let (mut tall, mut long) = match access {
        Access::Transposed => {
            let tall = rows.len.min(MAX_TRANSPOSED_ROWS);
            (tall, columns.len.min(area / tall.max(1)))
        }
        Access::Gather => {
            let long = columns.len.min(area);
            (rows.len.min(area / long.max(1)), long)
        }
        _ => (rows.len, columns.len),
    };
    if is_reduced(columns) {
        long = long.min(ELEMENTS_PER_BLOCK_ROW);
    }
    if is_reduced(rows) {
        let in_a_row = long / (8 * PARTIALS_PER_ROW) + long / PARTIALS_PER_ROW % 8 + 1;
        tall = tall.min(if is_reduced(columns) {
            (MAX_SEQUENTIAL_COMBINES / 2 / in_a_row).max(1)
        } else {
            ROWS_PER_BLOCK
        });
    }
    let extent = Extent { rows: tall.max(1), columns: long.max(1) };
    let scratch_rows = if access.is_direct() { None } else { Some(extent.rows) };
    Block::new(extent, [access], [width], [scratch_rows])
}

impl fmt::Display for ReduceWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |l| if is_reduced(l) { "reduced" } else { "kept" };
        let access = self.block.access()[0];
        write!(f, "{} rows, {} columns, {access:?}: ", of(&self.rows), of(&self.columns))?;
        fmt_loops(f, &self.outer)?;
        fmt_loops(f, &[self.rows, self.columns])?;
        write!(f, "in blocks of {} x {}", self.block.rows(), self.block.columns())
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::{ReduceDims, Slice};

    use super::*;

    fn of_floats(layouts: [&Layout; 3]) -> ReduceWork {
        ReduceWork::plan(layouts, Widths { input: 4, output: 4, accumulator: 4 })
    }

    /// The plan of a reduction of floats.
    fn plan(input: &Layout, over: ReduceDims<'_>) -> String {
        let reduced = input.reduced("sum", over).unwrap();
        let result = Layout::contiguous(&reduced.shape()).unwrap();
        let result = reduced.spread(&result).unwrap();
        of_floats([input, &result, &reduced.nowhere().unwrap()]).to_string()
    }

    #[test]
    fn loops_follow_memory_whatever_is_reduced() {
        let x = Layout::contiguous(&[1000, 800]).unwrap();
        let (rows, columns) = (
            "kept rows, reduced columns, UnitStride: 1000 x [800, 1, 0], 800 x [1, 0, 0], in blocks of 1000 x 800",
            "reduced rows, kept columns, UnitStride: 1000 x [800, 0, 0], 800 x [1, 1, 0], in blocks of 256 x 800",
        );
        assert_eq!(plan(&x, 1.into()), rows);
        assert_eq!(plan(&x, 0.into()), columns);
        assert_eq!(plan(&x.t().unwrap(), 0.into()), rows);
        assert_eq!(plan(&x.t().unwrap(), 1.into()), columns);
        let all = "reduced rows, reduced columns, UnitStride: 1 x [0, 0, 0], 800000 x [1, 0, 0], in blocks of 1 x 16384";
        assert_eq!(plan(&x.t().unwrap(), ReduceDims::ALL), all);
    }

    #[test]
    fn short_rows_are_transposed_and_strided_columns_are_gathered() {
        let pixels = Layout::contiguous(&[100, 200, 3]).unwrap();
        assert_eq!(
            plan(&pixels, (&[0, 1]).into()),
            "kept rows, reduced columns, Transposed: 3 x [1, 1, 0], 20000 x [3, 0, 0], in blocks of 3 x 1365"
        );
        assert_eq!(
            plan(&pixels, 2.into()),
            "reduced rows, kept columns, Transposed: 3 x [1, 0, 0], 20000 x [3, 1, 0], in blocks of 3 x 1365"
        );
        let every_other = Layout::contiguous(&[50, 400]).unwrap();
        let every_other = every_other.slice(1, Slice::new(None, None, 2)).unwrap();
        assert_eq!(
            plan(&every_other, 1.into()),
            "kept rows, reduced columns, Gather: 50 x [400, 1, 0], 200 x [2, 0, 0], in blocks of 20 x 200"
        );
    }

    #[test]
    fn long_rows_are_combined_before_they_reach_accumulators() {
        let rows = |columns: usize| {
            Layout::contiguous(&[100, 64, columns + 8]).unwrap().narrow(2, 0, columns).unwrap()
        };
        assert_eq!(
            plan(&rows(256), 0.into()),
            "reduced rows, kept columns, UnitStride: 64 x [264, 256, 0], 100 x [16896, 0, 0], 256 x [1, 1, 0], in blocks of 100 x 256"
        );
        let each_by_itself =
            "kept rows, kept columns, UnitStride: 100 x [2560, 0, 0], 64 x [40, 32, 0], ";
        assert!(plan(&rows(32), 0.into()).starts_with(each_by_itself));
        let few = rows(256).narrow(0, 0, 7).unwrap();
        assert!(plan(&few, 0.into()).starts_with("kept rows, kept columns, "));

        let reduced = rows(32).reduced("argmax", 0).unwrap();
        let result = reduced.spread(&Layout::contiguous(&[64, 32]).unwrap()).unwrap();
        let work = of_floats([&rows(32), &result, &reduced.places().unwrap()]).to_string();
        let in_groups =
            "reduced rows, kept columns, UnitStride: 64 x [40, 32, 0], 100 x [2560, 0, 1], ";
        assert!(work.starts_with(in_groups), "{work}");
    }

    #[test]
    fn what_is_repeated_is_outermost() {
        let row = Layout::contiguous(&[1, 500]).unwrap().expand(&[40, 500]).unwrap();
        assert!(plan(&row, 1.into()).contains(": 40 x [0, 1, 0], 500 x [1, 0, 0], "));
        let column = Layout::contiguous(&[500, 1]).unwrap().expand(&[500, 40]).unwrap();
        assert!(plan(&column, 1.into()).contains(": 40 x [0, 0, 0], 500 x [1, 1, 0], "));
    }

    /// Rows and columns that are both reduced: the longer a row, the fewer rows a block has.
    #[test]
    fn a_block_has_fewer_rows_the_longer_they_are() {
        let block = |columns: usize| {
            let whole = Layout::contiguous(&[1000, columns + 8]).unwrap();
            let text = plan(&whole.narrow(1, 0, columns).unwrap(), ReduceDims::ALL);
            text.split("in blocks of ").nth(1).unwrap().to_owned()
        };
        let blocks = [100, 200, 448, 512, 1000, 16_384].map(block);
        assert_eq!(blocks, ["16 x 100", "8 x 200", "4 x 448", "16 x 512", "3 x 1000", "1 x 16384"]);
    }

    #[test]
    fn sequences_are_bounded() {
        // Gaps keep the loops apart.
        let input = Layout::new(&[1000, 30, 2, 100], &[1 << 20, 1 << 10, 1 << 8, 1], 0).unwrap();
        let reduced = input.reduced("sum", ..).unwrap();
        let result = reduced.spread(&Layout::contiguous(&[]).unwrap()).unwrap();
        let work = of_floats([&input, &result, &reduced.nowhere().unwrap()]);
        let leaves: Vec<usize> = work.leaves().iter().map(|l| l.len).collect();
        assert_eq!(leaves, [2, 64, 2, 100]);
    }
}
