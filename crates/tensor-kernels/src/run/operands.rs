//! Operands on their way through a plan: pointers made of views, and of nothing else.
//!
//! This is where a plan's offsets become addresses. Everything above is arithmetic on plain data;
//! everything below is kernels on raw memory. The functions of `run` that others call take views
//! and make the plan of the layouts of those very views, so a plan never meets memory that it was
//! not made for.

use std::{any::TypeId, marker::PhantomData, mem::MaybeUninit};

use tensor_core::{Element, Layout, ViewRef, ViewRefMut};

/// What an operation reads: elements of a view, or the very elements that it writes.
#[derive(Clone, Copy)]
pub(crate) enum Input<'v, T> {
    /// Elements of a view, which none of the result's are (core's views see to that).
    View(ViewRef<'v, T>),
    /// The result itself, index by index: elements that were `T` until they are written.
    Output,
}

/// Elements to be read whose type is known at run time only.
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

    /// The elements `T` of an operand that is the result itself, before that is written.
    ///
    /// # Panics
    /// If the result has another width.
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

    /// The memory of elements `T`.
    ///
    /// # Panics
    /// If that is not their type.
    pub(super) fn ptr<T: Element>(&self) -> OperandPtr<'a> {
        assert_eq!(self.element, TypeId::of::<T>(), "elements of the type that is asked for");
        self.ptr
    }
}

/// What elements `T` can be written to: elements, or memory that is not initialised yet.
pub(crate) trait Destination<T>: Copy {}

impl<T: Element> Destination<T> for T {}
impl<T: Element> Destination<T> for MaybeUninit<T> {}

impl<T: Element> Input<'_, T> {
    /// The input's layout beside a result with the layout `output`.
    #[inline]
    pub(crate) fn layout<'x>(&'x self, output: &'x Layout) -> &'x Layout {
        match self {
            Self::View(elements) => elements.layout(),
            Self::Output => output,
        }
    }

    /// The input's memory beside a result of elements of so many bytes.
    ///
    /// # Panics
    /// If it is the result, but of another width.
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

/// The memory of one operand: the address of offset 0 of its layout, whatever its element type.
#[derive(Clone, Copy)]
pub(super) struct OperandPtr<'a> {
    pub(super) base: *mut u8,
    /// May the gaps between elements be read?
    pub(super) gaps_readable: bool,
    life: PhantomData<&'a mut u8>,
}

impl<'a, T: Copy> From<ViewRef<'a, T>> for OperandPtr<'a> {
    #[inline]
    fn from(elements: ViewRef<'a, T>) -> Self {
        let base = elements.base_ptr().cast_mut().cast();
        Self { base, gaps_readable: elements.is_solid(), life: PhantomData }
    }
}

impl<'a, T: Copy> From<&'a mut ViewRefMut<'_, T>> for OperandPtr<'a> {
    #[inline]
    fn from(elements: &'a mut ViewRefMut<'_, T>) -> Self {
        Self { base: elements.base_mut_ptr().cast(), gaps_readable: false, life: PhantomData }
    }
}

/// The operands of an operation, the one that is written first.
///
/// # Invariants
/// - **O1.** Every offset of an operand's layout can be read during `'a`; every offset of operand
///   0's can be written, too, and no two indices share one.
/// - **O2.** Nobody else touches operand 0's elements, and nobody writes the others'.
/// - **O3.** An operand shares no element with operand 0, or it is operand 0.
/// - **O4.** Of an operand whose gaps are readable every byte between its lowest and its highest
///   element can be read.
#[derive(Clone, Copy)]
pub(super) struct OperandPtrs<'a, const N: usize>(pub(super) [OperandPtr<'a>; N]);

// SAFETY: elements are `Send + Sync`; pieces of one plan write different elements, as operand 0 is
// injective (O1).
unsafe impl<const N: usize> Send for OperandPtrs<'_, N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Sync for OperandPtrs<'_, N> {}

impl<'a, const N: usize> OperandPtrs<'a, N> {
    /// O1, O2 and O4 are the invariants of the views that the pointers are made of: the first one
    /// of an [`ViewRefMut`], which is borrowed as long. O3: beside a mutable view there are only
    /// views that it shares nothing with.
    #[inline]
    pub(super) fn new(operands: [OperandPtr<'a>; N]) -> Self {
        Self(operands)
    }
}
