//! Reductions of blocks: the innermost loops of sums, products, minima and maxima.
//!
//! A block is rows of adjacent elements. Its columns, its rows or both are reduced into
//! *accumulators*. An accumulator holds the partial result until it is finalized: f32 for the sum
//! of f16, a key and its index for [`arg_reduce`](super::arg_reduce).
//!
//! Elements are combined in one fixed order, which does not depend on the instruction set, so
//! results do not depend on it either:
//!
//! - **Columns kept**: eight rows at a time are combined as a tree, and then with the accumulators,
//!   column by column ([`kept_columns`](super::kept_columns)).
//! - **Columns reduced**: a long row is cut into four streams, which are read side by side and
//!   combined as above into [`PARTIALS_PER_ROW`] partial results. Those of a short row are trees of
//!   its elements. The partial results are combined as a tree at the end.
//!   So no loop requires the compiler to reorder floating-point sums. The last levels of the trees
//!   of sixteen rows are computed together, one row per SIMD element, after a transpose.
//!
//! Several read streams reach a higher memory bandwidth than one. The sum of 64 MiB of floats takes
//! 5.5 ms down the columns, eight rows at a time, and 6.0 ms along rows of 16 KiB in four streams;
//! a plain loop over eight registers takes 6.7 ms. In cache the tree costs time: rows of 512 floats
//! take 40 µs per MiB, columns 28 µs.
//!
//! # Tried and dropped
//!
//! - Rows in one stream: 8.1 ms for the same sum. In eight streams: 6.4 to 7.6 ms.
//! - Addresses of the streams computed inside the loop: the compiler adds about a hundred
//!   instructions that check for overflow in front of it. 512 rows of 512 floats took 55 µs instead
//!   of 42 µs.
//! - NaN and order tested in one condition for a minimum or maximum, as [`Compare`](crate::Compare)
//!   does: 9.3 ms instead of 7.0 ms.
//!
//! # Error bound
//!
//! A block has at most [`ROWS_PER_BLOCK`](crate::reduction_order::ROWS_PER_BLOCK) rows, or
//! [`ELEMENTS_PER_BLOCK_ROW`](crate::reduction_order::ELEMENTS_PER_BLOCK_ROW) elements a row. Each
//! element takes part in at most 48 additions in sequence: 3 in the tree of eight rows, 32 with the
//! accumulator, 7 for the rows after the last multiple of eight, 6 in the tree of a row's partial
//! results.

use std::{hint::black_box, marker::PhantomData};

use tensor_core::Element;

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    kept_columns::{KeptColumns, tree_of_rows},
    listed_elements::fold_listed,
    pairwise_tree::{TREE_LEAVES, TreeLeaves},
    reduction::{
        AccumulatorRows, Fold, FoldBlock, FoldReduction, ListedElements, Reduction, ReductionOf,
        read,
    },
};
use crate::{
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{PARTIALS_PER_ROW, ROWS_PER_TREE, SHORT_ROW, STREAMED_ELEMENTS, Widths},
};

/// Parts of a row that are read side by side.
const STREAMS: usize = 4;

impl<T: Element, F: Fold<T>> ReductionOf<T, F::Output> for FoldReduction<F, T> {
    fn any(&self) -> &dyn Reduction {
        #[cfg(tensor_compiled)]
        if let Some(compiled) = F::compiled(self) {
            return compiled;
        }
        self
    }
}

impl<T: Element, F: Fold<T>> Reduction for FoldReduction<F, T> {
    fn widths(&self) -> Widths {
        // The transpose in `pairwise_tree` has a kernel for these widths only.
        const { assert!(matches!(size_of::<F::Accumulator>(), 1 | 2 | 4 | 8 | 16)) };
        const { assert!(align_of::<F::Accumulator>() <= CACHE_LINE) };
        let (input, output) = (size_of::<T>(), size_of::<F::Output>());
        Widths { input, output, accumulator: size_of::<F::Accumulator>() }
    }

    fn takes_any_order(&self) -> bool {
        F::ANY_ORDER
    }

    unsafe fn init(&self, accumulators: *mut u8, len: usize) {
        let accumulators = accumulators.cast::<F::Accumulator>();
        for i in 0..len {
            // SAFETY: `i < len`: the accumulator can be written.
            unsafe { accumulators.wrapping_add(i).write(F::IDENTITY) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { simd, block, fold: PhantomData });
    }

    unsafe fn reduce_listed(&self, listed: ListedElements<'_>) {
        let reduce = |src: *const T, list: &[i32]| {
            // SAFETY: this function's contract.
            self.0.finalize(unsafe { fold_listed::<F, T>(src, list) })
        };
        // SAFETY: this function's contract.
        unsafe { listed.reduce(reduce) };
    }

    unsafe fn combine(&self, accumulators: *mut u8, others: *const u8, rows: AccumulatorRows) {
        let (accumulators, others) =
            (accumulators.cast::<F::Accumulator>(), others.cast::<F::Accumulator>());
        rows.each(|i| {
            // SAFETY: accumulator `i` of these rows is initialised.
            let a = unsafe { read(accumulators, i) };
            // SAFETY: accumulator `i` of these rows is initialised.
            let b = unsafe { read(others, i) };
            // SAFETY: the accumulator that was read.
            unsafe { accumulators.wrapping_add(i).write(F::combine(a, b)) };
        });
    }

    unsafe fn finalize(&self, accumulators: *const u8, out: *mut u8, step: isize, len: usize) {
        let (accumulators, out) = (accumulators.cast(), out.cast());
        match step == size_of::<F::Output>() as isize {
            // With a step that it knows, the compiler vectorises the loop.
            true => {
                let step = size_of::<F::Output>() as isize;
                // SAFETY: this function's contract.
                unsafe { finalize::<F, T>(&self.0, accumulators, out, step, len) };
            }
            // SAFETY: this function's contract.
            false => unsafe { finalize::<F, T>(&self.0, accumulators, out, step, len) },
        }
    }
}

/// Writes results `step` bytes apart.
///
/// # Safety
/// That of [`Reduction::finalize`].
#[inline(always)]
unsafe fn finalize<F: Fold<T>, T>(
    fold: &F,
    accumulators: *const F::Accumulator,
    out: *mut F::Output,
    step: isize,
    len: usize,
) {
    for i in 0..len {
        // SAFETY: `i < len`: the accumulator is initialised.
        let result = fold.finalize(unsafe { read(accumulators, i) });
        let out = out.wrapping_byte_offset(step * i as isize);
        // SAFETY: `i < len`: the result can be written, and is aligned.
        unsafe { out.write(result) };
    }
}

/// Combines [`TREE_LEAVES`] partial results as a tree; each level combines those farthest apart.
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
        F::combine(
            F::combine(four!(0 8 4 12), four!(2 10 6 14)),
            F::combine(four!(1 9 5 13), four!(3 11 7 15)),
        )
    }};
}

/// A block, or several. Invariant: they meet the contract of [`Reduction::fold`].
struct Block<F, T> {
    simd: SimdLevel,
    block: FoldBlock,
    fold: PhantomData<fn(F, T)>,
}

impl<T: Element, F: Fold<T>> Kernel for Block<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        for at in 0..self.block.blocks {
            Self { block: self.block.block(at), ..self }.fold();
        }
    }
}

impl<T: Element, F: Fold<T>> Block<F, T> {
    #[inline(always)]
    fn fold(&self) {
        if self.block.columns_kept { self.fold_kept_columns() } else { self.fold_reduced_columns() }
    }

    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.block.src.wrapping_offset(at as isize * self.block.row_step).cast()
    }

    #[inline(always)]
    fn accumulator(&self, at: usize) -> *mut F::Accumulator {
        self.block.accumulators.cast::<F::Accumulator>().wrapping_add(at)
    }

    /// Columns kept: an accumulator per column.
    #[inline(always)]
    fn fold_kept_columns(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        for group in 0..groups {
            // Opaque, or the compiler would keep addresses of all rows of all groups in memory, and
            // advance each for every group.
            let (first, accumulators) = black_box((
                self.row(group),
                self.accumulator(group * self.block.accumulator_row_stride),
            ));
            // SAFETY: the invariant: the rows of one group, and an accumulator for each column.
            unsafe {
                let size = [rows, self.block.columns];
                KeptColumns::<F, T>::new((first, self.block.row_step), size, accumulators)
            }
            .combine();
        }
    }

    /// Columns reduced: one accumulator, or one per row.
    #[inline(always)]
    fn fold_reduced_columns(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        let (mut group, mut trees) = (0, TreeLeaves([[F::IDENTITY; TREE_LEAVES]; TREE_LEAVES]));
        while group < groups {
            let count = TREE_LEAVES.min(groups - group);
            for (i, tree) in trees.0.iter_mut().enumerate().take(count) {
                *tree = self.leaves(group + i, rows);
            }
            if count == TREE_LEAVES {
                self.transposed_trees(&trees, group);
            } else {
                for (i, tree) in trees.0.iter().enumerate().take(count) {
                    self.accumulate(group + i, tree!(k => tree[k]));
                }
            }
            group += count;
        }
    }

    /// The [`TREE_LEAVES`] partial results of some rows, from which the tree starts.
    #[inline(always)]
    fn leaves(&self, first: usize, rows: usize) -> [F::Accumulator; TREE_LEAVES] {
        let mut parts = [F::IDENTITY; PARTIALS_PER_ROW];
        let len = self.block.columns;
        if rows == 1 && SHORT_ROW.contains(&len) {
            // SAFETY: the invariant: row `first` of the block.
            unsafe { combine_short_row::<F, T>(self.row(first), len, &mut parts) };
        } else {
            for j in first..first + rows {
                // SAFETY: the invariant: row `j` of the block.
                unsafe { combine_row::<F, T>(self.row(j), len, &mut parts) };
            }
        }
        let mut leaves = [F::IDENTITY; TREE_LEAVES];
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let pair = F::combine(parts[i], parts[i + 2 * TREE_LEAVES]);
            *leaf =
                F::combine(pair, F::combine(parts[i + TREE_LEAVES], parts[i + 3 * TREE_LEAVES]));
        }
        leaves
    }

    /// The trees of [`TREE_LEAVES`] rows at once: one row per SIMD element.
    #[inline(always)]
    fn transposed_trees(&self, trees: &TreeLeaves<F::Accumulator>, first: usize) {
        let mut transposed = TreeLeaves([[F::IDENTITY; TREE_LEAVES]; TREE_LEAVES]);
        trees.transpose(self.simd, &mut transposed);
        for i in 0..TREE_LEAVES {
            self.accumulate(first + i, tree!(k => transposed.0[k][i]));
        }
    }

    #[inline(always)]
    fn accumulate(&self, group: usize, combined: F::Accumulator) {
        let accumulator = self.accumulator(group * self.block.accumulator_row_stride);
        // SAFETY: the invariant: the accumulator is initialised, and nobody else uses it.
        let before = unsafe { accumulator.read() };
        // SAFETY: the accumulator that was read.
        unsafe { accumulator.write(F::combine(before, combined)) };
    }
}

/// Writes the partial results of a [`SHORT_ROW`].
///
/// A partial result is a tree of the elements [`PARTIALS_PER_ROW`] apart, so it is written once.
/// The last elements of the row are read together with some before them, which are replaced.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
unsafe fn combine_short_row<F: Fold<T>, T: Copy>(
    src: *const T,
    len: usize,
    parts: &mut [F::Accumulator; PARTIALS_PER_ROW],
) {
    let (whole, rest) = (len / PARTIALS_PER_ROW, len % PARTIALS_PER_ROW);
    let last = src.wrapping_add(len - PARTIALS_PER_ROW);
    let replaced = (PARTIALS_PER_ROW - rest) as u32;
    // Macros, because a closure might not be inlined.
    macro_rules! combine {
        ($first:expr) => { $first };
        ($first:expr, $($other:expr),+) => { F::combine($first, combine!($($other),+)) };
    }
    macro_rules! row_of {
        ($(($($k:literal)+))+) => {
            for (i, part) in parts.iter_mut().enumerate() {
                // SAFETY: `len - PARTIALS_PER_ROW + i < len`.
                let end = F::from_element(unsafe { read(last, i) });
                let end = if (i as u32) < replaced { F::IDENTITY } else { end };
                let whole = combine!($(combine!($(
                    // SAFETY: `$k < whole`, so `$k * PARTIALS_PER_ROW + i < len`.
                    F::from_element(unsafe { read(src, $k * PARTIALS_PER_ROW + i) })
                ),+)),+);
                *part = F::combine(whole, end);
            }
        };
    }
    match whole {
        1 => row_of!((0)),
        2 => row_of!((0 1)),
        3 => row_of!((0 1)(2)),
        4 => row_of!((0 1)(2 3)),
        5 => row_of!((0 1)(2 3)(4)),
        6 => row_of!((0 1)(2 3)(4 5)),
        _ => row_of!((0 1)(2 3)(4 5)(6)),
    }
}

/// Combines the elements of a row with its partial results.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
unsafe fn combine_row<F: Fold<T>, T: Copy>(
    src: *const T,
    len: usize,
    parts: &mut [F::Accumulator; PARTIALS_PER_ROW],
) {
    let stream = len / STREAMED_ELEMENTS * (STREAMED_ELEMENTS / STREAMS);
    // The pointers are computed before the loop. If they were computed inside it, the compiler
    // would put about a hundred instructions that check for overflow in front of it.
    let mut r = [src; ROWS_PER_TREE];
    for (k, part) in r.iter_mut().enumerate() {
        *part = src.wrapping_add(k % STREAMS * stream + k / STREAMS * PARTIALS_PER_ROW);
    }
    for _ in (0..stream).step_by(STREAMED_ELEMENTS / STREAMS) {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `i < PARTIALS_PER_ROW`, and all streams end before the row does.
            *part = F::combine(*part, unsafe { tree_of_rows::<F, T>(&r, i) });
        }
        for part in &mut r {
            *part = part.wrapping_add(STREAMED_ELEMENTS / STREAMS);
        }
    }
    let mut at = STREAMS * stream;
    while at + PARTIALS_PER_ROW <= len {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `at + i < at + PARTIALS_PER_ROW <= len`.
            *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
        }
        at += PARTIALS_PER_ROW;
    }
    for (i, part) in parts.iter_mut().enumerate().take(len - at) {
        // SAFETY: `i < len - at`, so `at + i < len`.
        *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
    }
}
