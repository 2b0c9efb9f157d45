//! Plain Rust kernels: the specification of the others, and what runs where there is no SIMD level.

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

use super::Lane;
