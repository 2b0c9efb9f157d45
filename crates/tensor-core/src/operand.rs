//! What an operation reads and what it writes, whoever holds it.
//!
//! A computing crate takes an [`Operand`] where a tensor, a view or a single value may stand, and a
//! [`Output`] where a tensor or a mutable view may. Here they are opened: borrowed at run time if
//! they are tensors. Whether an operand meets the target is decided then, before anything is
//! written.

use std::{fmt, marker::PhantomData, ptr::NonNull};

use crate::{
    Element, Error, Layout, Overlap, Result, Storage, TensorBase, TensorRef, TensorRefMut,
    TensorView, TensorViewMut, ViewRef, ViewRefMut, view::describe,
};

/// Something to read elements from: a tensor, a view, or one value that stands for all.
///
/// ```
/// use tensor_core::{Operand, Tensor};
///
/// let x = Tensor::full(&[2, 3], 1.5)?;
/// assert_eq!(Operand::from(&x).shape(), [2, 3]);
/// assert_eq!(Operand::from(&x.read()?.as_view()).shape(), [2, 3]);
/// assert_eq!(Operand::from(2.5).shape(), []);
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Operand<'a, T> {
    /// A tensor, still to be borrowed.
    Tensor(Handle<'a, T>),
    /// Elements of a view.
    View(ViewRef<'a, T>),
    /// One value.
    Value(T),
}

/// Something to write elements to: a tensor or a mutable view.
#[derive(Debug)]
pub enum Output<'a, T> {
    /// A tensor, still to be borrowed.
    Tensor(Handle<'a, T>),
    /// Elements of a view.
    View(ViewRefMut<'a, T>),
}

/// A tensor of elements `T`, whatever computes its operators. Who has one has the proof of a
/// tensor's invariants.
///
/// # Invariants
/// Those of [`TensorBase`].
pub struct Handle<'a, T> {
    storage: &'a Storage,
    layout: &'a Layout,
    element: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Handle<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<'_, T> {}

impl<T> fmt::Debug for Handle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Tensor", self.layout)
    }
}

impl<'a, T: Element> Handle<'a, T> {
    pub(crate) fn of<K>(tensor: &'a TensorBase<T, K>) -> Self {
        Self { storage: tensor.storage(), layout: tensor.layout(), element: PhantomData }
    }

    /// Sizes, strides and offset.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Borrows the storage for reading.
    ///
    /// # Errors
    /// [`Error::Borrowed`].
    pub fn read(&self) -> Result<TensorRef<'a, T>> {
        TensorRef::of(*self)
    }

    pub(crate) fn storage(&self) -> &'a Storage {
        self.storage
    }

    /// Where the storage starts: valid for reads of `T` at every offset of the layout, while the
    /// storage is borrowed.
    pub(crate) fn base(&self) -> NonNull<T> {
        self.storage.start().cast()
    }
}

impl<'a, T: Element, K> From<&'a TensorBase<T, K>> for Operand<'a, T> {
    fn from(tensor: &'a TensorBase<T, K>) -> Self {
        Self::Tensor(Handle::of(tensor))
    }
}

impl<'a, T: Copy> From<&'a TensorView<'_, T>> for Operand<'a, T> {
    fn from(view: &'a TensorView<'_, T>) -> Self {
        Self::View(view.into())
    }
}

impl<'a, T> From<ViewRef<'a, T>> for Operand<'a, T> {
    fn from(elements: ViewRef<'a, T>) -> Self {
        Self::View(elements)
    }
}

impl<T: Element> From<T> for Operand<'_, T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<'a, T: Element, K> From<&'a TensorBase<T, K>> for Output<'a, T> {
    fn from(tensor: &'a TensorBase<T, K>) -> Self {
        Self::Tensor(Handle::of(tensor))
    }
}

impl<'a, T: Copy> From<&'a mut TensorViewMut<'_, T>> for Output<'a, T> {
    fn from(view: &'a mut TensorViewMut<'_, T>) -> Self {
        Self::View(view.into())
    }
}

impl<'a, T: Element> Operand<'a, T> {
    /// The sizes; none for a value.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Tensor(tensor) => tensor.layout.shape(),
            Self::View(elements) => elements.layout().shape(),
            Self::Value(_) => &[],
        }
    }

    /// How the elements lie to those of a target.
    pub fn relation<U: Element>(&self, target: &Output<'_, U>) -> Aliasing {
        match (self, target) {
            (Self::Tensor(input), Output::Tensor(output)) if input.storage.same(output.storage) => {
                relation((input.layout, size_of::<T>()), (output.layout, size_of::<U>()))
            }
            // What is borrowed already cannot be borrowed to be written.
            _ => Aliasing::Apart,
        }
    }

    /// Borrows the elements.
    ///
    /// # Errors
    /// [`Error::Borrowed`].
    #[inline]
    pub fn read(&self) -> Result<Reading<'_, T>> {
        Ok(match self {
            Self::View(elements) => Reading::View(*elements),
            Self::Value(value) => Reading::View(ViewRef::of_value(value)),
            Self::Tensor(tensor) => Reading::Guard(tensor.read()?),
        })
    }

    /// Borrows the elements, beside those that are being written.
    ///
    /// # Errors
    /// [`Error::Borrowed`]; [`Error::ReadWriteOverlap`], which will say `op` and `operand`, if some
    /// of the elements are being written, unless all of them are, at the same indices.
    #[inline]
    pub fn open<'b>(
        &'b self,
        beside: &WriteScope<'b>,
        op: &'static str,
        operand: &'static str,
    ) -> Result<ResolvedOperand<'b, T>> {
        match (self, beside.written) {
            (Self::Tensor(tensor), Some(written)) if written.storage.same(tensor.storage) => {
                written.opened(tensor, op, operand)
            }
            _ => self.read().map(ResolvedOperand::View),
        }
    }
}

/// How an operand's elements lie to those that are to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aliasing {
    /// They share none.
    Apart,
    /// They are the same, at the same indices.
    Same,
    /// Some are the same, elsewhere; or it is too hard to say.
    Overlap(Overlap),
}

/// How elements of some widths in one storage lie to others.
fn relation((from, width): (&Layout, usize), (to, other_width): (&Layout, usize)) -> Aliasing {
    if width == other_width {
        return if same_places(from, to) { Aliasing::Same } else { found(from.overlap(to)) };
    }
    found(without_bytes(from.overlap_in_bytes(width, to, other_width)))
}

fn found(overlap: Overlap) -> Aliasing {
    match overlap {
        Overlap::No => Aliasing::Apart,
        some => Aliasing::Overlap(some),
    }
}

/// The indices of the elements, without the last, that of a byte.
fn without_bytes(mut overlap: Overlap) -> Overlap {
    if let Overlap::Yes { first, second } = &mut overlap {
        first.pop();
        second.pop();
    }
    overlap
}

/// Does each index reach the same place in two layouts of one storage? Strides of dimensions of
/// size 1 do not matter.
fn same_places(a: &Layout, b: &Layout) -> bool {
    let mut strides = a.shape().iter().zip(a.strides().iter().zip(b.strides()));
    a.shape() == b.shape()
        && a.offset() == b.offset()
        && strides.all(|(&n, (a, b))| n == 1 || a == b)
}

/// An operand whose elements can be read.
pub enum Reading<'a, T> {
    /// It was a tensor.
    Guard(TensorRef<'a, T>),
    /// It was a view or a value; or a tensor that shares a storage with the target, but no element.
    View(ViewRef<'a, T>),
}

impl<T: Element> Reading<'_, T> {
    /// The elements.
    #[inline]
    pub fn elements(&self) -> ViewRef<'_, T> {
        match self {
            Self::Guard(guard) => guard.as_elements(),
            Self::View(elements) => *elements,
        }
    }
}

/// An operand beside a target.
pub enum ResolvedOperand<'a, T> {
    /// It has elements of its own.
    View(Reading<'a, T>),
    /// It is the target.
    Output,
}

impl<T: Element> ResolvedOperand<'_, T> {
    /// The elements, unless they are the target's.
    #[inline]
    pub fn elements(&self) -> Option<ViewRef<'_, T>> {
        match self {
            Self::View(reading) => Some(reading.elements()),
            Self::Output => None,
        }
    }
}

impl<'a, T: Element> Output<'a, T> {
    /// The sizes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Tensor(tensor) => tensor.layout.shape(),
            Self::View(elements) => elements.layout().shape(),
        }
    }

    /// Borrows the elements.
    ///
    /// # Errors
    /// [`Error::Borrowed`].
    #[inline]
    pub fn open(self) -> Result<Writing<'a, T>> {
        Ok(match self {
            Self::Tensor(tensor) => Writing::Guard(TensorRefMut::of(tensor)?),
            Self::View(elements) => Writing::View(elements),
        })
    }
}

/// A target whose elements can be written.
pub enum Writing<'a, T> {
    /// It was a tensor.
    Guard(TensorRefMut<'a, T>),
    /// It was a view.
    View(ViewRefMut<'a, T>),
}

impl<T: Element> Writing<'_, T> {
    /// The elements, and what operands of the same storage are opened with.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    #[inline]
    pub fn split(&mut self) -> Result<(ViewRefMut<'_, T>, WriteScope<'_>)> {
        match self {
            Self::Guard(guard) => guard.split(),
            Self::View(elements) => Ok((elements.reborrow(), WriteScope::nothing())),
        }
    }
}

/// What is being written while operands are read.
pub struct WriteScope<'a> {
    written: Option<Written<'a>>,
}

/// # Invariant
/// While `'a` lasts nobody writes any element of the storage but those of the layout.
#[derive(Clone, Copy)]
struct Written<'a> {
    storage: &'a Storage,
    layout: &'a Layout,
    width: usize,
}

impl<'a> WriteScope<'a> {
    /// Nothing that an operand could meet.
    pub fn nothing() -> Self {
        Self { written: None }
    }

    /// The elements of a tensor.
    ///
    /// # Safety
    /// While `'a` lasts nobody writes any element of the tensor's storage but those of the tensor.
    pub(crate) unsafe fn elements<T: Element>(tensor: Handle<'a, T>) -> Self {
        let Handle { storage, layout, .. } = tensor;
        Self { written: Some(Written { storage, layout, width: size_of::<T>() }) }
    }
}

impl<'a> Written<'a> {
    /// An operand of the same storage.
    fn opened<T: Element>(
        &self,
        tensor: &Handle<'a, T>,
        op: &'static str,
        operand: &'static str,
    ) -> Result<ResolvedOperand<'a, T>> {
        match relation((tensor.layout, size_of::<T>()), (self.layout, self.width)) {
            Aliasing::Same => Ok(ResolvedOperand::Output),
            Aliasing::Apart => {
                // SAFETY: a tensor's elements lie in its storage, aligned and initialised. It is
                // the storage that is being written; but the elements that are, the invariant's,
                // are none of the tensor's, as just found.
                let elements = unsafe { ViewRef::from_raw(tensor.base(), tensor.layout, false) };
                Ok(ResolvedOperand::View(Reading::View(elements)))
            }
            Aliasing::Overlap(overlap) => {
                Err(Error::ReadWriteOverlap { op, operand, overlap: Box::new(overlap) })
            }
        }
    }
}
