//! Run-time borrows: a guard gives access to a tensor's elements while it lives.
//!
//! A read guard borrows the elements shared, with the gaps between them if nobody writes these; a
//! write guard borrows its elements exclusively. A write guard can also read other tensors of its
//! storage, as long as they share no element with the written one.

use std::marker::PhantomData;

use crate::{
    Bare, Element, Error, Handle, Int, Iter, Overlap, Result, TensorBase, TensorViewBase,
    TensorViewMutBase, ViewRef, ViewRefMut, WriteScope, borrow::Borrow, view::check_injective,
};

/// Access to elements in bulk, borrowed at run time.
impl<T: Element, K> TensorBase<T, K> {
    /// Borrows the elements for reading: any number of readers, unless some are being written.
    ///
    /// The gaps between the elements are borrowed, too, as kernels read them along, unless they are
    /// being written or the [storage says otherwise](crate::Storage::share_parts).
    ///
    /// # Errors
    /// [`Error::Borrowed`] while a write guard of some of the elements is alive.
    pub fn read(&self) -> Result<TensorRef<'_, T, K>> {
        TensorRef::of(Handle::of(self))
    }

    /// Borrows the elements for writing: one writer, no readers.
    ///
    /// Other elements of the storage can be borrowed meanwhile, by other tensors and other threads.
    /// Parts of a tensor along one dimension share no element, so that threads may write them at
    /// the same time, whatever their timing. Two borrows are refused only if one of them writes,
    /// and
    ///
    /// - they share an element,
    /// - or the elements to write lie in gaps between those of a reader that came first: the right
    ///   columns of a matrix cannot be borrowed for writing while the left ones are read. They can
    ///   if [the storage's parts are shared](crate::Storage::share_parts), and so can parts of one
    ///   guard ([`split_at_mut`](Self::split_at_mut)),
    /// - or they are not parts along dimensions, but of patterns that differ, as a diagonal and a
    ///   column that it does not cross.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::thread;
    ///
    /// use tensor_kernels::{Error, Tensor};
    ///
    /// let table = Tensor::<f32>::zeros([4, 3])?;
    /// let (top, bottom) = (table.narrow(0, 0, 2)?, table.narrow(0, 2, 2)?);
    /// thread::scope(|scope| {
    ///     let writers = [&top, &bottom].map(|part| scope.spawn(|| part.set(&[1, 2], 1.0)));
    ///     writers.into_iter().try_for_each(|writer| writer.join().unwrap())
    /// })?;
    /// let guard = top.write()?;
    /// assert!(bottom.write().is_ok());
    /// assert!(matches!(table.write(), Err(Error::Borrowed { .. })));
    /// # drop(guard);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Borrowed`] while another guard of some of the elements is alive.
    pub fn write(&self) -> Result<TensorRefMut<'_, T, K>> {
        TensorRefMut::of(Handle::of(self))
    }

    /// Calls `f` with two parts of the tensor along a dimension, the first `at` indices and the
    /// rest, which can be written at the same time, and returns what `f` returns.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::thread;
    ///
    /// use tensor_kernels::Tensor;
    ///
    /// let grid = Tensor::<i32>::zeros([2, 3])?;
    /// grid.split_at_mut(1, 1, |mut left, mut right| {
    ///     thread::scope(|scope| {
    ///         scope.spawn(|| left.iter_mut().for_each(|element| *element = 1));
    ///         scope.spawn(|| right.iter_mut().for_each(|element| *element = 2));
    ///     });
    /// })?;
    /// assert_eq!(grid.to_vec()?, [1, 2, 2, 1, 2, 2]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// The tensor is borrowed for writing until `f` returns. So `f` cannot read it otherwise, and
    /// the parts cannot outlive the call. More parts are those of a part:
    /// [`TensorViewMut::split_at_mut`](TensorViewMutBase::split_at_mut).
    ///
    /// # Errors
    /// [`Error::Borrowed`] while another guard of some of the elements is alive;
    /// [`Error::WriteOverlap`] if two indices share an element, as in an expanded tensor; a
    /// dimension out of range, `at` beyond its size. `f` is not called then.
    pub fn split_at_mut<R>(
        &self,
        dim: impl Int,
        at: usize,
        f: impl FnOnce(TensorViewMutBase<'_, T, K>, TensorViewMutBase<'_, T, K>) -> R,
    ) -> Result<R> {
        let mut guard = self.write()?;
        let (first, rest) = guard.as_view_mut()?.split_at_mut(dim, at)?;
        Ok(f(first, rest))
    }
}

/// Read access to a tensor's elements while it lives; its views cannot outlive it:
///
/// ```compile_fail,E0716
/// # use tensor_core as tensor_kernels;
/// let tensor = tensor_kernels::Tensor::arange(0, 6, 1)?;
/// let view = tensor.read()?.as_view();
/// view.get(&[0])?;
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub struct TensorRef<'a, T, K = Bare> {
    tensor: Handle<'a, T>,
    kernels: PhantomData<fn() -> K>,
    /// The borrow of the tensor's elements.
    borrow: Borrow<'a>,
}

impl<'a, T: Element, K> TensorRef<'a, T, K> {
    pub(crate) fn of(tensor: Handle<'a, T>) -> Result<Self> {
        match tensor.borrow() {
            Ok(borrow) => Ok(Self { tensor, kernels: PhantomData, borrow }),
            Err(why) => Err(why.into_error("for writing", "for reading")),
        }
    }

    /// The elements.
    pub fn as_view(&self) -> TensorViewBase<'_, T, K> {
        self.as_elements().to_view()
    }

    /// The elements, with a borrowed layout.
    pub fn as_elements(&self) -> ViewRef<'_, T> {
        // SAFETY: view invariants. 1 and 3: the tensor's elements lie in its storage (tensor
        // invariant 2), all of which is initialised (tensor invariant 1). 2 and 3: the borrow
        // excludes writers of the elements while `self` lives, and those of the gaps between them
        // if it says so.
        unsafe { ViewRef::from_raw(self.tensor.base(), self.tensor.layout(), self.borrow.gaps) }
    }
}

impl<'a, T: Element, K> IntoIterator for TensorRef<'a, T, K> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    fn into_iter(self) -> TensorIter<'a, T> {
        let Self { tensor, borrow, .. } = self;
        // SAFETY: view invariants. 1 and 3: as in `as_elements`. 2: the borrow excludes writers
        // while the iterator lives, and its items are values.
        let elements = unsafe { ViewRef::from_raw(tensor.base(), tensor.layout(), borrow.gaps) };
        TensorIter { elements: elements.to_view::<K>().iter(), _borrow: borrow }
    }
}

/// The elements of a tensor in logical order, which are borrowed for reading while it lives.
pub struct TensorIter<'a, T> {
    elements: Iter<'a, T>,
    /// The borrow of the tensor's elements.
    _borrow: Borrow<'a>,
}

impl<T: Copy> Iterator for TensorIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.elements.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.elements.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        self.elements.fold(init, f)
    }
}

impl<T: Copy> ExactSizeIterator for TensorIter<'_, T> {}

/// Write access to a tensor's elements while it lives.
pub struct TensorRefMut<'a, T, K = Bare> {
    tensor: Handle<'a, T>,
    kernels: PhantomData<fn() -> K>,
    borrow: Borrow<'a>,
    /// The borrow of the other tensor of a [pair](Self::as_view_pair).
    beside: Option<Borrow<'a>>,
}

impl<'a, T: Element, K> TensorRefMut<'a, T, K> {
    pub(crate) fn of(tensor: Handle<'a, T>) -> Result<Self> {
        match tensor.storage().borrow_mut(tensor.layout(), size_of::<T>()) {
            Ok(borrow) => Ok(Self { tensor, kernels: PhantomData, borrow, beside: None }),
            Err(why) => Err(why.into_error("for reading or writing", "for writing")),
        }
    }

    /// The elements to write, and the scope in which operands of the same storage are resolved.
    pub(crate) fn split(&mut self) -> Result<(ViewRefMut<'_, T>, WriteScope<'_>)> {
        let tensor = self.tensor;
        check_injective(tensor.layout())?;
        // SAFETY: mutable view invariants. 1: the tensor's elements lie in its storage and are
        // initialised (tensor invariants 1 and 2). 2: the borrow excludes all other access to them
        // while `self` is mutably borrowed. 3: checked above.
        let written = unsafe { ViewRefMut::from_raw(tensor.base(), tensor.layout()) };
        Ok((written, WriteScope::elements(tensor, &self.borrow)))
    }

    /// A view to write the elements through.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`] if two indices share an element, as in an expanded tensor.
    pub fn as_view_mut(&mut self) -> Result<TensorViewMutBase<'_, T, K>> {
        let (written, _) = self.split()?;
        Ok(written.into_view())
    }

    /// A view of another tensor of the same storage to read, and one of this tensor to write. The
    /// two tensors must not share an element.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::Tensor;
    ///
    /// let t = Tensor::arange(0i32, 6, 1)?;
    /// let (head, tail) = (t.narrow(0, 0, 3)?, t.narrow(0, 3, 3)?);
    /// let mut guard = tail.write()?;
    /// assert!(guard.as_view_pair("copy", &head).is_ok());
    /// assert!(guard.as_view_pair("copy", &t.narrow(0, 1, 3)?).is_err());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WriteOverlap`] if two indices of this tensor share an element;
    /// [`Error::ReadWriteOverlap`] with an index of each tensor that reach the same element;
    /// [`Error::OtherStorage`] if the other tensor has another storage, which needs no pair;
    /// [`Error::Borrowed`] while another guard writes some of its elements.
    pub fn as_view_pair<L>(
        &mut self,
        op: &'static str,
        input: &TensorBase<T, L>,
    ) -> Result<(TensorViewBase<'_, T, K>, TensorViewMutBase<'_, T, K>)> {
        if !self.tensor.storage().same(input.storage()) {
            return Err(Error::OtherStorage { op, operand: "input" });
        }
        match input.layout().overlap(self.tensor.layout()) {
            Overlap::No => {}
            overlap => {
                let overlap = Box::new(input.layout().harmful(self.tensor.layout(), overlap));
                return Err(Error::ReadWriteOverlap { op, operand: "input", overlap });
            }
        }
        self.beside = None;
        let storage = self.tensor.storage();
        let borrow = storage.borrow_beside(input.layout(), size_of::<T>(), &self.borrow);
        self.beside = Some(borrow.map_err(|why| why.into_error("for writing", "for reading"))?);
        let (base, layout) = (Handle::of(input).base(), input.layout().clone());
        // SAFETY: view invariants. 1: the input's elements lie in its storage, which is also that
        // of `self`, and are initialised (tensor invariants 1 and 2). 2: the borrow excludes other
        // writers while `self` is mutably borrowed, and the elements that are written through
        // `self` are others, as checked above. 3: gaps are declared unreadable.
        let read = unsafe { TensorViewBase::from_raw(base, layout, false) };
        Ok((read, self.as_view_mut()?))
    }
}
