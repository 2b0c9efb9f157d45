//! A tensor that says whether it was copied.

use std::ops::Deref;

use tensor_core::TensorBase;

#[cfg(doc)]
use crate::TensorExt;
use crate::api::tensor::Simd;

/// A reshaped tensor that knows whether its elements had to be copied; made by
/// [`TensorExt::reshape`].
///
/// It can be used as the tensor that it holds.
#[derive(Clone, Debug)]
pub struct Reshaped<T, K = Simd> {
    pub(super) tensor: TensorBase<T, K>,
    pub(super) copied: bool,
}

impl<T, K> Reshaped<T, K> {
    /// Was a copy made? If not, it is a view of the input's storage.
    pub fn copied(&self) -> bool {
        self.copied
    }

    /// The tensor.
    pub fn into_tensor(self) -> TensorBase<T, K> {
        self.tensor
    }
}

impl<T, K> Deref for Reshaped<T, K> {
    type Target = TensorBase<T, K>;

    fn deref(&self) -> &TensorBase<T, K> {
        &self.tensor
    }
}
