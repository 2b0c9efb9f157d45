//! Strided tensors at the speed of memory: copies from any strides to any strides, elementwise
//! operations, and reductions.
//!
//! This crate re-exports `tensor-core`: depend on this one alone.
//!
//! ```
//! use tensor_kernels::{Tensor, TensorExt};
//!
//! let x = Tensor::arange(0.0f32, 12.0, 1.0)?.view(&[3, 4])?;
//! let turned = x.t()?;
//! let packed = turned.contiguous()?; // a copy
//! assert!(packed.is_contiguous() && !packed.same_storage(&x));
//! assert!(x.contiguous()?.same_storage(&x)); // no copy
//! let sum = &x + &packed.t()?;
//! assert_eq!(sum.get(&[2, 3])?, 22.0);
//! # Ok::<(), tensor_kernels::Error>(())
//! ```
//!
//! # How bytes move
//! `api -> nest -> plan -> partition -> run -> kernel`. Layouts become loops in normal form
//! ([`Loop`]); the first strategy of a table that fits makes a [`CopyPlan`] of them, plain data
//! that prints itself; the plan is cut for threads; each piece chooses its instructions once and
//! walks its loops; kernels move registers. Nothing below the api can fail, and nothing above `run`
//! is unsafe.
//!
//! # The same results
//! No result depends on the number of threads. Copies, conversions, arithmetic and reductions are
//! the same to the bit at every [`SimdLevel`], but for the bits of a NaN. Elementary functions may
//! differ in the last place between [`SimdLevel::Scalar`] and the others, and stay within the
//! bounds that [`math`] states.
//!
//! # Features
//! `rayon` (threads), `half` (f16 and bf16), `complex` (complex 32 and 64): all on by default.
//! Without `rayon` everything runs on the calling thread.

mod api;
#[cfg(doctest)]
mod compile_faults;
mod element;
mod exec;
mod kernel;
pub mod math;
mod memory;
mod nest;
mod partition;
mod plan;
mod reduction_order;
mod run;

pub use api::{
    copy::{copy_between, copy_into, copy_to_layout, fill, to_contiguous, to_format},
    copy_plan::CopyPlan,
    elementwise::{
        elementwise_path, map, map_inplace, map_into, zip, zip_inplace, zip_into, zip3,
        zip3_inplace, zip3_into,
    },
    ext::{Reshaped, TensorExt},
    ops,
    repeat::repeat,
    tensor::{AnyTensor, Simd, Tensor},
};
pub use element::{
    Accumulate, Bits, Cast, Compare, Count, Equality, Inexact, Integer, Number, Ordered, Real,
};
pub use exec::{Broadcast, Exec, Machine, Overlapping, Par, SimdError, SimdLevel};
pub use kernel::stream_copy;
pub use nest::{Loop, Nest};
// What is defined above under the same name takes the place of the re-export.
pub use tensor_core::*;

/// The README's examples, compiled and run with all others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
