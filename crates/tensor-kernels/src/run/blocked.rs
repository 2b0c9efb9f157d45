//! Two-dimensional copies, cut into blocks so that cache lines stay cached until all of their bytes
//! are used.

use crate::{
    kernel::{Isa, Residency, Units, short_runs},
    nest::Loop,
    plan::Side,
};

/// A transpose: `dst[j·v.stride + i] = src[i·u.stride + j]` for `i < u.len` and `j < v.len`, in
/// blocks of `block` units on each side. `residency` says where the operands lie.
///
/// # Safety
/// M1, M2 and M3 for those elements.
#[inline(always)]
pub(super) unsafe fn tile<I: Isa>(
    units: Units<I>,
    src: *const u8,
    dst: *mut u8,
    (u, v): (Side, Side),
    block: usize,
    residency: Residency,
) {
    if u.len.max(v.len) <= block {
        let (src, dst) = ((src, u.stride), (dst, v.stride));
        // SAFETY: M1 to M3 hold for all of the elements, by this function's contract.
        return unsafe { units.transpose(src, dst, (u.len, v.len), residency) };
    }
    for j in (0..v.len).step_by(block) {
        for i in (0..u.len).step_by(block) {
            let src = src.wrapping_offset(units.bytes(i as isize * u.stride + j as isize));
            let dst = dst.wrapping_offset(units.bytes(j as isize * v.stride + i as isize));
            let (src, dst) = ((src, u.stride), (dst, v.stride));
            let extents = (block.min(u.len - i), block.min(v.len - j));
            // SAFETY: M1 to M3 hold for the elements of a block, which ends where the two sides do.
            unsafe { units.transpose(src, dst, extents, residency) };
        }
    }
}

/// Two loops of any strides, over runs of `run` adjacent elements, in blocks of `block` iterations
/// of each. `residency` says where the operands lie.
///
/// # Safety
/// M1, M2 and M3 for the elements of the loops.
#[inline(always)]
pub(super) unsafe fn blocked2d<I: Isa>(
    Units { isa, width }: Units<I>,
    (src, dst): (*const u8, *mut u8),
    (outer, inner): (Loop<2>, Loop<2>),
    run: usize,
    block: usize,
    residency: Residency,
) {
    let (outer, inner, bytes) = (outer.in_bytes(width), inner.in_bytes(width), run * width);
    for j in (0..outer.len).step_by(block) {
        for i in (0..inner.len).step_by(block) {
            let at = |k: usize| j as isize * outer.strides[k] + i as isize * inner.strides[k];
            let (src, dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
            let rows = Loop { len: block.min(outer.len - j), ..outer };
            let columns = Loop { len: block.min(inner.len - i), ..inner };
            // SAFETY: M1 to M3 hold for a part of the two loops.
            unsafe { short_runs::copy_runs(isa, src, dst, bytes, [columns, rows], residency) };
        }
    }
}
