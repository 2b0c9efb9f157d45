//! Rows that the loops of an operation do not take, or would take slowly, brought into a form that
//! suits them.
//!
//! The loops of [`Operation`] are compiled for each operation, element type and SIMD level of a
//! program. What is here knows none of these and is compiled once. It hands the loops a few rows
//! at a time, and keeps what it puts in their place in a small buffer, which stays in the
//! first-level cache:
//!
//! - **The result is an input**, as of an operation in place. The compiler vectorises a loop under
//!   a check that the result overlaps no input, which fails then. Results are computed into the
//!   buffer and copied from there.
//! - **Rows fail that check together.** With several inputs it is made once for all rows, from the
//!   bounds of their addresses. It fails where an input's rows descend, or lie between the
//!   result's, though no two rows overlap. Each row by itself passes. (All at once, the sum of 38
//!   by 640 floats and their flipped rows took 12.4 µs, four times the naive loop.)
//! - **Each of several inputs is one element for all**, for which no loop is compiled
//!   ([`RowBlock::input_to_repeat`]). One of them is repeated in the buffer, and read there like any
//!   other.
//!
//! # Why results are the same
//! An operation is a function of the elements at one index, and an input shares no element with
//! the result, or is the result, index by index. So no element is read after another index's
//! result has been written over it, in whichever order and however many at a time results are
//! computed.

use std::mem::MaybeUninit;

use crate::{
    exec::SimdLevel,
    kernel::{Operation, RowBlock},
};

/// Bytes of results, or of a repeated element, at a time. Of 10,000 floats on Zen 5, products in
/// place took 790 ns with this, 970 with a quarter of it.
const BUFFER_BYTES: usize = 4096;

/// Bytes of results that are copied at a time: all 4096 at once took 1030 ns for the same floats,
/// 1024 at a time 800.
const COPIED_BYTES: usize = 2048;

/// The largest alignment that elements in the buffer can have.
const BUFFER_ALIGN: usize = 64;

#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; BUFFER_BYTES]);

const _: () = assert!(align_of::<Buffer>() == BUFFER_ALIGN);

impl Buffer {
    /// Do elements of this width fit, and is the buffer aligned for them? The alignment of a type
    /// divides its width.
    #[inline]
    fn takes(width: usize) -> bool {
        width.trailing_zeros() <= BUFFER_ALIGN.trailing_zeros() && width <= BUFFER_BYTES
    }
}

/// Computes rows of adjacent results.
///
/// # Safety
/// - `widths` are those of the operation.
/// - In every row operand 0 can be written and the others read, at `len` adjacent elements, or at
///   one for operands that are `is_scalar`. All are aligned.
/// - An input shares no element with operand 0, or is operand 0, index by index. Operand 0 is
///   never `is_scalar`.
#[inline]
pub(super) unsafe fn compute<const N: usize>(
    operation: &dyn Operation<N>,
    simd: SimdLevel,
    widths: [usize; N],
    block: RowBlock<N>,
) {
    let call = Call { operation, simd, widths };
    let block = joined(block, widths);
    match block.input_to_repeat() {
        // SAFETY: the contract of `compute`; `input_to_repeat` names no input.
        None => unsafe { call.unaliased(&block) },
        // SAFETY: the contract of `compute`, and the input that is named.
        Some(k) => unsafe { call.repeated(k, &block) },
    }
}

/// As one row, if every operand's rows follow each other: what is done for a row takes as long as
/// 32 additions. One row has no steps: the compiler's check fails where one is below 0, however
/// many rows there are.
#[inline]
fn joined<const N: usize>(block: RowBlock<N>, widths: [usize; N]) -> RowBlock<N> {
    let follows = |k: usize| {
        let row = if block.is_scalar[k] { 0 } else { block.len * widths[k] };
        block.row_strides[k] == row as isize
    };
    match block.rows == 1 || (0..N).all(follows) {
        true => RowBlock { rows: 1, len: block.rows * block.len, row_strides: [0; N], ..block },
        false => block,
    }
}

/// An operation as it is called for some rows.
#[derive(Clone, Copy)]
struct Call<'a, const N: usize> {
    operation: &'a dyn Operation<N>,
    simd: SimdLevel,
    widths: [usize; N],
}

impl<const N: usize> Call<'_, N> {
    /// Rows of which [`RowBlock::input_to_repeat`] names no input.
    ///
    /// # Safety
    /// [`compute`]'s.
    #[inline]
    unsafe fn unaliased(self, block: &RowBlock<N>) {
        // An input that starts where the result does is the result.
        let is_input = block.ptrs[1..].contains(&block.ptrs[0]);
        if is_input && Buffer::takes(self.widths[0]) {
            // SAFETY: the contract of `compute`; the result fits into the buffer.
            unsafe { self.bounced(block) };
        } else {
            // SAFETY: the caller's. A result that is an input and does not fit into the buffer is
            // computed correctly, if not by vectors.
            unsafe { self.checked(block) };
        }
    }

    /// Rows whose result is an input, by way of the buffer.
    ///
    /// # Safety
    /// [`compute`]'s, and an element of the result fits into the buffer.
    #[inline(never)]
    unsafe fn bounced(self, block: &RowBlock<N>) {
        let mut buffer = Buffer([MaybeUninit::uninit(); BUFFER_BYTES]);
        let (start, width) = (buffer.0.as_mut_ptr().cast::<u8>(), self.widths[0]);
        self.parts(block, BUFFER_BYTES / width, |part| {
            let (row, mut inside) = (part.len * width, part);
            (inside.ptrs[0], inside.row_strides[0]) = (start, row as isize);
            // SAFETY: the caller's, for some of the elements. The results fit into the buffer,
            // which is aligned as `takes` has found, and overlaps no input.
            unsafe { self.checked(&inside) };
            for j in 0..part.rows {
                let out = part.ptrs[0].wrapping_offset(j as isize * part.row_strides[0]);
                // SAFETY: row `j` of the buffer has just been computed; the caller's: the same
                // elements of operand 0 can be written.
                unsafe { copy_row(start.wrapping_add(j * row), out, row) };
            }
        });
    }

    /// Rows, each by itself where together they would fail the compiler's check.
    ///
    /// # Safety
    /// [`compute`]'s.
    #[inline]
    unsafe fn checked(self, block: &RowBlock<N>) {
        if !fail_together(block, self.widths) {
            // SAFETY: the contract of `compute`, for all rows.
            return unsafe { self.operation.compute(self.simd, block) };
        }
        for j in 0..block.rows {
            let row = self.part(block, (j, 1), (0, block.len));
            // SAFETY: the contract of `compute`, for one of the rows.
            unsafe { self.operation.compute(self.simd, &row) };
        }
    }

    /// Rows with input `k`, which is one element for all, repeated in the buffer.
    ///
    /// # Safety
    /// [`compute`]'s; `k` is what [`RowBlock::input_to_repeat`] says.
    #[inline(never)]
    unsafe fn repeated(self, k: usize, block: &RowBlock<N>) {
        let (mut buffer, width) = (Buffer([MaybeUninit::uninit(); BUFFER_BYTES]), self.widths[k]);
        let start = buffer.0.as_mut_ptr().cast::<u8>();
        // An element that the buffer does not take is used for one result at a time, for which
        // nothing is repeated.
        let capacity = if Buffer::takes(width) { BUFFER_BYTES / width } else { 1 };
        self.parts(block, capacity, |part| {
            let (row, mut inside) = (part.len * width, part);
            if capacity > 1 {
                // SAFETY: the caller's: an element of each row can be read. The rows fit into the
                // buffer, which overlaps no operand.
                unsafe { repeat_rows(&part, k, width, start) };
                inside.is_scalar[k] = false;
                (inside.ptrs[k], inside.row_strides[k]) = (start, row as isize);
            }
            // SAFETY: the caller's, for some of the elements, of which the buffer has `len` a row,
            // aligned as `takes` has found; so `input_to_repeat` names no input.
            unsafe { self.unaliased(&inside) };
        });
    }

    /// Calls `each` with parts of at most `capacity` elements: some whole rows, or a stretch of
    /// one.
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

    /// Some rows, and of these some elements: each from where on, and how many.
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

/// Does an input fail the check for all rows at once that the compiler makes where there are
/// several inputs?
#[inline]
fn fail_together<const N: usize>(block: &RowBlock<N>, widths: [usize; N]) -> bool {
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
/// `bytes` can be read, and be written, which do not overlap.
#[inline]
unsafe fn copy_row(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        let count = COPIED_BYTES.min(bytes - at);
        // SAFETY: `at + count <= bytes`: both rows have so many, and do not overlap.
        unsafe { to.wrapping_add(at).copy_from_nonoverlapping(from.wrapping_add(at), count) };
        at += count;
    }
}

/// Repeats the one element of input `k` in each row of a part, row after row, from `to` on.
///
/// # Safety
/// The elements can be read, and `rows` times `len` elements be written from `to` on, which is
/// aligned to a cache line and overlaps none of them.
unsafe fn repeat_rows<const N: usize>(part: &RowBlock<N>, k: usize, width: usize, to: *mut u8) {
    for j in 0..part.rows {
        let from = part.ptrs[k].wrapping_offset(j as isize * part.row_strides[k]);
        let row = to.wrapping_add(j * part.len * width);
        // SAFETY: one row of the buffer, and the element that it repeats.
        unsafe { repeat(from, width, row, part.len) };
    }
}

/// Repeats an element.
///
/// # Safety
/// `width` bytes can be read, and `len` times as many be written, which overlap none of them.
unsafe fn repeat(element: *const u8, width: usize, to: *mut u8, len: usize) {
    let bytes = width * len;
    let mut done = width.min(bytes);
    // SAFETY: `to` has room for the element, and is no part of an operand.
    unsafe { to.copy_from_nonoverlapping(element, done) };
    // What has been written is copied behind itself, twice as much each time.
    while done < bytes {
        let count = done.min(bytes - done);
        // SAFETY: `done` bytes have been written; the next `count`, at most as many, lie behind
        // them and can be written.
        unsafe { to.wrapping_add(done).copy_from_nonoverlapping(to, count) };
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exec, Tensor, map_inplace, ops};

    /// Several buffers of f32 and some elements more.
    const LONG: usize = 3 * super::BUFFER_BYTES / size_of::<f32>() + 5;

    #[test]
    fn values_alone_fill_a_result_longer_than_the_buffer() {
        let (exec, out) = (Exec::current().unwrap(), Tensor::zeros(&[LONG]).unwrap());
        ops::sub_into(exec, 5.0f32, 2.0f32, &out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [3.0; LONG]);
        ops::mul_add_into(exec, 5.0f32, 2.0f32, 1.0f32, &out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [11.0; LONG]);
    }

    #[test]
    fn values_that_differ_from_row_to_row_fill_their_rows() {
        let exec = Exec::current().unwrap();
        for len in [2, 3, 100, LONG] {
            let a = Tensor::arange(0.0f32, 7.0, 1.0).unwrap().view(&[7, 1]).unwrap();
            let a = a.expand(&[7, len as isize]).unwrap();
            let sum = ops::add(exec, &a, &a).unwrap().to_vec().unwrap();
            for (at, &x) in sum.iter().enumerate() {
                assert_eq!(x, 2.0 * (at / len) as f32, "{len} elements a row, element {at}");
            }
        }
    }

    #[test]
    fn rows_with_gaps_are_computed_in_place() {
        let exec = Exec::current().unwrap();
        for len in [1, 3, 100, LONG] {
            let all = Tensor::full(&[9, len + 2], 1.0f32).unwrap();
            let x = all.narrow(1, 1, len).unwrap();
            let b = Tensor::arange(0.0f32, 9.0, 1.0).unwrap().view(&[9, 1]).unwrap();
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
        let x = Tensor::full(&[300], Wide([1; 16])).unwrap();
        let mut writing = x.write().unwrap();
        let mut view = writing.as_view_mut().unwrap();
        map_inplace(Exec::current().unwrap(), &mut view, |x| Wide(x.0.map(|y| y + 1))).unwrap();
        drop(writing);
        assert_eq!(x.to_vec().unwrap(), [Wide([2; 16]); 300]);
    }
}
