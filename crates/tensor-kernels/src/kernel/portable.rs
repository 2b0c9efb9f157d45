//! Plain Rust kernels: the fallback without a SIMD level, and the elements that do not fill a
//! register.

#[cfg(feature = "elementwise")]
use super::register_op::Finishing;
use super::{
    indexed_block::IndexedBlock, staged_rows::StagedRows, transpose_block::TransposeBlock,
    unit::Unit,
};
#[cfg(feature = "elementwise")]
use crate::element::Real;
use crate::{
    lane_shuffles::LaneShuffles,
    nest::Loop,
    tuning::{PORTABLE_BLOCK_SIDE_ELEMENTS, PORTABLE_LONG_BLOCK_SIDE_ELEMENTS},
};

/// Copies `len` adjacent elements.
///
/// # Safety
///
/// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
#[inline(always)]
pub(super) unsafe fn run<L: Unit>(src: *const L, dst: *mut L, len: usize) {
    // SAFETY: readable by M1, writable by M2, no overlap by M3; bytes need no alignment.
    unsafe { src.cast::<u8>().copy_to_nonoverlapping(dst.cast(), len * L::WIDTH) }
}

/// Writes rows from scratch to memory.
///
/// # Safety
///
/// M1, M2 and M3 for the bytes of each row.
#[inline(always)]
pub(super) unsafe fn flush(rows: StagedRows) {
    for r in 0..rows.count as isize {
        let src = rows.src.wrapping_offset(r * rows.src_step).cast_const();
        // SAFETY: M1 to M3 hold for row `r`.
        unsafe { run(src, rows.dst.wrapping_offset(r * rows.dst_step), rows.bytes) };
    }
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

/// Gathers `len` elements, each `step` bytes after the one before.
///
/// Not inlined: with wide instructions enabled the compiler would turn every inlined copy of this
/// loop into hardware gathers.
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(never)]
pub(super) unsafe fn gather<L: Unit>(src: *const u8, step: isize, dst: *mut u8, len: usize) {
    // SAFETY: M1 to M3 for `len` elements, `step` bytes apart in the source.
    unsafe { strided::<L>((src, step), (dst, L::WIDTH as isize), len) }
}

/// Scatters `len` elements, each to `step` bytes after the one before. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for these elements.
#[inline(never)]
pub(super) unsafe fn scatter<L: Unit>(src: *const u8, dst: *mut u8, step: isize, len: usize) {
    // SAFETY: M1 to M3 for `len` elements, `step` bytes apart in the destination.
    unsafe { strided::<L>((src, L::WIDTH as isize), (dst, step), len) }
}

/// Transposes block by block. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(never)]
pub(super) unsafe fn transpose<L: Unit>(block: TransposeBlock) {
    let side = if block.nu.min(block.nv) < PORTABLE_BLOCK_SIDE_ELEMENTS {
        PORTABLE_LONG_BLOCK_SIDE_ELEMENTS
    } else {
        PORTABLE_BLOCK_SIDE_ELEMENTS
    };
    for v in (0..block.nv).step_by(side) {
        for u in (0..block.nu).step_by(side) {
            let (nu, nv) = (side.min(block.nu - u), side.min(block.nv - v));
            // SAFETY: M1 to M3 hold for every part of the block.
            unsafe { transpose_block::<L>(block.part::<L>((u, nu), (v, nv))) }
        }
    }
}

/// Transposes a few elements: what does not fill a tile. [`transpose`] and the loops that the
/// compiler unrolls in it take 100 instructions more. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
pub(super) unsafe fn transpose_few<L: Unit>(block: TransposeBlock) {
    for u in 0..block.nu {
        let row = block.rows_from::<L>(u);
        let (mut from, mut to) = (row.src.cast::<L>(), row.dst);
        for _ in 0..block.nv {
            // SAFETY: readable by M1.
            let element = unsafe { from.read_unaligned() };
            // SAFETY: writable by M2, no overlap by M3.
            unsafe { to.cast::<L>().write_unaligned(element) };
            (from, to) = (from.wrapping_add(1), to.wrapping_offset(block.dst_step));
        }
    }
}

/// Transposes along the longer side.
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
            // SAFETY: M1 to M3 hold: source column `v` becomes destination row `v` of the block.
            unsafe { strided::<L>((column.src, block.src_step), (column.dst, width), block.nu) }
        }
    } else {
        for u in 0..block.nu {
            let row = block.rows_from::<L>(u);
            // SAFETY: M1 to M3 hold: source row `u` becomes destination column `u` of the block.
            unsafe { strided::<L>((row.src, width), (row.dst, block.dst_step), block.nv) }
        }
    }
}

/// Copies `len` elements; on each side they are a fixed number of bytes apart.
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
        // SAFETY: writable by M2, no overlap by M3.
        unsafe { to.write_unaligned(element) }
    }
}

/// Assembles blocks byte by byte. Not inlined, see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for the bytes of each block, of which an iteration of the loop has one.
#[inline(never)]
pub(super) unsafe fn shuffle_blocks(
    src: *const u8,
    dst: *mut u8,
    shuffles: &LaneShuffles,
    blocks: Loop<2>,
) {
    for block in 0..blocks.len as isize {
        let [to, from] = blocks.strides.map(|stride| stride * block);
        for (start, sources) in shuffles.lanes() {
            let dst = dst.wrapping_offset(to).wrapping_add(start);
            for source in sources {
                let src = src.wrapping_offset(from + source.offset as isize);
                for (b, &at) in source.index.iter().enumerate().filter(|(_, at)| **at < 128) {
                    // SAFETY: readable by M1.
                    let byte = unsafe { src.wrapping_add(at.into()).read() };
                    // SAFETY: writable by M2, no overlap by M3.
                    unsafe { dst.wrapping_add(b).write(byte) };
                }
            }
        }
    }
}

/// Copies a block whose rows lie at offsets of tables, with the longer side inside. Not inlined,
/// see [`gather`].
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(never)]
pub(super) unsafe fn transpose_indexed<L: Unit>(block: IndexedBlock<'_, L>) {
    let (mut outer, mut inner) = (block.rows, block.columns);
    if inner.len() < outer.len() {
        (outer, inner) = (inner, outer);
    }
    for &[to, from] in outer {
        let (src, dst) = (block.src.wrapping_byte_offset(from), block.dst.wrapping_byte_offset(to));
        for &[to, from] in inner {
            // SAFETY: readable by M1.
            let element = unsafe { src.wrapping_byte_offset(from).read_unaligned() };
            // SAFETY: writable by M2, no overlap by M3.
            unsafe { dst.wrapping_byte_offset(to).write_unaligned(element) }
        }
    }
}

/// Transposes a block of floats as wide as `L`, and writes the results of an operation.
///
/// # Safety
///
/// M1, M2, M3 for the block, F1 for its elements.
#[cfg(feature = "elementwise")]
#[inline(never)]
pub(super) unsafe fn transpose_finished<L: Unit>(block: TransposeBlock, finishing: &Finishing) {
    for v in 0..block.nv {
        let column = block.columns_from::<L>(v);
        for u in 0..block.nu {
            let at = column.rows_from::<L>(u);
            // SAFETY: M1 to M3 and F1 hold for an element of the block.
            unsafe { finish_one::<L>(at.src, at.dst, finishing) }
        }
    }
}

/// The same for a block whose rows lie at offsets of tables.
///
/// # Safety
///
/// M1, M2, M3 for the block, F1 for its elements.
#[cfg(feature = "elementwise")]
#[inline(never)]
pub(super) unsafe fn transpose_indexed_finished<L: Unit>(
    block: IndexedBlock<'_, L>,
    finishing: &Finishing,
) {
    for &[to, from] in block.rows {
        let (src, dst) = (block.src.wrapping_byte_offset(from), block.dst.wrapping_byte_offset(to));
        for &[to, from] in block.columns {
            let (src, dst) = (src.wrapping_byte_offset(from), dst.wrapping_byte_offset(to));
            // SAFETY: M1 to M3 and F1 hold for an element of the block.
            unsafe { finish_one::<L>(src.cast(), dst.cast(), finishing) }
        }
    }
}

/// Computes the result at `dst` for the element at `row`, in place.
///
/// # Safety
///
/// The element at `row` can be read and written; F1 for that at `dst`.
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn finish_in_place<L: Unit>(row: *mut u8, dst: *mut u8, finishing: &Finishing) {
    if L::WIDTH == size_of::<f32>() {
        // SAFETY: this function's contract; the element is an f32.
        let value = unsafe { finishing.one::<f32>(row, dst) };
        // SAFETY: this function's contract.
        unsafe { row.cast::<f32>().write_unaligned(value) }
    } else {
        // SAFETY: this function's contract; the element is an f64.
        let value = unsafe { finishing.one::<f64>(row, dst) };
        // SAFETY: this function's contract.
        unsafe { row.cast::<f64>().write_unaligned(value) }
    }
}

/// Writes the result for one element.
///
/// # Safety
///
/// M1, M2, M3 and F1 for this element.
#[cfg(feature = "elementwise")]
#[inline(always)]
unsafe fn finish_one<L: Unit>(src: *const u8, dst: *mut u8, finishing: &Finishing) {
    if L::WIDTH == size_of::<f32>() {
        // SAFETY: this function's contract; the element is an f32.
        unsafe { finish_float::<f32>(src, dst, finishing) }
    } else {
        // SAFETY: this function's contract; the element is an f64.
        unsafe { finish_float::<f64>(src, dst, finishing) }
    }
}

/// # Safety
///
/// That of [`finish_one`]; the element is an `F`.
#[cfg(feature = "elementwise")]
#[inline(always)]
unsafe fn finish_float<F: Real<Magnitude = F> + bytemuck::Pod>(
    src: *const u8,
    dst: *mut u8,
    finishing: &Finishing,
) {
    // SAFETY: M1 and F1 hold for this element.
    let value = unsafe { finishing.one::<F>(src, dst) };
    // SAFETY: writable by M2, no overlap by M3.
    unsafe { dst.cast::<F>().write_unaligned(value) }
}
