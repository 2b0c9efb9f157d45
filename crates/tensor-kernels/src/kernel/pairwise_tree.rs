//! The partial results of several rows, transposed so that their trees are computed together, one
//! row per SIMD element.

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    transpose_block::Residency,
    unit::Unit,
};
use crate::{exec::SimdLevel, reduction_order::TREE_LEAVES};

/// [`TREE_LEAVES`] rows of as many partial results.
#[repr(align(64))]
pub(super) struct TreeLeaves<S>(pub(super) [[S; TREE_LEAVES]; TREE_LEAVES]);

impl<S: Copy> TreeLeaves<S> {
    /// Writes the transpose to `transposed`.
    pub(super) fn transpose(&self, simd: SimdLevel, transposed: &mut Self) {
        let (from, to) = (self.0.as_ptr().cast(), transposed.0.as_mut_ptr().cast());
        // SAFETY: both are arrays of `TREE_LEAVES` by `TREE_LEAVES` elements; one is borrowed
        // mutably.
        unsafe { transpose(simd, size_of::<S>(), from, to) };
    }
}

/// Transposes [`TREE_LEAVES`] rows of [`TREE_LEAVES`] elements of `width` bytes. Not generic, so
/// that it is compiled once for all reductions.
///
/// # Safety
/// The array at `from` can be read, the array at `to` can be written, and they do not overlap.
unsafe fn transpose(simd: SimdLevel, width: usize, from: *const u8, to: *mut u8) {
    match width {
        1 => dispatch(simd, Transpose::<u8> { from: from.cast(), to: to.cast() }),
        2 => dispatch(simd, Transpose::<u16> { from: from.cast(), to: to.cast() }),
        4 => dispatch(simd, Transpose::<u32> { from: from.cast(), to: to.cast() }),
        8 => dispatch(simd, Transpose::<u64> { from: from.cast(), to: to.cast() }),
        16 => dispatch(simd, Transpose::<u128> { from: from.cast(), to: to.cast() }),
        _ => unreachable!("accumulators are as wide as an element type"),
    }
}

/// Invariant: only [`transpose`] makes it, and its contract covers both arrays.
struct Transpose<L> {
    from: *const L,
    to: *mut L,
}

impl<L: Unit> Kernel for Transpose<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let step = TREE_LEAVES as isize;
        let extents = (TREE_LEAVES, TREE_LEAVES);
        // SAFETY: the invariant: two arrays of `TREE_LEAVES` rows of `TREE_LEAVES` elements that do
        // not overlap.
        unsafe {
            isa.transpose((self.from, step), (self.to, step), extents, Residency::FirstLevel);
        };
    }
}
