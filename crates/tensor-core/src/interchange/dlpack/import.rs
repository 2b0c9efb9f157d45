//! Tensors from producers of DLPack.
//!
//! The pointer has an owner, which calls the deleter when it is dropped: at once if anything is
//! refused, with the last tensor otherwise. Sizes, strides and offsets are arithmetic on untrusted
//! numbers; nothing is read through `data` before they have been found consistent.

use std::{ptr::NonNull, sync::Arc};

use super::{
    super::{InterchangeError, Result},
    DTYPES,
    abi::{DEVICE_CPU, DLDataType, DLTensor, FLAG_READ_ONLY},
    managed::Managed,
};
use crate::{
    AnyTensorBase, BuiltIn, DType, DTypeError, DimVec, Error, Layout, Storage, TensorBase,
    contiguous_strides, dtype::for_each_dtype,
};

/// More dimensions than any producer has. The pointers of a struct that has more are not followed.
const MAX_NDIM: i32 = 64;

pub(super) fn malformed(why: impl Into<String>) -> InterchangeError {
    InterchangeError::malformed("DLPack", why)
}

/// Calls the deleter when it is dropped.
///
/// # Invariant
/// The pointer is that of a producer, and nobody else has taken it.
struct Owner<M: Managed>(NonNull<M>);

impl<M: Managed> Drop for Owner<M> {
    fn drop(&mut self) {
        // SAFETY: the invariant, and the owner is dropped once.
        unsafe { M::delete(self.0) };
    }
}

// SAFETY: the pointer is used to call the deleter only, which `from_dlpack` requires to be callable
// on any thread.
unsafe impl<M: Managed> Send for Owner<M> {}
// SAFETY: a shared owner gives access to nothing.
unsafe impl<M: Managed> Sync for Owner<M> {}

impl<K> AnyTensorBase<K> {
    /// Takes over a tensor of another library, without copying: a pointer to
    /// [`DLManagedTensorVersioned`](crate::interchange::dlpack::DLManagedTensorVersioned), or to
    /// [`DLManagedTensor`](crate::interchange::dlpack::DLManagedTensor), its form
    /// before version 1. See [`TensorBase::to_dlpack`] for an example.
    ///
    /// The deleter is called once: when the last tensor that shares the memory is dropped, or at
    /// once if the tensor is refused. It may be null. With the flag for it the storage is
    /// [read-only](Storage::is_read_only).
    ///
    /// # Safety
    /// 1. `managed` is null, or comes from a producer and has been taken by nobody: it points to
    ///    the struct of its version, `shape` to `ndim` numbers, and so does `strides` unless it is
    ///    null. The deleter may be called on any thread.
    /// 2. If there are elements, and the memory is that of the CPU, the bytes from the lowest
    ///    element to the end of the highest are in one allocation and initialised, until the
    ///    deleter is called.
    /// 3. While this tensor or another one of its storage is [read](TensorBase::read), nobody
    ///    writes those bytes; while one is [written](TensorBase::write), nobody else accesses them.
    ///    Without the flag that forbids it they may be written.
    ///
    /// # Errors
    /// With the deleter called:
    /// - a null pointer, another major version than 1;
    /// - [`InterchangeError::Device`], [`InterchangeError::UnsupportedDType`] (also of several
    ///   lanes);
    /// - a number of dimensions that is negative or beyond 64, missing or negative sizes, strides
    ///   and offsets that lead outside the address space;
    /// - elements at a null or [misaligned](Error::Misaligned) address;
    /// - [`InterchangeError::NotBool`], for any byte from the lowest element to the highest.
    pub unsafe fn from_dlpack<M: Managed>(managed: *mut M) -> Result<Self> {
        let managed = NonNull::new(managed).ok_or_else(|| malformed("a null pointer"))?;
        let owner = Owner(managed);
        // SAFETY: the pointer is that of a producer (condition 1).
        let (tensor, flags) = unsafe { M::parts(managed) }?;
        let (device_type, device_id) = (tensor.device.device_type, tensor.device.device_id);
        if device_type != DEVICE_CPU {
            return Err(InterchangeError::Device { device_type, device_id });
        }
        let dtype = dtype_of(tensor.dtype)?;
        // SAFETY: condition 1.
        let layout = unsafe { layout_of(&tensor) }?;
        if layout.numel() == 0 {
            return Ok(Self::zeros([0], dtype)?.with_layout(layout)?);
        }
        let start = address_of(&tensor, &layout, dtype.size())?;
        let read_only = flags & FLAG_READ_ONLY != 0;
        macro_rules! typed {
            ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
                match dtype {
                    $($(#[$gate])* DType::$variant => {
                        // SAFETY: `start` is the lowest element, so conditions 2 and 3 are those of
                        // `adopt`.
                        let tensor = unsafe {
                            adopt::<$type, K, M>(owner, start.cast(), layout, read_only)
                        };
                        tensor.map(Self::from)
                    })*
                    #[allow(unreachable_patterns, reason = "a build with all features")]
                    dtype => Err(Error::from(DTypeError::NotInBuild { dtype }).into()),
                }
            };
        }
        for_each_dtype!(typed)
    }
}

fn dtype_of(dtype: DLDataType) -> Result<DType> {
    let DLDataType { code, bits, lanes } = dtype;
    let known = DTYPES.iter().find(|known| (known.0, known.1, 1) == (code, bits, lanes));
    let unsupported = || {
        let dtype = format!("of code {code}, {bits} bits and {lanes} lanes");
        InterchangeError::UnsupportedDType { format: "DLPack", dtype }
    };
    Ok(known.ok_or_else(unsupported)?.2)
}

/// The layout of the elements, over the lowest of them.
///
/// # Safety
/// Condition 1 of `from_dlpack`.
unsafe fn layout_of(tensor: &DLTensor) -> Result<Layout> {
    if !(0..=MAX_NDIM).contains(&tensor.ndim) {
        let why = format!("{} dimensions: there can be 0 to {MAX_NDIM}", tensor.ndim);
        return Err(malformed(why));
    }
    // SAFETY: condition 1.
    let sizes = unsafe { numbers(tensor.shape, tensor.ndim) };
    let sizes = sizes.ok_or_else(|| malformed("the pointer to the sizes is null"))?;
    // SAFETY: condition 1.
    let strides = unsafe { numbers(tensor.strides, tensor.ndim) };
    let negative = || malformed(format!("a negative size, of {sizes:?}"));
    let shape: Option<DimVec<usize>> =
        sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    let shape = shape.ok_or_else(negative)?;
    // Checks the product of the sizes, which the default strides rely on.
    let row_major = Layout::contiguous(&shape)?;
    let strides = match strides {
        None => contiguous_strides(&shape),
        Some(given) => strides_of(row_major.shape(), &given)?,
    };
    let lowest = lowest(&shape, &strides).ok_or_else(|| Error::TooLarge {
        what: "an offset",
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    })?;
    Ok(Layout::new(&shape, &strides, lowest)?)
}

/// The `count` numbers at a pointer; `None` if it is null and there should be some.
///
/// # Safety
/// The pointer is null, or points to as many numbers.
unsafe fn numbers(pointer: *const i64, count: i32) -> Option<Vec<i64>> {
    let number = |i| {
        // SAFETY: the pointer is not null, so `count` numbers follow.
        let at = unsafe { pointer.add(i) };
        // SAFETY: as above. A producer need not align its numbers.
        unsafe { at.read_unaligned() }
    };
    (count == 0 || !pointer.is_null()).then(|| (0..count as usize).map(number).collect())
}

/// The strides. Where a dimension has one element, or there are none, any number is allowed; one
/// that a layout cannot have becomes 0.
fn strides_of(shape: &[usize], given: &[i64]) -> Result<DimVec<isize>> {
    let is_empty = shape.contains(&0);
    let stride = |(&size, &stride): (&usize, &i64)| {
        let fits = isize::try_from(stride).ok().filter(|&stride| stride != isize::MIN);
        match fits {
            None if size == 1 || is_empty => Ok(0),
            fits => fits.ok_or_else(|| malformed(format!("a stride of {stride} elements"))),
        }
    };
    shape.iter().zip(given).map(stride).collect()
}

/// How far the lowest element lies below the first.
fn lowest(shape: &[usize], strides: &[isize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().zip(strides).filter(|&(&size, _)| size > 1).try_fold(
        0usize,
        |below, (&size, &stride)| {
            below.checked_add(stride.min(0).unsigned_abs().checked_mul(size - 1)?)
        },
    )
}

/// The address of the lowest element, from which the elements do not leave the address space.
fn address_of(tensor: &DLTensor, layout: &Layout, itemsize: usize) -> Result<NonNull<u8>> {
    if tensor.data.is_null() {
        let why = format!("{} elements at a null pointer", layout.numel());
        return Err(malformed(why));
    }
    let outside = || malformed(format!("{layout:?} leads outside the address space"));
    let (_, highest) = layout.bounds().ok_or_else(outside)?;
    let bytes = (highest + 1).checked_mul(itemsize).filter(|&bytes| bytes <= isize::MAX as usize);
    let offset = usize::try_from(tensor.byte_offset).map_err(|_| outside())?;
    // The layout is over the lowest element: its offset is that of the first one.
    let below = layout.offset().checked_mul(itemsize).ok_or_else(outside)?;
    let first = tensor.data.addr().checked_add(offset).ok_or_else(outside)?;
    let lowest = first.checked_sub(below).filter(|&address| address > 0).ok_or_else(outside)?;
    lowest.checked_add(bytes.ok_or_else(outside)?).ok_or_else(outside)?;
    NonNull::new(tensor.data.cast::<u8>().with_addr(lowest)).ok_or_else(outside)
}

/// A tensor over the elements from `start` on, the lowest of the layout.
///
/// # Safety
/// Conditions 2 and 3 of `from_dlpack`, for the elements of the layout, until the owner is dropped.
unsafe fn adopt<T: BuiltIn, K, M: Managed>(
    owner: Owner<M>,
    start: NonNull<T>,
    layout: Layout,
    read_only: bool,
) -> Result<TensorBase<T, K>> {
    let (address, align) = (start.addr().get(), align_of::<T>());
    if !address.is_multiple_of(align) {
        return Err(Error::Misaligned { address, align }.into());
    }
    let len = layout.bounds().map_or(0, |(_, highest)| highest + 1);
    if T::DTYPE == DType::Bool {
        // SAFETY: the bytes from the lowest element to the highest are initialised (condition 2),
        // and nobody writes them before the tensor exists.
        let bytes = unsafe { std::slice::from_raw_parts(start.as_ptr().cast::<u8>(), len) };
        super::super::check_bools(bytes, 0)?;
    }
    let elements = NonNull::slice_from_raw_parts(start, len);
    // SAFETY: conditions 2 and 3 are those of a storage.
    let storage = unsafe { Storage::from_foreign(Arc::new(owner), elements, read_only) };
    // SAFETY: tensor invariants. 1: aligned and of valid elements, as checked above: of the types
    // with a dtype only bool has invalid ones. 2: `len` reaches to the highest element.
    Ok(unsafe { TensorBase::from_storage(storage, layout) })
}
