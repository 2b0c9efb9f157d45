//! The operands of a block transpose: pointers, strides in bytes, extents.

use super::unit::Unit;

/// `nu` source rows of `nv` adjacent elements; they become `nv` destination rows of `nu` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransposeBlock {
    /// Element (0, 0) of the source.
    pub(super) src: *const u8,
    /// Bytes from one source row to the next.
    pub(super) src_step: isize,
    /// Element (0, 0) of the destination.
    pub(super) dst: *mut u8,
    /// Bytes from one destination row to the next.
    pub(super) dst_step: isize,
    /// Source rows, destination columns.
    pub(super) nu: usize,
    /// Source columns, destination rows.
    pub(super) nv: usize,
    /// Is the source read from memory, not from a cache?
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        allow(dead_code, reason = "the portable kernels read elements one by one")
    )]
    pub(super) is_far: bool,
}

impl TransposeBlock {
    /// The block with the given pointers, strides in elements, and extents.
    #[inline(always)]
    pub(super) fn new<L: Unit>(
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
    ) -> Self {
        let width = L::WIDTH as isize;
        let (src_step, dst_step) = (src_stride * width, dst_stride * width);
        Self { src: src.cast(), src_step, dst: dst.cast(), dst_step, nu, nv, is_far: false }
    }

    /// The sub-block that starts at source row `u` and source column `v`, `nu` by `nv`.
    #[inline(always)]
    pub(super) fn part<L: Unit>(self, (u, nu): (usize, usize), (v, nv): (usize, usize)) -> Self {
        let src = self.src.wrapping_offset(u as isize * self.src_step).wrapping_add(v * L::WIDTH);
        let dst = self.dst.wrapping_offset(v as isize * self.dst_step).wrapping_add(u * L::WIDTH);
        Self { src, dst, nu, nv, ..self }
    }

    /// The source rows from `u` on.
    #[inline(always)]
    pub(super) fn rows_from<L: Unit>(self, u: usize) -> Self {
        self.part::<L>((u, self.nu - u), (0, self.nv))
    }

    /// The source columns from `v` on.
    #[inline(always)]
    pub(super) fn columns_from<L: Unit>(self, v: usize) -> Self {
        self.part::<L>((0, self.nu), (v, self.nv - v))
    }

    /// The address of destination row `v`.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(super) fn dst_row(self, v: usize) -> *mut u8 {
        self.dst.wrapping_offset(v as isize * self.dst_step)
    }
}
