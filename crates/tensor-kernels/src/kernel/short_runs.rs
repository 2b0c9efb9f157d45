//! Copies and fills of many short runs: pixels of three bytes, vectors of twelve, a few floats.
//!
//! The cost per run must be close to zero, so the method is chosen once for all runs of a loop. A
//! run is copied, or filled, as two words of one width, its first and its last, which may overlap.
//! No gap is read, and none is written.

use super::{isa::Isa, unit::Unit};
use crate::{memory::Stores, nest::Loop};

/// Copies `len` adjacent elements in each iteration of a loop, whose strides are the destination's
/// and the source's. Does not read the gaps.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(always)]
pub(crate) unsafe fn copy_runs<I: Isa, L: Unit>(
    isa: I,
    src: *const L,
    dst: *mut L,
    len: usize,
    iterations: Loop<2>,
) {
    let [to, from] = iterations.strides.map(|stride| stride * L::WIDTH as isize);
    let (src, dst) =
        (StridedPtr(src.cast::<u8>().cast_mut(), from), StridedPtr(dst.cast::<u8>(), to));
    let bytes = len * L::WIDTH;
    match bytes {
        // SAFETY: M1 to M3 for runs of one byte.
        1 => unsafe { copy_ends::<u8>(src, dst, bytes, iterations.len) },
        // SAFETY: M1 to M3 for runs of one to two words of two bytes.
        2 | 3 => unsafe { copy_ends::<u16>(src, dst, bytes, iterations.len) },
        // SAFETY: M1 to M3 for runs of one to two words of four bytes.
        4..8 => unsafe { copy_ends::<u32>(src, dst, bytes, iterations.len) },
        // SAFETY: M1 to M3 for runs of one to two words of eight bytes.
        8..16 => unsafe { copy_ends::<u64>(src, dst, bytes, iterations.len) },
        // SAFETY: M1 to M3 for runs of one to two words of sixteen bytes.
        16..=32 => unsafe { copy_ends::<u128>(src, dst, bytes, iterations.len) },
        _ => {
            for iteration in 0..iterations.len as isize {
                // SAFETY: M1 to M3 hold for one run.
                unsafe {
                    isa.run(
                        src.at(iteration).cast_const(),
                        dst.at(iteration),
                        bytes,
                        Stores::Plain,
                    );
                };
            }
        }
    }
}

/// A pointer, and the bytes it advances in each iteration.
#[derive(Clone, Copy)]
struct StridedPtr(*mut u8, isize);

impl StridedPtr {
    #[inline(always)]
    fn at(self, iteration: isize) -> *mut u8 {
        self.0.wrapping_offset(iteration * self.1)
    }
}

/// Copies each run as its first and its last word, also if they are the same: of a loop with one
/// load and one store the compiler makes hardware gathers and scatters, which take twice as long.
///
/// # Safety
///
/// M1, M2 and M3 for the runs; a run is one to two words long.
#[inline(always)]
unsafe fn copy_ends<W: Unit>(src: StridedPtr, dst: StridedPtr, bytes: usize, count: usize) {
    for iteration in 0..count as isize {
        // SAFETY: M1 to M3 hold for one run, of one to two words.
        unsafe { copy_run::<W, true>(src.at(iteration), dst.at(iteration), bytes) };
    }
}

/// Copies the first word of a run and, if there are `TWO`, its last.
///
/// # Safety
///
/// That of [`copy_ends`], for one run, of one word if not `TWO`.
#[inline(always)]
unsafe fn copy_run<W: Unit, const TWO: bool>(from: *const u8, to: *mut u8, bytes: usize) {
    let last = bytes - W::WIDTH;
    // SAFETY: readable by M1.
    let low = unsafe { from.cast::<W>().read_unaligned() };
    if TWO {
        // SAFETY: readable by M1.
        let high = unsafe { from.wrapping_add(last).cast::<W>().read_unaligned() };
        // SAFETY: writable by M2.
        unsafe { to.wrapping_add(last).cast::<W>().write_unaligned(high) };
    }
    // SAFETY: writable by M2.
    unsafe { to.cast::<W>().write_unaligned(low) };
}

/// Copies `len` adjacent elements at each pair of offsets, in bytes, of two tables, the first one
/// inside. Does not read the gaps.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(always)]
pub(crate) unsafe fn copy_indexed<I: Isa, L: Unit>(
    isa: I,
    src: *const L,
    dst: *mut L,
    tables: (&[[isize; 2]], &[[isize; 2]]),
    len: usize,
) {
    let (src, dst, bytes) = (src.cast::<u8>(), dst.cast::<u8>(), len * L::WIDTH);
    match bytes {
        // SAFETY: M1 to M3 for runs of one byte.
        1 => unsafe { copy_ends_indexed::<u8, false>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one word.
        2 => unsafe { copy_ends_indexed::<u16, false>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one to two words of two bytes.
        3 => unsafe { copy_ends_indexed::<u16, true>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one word.
        4 => unsafe { copy_ends_indexed::<u32, false>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one to two words of four bytes.
        5..8 => unsafe { copy_ends_indexed::<u32, true>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one word.
        8 => unsafe { copy_ends_indexed::<u64, false>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one to two words of eight bytes.
        9..16 => unsafe { copy_ends_indexed::<u64, true>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one word.
        16 => unsafe { copy_ends_indexed::<u128, false>(src, dst, bytes, tables) },
        // SAFETY: M1 to M3 for runs of one to two words of sixteen bytes.
        17..=32 => unsafe { copy_ends_indexed::<u128, true>(src, dst, bytes, tables) },
        _ => {
            let (inner, outer) = tables;
            for &[to, from] in outer {
                let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
                for &[to, from] in inner {
                    let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
                    // SAFETY: M1 to M3 hold for one run.
                    unsafe { isa.run(src, dst, bytes, Stores::Plain) };
                }
            }
        }
    }
}

/// For each pair of entries of the tables, offsets in bytes in destination and source, copies a run
/// of `bytes` bytes as its first word and, if there are `TWO`, its last. The first table is the
/// inner loop.
///
/// # Safety
///
/// M1, M2 and M3 for the runs; a run is one to two words long, and one if not `TWO`.
#[inline(always)]
unsafe fn copy_ends_indexed<W: Unit, const TWO: bool>(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    (inner, outer): (&[[isize; 2]], &[[isize; 2]]),
) {
    for &[to, from] in outer {
        let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
        for &[to, from] in inner {
            let (from, to) = (src.wrapping_offset(from), dst.wrapping_offset(to));
            // SAFETY: M1 to M3 hold for one run, of one to two words.
            unsafe { copy_run::<W, TWO>(from, to, bytes) };
        }
    }
}
