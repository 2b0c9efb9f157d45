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
pub(super) const TREE: usize = 16;

/// Rows of partial results.
#[repr(align(64))]
pub(super) struct Trees<S>(pub(super) [[S; TREE]; TREE]);

impl<S: Copy> Trees<S> {
    /// Writes the transpose to `turned`.
    pub(super) fn turn(&self, simd: SimdLevel, turned: &mut Self) {
        let (from, to) = (self.0.as_ptr().cast(), turned.0.as_mut_ptr().cast());
        // SAFETY: two such arrays.
        unsafe { turn(simd, size_of::<S>(), from, to) };
    }
}

/// Transposes [`TREE`] rows of as many elements of so many bytes. Not generic: there is one for all
/// reductions.
///
/// # Safety
/// `from` can be read and `to` written.
unsafe fn turn(simd: SimdLevel, width: usize, from: *const u8, to: *mut u8) {
    match width {
        1 => dispatch(simd, Turn::<u8> { from: from.cast(), to: to.cast() }),
        2 => dispatch(simd, Turn::<u16> { from: from.cast(), to: to.cast() }),
        4 => dispatch(simd, Turn::<u32> { from: from.cast(), to: to.cast() }),
        8 => dispatch(simd, Turn::<u64> { from: from.cast(), to: to.cast() }),
        16 => dispatch(simd, Turn::<u128> { from: from.cast(), to: to.cast() }),
        _ => unreachable!("slots are as wide as an element type"),
    }
}

/// Invariant: made by [`turn`] only, whose caller vouches for the memory.
struct Turn<L> {
    from: *const L,
    to: *mut L,
}

impl<L: Unit> Kernel for Turn<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let step = TREE as isize;
        // SAFETY: the invariant: both are arrays of TREE rows of TREE elements, and not the same.
        unsafe { isa.transpose(self.from, step, self.to, step, TREE, TREE) };
    }
}
