//! What elementwise operations and reductions read and write.

use std::{any::TypeId, mem::MaybeUninit};

use tensor_core::{Element, Layout, ViewRef, ViewRefMut};

use super::{CopyTarget, OperandPtr};

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
    pub(in crate::run) fn ptr<T: Element>(&self) -> OperandPtr<'a> {
        assert_eq!(self.element, TypeId::of::<T>(), "elements of the type that is asked for");
        self.ptr
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
    pub(in crate::run) fn ptr<'x>(
        &'x self,
        output: OperandPtr<'x>,
        width: usize,
    ) -> OperandPtr<'x> {
        match self {
            Self::View(elements) => OperandPtr::from(*elements),
            Self::Output => {
                assert_eq!(size_of::<T>(), width, "the result is its own operand");
                output
            }
        }
    }
}

/// Where elements `T` can be written one by one.
pub(crate) trait Destination<T>: CopyTarget<T> {
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
