//! Reductions of blocks: the innermost loops of sums, products, minima and maxima.
//!
//! A block is rows of adjacent elements. Its lanes, its rows or both are reduced into accumulators,
//! the *slots*, which hold what a result is made of until it is finished: f32 for the sum of f16, a
//! value and its place for [`arg_reduce`](super::arg_reduce).
//!
//! There is one order in which elements meet, whatever the instruction set, so that results do not
//! depend on it:
//!
//! - **Lanes kept**: eight rows at a time are joined as a tree and then with the slots, lane by
//!   lane. That is a loop which the compiler vectorises as it stands, and slots are read and
//!   written once for eight rows.
//! - **Lanes reduced**: a row is cut into four parts, which are read side by side and joined as
//!   above into [`PARTIALS_PER_ROW`] partial results; these are joined as a tree at the end. So no loop asks
//!   the compiler to reorder floating-point sums. The trees of sixteen rows are one, lane by lane,
//!   after a transpose.
//!
//! Memory gives more to several streams than to one: the sum of 64 MiB of floats takes 5.5 ms down
//! the columns, eight rows at a time, and 6.0 along rows of 16 KiB in four parts, where a plain
//! loop over eight registers takes 6.7. In cache the tree shows: rows of 512 floats take 40 µs a
//! MiB, columns 28.
//!
//! # Tried and dropped
//!
//! - Rows in one stream: 8.1 ms for the same; in eight parts: 6.4 to 7.6.
//! - Distances of the parts computed in the loop: it starts with a hundred instructions that look
//!   for overflow, 55 µs for 512 rows of 512 floats, not 42.
//! - NaN and order tested at once for a minimum or maximum, as [`Compare`](crate::Compare) does:
//!   9.3 ms, not 7.0.
//!
//! An element of a block of at most [`ROWS_PER_BLOCK`](crate::reduction_order::ROWS_PER_BLOCK) rows, or of
//! [`ELEMENTS_PER_BLOCK_ROW`](crate::reduction_order::ELEMENTS_PER_BLOCK_ROW) elements a row, is in at most 48 sums one after the
//! other: 3 for eight rows, 32 with the slot, 7 for rows that do not make eight, 6 for the partial
//! results of a row.

use std::marker::PhantomData;

use tensor_core::Element;

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    pairwise_tree::{TREE_LEAVES, TreeLeaves},
};
use crate::{
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{PARTIALS_PER_ROW, ROWS_PER_TREE, Widths},
};

/// Parts of a row that are read side by side.
const STREAMS: usize = 4;

/// Elements and their slots.
#[derive(Clone, Copy)]
pub(crate) struct FoldBlock {
    /// The first element.
    pub(crate) src: *const u8,
    /// From row to row, in bytes.
    pub(crate) row_step: isize,
    pub(crate) rows: usize,
    /// Elements of a row, which are adjacent.
    pub(crate) columns: usize,
    /// The slot of the first element.
    pub(crate) accumulators: *mut u8,
    /// From row to row, in slots; 0 if rows are reduced.
    pub(crate) accumulator_row_stride: usize,
    /// Has every lane a slot of its own, next to each other? Else lanes are reduced.
    pub(crate) columns_kept: bool,
    /// The place of the first element, from row to row, and from lane to lane, for what looks for
    /// places.
    pub(crate) index: isize,
    pub(crate) index_row_stride: isize,
    pub(crate) index_column_stride: isize,
}

impl FoldBlock {
    /// Stretches of rows that share slots: one of all rows, or each row alone.
    pub(super) fn accumulator_groups(&self) -> (usize, usize) {
        if self.accumulator_row_stride > 0 { (self.rows, 1) } else { (1, self.rows) }
    }
}

/// A reduction that can be called without knowing its types. Slots are aligned to a cache line, or
/// follow such.
pub(crate) trait Reduction: Sync {
    /// The bytes of an element of the input, of one of the result, and of a slot.
    fn widths(&self) -> Widths;

    /// Is the result the number of an element among those that are reduced to one?
    fn returns_indices(&self) -> bool {
        false
    }

    /// Makes slots those of no elements.
    ///
    /// # Safety
    /// `len` slots can be written.
    unsafe fn init(&self, accumulators: *mut u8, len: usize);

    /// Joins the elements of a block to its slots.
    ///
    /// # Safety
    /// The block's elements can be read and are aligned; its slots have been cleared, and nobody
    /// else uses them.
    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock);

    /// Joins slots to others.
    ///
    /// # Safety
    /// `len` slots in both places have been cleared; nobody else uses them.
    unsafe fn combine(&self, accumulators: *mut u8, others: *const u8, len: usize);

    /// Writes the results of slots, `step` bytes apart.
    ///
    /// # Safety
    /// `len` slots have been cleared; as many results can be written and are aligned.
    unsafe fn finalize(&self, accumulators: *const u8, out: *mut u8, step: isize, len: usize);
}

/// A reduction of elements `T` to results `R`: what its pointers point to.
pub(crate) trait ReductionOf<T, R>: Reduction {}

impl<T: Element, F: Fold<T>> ReductionOf<T, F::Output> for FoldReduction<F, T> {}

/// How elements are joined to one.
pub(crate) trait Fold<T>: Sync {
    /// What results are made of.
    type Accumulator: Copy;
    /// The result.
    type Output: Element;

    /// The slot of no elements.
    const IDENTITY: Self::Accumulator;

    /// The slot of one element.
    fn from_element(element: T) -> Self::Accumulator;

    /// The slot of the elements of both.
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// The result of a slot.
    fn finalize(&self, accumulator: Self::Accumulator) -> Self::Output;
}

/// A [`Fold`] as a [`Reduction`].
pub(crate) struct FoldReduction<F, T>(pub(crate) F, pub(crate) PhantomData<fn(T)>);

impl<T: Element, F: Fold<T>> Reduction for FoldReduction<F, T> {
    fn widths(&self) -> Widths {
        // All scalars are such; a slot of another kind must not compile.
        const { assert!(matches!(size_of::<F::Accumulator>(), 1 | 2 | 4 | 8 | 16)) };
        const { assert!(align_of::<F::Accumulator>() <= CACHE_LINE) };
        let (input, output) = (size_of::<T>(), size_of::<F::Output>());
        Widths { input, output, accumulator: size_of::<F::Accumulator>() }
    }

    unsafe fn init(&self, accumulators: *mut u8, len: usize) {
        let accumulators = accumulators.cast::<F::Accumulator>();
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators can be written.
            unsafe { accumulators.wrapping_add(i).write(F::IDENTITY) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { simd, block, fold: PhantomData });
    }

    unsafe fn combine(&self, accumulators: *mut u8, others: *const u8, len: usize) {
        let (accumulators, others) =
            (accumulators.cast::<F::Accumulator>(), others.cast::<F::Accumulator>());
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared in both places.
            let a = unsafe { read(accumulators, i) };
            // SAFETY: `i < len`: as above.
            let b = unsafe { read(others, i) };
            // SAFETY: `i < len`: the accumulator that was read.
            unsafe { accumulators.wrapping_add(i).write(F::combine(a, b)) };
        }
    }

    unsafe fn finalize(&self, accumulators: *const u8, out: *mut u8, step: isize, len: usize) {
        let accumulators = accumulators.cast::<F::Accumulator>();
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared.
            let result = self.0.finalize(unsafe { read(accumulators, i) });
            let out = out.wrapping_offset(step * i as isize).cast::<F::Output>();
            // SAFETY: `i < len`: so many results can be written, and are aligned.
            unsafe { out.write(result) };
        }
    }
}

/// Element `at`.
///
/// # Safety
/// It can be read and is aligned.
#[inline(always)]
pub(super) unsafe fn read<T: Copy>(start: *const T, at: usize) -> T {
    // SAFETY: element `at` can be read and is aligned: that is what is asked for.
    unsafe { start.wrapping_add(at).read() }
}

/// Joins [`TREE_LEAVES`] partial results as a tree, those farthest apart first.
macro_rules! tree {
    ($at:ident => $value:expr) => {{
        macro_rules! at {
            ($k:literal) => {{
                let $at: usize = $k;
                $value
            }};
        }
        macro_rules! four {
            ($a:literal $b:literal $c:literal $d:literal) => {
                F::combine(F::combine(at!($a), at!($b)), F::combine(at!($c), at!($d)))
            };
        }
        F::combine(F::combine(four!(0 8 4 12), four!(2 10 6 14)), F::combine(four!(1 9 5 13), four!(3 11 7 15)))
    }};
}

/// A block, of which the maker vouches for [`Reduction::fold`]'s contract.
struct Block<F, T> {
    simd: SimdLevel,
    block: FoldBlock,
    fold: PhantomData<fn(F, T)>,
}

impl<T: Element, F: Fold<T>> Kernel for Block<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        if self.block.columns_kept { self.down() } else { self.across() }
    }
}

impl<T: Element, F: Fold<T>> Block<F, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.block.src.wrapping_offset(at as isize * self.block.row_step).cast()
    }

    #[inline(always)]
    fn accumulator(&self, at: usize) -> *mut F::Accumulator {
        self.block.accumulators.cast::<F::Accumulator>().wrapping_add(at)
    }

    /// Every lane into a slot of its own.
    #[inline(always)]
    fn down(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        for group in 0..groups {
            let (first, accumulators) =
                (self.row(group), self.accumulator(group * self.block.accumulator_row_stride));
            // SAFETY: some of the block's rows, and an accumulator for each column.
            unsafe {
                rows_down::<F, T>(
                    first,
                    self.block.row_step,
                    rows,
                    self.block.columns,
                    accumulators,
                )
            };
        }
    }

    /// All lanes into one slot, or one for each row.
    #[inline(always)]
    fn across(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        let (mut group, mut trees) = (0, TreeLeaves([[F::IDENTITY; TREE_LEAVES]; TREE_LEAVES]));
        while group < groups {
            let count = TREE_LEAVES.min(groups - group);
            for (i, tree) in trees.0.iter_mut().enumerate().take(count) {
                *tree = self.leaves(group + i, rows);
            }
            if count == TREE_LEAVES {
                self.many_trees(&trees, group);
            } else {
                for (i, tree) in trees.0.iter().enumerate().take(count) {
                    self.accumulate(group + i, tree!(k => tree[k]));
                }
            }
            group += count;
        }
    }

    /// What [`TREE_LEAVES`] lanes of some rows come to.
    #[inline(always)]
    fn leaves(&self, first: usize, rows: usize) -> [F::Accumulator; TREE_LEAVES] {
        let mut parts = [F::IDENTITY; PARTIALS_PER_ROW];
        for j in first..first + rows {
            // SAFETY: one of the block's rows.
            unsafe { row_across::<F, T>(self.row(j), self.block.columns, &mut parts) };
        }
        let mut leaves = [F::IDENTITY; TREE_LEAVES];
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let pair = F::combine(parts[i], parts[i + 2 * TREE_LEAVES]);
            *leaf =
                F::combine(pair, F::combine(parts[i + TREE_LEAVES], parts[i + 3 * TREE_LEAVES]));
        }
        leaves
    }

    /// The trees of as many rows, lane by lane.
    #[inline(always)]
    fn many_trees(&self, trees: &TreeLeaves<F::Accumulator>, first: usize) {
        let mut transposed = TreeLeaves([[F::IDENTITY; TREE_LEAVES]; TREE_LEAVES]);
        trees.transpose(self.simd, &mut transposed);
        for i in 0..TREE_LEAVES {
            self.accumulate(first + i, tree!(k => transposed.0[k][i]));
        }
    }

    #[inline(always)]
    fn accumulate(&self, group: usize, combined: F::Accumulator) {
        let accumulator = self.accumulator(group * self.block.accumulator_row_stride);
        // SAFETY: the block's accumulators have been cleared, and nobody else uses them.
        let before = unsafe { accumulator.read() };
        // SAFETY: the accumulator that was read.
        unsafe { accumulator.write(F::combine(before, combined)) };
    }
}

/// Joins [`ROWS_PER_TREE`] elements `step` bytes apart as a tree. A macro, as a closure might not be
/// inlined, and would then be compiled for the baseline.
macro_rules! group {
    ($at:ident => $value:expr) => {{
        macro_rules! at {
            ($k:literal) => {{
                let $at: usize = $k;
                F::from_element($value)
            }};
        }
        let first = F::combine(F::combine(at!(0), at!(1)), F::combine(at!(2), at!(3)));
        F::combine(first, F::combine(F::combine(at!(4), at!(5)), F::combine(at!(6), at!(7))))
    }};
}

/// Joins rows to slots, lane by lane.
///
/// # Safety
/// [`Reduction::fold`]'s, for these rows and slots.
#[inline(always)]
unsafe fn rows_down<F: Fold<T>, T: Copy>(
    src: *const T,
    step: isize,
    rows: usize,
    columns: usize,
    accumulators: *mut F::Accumulator,
) {
    let row = |at: usize| src.wrapping_byte_offset(at as isize * step);
    let mut j = 0;
    while j + ROWS_PER_TREE <= rows {
        let mut r = [row(j); ROWS_PER_TREE];
        for (k, start) in r.iter_mut().enumerate() {
            *start = row(j + k);
        }
        for i in 0..columns {
            // SAFETY: element `i < lanes` of each of these rows can be read.
            let combined = group!(k => unsafe { read(r[k], i) });
            // SAFETY: there is an accumulator for each of the columns.
            let before = unsafe { read(accumulators, i) };
            // SAFETY: the accumulator that was read.
            unsafe { accumulators.wrapping_add(i).write(F::combine(before, combined)) };
        }
        j += ROWS_PER_TREE;
    }
    while j < rows {
        let from = row(j);
        for i in 0..columns {
            // SAFETY: there is an accumulator for each of the columns.
            let before = unsafe { read(accumulators, i) };
            // SAFETY: element `i < lanes` of row `j` can be read.
            let element = unsafe { read(from, i) };
            // SAFETY: the accumulator that was read.
            unsafe {
                accumulators.wrapping_add(i).write(F::combine(before, F::from_element(element)))
            };
        }
        j += 1;
    }
}

/// Joins a row to partial results.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
unsafe fn row_across<F: Fold<T>, T: Copy>(
    src: *const T,
    len: usize,
    parts: &mut [F::Accumulator; PARTIALS_PER_ROW],
) {
    let stream =
        len / (ROWS_PER_TREE * PARTIALS_PER_ROW) * (ROWS_PER_TREE / STREAMS * PARTIALS_PER_ROW);
    // Pointers before the loop: were their distances computed in it, it would start with a hundred
    // instructions that look for overflow.
    let mut r = [src; ROWS_PER_TREE];
    for (k, part) in r.iter_mut().enumerate() {
        *part = src.wrapping_add(k % STREAMS * stream + k / STREAMS * PARTIALS_PER_ROW);
    }
    for _ in (0..stream).step_by(ROWS_PER_TREE / STREAMS * PARTIALS_PER_ROW) {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: element `i < PARTIALS_PER_ROW` of parts of the row that lie in front of its end.
            *part = F::combine(*part, group!(k => unsafe { read(r[k], i) }));
        }
        for part in &mut r {
            *part = part.wrapping_add(ROWS_PER_TREE / STREAMS * PARTIALS_PER_ROW);
        }
    }
    let mut at = STREAMS * stream;
    while at + PARTIALS_PER_ROW <= len {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `at + i < len`: `PARTIALS_PER_ROW` more elements are left.
            *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
        }
        at += PARTIALS_PER_ROW;
    }
    for (i, part) in parts.iter_mut().enumerate().take(len - at) {
        // SAFETY: `at + i < len`: `i` is less than what is left.
        *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
    }
}
