//! Copies of few elements: of so few that they take less time than planning them would, and of some
//! hundred whose source offsets are listed.

use tensor_core::{Element, Layout};

use super::{copy::CopyOperands, operands::CopyTarget};
use crate::{
    nest::Loop,
    plan::Listing,
    tuning::{FEW_ROWS_BYTES, MAX_FEW_ROWS, TINY_COPY_ELEMENTS, TINY_NESTED_ELEMENTS},
};

/// The most dimensions: each is a nested loop.
pub(super) const MAX_TINY_DIMS: usize = 4;

/// Is the copy of elements to or from a layout run without a plan?
#[inline]
pub(super) fn is_tiny(layout: &Layout) -> bool {
    match layout.ndim() {
        0..=2 => layout.numel() <= TINY_COPY_ELEMENTS,
        3..=MAX_TINY_DIMS => layout.numel() <= TINY_NESTED_ELEMENTS,
        _ => false,
    }
}

/// Do layouts of one shape, of elements of `width` bytes, consist of few rows of adjacent elements,
/// which are longer than there are rows?
#[inline]
pub(super) fn has_few_rows(layouts: [&Layout; 2], width: usize) -> bool {
    let (shape, numel) = (layouts[0].shape(), layouts[0].numel());
    let bytes = numel.saturating_mul(width);
    if !(2..=MAX_TINY_DIMS).contains(&shape.len()) || bytes > FEW_ROWS_BYTES {
        return false;
    }
    let row = shape[shape.len() - 1];
    layouts.iter().all(|layout| layout.strides().last() == Some(&1))
        && numel <= row.saturating_mul(row.min(MAX_FEW_ROWS))
}

/// Copies every element. [`is_tiny`] or [`has_few_rows`] must hold for the layouts.
///
/// # Panics
/// If there are more than [`MAX_TINY_DIMS`] dimensions.
#[inline]
pub(super) fn copy_tiny<T: Element, W: CopyTarget<T>>(operands: CopyOperands<'_, '_, '_, T, W>) {
    let CopyOperands { from, to } = operands;
    let (dst, layouts) = (to.base_mut_ptr().cast::<T>(), [to.layout(), from.layout()]);
    // SAFETY: by the invariants of views every offset of their layouts can be read, or written. A
    // mutable view overlaps no other view.
    unsafe { copy_tiny_at(layouts, from.base_ptr(), dst) };
}

/// Copies every element between the addresses of offset 0 of two layouts.
///
/// # Safety
/// Every offset of the layouts, of one shape, can be read at `src` or written at `dst`, at any
/// alignment; the two do not overlap.
///
/// # Panics
/// If there are more than [`MAX_TINY_DIMS`] dimensions.
// Always inlined: see `loops`.
#[inline(always)]
pub(super) unsafe fn copy_tiny_at<T: Copy>(layouts: [&Layout; 2], src: *const T, dst: *mut T) {
    if layouts[1].numel() == 0 {
        return;
    }
    let (dst, src) = (dst.wrapping_add(layouts[0].offset()), src.wrapping_add(layouts[1].offset()));
    // Two dimensions need no array of loops.
    if let &[rows, columns] = layouts[0].shape()
        && let (&[a, b], &[c, d]) = (layouts[0].strides(), layouts[1].strides())
    {
        let rows = Loop { len: rows, strides: [a, c] };
        let columns = Loop { len: columns, strides: [b, d] };
        // SAFETY: this function's contract: the loops visit the offsets of the layouts.
        return unsafe { walk_rows(src, dst, rows, columns) };
    }
    // SAFETY: as above.
    unsafe { walk(src, dst, loops(layouts)) };
}

/// Copies elements to adjacent ones by a list of the source's offsets.
///
/// # Safety
/// Each offset of the list can be read at `src`, and as many elements be written at `dst`. They do
/// not overlap.
#[inline]
pub(super) unsafe fn copy_listed<T: Copy>(listing: &Listing, src: *const T, dst: *mut T) {
    for (k, &offset) in listing.offsets().iter().enumerate() {
        // SAFETY: readable by this function's contract.
        let value = unsafe { src.wrapping_offset(offset as isize).read_unaligned() };
        // SAFETY: writable by this function's contract, and no overlap.
        unsafe { dst.wrapping_add(k).write_unaligned(value) };
    }
}

/// The loops over two layouts of one shape, the longest innermost.
///
/// # Panics
/// If there are more than [`MAX_TINY_DIMS`] dimensions.
// Always inlined: a call passes the loops through memory, and a copy of 16 floats takes 23 ns
// instead of 14. Whether the compiler inlines it by itself depends on a program's other copies.
#[inline(always)]
pub(super) fn loops(layouts: [&Layout; 2]) -> [Loop<2>; MAX_TINY_DIMS] {
    let (shape, strides) = (layouts[0].shape(), layouts.map(Layout::strides));
    let mut loops = [Loop::ONCE; MAX_TINY_DIMS];
    for (d, l) in loops[MAX_TINY_DIMS - shape.len()..].iter_mut().enumerate() {
        *l = Loop { len: shape[d], strides: strides.map(|strides| strides[d]) };
    }
    if shape.len() > 2 {
        sort_longest_innermost(&mut loops);
    }
    loops
}

/// Moves the longest loop innermost, so that the overhead around a loop is paid least often. 2 by 3
/// by 4 by 5 elements in another order take 186 ns; 247 ns with loops in the order of the result.
#[inline]
pub(super) fn sort_longest_innermost(loops: &mut [Loop<2>; MAX_TINY_DIMS]) {
    for last in (1..MAX_TINY_DIMS).rev() {
        for at in 0..last {
            if loops[at].len > loops[at + 1].len {
                loops.swap(at, at + 1);
            }
        }
    }
}

/// # Safety
/// Every offset that the loops visit can be read at `src` and written at `dst`; the two do not
/// overlap.
#[inline]
pub(super) unsafe fn walk<T: Copy>(
    src: *const T,
    dst: *mut T,
    [a, b, c, d]: [Loop<2>; MAX_TINY_DIMS],
) {
    if a.len == 1 && b.len == 1 {
        // SAFETY: this function's contract: the other loops are one iteration, at offset 0.
        return unsafe { walk_rows(src, dst, c, d) };
    }
    for i in 0..a.len as isize {
        for j in 0..b.len as isize {
            let at = |k: usize| i * a.strides[k] + j * b.strides[k];
            let (src, dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
            // SAFETY: the offsets of one iteration of the outer loops.
            unsafe { walk_rows(src, dst, c, d) };
        }
    }
}

/// # Safety
/// That of [`walk`], for two loops.
#[inline(always)]
pub(super) unsafe fn walk_rows<T: Copy>(
    mut src: *const T,
    mut dst: *mut T,
    rows: Loop<2>,
    columns: Loop<2>,
) {
    for _ in 0..rows.len {
        if columns.strides == [1, 1] {
            let (src, dst, bytes) =
                (src.cast::<u8>(), dst.cast::<u8>(), columns.len * size_of::<T>());
            // SAFETY: the elements of one iteration, which are adjacent in both and do not overlap.
            unsafe { src.copy_to_nonoverlapping(dst, bytes) };
        } else {
            // SAFETY: the offsets of one iteration of the outer loop.
            unsafe { walk_row(src, dst, columns) };
        }
        (src, dst) = (src.wrapping_offset(rows.strides[1]), dst.wrapping_offset(rows.strides[0]));
    }
}

/// # Safety
/// That of [`walk`], for one loop.
#[inline(always)]
unsafe fn walk_row<T: Copy>(mut src: *const T, mut dst: *mut T, l: Loop<2>) {
    for _ in 0..l.len {
        // SAFETY: the offset of one iteration can be read.
        let value = unsafe { src.read_unaligned() };
        // SAFETY: the offset of one iteration can be written; the source does not overlap it.
        unsafe { dst.write_unaligned(value) };
        (src, dst) = (src.wrapping_offset(l.strides[1]), dst.wrapping_offset(l.strides[0]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_long_and_adjacent_in_both() {
        let few = |shape: &[usize], strides: &[isize]| {
            let to = Layout::contiguous(shape).unwrap();
            has_few_rows([&to, &Layout::new(shape, strides, 1000).unwrap()], 4)
        };
        assert!(few(&[6, 23], &[0, 1]) && few(&[5, 2, 12], &[-24, -12, 1]));
        assert!(!few(&[6, 23], &[1, 6]) && !few(&[6, 23], &[46, 2]), "not adjacent");
        assert!(!few(&[17, 100], &[200, 1]) && !few(&[9, 8], &[10, 1]), "many rows");
        assert!(!few(&[2, 4000], &[5000, 1]), "many bytes");
        assert!(!few(&[2, 1, 1, 1, 9], &[90, 0, 0, 0, 1]), "many dimensions");
    }
}
