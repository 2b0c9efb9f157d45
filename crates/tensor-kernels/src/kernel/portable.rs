//! Plain Rust kernels: the last scraps of the others, and what runs where there is no SIMD level.

use super::{transpose_block::TransposeBlock, unit::Unit};

/// Elements of a side of the blocks in which the portable transposition goes: the lines of both
/// sides are used up while they are in the first-level cache.
const BLOCK_SIDE_ELEMENTS: usize = 16;

/// The other side of a block whose one side is shorter than [`BLOCK_SIDE_ELEMENTS`].
const LONG_BLOCK_SIDE_ELEMENTS: usize = 256;

/// Copies `len` adjacent elements.
///
/// # Safety
///
/// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
#[inline(always)]
pub(super) unsafe fn run<L: Unit>(src: *const L, dst: *mut L, len: usize) {
    // SAFETY: readable by M1, writable by M2, apart by M3; bytes have no alignment.
    unsafe { src.cast::<u8>().copy_to_nonoverlapping(dst.cast(), len * L::WIDTH) }
}

/// Writes `value` to `len` adjacent elements.
///
/// # Safety
///
/// M2 for `dst[i]`, `i < len`.
#[inline(always)]
pub(super) unsafe fn fill<L: Unit>(value: L, dst: *mut L, len: usize) {
    for i in 0..len {
        // SAFETY: writable by M2.
        unsafe { dst.wrapping_add(i).write_unaligned(value) }
    }
}

/// Collects `len` elements, each `step` bytes from the one before.
///
/// Not inlined: where wide instructions are enabled the compiler would make it a crowd of hardware
/// gathers, at every place that ends in a scrap.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(never)]
pub(super) unsafe fn gather<L: Unit>(src: *const u8, step: isize, dst: *mut u8, len: usize) {
    // SAFETY: M1 to M3 for `len` elements, `step` bytes apart in the source.
    unsafe { strided::<L>((src, step), (dst, L::WIDTH as isize), len) }
}

/// Spreads `len` elements, each to `step` bytes from the one before. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(never)]
pub(super) unsafe fn scatter<L: Unit>(src: *const u8, dst: *mut u8, step: isize, len: usize) {
    // SAFETY: M1 to M3 for `len` elements, `step` bytes apart in the destination.
    unsafe { strided::<L>((src, L::WIDTH as isize), (dst, step), len) }
}

/// Transposes a block, block by block. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(never)]
pub(super) unsafe fn transpose<L: Unit>(block: TransposeBlock) {
    let side = if block.nu.min(block.nv) < BLOCK_SIDE_ELEMENTS {
        LONG_BLOCK_SIDE_ELEMENTS
    } else {
        BLOCK_SIDE_ELEMENTS
    };
    for v in (0..block.nv).step_by(side) {
        for u in (0..block.nu).step_by(side) {
            let (nu, nv) = (side.min(block.nu - u), side.min(block.nv - v));
            // SAFETY: a part of the block.
            unsafe { transpose_block::<L>(block.part::<L>((u, nu), (v, nv))) }
        }
    }
}

/// Transposes a block, along the longer side.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
unsafe fn transpose_block<L: Unit>(block: TransposeBlock) {
    let width = L::WIDTH as isize;
    if block.nu >= block.nv {
        for v in 0..block.nv {
            let column = block.columns_from::<L>(v);
            // SAFETY: source column `v` becomes destination row `v`.
            unsafe { strided::<L>((column.src, block.src_step), (column.dst, width), block.nu) }
        }
    } else {
        for u in 0..block.nu {
            let row = block.rows_from::<L>(u);
            // SAFETY: source row `u` becomes destination column `u`.
            unsafe { strided::<L>((row.src, width), (row.dst, block.dst_step), block.nv) }
        }
    }
}

/// Copies `len` elements, each so many bytes from the one before.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(always)]
unsafe fn strided<L: Unit>(
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
