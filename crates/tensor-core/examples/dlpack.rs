//! A library for other languages that takes over a DLPack tensor and hands it on, with its
//! dimensions in reverse order. `scripts/interchange.sh` calls it from Python, with tensors of
//! NumPy and PyTorch.

use std::{cell::RefCell, ffi::c_char, ptr::null_mut};

use tensor_core::{
    AnyTensor,
    interchange::{
        Result,
        dlpack::{DLManagedTensor, DLManagedTensorVersioned, Exported, Managed},
    },
};

thread_local! {
    /// The last error, as a C string.
    static ERROR: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// # Safety
/// As [`AnyTensor::from_dlpack`].
unsafe fn reverse<M: Managed>(
    managed: *mut M,
    export: impl Fn(Exported) -> Result<Exported<M>>,
) -> *mut M {
    let reversed = || -> Result<_> {
        // SAFETY: the caller's conditions are those of this function.
        let tensor: AnyTensor = unsafe { AnyTensor::from_dlpack(managed) }?;
        let reversed = tensor.permute((0..tensor.ndim()).rev().collect::<Vec<_>>())?;
        Ok(export(reversed.to_dlpack())?.into_raw())
    };
    reversed().unwrap_or_else(|error| {
        ERROR.set(format!("{error}\0").into_bytes());
        null_mut()
    })
}

/// Takes over a tensor and hands it on; null for one that is refused.
///
/// # Safety
/// As [`AnyTensor::from_dlpack`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reverse_versioned(
    managed: *mut DLManagedTensorVersioned,
) -> *mut DLManagedTensorVersioned {
    // SAFETY: the caller's conditions are those of this function.
    unsafe { reverse(managed, Ok) }
}

/// As `reverse_versioned`, for the struct before version 1.
///
/// # Safety
/// As [`AnyTensor::from_dlpack`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reverse_unversioned(
    managed: *mut DLManagedTensor,
) -> *mut DLManagedTensor {
    // SAFETY: the caller's conditions are those of this function.
    unsafe { reverse(managed, Exported::unversioned) }
}

/// Why the last tensor of this thread was refused; valid until the next one is.
#[unsafe(no_mangle)]
pub extern "C" fn last_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr().cast())
}
