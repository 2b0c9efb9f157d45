//! Runs of one repeated element that are shorter than a function call is worth.

use super::unit::Unit;
use crate::nest::Loop;

/// Writes one element to `len` adjacent ones in each iteration of a loop, whose strides are the
/// destination's and the source's. Does not read the gaps.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(always)]
pub(crate) unsafe fn fill_runs<L: Unit>(
    src: *const L,
    dst: *mut L,
    len: usize,
    iterations: Loop<2>,
) {
    match len {
        0 => {}
        // SAFETY: M2 for runs of one element, M1 for one element per run.
        1 => unsafe { fill_both_ends::<L, 1>(src, dst, len, iterations) },
        // SAFETY: M2 for runs of two to four elements, M1 for one element per run.
        2..=4 => unsafe { fill_both_ends::<L, 2>(src, dst, len, iterations) },
        // SAFETY: M2 for runs of four to eight elements, M1 for one element per run.
        5..=8 => unsafe { fill_both_ends::<L, 4>(src, dst, len, iterations) },
        // SAFETY: M2 for runs of eight to sixteen elements, M1 for one element per run.
        9..=16 => unsafe { fill_both_ends::<L, 8>(src, dst, len, iterations) },
        // SAFETY: M2 for runs of sixteen to thirty-two elements, M1 for one element per run.
        17..=32 => unsafe { fill_both_ends::<L, 16>(src, dst, len, iterations) },
        _ => {
            let last = len - FILL_BLOCK_ELEMENTS;
            for at in (0..last).step_by(FILL_BLOCK_ELEMENTS).chain([last]) {
                // SAFETY: `at + FILL_BLOCK_ELEMENTS <= len`: M2 holds for a part of each run.
                unsafe {
                    fill_both_ends::<L, 16>(
                        src,
                        dst.wrapping_add(at),
                        FILL_BLOCK_ELEMENTS,
                        iterations,
                    );
                };
            }
        }
    }
}

/// Elements that are filled at a time, in runs longer than this.
const FILL_BLOCK_ELEMENTS: usize = 32;

/// Fills runs of `N` to `2 * N` elements, by writing the first `N` and the last `N`. The compiler
/// keeps the `N` copies in registers.
///
/// # Safety
///
/// That of [`fill_runs`], for runs of this length.
#[inline(always)]
unsafe fn fill_both_ends<L: Unit, const N: usize>(
    src: *const L,
    dst: *mut L,
    len: usize,
    iterations: Loop<2>,
) {
    let (mut from, mut to, last) = (src, dst, len - N);
    for _ in 0..iterations.len {
        // SAFETY: readable by M1.
        let copies = [unsafe { from.read_unaligned() }; N];
        // SAFETY: writable by M2.
        unsafe { to.cast::<[L; N]>().write_unaligned(copies) };
        // SAFETY: writable by M2.
        unsafe { to.wrapping_add(last).cast::<[L; N]>().write_unaligned(copies) };
        (to, from) = (
            to.wrapping_offset(iterations.strides[0]),
            from.wrapping_offset(iterations.strides[1]),
        );
    }
}
