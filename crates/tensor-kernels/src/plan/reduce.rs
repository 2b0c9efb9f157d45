//! Plans reductions: the order in which elements are visited, and the tree in which they are
//! combined.
//!
//! Loops follow the *input's* memory, whatever dimensions are reduced, so that it is read once and
//! in order. The two innermost loops are a block of rows and columns. Every loop is either kept
//! (its iterations belong to different results) or reduced (they belong to the same results). A
//! block with few columns is transposed into scratch first, so that its rows become columns. One
//! whose columns are not adjacent is gathered there.
//!
//! # The tree
//! Up to a fixed number elements are combined in sequence; more are halved, and the halves combined
//! pairwise. The tree depends only on the sizes and strides of the input and of the result, whose
//! loops are fused together. Threads, instruction set and cache sizes do not affect it, so none of
//! them changes a result. The error of a sum of n elements is at most `(128 + log2 n) · u` times
//! the sum of the magnitudes, where u is half a unit in the last place of 1: at most 48 additions
//! in a block, 64 around it, and one for each halving and each loop. What an expanded input repeats
//! adds one for each doubling. The second of
//! [two stages](super::reduce_two_stage) halves its loops, too.

use std::fmt;

use tensor_core::Layout;

use super::{
    block::{Access, Block, Extent},
    fmt_loops,
    reduce_loops::BlockLoops,
};
use crate::{
    memory::CACHE_LINE,
    nest::{Loop, Loops, with_nest},
    reduction_order::{
        ELEMENTS_PER_BLOCK_ROW, MIN_REPETITIONS, PARTIALS_PER_ROW, ROWS_PER_BLOCK, Repeats, Widths,
    },
};

/// The operands of a reduction's loops: the input, the result, and the index among the elements
/// that are reduced to one.
pub(crate) const INPUT: usize = 0;
pub(crate) const RESULT: usize = 1;
pub(crate) const INDEX: usize = 2;

/// The bytes of scratch for a block, without the padding of its rows.
const SCRATCH_BYTES: usize = 16 << 10;

/// The most rows of a transposed block.
const MAX_TRANSPOSED_ROWS: usize = 64;

/// The most partial results that are combined in sequence.
const MAX_SEQUENTIAL_COMBINES: usize = 64;

/// A reduction, or the part of one that a task runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReduceWork {
    /// The offset of the first element of each operand, in elements.
    pub(crate) starts: [isize; 3],
    /// The loops around a block, outermost first.
    pub(crate) outer: Loops<3>,
    /// The rows of a block.
    pub(crate) rows: Loop<3>,
    /// The elements of a row.
    pub(crate) columns: Loop<3>,
    /// What scratch holds at a time, what is combined in sequence of reduced loops, and how the
    /// input is accessed.
    pub(crate) block: Block<1>,
    /// The bytes of elements and accumulators.
    pub(crate) widths: Widths,
    /// How many times each partial result counts at the end: more than once if the input is
    /// expanded.
    pub(crate) repetitions: usize,
}

/// Do all iterations of a loop belong to the same results?
pub(crate) fn is_reduced(l: &Loop<3>) -> bool {
    l.strides[RESULT] == 0
}

/// How many halves of a loop are nested in each other, if `leaf` iterations are combined in
/// sequence.
pub(crate) fn halvings(l: &Loop<3>, leaf: usize) -> usize {
    if is_reduced(l) && l.len > leaf {
        l.len.div_ceil(leaf).next_power_of_two().ilog2() as usize
    } else {
        0
    }
}

impl ReduceWork {
    /// The plan for layouts of one shape. An expanded input repeats elements. One that is repeated
    /// often for the same result is read once, at its first index, and the partial result counts as
    /// many times at the end, unless repetitions change nothing.
    pub(crate) fn plan(layouts: [&Layout; 3], widths: Widths, repeats: Repeats) -> Self {
        with_nest(layouts, |builder| {
            let least = if repeats == Repeats::Combined { MIN_REPETITIONS } else { 0 };
            let is_repeated =
                |l: &&Loop<3>| l.strides[INPUT] == 0 && is_reduced(l) && l.len >= least;
            let loops = builder.loops().iter();
            let repeated = loops.clone().filter(is_repeated);
            let repetitions = match repeats {
                Repeats::Combined => {
                    repeated.fold(1, |times: usize, l| times.saturating_mul(l.len))
                }
                Repeats::Skipped => 1,
            };
            let distinct: Loops<3> = loops.filter(|l| !is_repeated(l)).copied().collect();
            Self { repetitions, ..Self::of(&distinct, builder.starts, widths) }
        })
    }

    /// The plan for loops in normal form.
    pub(super) fn of(loops: &[Loop<3>], starts: [isize; 3], widths: Widths) -> Self {
        let BlockLoops { outer, rows, columns } = BlockLoops::of(loops, widths.input);
        Self::of_block(outer, rows, columns, starts, widths)
    }

    /// The plan whose blocks have these rows and columns.
    pub(super) fn of_block(
        outer: Loops<3>,
        rows: Loop<3>,
        columns: Loop<3>,
        starts: [isize; 3],
        widths: Widths,
    ) -> Self {
        let access = match (columns.strides[INPUT], rows.strides[INPUT]) {
            (1, _) => Access::UnitStride,
            (_, 1) => Access::Transposed,
            _ => Access::Gather,
        };
        let block = block(access, &rows, &columns, widths.input);
        Self { starts, outer, rows, columns, block, widths, repetitions: 1 }
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

    /// The bytes that are read. Saturates, as an expanded input may exceed the address space.
    pub(crate) fn bytes(&self) -> usize {
        self.loops().fold(self.widths.input, |bytes, l| bytes.saturating_mul(l.len))
    }

    /// The bytes of different elements that are read.
    pub(crate) fn distinct_bytes(&self) -> usize {
        let moving = self.loops().filter(|l| l.strides[INPUT] != 0);
        moving.fold(self.widths.input, |bytes, l| bytes.saturating_mul(l.len))
    }

    /// For each of [`loops`](Self::loops), the number of iterations that are combined in sequence.
    /// A reduced loop with more iterations is halved; a loop that is kept never is.
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

    /// How many halves are nested in each other, over all loops.
    pub(crate) fn halvings(&self) -> usize {
        self.loops().zip(&self.leaves()).map(|(l, leaf)| halvings(l, leaf.len)).sum()
    }

    /// How often the block combines with one accumulator; `usize::MAX` if the block is halved.
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

    /// `len` iterations of a loop of [`loops`](Self::loops), from iteration `at` on.
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

    /// Rounds a number of iterations of a kept loop down to whole cache lines of the smallest
    /// elements, unless it is less than a line.
    pub(crate) fn whole_lines(iterations: usize) -> usize {
        if iterations < CACHE_LINE { iterations } else { iterations / CACHE_LINE * CACHE_LINE }
    }
}

/// The block for these loops.
fn block(access: Access, rows: &Loop<3>, columns: &Loop<3>, width: usize) -> Block<1> {
    let area = (SCRATCH_BYTES / width).max(1);
    let (mut block_rows, mut block_columns) = match access {
        Access::Transposed => {
            let block_rows = rows.len.min(MAX_TRANSPOSED_ROWS);
            (block_rows, columns.len.min(area / block_rows.max(1)))
        }
        Access::Gather => {
            let block_columns = columns.len.min(area);
            (rows.len.min(area / block_columns.max(1)), block_columns)
        }
        _ => (rows.len, columns.len),
    };
    if is_reduced(columns) {
        block_columns = block_columns.min(ELEMENTS_PER_BLOCK_ROW);
    }
    if is_reduced(rows) {
        let in_a_row =
            block_columns / (8 * PARTIALS_PER_ROW) + block_columns / PARTIALS_PER_ROW % 8 + 1;
        block_rows = block_rows.min(if is_reduced(columns) {
            (MAX_SEQUENTIAL_COMBINES / 2 / in_a_row).max(1)
        } else {
            ROWS_PER_BLOCK
        });
    }
    let extent = Extent { rows: block_rows.max(1), columns: block_columns.max(1) };
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
        write!(f, "in blocks of {} x {}", self.block.rows(), self.block.columns())?;
        match self.repetitions {
            1 => Ok(()),
            times => write!(f, ", each result repeated {times} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::{ReduceDims, Slice};

    use super::*;

    fn of_floats(layouts: [&Layout; 3]) -> ReduceWork {
        let widths = Widths { input: 4, output: 4, accumulator: 4 };
        ReduceWork::plan(layouts, widths, Repeats::Combined)
    }

    /// The plan of a reduction of floats.
    fn plan(input: &Layout, over: ReduceDims) -> String {
        let reduced = input.reduced("sum", over).unwrap();
        let result = Layout::contiguous(reduced.shape()).unwrap();
        let result = reduced.broadcast_result(&result).unwrap();
        of_floats([input, &result, &reduced.zero_layout().unwrap()]).to_string()
    }

    #[test]
    fn loops_follow_memory_whatever_is_reduced() {
        let x = Layout::contiguous([1000, 800]).unwrap();
        let (rows, columns) = (
            "kept rows, reduced columns, UnitStride: 1000 x [800, 1, 0], 800 x [1, 0, 0], \
             in blocks of 1000 x 800",
            "reduced rows, kept columns, UnitStride: 1000 x [800, 0, 0], 800 x [1, 1, 0], \
             in blocks of 256 x 800",
        );
        assert_eq!(plan(&x, 1.into()), rows);
        assert_eq!(plan(&x, 0.into()), columns);
        assert_eq!(plan(&x.t().unwrap(), 0.into()), rows);
        assert_eq!(plan(&x.t().unwrap(), 1.into()), columns);
        let all = "reduced rows, reduced columns, UnitStride: 1 x [0, 0, 0], 800000 x [1, 0, 0], \
         in blocks of 1 x 16384";
        assert_eq!(plan(&x.t().unwrap(), ReduceDims::ALL), all);
    }

    #[test]
    fn short_rows_are_transposed_and_strided_columns_are_gathered() {
        let pixels = Layout::contiguous([100, 200, 3]).unwrap();
        assert_eq!(
            plan(&pixels, (&[0, 1]).into()),
            "kept rows, reduced columns, Transposed: 3 x [1, 1, 0], 20000 x [3, 0, 0], \
             in blocks of 3 x 1365"
        );
        assert_eq!(
            plan(&pixels, 2.into()),
            "reduced rows, kept columns, Transposed: 3 x [1, 0, 0], 20000 x [3, 1, 0], \
             in blocks of 3 x 1365"
        );
        let every_other = Layout::contiguous([50, 400]).unwrap();
        let every_other = every_other.slice(1, Slice::new(None, None, 2)).unwrap();
        assert_eq!(
            plan(&every_other, 1.into()),
            "kept rows, reduced columns, Gather: 50 x [400, 1, 0], 200 x [2, 0, 0], \
             in blocks of 20 x 200"
        );
    }

    #[test]
    fn long_rows_are_combined_before_they_reach_accumulators() {
        let rows = |columns: usize| {
            Layout::contiguous([100, 64, columns + 8]).unwrap().narrow(2, 0, columns).unwrap()
        };
        assert_eq!(
            plan(&rows(256), 0.into()),
            "reduced rows, kept columns, UnitStride: \
             64 x [264, 256, 0], 100 x [16896, 0, 0], 256 x [1, 1, 0], in blocks of 100 x 256"
        );
        let each_by_itself =
            "kept rows, kept columns, UnitStride: 100 x [2560, 0, 0], 64 x [40, 32, 0], ";
        assert!(plan(&rows(32), 0.into()).starts_with(each_by_itself));
        let few = rows(256).narrow(0, 0, 7).unwrap();
        assert!(plan(&few, 0.into()).starts_with("kept rows, kept columns, "));

        let reduced = rows(32).reduced("argmax", 0).unwrap();
        let result = reduced.broadcast_result(&Layout::contiguous([64, 32]).unwrap()).unwrap();
        let work = of_floats([&rows(32), &result, &reduced.indices().unwrap()]).to_string();
        let in_groups =
            "reduced rows, kept columns, UnitStride: 64 x [40, 32, 0], 100 x [2560, 0, 1], ";
        assert!(work.starts_with(in_groups), "{work}");
    }

    #[test]
    fn what_is_repeated_for_other_results_is_outermost() {
        let row = Layout::contiguous([1, 500]).unwrap().expand([40, 500]).unwrap();
        assert!(plan(&row, 1.into()).contains(": 40 x [0, 1, 0], 500 x [1, 0, 0], "));
    }

    #[test]
    fn what_is_repeated_for_a_result_is_read_once() {
        let rows = Layout::contiguous([30, 1, 500]).unwrap().expand([30, 9, 500]).unwrap();
        let reduced = rows.reduced("max", 1).unwrap();
        let result = reduced.broadcast_result(&Layout::contiguous([30, 500]).unwrap()).unwrap();
        let layouts = [&rows, &result, &reduced.indices().unwrap()];
        let widths = Widths { input: 4, output: 4, accumulator: 4 };
        let planned = |repeats| {
            let work = ReduceWork::plan(layouts, widths, repeats);
            (work.loops().map(|l| l.len).product::<usize>(), work.repetitions)
        };
        assert_eq!(planned(Repeats::Combined), (30 * 500, 9));
        assert_eq!(planned(Repeats::Skipped), (30 * 500, 1), "more change nothing");
        assert!(plan(&rows, 1.into()).ends_with(", each result repeated 9 times"));
        let few = rows.narrow(1, 0, MIN_REPETITIONS - 1).unwrap();
        assert!(plan(&few, 1.into()).contains(": 7 x [0, 0, 0], "), "few are read");
    }

    /// If rows and columns are both reduced, a block has fewer rows the longer they are.
    #[test]
    fn a_block_has_fewer_rows_the_longer_they_are() {
        let block = |columns: usize| {
            let whole = Layout::contiguous([1000, columns + 8]).unwrap();
            let text = plan(&whole.narrow(1, 0, columns).unwrap(), ReduceDims::ALL);
            text.split("in blocks of ").nth(1).unwrap().to_owned()
        };
        let blocks = [100, 200, 448, 512, 1000, 16_384].map(block);
        assert_eq!(blocks, ["16 x 100", "8 x 200", "4 x 448", "16 x 512", "3 x 1000", "1 x 16384"]);
    }

    #[test]
    fn sequences_are_bounded() {
        // Gaps between rows keep the loops from being fused.
        let input = Layout::new([1000, 30, 2, 100], [1 << 20, 1 << 10, 1 << 8, 1], 0).unwrap();
        let reduced = input.reduced("sum", ..).unwrap();
        let result = reduced.broadcast_result(&Layout::contiguous(()).unwrap()).unwrap();
        let work = of_floats([&input, &result, &reduced.zero_layout().unwrap()]);
        let leaves: Vec<usize> = work.leaves().iter().map(|l| l.len).collect();
        assert_eq!(leaves, [2, 64, 2, 100]);
    }
}
