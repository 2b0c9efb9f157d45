//! The operands of a block transpose: pointers, strides in bytes, extents.

use super::unit::Unit;
use crate::exec::Machine;

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
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        allow(dead_code, reason = "the portable kernels read elements one by one")
    )]
    pub(super) residency: Residency,
}

/// In which level of the memory hierarchy the operands of a copy lie, which says what is
/// prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Residency {
    /// Both operands lie in the first-level cache.
    FirstLevel,
    /// Both lie in caches, or not all of them in the first level.
    Cached,
    /// The source is read from memory; the result is kept in a cache.
    Memory,
}

impl Residency {
    /// Where operands lie that have this many bytes in all, if they have been used recently.
    pub(crate) fn of(bytes: usize, machine: &Machine) -> Self {
        match bytes <= machine.l1 / 4 * 3 {
            true => Self::FirstLevel,
            false => Self::Cached,
        }
    }
}

impl TransposeBlock {
    /// The block with the given pointers, strides in elements, and extents; for which nothing is
    /// prefetched.
    #[inline(always)]
    pub(super) fn new<L: Unit>(
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
    ) -> Self {
        let width = L::WIDTH as isize;
        let (src_step, dst_step) = (src_stride * width, dst_stride * width);
        let residency = Residency::FirstLevel;
        Self { src: src.cast(), src_step, dst: dst.cast(), dst_step, nu, nv, residency }
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
