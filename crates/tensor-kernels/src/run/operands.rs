//! The operands of a plan: pointers that are made from views, and from nothing else.
//!
//! Here a plan's offsets become addresses. The layers above are arithmetic on plain data; the
//! layers below are kernels on raw memory. The functions that `run` exports take views and plan for
//! the layouts of those same views, so a plan is never applied to memory it was not made for.

use std::{any::TypeId, marker::PhantomData, mem::MaybeUninit};

use tensor_core::{Element, Layout, ViewRef, ViewRefMut};

/// What an operation reads: the elements of a view, or the elements that it overwrites.
#[derive(Clone, Copy)]
pub(crate) enum Input<'v, T> {
    /// The elements of a view. It shares none with the result; `tensor-core` guarantees that.
    View(ViewRef<'v, T>),
    /// The result itself, index by index. Its elements are of type `T` until they are overwritten.
    Output,
}

/// Elements to be read whose type is known only at run time.
#[derive(Clone, Copy)]
pub(crate) struct Erased<'a> {
    ptr: OperandPtr<'a>,
    layout: &'a Layout,
    element: TypeId,
}

impl<'a> Erased<'a> {
    /// Elements of a view.
    #[inline]
    pub(crate) fn of<T: Element>(elements: ViewRef<'a, T>) -> Self {
        let (ptr, layout) = (OperandPtr::from(elements), elements.layout());
        Self { ptr, layout, element: TypeId::of::<T>() }
    }

    /// The elements of an operand that is the result itself, of type `T` until they are
    /// overwritten.
    ///
    /// # Panics
    /// If the types differ in width.
    #[inline]
    pub(crate) fn of_output<T: Element, R: Element>(output: &'a mut ViewRefMut<'_, R>) -> Self {
        assert_eq!(size_of::<T>(), size_of::<R>(), "the result is its own operand");
        let layout = output.layout();
        Self { ptr: OperandPtr::from(output), layout, element: TypeId::of::<T>() }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// A pointer to elements of type `T`.
    ///
    /// # Panics
    /// If the elements are of another type.
    pub(super) fn ptr<T: Element>(&self) -> OperandPtr<'a> {
        assert_eq!(self.element, TypeId::of::<T>(), "elements of the type that is asked for");
        self.ptr
    }
}

/// Where elements `T` can be written: initialised elements, or uninitialised memory.
pub(crate) trait Destination<T>: Copy + Send + Sync {
    /// A written element.
    fn written(value: T) -> Self;
}

impl<T: Element> Destination<T> for T {
    #[inline(always)]
    fn written(value: T) -> Self {
        value
    }
}

impl<T: Element> Destination<T> for MaybeUninit<T> {
    #[inline(always)]
    fn written(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Element> Input<'_, T> {
    /// The input's layout; `output` is the result's layout.
    #[inline]
    pub(crate) fn layout<'x>(&'x self, output: &'x Layout) -> &'x Layout {
        match self {
            Self::View(elements) => elements.layout(),
            Self::Output => output,
        }
    }

    /// The input's memory; `output` and `width` are the memory and the element width of the result.
    ///
    /// # Panics
    /// If the input is the result, but has another element width.
    #[inline]
    pub(super) fn ptr<'x>(&'x self, output: OperandPtr<'x>, width: usize) -> OperandPtr<'x> {
        match self {
            Self::View(elements) => OperandPtr::from(*elements),
            Self::Output => {
                assert_eq!(size_of::<T>(), width, "the result is its own operand");
                output
            }
        }
    }
}

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
