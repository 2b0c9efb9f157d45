//! PyTorch's strided tensors: layouts, storages and views.
//!
//! A tensor is a header over a shared one-dimensional storage. The header, a [`Layout`], holds
//! shape, strides and offset; transposing, slicing, expanding and viewing change the header only.
//! This crate neither copies nor computes; `tensor-kernels` does, and re-exports all of it. So the
//! examples import from `tensor_kernels`; with this crate alone, write `tensor_core`.
//!
//! * [`Layout`]: every view operation and every question about contiguity, exactly as PyTorch
//!   answers it, with signed strides.
//! * [`Tensor`]: a layout over a [`Storage`] that any number of tensors share. Borrowing is checked
//!   at run time; a conflict is an error, nothing blocks.
//! * [`TensorView`] and [`TensorViewMut`]: borrowed views over any slice, for kernels and for
//!   buffers of your own.
//! * [`AnyTensor`]: a tensor whose [`DType`] is known at run time only, with every view;
//!   [`promote_types`] and [`result_type`] are PyTorch's type promotion.
//!
//! ```
//! use tensor_core::Tensor;
//!
//! let t = Tensor::arange(0i64, 12, 1)?.view([3, 4])?;
//! let transposed = t.transpose(0, 1)?;
//! assert_eq!(transposed.strides(), [1, 4]);
//! assert!(transposed.same_storage(&t) && !transposed.is_contiguous());
//! assert!(transposed.view(&[-1]).unwrap_err().to_string().contains("Use .reshape(...) instead."));
//! # Ok::<(), tensor_core::Error>(())
//! ```
//!
//! # Where it differs from PyTorch
//! * Strides are signed: `flip` and negative steps give views; PyTorch copies or refuses.
//! * Overlap is decided exactly, with a pair of indices as witness; PyTorch accepts the hard cases.
//! * A mutable view in which two indices share an element is refused. An expanded tensor can only
//!   be written element by element, with [`set`](Tensor::set).
//! * No autograd, no version counter, no resizing of results.
//!
//! # Features
//! | feature | default | what |
//! |---|---|---|
//! | `half` | yes | elements `f16` and `bf16`, of the crate `half` |
//! | `complex` | yes | elements `Complex<f32>` and `Complex<f64>`, of the crate `num-complex` |
//! | `derive` | no | the derive macros of `bytemuck`, for [elements](Element) of your own |
//! | `ndarray`, `dlpack` | no | arrays of other libraries, see the module `interchange` |
//! | `npy`, `npz`, `safetensors` | no | files, see the module `interchange` |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod any;
mod as_operand;
mod borrow;
mod buffer;
#[cfg(doctest)]
mod compile_faults;
mod construct;
mod display;
mod dtype;
mod element;
mod elements;
mod error;
mod guard;
mod index;
#[cfg(any(feature = "dlpack", feature = "ndarray", feature = "npy", feature = "safetensors"))]
pub mod interchange;
mod iter;
mod layout;
mod methods;
mod operand;
mod operators;
mod output;
mod shape;
mod sizes;
// For the crates of this workspace alone.
#[doc(hidden)]
pub mod sort;
mod storage;
mod strides;
mod tensor;
mod view;

pub use any::{
    AnyBinaryKernel, AnyInput, AnyIter, AnyOperand, AnyOutput, AnyTensor, AnyTensorBase,
    AnyUnaryKernel, AnyValue, BuiltIn, can_cast, promote_types, result_type,
};
pub use as_operand::AsOperand;
pub use buffer::{cached_memory, empty_memory_cache, set_memory_cache_limit, vec_with_capacity};
pub use construct::{NestedArray, Progression};
pub use display::Show;
pub use dtype::{Category, DType};
pub use element::{Element, Scalar};
pub use elements::{ViewRef, ViewRefMut};
pub use error::{DTypeError, Error, MovementError, PatternError, PatternRule, PatternSide, Result};
pub use guard::{TensorIter, TensorRef, TensorRefMut};
pub use index::{Index, NewAxis, Slice};
pub use iter::{Iter, IterMut};
pub use layout::{
    ContiguityTrace, DimGroup, Layout, Lint, LintKind, Offsets, Overlap, ReduceDims,
    ReductionShape, Remedy, Runs, StrideBreak, WhyNotContiguous, WhyNotView,
};
pub use operand::{Aliasing, Handle, Operand, Reading, ResolvedOperand, WriteScope};
#[doc(hidden)]
pub use operators::or_panic;
pub use operators::{AssignKernel, Bare, BinaryKernel, ReadKernel, UnaryKernel, op};
pub use output::{Output, OutputSlice, Writing};

pub use shape::{DimVec, broadcast_shapes, broadcast_two, infer_shape, wrap_dim};
pub use sizes::{Int, OptionalDim, Sizes};
pub use storage::{ALIGNMENT, Storage, Uninit};
pub use strides::{MemoryFormat, contiguous_strides, format_strides, fortran_strides};
pub use tensor::{Tensor, TensorBase};
pub use view::{TensorView, TensorViewBase, TensorViewMut, TensorViewMutBase};
