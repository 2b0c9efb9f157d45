//! Copies and fills of adjacent elements.
//!
//! A short run is copied by one or two registers, which may overlap. A longer run is a loop of
//! registers, the last of which overlaps the one before, so no length needs a scalar tail. From
//! [`MEMCPY_BYTES`] on a plain copy is the C library's. Where the instruction set has non-temporal
//! stores, a streamed run writes whole cache lines past the cache and its two ends through the
//! cache.

use pulp::NullaryFnOnce;

use super::register::{LANE_BYTES, Registers, Vector};
use crate::{
    kernel::{portable, unit::Unit},
    memory::{CACHE_LINE, Stores},
    tuning::{
        BYTES_PER_PAGE_VISIT, MEMCPY_BYTES, MIN_STREAMED_BYTES, PAGE_BYTES, PAGE_GROUP_BYTES,
    },
};

/// Copies `bytes` adjacent bytes.
///
/// # Safety
///
/// M1, M2, M3 for `src[..bytes]` and `dst[..bytes]`.
#[inline(always)]
pub(super) unsafe fn copy<R: Registers>(
    isa: R,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    stores: Stores,
) {
    match stores {
        Stores::NonTemporal if bytes >= MIN_STREAMED_BYTES && R::NON_TEMPORAL => {
            isa.vectorize(StreamedCopy { isa, src, dst, bytes });
        }
        // SAFETY: M1 to M3 hold for `bytes`, by this function's contract; more than one register.
        Stores::Narrow if bytes > 2 * R::Full::BYTES => unsafe {
            copy_registers::<R::Lane>(isa.into(), src, dst, bytes);
        },
        // SAFETY: M1 to M3 hold for `bytes`, by this function's contract.
        _ => unsafe { copy_plain(isa, src, dst, bytes) },
    }
}

/// # Safety
///
/// That of [`copy`].
#[inline(always)]
pub(super) unsafe fn copy_plain<R: Registers>(isa: R, src: *const u8, dst: *mut u8, bytes: usize) {
    if bytes >= MEMCPY_BYTES {
        // SAFETY: M1 to M3 hold for `bytes`, by this function's contract.
        unsafe { portable::run(src, dst, bytes) }
    } else if bytes > 2 * R::Full::BYTES {
        // SAFETY: M1 to M3 for `bytes`; they are more than a register.
        unsafe { copy_registers::<R::Full>(isa.into(), src, dst, bytes) }
    } else if bytes >= R::Full::BYTES {
        // SAFETY: M1 to M3 for `bytes`; they are one to two full registers.
        unsafe { copy_both_ends::<R::Full>(isa.into(), src, dst, bytes) }
    } else if bytes >= R::Half::BYTES {
        // SAFETY: M1 to M3 for `bytes`; they are one to two half registers.
        unsafe { copy_both_ends::<R::Half>(isa.into(), src, dst, bytes) }
    } else if bytes >= LANE_BYTES {
        // SAFETY: M1 to M3 for `bytes`; they are one to two lanes.
        unsafe { copy_both_ends::<R::Lane>(isa.into(), src, dst, bytes) }
    } else {
        // SAFETY: M1 to M3 for `bytes`; they are less than a lane.
        unsafe { copy_below_lane(src, dst, bytes) }
    }
}

/// Copies more than a register; the last one overlaps its neighbour.
///
/// # Safety
///
/// That of [`copy`], and `bytes > V::BYTES`.
#[inline(always)]
unsafe fn copy_registers<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - V::BYTES;
    for at in (0..last).step_by(V::BYTES) {
        // SAFETY: `at + BYTES <= bytes`.
        unsafe { copy_register::<V>(token, src.wrapping_add(at), dst.wrapping_add(at)) }
    }
    // SAFETY: `last + BYTES == bytes`.
    unsafe { copy_register::<V>(token, src.wrapping_add(last), dst.wrapping_add(last)) }
}

/// [`copy_registers`] of which all but the first and the last are whole cache lines of the
/// destination.
///
/// # Safety
///
/// That of [`copy`], and `bytes` is more than a register.
#[inline(always)]
pub(super) unsafe fn copy_by_lines<R: Registers>(
    isa: R,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
) {
    let line = const { R::Full::BYTES };
    debug_assert!(bytes > line, "{bytes} bytes");
    let last = bytes - line;
    // SAFETY: `BYTES < bytes`.
    unsafe { copy_register::<R::Full>(isa.into(), src, dst) }
    for at in (line - dst.addr() % line..last).step_by(line) {
        // SAFETY: `at + BYTES <= bytes`.
        unsafe {
            copy_register::<R::Full>(isa.into(), src.wrapping_add(at), dst.wrapping_add(at));
        }
    }
    // SAFETY: `last + BYTES == bytes`.
    unsafe {
        copy_register::<R::Full>(isa.into(), src.wrapping_add(last), dst.wrapping_add(last));
    }
}

/// Copies one to two registers: the first and the last, which may overlap.
///
/// # Safety
///
/// That of [`copy`], and `bytes` is one to two times `V::BYTES`.
#[inline(always)]
unsafe fn copy_both_ends<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - V::BYTES;
    // SAFETY: M1 holds for the first register: `BYTES <= bytes`.
    let low = unsafe { V::load(token, src) };
    // SAFETY: M1 holds for the last register: `last + BYTES == bytes`.
    let high = unsafe { V::load(token, src.wrapping_add(last)) };
    // SAFETY: M2 holds for the first register: `BYTES <= bytes`.
    unsafe { low.store(dst) }
    // SAFETY: M2 holds for the last register: `last + BYTES == bytes`.
    unsafe { high.store(dst.wrapping_add(last)) }
}

/// # Safety
///
/// That of [`copy`] for `V::BYTES`.
#[inline(always)]
unsafe fn copy_register<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8) {
    // SAFETY: M1 covers `V::BYTES` at `src`.
    let bits = unsafe { V::load(token, src) };
    // SAFETY: M2 covers `V::BYTES` at `dst`.
    unsafe { bits.store(dst) }
}

/// Copies less than a lane: the first and the last word of the widest type that fits.
///
/// # Safety
///
/// That of [`copy`], and `bytes < 16`.
#[inline(always)]
unsafe fn copy_below_lane(src: *const u8, dst: *mut u8, bytes: usize) {
    if bytes >= 8 {
        // SAFETY: M1 to M3 for `bytes`; they are one to two words of eight.
        unsafe { copy_both_words::<u64>(src, dst, bytes) }
    } else if bytes >= 4 {
        // SAFETY: M1 to M3 for `bytes`; they are one to two words of four.
        unsafe { copy_both_words::<u32>(src, dst, bytes) }
    } else if bytes >= 2 {
        // SAFETY: M1 to M3 for `bytes`; they are one to two words of two.
        unsafe { copy_both_words::<u16>(src, dst, bytes) }
    } else if bytes == 1 {
        // SAFETY: M1 to M3 for the one byte.
        unsafe { copy_both_words::<u8>(src, dst, bytes) }
    }
}

/// Copies one to two words: the first and the last, which may overlap.
///
/// # Safety
///
/// That of [`copy`], and `bytes` is one to two times `T::WIDTH`.
#[inline(always)]
unsafe fn copy_both_words<T: Unit>(src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - T::WIDTH;
    // SAFETY: M1 holds: `WIDTH <= bytes`.
    let low = unsafe { src.cast::<T>().read_unaligned() };
    // SAFETY: M1 holds: `last + WIDTH == bytes`.
    let high = unsafe { src.wrapping_add(last).cast::<T>().read_unaligned() };
    // SAFETY: M2 holds: `WIDTH <= bytes`.
    unsafe { dst.cast::<T>().write_unaligned(low) }
    // SAFETY: M2 holds: `last + WIDTH == bytes`.
    unsafe { dst.wrapping_add(last).cast::<T>().write_unaligned(high) }
}

/// A streamed copy. It is a function of its own, as plain runs are inlined into the loops over
/// them.
///
/// Invariant: only [`copy`] makes it; M1, M2 and M3 hold for `bytes`, which are at least a line.
struct StreamedCopy<R> {
    isa: R,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
}

impl<R: Registers> NullaryFnOnce for StreamedCopy<R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, src, dst, bytes } = self;
        let head = to_line(dst);
        let pages = head + (bytes - head) / PAGE_GROUP_BYTES * PAGE_GROUP_BYTES;
        let lines = head + (bytes - head) / CACHE_LINE * CACHE_LINE;
        // SAFETY: M1 to M3 for the first bytes: `head < CACHE_LINE <= bytes`.
        unsafe { copy_plain(isa, src, dst, head) }
        for at in (head..pages).step_by(PAGE_GROUP_BYTES) {
            // SAFETY: M1 to M3: `at + PAGE_GROUP_BYTES <= bytes`; `dst + at` starts a line.
            unsafe { stream_pages(isa, src.wrapping_add(at), dst.wrapping_add(at)) }
        }
        let (from, to) = (src.wrapping_add(pages), dst.wrapping_add(pages));
        // SAFETY: M1 to M3: `lines <= bytes`; `dst + pages` starts a line.
        unsafe { stream(isa, from, to, lines - pages) }
        let (from, to) = (src.wrapping_add(lines), dst.wrapping_add(lines));
        // SAFETY: M1 to M3 for the last bytes.
        unsafe { copy_plain(isa, from, to, bytes - lines) }
    }
}

/// Streams a group of pages side by side. The hardware prefetches each page separately, so several
/// pages at a time keep more reads in flight: 10 to 20 % faster than one page after the other.
///
/// # Safety
///
/// That of [`copy`] for [`PAGE_GROUP_BYTES`], and `dst` is 64-byte aligned.
#[inline(always)]
unsafe fn stream_pages<R: Registers>(isa: R, src: *const u8, dst: *mut u8) {
    for line in (0..PAGE_BYTES).step_by(BYTES_PER_PAGE_VISIT) {
        for page in (0..PAGE_GROUP_BYTES).step_by(PAGE_BYTES) {
            let (src, dst) = (src.wrapping_add(page + line), dst.wrapping_add(page + line));
            // SAFETY: the lines lie within the group, and `dst` is a multiple of a line.
            unsafe { stream(isa, src, dst, BYTES_PER_PAGE_VISIT) }
        }
    }
}

/// Streams whole cache lines.
///
/// # Safety
///
/// That of [`copy`]; `bytes` is a multiple of a line and `dst` is 64-byte aligned.
#[inline(always)]
unsafe fn stream<R: Registers>(isa: R, src: *const u8, dst: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(R::Full::BYTES) {
        // SAFETY: M1 holds: `at + BYTES <= bytes`.
        let bits = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: M2 holds: `at + BYTES <= bytes`; `dst` and `at` are multiples of `BYTES`.
        unsafe { bits.stream(dst.wrapping_add(at)) }
    }
}

/// Bytes from `dst` to the next start of a cache line.
#[inline(always)]
pub(super) fn to_line(dst: *mut u8) -> usize {
    dst.addr().wrapping_neg() % CACHE_LINE
}

/// Writes `value` to `len` adjacent elements.
///
/// # Safety
///
/// M2 for `dst[..len * L::WIDTH]`.
#[inline(always)]
pub(super) unsafe fn fill<R: Registers, L: Unit>(
    isa: R,
    value: L,
    dst: *mut u8,
    len: usize,
    stores: Stores,
) {
    let bytes = len * L::WIDTH;
    if bytes < LANE_BYTES {
        // SAFETY: M2 holds for `len` elements, by this function's contract.
        unsafe { portable::fill(value, dst.cast::<L>(), len) }
    } else if bytes < R::Full::BYTES || stores == Stores::Narrow {
        let lane = R::Lane::splat(isa.into(), repeat(value));
        // SAFETY: M2 holds for `bytes`, which are at least one lane.
        unsafe { fill_registers(lane, dst, bytes) }
    } else {
        let full = R::Full::splat(isa.into(), repeat(value));
        // SAFETY: M2 holds for `bytes`, which are at least one register.
        unsafe { fill_registers(full, dst, bytes) }
    }
}

/// A lane filled with the value.
#[inline(always)]
fn repeat<L: Unit>(value: L) -> [u8; LANE_BYTES] {
    let mut lane = [0; LANE_BYTES];
    for element in lane.chunks_exact_mut(L::WIDTH) {
        element.copy_from_slice(bytemuck::bytes_of(&value));
    }
    lane
}

/// Fills at least one register; the last one overlaps the one before.
///
/// # Safety
///
/// M2 for `dst[..bytes]`. `bytes >= V::BYTES`, and both are multiples of the element's width.
#[inline(always)]
unsafe fn fill_registers<V: Vector>(value: V, dst: *mut u8, bytes: usize) {
    let last = bytes - V::BYTES;
    for at in (0..last).step_by(V::BYTES) {
        // SAFETY: `at + BYTES <= bytes`.
        unsafe { value.store(dst.wrapping_add(at)) }
    }
    // SAFETY: `last + BYTES == bytes`.
    unsafe { value.store(dst.wrapping_add(last)) }
}
