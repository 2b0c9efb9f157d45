//! Two-dimensional steps, cut into blocks whose lines stay cached until all of them is used.

use crate::{
    Loop,
    micro::{Isa, Lane},
    plan::Side,
};

/// A block's extent along each side, in bytes of a cache-line-wide row: 64 rows of 64 units of four bytes are 16 KiB on either side, half of a
/// first-level cache.
const SIDE: usize = 64;

/// Below this extent a side is a handful of channels, and the other one is walked in one go.
const CHANNELS: usize = 8;

/// A transpose: `dst[j·v.stride + i] = src[i·u.stride + j]` for all `i` below `u.len` and `j` below `v.len`.
///
/// # Safety
/// M1, M2 and M3 for those elements.
#[inline(always)]
pub(super) unsafe fn tile<I: Isa, L: Lane>(isa: I, src: *const L, dst: *mut L, u: Side, v: Side) {
    if u.len.min(v.len) <= CHANNELS || u.len.max(v.len) <= SIDE {
        // SAFETY: the caller's.
        return unsafe { isa.transpose(src, u.stride, dst, v.stride, u.len, v.len) };
    }
    let mut j = 0;
    while j < v.len {
        let mut i = 0;
        while i < u.len {
            let src = src.wrapping_offset(i as isize * u.stride + j as isize);
            let dst = dst.wrapping_offset(j as isize * v.stride + i as isize);
            let (nu, nv) = (SIDE.min(u.len - i), SIDE.min(v.len - j));
            // SAFETY: the block's elements are among the caller's.
            unsafe { isa.transpose(src, u.stride, dst, v.stride, nu, nv) };
            i += SIDE;
        }
        j += SIDE;
    }
}

/// Two loops of any strides, element by element.
///
/// # Safety
/// M1 (without the gaps), M2 and M3 for the elements of the loops.
#[inline(always)]
pub(super) unsafe fn grid<L: Lane>(src: *const L, dst: *mut L, outer: Loop<2>, inner: Loop<2>) {
    for j in (0..outer.len).step_by(SIDE) {
        for i in (0..inner.len).step_by(SIDE) {
            for j in j..outer.len.min(j + SIDE) {
                for i in i..inner.len.min(i + SIDE) {
                    let at =
                        |k: usize| j as isize * outer.strides[k] + i as isize * inner.strides[k];
                    // SAFETY: the element is among the caller's.
                    let value = unsafe { src.wrapping_offset(at(1)).read_unaligned() };
                    // SAFETY: as above.
                    unsafe { dst.wrapping_offset(at(0)).write_unaligned(value) };
                }
            }
        }
    }
}
