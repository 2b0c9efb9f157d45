//! The tensors of this crate: those of `tensor-core` whose operators it computes.

use tensor_core::TensorBase;

/// The kernels of this crate, as the second parameter of a tensor: they compute its operators.
#[derive(Clone, Copy, Debug)]
pub enum Simd {}

/// A tensor whose operators are computed by this crate.
pub type Tensor<T> = TensorBase<T, Simd>;

/// A tensor of a run-time element type, made of [`Tensor`]s.
pub type AnyTensor = tensor_core::AnyTensorBase<Simd>;
