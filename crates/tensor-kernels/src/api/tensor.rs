//! The tensors of this crate: those of `tensor-core`, with operators that this crate computes.

use tensor_core::{Element, ReadKernel, Result, TensorBase, ViewRef};

use super::equal::equal;
use crate::{exec::Exec, run};

/// The second parameter of a tensor whose operators this crate computes.
#[derive(Clone, Copy, Debug)]
pub enum Simd {}

impl ReadKernel for Simd {
    fn to_vec<T: Element>(from: ViewRef<'_, T>) -> Result<Vec<T>> {
        run::copied_to_vec(Exec::current()?, from)
    }

    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool> {
        equal(Exec::current()?, a, b)
    }
}

/// A tensor whose operators are computed by this crate.
pub type Tensor<T> = TensorBase<T, Simd>;

/// A tensor whose element type is known only at run time; made from [`Tensor`]s.
pub type AnyTensor = tensor_core::AnyTensorBase<Simd>;
