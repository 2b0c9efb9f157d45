//! DLPack: arrays of other libraries in the same process, such as PyTorch, NumPy, JAX or CuPy, in
//! both directions and without a copy.
//!
//! A producer hands over a pointer to a struct, which says where the elements are; the consumer
//! calls its deleter when it has no more use for them. Python wraps the pointer in a capsule named
//! `dltensor_versioned`, or `dltensor` for the struct before version 1.
//!
//! Both are read and made ([`Exported::unversioned`]).
//!
//! [`AnyTensorBase::to_dlpack`] is safe; what a consumer does with the pointer is up to it.
//! [`AnyTensorBase::from_dlpack`] is the one `unsafe` function: it believes that pointers point to
//! what they should, and checks all the rest.

mod abi;
mod export;
mod import;
mod managed;

pub use abi::{
    DEVICE_CPU, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
    DLTensor, FLAG_IS_COPIED, FLAG_READ_ONLY, VERSION,
};
pub use export::Exported;
pub use managed::Managed;

#[cfg(doc)]
use crate::AnyTensorBase;
use crate::DType;

/// DLPack's code and bits of each dtype.
const DTYPES: &[(u8, u8, DType)] = &[
    (6, 8, DType::Bool),
    (1, 8, DType::U8),
    (1, 16, DType::U16),
    (1, 32, DType::U32),
    (1, 64, DType::U64),
    (0, 8, DType::I8),
    (0, 16, DType::I16),
    (0, 32, DType::I32),
    (0, 64, DType::I64),
    (2, 16, DType::F16),
    (4, 16, DType::Bf16),
    (2, 32, DType::F32),
    (2, 64, DType::F64),
    (5, 64, DType::C64),
    (5, 128, DType::C128),
];
