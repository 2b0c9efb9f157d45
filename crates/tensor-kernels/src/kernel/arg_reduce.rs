//! Reductions that return an index: the innermost loops of argmin and argmax.
//!
//! Keys are compared column by column, over up to [`ROWS_PER_PASS`] rows. Next to each best key the
//! loop keeps the number of its row, in an integer as wide as the key, so that one comparison
//! selects both in registers of the same width. After each pass row numbers become indices and are
//! combined with the accumulators. If columns are reduced, a row is first cut into rows of
//! [`PARTIALS_PER_ROW`] elements, as in [`fold`](super::fold).
//!
//! Among equal keys the smallest index wins; NaN precedes every other key. Rows are visited in the
//! order of rising index, so the first of equal keys is kept without a comparison of indices.
//!
//! With 2 KiB of keys at a time in place of [`ARG_REDUCE_PASS_BYTES`], columns of 64 MiB of floats
//! take 11.2 ms instead of 8.0 ms: the pieces of rows are too short.
//!
//! The work per accumulator dominates where an accumulator receives few rows or a row has few
//! columns. Four rows of 16 MiB take 34 ms. 512 rows of 512 floats take 62 µs, one row of as many
//! floats 33 µs.

use std::{marker::PhantomData, mem::MaybeUninit, slice};

use super::{
    compared_rows::{best_of, compare_rows, first_row, key_at},
    dispatch::dispatch,
    isa::{Isa, Kernel},
    listed_elements::element,
    reduction::{AccumulatorRows, FoldBlock, ListedElements, Reduction, ReductionOf, read},
};
use crate::{
    element::{Compare, RowNumber},
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{PARTIALS_PER_ROW, Widths},
    tuning::ARG_REDUCE_PASS_BYTES,
};

/// Rows in a pass: row numbers must fit the narrowest counter, of 8 bits.
const ROWS_PER_PASS: usize = 128;

/// The order in which keys win.
pub(crate) trait ArgOrder<T: Compare>: Sync {
    /// The reduction as this crate compiled it, if it did; see `api::compiled`.
    #[cfg(tensor_compiled)]
    #[inline(always)]
    fn compiled(_reduction: &ArgReduction<Self, T>) -> Option<&dyn Reduction>
    where
        Self: Sized,
    {
        None
    }

    /// A key that every other key precedes or equals.
    const LAST_KEY: T::Key;

    /// Does key `a` win over key `b`?
    fn precedes(a: T::Key, b: T::Key) -> bool;
}

/// An [`ArgOrder`] as a [`Reduction`].
pub(crate) struct ArgReduction<F, T>(pub(crate) PhantomData<fn(F, T)>);

/// The index of no element.
const NO_INDEX: isize = isize::MAX;

/// The best key so far and the smallest index at which it occurs.
#[derive(Clone, Copy)]
struct KeyIndex<K> {
    key: K,
    index: isize,
}

/// The winner of two, by key and then by index.
#[inline(always)]
fn first<F: ArgOrder<T>, T: Compare>(a: KeyIndex<T::Key>, b: KeyIndex<T::Key>) -> KeyIndex<T::Key> {
    // No short circuits: which key wins cannot be predicted.
    let is_earlier = !F::precedes(b.key, a.key) & (a.index <= b.index);
    let in_front = F::precedes(a.key, b.key) | is_earlier;
    if in_front { a } else { b }
}

impl<T: Compare, F: ArgOrder<T>> ReductionOf<T, i64> for ArgReduction<F, T> {
    fn any(&self) -> &dyn Reduction {
        #[cfg(tensor_compiled)]
        if let Some(compiled) = F::compiled(self) {
            return compiled;
        }
        self
    }
}

impl<T: Compare, F: ArgOrder<T>> Reduction for ArgReduction<F, T> {
    fn widths(&self) -> Widths {
        Widths {
            input: size_of::<T>(),
            output: size_of::<i64>(),
            accumulator: size_of::<KeyIndex<T::Key>>(),
        }
    }

    fn returns_indices(&self) -> bool {
        true
    }

    unsafe fn init(&self, accumulators: *mut u8, len: usize) {
        let accumulators = accumulators.cast::<KeyIndex<T::Key>>();
        for i in 0..len {
            // Every element precedes this.
            let nothing = KeyIndex { key: F::LAST_KEY, index: NO_INDEX };
            // SAFETY: `i < len`: the accumulator can be written.
            unsafe { accumulators.wrapping_add(i).write(nothing) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { block, find: PhantomData });
    }

    unsafe fn reduce_listed(&self, listed: ListedElements<'_>) {
        let reduce = |src: *const T, list: &[i32]| {
            // SAFETY: this function's contract.
            let key = |offset: i32| unsafe { element(src, offset) }.to_key();
            let mut best = KeyIndex { key: key(list[0]), index: 0 };
            for (at, &offset) in list.iter().enumerate().skip(1) {
                let key = key(offset);
                if F::precedes(key, best.key) {
                    best = KeyIndex { key, index: at as isize };
                }
            }
            best.index as i64
        };
        // SAFETY: this function's contract.
        unsafe { listed.reduce(reduce) };
    }

    unsafe fn combine(&self, accumulators: *mut u8, others: *const u8, rows: AccumulatorRows) {
        let (accumulators, others) =
            (accumulators.cast::<KeyIndex<T::Key>>(), others.cast::<KeyIndex<T::Key>>());
        rows.each(|i| {
            // SAFETY: accumulator `i` of these rows is initialised.
            let a = unsafe { read(accumulators, i) };
            // SAFETY: accumulator `i` of these rows is initialised.
            let b = unsafe { read(others, i) };
            // SAFETY: the accumulator that was read.
            unsafe { accumulators.wrapping_add(i).write(first::<F, T>(a, b)) };
        });
    }

    unsafe fn finalize(&self, accumulators: *const u8, out: *mut u8, step: isize, len: usize) {
        let accumulators = accumulators.cast::<KeyIndex<T::Key>>();
        for i in 0..len {
            // SAFETY: `i < len`: the accumulator is initialised.
            let found = unsafe { read(accumulators, i) };
            let out = out.wrapping_offset(step * i as isize).cast::<i64>();
            // SAFETY: `i < len`: the result can be written, and is aligned.
            unsafe { out.write(found.index as i64) };
        }
    }
}

/// A block, or several. Invariant: they meet the contract of [`Reduction::fold`].
struct Block<F, T> {
    block: FoldBlock,
    find: PhantomData<fn(F, T)>,
}

impl<T: Compare, F: ArgOrder<T>> Kernel for Block<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        for at in 0..self.block.blocks {
            Self { block: self.block.block(at), ..self }.fold();
        }
    }
}

impl<T: Compare, F: ArgOrder<T>> Block<F, T> {
    #[inline(always)]
    fn fold(&self) {
        let (groups, rows) = self.block.accumulator_groups();
        for group in 0..groups {
            if self.block.columns_kept {
                self.fold_kept_columns(group, rows);
            } else {
                self.fold_reduced_columns(group, rows);
            }
        }
    }
}

/// Memory for the keys, or for the row numbers, of the columns of a pass.
#[repr(align(64))]
struct WorkspaceBytes(
    #[allow(dead_code, reason = "only its bytes are used")] [u8; ARG_REDUCE_PASS_BYTES],
);

/// Uninitialised, as only as many elements are written as there are columns.
type Workspace = MaybeUninit<WorkspaceBytes>;

/// The keys of a row, written to a workspace.
///
/// # Safety
/// `columns` elements can be read and are aligned.
#[inline(always)]
unsafe fn keys<T: Compare>(
    workspace: &mut Workspace,
    src: *const T,
    columns: usize,
) -> &mut [T::Key] {
    let start = start::<T::Key>(workspace, columns);
    for i in 0..columns {
        // SAFETY: `i < columns`: the element can be read.
        let key = unsafe { key_at(src, i) };
        // SAFETY: `start` has checked that the workspace holds `columns` keys, and it is aligned.
        unsafe { start.wrapping_add(i).write(key) };
    }
    // SAFETY: all `columns` keys have just been written.
    unsafe { slice::from_raw_parts_mut(start, columns) }
}

#[inline(always)]
fn zero_row_numbers<N: RowNumber>(workspace: &mut Workspace, columns: usize) -> &mut [N] {
    let start = start::<N>(workspace, columns);
    for i in 0..columns {
        // SAFETY: `start` has checked that the workspace holds `columns` row numbers, and it is
        // aligned.
        unsafe { start.wrapping_add(i).write(N::of(0)) };
    }
    // SAFETY: all `columns` row numbers have just been written.
    unsafe { slice::from_raw_parts_mut(start, columns) }
}

/// The start of the workspace, for `len` values; checks that they fit.
#[inline(always)]
fn start<V>(workspace: &mut Workspace, len: usize) -> *mut V {
    const { assert!(align_of::<V>() <= CACHE_LINE) };
    assert!(len <= ARG_REDUCE_PASS_BYTES / size_of::<V>(), "columns are cut to fit");
    workspace.as_mut_ptr().cast()
}

impl<T: Compare, F: ArgOrder<T>> Block<F, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.block.src.wrapping_offset(at as isize * self.block.row_step).cast()
    }

    #[inline(always)]
    fn index(&self, row: usize, column: usize) -> isize {
        let FoldBlock { index, index_row_stride, index_column_stride, .. } = self.block;
        index + row as isize * index_row_stride + column as isize * index_column_stride
    }

    #[inline(always)]
    fn accumulate(&self, accumulator: usize, found: KeyIndex<T::Key>) {
        let accumulator =
            self.block.accumulators.cast::<KeyIndex<T::Key>>().wrapping_add(accumulator);
        // SAFETY: the invariant: the accumulator is initialised, and nobody else uses it.
        let before = unsafe { accumulator.read() };
        // Most accumulators receive one pass, and the branch is the same for all of a pass.
        let found = if before.index == NO_INDEX { found } else { first::<F, T>(before, found) };
        // SAFETY: the accumulator that was read.
        unsafe { accumulator.write(found) };
    }

    /// Columns kept: an accumulator per column.
    #[inline(always)]
    fn fold_kept_columns(&self, group: usize, rows: usize) {
        // Two variables, not an array: in debug builds an array of both is on the stack twice.
        let mut keys = Workspace::uninit();
        let mut row_numbers = Workspace::uninit();
        for from in (group..group + rows).step_by(ROWS_PER_PASS) {
            let count = ROWS_PER_PASS.min(group + rows - from);
            for column in
                (0..self.block.columns).step_by(ARG_REDUCE_PASS_BYTES / size_of::<T::Key>())
            {
                let workspaces = [&mut keys, &mut row_numbers];
                self.columns_pass(
                    workspaces,
                    (from, count),
                    column,
                    group * self.block.accumulator_row_stride,
                );
            }
        }
    }

    /// One pass: `count` rows of the columns that fit a workspace.
    #[inline(always)]
    fn columns_pass(
        &self,
        [for_keys, for_rows]: [&mut Workspace; 2],
        (from, count): (usize, usize),
        column: usize,
        accumulators: usize,
    ) {
        let columns =
            (ARG_REDUCE_PASS_BYTES / size_of::<T::Key>()).min(self.block.columns - column);
        let backwards = self.block.index_row_stride < 0;
        let (start, step) = match backwards {
            false => (self.row(from), self.block.row_step),
            true => (self.row(from + count - 1), -self.block.row_step),
        };
        let start = start.wrapping_add(column);
        // SAFETY: the invariant: `columns` elements of a row of the block, from `column` on.
        let keys = unsafe { keys(for_keys, start, columns) };
        let row_numbers = zero_row_numbers::<T::RowNumber>(for_rows, columns);
        // SAFETY: the invariant: the same columns of `count` rows of the block.
        unsafe { compare_rows::<F, T>(keys, row_numbers, start, step, count) };
        for i in 0..columns {
            let rank = row_numbers[i].to_u32() as usize;
            let row = if backwards { from + count - 1 - rank } else { from + rank };
            let found = KeyIndex { key: keys[i], index: self.index(row, column + i) };
            self.accumulate(accumulators + column + i, found);
        }
    }

    /// Columns reduced: one accumulator for all rows of the group.
    #[inline(always)]
    fn fold_reduced_columns(&self, group: usize, rows: usize) {
        for j in group..group + rows {
            let (columns, whole) =
                (self.block.columns, self.block.columns / PARTIALS_PER_ROW * PARTIALS_PER_ROW);
            for at in (0..whole).step_by(ROWS_PER_PASS * PARTIALS_PER_ROW) {
                self.row_part(
                    j,
                    at,
                    ROWS_PER_PASS.min((whole - at) / PARTIALS_PER_ROW),
                    PARTIALS_PER_ROW,
                    group,
                );
            }
            if whole < columns {
                self.row_part(j, whole, 1, columns - whole, group);
            }
        }
    }

    /// Treats `count * row_len` adjacent elements of a row as `count` rows of `row_len` elements.
    #[inline(always)]
    fn row_part(&self, j: usize, at: usize, count: usize, row_len: usize, group: usize) {
        let (mut keys, mut row_numbers) =
            ([F::LAST_KEY; PARTIALS_PER_ROW], [T::RowNumber::of(0); PARTIALS_PER_ROW]);
        let backwards = self.block.index_column_stride < 0;
        let start = self.row(j).wrapping_add(at);
        let step = (PARTIALS_PER_ROW * size_of::<T>()) as isize;
        let (start, step) = match backwards {
            false => (start, step),
            true => (start.wrapping_byte_offset((count - 1) as isize * step), -step),
        };
        if row_len == PARTIALS_PER_ROW {
            // SAFETY: the invariant: `PARTIALS_PER_ROW` elements of a row of the block.
            unsafe { first_row(&mut keys, start) };
            // SAFETY: the invariant: `count * PARTIALS_PER_ROW` elements of the same row.
            unsafe { compare_rows::<F, T>(&mut keys, &mut row_numbers, start, step, count) };
        } else {
            // SAFETY: the invariant: the last `row_len < PARTIALS_PER_ROW` elements of a row of the
            // block.
            unsafe { first_row(&mut keys[..row_len], start) };
        }
        let (key, position) = best_of::<F, T>(&keys, &row_numbers, row_len, backwards);
        let column = if backwards { count * row_len - 1 - position } else { position };
        let found = KeyIndex { key, index: self.index(j, at + column) };
        self.accumulate(group * self.block.accumulator_row_stride, found);
    }
}
