//! The arguments of operations: what is read ([`Operand`]) and what is written ([`Output`]).
//!
//! An [`Operand`] is a tensor, a view or a single value; an [`Output`] is a tensor, a mutable view
//! or a slice. An operation first opens its output, which borrows the elements of a tensor, and
//! then opens each operand in the [`WriteScope`] of the output. This borrows the operand's
//! elements; if they lie in the output's storage it first checks how the two alias. All refusals
//! happen before the first write.

use std::{fmt, marker::PhantomData, ptr::NonNull};

use crate::{
    Element, Error, Layout, Output, Overlap, Result, Storage, TensorBase, TensorRef, ViewRef,
    borrow::{Borrow, Refused},
    elements::Gaps,
    view::describe,
};

/// An input of an operation: a tensor, a view, or one value that is broadcast.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Operand, Tensor};
///
/// let x = Tensor::full([2, 3], 1.5)?;
/// assert_eq!(Operand::from(&x).shape(), [2, 3]);
/// assert_eq!(Operand::from(&x.read()?.as_view()).shape(), [2, 3]);
/// assert!(Operand::from(2.5).shape().is_empty());
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Operand<'a, T> {
    /// A tensor, not borrowed yet.
    Tensor(Handle<'a, T>),
    /// A view.
    View(ViewRef<'a, T>),
    /// One value.
    Value(T),
}

/// A reference to a tensor of elements `T`, without the type parameter for its kernels.
///
/// # Invariants
/// Those of [`TensorBase`]: a handle is made from a tensor only.
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
        describe::<T>(&mut f.debug_struct("Tensor"), self.layout).finish_non_exhaustive()
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

    /// Borrows the elements for reading.
    ///
    /// # Errors
    /// [`Error::Borrowed`].
    pub fn read(&self) -> Result<TensorRef<'a, T>> {
        TensorRef::of(*self)
    }

    #[inline]
    pub(crate) fn borrow(&self) -> Result<Borrow<'a>, Refused> {
        self.storage.borrow(self.layout, size_of::<T>())
    }

    /// Borrows the elements for reading, next to a writer of others.
    pub(crate) fn borrow_beside(&self, writer: &Borrow<'_>) -> Result<Borrow<'a>, Refused> {
        self.storage.borrow_beside(self.layout, size_of::<T>(), writer)
    }

    pub(crate) fn storage(&self) -> &'a Storage {
        self.storage
    }

    /// The start of the storage: valid for reads of `T` at every offset of the layout, while its
    /// elements are borrowed.
    pub(crate) fn base(&self) -> NonNull<T> {
        self.storage.start().cast()
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

    /// Broadcast to a shape; a value stays a value. If that changes the layout, the new one is
    /// stored in `buffer`.
    ///
    /// # Errors
    /// [`Error::Expand`] if the sizes do not broadcast.
    pub fn broadcast_to<'r>(
        self,
        shape: &[usize],
        buffer: &'r mut Option<Layout>,
    ) -> Result<Operand<'r, T>>
    where
        'a: 'r,
    {
        Ok(match self {
            Self::Tensor(tensor) if tensor.layout.shape() == shape => Operand::Tensor(tensor),
            Self::Tensor(tensor) => {
                // The handle's invariants hold: a broadcast layout reaches the same elements.
                let layout = buffer.insert(tensor.layout.broadcast_to(shape)?);
                Operand::Tensor(Handle { layout, ..tensor })
            }
            Self::View(elements) => Operand::View(elements.broadcast_to(shape, buffer)?),
            Self::Value(value) => Operand::Value(value),
        })
    }

    /// How the elements alias those of an output.
    pub fn relation<U: Element>(&self, output: &Output<'_, U>) -> Aliasing {
        match (self, output) {
            (Self::Tensor(input), Output::Tensor(output)) if input.storage.same(output.storage) => {
                aliasing((input.layout, size_of::<T>()), (output.layout, size_of::<U>()))
            }
            // A view holds a borrow of its memory, so no output can refer to the same elements.
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

    /// Borrows the elements while those of `scope` are being written.
    ///
    /// # Errors
    /// [`Error::Borrowed`]; [`Error::ReadWriteOverlap`] with `op` and `operand` if some of the
    /// elements are being written, unless the operand is the output, index by index.
    #[inline]
    pub fn open<'b>(
        &'b self,
        scope: &WriteScope<'b>,
        op: &'static str,
        operand: &'static str,
    ) -> Result<ResolvedOperand<'b, T>> {
        match (self, scope.written) {
            (Self::Tensor(tensor), Some(written)) if written.storage.same(tensor.storage) => {
                written.resolve(tensor, op, operand)
            }
            _ => self.read().map(ResolvedOperand::View),
        }
    }
}

/// How an operand's elements alias those of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aliasing {
    /// They share no element.
    Apart,
    /// Both have the same element at each index.
    Same,
    /// They share elements at different indices, or the search for such indices was given up.
    Overlap(Overlap),
}

/// How the elements of two layouts over one storage alias; each comes with its element width in
/// bytes.
fn aliasing((from, width): (&Layout, usize), (to, other_width): (&Layout, usize)) -> Aliasing {
    if width == other_width {
        let is_same = same_offsets(from, to);
        return if is_same { Aliasing::Same } else { from_overlap(from.overlap(to)) };
    }
    from_overlap(without_bytes(from.overlap_in_bytes(width, to, other_width)))
}

fn from_overlap(overlap: Overlap) -> Aliasing {
    match overlap {
        Overlap::No => Aliasing::Apart,
        some => Aliasing::Overlap(some),
    }
}

/// Removes the last index, which is that of the byte within the element.
fn without_bytes(mut overlap: Overlap) -> Overlap {
    if let Overlap::Yes { first, second } = &mut overlap {
        first.pop();
        second.pop();
    }
    overlap
}

/// Does each index have the same offset in both layouts? Strides of dimensions of size 1 are
/// ignored.
fn same_offsets(a: &Layout, b: &Layout) -> bool {
    let mut strides = a.shape().iter().zip(a.strides().iter().zip(b.strides()));
    a.shape() == b.shape()
        && a.offset() == b.offset()
        && strides.all(|(&n, (a, b))| n == 1 || a == b)
}

/// A borrowed operand.
pub enum Reading<'a, T> {
    /// The read guard of a tensor.
    Guard(TensorRef<'a, T>),
    /// A view or a value.
    View(ViewRef<'a, T>),
    /// A tensor in the storage of the output, which shares no element with it.
    Beside(Beside<'a, T>),
}

/// The elements of a tensor that is read while others of its storage are written.
pub struct Beside<'a, T> {
    elements: ViewRef<'a, T>,
    /// The borrow of the elements.
    _borrow: Borrow<'a>,
}

impl<T: Element> Reading<'_, T> {
    /// The elements.
    #[inline]
    pub fn elements(&self) -> ViewRef<'_, T> {
        match self {
            Self::Guard(guard) => guard.as_elements(),
            Self::View(elements) => *elements,
            Self::Beside(beside) => beside.elements,
        }
    }
}

/// An operand after the check against the output.
pub enum ResolvedOperand<'a, T> {
    /// The operand shares no element with the output.
    View(Reading<'a, T>),
    /// The operand is the output, index by index.
    Output,
}

impl<T: Element> ResolvedOperand<'_, T> {
    /// The elements, or `None` if they are the output's.
    #[inline]
    pub fn elements(&self) -> Option<ViewRef<'_, T>> {
        match self {
            Self::View(reading) => Some(reading.elements()),
            Self::Output => None,
        }
    }
}

/// The elements that are being written while operands are read.
pub struct WriteScope<'a> {
    written: Option<Written<'a>>,
}

/// The output tensor of an operation, with the width of its elements in bytes.
#[derive(Clone, Copy)]
struct Written<'a> {
    storage: &'a Storage,
    layout: &'a Layout,
    width: usize,
    borrow: &'a Borrow<'a>,
}

impl<'a> WriteScope<'a> {
    /// A scope in which no operand can alias the output, for an output that is a view.
    pub fn nothing() -> Self {
        Self { written: None }
    }

    /// A scope in which the elements of a tensor are written, by this borrow.
    pub(crate) fn elements<T: Element>(tensor: Handle<'a, T>, borrow: &'a Borrow<'a>) -> Self {
        let Handle { storage, layout, .. } = tensor;
        Self { written: Some(Written { storage, layout, width: size_of::<T>(), borrow }) }
    }
}

impl<'a> Written<'a> {
    /// Resolves an operand in the storage of the output.
    fn resolve<T: Element>(
        &self,
        tensor: &Handle<'a, T>,
        op: &'static str,
        operand: &'static str,
    ) -> Result<ResolvedOperand<'a, T>> {
        match aliasing((tensor.layout, size_of::<T>()), (self.layout, self.width)) {
            Aliasing::Same => Ok(ResolvedOperand::Output),
            Aliasing::Apart => {
                let borrow = tensor.borrow_beside(self.borrow);
                let _borrow = borrow.map_err(|why| why.into_error("for writing", "for reading"))?;
                // SAFETY: view invariants. 1: a tensor's elements lie in its storage, aligned and
                // initialised (tensor invariants 1 and 2). 2: the borrow excludes all writers but
                // that of `self.layout` while `Beside` lives, and the operand shares no element
                // with it, as checked above. 3: gaps are declared unreadable.
                let elements =
                    unsafe { ViewRef::from_raw(tensor.base(), tensor.layout, Gaps::Unreadable) };
                Ok(ResolvedOperand::View(Reading::Beside(Beside { elements, _borrow })))
            }
            Aliasing::Overlap(overlap) => {
                let same_width = size_of::<T>() == self.width;
                let overlap =
                    if same_width { tensor.layout.harmful(self.layout, overlap) } else { overlap };
                Err(Error::ReadWriteOverlap { op, operand, overlap: Box::new(overlap) })
            }
        }
    }
}
