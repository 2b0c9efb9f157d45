//! Two-dimensional copies, cut into blocks so that cache lines stay cached until all of their bytes
//! are used.

use crate::{
    kernel::{Isa, Unit, short_runs},
    nest::Loop,
    plan::Side,
    tuning::{MAX_BLOCK_SIDE_UNITS, MAX_CHANNELS, TRANSPOSE_BLOCK_BYTES},
};

/// Units along each side of a block: the largest power of two whose square fits
/// [`TRANSPOSE_BLOCK_BYTES`].
#[inline(always)]
const fn side(width: usize) -> usize {
    let mut side = MAX_BLOCK_SIDE_UNITS;
    while side * side * width > TRANSPOSE_BLOCK_BYTES {
        side /= 2;
    }
    side
}

/// A transpose: `dst[j·v.stride + i] = src[i·u.stride + j]` for `i < u.len` and `j < v.len`.
///
/// # Safety
/// M1, M2 and M3 for those elements.
#[inline(always)]
pub(super) unsafe fn tile<I: Isa, L: Unit>(isa: I, src: *const L, dst: *mut L, u: Side, v: Side) {
    let side = const { side(L::WIDTH) };
    if u.len.min(v.len) <= MAX_CHANNELS || u.len.max(v.len) <= side {
        // SAFETY: M1 to M3 hold for all of the elements, by this function's contract.
        return unsafe { isa.transpose(src, u.stride, dst, v.stride, u.len, v.len) };
    }
    for j in (0..v.len).step_by(side) {
        for i in (0..u.len).step_by(side) {
            let src = src.wrapping_offset(i as isize * u.stride + j as isize);
            let dst = dst.wrapping_offset(j as isize * v.stride + i as isize);
            let (nu, nv) = (side.min(u.len - i), side.min(v.len - j));
            // SAFETY: M1 to M3 hold for the elements of a block, which ends where the two sides do.
            unsafe { isa.transpose(src, u.stride, dst, v.stride, nu, nv) };
        }
    }
}

/// Two loops of any strides, over runs of `run` adjacent elements.
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
) {
    let side = blocked2d_side(run * L::WIDTH);
    for j in (0..outer.len).step_by(side) {
        for i in (0..inner.len).step_by(side) {
            let count = side.min(inner.len - i);
            for j in j..outer.len.min(j + side) {
                let at = |k: usize| j as isize * outer.strides[k] + i as isize * inner.strides[k];
                let (src, dst) = (src.wrapping_offset(at(1)), dst.wrapping_offset(at(0)));
                // SAFETY: M1 to M3 hold for a part of one iteration of the outer loop; gaps are not
                // read.
                unsafe { short_runs::copy_runs(isa, src, dst, run, Loop { len: count, ..inner }) };
            }
        }
    }
}

/// Runs along each side of a block, whose cache lines take up to half of a first-level cache.
#[inline(always)]
fn blocked2d_side(bytes: usize) -> usize {
    match bytes {
        0..=8 => 64,
        9..=32 => 32,
        _ => 16,
    }
}
