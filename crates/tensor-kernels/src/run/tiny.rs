//! Copies of a few elements. They take less time than planning them would.

use tensor_core::{Element, Layout};

use super::{copy::CopyOperands, operands::Destination};
use crate::{nest::Loop, tuning::TINY_COPY_ELEMENTS};

/// The most dimensions: each is a nested loop.
pub(super) const MAX_TINY_DIMS: usize = 4;

/// Is the copy run without a plan?
#[inline]
pub(super) fn is_tiny(layout: &Layout) -> bool {
    layout.numel() <= TINY_COPY_ELEMENTS && layout.ndim() <= MAX_TINY_DIMS
}

/// Copies every element. [`is_tiny`] must hold for the layouts.
///
/// # Panics
/// If there are more than [`MAX_TINY_DIMS`] dimensions.
#[inline]
pub(super) fn copy_tiny<T: Element, W: Destination<T>>(operands: CopyOperands<'_, '_, '_, T, W>) {
    let CopyOperands { from, to } = operands;
    if from.layout().numel() == 0 {
        return;
    }
    let (dst, layouts) = (to.base_mut_ptr().cast::<T>(), [to.layout(), from.layout()]);
    let loops = loops(layouts);
    let (dst, src) =
        (dst.wrapping_add(layouts[0].offset()), from.base_ptr().wrapping_add(layouts[1].offset()));
    // SAFETY: by the invariants of views every offset of their layouts can be read, or written. A
    // mutable view overlaps no other view.
    unsafe { walk(src, dst, loops) };
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
fn sort_longest_innermost(loops: &mut [Loop<2>; MAX_TINY_DIMS]) {
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
    for i in 0..a.len as isize {
        for j in 0..b.len as isize {
            let at = |k: usize| i * a.strides[k] + j * b.strides[k];
            let (mut src, mut dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
            for _ in 0..c.len {
                // SAFETY: the offsets of one iteration of the outer loops.
                unsafe { walk_row(src, dst, d) };
                (src, dst) = (src.wrapping_offset(c.strides[1]), dst.wrapping_offset(c.strides[0]));
            }
        }
    }
}

/// # Safety
/// That of [`walk`], for one loop.
#[inline]
unsafe fn walk_row<T: Copy>(mut src: *const T, mut dst: *mut T, l: Loop<2>) {
    for _ in 0..l.len {
        // SAFETY: the offset of one iteration can be read.
        let value = unsafe { src.read_unaligned() };
        // SAFETY: the offset of one iteration can be written; the source does not overlap it.
        unsafe { dst.write_unaligned(value) };
        (src, dst) = (src.wrapping_offset(l.strides[1]), dst.wrapping_offset(l.strides[0]));
    }
}
