//! A bounce buffer, for rows that the loops of an operation do not handle, or would handle slowly.
//!
//! The loops of [`Operation`] are compiled for each operation, element type and SIMD level of a
//! program. The code here depends on none of these and is compiled once. It passes a few rows at a
//! time to the loops, and replaces operands by a small buffer that stays in the first-level cache.
//! Three cases need this:
//!
//! - **The result is an input**, as in an operation in place. The compiler guards a vectorised loop
//!   by the check that the result overlaps no input. In place that check fails and a scalar loop
//!   runs. So results are computed into the buffer and copied from there.
//! - **Several rows together fail that check.** With several inputs the compiler checks once for
//!   all rows, from the bounds of their addresses. The check fails if an input's rows descend or
//!   lie between those of the result, although no two rows overlap. Each row alone passes. (All
//!   rows at once, the sum of 38 by 640 floats and their flipped rows took 12.4 µs, four times the
//!   naive loop.) Short rows need no check, as they are computed in chunks: the product of 32 rows
//!   of 26 floats, one input mirrored, takes 89 ns at once, and 245 row by row (Zen 5).
//! - **All of several inputs are scalars.** No loop is compiled for that combination
//!   ([`RowBlock::input_to_repeat`]). One of them is repeated in the buffer, and read there as a
//!   row.
//!
//! # Why results are the same
//! An operation is a function of the elements at one index. An input shares no element with the
//! result, or is the result, index by index. So no element is read after the result of another
//! index has overwritten it, whatever the order and the number of results computed at a time.

use std::mem::MaybeUninit;

use super::line_writer::LineWriter;
use crate::{
    exec::SimdLevel,
    kernel::{Operation, RowBlock},
    tuning::{BOUNCE_BUFFER_BYTES, BOUNCE_MEMCPY_BYTES, STREAMED_RESULT_BYTES},
};

/// The largest alignment that elements in the buffer can have.
const BUFFER_ALIGN: usize = 64;

#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; BOUNCE_BUFFER_BYTES]);

const _: () = assert!(align_of::<Buffer>() == BUFFER_ALIGN);

impl Buffer {
    /// Do elements of this width fit, and is the buffer aligned for them? A type's alignment
    /// divides its width, so the largest power of two in the width bounds it.
    #[inline]
    fn takes(width: usize) -> bool {
        width.trailing_zeros() <= BUFFER_ALIGN.trailing_zeros() && width <= BOUNCE_BUFFER_BYTES
    }
}

/// Computes rows of adjacent results.
///
/// # Safety
/// - `widths` are those of the operation.
/// - In every row operand 0 can be written at `len` adjacent elements. The inputs can be read
///   there, or at one element if `is_scalar` is set. All are aligned.
/// - An input shares no element with operand 0, or is operand 0, index by index. Operand 0 is never
///   `is_scalar`.
#[inline]
pub(super) unsafe fn compute<const N: usize>(
    operation: &dyn Operation<N>,
    simd: SimdLevel,
    widths: &[usize; N],
    block: &mut RowBlock<N>,
) {
    let call = Call { operation, simd, widths };
    fuse_rows(block, widths);
    match block.input_to_repeat() {
        // SAFETY: this function's contract; `input_to_repeat` is `None`.
        None => unsafe { call.compute_rows(block) },
        // SAFETY: this function's contract, and `k` is what `input_to_repeat` returned.
        Some(k) => unsafe { call.compute_repeated(k, block) },
    }
}

/// Computes rows as [`compute`] does, and writes the results past the caches.
///
/// # Safety
/// That of [`compute`]. What `out` holds can be written.
pub(super) unsafe fn compute_streamed<const N: usize>(
    operation: &dyn Operation<N>,
    simd: SimdLevel,
    widths: &[usize; N],
    mut block: RowBlock<N>,
    out: &mut LineWriter,
) {
    let call = Call { operation, simd, widths };
    fuse_rows(&mut block, widths);
    let follow = block.row_strides[0] == (block.len * widths[0]) as isize;
    let at_once = if follow { block.rows } else { 1 };
    for j in (0..block.rows).step_by(at_once) {
        let rows = call.part(&block, (j, at_once), (0, block.len));
        call.parts(&rows, STREAMED_RESULT_BYTES / widths[0], |part| {
            let mut inside = part;
            inside.ptrs[0] = out.room_for(part.ptrs[0]);
            match inside.input_to_repeat() {
                // SAFETY: the contract of `compute` holds for some of the elements. Their results
                // fit into the room, which is aligned, and overlaps no input.
                None => unsafe { call.compute_rows(&inside) },
                // SAFETY: the same, and `k` is what `input_to_repeat` returned.
                Some(k) => unsafe { call.compute_repeated(k, &inside) },
            }
            // SAFETY: the results have just been computed, and follow each other.
            unsafe { out.take(part.rows * part.len * widths[0]) };
        });
    }
}

/// Fuses all rows into one, if every operand's rows follow each other without gaps: starting a row
/// takes as long as 32 additions. A single row gets strides of 0, because the compiler's overlap
/// check fails for a negative stride even if there is one row.
// In place: see `Operands`.
#[inline]
fn fuse_rows<const N: usize>(block: &mut RowBlock<N>, widths: &[usize; N]) {
    let follows = |k: usize| {
        let row = if block.is_scalar[k] { 0 } else { block.len * widths[k] };
        block.row_strides[k] == row as isize
    };
    if block.rows == 1 || (0..N).all(follows) {
        block.len *= block.rows;
        (block.rows, block.row_strides) = (1, [0; N]);
    }
}

/// An operation, and what every call of it needs.
#[derive(Clone, Copy)]
struct Call<'a, const N: usize> {
    operation: &'a dyn Operation<N>,
    simd: SimdLevel,
    widths: &'a [usize; N],
}

impl<const N: usize> Call<'_, N> {
    /// Computes rows for which [`RowBlock::input_to_repeat`] is `None`.
    ///
    /// # Safety
    /// That of [`compute`].
    #[inline]
    unsafe fn compute_rows(self, block: &RowBlock<N>) {
        // An input that starts at the same address as the result is the result.
        let is_input = block.ptrs[1..].contains(&block.ptrs[0]);
        if is_input && Buffer::takes(self.widths[0]) {
            // SAFETY: the contract of `compute`; an element of the result fits into the buffer.
            unsafe { self.compute_via_buffer(block) };
        } else {
            // SAFETY: the contract of `compute`. If the result is an input that does not fit into
            // the buffer, the loop is correct but not vectorised.
            unsafe { self.compute_checked(block) };
        }
    }

    /// Computes rows whose result is an input, through the buffer.
    ///
    /// # Safety
    /// That of [`compute`], and an element of the result fits into the buffer.
    #[inline(never)]
    unsafe fn compute_via_buffer(self, block: &RowBlock<N>) {
        let mut buffer = Buffer([MaybeUninit::uninit(); BOUNCE_BUFFER_BYTES]);
        let (start, width) = (buffer.0.as_mut_ptr().cast::<u8>(), self.widths[0]);
        self.parts(block, BOUNCE_BUFFER_BYTES / width, |part| {
            let (row, mut inside) = (part.len * width, part);
            (inside.ptrs[0], inside.row_strides[0]) = (start, row as isize);
            // SAFETY: the contract of `compute` holds for some of the elements. The results fit
            // into the buffer, which `takes` has found aligned, and which overlaps no input.
            unsafe { self.compute_checked(&inside) };
            for j in 0..part.rows {
                let out = part.ptrs[0].wrapping_offset(j as isize * part.row_strides[0]);
                // SAFETY: row `j` of the buffer has just been written; by the contract of `compute`
                // the same elements of operand 0 can be written.
                unsafe { copy_row(start.wrapping_add(j * row), out, row) };
            }
        });
    }

    /// Computes rows; one by one if they would fail the compiler's overlap check together.
    ///
    /// # Safety
    /// That of [`compute`].
    #[inline]
    unsafe fn compute_checked(self, block: &RowBlock<N>) {
        if !fails_overlap_check(block, self.widths)
            || self.operation.has_chunks(self.simd, block.len)
        {
            // SAFETY: the contract of `compute`, for all rows.
            return unsafe { self.operation.compute(self.simd, block) };
        }
        for j in 0..block.rows {
            let row = self.part(block, (j, 1), (0, block.len));
            // SAFETY: the contract of `compute`, for one of the rows.
            unsafe { self.operation.compute(self.simd, &row) };
        }
    }

    /// Computes rows with input `k`, a scalar, repeated in the buffer.
    ///
    /// # Safety
    /// That of [`compute`]; `k` is what [`RowBlock::input_to_repeat`] returns.
    #[inline(never)]
    unsafe fn compute_repeated(self, k: usize, block: &RowBlock<N>) {
        let (mut buffer, width) =
            (Buffer([MaybeUninit::uninit(); BOUNCE_BUFFER_BYTES]), self.widths[k]);
        let start = buffer.0.as_mut_ptr().cast::<u8>();
        // If the element does not fit the buffer, one result is computed at a time, and nothing is
        // repeated.
        let capacity = if Buffer::takes(width) { BOUNCE_BUFFER_BYTES / width } else { 1 };
        let is_same = block.row_strides[k] == 0;
        let compute = |part: RowBlock<N>| {
            let row = if is_same { 0 } else { part.len * width };
            let mut inside = part;
            if capacity > 1 {
                // SAFETY: the contract of `compute`: the scalar of each row can be read. The rows
                // fit into the buffer, which overlaps no operand: of equal ones there is one.
                unsafe { repeat_rows(&part, k, width, start) };
                inside.is_scalar[k] = false;
                (inside.ptrs[k], inside.row_strides[k]) = (start, row as isize);
            }
            // SAFETY: the contract of `compute` holds for some of the elements. Input `k` has `len`
            // elements a row in the buffer, which `takes` has found aligned, so `input_to_repeat`
            // is `None`.
            unsafe { self.compute_rows(&inside) };
        };
        if !is_same || capacity == 1 {
            return self.parts(block, capacity, compute);
        }
        for i in (0..block.len).step_by(capacity) {
            let len = capacity.min(block.len - i);
            compute(self.part(block, (0, block.rows), (i, len)));
        }
    }

    /// Calls `each` with parts of at most `capacity` elements: several whole rows, or a part of one
    /// row.
    #[inline(always)]
    fn parts(self, block: &RowBlock<N>, capacity: usize, mut each: impl FnMut(RowBlock<N>)) {
        if block.rows * block.len <= capacity {
            return each(*block);
        }
        let len = capacity.min(block.len).max(1);
        let rows = if block.rows == 1 { 1 } else { capacity / len };
        let mut j = 0;
        while j < block.rows {
            let some_rows = (j, rows.min(block.rows - j));
            let mut i = 0;
            while i < block.len {
                each(self.part(block, some_rows, (i, len.min(block.len - i))));
                i += len;
            }
            j += rows;
        }
    }

    /// The part with `rows` rows from row `j` on, and of these `len` elements from element `i` on.
    #[inline]
    fn part(
        self,
        block: &RowBlock<N>,
        (j, rows): (usize, usize),
        (i, len): (usize, usize),
    ) -> RowBlock<N> {
        let start = |k: usize| {
            let element = if block.is_scalar[k] { 0 } else { i * self.widths[k] };
            block.ptrs[k].wrapping_offset(j as isize * block.row_strides[k]).wrapping_add(element)
        };
        let row_strides = if rows == 1 { [0; N] } else { block.row_strides };
        RowBlock { ptrs: std::array::from_fn(start), row_strides, rows, len, ..*block }
    }
}

/// With several inputs the compiler checks the overlap of all rows at once. Does an input fail that
/// check?
#[inline]
fn fails_overlap_check<const N: usize>(block: &RowBlock<N>, widths: &[usize; N]) -> bool {
    if N == 2 || block.rows < 2 {
        return false;
    }
    let range = |k: usize| {
        let start = block.ptrs[k].addr();
        let row = if block.is_scalar[k] { widths[k] } else { block.len * widths[k] };
        (start, start.wrapping_add_signed(block.row_strides[k] * (block.rows as isize - 1)) + row)
    };
    let (start, end) = range(0);
    (1..N).any(|k| {
        let (its_start, its_end) = range(k);
        block.row_strides[k] < 0 || (its_start < end && start < its_end)
    })
}

/// Copies a row from the buffer.
///
/// # Safety
/// `bytes` can be read at `from` and written at `to`; the two do not overlap.
#[inline]
unsafe fn copy_row(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        let count = BOUNCE_MEMCPY_BYTES.min(bytes - at);
        // SAFETY: `at + count <= bytes`; the two rows do not overlap, by this function's contract.
        unsafe { to.wrapping_add(at).copy_from_nonoverlapping(from.wrapping_add(at), count) };
        at += count;
    }
}

/// Writes rows from `to` on, one after the other. Each repeats the scalar that input `k` has for
/// it; if that is the same for all there is one row.
///
/// # Safety
/// The scalar of each row can be read. These rows of `len` elements can be written from `to` on,
/// which overlaps none of them.
unsafe fn repeat_rows<const N: usize>(part: &RowBlock<N>, k: usize, width: usize, to: *mut u8) {
    let rows = if part.row_strides[k] == 0 { 1 } else { part.rows };
    for j in 0..rows {
        let from = part.ptrs[k].wrapping_offset(j as isize * part.row_strides[k]);
        let row = to.wrapping_add(j * part.len * width);
        // SAFETY: the scalar of row `j` can be read, and row `j` of the buffer be written.
        unsafe { repeat(from, width, row, part.len) };
    }
}

/// Writes an element `len` times.
///
/// # Safety
/// `width` bytes can be read at `element`, and `width * len` be written at `to`; they do not
/// overlap.
unsafe fn repeat(element: *const u8, width: usize, to: *mut u8, len: usize) {
    let bytes = width * len;
    let mut done = width.min(bytes);
    // SAFETY: `done <= width` bytes can be read, and `done <= bytes` be written; no overlap.
    unsafe { to.copy_from_nonoverlapping(element, done) };
    // The bytes written so far are copied behind themselves, doubling their number each time.
    while done < bytes {
        let count = done.min(bytes - done);
        // SAFETY: `done` bytes have been written; the next `count <= done` lie behind them, and
        // `done + count <= bytes`.
        unsafe { to.wrapping_add(done).copy_from_nonoverlapping(to, count) };
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exec, Tensor, map_inplace, ops};

    /// The elements of several buffers of f32, and a few more.
    const LONG: usize = 3 * super::BOUNCE_BUFFER_BYTES / size_of::<f32>() + 5;

    #[test]
    fn values_alone_fill_a_result_longer_than_the_buffer() {
        let (exec, out) = (Exec::current().unwrap(), Tensor::zeros([LONG]).unwrap());
        ops::sub_into(exec, 5.0f32, 2.0f32, &out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [3.0; LONG]);
        ops::mul_add_into(exec, 5.0f32, 2.0f32, 1.0f32, &out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [11.0; LONG]);
    }

    #[test]
    fn values_that_differ_from_row_to_row_fill_their_rows() {
        let exec = Exec::current().unwrap();
        for len in [2, 3, 100, LONG] {
            let a = Tensor::arange(0.0f32, 7.0, 1.0).unwrap().view([7, 1]).unwrap();
            let a = a.expand([7, len as isize]).unwrap();
            let sum = ops::add(exec, &a, &a).unwrap().to_vec().unwrap();
            for (at, &x) in sum.iter().enumerate() {
                assert_eq!(x, 2.0 * (at / len) as f32, "{len} elements a row, element {at}");
            }
        }
    }

    #[test]
    fn one_value_for_all_rows_is_combined_with_values_that_differ() {
        let exec = Exec::current().unwrap();
        for len in [2, 3, 100, LONG] {
            let rows = Tensor::arange(1.0f32, 8.0, 1.0).unwrap().view([7, 1]).unwrap();
            let rows = rows.expand([7, len as isize]).unwrap();
            let two = Tensor::full([1, 1], 2.0f32).unwrap().expand([7, len as isize]).unwrap();
            let check = |result: Tensor<f32>, of_row: fn(f32) -> f32| {
                for (at, &y) in result.to_vec().unwrap().iter().enumerate() {
                    let x = (1 + at / len) as f32;
                    assert_eq!(y, of_row(x), "{len} elements a row, element {at}");
                }
            };
            check(ops::sub(exec, &rows, &two).unwrap(), |x| x - 2.0);
            check(ops::sub(exec, &two, &rows).unwrap(), |x| 2.0 - x);
            check(ops::mul_add(exec, &rows, &two, &rows).unwrap(), |x| x * 2.0 + x);
            check(ops::mul_add(exec, &two, &rows, &two).unwrap(), |x| 2.0 * x + 2.0);
            check(ops::mul_add(exec, &rows, &rows, &two).unwrap(), |x| x * x + 2.0);
        }
    }

    #[test]
    fn rows_with_gaps_are_computed_in_place() {
        let exec = Exec::current().unwrap();
        for len in [1, 3, 100, LONG] {
            let all = Tensor::full([9, len + 2], 1.0f32).unwrap();
            let x = all.narrow(1, 1, len).unwrap();
            let b = Tensor::arange(0.0f32, 9.0, 1.0).unwrap().view([9, 1]).unwrap();
            ops::add_inplace(exec, &x, &b).unwrap();
            for (at, &x) in all.to_vec().unwrap().iter().enumerate() {
                let (row, column) = (at / (len + 2), at % (len + 2));
                let inside = (1..=len).contains(&column);
                let expected = if inside { 1.0 + row as f32 } else { 1.0 };
                assert_eq!(x, expected, "{len} elements a row, row {row}, column {column}");
            }
        }
    }

    #[test]
    fn elements_aligned_more_than_the_buffer_are_computed_in_place() {
        #[repr(C, align(128))]
        #[derive(Clone, Copy, PartialEq, Debug, bytemuck::Zeroable, bytemuck::Pod)]
        struct Wide([u64; 16]);
        let x = Tensor::full([300], Wide([1; 16])).unwrap();
        let mut writing = x.write().unwrap();
        let mut view = writing.as_view_mut().unwrap();
        map_inplace(Exec::current().unwrap(), &mut view, |x| Wide(x.0.map(|y| y + 1))).unwrap();
        drop(writing);
        assert_eq!(x.to_vec().unwrap(), [Wide([2; 16]); 300]);
    }
}
