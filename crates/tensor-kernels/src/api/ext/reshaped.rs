//! The result of a reshape, which may be a view or a copy.

use std::{fmt, ops::Deref};

use tensor_core::{AsOperand, Element, Operand, TensorBase};

#[cfg(doc)]
use crate::TensorExt;
use crate::api::tensor::Simd;

/// A reshaped or rearranged tensor that records whether its elements had to be copied; see
/// [`TensorExt::reshape`] and [`TensorExt::rearrange`].
///
/// It dereferences to the tensor, and has its operators. With a value on the left, dereference it:
///
/// ```
/// use tensor_kernels::{Tensor, TensorExt};
///
/// let rows = Tensor::arange(0.0, 6.0, 1.0)?.reshape([2, 3])?;
/// assert_eq!(&rows + 1.0, 1.0 + &*rows);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone)]
pub struct Reshaped<T: Element, K = Simd> {
    pub(in crate::api) tensor: TensorBase<T, K>,
    pub(in crate::api) copied: bool,
}

impl<T: Element, K> Reshaped<T, K> {
    /// Was a copy made? If not, it is a view of the input's storage.
    pub fn copied(&self) -> bool {
        self.copied
    }

    /// The tensor.
    pub fn into_tensor(self) -> TensorBase<T, K> {
        self.tensor
    }
}

impl<T: Element + fmt::Debug, K> fmt::Debug for Reshaped<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tensor, copied } = self;
        f.debug_struct("Reshaped").field("tensor", tensor).field("copied", copied).finish()
    }
}

impl<T: Element, K> Deref for Reshaped<T, K> {
    type Target = TensorBase<T, K>;

    fn deref(&self) -> &TensorBase<T, K> {
        &self.tensor
    }
}

impl<T: Element, K> AsOperand<T> for Reshaped<T, K> {
    fn as_operand(&self) -> Operand<'_, T> {
        self.tensor.as_operand()
    }
}

impl<T: Element, K> AsOperand<T> for &Reshaped<T, K> {
    fn as_operand(&self) -> Operand<'_, T> {
        self.tensor.as_operand()
    }
}

impl<'a, T: Element, K> From<&'a Reshaped<T, K>> for Operand<'a, T> {
    fn from(reshaped: &'a Reshaped<T, K>) -> Self {
        reshaped.as_operand()
    }
}
