//! Partial results of several rows, transposed so that the trees of all of them are joined lane by
//! lane.

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    unit::Unit,
};
use crate::exec::SimdLevel;

/// Partial results of a row that are left when registers are joined, and rows whose trees are done
/// at a time.
pub(super) const TREE_LEAVES: usize = 16;

/// Rows of partial results.
#[repr(align(64))]
pub(super) struct TreeLeaves<S>(pub(super) [[S; TREE_LEAVES]; TREE_LEAVES]);

impl<S: Copy> TreeLeaves<S> {
    /// Writes the transpose to `turned`.
    pub(super) fn transpose(&self, simd: SimdLevel, transposed: &mut Self) {
        let (from, to) = (self.0.as_ptr().cast(), transposed.0.as_mut_ptr().cast());
        // SAFETY: two such arrays.
        unsafe { transpose(simd, size_of::<S>(), from, to) };
    }
}

/// Transposes [`TREE_LEAVES`] rows of as many elements of so many bytes. Not generic: there is one for all
/// reductions.
///
/// # Safety
/// `from` can be read and `to` written.
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

/// Invariant: made by [`transpose`] only, whose caller vouches for the memory.
struct Transpose<L> {
    from: *const L,
    to: *mut L,
}

impl<L: Unit> Kernel for Transpose<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let step = TREE_LEAVES as isize;
        // SAFETY: the invariant: both are arrays of TREE_LEAVES rows of TREE_LEAVES elements, and not the same.
        unsafe { isa.transpose(self.from, step, self.to, step, TREE_LEAVES, TREE_LEAVES) };
    }
}
