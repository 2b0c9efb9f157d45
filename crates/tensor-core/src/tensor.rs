//! Tensors: a layout over a shared storage.
//!
//! View operations derive another layout and share the storage. Elements are reached through the
//! guards of `read` and `write`.

use std::{fmt, marker::PhantomData};

use crate::{
    AnyTensorBase, AsOperand, Bare, Element, Error, Layout, ReadKernel, Result, Scalar, Sizes,
    Storage, TensorIter, TensorViewBase, TensorViewMutBase, display,
    element::assert_occupies_memory,
    methods::{split_methods, view_methods},
    operators::or_panic,
    view::{FirstElements, describe},
};

/// A [`TensorBase`] of this crate alone: every view, no operators. `tensor-kernels` exports a
/// `Tensor<T>` that computes.
pub type Tensor<T> = TensorBase<T, Bare>;

/// A tensor: sizes, strides and an offset over a storage that other tensors may share.
///
/// A clone shares the storage, and so does the result of every view operation: a write through one
/// tensor is seen through all. To access elements in bulk, borrow the storage with
/// [`read`](Self::read) or [`write`](Self::write).
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::Tensor;
///
/// let x = Tensor::arange(0i64, 6, 1)?.view([2, 3])?;
/// let y = x.transpose(0, 1)?;
/// x.set(&[0, 2], 100)?;
/// assert_eq!(y.get(&[2, 0])?, 100);
/// assert!(y.same_storage(&x));
/// println!("{y}");
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// - Make one: [`zeros`](Self::zeros), [`full`](Self::full), [`arange`](Self::arange),
///   [`from_vec`](Self::from_vec), [`from_nested`](Self::from_nested).
/// - Ask what it is: [`shape`](Self::shape), [`strides`](Self::strides),
///   [`is_contiguous`](Self::is_contiguous), [`why_not_view`](Self::why_not_view).
/// - View it otherwise: [`view`](Self::view), [`transpose`](Self::transpose),
///   [`permute`](Self::permute), [`index`](Self::index), [`expand`](Self::expand).
/// - Read elements: [`get`](Self::get), [`to_vec`](Self::to_vec), [`iter`](Self::iter),
///   [`read`](Self::read).
/// - Write elements: [`set`](Self::set), [`write`](Self::write),
///   [`split_at_mut`](Self::split_at_mut).
/// - Copy and compute, in `tensor-kernels`: operators, and the methods of the traits `TensorExt`
///   and `TensorMutExt`, such as `contiguous`, `reshape`, `exp` and `sum`.
///
/// The second type parameter names the kernels that compute the tensor's operators, as the second
/// parameter of `Vec` names its allocator. The aliases named `Tensor` set it.
///
/// # Invariants
/// 1. The storage is aligned for `T`, and from its start on it consists of initialised elements
///    `T`. This holds for the element type of every tensor that shares it.
/// 2. Every element of the layout lies in the storage.
/// 3. The type is invariant in `T`: one tensor writes what another one reads, so neither may treat
///    the elements as a supertype or subtype.
pub struct TensorBase<T: Element, K> {
    storage: Storage,
    layout: Layout,
    element: PhantomData<fn(T) -> T>,
    kernels: PhantomData<fn() -> K>,
}

impl<T: Element, K> Clone for TensorBase<T, K> {
    fn clone(&self) -> Self {
        let (storage, layout) = (self.storage.clone(), self.layout.clone());
        Self { storage, layout, element: PhantomData, kernels: PhantomData }
    }
}

/// What it is, single elements, and the view operations, none of which copies an element.
impl<T: Element, K> TensorBase<T, K> {
    /// # Safety
    /// Invariants 1 and 2.
    pub(crate) unsafe fn from_storage(storage: Storage, layout: Layout) -> Self {
        const { assert_occupies_memory::<T>() };
        debug_assert!(layout.check_within(storage.len::<T>(), size_of::<T>()).is_ok());
        Self { storage, layout, element: PhantomData, kernels: PhantomData }
    }

    /// # Safety
    /// Every element of the layout lies in the storage.
    unsafe fn derive(&self, layout: Layout) -> Result<Self> {
        // SAFETY: invariant 1 holds for this tensor and so for its storage; the caller guarantees
        // invariant 2.
        Ok(unsafe { Self::from_storage(self.storage.clone(), layout) })
    }

    view_methods!(self, &self);
    split_methods!();

    /// The storage (PyTorch: `untyped_storage()`).
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Do both view the same storage? (PyTorch: equal `untyped_storage().data_ptr()`)
    pub fn same_storage<U: Element, L>(&self, other: &TensorBase<U, L>) -> bool {
        self.storage.same(&other.storage)
    }

    /// The address of the first element (PyTorch: `data_ptr()`).
    pub fn data_ptr(&self) -> *const T {
        self.storage.as_ptr().cast::<T>().wrapping_add(self.layout.offset())
    }

    /// The same storage under any layout; strides may be negative.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches beyond the storage.
    pub fn with_layout(&self, layout: Layout) -> Result<Self> {
        layout.check_within(self.storage.len::<T>(), size_of::<T>())?;
        // SAFETY: `check_within` has checked that every element lies in the storage.
        unsafe { self.derive(layout) }
    }

    /// The same storage under sizes and non-negative strides (PyTorch: `as_strided`). The offset
    /// defaults to this tensor's.
    ///
    /// # Errors
    /// Negative strides, lengths that differ, elements outside the storage.
    pub fn as_strided(
        &self,
        shape: impl Sizes,
        strides: impl Sizes,
        offset: Option<usize>,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, strides.into_sizes()?);
        self.with_layout(self.layout.as_strided(&shape, &strides, offset)?)
    }

    /// The same bytes as elements of another type (PyTorch: `view(dtype)`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let ones = Tensor::full([2], 1.0f32)?;
    /// assert_eq!(ones.view_dtype::<u32>()?.get(&[0])?, 0x3f80_0000);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// `bool` has invalid bit patterns, so bytes cannot be viewed as `bool`:
    ///
    /// ```compile_fail,E0277
    /// # use tensor_core::Tensor;
    /// Tensor::full([2], 3u8)?.view_dtype::<bool>()?;
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ViewDType`] where the layout does not allow another width, [`Error::Misaligned`]
    /// for adopted memory that does not suit the new type.
    pub fn view_dtype<U: Element + bytemuck::Pod>(&self) -> Result<TensorBase<U, K>>
    where
        T: bytemuck::Pod,
    {
        // SAFETY: `T: Pod` has no padding, so the bytes of its elements are initialised.
        unsafe { TensorBase::of_bytes(&self.storage, &self.layout, size_of::<T>()) }
    }

    /// As [`view_dtype`](Self::view_dtype), of a tensor whose dtype is known at run time and is not
    /// bool.
    pub(crate) fn of_any_bytes(any: &AnyTensorBase<K>) -> Result<Self>
    where
        T: bytemuck::Pod,
    {
        // SAFETY: all built-in types have no padding, so the bytes of their elements are
        // initialised.
        unsafe { Self::of_bytes(any.storage(), any.layout(), any.itemsize()) }
    }

    /// The elements of a layout over a storage, `width` bytes each, as elements `T`.
    ///
    /// # Safety
    /// The elements of the layout lie in the storage, and their bytes are initialised.
    pub(crate) unsafe fn of_bytes(storage: &Storage, layout: &Layout, width: usize) -> Result<Self>
    where
        T: bytemuck::Pod,
    {
        let layout = layout.view_as_width(width, size_of::<T>())?;
        let address = storage.as_ptr().addr();
        if !address.is_multiple_of(align_of::<T>()) {
            return Err(Error::Misaligned { address, align: align_of::<T>() });
        }
        // SAFETY: tensor invariants. 1: the bytes are initialised, as the caller guarantees, every
        // bit pattern is a valid `T: Pod`, and the alignment for `T` is checked above. 2: the new
        // layout covers the same bytes as the given one.
        Ok(unsafe { Self::from_storage(storage.clone(), layout) })
    }

    /// The element at `index` (PyTorch: `t[i, j].item()`).
    ///
    /// # Errors
    /// An index of another length than the rank or beyond a size; a storage that is being written.
    pub fn get(&self, index: &[usize]) -> Result<T> {
        self.read()?.as_view().get(index)
    }

    /// Writes the element at `index` (PyTorch: `t[i, j] = value`).
    ///
    /// # Errors
    /// An index of another length than the rank or beyond a size; a storage that is borrowed.
    pub fn set(&self, index: &[usize], value: T) -> Result<()> {
        let offset = self.layout.offset_of(index)?;
        // A layout of one element is injective, so this also writes to expanded tensors.
        let layout = Layout::new((), (), offset)?;
        // SAFETY: the offset is one of this tensor's (invariant 2).
        let single = unsafe { self.derive(layout) }?;
        *single.write()?.as_view_mut()?.get_mut(&[])? = value;
        Ok(())
    }

    /// The elements in logical order (PyTorch: `flatten().tolist()`).
    ///
    /// # Errors
    /// A storage that is being written; out of memory.
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>>
    where
        K: ReadKernel,
    {
        self.copied_to_vec("to_vec")
    }

    #[inline]
    #[track_caller]
    pub(crate) fn copied_to_vec(&self, op: &'static str) -> Result<Vec<T>>
    where
        K: ReadKernel,
    {
        let reading = self.read()?;
        K::will_copy(op, reading.as_elements())?;
        K::to_vec(reading.as_elements())
    }

    /// The elements in logical order, as a vector. The memory of a tensor that was made from a
    /// vector is returned without copying, if it is contiguous, has all elements of its storage,
    /// and is the only handle to it.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::Tensor;
    ///
    /// let values = vec![1, 2, 3, 4];
    /// let memory = values.as_ptr();
    /// let tensor = Tensor::from_vec(values, [2, 2])?;
    /// let back = tensor.into_vec()?;
    /// assert_eq!((back.as_ptr(), &back[..]), (memory, &[1, 2, 3, 4][..]));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A storage that is being written; out of memory.
    #[track_caller]
    pub fn into_vec(self) -> Result<Vec<T>>
    where
        K: ReadKernel,
    {
        let is_whole = self.is_contiguous()
            && self.storage_offset() == 0
            && self.numel() * size_of::<T>() == self.storage.bytes();
        let Self { storage, layout, .. } = self;
        let storage = match storage {
            whole if is_whole => match whole.into_vec() {
                Ok(values) => return Ok(values),
                Err(storage) => storage,
            },
            part => part,
        };
        // SAFETY: the storage and the layout are those of this tensor.
        unsafe { Self::from_storage(storage, layout) }.copied_to_vec("into_vec")
    }

    /// The vector that the storage was made from, in the order of memory, if the layout has every
    /// element of it exactly once and nobody else shares it.
    #[cfg(feature = "ndarray")]
    #[expect(clippy::result_large_err, reason = "the tensor goes on, as in `Storage::into_vec`")]
    pub(crate) fn into_whole_vec(self) -> Result<Vec<T>, Self> {
        let is_whole =
            self.layout.is_dense_signed() && self.numel() * size_of::<T>() == self.storage.bytes();
        if !is_whole {
            return Err(self);
        }
        let Self { storage, layout, .. } = self;
        // SAFETY: the storage and the layout are those of this tensor.
        storage.into_vec().map_err(|storage| unsafe { Self::from_storage(storage, layout) })
    }

    /// Same shape and equal elements? (PyTorch: `torch.equal`)
    ///
    /// # Errors
    /// A storage that is being written.
    #[expect(clippy::needless_pass_by_value, reason = "an operand is often the result of a call")]
    pub fn equal(&self, other: impl AsOperand<T>) -> Result<bool>
    where
        T: PartialEq,
        K: ReadKernel,
    {
        K::equal(self.read()?.as_elements(), other.as_operand().read()?.elements())
    }

    /// The elements in logical order, which are borrowed for reading while the iterator lives.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Error, Tensor};
    ///
    /// let x = Tensor::arange(0, 6, 1)?.view([2, 3])?;
    /// assert_eq!(x.t()?.iter()?.collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
    /// for element in &x {
    ///     assert!(matches!(x.set(&[0, 0], element), Err(Error::Borrowed { .. })));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Elements that are being written.
    pub fn iter(&self) -> Result<TensorIter<'_, T>> {
        Ok(self.read()?.into_iter())
    }
}

impl<'a, T: Element, K> IntoIterator for &'a TensorBase<T, K> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    /// # Panics
    /// As `RefCell` does, when the storage is being written; [`TensorBase::iter`] returns an error.
    #[track_caller]
    fn into_iter(self) -> TensorIter<'a, T> {
        or_panic(self.iter())
    }
}

/// Comparisons of tensors with tensors and views.
macro_rules! comparisons {
    ($([$($generic:ident)?] $left:ty, $right:ty: |$a:ident, $b:ident| $equal:expr;)*) => {$(
        impl<T: Element + PartialEq, K: ReadKernel $(, $generic)?> PartialEq<$right> for $left {
            /// # Panics
            /// As `RefCell` does, when a storage is being written; [`TensorBase::equal`] returns an
            /// error.
            #[track_caller]
            fn eq(&self, other: &$right) -> bool {
                let ($a, $b) = (self, other);
                or_panic($equal)
            }
        }
    )*};
}

comparisons! {
    [] TensorBase<T, K>, TensorBase<T, K>: |a, b| a.equal(b);
    [L] TensorBase<T, K>, TensorViewBase<'_, T, L>: |a, b| a.equal(b);
    [L] TensorBase<T, K>, TensorViewMutBase<'_, T, L>: |a, b| a.equal(b);
    [L] TensorViewBase<'_, T, L>, TensorBase<T, K>: |a, b| b.equal(a);
    [L] TensorViewMutBase<'_, T, L>, TensorBase<T, K>: |a, b| b.equal(a);
}

impl<T: Element + fmt::Debug, K> fmt::Debug for TensorBase<T, K> {
    /// A tensor that is being written shows no elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Tensor");
        describe::<T>(&mut text, &self.layout);
        match self.read() {
            Ok(guard) => text.field("elements", &FirstElements(&guard.as_view())).finish(),
            Err(_) => text.field("elements", &format_args!("<being written>")).finish(),
        }
    }
}

impl<T: Scalar, K> fmt::Display for TensorBase<T, K> {
    /// As PyTorch prints; a tensor that is being written shows its size only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.read() {
            Ok(guard) => guard.as_view().fmt(f),
            Err(_) => write!(f, "tensor(<being written>, size={:?})", self.shape()),
        }
    }
}

impl<T: Scalar, K> fmt::Display for TensorViewBase<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::write_tensor(f, self.shape(), |index: &[usize]| {
            self.get(index).expect("an index within the shape")
        })
    }
}

impl<T: Scalar, K> fmt::Display for TensorViewMutBase<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_view().fmt(f)
    }
}
