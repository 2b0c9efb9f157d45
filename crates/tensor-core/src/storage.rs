//! The one-dimensional memory that tensors share, whose parts are borrowed at run time.
//!
//! A [`Storage`] is a reference-counted buffer. Any number of tensors hold it. Access to elements
//! needs a borrow of them: many readers or one writer of each, across threads. A conflict is an
//! error, so there are neither waits nor data races.
//!
//! Memory comes from the global allocator, aligned to a cache line. A vector's allocation is
//! adopted without copying.

use std::{mem::MaybeUninit, ptr::NonNull, sync::Arc};

use crate::{
    Element, Error, Layout, Result, TensorBase, TensorViewMut, ViewRefMut,
    borrow::{Borrow, Borrows, Refused},
    buffer::Buffer,
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
    borrows: Borrows,
    buffer: Buffer,
    /// Whether the memory's owner lets it be read only.
    read_only: bool,
}

impl Storage {
    fn new(buffer: Buffer) -> Self {
        Self::with(buffer, false)
    }

    fn with(buffer: Buffer, read_only: bool) -> Self {
        Self { shared: Arc::new(Shared { borrows: Borrows::new(), buffer, read_only }) }
    }

    /// The memory of another owner, which is not written.
    pub(crate) fn from_owner<T: Element, O>(owner: O) -> Self
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        let owner = Arc::new(owner);
        let elements = NonNull::from(owner.as_ref().as_ref());
        // SAFETY: the slice is valid while its owner is neither moved nor mutably borrowed, and
        // nobody writes it. The `Arc` keeps the owner in place, and no one else has it.
        Self::with(unsafe { Buffer::owned_by(owner, elements, ALIGNMENT) }, true)
    }

    /// The memory of another owner.
    pub(crate) fn from_owner_mut<T: Element, O>(owner: O) -> Self
    where
        O: AsMut<[T]> + Send + Sync + 'static,
    {
        let mut owner = Arc::new(owner);
        let only = Arc::get_mut(&mut owner).expect("an owner that nobody shares");
        let elements = NonNull::from(only.as_mut());
        // SAFETY: the slice is valid, and accessible through this pointer only, while its owner is
        // neither moved nor borrowed. The `Arc` keeps the owner in place, and no one else has it.
        Self::with(unsafe { Buffer::owned_by(owner, elements, ALIGNMENT) }, false)
    }

    /// Memory that no slice describes, of another owner.
    ///
    /// # Safety
    /// `elements` is aligned and consists of initialised elements until `owner` is dropped. While
    /// the storage is borrowed for reading nobody writes it; while it is borrowed for writing,
    /// which is possible unless `read_only`, nobody else accesses it.
    #[cfg(feature = "dlpack")]
    pub(crate) unsafe fn from_foreign<T: Element>(
        owner: Arc<dyn std::any::Any + Send + Sync>,
        elements: NonNull<[T]>,
        read_only: bool,
    ) -> Self {
        // SAFETY: as the caller says.
        Self::with(unsafe { Buffer::owned_by(owner, elements, ALIGNMENT) }, read_only)
    }

    /// The vector that this storage was made from, if it was made from one of `T` and nobody else
    /// shares it.
    pub(crate) fn into_vec<T: Element>(self) -> Result<Vec<T>, Self> {
        let Shared { borrows, buffer, read_only } =
            Arc::try_unwrap(self.shared).map_err(|shared| Self { shared })?;
        let again = |buffer| Self { shared: Arc::new(Shared { borrows, buffer, read_only }) };
        buffer.into_vec().map_err(again)
    }

    /// Can the elements be written? Not if their owner lets them be read only.
    pub fn is_read_only(&self) -> bool {
        self.shared.read_only
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

    /// Borrows the elements of a layout, of `width` bytes each, for reading, with the gaps between
    /// them if these can be had.
    #[inline]
    pub(crate) fn borrow(&self, layout: &Layout, width: usize) -> Result<Borrow<'_>, Refused> {
        self.shared.borrows.read(layout, width)
    }

    /// Borrows the elements of a layout, of `width` bytes each, for reading, next to the borrow of
    /// a writer of others.
    pub(crate) fn borrow_beside(
        &self,
        layout: &Layout,
        width: usize,
        writer: &Borrow<'_>,
    ) -> Result<Borrow<'_>, Refused> {
        self.shared.borrows.read_beside(layout, width, writer)
    }

    /// Borrows the elements of a layout, of `width` bytes each, for writing.
    #[inline]
    pub(crate) fn borrow_mut(&self, layout: &Layout, width: usize) -> Result<Borrow<'_>, Refused> {
        if self.shared.read_only {
            return Err(Refused::ReadOnly);
        }
        self.shared.borrows.write(layout, width)
    }

    /// Lets threads read and write parts of this storage that share no element at the same time,
    /// whoever comes first: from now on a reader leaves the gaps between its elements to others.
    ///
    /// Otherwise a writer is refused while a reader has borrowed gaps that it would write: whoever
    /// reads the left columns of a matrix keeps writers of the right ones out.
    ///
    /// The price is speed: without the gaps, kernels that load whole registers are replaced by
    /// others. Copies of three of four channels take 4 to 13 times as long then, transposes of the
    /// left half of a matrix 3 to 7 times, of one channel of four up to 1.3 times (Zen 3, one
    /// thread). Halves of rows, whole tensors, and views of slices pay nothing. There is no way
    /// back: the storage stays so.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Error, Tensor};
    ///
    /// let table = Tensor::<f32>::zeros([4, 6])?;
    /// let (left, right) = (table.narrow(1, 0, 3)?, table.narrow(1, 3, 3)?);
    /// let reader = left.read()?;
    /// assert!(matches!(right.write(), Err(Error::Borrowed { .. })));
    /// drop(reader);
    ///
    /// table.storage().share_parts()?;
    /// let reader = left.read()?;
    /// assert!(right.write().is_ok());
    /// assert!(matches!(left.write(), Err(Error::Borrowed { .. })));
    /// # drop(reader);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Borrowed`] while a guard reads a tensor with gaps. So call this before threads
    /// share the storage.
    pub fn share_parts(&self) -> Result<()> {
        let shared = self.shared.borrows.share_parts();
        shared.map_err(|why| why.into_error("for reading, with gaps", "by parts"))
    }
}

/// A newly allocated dense tensor whose elements are uninitialised, so that memory is written once
/// only.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Layout, Tensor, Uninit};
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
