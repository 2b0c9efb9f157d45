//! Copies of a few elements: done at once, while a plan for them would still be made.

use tensor_core::{Layout, TensorView, TensorViewMut};

use crate::Loop;

/// Copies of at most so many elements are not worth a plan. Measured on transposes: 16 elements take 30 ns this way and 90 planned, 64 elements 80 ns
/// either way.
const TINY: usize = 64;

/// Loops that are walked without a counter for each.
const NESTED: usize = 4;

/// Is a copy not worth a plan?
#[inline]
pub(crate) fn is_tiny(layout: &Layout) -> bool {
    layout.numel() <= TINY && layout.ndim() <= NESTED
}

/// Copies between views of one shape, for which [`is_tiny`] holds.
#[inline]
pub(crate) fn copy_tiny<T: Copy>(from: &TensorView<'_, T>, to: &mut TensorViewMut<'_, T>) {
    if from.numel() == 0 {
        return;
    }
    let (dst, layouts) = (to.base_mut_ptr(), [to.layout(), from.layout()]);
    let (shape, strides) = (from.shape(), layouts.map(Layout::strides));
    let mut loops = [Loop::ONCE; NESTED];
    for (d, l) in loops[NESTED - shape.len()..].iter_mut().enumerate() {
        *l = Loop { len: shape[d], strides: strides.map(|strides| strides[d]) };
    }
    let (dst, src) =
        (dst.wrapping_add(layouts[0].offset()), from.base_ptr().wrapping_add(layouts[1].offset()));
    // SAFETY: the views' invariants, for the offsets of their layouts; two views that exist side by side do not meet.
    unsafe { walk(src, dst, loops) };
}

/// # Safety
/// Every place that the loops visit can be read at `src`, and written at `dst`; no two are the same.
#[inline]
unsafe fn walk<T: Copy>(src: *const T, dst: *mut T, [a, b, c, d]: [Loop<2>; NESTED]) {
    let at = |l: Loop<2>, i: usize| l.strides.map(|stride| i as isize * stride);
    for i in 0..a.len {
        for j in 0..b.len {
            for k in 0..c.len {
                let (x, y, z) = (at(a, i), at(b, j), at(c, k));
                let src = src.wrapping_offset(x[1] + y[1] + z[1]);
                let dst = dst.wrapping_offset(x[0] + y[0] + z[0]);
                for l in 0..d.len as isize {
                    // SAFETY: the caller's.
                    let value = unsafe { src.wrapping_offset(l * d.strides[1]).read() };
                    // SAFETY: the caller's.
                    unsafe { dst.wrapping_offset(l * d.strides[0]).write(value) };
                }
            }
        }
    }
}
