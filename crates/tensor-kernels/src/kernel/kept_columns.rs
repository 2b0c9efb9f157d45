//! Combines rows with an accumulator for each column: the part of [`fold`](super::fold) for columns
//! that are kept.
//!
//! Eight rows at a time are combined as a tree, and then with the accumulators. For long rows that
//! is a loop over the columns, which the compiler vectorises. In short rows the beginning and the
//! end of such a loop take longer than the loop. Their columns are cut into chunks of a length that
//! the compiler knows, and a chunk keeps its accumulators in registers for all rows.
//!
//! Columns that do not fill a last chunk are computed with some before them. That chunk is computed
//! first and written last, so that no element is combined with an accumulator twice.
//!
//! The order in which elements are combined is the same in all of these loops. Reductions of the
//! second dimension take these parts of the time of loops alone (Zen 3, AVX2; median of five pairs,
//! in turns; plans are those of each):
//!
//! | shape | sum of f32 | sum of f64 |
//! |---|---|---|
//! | 300 x 60 x 20 | 0.43 | 0.70 |
//! | 400 x 50 x 12 | 0.38 | 0.49 |
//! | 200 x 118 x 8 | 0.35 | 0.42 |
//! | 100 x 40 x 64 | 0.76 | 0.92 |
//! | 60 x 30 x 250 | 0.83 | 0.94 |
//!
//! # Tried and dropped
//! - Chunks for the rows after the last eight of long rows: sums of one or two rows take up to 1.5
//!   times as long, the maximum of two rows of `i16` ten times, because the compiler computes the
//!   elements of that chunk one by one (Zen 3).
//! - Chunks of eight for rows of 8 to 15 columns: these take 0.74 to 0.95 of the time, but rows of
//!   5 to 7 columns take 1.15 to 1.25 times as long, in the same function (Zen 3, median of 11
//!   pairs).

use std::{any::TypeId, hint::black_box, marker::PhantomData};

use super::reduction::{Fold, read};
use crate::reduction_order::{CHUNK, MAX_CHUNKED_ROW_BYTES, ROWS_PER_TREE, SHORT_CHUNK};

/// Combines element `at` of these rows as a tree.
///
/// # Safety
/// The elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn tree_of_rows<F: Fold<T>, T: Copy>(
    rows: &[*const T; ROWS_PER_TREE],
    at: usize,
) -> F::Accumulator {
    // A macro, because a closure might not be inlined, and would then be compiled for the target's
    // baseline.
    macro_rules! pair {
        ($a:literal $b:literal) => {{
            // SAFETY: this function's contract.
            let a = F::from_element(unsafe { read(rows[$a], at) });
            // SAFETY: this function's contract.
            let b = F::from_element(unsafe { read(rows[$b], at) });
            F::combine(a, b)
        }};
    }
    F::combine(F::combine(pair!(0 1), pair!(2 3)), F::combine(pair!(4 5), pair!(6 7)))
}

/// Rows, and the accumulators of their columns. Invariant: they meet the contract of
/// [`Reduction::fold`](super::reduction::Reduction::fold); [`new`](Self::new) has it.
pub(super) struct KeptColumns<F: Fold<T>, T> {
    src: *const T,
    /// Bytes from one row to the next.
    step: isize,
    rows: usize,
    columns: usize,
    accumulators: *mut F::Accumulator,
    fold: PhantomData<fn(F)>,
}

impl<F: Fold<T>, T: Copy> KeptColumns<F, T> {
    /// # Safety
    /// That of [`Reduction::fold`](super::reduction::Reduction::fold), for these rows and an
    /// accumulator for each column.
    #[inline(always)]
    pub(super) unsafe fn new(
        (src, step): (*const T, isize),
        [rows, columns]: [usize; 2],
        accumulators: *mut F::Accumulator,
    ) -> Self {
        Self { src, step, rows, columns, accumulators, fold: PhantomData }
    }

    /// Combines the rows with the accumulators.
    #[inline(always)]
    pub(super) fn combine(&self) {
        match self.columns {
            CHUNK.. => self.in_chunks::<CHUNK>(),
            SHORT_CHUNK.. => self.in_chunks::<SHORT_CHUNK>(),
            few => self.column_by_column(few),
        }
    }

    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.src.wrapping_byte_offset(at as isize * self.step)
    }

    /// At least `L` columns: the last chunk, the others, and then the accumulators of the last.
    #[inline(always)]
    fn in_chunks<const L: usize>(&self) {
        let columns = self.columns;
        let (last, whole) = (columns - L, (columns - 1) / L * L);
        let end = self.chunk::<L>(last);
        let width = size_of::<T>().max(size_of::<F::Accumulator>());
        if columns * width > MAX_CHUNKED_ROW_BYTES {
            self.column_by_column(whole);
        } else {
            for at in (0..whole).step_by(L) {
                self.write(at, self.chunk::<L>(at));
            }
        }
        self.write(last, end);
    }

    /// What the accumulators of `L` columns become, from column `from` on.
    #[inline(always)]
    fn chunk<const L: usize>(&self, from: usize) -> [F::Accumulator; L] {
        let mut chunk = [F::IDENTITY; L];
        for (i, accumulator) in chunk.iter_mut().enumerate() {
            // SAFETY: the invariant: an accumulator for each column.
            *accumulator = unsafe { read(self.accumulators, from + i) };
        }
        let is_gathered = may_be_gathered::<T, F::Accumulator>();
        let mut j = 0;
        while j + ROWS_PER_TREE <= self.rows {
            let r = self.eight_rows(if L < CHUNK && is_gathered { black_box(j) } else { j });
            for (i, accumulator) in chunk.iter_mut().enumerate() {
                // SAFETY: the invariant: this column of each of these rows.
                let combined = unsafe { tree_of_rows::<F, T>(&r, from + i) };
                *accumulator = F::combine(*accumulator, combined);
            }
            j += ROWS_PER_TREE;
        }
        while j < self.rows {
            let row = self.row(j);
            for (i, accumulator) in chunk.iter_mut().enumerate() {
                // SAFETY: the invariant: this column of row `j`.
                let element = F::from_element(unsafe { read(row, from + i) });
                *accumulator = F::combine(*accumulator, element);
            }
            j += 1;
        }
        chunk
    }

    #[inline(always)]
    fn write<const L: usize>(&self, from: usize, chunk: [F::Accumulator; L]) {
        for (i, &accumulator) in chunk.iter().enumerate() {
            // SAFETY: the invariant: an accumulator for each column.
            unsafe { self.accumulators.wrapping_add(from + i).write(accumulator) };
        }
    }

    /// The starts of [`ROWS_PER_TREE`] rows. Computed before the loop over columns: inside it, the
    /// compiler would check each for overflow.
    #[inline(always)]
    fn eight_rows(&self, from: usize) -> [*const T; ROWS_PER_TREE] {
        let mut rows = [self.src; ROWS_PER_TREE];
        for (k, start) in rows.iter_mut().enumerate() {
            *start = self.row(from + k);
        }
        rows
    }

    /// The first columns, at most all, eight rows at a time.
    #[inline(always)]
    fn column_by_column(&self, columns: usize) {
        let mut j = 0;
        while j + ROWS_PER_TREE <= self.rows {
            let r = self.eight_rows(j);
            for i in 0..columns {
                // SAFETY: the invariant: column `i` of each of these rows.
                let combined = unsafe { tree_of_rows::<F, T>(&r, i) };
                self.combine_one(i, combined);
            }
            j += ROWS_PER_TREE;
        }
        while j < self.rows {
            let row = self.row(j);
            for i in 0..columns {
                // SAFETY: the invariant: column `i` of row `j`.
                let element = unsafe { read(row, i) };
                self.combine_one(i, F::from_element(element));
            }
            j += 1;
        }
    }

    #[inline(always)]
    fn combine_one(&self, column: usize, other: F::Accumulator) {
        // SAFETY: the invariant: an accumulator for each column.
        let before = unsafe { read(self.accumulators, column) };
        // SAFETY: the accumulator that was read.
        unsafe { self.accumulators.wrapping_add(column).write(F::combine(before, other)) };
    }
}

/// Would the compiler gather the elements of short rows? Sums of integers have no order, so it
/// computes eight iterations at once where partial results have 64 bits and there are instructions
/// that gather elements: with AVX-512. Sums of 5 columns of i32 took 1.0 ns an element so, of i64
/// 1.3 ns; they take 0.18 and 0.37 ns if the number of an iteration is opaque. Others take up to
/// 1.4 times as long then (Zen 5).
#[inline(always)]
fn may_be_gathered<T, A: 'static>() -> bool {
    let of = TypeId::of::<A>();
    size_of::<T>() >= 4 && (of == TypeId::of::<i64>() || of == TypeId::of::<u64>())
}
