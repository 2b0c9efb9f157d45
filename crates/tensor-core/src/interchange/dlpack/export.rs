//! Tensors for consumers of DLPack.

use std::ptr::NonNull;

use super::{
    DTYPES,
    abi::{
        DEVICE_CPU, DLDataType, DLDevice, DLManagedTensorVersioned, DLTensor, FLAG_IS_COPIED,
        FLAG_READ_ONLY, VERSION,
    },
};
use crate::{AnyTensorBase, BuiltIn, DType, Layout, Storage, TensorBase};

/// A tensor that a consumer of DLPack can take over. It keeps the storage alive.
///
/// Dropping it frees it, if no consumer took it.
///
/// # Invariant
/// The pointer was made by `Box::into_raw` of an `Export`, and nobody else has it.
#[derive(Debug)]
pub struct Exported(NonNull<Export>);

// SAFETY: an `Export` owns all that it points to, and storages are `Send`.
unsafe impl Send for Exported {}

/// What a consumer has a pointer to: the struct, followed by what it points to.
#[repr(C)]
struct Export {
    managed: DLManagedTensorVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _storage: Storage,
}

impl Exported {
    fn new(storage: &Storage, layout: &Layout, dtype: DType) -> Self {
        let known = DTYPES.iter().find(|(.., known)| *known == dtype);
        let &(code, bits, _) = known.expect("the table has every dtype");
        // The start is that of the first element: some consumers ignore `byte_offset`.
        let data = match layout.numel() {
            0 => std::ptr::null_mut(),
            _ => storage.start().as_ptr().wrapping_add(layout.offset() * dtype.size()),
        };
        let mut export = Box::new(Export {
            managed: DLManagedTensorVersioned {
                version: VERSION,
                manager_ctx: std::ptr::null_mut(),
                deleter: Some(delete),
                flags: if storage.is_read_only() { FLAG_READ_ONLY } else { 0 },
                dl_tensor: DLTensor {
                    data: data.cast(),
                    device: DLDevice { device_type: DEVICE_CPU, device_id: 0 },
                    ndim: layout.ndim() as i32,
                    dtype: DLDataType { code, bits, lanes: 1 },
                    shape: std::ptr::null_mut(),
                    strides: std::ptr::null_mut(),
                    byte_offset: 0,
                },
            },
            shape: layout.shape().iter().map(|&size| size as i64).collect(),
            strides: layout.strides().iter().map(|&stride| stride as i64).collect(),
            _storage: storage.clone(),
        });
        export.managed.dl_tensor.shape = export.shape.as_mut_ptr();
        export.managed.dl_tensor.strides = export.strides.as_mut_ptr();
        Self(NonNull::from(Box::leak(export)))
    }

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

    fn with_flag(mut self, flag: u64) -> Self {
        // SAFETY: the pointer is that of a box (invariant).
        let export = unsafe { self.0.as_mut() };
        export.managed.flags |= flag;
        self
    }

    /// The struct, to look at.
    pub fn as_ptr(&self) -> NonNull<DLManagedTensorVersioned> {
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
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
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
    pub unsafe fn from_raw(pointer: *mut DLManagedTensorVersioned) -> Self {
        Self(NonNull::new(pointer.cast()).expect("a pointer of `into_raw` is not null"))
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a box, and nobody else has it (invariant).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The deleter of exports.
///
/// # Safety
/// `managed` is null, or the pointer of an [`Exported`] that is not used after this.
unsafe extern "C" fn delete(managed: *mut DLManagedTensorVersioned) {
    if !managed.is_null() {
        // SAFETY: the pointer is that of an `Exported`, as the caller says.
        drop(unsafe { Exported::from_raw(managed) });
    }
}

impl<T: BuiltIn, K> TensorBase<T, K> {
    /// The tensor for a consumer of DLPack, without copying; strides may be negative.
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
        Exported::new(self.storage(), self.layout(), T::DTYPE)
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
        Exported::new(self.storage(), self.layout(), self.dtype())
    }
}
