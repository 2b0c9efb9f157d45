//! The tensors of this crate: those of `tensor-core`, with operators that this crate computes.

use tensor_core::TensorBase;

/// The second parameter of a tensor whose operators this crate computes.
#[derive(Clone, Copy, Debug)]
pub enum Simd {}

/// A tensor whose operators are computed by this crate.
pub type Tensor<T> = TensorBase<T, Simd>;

/// A tensor whose element type is known only at run time; made from [`Tensor`]s.
pub type AnyTensor = tensor_core::AnyTensorBase<Simd>;
