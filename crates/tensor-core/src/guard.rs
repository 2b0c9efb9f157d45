//! Run-time borrows: who may touch a storage's elements, while a guard lives.

use std::marker::PhantomData;

use atomic_refcell::{AtomicRef, AtomicRefMut};

use crate::{
    Beside, Element, Elements, ElementsMut, Error, Layout, Overlap, Result, Storage, TensorBase,
    TensorView, TensorViewMut, view::check_injective,
};

impl<T: Element, K> TensorBase<T, K> {
    /// Borrows the storage for reading: as many readers as want to, unless it is being written.
    ///
    /// # Errors
    /// [`Error::Borrowed`] while a write guard of the same storage is alive.
    pub fn read(&self) -> Result<TensorRef<'_, T>> {
        TensorRef::of(self.storage(), self.layout())
    }

    /// Borrows the storage for writing: one writer, no readers.
    ///
    /// # Errors
    /// [`Error::Borrowed`] while another guard of the same storage is alive.
    pub fn write(&self) -> Result<TensorRefMut<'_, T>> {
        TensorRefMut::of(self.storage(), self.layout())
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
    storage: &'a Storage,
    layout: &'a Layout,
    _borrow: AtomicRef<'a, ()>,
    element: PhantomData<T>,
}

impl<'a, T: Element> TensorRef<'a, T> {
    /// Of a tensor's storage and layout.
    pub(crate) fn of(storage: &'a Storage, layout: &'a Layout) -> Result<Self> {
        Ok(Self { storage, layout, _borrow: storage.borrow()?, element: PhantomData })
    }

    /// The elements.
    pub fn as_view(&self) -> TensorView<'_, T> {
        self.as_elements().to_view()
    }

    /// The elements, without a layout of their own.
    pub fn as_elements(&self) -> Elements<'_, T> {
        let base = self.storage.start().cast();
        // SAFETY: the tensor's elements lie in its storage, aligned and initialised; the borrow keeps writers out while `self` lives.
        unsafe { Elements::from_raw(base, self.layout, true) }
    }
}

/// Write access to a tensor's elements while it lives.
pub struct TensorRefMut<'a, T> {
    storage: &'a Storage,
    layout: &'a Layout,
    _borrow: AtomicRefMut<'a, ()>,
    element: PhantomData<T>,
}

impl<'a, T: Element> TensorRefMut<'a, T> {
    /// Of a tensor's storage and layout.
    pub(crate) fn of(storage: &'a Storage, layout: &'a Layout) -> Result<Self> {
        Ok(Self { storage, layout, _borrow: storage.borrow_mut()?, element: PhantomData })
    }

    /// The elements, and what tensors of the same storage are opened with beside them.
    pub(crate) fn split(&mut self) -> Result<(ElementsMut<'_, T>, Beside<'_>)> {
        check_injective(self.layout)?;
        let beside = Beside::elements(self.storage, self.layout, size_of::<T>());
        let base = self.storage.start().cast();
        // SAFETY: the tensor's elements lie in its storage; the borrow keeps everybody else out while `self` lives; injective as just checked.
        Ok((unsafe { ElementsMut::from_raw(base, self.layout) }, beside))
    }

    /// The elements, to write.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`] if two indices share an element, as in an expanded tensor.
    pub fn as_view_mut(&mut self) -> Result<TensorViewMut<'_, T>> {
        check_injective(self.layout)?;
        let base = self.storage.start().cast();
        // SAFETY: the tensor's elements lie in its storage; the borrow keeps everybody else out while `self` lives; injective as just checked.
        Ok(unsafe { TensorViewMut::from_raw(base, self.layout.clone()) })
    }

    /// The elements, to write, beside another tensor of the same storage, to read; they must not share an element.
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
    /// [`Error::WriteOverlap`]; [`Error::ReadWriteOverlap`] with an index of each that meet; [`Error::Borrowed`] if the other tensor
    /// has a storage of its own, which this guard does not guard.
    pub fn as_view_pair<K>(
        &mut self,
        op: &'static str,
        input: &TensorBase<T, K>,
    ) -> Result<(TensorView<'_, T>, TensorViewMut<'_, T>)> {
        if !self.storage.same(input.storage()) {
            return Err(Error::Borrowed {
                held: "by nobody",
                wanted: "through the guard of another storage",
            });
        }
        match input.layout().overlap(self.layout) {
            Overlap::No => {}
            overlap => {
                return Err(Error::ReadWriteOverlap {
                    op,
                    operand: "input",
                    overlap: Box::new(overlap),
                });
            }
        }
        let base = self.storage.start().cast();
        // SAFETY: the input's elements lie in the storage that `self` borrows; they are disjoint from those that can be written.
        let read = unsafe { TensorView::from_raw(base, input.layout().clone(), false) };
        Ok((read, self.as_view_mut()?))
    }
}
