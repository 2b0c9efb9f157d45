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
//!   its elements, and a row of less than 64 has [`TREE_LEAVES`] of them. The partial results are
//!   combined as a tree at the end.
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
//! - Short rows whose partial results are written to an array, and combined from there: the
//!   compiler keeps it in memory, and reads it back before it is written. Rows of 64 to 300 floats
//!   and bytes took 1.2 to 1.9 times as long (Zen 4).
//! - The last elements of a row among its 64 partial results, the others left out: rows of 600 to
//!   1000 take 1.2 to 1.4 times as long with AVX2, of 72 to 300 1.1 times as with leaves of their
//!   own (Zen 4).
//! - The tree of each row by halves of its registers, instead of a transpose: 0.8 to 0.95 of the
//!   time for sums of floats, 1.2 to 1.4 for maxima, 1.9 for sums of bytes (Zen 4).
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
    kept_columns::KeptColumns,
    listed_elements::fold_listed,
    pairwise_tree::TreeLeaves,
    prefetch::prefetch_bytes,
    reduced_row::{combine_leaves, combine_row, leaves_of_short_row},
    reduction::{
        AccumulatorRows, Fold, FoldBlock, FoldReduction, ListedElements, Reduction, ReductionOf,
        read,
    },
};
use crate::{
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{PARTIALS_PER_ROW, SHORT_ROW, SHORTEST_ROW, TREE_LEAVES, Widths},
    tuning::{MIN_PREFETCHED_ROW_BYTES, PREFETCH_DISTANCE_BYTES},
};

/// Accumulators that are repeated together.
const REPEATED_AT_ONCE: usize = 16;

/// The trees of fewer rows are computed one by one: a transpose takes about as long as five trees.
/// An estimate from the time of both, not tuned.
const MIN_TRANSPOSED_TREES: usize = 5;

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
        let once = |src: *const T, list: &[i32]| {
            // SAFETY: this function's contract.
            unsafe { fold_listed::<F, T>(src, list) }
        };
        match listed.repetitions {
            // SAFETY: this function's contract.
            1 => unsafe { listed.reduce(|src, list| self.0.finalize(once(src, list))) },
            times => {
                let reduce = |src: *const T, list: &[i32]| {
                    let [all] = repeated::<F, T, 1>([once(src, list)], times);
                    self.0.finalize(all)
                };
                // SAFETY: this function's contract.
                unsafe { listed.reduce(reduce) };
            }
        }
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

    unsafe fn repeat(&self, accumulators: *mut u8, len: usize, times: usize) {
        let accumulators = accumulators.cast::<F::Accumulator>();
        for from in (0..len).step_by(REPEATED_AT_ONCE) {
            let count = REPEATED_AT_ONCE.min(len - from);
            let mut once = [F::IDENTITY; REPEATED_AT_ONCE];
            for (i, accumulator) in once.iter_mut().enumerate().take(count) {
                // SAFETY: `from + i < len`: the accumulator is initialised.
                *accumulator = unsafe { read(accumulators, from + i) };
            }
            let repeated = repeated::<F, T, REPEATED_AT_ONCE>(once, times);
            for (i, &accumulator) in repeated.iter().enumerate().take(count) {
                // SAFETY: an accumulator that was read.
                unsafe { accumulators.wrapping_add(from + i).write(accumulator) };
            }
        }
    }

    unsafe fn finalize(
        &self,
        accumulators: *const u8,
        out: *mut u8,
        steps: [isize; 2],
        len: usize,
    ) {
        let (accumulators, out) = (accumulators.cast(), out.cast());
        // With steps that it knows, the compiler vectorises the loop.
        let adjacent = const { [size_of::<F::Output>(), size_of::<F::Accumulator>()] };
        let adjacent = adjacent.map(|bytes| bytes as isize);
        match steps == adjacent {
            // SAFETY: this function's contract.
            true => unsafe { finalize::<F, T>(&self.0, accumulators, out, adjacent, len) },
            // SAFETY: this function's contract.
            false => unsafe { finalize::<F, T>(&self.0, accumulators, out, steps, len) },
        }
    }
}

/// Each of some accumulators combined with itself until it counts `times` times. By doubling, this
/// takes at most as many combinations in sequence as `times` has bits. Not inlined, as few inputs
/// are expanded.
#[inline(never)]
fn repeated<F: Fold<T>, T, const N: usize>(
    once: [F::Accumulator; N],
    times: usize,
) -> [F::Accumulator; N] {
    let (mut all, mut doubled, mut left) = ([F::IDENTITY; N], once, times);
    while left > 0 {
        if left % 2 == 1 {
            for (all, &doubled) in all.iter_mut().zip(&doubled) {
                *all = F::combine(*all, doubled);
            }
        }
        left /= 2;
        if left > 0 {
            for doubled in &mut doubled {
                *doubled = F::combine(*doubled, *doubled);
            }
        }
    }
    all
}

/// Writes results, with the bytes from one to the next, and from one accumulator to the next.
///
/// # Safety
/// That of [`Reduction::finalize`].
#[inline(always)]
unsafe fn finalize<F: Fold<T>, T>(
    fold: &F,
    accumulators: *const F::Accumulator,
    out: *mut F::Output,
    [out_step, step]: [isize; 2],
    len: usize,
) {
    for i in 0..len as isize {
        // SAFETY: `i < len`: the accumulator is initialised.
        let result = fold.finalize(unsafe { read(accumulators.wrapping_byte_offset(step * i), 0) });
        let out = out.wrapping_byte_offset(out_step * i);
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
        if self.block.columns_kept {
            for at in 0..self.block.blocks {
                Self { block: self.block.block(at), ..self }.fold_kept_columns();
            }
        } else {
            self.fold_reduced_columns();
        }
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

    /// Columns reduced, of all blocks: one accumulator for a block, or one per row.
    #[inline(always)]
    fn fold_reduced_columns(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        let [mut trees, mut transposed] =
            [const { TreeLeaves([[F::IDENTITY; TREE_LEAVES]; TREE_LEAVES]) }; 2];
        let (mut at, mut left) = (Group { block: 0, group: 0 }, self.block.blocks * groups);
        while left > 0 {
            let (first, count) = (at, TREE_LEAVES.min(left));
            for tree in trees.0.iter_mut().take(count) {
                *tree = self.leaves(self.row_of(at), rows);
                at = at.next(groups);
            }
            if count < MIN_TRANSPOSED_TREES {
                let combined = trees.0.iter().take(count).map(|tree| tree!(k => tree[k]));
                self.accumulate_groups(first, combined);
            } else {
                trees.transpose(self.simd, &mut transposed);
                self.transposed_trees(&transposed, first, count);
            }
            left -= count;
        }
    }

    /// The first row of a group.
    #[inline(always)]
    fn row_of(&self, Group { block, group }: Group) -> *const T {
        self.row(group).wrapping_byte_offset(self.block.block_step * block as isize)
    }

    /// Combines partial results with the accumulators of some groups, one after the other.
    #[inline(always)]
    fn accumulate_groups(&self, mut at: Group, combined: impl Iterator<Item = F::Accumulator>) {
        let (groups, _) = self.block.accumulator_groups();
        for combined in combined {
            let accumulator = self
                .accumulator(at.group * self.block.accumulator_row_stride)
                .wrapping_byte_add(self.block.block_accumulator_step * at.block);
            // SAFETY: the invariant: the accumulator is initialised, and nobody else uses it.
            let before = unsafe { accumulator.read() };
            // SAFETY: the accumulator that was read.
            unsafe { accumulator.write(F::combine(before, combined)) };
            at = at.next(groups);
        }
    }

    /// The [`TREE_LEAVES`] partial results of some rows, from which the tree starts.
    #[inline(always)]
    fn leaves(&self, first: *const T, rows: usize) -> [F::Accumulator; TREE_LEAVES] {
        let (len, ahead) = (self.block.columns, self.rows_ahead());
        if rows == 1 && (SHORTEST_ROW.start..SHORT_ROW.end).contains(&len) {
            if ahead != 0 {
                let row = first.wrapping_byte_offset(ahead);
                prefetch_bytes(row.cast(), len * size_of::<T>());
            }
            return match SHORTEST_ROW.contains(&len) {
                // SAFETY: the invariant: a row of the block.
                true => unsafe { leaves_of_short_row::<F, T, 1>(first, len) },
                // SAFETY: the invariant: a row of the block.
                false => unsafe { leaves_of_short_row::<F, T, 4>(first, len) },
            };
        }
        let (mut parts, mut ends) = ([F::IDENTITY; PARTIALS_PER_ROW], [F::IDENTITY; TREE_LEAVES]);
        for j in 0..rows {
            let row = first.wrapping_byte_offset(self.block.row_step * j as isize);
            // SAFETY: the invariant: row `j` of these.
            unsafe { combine_row::<F, T>(row, len, &mut parts, &mut ends, ahead) };
        }
        let mut leaves = [F::IDENTITY; TREE_LEAVES];
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let pair = F::combine(parts[i], parts[i + 2 * TREE_LEAVES]);
            *leaf =
                F::combine(pair, F::combine(parts[i + TREE_LEAVES], parts[i + 3 * TREE_LEAVES]));
        }
        combine_leaves::<F, T>(&mut leaves, &ends);
        leaves
    }

    /// How many bytes behind a row those lie that are prefetched meanwhile: some rows; 0 if none
    /// are.
    #[inline(always)]
    fn rows_ahead(&self) -> isize {
        let step = self.block.row_step;
        let row = self.block.columns * size_of::<T>();
        if !self.block.is_far || row < MIN_PREFETCHED_ROW_BYTES || step == 0 {
            return 0;
        }
        step * (PREFETCH_DISTANCE_BYTES as isize / step.abs()).max(1)
    }

    /// The trees of the first `count` of [`TREE_LEAVES`] groups at once: one per SIMD element.
    #[inline(always)]
    fn transposed_trees(&self, leaves: &TreeLeaves<F::Accumulator>, first: Group, count: usize) {
        let mut combined = [F::IDENTITY; TREE_LEAVES];
        for (i, group) in combined.iter_mut().enumerate() {
            *group = tree!(k => leaves.0[k][i]);
        }
        let in_block = first.group + TREE_LEAVES <= self.block.accumulator_groups().0;
        if count < TREE_LEAVES || !in_block || self.block.accumulator_row_stride != 1 {
            return self.accumulate_groups(first, combined.into_iter().take(count));
        }
        let accumulators = self
            .accumulator(first.group)
            .wrapping_byte_add(self.block.block_accumulator_step * first.block);
        for (i, group) in combined.iter_mut().enumerate() {
            // SAFETY: the invariant: an accumulator for each of these rows of one block.
            *group = F::combine(unsafe { read(accumulators, i) }, *group);
        }
        // SAFETY: the accumulators that were read.
        unsafe { accumulators.cast::<[F::Accumulator; TREE_LEAVES]>().write(combined) };
    }
}

/// Rows that share an accumulator: a block, and a group of its rows.
#[derive(Clone, Copy)]
struct Group {
    block: usize,
    group: usize,
}

impl Group {
    /// The one behind it, where a block has `groups`.
    #[inline(always)]
    fn next(self, groups: usize) -> Self {
        match self.group + 1 {
            group if group < groups => Self { group, ..self },
            _ => Self { block: self.block + 1, group: 0 },
        }
    }
}
