//! Adjacent elements: copy and fill.
//!
//! Short runs are one or two overlapping registers, longer ones a loop of registers whose last one
//! overlaps its neighbour, so no length ends in a crawl. Past [`LIBRARY_BYTES`] a plain copy is the C
//! library's. A streamed run writes whole lines past the cache and its two ends through it.

use super::registers::Registers;
use super::vector::{PIECE, Vector};
use super::{LINE, Lane, Stores, portable};

/// From here on the library's `memcpy` is at least as fast, its call included.
const LIBRARY_BYTES: usize = 1024;

/// Below this a streamed run holds too few whole lines to be worth the alignment.
const STREAM_BYTES: usize = 4 * LINE;

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
    if stores == Stores::Stream && bytes >= STREAM_BYTES {
        // SAFETY: the caller's contract.
        unsafe { copy_streamed(isa, src, dst, bytes) }
    } else {
        // SAFETY: the caller's contract.
        unsafe { copy_plain(isa, src, dst, bytes) }
    }
}

/// # Safety
///
/// That of [`copy`].
#[inline(always)]
unsafe fn copy_plain<R: Registers>(isa: R, src: *const u8, dst: *mut u8, bytes: usize) {
    if bytes >= LIBRARY_BYTES {
        // SAFETY: the caller's contract.
        unsafe { portable::run(src, dst, bytes) }
    } else if bytes >= R::Full::BYTES {
        // SAFETY: the caller's contract, and one register at least.
        unsafe { copy_registers::<R::Full>(isa.into(), src, dst, bytes) }
    } else if bytes >= R::Half::BYTES {
        // SAFETY: the caller's contract, and one register at least.
        unsafe { copy_registers::<R::Half>(isa.into(), src, dst, bytes) }
    } else if bytes >= PIECE {
        // SAFETY: the caller's contract, and one piece at least.
        unsafe { copy_registers::<R::Piece>(isa.into(), src, dst, bytes) }
    } else {
        // SAFETY: the caller's contract, and less than a piece.
        unsafe { copy_scrap(src, dst, bytes) }
    }
}

/// Copies at least one register; the last one overlaps its neighbour.
///
/// # Safety
///
/// That of [`copy`], and `bytes >= V::BYTES`.
#[inline(always)]
unsafe fn copy_registers<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - V::BYTES;
    let mut at = 0;
    while at < last {
        // SAFETY: `at + BYTES <= bytes`.
        unsafe { copy_register::<V>(token, src.wrapping_add(at), dst.wrapping_add(at)) }
        at += V::BYTES;
    }
    // SAFETY: `last + BYTES == bytes`.
    unsafe { copy_register::<V>(token, src.wrapping_add(last), dst.wrapping_add(last)) }
}

/// # Safety
///
/// That of [`copy`] for `V::BYTES`.
#[inline(always)]
unsafe fn copy_register<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8) {
    // SAFETY: M1 is the caller's.
    let bits = unsafe { V::load(token, src) };
    // SAFETY: M2 is the caller's.
    unsafe { bits.store(dst) }
}

/// Copies less than a piece, as two overlapping halves of the largest power of two that fits.
///
/// # Safety
///
/// That of [`copy`], and `bytes < 16`.
#[inline(always)]
unsafe fn copy_scrap(src: *const u8, dst: *mut u8, bytes: usize) {
    match bytes {
        0 => {}
        // SAFETY: the caller's contract, the type being no wider than `bytes`.
        1 => unsafe { copy_ends::<u8>(src, dst, bytes) },
        // SAFETY: as above.
        2..4 => unsafe { copy_ends::<u16>(src, dst, bytes) },
        // SAFETY: as above.
        4..8 => unsafe { copy_ends::<u32>(src, dst, bytes) },
        // SAFETY: as above.
        _ => unsafe { copy_ends::<u64>(src, dst, bytes) },
    }
}

/// Copies the first and the last `T` of `bytes` bytes.
///
/// # Safety
///
/// That of [`copy`], and `bytes >= size_of::<T>()`.
#[inline(always)]
unsafe fn copy_ends<T: Lane>(src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - T::WIDTH;
    // SAFETY: readable by M1.
    let low = unsafe { src.cast::<T>().read_unaligned() };
    // SAFETY: readable by M1.
    let high = unsafe { src.wrapping_add(last).cast::<T>().read_unaligned() };
    // SAFETY: writable by M2.
    unsafe { dst.cast::<T>().write_unaligned(low) }
    // SAFETY: writable by M2.
    unsafe { dst.wrapping_add(last).cast::<T>().write_unaligned(high) }
}

/// # Safety
///
/// That of [`copy`], and `bytes` is at least a line.
#[inline(always)]
unsafe fn copy_streamed<R: Registers>(isa: R, src: *const u8, dst: *mut u8, bytes: usize) {
    let head = to_line(dst);
    let tail = head + (bytes - head) / LINE * LINE;
    // SAFETY: `head <= bytes`.
    unsafe { copy_plain(isa, src, dst, head) }
    let mut at = head;
    while at < tail {
        // SAFETY: `at + LINE <= bytes`, and `dst + at` is the start of a line.
        unsafe { stream_line::<R::Full>(isa.into(), src.wrapping_add(at), dst.wrapping_add(at)) }
        at += LINE;
    }
    // SAFETY: `tail <= bytes`.
    unsafe { copy_plain(isa, src.wrapping_add(tail), dst.wrapping_add(tail), bytes - tail) }
}

/// # Safety
///
/// That of [`copy`] for one line, and `dst` is 64-byte aligned.
#[inline(always)]
unsafe fn stream_line<V: Vector>(token: V::Token, src: *const u8, dst: *mut u8) {
    for at in (0..LINE).step_by(V::BYTES) {
        // SAFETY: M1 is the caller's.
        let bits = unsafe { V::load(token, src.wrapping_add(at)) };
        // SAFETY: M2 and the alignment are the caller's.
        unsafe { bits.stream(dst.wrapping_add(at)) }
    }
}

/// Bytes from `dst` to the start of a line.
#[inline(always)]
pub(super) fn to_line(dst: *mut u8) -> usize {
    dst.addr().wrapping_neg() % LINE
}

/// Writes `value` to `len` adjacent elements.
///
/// # Safety
///
/// M2 for `dst[..len * L::WIDTH]`.
#[inline(always)]
pub(super) unsafe fn fill<R: Registers, L: Lane>(
    isa: R,
    value: L,
    dst: *mut u8,
    len: usize,
    stores: Stores,
) {
    let bytes = len * L::WIDTH;
    if bytes < PIECE {
        // SAFETY: M2 is the caller's.
        unsafe { portable::fill(value, dst.cast::<L>(), len) }
    } else if bytes < R::Full::BYTES {
        let piece = R::Piece::splat(isa.into(), repeat(value));
        // SAFETY: M2 is the caller's, and one piece at least.
        unsafe { fill_registers(piece, dst, bytes) }
    } else {
        let full = R::Full::splat(isa.into(), repeat(value));
        // SAFETY: M2 is the caller's, and one register at least.
        unsafe { fill_long::<R::Full, L>(full, dst, bytes, stores) }
    }
}

/// The value as often as it fits a piece.
#[inline(always)]
fn repeat<L: Lane>(value: L) -> [u8; PIECE] {
    let mut piece = [0; PIECE];
    for element in piece.chunks_exact_mut(L::WIDTH) {
        element.copy_from_slice(bytemuck::bytes_of(&value));
    }
    piece
}

/// Streams the whole lines if that is asked for and elements do not straddle them.
///
/// # Safety
///
/// M2 for `dst[..bytes]`, and `bytes >= V::BYTES`.
#[inline(always)]
unsafe fn fill_long<V: Vector, L: Lane>(value: V, dst: *mut u8, bytes: usize, stores: Stores) {
    let head = to_line(dst);
    if stores == Stores::Plain || bytes < STREAM_BYTES || !head.is_multiple_of(L::WIDTH) {
        // SAFETY: the caller's contract.
        return unsafe { fill_registers(value, dst, bytes) };
    }
    let lines = (bytes - head) / LINE * LINE;
    // SAFETY: the first line's bytes at most; what exceeds the head is written again.
    unsafe { fill_registers(value, dst, LINE) }
    for at in (head..head + lines).step_by(V::BYTES) {
        // SAFETY: within `bytes`, and aligned as `dst + head` is.
        unsafe { value.stream(dst.wrapping_add(at)) }
    }
    // SAFETY: the last bytes of `dst[..bytes]`.
    unsafe { fill_registers(value, dst.wrapping_add(bytes - LINE), LINE) }
}

/// Fills at least one register; the last one overlaps its neighbour.
///
/// # Safety
///
/// M2 for `dst[..bytes]`, `bytes >= V::BYTES`, and both are multiples of the element.
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
