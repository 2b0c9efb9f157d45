//! Kernels.

mod micro;
mod simd;

pub use micro::stream_copy;
pub use simd::{SimdError, SimdLevel};
