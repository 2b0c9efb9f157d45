//! The one-dimensional memory that tensors share, with a borrow flag that is checked at run time.
//!
//! A [`Storage`] is a reference-counted buffer. Any number of tensors hold it. Access to its
//! elements needs a borrow: many readers or one writer, across threads. A conflict is an error, so
//! there are neither waits nor data races.
//!
//! Memory comes from the global allocator, aligned to a cache line. A vector's allocation is
//! adopted without copying.

use std::{mem::MaybeUninit, ptr::NonNull, sync::Arc};

use atomic_refcell::{AtomicRef, AtomicRefCell, AtomicRefMut};

use crate::{
    Element, Error, Layout, Result, TensorBase, TensorViewMut, ViewRefMut, buffer::Buffer,
    element::assert_occupies_memory,
};

/// The alignment of newly allocated buffers in bytes: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// A shared buffer (PyTorch: `untyped_storage()`).
///
/// A clone refers to the same buffer. Two tensors are views of the same data exactly if their
/// storages are [the same](Storage::same).
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

struct Shared {
    borrow: AtomicRefCell<()>,
    buffer: Buffer,
}

impl Storage {
    fn new(buffer: Buffer) -> Self {
        Self { shared: Arc::new(Shared { borrow: AtomicRefCell::new(()), buffer }) }
    }

    pub(crate) fn from_vec<T: Element>(values: Vec<T>) -> Self {
        Self::new(Buffer::adopt(values, ALIGNMENT))
    }

    pub(crate) fn zeroed(bytes: usize, align: usize) -> Result<Self> {
        Buffer::zeroed(bytes, align.max(ALIGNMENT)).map(Self::new)
    }

    /// The address of the first byte (PyTorch: `untyped_storage().data_ptr()`).
    pub fn as_ptr(&self) -> *const u8 {
        self.shared.buffer.start().as_ptr()
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.shared.buffer.start()
    }

    /// The size in bytes (PyTorch: `untyped_storage().nbytes()`).
    pub fn bytes(&self) -> usize {
        self.shared.buffer.bytes()
    }

    /// The number of elements `T` that it can hold.
    pub(crate) fn len<T>(&self) -> usize {
        self.bytes() / size_of::<T>()
    }

    /// Is this the same buffer? (PyTorch: equal `untyped_storage().data_ptr()`)
    pub fn same(&self, other: &Storage) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The number of handles, tensors and `Storage`s, that share this buffer.
    pub fn ref_count(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    pub(crate) fn borrow(&self) -> Result<AtomicRef<'_, ()>> {
        let refused = Error::Borrowed { held: "for writing", wanted: "for reading" };
        self.shared.borrow.try_borrow().map_err(|_| refused)
    }

    pub(crate) fn borrow_mut(&self) -> Result<AtomicRefMut<'_, ()>> {
        let refused = Error::Borrowed { held: "for reading or writing", wanted: "for writing" };
        self.shared.borrow.try_borrow_mut().map_err(|_| refused)
    }
}

/// A newly allocated dense tensor whose elements are uninitialised, so that memory is written once
/// only.
///
/// ```
/// use tensor_core::{Layout, Tensor, Uninit};
///
/// let mut uninit = Uninit::<f32>::new(Layout::contiguous(&[2, 3])?)?;
/// for (i, element) in uninit.as_view_mut().iter_mut().enumerate() {
///     element.write(i as f32);
/// }
/// // SAFETY: the loop wrote every element.
/// let tensor: Tensor<f32> = unsafe { uninit.assume_init() };
/// assert_eq!(tensor.get(&[1, 2])?, 5.0);
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Invariant
/// The layout is dense from offset 0, and the buffer is aligned for `T` and as large as the
/// layout's elements.
pub struct Uninit<T> {
    buffer: Buffer,
    layout: Layout,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Uninit<T> {
    /// Memory for a dense layout.
    ///
    /// # Errors
    /// More bytes than `isize::MAX`, no memory, or a layout that is not dense from offset 0 (its
    /// gaps would stay uninitialised).
    pub fn new(layout: Layout) -> Result<Self> {
        const { assert_occupies_memory::<T>() };
        if !layout.is_dense() || layout.offset() != 0 {
            let (shape, strides) = (layout.shape().to_vec(), layout.strides().to_vec());
            return Err(Error::NotDense { shape, strides, offset: layout.offset() });
        }
        let bytes = layout.dense_bytes(size_of::<T>())?;
        let buffer = Buffer::uninit(bytes, align_of::<T>().max(ALIGNMENT))?;
        Ok(Self { buffer, layout, element: std::marker::PhantomData })
    }

    /// A view to write the elements through.
    pub fn as_view_mut(&mut self) -> TensorViewMut<'_, MaybeUninit<T>> {
        self.as_elements_mut().into_view()
    }

    /// As [`as_view_mut`](Self::as_view_mut), with a borrowed layout.
    pub fn as_elements_mut(&mut self) -> ViewRefMut<'_, MaybeUninit<T>> {
        let start = self.buffer.start().cast();
        // SAFETY: mutable view invariants. 1: the layout fills the buffer (invariant), which is
        // valid for reads and writes (buffer invariant 1); an uninitialised `MaybeUninit` is valid.
        // 2: `&mut self` makes the access exclusive. 3: a dense layout is injective.
        unsafe { ViewRefMut::from_raw(start, &self.layout) }
    }

    /// The initialised tensor.
    ///
    /// # Safety
    /// Every element has been written.
    pub unsafe fn assume_init<K>(self) -> TensorBase<T, K> {
        // SAFETY: tensor invariants. 1: the buffer is aligned for `T` (invariant), and the caller
        // has written every element. 2: the layout's elements fill the buffer (invariant).
        unsafe { TensorBase::from_storage(Storage::new(self.buffer), self.layout) }
    }
}
