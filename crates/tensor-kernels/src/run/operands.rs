//! The operands of a plan: pointers that are made from views, and from nothing else.
//!
//! Here a plan's offsets become addresses. The layers above are arithmetic on plain data; the
//! layers below are kernels on raw memory. The functions that `run` exports take views and plan for
//! the layouts of those same views, so a plan is never applied to memory it was not made for.

#[cfg(feature = "elementwise")]
mod typed;

use std::{marker::PhantomData, mem::MaybeUninit};

use tensor_core::{Element, ViewRef, ViewRefMut};

#[cfg(feature = "elementwise")]
pub(crate) use typed::{Destination, Erased, Input};

/// Where elements `T` can be copied to: initialised elements, or uninitialised memory.
pub(crate) trait CopyTarget<T>: Copy + Send + Sync {}

impl<T: Element> CopyTarget<T> for T {}

impl<T: Element> CopyTarget<T> for MaybeUninit<T> {}

/// The memory of one operand: the address of offset 0 of its layout, without its element type.
#[derive(Clone, Copy)]
pub(super) struct OperandPtr<'a> {
    pub(super) base: *mut u8,
    /// May the gaps between elements be read?
    pub(super) gaps_readable: bool,
    life: PhantomData<&'a mut u8>,
}

impl OperandPtr<'_> {
    /// Elements of an operand or of scratch, from an address on. Their users say what holds there.
    pub(super) fn at(base: *mut u8, gaps_readable: bool) -> Self {
        Self { base, gaps_readable, life: PhantomData }
    }

    /// The same memory from some bytes on.
    #[inline]
    pub(super) fn behind(self, bytes: usize) -> Self {
        Self { base: self.base.wrapping_add(bytes), ..self }
    }
}

impl<'a, T: Copy> From<ViewRef<'a, T>> for OperandPtr<'a> {
    #[inline]
    fn from(elements: ViewRef<'a, T>) -> Self {
        let base = elements.base_ptr().cast_mut().cast();
        Self { base, gaps_readable: elements.gaps_readable(), life: PhantomData }
    }
}

impl<'a, T: Copy> From<&'a mut ViewRefMut<'_, T>> for OperandPtr<'a> {
    #[inline]
    fn from(elements: &'a mut ViewRefMut<'_, T>) -> Self {
        Self { base: elements.base_mut_ptr().cast(), gaps_readable: false, life: PhantomData }
    }
}

/// The operands of an operation; operand 0 is written.
///
/// # Invariants
/// - **O1.** Every offset of an operand's layout can be read during `'a`; every offset of operand
///   0's can be written, too, and no two indices share one.
/// - **O2.** Nobody else touches operand 0's elements, and nobody writes the others'.
/// - **O3.** An operand shares no element with operand 0, or it is operand 0.
/// - **O4.** If an operand's gaps are readable, every byte between its lowest and its highest
///   element can be read.
#[derive(Clone, Copy)]
pub(super) struct OperandPtrs<'a, const N: usize>(pub(super) [OperandPtr<'a>; N]);

// SAFETY: elements are `Send + Sync`; tasks of one plan write different elements, as no two indices
// of operand 0 share one (O1).
unsafe impl<const N: usize> Send for OperandPtrs<'_, N> {}
// SAFETY: elements are `Sync`; tasks write different elements (O1) and only read the others (O2).
unsafe impl<const N: usize> Sync for OperandPtrs<'_, N> {}

impl<'a, const N: usize> OperandPtrs<'a, N> {
    /// O1, O2 and O4 are invariants of the views that the pointers are made from. The first is made
    /// from a [`ViewRefMut`], which stays borrowed during `'a`. O3: a mutable view exists only next
    /// to views that share no element with it.
    #[inline]
    pub(super) fn new(operands: [OperandPtr<'a>; N]) -> Self {
        Self(operands)
    }

    /// The same memory, addressed by the offsets of a plan whose starts lie `bytes` before those of
    /// the operands.
    #[inline]
    pub(super) fn moved(self, bytes: [isize; N]) -> Self {
        let mut operands = self.0;
        for (operand, by) in operands.iter_mut().zip(bytes) {
            operand.base = operand.base.wrapping_offset(by);
        }
        Self(operands)
    }
}
