//! What a reduction is to the code that runs it, and what it is given: a block of elements, or a
//! list of them.

use std::marker::PhantomData;

use tensor_core::Element;

use crate::{
    exec::SimdLevel,
    reduction_order::{ReductionForm, Repeats, Widths},
};

/// The elements of a block and their accumulators, or of several blocks of one size.
#[derive(Clone, Copy)]
pub(crate) struct FoldBlock {
    pub(crate) blocks: usize,
    /// From block to block: bytes of elements and of accumulators, and the steps of an index.
    pub(crate) block_step: isize,
    pub(crate) block_accumulator_step: usize,
    pub(crate) block_index_stride: isize,
    /// The first element.
    pub(crate) src: *const u8,
    /// Bytes from one row to the next.
    pub(crate) row_step: isize,
    pub(crate) rows: usize,
    /// Elements of a row; they are adjacent.
    pub(crate) columns: usize,
    /// The accumulator of the first element.
    pub(crate) accumulators: *mut u8,
    /// Accumulators from one row to the next; 0 if rows are reduced.
    pub(crate) accumulator_row_stride: usize,
    /// True if every column has an accumulator of its own, adjacent to the next column's. False if
    /// columns are reduced.
    pub(crate) columns_kept: bool,
    /// The index of the first element, and its steps from row to row and from column to column.
    /// Used by [`Reduction::returns_indices`] only.
    pub(crate) index: isize,
    pub(crate) index_row_stride: isize,
    pub(crate) index_column_stride: isize,
    /// Is the input larger than the caches near a core?
    pub(crate) is_far: bool,
}

/// Rows of adjacent accumulators.
#[derive(Clone, Copy)]
pub(crate) struct AccumulatorRows {
    pub(crate) rows: usize,
    /// Accumulators from one row to the next.
    pub(crate) step: usize,
    /// The accumulators of a row.
    pub(crate) len: usize,
}

impl AccumulatorRows {
    /// A single row.
    pub(crate) fn one(len: usize) -> Self {
        Self { rows: 1, step: len, len }
    }

    /// The accumulators from the first row's first to the last row's last.
    pub(crate) fn span(self) -> usize {
        self.rows.saturating_sub(1) * self.step + self.len
    }

    /// Calls `visit` with the position of each accumulator.
    #[inline(always)]
    pub(super) fn each(self, mut visit: impl FnMut(usize)) {
        for row in 0..self.rows {
            for i in 0..self.len {
                visit(row * self.step + i);
            }
        }
    }
}

impl FoldBlock {
    /// One of its blocks.
    #[inline(always)]
    pub(super) fn block(&self, at: usize) -> Self {
        Self {
            blocks: 1,
            src: self.src.wrapping_offset(self.block_step * at as isize),
            accumulators: self.accumulators.wrapping_add(self.block_accumulator_step * at),
            index: self.index + self.block_index_stride * at as isize,
            ..*self
        }
    }

    /// `(groups, rows)`: groups of rows that share accumulators. One group of all rows, or a group
    /// per row.
    pub(super) fn accumulator_groups(&self) -> (usize, usize) {
        if self.accumulator_row_stride > 0 { (self.rows, 1) } else { (1, self.rows) }
    }
}

/// A reduction with its types erased. Accumulators start at a cache line, or follow such
/// accumulators.
pub(crate) trait Reduction: Sync {
    /// The bytes of an element of the input, of an element of the result, and of an accumulator.
    fn widths(&self) -> Widths;

    /// Is the result the same in whatever order elements are combined, and however often, but for
    /// the bits of a NaN and the sign of a zero?
    fn takes_any_order(&self) -> bool {
        self.returns_indices()
    }

    /// What a plan depends on.
    fn form(&self) -> ReductionForm {
        let repeats = if self.takes_any_order() { Repeats::Skipped } else { Repeats::Combined };
        let (widths, returns_indices) = (self.widths(), self.returns_indices());
        ReductionForm { widths, returns_indices, repeats }
    }

    /// Is the result an index among the elements that are reduced to one?
    fn returns_indices(&self) -> bool {
        false
    }

    /// Sets accumulators to those of no elements.
    ///
    /// # Safety
    /// `len` accumulators can be written.
    unsafe fn init(&self, accumulators: *mut u8, len: usize);

    /// Combines the elements of each block with its accumulators, one block after the other.
    ///
    /// # Safety
    /// The elements of all blocks can be read and are aligned. Their accumulators are initialised,
    /// and nobody else uses them.
    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock);

    /// Writes the results of listed elements.
    ///
    /// # Safety
    /// The listed elements can be read, the listed results be written; all are aligned.
    unsafe fn reduce_listed(&self, listed: ListedElements<'_>);

    /// Combines rows of `others` into rows of `accumulators`, one by one.
    ///
    /// # Safety
    /// From both addresses on, the accumulators of these rows are initialised; nobody else uses
    /// them, and no accumulator is among both.
    unsafe fn combine(&self, accumulators: *mut u8, others: *const u8, rows: AccumulatorRows);

    /// Combines each accumulator with itself until it counts `times` times. Those that hold an
    /// index do not change.
    ///
    /// # Safety
    /// `len` accumulators are initialised, and nobody else uses them.
    unsafe fn repeat(&self, accumulators: *mut u8, len: usize, times: usize);

    /// Writes the results of accumulators. The steps are the bytes from one result to the next, and
    /// from one accumulator to the next.
    ///
    /// # Safety
    /// `len` accumulators are initialised; `len` results can be written and are aligned.
    unsafe fn finalize(&self, accumulators: *const u8, out: *mut u8, steps: [isize; 2], len: usize);
}

/// A reduction from elements `T` to results `R`: the types its pointers point to.
pub(crate) trait ReductionOf<T, R>: Sync {
    /// Without its types.
    fn any(&self) -> &dyn Reduction;
}

/// How elements are combined into one result.
pub(crate) trait Fold<T>: Sync {
    /// The reduction as this crate compiled it, if it did; see `api::compiled`.
    #[cfg(tensor_compiled)]
    #[inline(always)]
    fn compiled(_reduction: &FoldReduction<Self, T>) -> Option<&dyn Reduction>
    where
        Self: Sized,
    {
        None
    }

    /// The type of a partial result.
    type Accumulator: Copy + 'static;
    /// The result.
    type Output: Element;

    /// The accumulator of no elements: the identity of [`combine`](Self::combine).
    const IDENTITY: Self::Accumulator;

    /// See [`Reduction::takes_any_order`].
    const ANY_ORDER: bool;

    /// The accumulator of one element.
    fn from_element(element: T) -> Self::Accumulator;

    /// The accumulator of the elements of both.
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// The result of an accumulator.
    fn finalize(&self, accumulator: Self::Accumulator) -> Self::Output;
}

/// A [`Fold`] as a [`Reduction`].
pub(crate) struct FoldReduction<F, T>(pub(crate) F, pub(crate) PhantomData<fn(T)>);

/// The elements of some results, and where they are written.
#[derive(Clone, Copy)]
pub(crate) struct ListedElements<'a> {
    /// The offsets of the elements from `src` on, in elements; those of each result together, and
    /// as many for each.
    pub(crate) elements: &'a [i32],
    /// The offsets of the results from `out` on, in results.
    pub(crate) results: &'a [i32],
    /// How often each element is combined with its result.
    pub(crate) repetitions: usize,
    pub(crate) src: *const u8,
    pub(crate) out: *mut u8,
}

impl ListedElements<'_> {
    /// Writes each result, reduced from the first element's address and the list of its elements.
    ///
    /// # Safety
    /// Every listed result can be written as an `R`, and is aligned.
    #[inline(always)]
    pub(super) unsafe fn reduce<T, R>(&self, reduce: impl Fn(*const T, &[i32]) -> R) {
        let count = self.elements.len() / self.results.len().max(1);
        let groups = self.elements.chunks_exact(count.max(1));
        for (group, &to) in groups.zip(self.results) {
            let result = reduce(self.src.cast(), group);
            let to = self.out.cast::<R>().wrapping_offset(to as isize);
            // SAFETY: this function's contract.
            unsafe { to.write(result) };
        }
    }
}

/// Element `at`.
///
/// # Safety
/// The element can be read and is aligned.
#[inline(always)]
pub(super) unsafe fn read<T: Copy>(start: *const T, at: usize) -> T {
    // SAFETY: the element can be read and is aligned, by this function's contract.
    unsafe { start.wrapping_add(at).read() }
}
