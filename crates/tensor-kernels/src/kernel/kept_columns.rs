//! Rows that are combined into an accumulator for each column, of which [`fold`](super::fold) is
//! made.
//!
//! Eight rows at a time are combined as a tree, and then with the accumulators. Long rows do it
//! eight at a time, column by column, as the compiler vectorises it. In short rows, beginning and
//! ending such a loop takes longer than the loop. They are cut into chunks of a length that the
//! compiler knows, and a chunk keeps its accumulators in registers for all rows.
//!
//! Columns that do not fill a last chunk are computed with some before them. That chunk is computed
//! first and written last, so that no element is combined with an accumulator twice.
//!
//! The order in which elements are combined is the same in all of these loops. Sums over the second
//! dimension, before and with chunks, in microseconds (Zen 3, AVX2; both in turns):
//!
//! | shape | f32 | f64 |
//! |---|---|---|
//! | 300 x 60 x 20 | 111 to 37 | 93 to 70 |
//! | 400 x 50 x 12 | 64 to 63, copied first | 87 to 46 |
//! | 200 x 118 x 8 | 48 to 29 | 67 to 49 |
//! | 100 x 40 x 64 | 30 to 21 | 48 to 47 |

use std::marker::PhantomData;

use super::reduction::{Fold, read};
use crate::reduction_order::{MAX_CHUNKED_ROW_BYTES, ROWS_PER_TREE, SHORT_CHUNK};

/// The columns of a chunk of rows that have as many; others have chunks of [`SHORT_CHUNK`].
const CHUNK: usize = 16;

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

/// Rows, and the accumulators of their columns. Invariant: that of [`new`](Self::new).
pub(super) struct KeptColumns<F: Fold<T>, T> {
    src: *const T,
    /// Bytes from one row to the next.
    step: isize,
    rows: usize,
    accumulators: *mut F::Accumulator,
    fold: PhantomData<fn(F)>,
}

impl<F: Fold<T>, T: Copy> KeptColumns<F, T> {
    /// # Safety
    /// That of [`Reduction::fold`](super::reduction::Reduction::fold) for `rows` rows from `src`
    /// on and an accumulator for each of the columns that the methods are given.
    #[inline(always)]
    pub(super) unsafe fn new(
        src: *const T,
        step: isize,
        rows: usize,
        accumulators: *mut F::Accumulator,
    ) -> Self {
        Self { src, step, rows, accumulators, fold: PhantomData }
    }

    /// Combines all rows with the accumulators of so many columns.
    #[inline(always)]
    pub(super) fn combine(&self, columns: usize) {
        match columns {
            CHUNK.. => self.in_chunks::<CHUNK>(columns),
            SHORT_CHUNK.. => self.in_chunks::<SHORT_CHUNK>(columns),
            _ => self.column_by_column(columns),
        }
    }

    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.src.wrapping_byte_offset(at as isize * self.step)
    }

    /// At least `L` columns: the last chunk, the others, and then the accumulators of the last.
    #[inline(always)]
    fn in_chunks<const L: usize>(&self, columns: usize) {
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
        let mut j = 0;
        while j + ROWS_PER_TREE <= self.rows {
            let r = self.eight_rows(j);
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

    /// The first columns, eight rows at a time.
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
