//! The structs of `dlpack.h`, version 1.

use std::ffi::c_void;

/// A version of DLPack. Another major version means another struct.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DLPackVersion {
    /// 1.
    pub major: u32,
    /// Grows with flags, devices and types.
    pub minor: u32,
}

/// Where the memory is.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DLDevice {
    /// The kind of device: 1 is the CPU.
    pub device_type: i32,
    /// The number of the device; 0 for the CPU.
    pub device_id: i32,
}

/// An element type.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DLDataType {
    /// Integer 0, unsigned 1, float 2, bfloat 4, complex 5, bool 6; others are not read here.
    pub code: u8,
    /// The bits of an element.
    pub bits: u8,
    /// The elements of a vector; 1 for numbers.
    pub lanes: u16,
}

/// Memory, and the layout of the elements in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The start of the memory; may be null if there are no elements.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The element type.
    pub dtype: DLDataType,
    /// As many sizes.
    pub shape: *mut i64,
    /// As many strides, in elements; null for a row-major layout, up to version 1.1.
    pub strides: *mut i64,
    /// From the start of the memory to the first element.
    pub byte_offset: u64,
}

/// A tensor that its consumer frees: the struct before version 1, which has no flags.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// Frees the struct and the memory; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor that its consumer frees. The fields before the flags are those of all versions.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version of the struct.
    pub version: DLPackVersion,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// Frees the struct and the memory; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// [`FLAG_READ_ONLY`], [`FLAG_IS_COPIED`], and others that concern other element types.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// The version of the structs here.
pub const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };

/// The consumer must not write the memory.
pub const FLAG_READ_ONLY: u64 = 1;

/// The producer made a copy, so nobody else has the memory.
pub const FLAG_IS_COPIED: u64 = 2;

/// The kind of device that is the CPU.
pub const DEVICE_CPU: i32 = 1;
