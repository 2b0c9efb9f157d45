//! The tensors of this crate: those of `tensor-core`, with operators that this crate computes.

use tensor_core::{
    Element, ReadKernel, Result, TensorBase, TensorViewBase, TensorViewMutBase, ViewRef,
};

use super::{equal::equal, ledger::record_vector};
use crate::{exec::Exec, run};

/// The second parameter of a tensor whose operators this crate computes.
#[derive(Clone, Copy, Debug)]
pub enum Simd {}

impl ReadKernel for Simd {
    fn to_vec<T: Element>(from: ViewRef<'_, T>) -> Result<Vec<T>> {
        run::copied_to_vec(Exec::current()?, from)
    }

    #[inline]
    #[track_caller]
    fn will_copy<T: Element>(op: &'static str, from: ViewRef<'_, T>) -> Result<()> {
        record_vector(op, size_of::<T>(), from.layout())
    }

    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool> {
        equal(Exec::current()?, a, b)
    }
}

/// A tensor whose operators are computed by this crate.
pub type Tensor<T> = TensorBase<T, Simd>;

/// A read-only view whose operators are computed by this crate.
pub type TensorView<'a, T> = TensorViewBase<'a, T, Simd>;

/// A mutable view whose operators are computed by this crate.
pub type TensorViewMut<'a, T> = TensorViewMutBase<'a, T, Simd>;

/// Read access to a [`Tensor`] while it lives.
pub type TensorRef<'a, T> = tensor_core::TensorRef<'a, T, Simd>;

/// Write access to a [`Tensor`] while it lives.
pub type TensorRefMut<'a, T> = tensor_core::TensorRefMut<'a, T, Simd>;

/// A tensor whose element type is known only at run time; made from [`Tensor`]s.
pub type AnyTensor = tensor_core::AnyTensorBase<Simd>;

/// A tensor of nested lists of values (PyTorch: `torch.tensor([…])`).
///
/// The type of the elements is inferred as for an array. Number literals that nothing else
/// determines are `i32` and `f64`, where PyTorch has int64 and float32. Lists of different lengths
/// do not compile. A tensor without dimensions is `Tensor::full(&[], value)`.
///
/// ```
/// use tensor_kernels::{Tensor, tensor};
///
/// let x = tensor![[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// assert_eq!((x.shape(), x.get(&[2, 1])?), (&[3, 2][..], 6.0));
/// let index: Tensor<i64> = tensor![2, 0];
/// assert_eq!(index.to_vec()?, [2, 0]);
/// assert_eq!(tensor![[true; 3]; 2].shape(), [2, 3]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// ```compile_fail,E0308
/// tensor_kernels::tensor![[1, 2], [3]];
/// ```
#[macro_export]
macro_rules! tensor {
    () => {
        $crate::Tensor::from_vec(::std::vec::Vec::new(), &[0]).expect("no elements")
    };
    ($($values:tt)+) => {
        $crate::Tensor::from_nested([$($values)+])
    };
}
