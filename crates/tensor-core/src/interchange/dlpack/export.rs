//! Tensors for consumers of DLPack.

use std::ptr::{NonNull, null_mut};

use super::{
    super::{InterchangeError, Result},
    DTYPES,
    abi::{
        DEVICE_CPU, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor,
        FLAG_IS_COPIED, FLAG_READ_ONLY,
    },
    managed::Managed,
};
use crate::{AnyTensorBase, BuiltIn, DType, Layout, Storage, TensorBase};

/// A tensor that a consumer of DLPack can take over. It keeps the storage alive.
///
/// Dropping it frees it, if no consumer took it.
///
/// # Invariant
/// The pointer was made by `Box::into_raw` of an `Export`, and nobody else has it.
#[derive(Debug)]
pub struct Exported<M: Managed = DLManagedTensorVersioned>(NonNull<Export<M>>);

// SAFETY: an `Export` owns all that it points to, and storages are `Send`.
unsafe impl<M: Managed> Send for Exported<M> {}

/// What a consumer has a pointer to: the struct, followed by what it points to.
#[repr(C)]
struct Export<M> {
    managed: M,
    parts: Parts,
}

/// What a struct is made from and points to.
struct Parts {
    data: *mut u8,
    dtype: DLDataType,
    flags: u64,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _storage: Storage,
}

impl Parts {
    fn new(storage: &Storage, layout: &Layout, dtype: DType) -> Self {
        let known = DTYPES.iter().find(|(.., known)| *known == dtype);
        let &(code, bits, _) = known.expect("the table has every dtype");
        // The start is that of the first element: some consumers ignore `byte_offset`.
        let data = match layout.numel() {
            0 => null_mut(),
            _ => storage.start().as_ptr().wrapping_add(layout.offset() * dtype.size()),
        };
        Self {
            data: data.cast(),
            dtype: DLDataType { code, bits, lanes: 1 },
            flags: if storage.is_read_only() { FLAG_READ_ONLY } else { 0 },
            shape: layout.shape().iter().map(|&size| size as i64).collect(),
            strides: layout.strides().iter().map(|&stride| stride as i64).collect(),
            _storage: storage.clone(),
        }
    }

    fn tensor(&mut self) -> DLTensor {
        DLTensor {
            data: self.data.cast(),
            device: DLDevice { device_type: DEVICE_CPU, device_id: 0 },
            ndim: self.shape.len() as i32,
            dtype: self.dtype,
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            byte_offset: 0,
        }
    }
}

impl<M: Managed> Exported<M> {
    fn new(mut parts: Parts) -> Self {
        let managed = M::new(parts.tensor(), parts.flags, delete);
        Self(NonNull::from(Box::leak(Box::new(Export { managed, parts }))))
    }

    /// The struct, to look at.
    pub fn as_ptr(&self) -> NonNull<M> {
        self.0.cast()
    }

    /// The pointer for the consumer, which has to call the deleter, or to drop what
    /// [`from_raw`](Self::from_raw) returns.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Tensor, interchange::dlpack::Exported};
    ///
    /// let tensor = Tensor::from_vec(vec![1, 2], [2])?;
    /// let pointer = tensor.to_dlpack().into_raw();
    /// assert_eq!(tensor.storage().ref_count(), 2);
    /// // SAFETY: the pointer is that of `into_raw`, and nobody has used it.
    /// drop(unsafe { Exported::from_raw(pointer) });
    /// assert_eq!(tensor.storage().ref_count(), 1);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn into_raw(self) -> *mut M {
        let pointer = self.0.as_ptr().cast();
        std::mem::forget(self);
        pointer
    }

    /// Takes back a pointer that no consumer has taken.
    ///
    /// # Safety
    /// The pointer is that of [`into_raw`](Self::into_raw), and its deleter has not been called.
    ///
    /// # Panics
    /// If it is null.
    pub unsafe fn from_raw(pointer: *mut M) -> Self {
        Self(NonNull::new(pointer.cast()).expect("a pointer of `into_raw` is not null"))
    }

    fn into_parts(self) -> Parts {
        let export = self.0.as_ptr();
        std::mem::forget(self);
        // SAFETY: the pointer is that of a box, and nobody else has it (invariant).
        let export = unsafe { Box::from_raw(export) };
        export.parts
    }
}

impl Exported {
    /// Asks the consumer not to write the elements. A tensor whose storage is
    /// [read-only](Storage::is_read_only) does so without being told.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Tensor, interchange::dlpack::FLAG_READ_ONLY};
    ///
    /// let exported = Tensor::from_vec(vec![1, 2], [2])?.to_dlpack().read_only();
    /// // SAFETY: the pointer is valid while `exported` lives.
    /// assert_eq!(unsafe { exported.as_ptr().as_ref() }.flags, FLAG_READ_ONLY);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    #[must_use]
    pub fn read_only(self) -> Self {
        self.with_flag(FLAG_READ_ONLY)
    }

    /// Tells the consumer that nobody else has the elements: the tensor is a copy that was made for
    /// it.
    #[must_use]
    pub fn copied(self) -> Self {
        self.with_flag(FLAG_IS_COPIED)
    }

    fn with_flag(self, flag: u64) -> Self {
        let mut parts = self.into_parts();
        parts.flags |= flag;
        Self::new(parts)
    }

    /// The tensor in the struct before version 1, for consumers that know no other: Python's
    /// capsule `dltensor`. It has no flags, so that of [`copied`](Self::copied) is lost.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, Tensor};
    ///
    /// let tensor = Tensor::from_vec(vec![1, 2, 3], [3])?;
    /// let pointer = tensor.to_dlpack().unversioned()?.into_raw();
    /// // SAFETY: the pointer comes from a producer, and nobody else has taken it; nobody accesses
    /// // the elements through `tensor` while `taken` or its views live.
    /// let taken: AnyTensor = unsafe { AnyTensor::from_dlpack(pointer) }?;
    /// assert_eq!(taken.typed::<i32>().map(|t| t.data_ptr()), Some(tensor.data_ptr()));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::ReadOnlyUnversioned`]: a consumer of this struct may write the elements.
    pub fn unversioned(self) -> Result<Exported<DLManagedTensor>> {
        let parts = self.into_parts();
        if parts.flags & FLAG_READ_ONLY != 0 {
            return Err(InterchangeError::ReadOnlyUnversioned);
        }
        Ok(Exported::new(parts))
    }
}

impl<M: Managed> Drop for Exported<M> {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a box, and nobody else has it (invariant).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The deleter of exports.
///
/// # Safety
/// `managed` is null, or the pointer of an [`Exported`] that is not used after this.
unsafe extern "C" fn delete<M: Managed>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the pointer is that of an `Exported`, as the caller says.
        drop(unsafe { Exported::from_raw(managed) });
    }
}

impl<T: BuiltIn, K> TensorBase<T, K> {
    /// The tensor for a consumer of DLPack, without copying; strides may be negative.
    ///
    /// The struct is that of version 1; [`Exported::unversioned`] makes the older one of it.
    ///
    /// The consumer is not bound by the borrows of this crate. As with any other pointer, whoever
    /// reads the memory through it sees to it that nobody writes it meanwhile, here or there.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, Tensor};
    ///
    /// let tensor = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?.t()?;
    /// let pointer = tensor.to_dlpack().into_raw();
    /// // SAFETY: the pointer comes from a producer, and nobody else has taken it; nobody accesses
    /// // the elements through `tensor` while `taken` or its views live.
    /// let taken: AnyTensor = unsafe { AnyTensor::from_dlpack(pointer) }?;
    /// assert_eq!((taken.shape(), taken.strides()), (&[3, 2][..], &[1, 3][..]));
    /// assert_eq!(taken.typed::<f32>().map(|t| t.data_ptr()), Some(tensor.data_ptr()));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn to_dlpack(&self) -> Exported {
        Exported::new(Parts::new(self.storage(), self.layout(), T::DTYPE))
    }
}

impl<K> AnyTensorBase<K> {
    /// The tensor for a consumer of DLPack, as [`TensorBase::to_dlpack`] makes it.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// let exported = AnyTensor::zeros([2, 3], DType::F64)?.to_dlpack();
    /// // SAFETY: the pointer is valid while `exported` lives.
    /// let dtype = unsafe { exported.as_ptr().as_ref() }.dl_tensor.dtype;
    /// assert_eq!((dtype.code, dtype.bits, dtype.lanes), (2, 64, 1));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn to_dlpack(&self) -> Exported {
        Exported::new(Parts::new(self.storage(), self.layout(), self.dtype()))
    }
}
