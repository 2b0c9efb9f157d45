//! Prefetching, where the access pattern is one that the CPU does not recognise.

use crate::memory::CACHE_LINE;

/// Asks the CPU to load a cache line into the second-level cache. Any address will do.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch of any address is allowed, and all x86-64 CPUs have the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks the CPU to load a cache line that is written soon into the first-level cache. Any address
/// will do.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(crate) fn prefetch_written(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address is allowed, and all x86-64 CPUs have the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the lines of some bytes.
#[cfg_attr(
    not(any(feature = "elementwise", target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only the kernels of registers prefetch what is copied")
)]
#[inline(always)]
pub(crate) fn prefetch_bytes(start: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(CACHE_LINE) {
        prefetch(start.wrapping_add(line));
    }
}
