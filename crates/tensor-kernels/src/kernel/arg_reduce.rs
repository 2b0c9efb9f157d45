//! Reductions that return an index: the innermost loops of argmin and argmax.
//!
//! Where columns are kept, keys are compared column by column, over up to [`ROWS_PER_PASS`] rows.
//! Next to each best key the loop keeps the number of its row, in an integer as wide as the key, so
//! that one comparison selects both in registers of the same width. After each pass row numbers
//! become indices and are combined with the accumulators. Short rows are compared in chunks of a
//! few columns, which the compiler keeps in registers or a small array.
//!
//! Where columns are reduced, the best key is found first, and then its index; see
//! [`adjacent_keys`](super::adjacent_keys).
//!
//! Among equal keys the smallest index wins; NaN precedes every other key. Rows are visited in the
//! order of rising index, so the first of equal keys is kept without a comparison of indices.
//!
//! With 2 KiB of keys at a time in place of [`ARG_REDUCE_PASS_BYTES`], columns of 64 MiB of floats
//! take 11.2 ms instead of 8.0 ms: the pieces of rows are too short.
//!
//! The work per accumulator dominates where an accumulator receives few rows or a row has few
//! columns: 2 ns each. 512 rows of 512 floats take 27 µs, as many floats 11 µs (Zen 5).

use std::{marker::PhantomData, mem::MaybeUninit, slice};

use super::{
    adjacent_keys::{AdjacentRows, NO_INDEX},
    compared_rows::compare_rows,
    dispatch::dispatch,
    isa::{Isa, Kernel},
    listed_elements::element,
    reduction::{AccumulatorRows, FoldBlock, ListedElements, Reduction, ReductionOf, read},
};
use crate::{
    element::{Compare, RowNumber},
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{MAX_CHUNKED_ROW_BYTES, SHORT_CHUNK, Widths},
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

    /// One of two keys that the other does not precede; or a key that neither precedes, if both are
    /// the first of all, like NaN.
    fn best(a: T::Key, b: T::Key) -> T::Key;
}

/// An [`ArgOrder`] as a [`Reduction`].
pub(crate) struct ArgReduction<F, T>(pub(crate) PhantomData<fn(F, T)>);

/// The best key so far and the smallest index at which it occurs.
#[derive(Clone, Copy)]
struct KeyIndex<K> {
    key: K,
    index: isize,
}

/// Does the first of two win, by key and then by index?
#[inline(always)]
fn first_is<F: ArgOrder<T>, T: Compare>(a: KeyIndex<T::Key>, b: KeyIndex<T::Key>) -> bool {
    // No short circuits: which key wins cannot be predicted.
    let is_earlier = !F::precedes(b.key, a.key) & (a.index <= b.index);
    F::precedes(a.key, b.key) | is_earlier
}

/// The winner of two, by key and then by index.
#[inline(always)]
fn first<F: ArgOrder<T>, T: Compare>(a: KeyIndex<T::Key>, b: KeyIndex<T::Key>) -> KeyIndex<T::Key> {
    if first_is::<F, T>(a, b) { a } else { b }
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

    unsafe fn repeat(&self, _: *mut u8, _: usize, _: usize) {}

    unsafe fn finalize(
        &self,
        accumulators: *const u8,
        out: *mut u8,
        [out_step, step]: [isize; 2],
        len: usize,
    ) {
        let accumulators = accumulators.cast::<KeyIndex<T::Key>>();
        for i in 0..len as isize {
            // SAFETY: `i < len`: the accumulator is initialised.
            let found = unsafe { read(accumulators.wrapping_byte_offset(step * i), 0) };
            let out = out.wrapping_offset(out_step * i).cast::<i64>();
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

/// The last of all keys, written to a workspace for each column.
#[inline(always)]
fn last_keys<F: ArgOrder<T>, T: Compare>(
    workspace: &mut Workspace,
    columns: usize,
) -> &mut [T::Key] {
    let start = start::<T::Key>(workspace, columns);
    for i in 0..columns {
        // SAFETY: `start` has checked that the workspace holds `columns` keys, and it is aligned.
        unsafe { start.wrapping_add(i).write(F::LAST_KEY) };
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
    fn accumulator(&self, at: usize) -> *mut KeyIndex<T::Key> {
        self.block.accumulators.cast::<KeyIndex<T::Key>>().wrapping_add(at)
    }

    /// What an accumulator holds.
    #[inline(always)]
    fn before(&self, accumulator: usize) -> KeyIndex<T::Key> {
        // SAFETY: the invariant: the accumulator is initialised, and nobody else uses it.
        unsafe { self.accumulator(accumulator).read() }
    }

    /// Combines a key with an accumulator.
    #[inline(always)]
    fn accumulate(&self, at: usize, found: KeyIndex<T::Key>) {
        self.write(at, first::<F, T>(self.before(at), found));
    }

    #[inline(always)]
    fn write(&self, at: usize, found: KeyIndex<T::Key>) {
        // SAFETY: the invariant: the accumulator can be written, and nobody else uses it.
        unsafe { self.accumulator(at).write(found) };
    }

    /// Columns kept: an accumulator per column.
    #[inline(always)]
    fn fold_kept_columns(&self, group: usize, rows: usize) {
        let columns = self.block.columns;
        if columns * size_of::<T::Key>() > MAX_CHUNKED_ROW_BYTES || columns < SHORT_CHUNK {
            return self.fold_long_rows(group, rows);
        }
        match size_of::<T::Key>() {
            1 if columns >= 64 => self.fold_chunks::<64>(group, rows),
            1 | 2 if columns >= 32 => self.fold_chunks::<32>(group, rows),
            ..8 if columns >= 16 => self.fold_chunks::<16>(group, rows),
            _ if columns >= 8 => self.fold_chunks::<8>(group, rows),
            _ => self.fold_chunks::<4>(group, rows),
        }
    }

    /// Short rows: `L` columns at a time. The last `L` overlap those before, which changes nothing.
    #[inline(always)]
    fn fold_chunks<const L: usize>(&self, group: usize, rows: usize) {
        for from in (group..group + rows).step_by(ROWS_PER_PASS) {
            let count = ROWS_PER_PASS.min(group + rows - from);
            for column in (0..self.block.columns).step_by(L) {
                let column = column.min(self.block.columns - L);
                let (mut keys, mut row_numbers) = ([F::LAST_KEY; L], [T::RowNumber::of(0); L]);
                let accumulators = group * self.block.accumulator_row_stride;
                self.compare_pass(&mut keys, &mut row_numbers, (from, count), column, accumulators);
            }
        }
    }

    #[inline(always)]
    fn fold_long_rows(&self, group: usize, rows: usize) {
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
        let keys = last_keys::<F, T>(for_keys, columns);
        let row_numbers = zero_row_numbers::<T::RowNumber>(for_rows, columns);
        self.compare_pass(keys, row_numbers, (from, count), column, accumulators);
    }

    /// Compares `count` rows of the columns for which there are keys and row numbers, from `column`
    /// on, and combines them with the accumulators.
    #[inline(always)]
    fn compare_pass(
        &self,
        keys: &mut [T::Key],
        row_numbers: &mut [T::RowNumber],
        (from, count): (usize, usize),
        column: usize,
        accumulators: usize,
    ) {
        let backwards = self.block.index_row_stride < 0;
        let (start, step) = match backwards {
            false => (self.row(from), self.block.row_step),
            true => (self.row(from + count - 1), -self.block.row_step),
        };
        let start = start.wrapping_add(column);
        // SAFETY: the invariant: these columns of `count` rows of the block.
        unsafe { compare_rows::<F, T>(keys, row_numbers, start, step, count) };
        // Kept columns have the same index.
        let first = if backwards { from + count - 1 } else { from };
        let (index, step) = (self.index(first, 0), self.block.index_row_stride.abs());
        let accumulators = accumulators + column;
        // Most accumulators receive one pass.
        let mut are_empty = true;
        for i in 0..keys.len() {
            are_empty &= self.before(accumulators + i).index == NO_INDEX;
        }
        macro_rules! each {
            ($combine:ident) => {
                for (i, (&key, row)) in keys.iter().zip(row_numbers).enumerate() {
                    let found = KeyIndex { key, index: index + row.to_u32() as isize * step };
                    self.$combine(accumulators + i, found);
                }
            };
        }
        if are_empty { each!(write) } else { each!(accumulate) }
    }

    /// Columns reduced: one accumulator for all rows of the group. Rows that follow each other
    /// without gaps are read as one.
    #[inline(always)]
    fn fold_reduced_columns(&self, group: usize, rows: usize) {
        let (columns, most) = (self.block.columns, ARG_REDUCE_PASS_BYTES / size_of::<T>());
        let is_dense = self.block.row_step == (columns * size_of::<T>()) as isize;
        let rows_at_once = if is_dense { (most / columns).max(1) } else { 1 };
        let accumulator = group * self.block.accumulator_row_stride;
        for row in (group..group + rows).step_by(rows_at_once) {
            let rows = rows_at_once.min(group + rows - row);
            for column in (0..columns).step_by(most) {
                let columns = most.min(columns - column);
                self.adjacent_rows(accumulator, [row, column], [rows, columns]);
            }
        }
    }

    /// Combines rows that follow each other without gaps, from a row and a column on, with an
    /// accumulator.
    #[inline(always)]
    fn adjacent_rows(
        &self,
        accumulator: usize,
        [row, column]: [usize; 2],
        [rows, columns]: [usize; 2],
    ) {
        let elements = AdjacentRows {
            src: self.row(row).wrapping_add(column),
            rows,
            columns,
            index: self.index(row, column),
            row_stride: self.block.index_row_stride,
            column_stride: self.block.index_column_stride,
        };
        // SAFETY: the invariant: elements of the block, of which each row has some.
        let key = unsafe { elements.best_key::<F>() };
        let least = KeyIndex { key, index: elements.least_index() };
        let before = self.before(accumulator);
        if first_is::<F, T>(before, least) {
            return;
        }
        let below = if F::precedes(key, before.key) { NO_INDEX } else { before.index };
        // SAFETY: as above.
        let index = unsafe { elements.index_of::<F>(key, below) };
        self.accumulate(accumulator, KeyIndex { key, index });
    }
}
