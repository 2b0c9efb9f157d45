//! Plain Rust kernels: the specification of the others, their last scraps, and what runs where there is
//! no SIMD level.

use super::Lane;
use super::plane::Plane;

/// Elements of a side of the blocks in which the portable transposition goes, so that a line of either
/// side is used up while it is in the first-level cache.
const SIDE: usize = 16;

/// Copies `len` adjacent elements.
///
/// # Safety
///
/// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
#[inline(always)]
pub(super) unsafe fn run<L: Lane>(src: *const L, dst: *mut L, len: usize) {
    // SAFETY: readable by M1, writable by M2, apart by M3; bytes have no alignment.
    unsafe { src.cast::<u8>().copy_to_nonoverlapping(dst.cast(), len * L::WIDTH) }
}

/// Writes `value` to `len` adjacent elements.
///
/// # Safety
///
/// M2 for `dst[i]`, `i < len`.
#[inline(always)]
pub(super) unsafe fn fill<L: Lane>(value: L, dst: *mut L, len: usize) {
    for i in 0..len {
        // SAFETY: writable by M2.
        unsafe { dst.wrapping_add(i).write_unaligned(value) }
    }
}

/// Copies `len` elements, each `src_step` and `dst_step` bytes from the one before.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(always)]
pub(super) unsafe fn strided<L: Lane>(
    (src, src_step): (*const u8, isize),
    (dst, dst_step): (*mut u8, isize),
    len: usize,
) {
    for i in 0..len as isize {
        let from = src.wrapping_offset(i * src_step).cast::<L>();
        let to = dst.wrapping_offset(i * dst_step).cast::<L>();
        // SAFETY: readable by M1.
        let element = unsafe { from.read_unaligned() };
        // SAFETY: writable by M2, apart by M3.
        unsafe { to.write_unaligned(element) }
    }
}

/// Transposes a plane, block by block.
///
/// # Safety
///
/// M1, M2, M3 for the plane.
#[inline(always)]
pub(super) unsafe fn transpose<L: Lane>(plane: Plane) {
    for v in (0..plane.nv).step_by(SIDE) {
        for u in (0..plane.nu).step_by(SIDE) {
            let (nu, nv) = (SIDE.min(plane.nu - u), SIDE.min(plane.nv - v));
            // SAFETY: a part of the plane.
            unsafe { transpose_block::<L>(plane.part::<L>((u, nu), (v, nv))) }
        }
    }
}

/// Transposes a plane, destination row by destination row.
///
/// # Safety
///
/// M1, M2, M3 for the plane.
#[inline(always)]
unsafe fn transpose_block<L: Lane>(plane: Plane) {
    for v in 0..plane.nv {
        let row = plane.from_column::<L>(v);
        // SAFETY: source column `v` and destination row `v`.
        unsafe { strided::<L>((row.src, plane.src_step), (row.dst, L::WIDTH as isize), plane.nu) }
    }
}
