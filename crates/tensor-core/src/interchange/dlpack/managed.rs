//! The two structs that are handed over, and what both have.

use std::{ffi::c_void, ptr::NonNull};

use super::{
    super::Result,
    abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, VERSION},
    import::malformed,
};

/// The two structs of DLPack that a producer can hand over: [`DLManagedTensorVersioned`] and
/// [`DLManagedTensor`].
pub trait Managed: sealed::Managed {}

impl Managed for DLManagedTensorVersioned {}
impl Managed for DLManagedTensor {}

/// A deleter, which is given the struct.
type Deleter<M> = unsafe extern "C" fn(*mut M);

pub(super) mod sealed {
    use super::{DLTensor, Deleter, NonNull, Result};

    pub trait Managed: Sized + 'static {
        /// The struct, for a consumer. Flags are left out if it has none.
        fn new(tensor: DLTensor, flags: u64, deleter: Deleter<Self>) -> Self;

        /// The tensor and the flags, if the struct is of a version that has them here.
        ///
        /// # Safety
        /// The pointer is that of a producer.
        unsafe fn parts(managed: NonNull<Self>) -> Result<(DLTensor, u64)>;

        /// Calls the deleter.
        ///
        /// # Safety
        /// The pointer is that of a producer, and not used after this.
        unsafe fn delete(managed: NonNull<Self>);
    }
}

/// Exports need no context: the struct is the start of what is freed.
const CONTEXT: *mut c_void = std::ptr::null_mut();

impl sealed::Managed for DLManagedTensorVersioned {
    fn new(dl_tensor: DLTensor, flags: u64, deleter: Deleter<Self>) -> Self {
        let deleter = Some(deleter);
        Self { version: VERSION, manager_ctx: CONTEXT, deleter, flags, dl_tensor }
    }

    unsafe fn parts(managed: NonNull<Self>) -> Result<(DLTensor, u64)> {
        // SAFETY: every version of the struct begins with its version, a place to read.
        let version = unsafe { (*managed.as_ptr()).version };
        if version.major != VERSION.major {
            let (major, minor) = (version.major, version.minor);
            return Err(malformed(format!("version {major}.{minor} is not known, only 1.x")));
        }
        // SAFETY: the pointer is that of a producer, of this version.
        let managed = unsafe { managed.as_ref() };
        Ok((managed.dl_tensor, managed.flags))
    }

    unsafe fn delete(managed: NonNull<Self>) {
        // SAFETY: the deleter is at the same place in every version of the struct.
        let deleter = unsafe { (*managed.as_ptr()).deleter };
        if let Some(deleter) = deleter {
            // SAFETY: the producer's deleter takes the producer's pointer, once.
            unsafe { deleter(managed.as_ptr()) };
        }
    }
}

impl sealed::Managed for DLManagedTensor {
    fn new(dl_tensor: DLTensor, _: u64, deleter: Deleter<Self>) -> Self {
        Self { dl_tensor, manager_ctx: CONTEXT, deleter: Some(deleter) }
    }

    unsafe fn parts(managed: NonNull<Self>) -> Result<(DLTensor, u64)> {
        // SAFETY: the pointer is that of a producer.
        Ok((unsafe { managed.as_ref() }.dl_tensor, 0))
    }

    unsafe fn delete(managed: NonNull<Self>) {
        // SAFETY: the pointer is that of a producer.
        if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
            // SAFETY: the producer's deleter takes the producer's pointer, once.
            unsafe { deleter(managed.as_ptr()) };
        }
    }
}
