//! Two-dimensional copies, cut into blocks so that cache lines stay cached until all of their bytes
//! are used.

use crate::{
    kernel::{Isa, Unit, short_runs},
    nest::Loop,
    plan::Side,
};

/// A transpose: `dst[j·v.stride + i] = src[i·u.stride + j]` for `i < u.len` and `j < v.len`, in
/// blocks of `block` units on each side. `is_far` says that the source is read from memory.
///
/// # Safety
/// M1, M2 and M3 for those elements.
#[inline(always)]
pub(super) unsafe fn tile<I: Isa, L: Unit>(
    isa: I,
    src: *const L,
    dst: *mut L,
    (u, v): (Side, Side),
    block: usize,
    is_far: bool,
) {
    if u.len.max(v.len) <= block {
        let (src, dst) = ((src, u.stride), (dst, v.stride));
        // SAFETY: M1 to M3 hold for all of the elements, by this function's contract.
        return unsafe { transpose(isa, src, dst, (u.len, v.len), is_far) };
    }
    for j in (0..v.len).step_by(block) {
        for i in (0..u.len).step_by(block) {
            let src = src.wrapping_offset(i as isize * u.stride + j as isize);
            let dst = dst.wrapping_offset(j as isize * v.stride + i as isize);
            let extents = (block.min(u.len - i), block.min(v.len - j));
            // SAFETY: M1 to M3 hold for the elements of a block, which ends where the two sides do.
            unsafe { transpose(isa, (src, u.stride), (dst, v.stride), extents, is_far) };
        }
    }
}

/// # Safety
/// M1, M2 and M3 for the elements.
#[inline(always)]
unsafe fn transpose<I: Isa, L: Unit>(
    isa: I,
    src: (*const L, isize),
    dst: (*mut L, isize),
    (nu, nv): (usize, usize),
    is_far: bool,
) {
    if is_far {
        // SAFETY: this function's contract.
        unsafe { isa.transpose_far(src, dst, (nu, nv)) }
    } else {
        // SAFETY: this function's contract.
        unsafe { isa.transpose(src.0, src.1, dst.0, dst.1, nu, nv) }
    }
}

/// Two loops of any strides, over runs of `run` adjacent elements, in blocks of `block` iterations
/// of each.
///
/// # Safety
/// M1, M2 and M3 for the elements of the loops.
#[inline(always)]
pub(super) unsafe fn blocked2d<I: Isa, L: Unit>(
    isa: I,
    src: *const L,
    dst: *mut L,
    (outer, inner): (Loop<2>, Loop<2>),
    run: usize,
    block: usize,
) {
    for j in (0..outer.len).step_by(block) {
        for i in (0..inner.len).step_by(block) {
            let at = |k: usize| j as isize * outer.strides[k] + i as isize * inner.strides[k];
            let (src, dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
            let rows = Loop { len: block.min(outer.len - j), ..outer };
            let columns = Loop { len: block.min(inner.len - i), ..inner };
            // SAFETY: M1 to M3 hold for a part of the two loops.
            unsafe { short_runs::copy_runs(isa, src, dst, run, [columns, rows]) };
        }
    }
}
