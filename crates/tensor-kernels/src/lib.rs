//! Strided tensors at memory bandwidth: copies between any strides, elementwise operations,
//! reductions, and operations that move elements, such as `cat` and `gather`.
//!
//! This crate re-exports `tensor-core`: depend on this one alone.
//!
//! ```
//! use tensor_kernels::{Tensor, TensorExt};
//!
//! let x = Tensor::arange(0.0f32, 12.0, 1.0)?.view([3, 4])?;
//! let transposed = x.t()?;
//! let copy = transposed.contiguous()?; // a copy
//! assert!(copy.is_contiguous() && !copy.same_storage(&x));
//! assert!(x.contiguous()?.same_storage(&x)); // no copy
//! let sum = &x + &copy.t()?;
//! assert_eq!(sum.get(&[2, 3])?, 22.0);
//! # Ok::<(), tensor_kernels::Error>(())
//! ```
//!
//! # How an operation runs
//! `api -> nest -> plan -> partition -> run -> kernel`. Layouts become loops in normal form
//! ([`Loop`]). Of the plans that can run a copy the one with the least predicted time is taken: a
//! [`CopyPlan`] is plain data that can be printed and explained; `explain_elementwise` and
//! `explain_reduction` explain the plans of other operations. The plan is cut into tasks for
//! threads. Each task chooses its instruction set once and walks its loops, and kernels copy or
//! compute registers.
//! Below `api` nothing fails, except for want of memory, and above `run` nothing is unsafe.
//!
//! # What is not here
//! Products of matrices, sorting and random numbers. Other crates do these over slices, which are
//! free to get and to make tensors of: `guard.as_view().as_slice()` of a contiguous tensor, its
//! [`strides`](TensorBase::strides) of any other, and [`Tensor::from_vec`](TensorBase::from_vec).
//!
//! - Products of matrices: `matrixmultiply`, `gemm` and `faer` take pointers or slices with two
//!   strides, so a transposed view needs no copy.
//! - Sorting: `sort_unstable_by(f32::total_cmp)` of the vector that
//!   [`to_vec`](TensorBase::to_vec) returns, or `par_sort_unstable` of `rayon`. What sorted indices
//!   choose, [`ops::take_along_dim`] gathers.
//! - Random numbers: `Tensor::from_fn(&shape, |_| rng.random())` with the crate `rand`, and the
//!   distributions of `rand_distr`.
//!
//! # Reproducible results
//! No result depends on the number of threads. Copies, conversions, arithmetic and reductions are
//! bitwise the same at every [`SimdLevel`], except for the bits of a NaN. Elementary functions, and
//! `softmax`, `log_softmax`, `logsumexp` and general norms, may differ in the last place between
//! [`SimdLevel::Scalar`] and the other levels; all stay within the bounds that [`math`] states.
//!
//! # Dtypes known at run time
//! An [`AnyTensor`] has the same operations, in [`AnyTensorExt`], and PyTorch's type promotion.
//!
//! # Debug builds
//! Operations are generic, so their loops are compiled in the crate that calls them. Without
//! optimisation 4 million floats take 846 ms for `exp` (release build: 0.6), 240 for the sum with a
//! transposed tensor (1.1), 154 for `contiguous` of it (0.4) and 14 for `sum` (0.2; Zen 5, two
//! threads). With these lines in `Cargo.toml` a debug build calls loops of this crate:
//!
//! ```toml
//! [profile.dev.package.tensor-kernels]
//! opt-level = 3
//! debug = false
//! debug-assertions = false
//! ```
//!
//! This concerns copies of all types, and on f32, f64, f16, bf16, i64, i32, u8 and bool the named
//! operations, `where_cond`, reductions, `softmax`, `cumsum` and the conversions between these
//! types (of halves those from and to floats): 4 million elements take at most twice as long as in
//! a release build (`scripts/debug_build.sh`), sums along short rows and `softmax` and `cumsum` of
//! halves up to four times, `equal` five. Other element types and other operations on rows stay as
//! slow as the program's own code. So do closures (`map`, `zip`): they are code of the program and
//! are compiled in it, with the loop around them; a named operation is fast, or `opt-level = 1`
//! for the program. This crate then takes two minutes of CPU time to compile, once.
//!
//! # Features
//! | feature | default | what |
//! |---|---|---|
//! | `elementwise` | yes | [`ops`], operators, `map` and `zip`, conversions, `cat`, `gather` … |
//! | `reductions` | yes | `sum`, `argmax` …, operations on rows, [`reduce`]; with `elementwise` |
//! | `half` | yes | elements `f16` and `bf16`, of the crate `half` |
//! | `complex` | yes | elements `Complex<f32>` and `Complex<f64>`, of the crate `num-complex` |
//! | `rayon` | yes | threads; without it everything runs on the calling thread |
//! | `avx512` | yes | kernels for AVX-512 (x86-64), used if the CPU has it; else AVX2 is the most |
//! | `ledger` | yes | [`count_copies`] and [`forbid_copies`]; without it no copy looks for them |
//! | `in-place` | yes | [`permute_inplace`], [`permute_bytes_inplace`] |
//! | `derive` | no | the derive macros of `bytemuck`, for elements of your own |
//! | `ndarray`, `dlpack` | no | arrays of other libraries, see the module `interchange` |
//! | `npy`, `npz`, `safetensors` | no | files, see the module `interchange` |
//!
//! No feature changes a result, or what the rest of the API is.
//!
//! # Copies alone
//! Without features there are the views and layouts of `tensor-core`, and copies: [`copy_into`],
//! [`copy_into_uninit`], [`to_contiguous`], [`to_vec`], [`copy_bytes`], [`fill`], [`repeat`],
//! [`rearrange`], [`CopyPlan`], [`stream_copy`], the methods of [`TensorExt`] that copy; with the
//! feature `ledger` also the [ledger of copies](count_copies), and with `in-place`
//! [`permute_inplace`]:
//!
//! ```toml
//! [dependencies]
//! tensor-kernels = { path = "…/crates/tensor-kernels", default-features = false }
//! ```
//!
//! Perhaps with the features `rayon` and `avx512`.
//!
//! This needs three crates beside `pulp` and what `pulp` needs, and no procedural macro that parses
//! Rust. `avx512` and `in-place` are features because they are a fifth and a tenth of what such a
//! build takes.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
#[cfg(doctest)]
mod compile_faults;
#[cfg(feature = "elementwise")]
mod element;
mod exec;
mod kernel;
mod lane_shuffles;
#[cfg(feature = "elementwise")]
pub mod math;
mod memory;
mod nest;
mod partition;
mod picked_copy;
mod plan;
#[cfg(feature = "elementwise")]
mod reduction_order;
mod register_picks;
mod run;
mod tuning;

#[cfg(feature = "in-place")]
pub use api::in_place::{permute_bytes_inplace, permute_inplace};
#[cfg(feature = "ledger")]
pub use api::ledger::{CopyEntry, CopyLedger, CopyScope, count_copies, forbid_copies};
#[cfg(feature = "elementwise")]
pub use api::{
    any::CastAny,
    elementwise::{
        elementwise_path, map, map_inplace, map_into, zip, zip_inplace, zip_into, zip3,
        zip3_inplace, zip3_into,
    },
    elementwise_explanation::{ElementwiseExplanation, explain_elementwise, explain_operation},
    movement::PadMode,
    ops,
};
pub use api::{
    any::{AnyReshaped, AnyTensorExt},
    bytes::{Byte, ByteView, ByteViewMut, copy_bytes, copy_bytes_uninit, to_byte_vec},
    copy::{
        copy_between, copy_into, copy_into_uninit, copy_to_layout, fill, to_contiguous, to_format,
        to_vec,
    },
    copy_explanation::{CopyExplanation, ExplainedCandidate},
    copy_plan::{CopyCandidate, CopyPlan},
    copy_reason::CopyReason,
    ext::{Reshaped, ReshapedView, TensorExt, TensorMutExt, TensorViewMutExt},
    rearrange::{
        PatternArg, RearrangePattern, ReducePattern, RepeatPattern, rearrange, reduce_with,
        repeat_axes,
    },
    repeat::repeat,
    tensor::{AnyTensor, Simd, Tensor, TensorRef, TensorRefMut, TensorView, TensorViewMut},
};
#[cfg(feature = "reductions")]
pub use api::{
    rearrange::{Reduction, reduce},
    reduction_explanation::{ReductionExplanation, explain_reduction},
    rows::Tolerance,
};
#[cfg(feature = "elementwise")]
pub use element::{
    Accumulate, Bits, Cast, Compare, Equality, Inexact, Integer, Number, Ordered, Real, RowNumber,
};
pub use exec::{Broadcast, Exec, Machine, Overlapping, Par, SimdError, SimdLevel};
pub use kernel::stream_copy;
pub use nest::{Loop, Nest};
pub use plan::CostTerm;
// A name defined above takes precedence over the re-export.
pub use tensor_core::*;

/// What most programs need: `use tensor_kernels::prelude::*`.
///
/// ```
/// use tensor_kernels::prelude::*;
///
/// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
/// let y = x.t()?.contiguous()?.exp()?;
/// assert_eq!(y.index(s![0, ..])?.shape(), [2]);
/// # Ok::<(), Error>(())
/// ```
///
/// It has no `Result`, which would hide that of the standard library, and no functions.
pub mod prelude {
    pub use crate::{
        AnyTensor, AnyTensorExt, DType, Element, Error, Layout, Tensor, TensorExt, TensorMutExt,
        TensorView, TensorViewMut, TensorViewMutExt, s, tensor,
    };
}

/// The README's examples, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// The examples for PyTorch users.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pytorch.md")]
mod pytorch {}
