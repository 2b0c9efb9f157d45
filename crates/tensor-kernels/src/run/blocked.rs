//! Two-dimensional copies, cut into blocks so that cache lines stay cached until all of their bytes
//! are used.

use crate::{
    kernel::{Isa, Unit, short_runs},
    nest::Loop,
    plan::Side,
};

/// A transpose: `dst[j·v.stride + i] = src[i·u.stride + j]` for `i < u.len` and `j < v.len`, in
/// blocks of `block` units on each side.
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
) {
    if u.len.max(v.len) <= block {
        // SAFETY: M1 to M3 hold for all of the elements, by this function's contract.
        return unsafe { isa.transpose(src, u.stride, dst, v.stride, u.len, v.len) };
    }
    for j in (0..v.len).step_by(block) {
        for i in (0..u.len).step_by(block) {
            let src = src.wrapping_offset(i as isize * u.stride + j as isize);
            let dst = dst.wrapping_offset(j as isize * v.stride + i as isize);
            let (nu, nv) = (block.min(u.len - i), block.min(v.len - j));
            // SAFETY: M1 to M3 hold for the elements of a block, which ends where the two sides do.
            unsafe { isa.transpose(src, u.stride, dst, v.stride, nu, nv) };
        }
    }
}

/// Two loops of any strides, over runs of `run` adjacent elements, in blocks of `block` iterations
/// of each.
///
/// # Safety
/// M1 (without the gaps), M2 and M3 for the elements of the loops.
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
            let count = block.min(inner.len - i);
            for j in j..outer.len.min(j + block) {
                let at = |k: usize| j as isize * outer.strides[k] + i as isize * inner.strides[k];
                let (src, dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
                // SAFETY: M1 to M3 hold for a part of one iteration of the outer loop; gaps are not
                // read.
                unsafe { short_runs::copy_runs(isa, src, dst, run, Loop { len: count, ..inner }) };
            }
        }
    }
}
