//! Run-time borrows: who may touch a storage's elements, while a guard lives.

use atomic_refcell::{AtomicRef, AtomicRefMut};

use crate::{
    Element, Error, Handle, Overlap, Result, TensorBase, TensorView, TensorViewMut, ViewRef,
    ViewRefMut, WriteScope, view::check_injective,
};

impl<T: Element, K> TensorBase<T, K> {
    /// Borrows the storage for reading: as many readers as want to, unless it is being written.
    ///
    /// # Errors
    /// [`Error::Borrowed`] while a write guard of the same storage is alive.
    pub fn read(&self) -> Result<TensorRef<'_, T>> {
        TensorRef::of(Handle::of(self))
    }

    /// Borrows the storage for writing: one writer, no readers.
    ///
    /// # Errors
    /// [`Error::Borrowed`] while another guard of the same storage is alive.
    pub fn write(&self) -> Result<TensorRefMut<'_, T>> {
        TensorRefMut::of(Handle::of(self))
    }
}

/// Read access to a tensor's elements while it lives; its views cannot outlive it:
///
/// ```compile_fail,E0716
/// let tensor = tensor_core::Tensor::arange(0, 6, 1)?;
/// let view = tensor.read()?.as_view();
/// view.get(&[0])?;
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub struct TensorRef<'a, T> {
    tensor: Handle<'a, T>,
    /// Of the tensor's storage.
    _borrow: AtomicRef<'a, ()>,
}

impl<'a, T: Element> TensorRef<'a, T> {
    pub(crate) fn of(tensor: Handle<'a, T>) -> Result<Self> {
        Ok(Self { tensor, _borrow: tensor.storage().borrow()? })
    }

    /// The elements.
    pub fn as_view(&self) -> TensorView<'_, T> {
        self.as_elements().to_view()
    }

    /// The elements, without a layout of their own.
    pub fn as_elements(&self) -> ViewRef<'_, T> {
        // SAFETY: the tensor's elements lie in its storage, all of which is initialised; the borrow
        // keeps writers out while `self` lives.
        unsafe { ViewRef::from_raw(self.tensor.base(), self.tensor.layout(), true) }
    }
}

/// Write access to a tensor's elements while it lives.
pub struct TensorRefMut<'a, T> {
    tensor: Handle<'a, T>,
    /// Of the tensor's storage.
    _borrow: AtomicRefMut<'a, ()>,
}

impl<'a, T: Element> TensorRefMut<'a, T> {
    pub(crate) fn of(tensor: Handle<'a, T>) -> Result<Self> {
        Ok(Self { tensor, _borrow: tensor.storage().borrow_mut()? })
    }

    /// The elements, and what tensors of the same storage are opened with beside them.
    pub(crate) fn split(&mut self) -> Result<(ViewRefMut<'_, T>, WriteScope<'_>)> {
        let tensor = self.tensor;
        check_injective(tensor.layout())?;
        // SAFETY: the tensor's elements lie in its storage; the borrow keeps everybody else out
        // while `self` lives; injective as just checked.
        let written = unsafe { ViewRefMut::from_raw(tensor.base(), tensor.layout()) };
        // SAFETY: the borrow is the only one, and `&mut self` gives out no other way to write while
        // the result lives.
        Ok((written, unsafe { WriteScope::elements(tensor) }))
    }

    /// The elements, to write.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`] if two indices share an element, as in an expanded tensor.
    pub fn as_view_mut(&mut self) -> Result<TensorViewMut<'_, T>> {
        let (written, _) = self.split()?;
        Ok(written.into_view())
    }

    /// The elements, to write, beside another tensor of the same storage, to read; they must not
    /// share an element.
    ///
    /// ```
    /// use tensor_core::Tensor;
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
    /// [`Error::WriteOverlap`]; [`Error::ReadWriteOverlap`] with an index of each that meet;
    /// [`Error::OtherStorage`] if the other tensor has a storage of its own, which this guard does
    /// not guard.
    pub fn as_view_pair<K>(
        &mut self,
        op: &'static str,
        input: &TensorBase<T, K>,
    ) -> Result<(TensorView<'_, T>, TensorViewMut<'_, T>)> {
        if !self.tensor.storage().same(input.storage()) {
            return Err(Error::OtherStorage { op, operand: "input" });
        }
        match input.layout().overlap(self.tensor.layout()) {
            Overlap::No => {}
            overlap => {
                return Err(Error::ReadWriteOverlap {
                    op,
                    operand: "input",
                    overlap: Box::new(overlap),
                });
            }
        }
        let (base, layout) = (Handle::of(input).base(), input.layout().clone());
        // SAFETY: the input's elements lie in the storage that `self` borrows; they are disjoint
        // from those that can be written.
        let read = unsafe { TensorView::from_raw(base, layout, false) };
        Ok((read, self.as_view_mut()?))
    }
}
