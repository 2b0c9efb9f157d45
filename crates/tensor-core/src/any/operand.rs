//! What operations on tensors of run-time dtypes take: a tensor of any kind, or one value.

use super::{AnyTensorBase, AnyValue};
use crate::{DType, TensorBase, dtype::for_each_dtype};

/// An input of an operation on tensors of run-time dtypes: a tensor, typed or not, or one value.
///
/// A value is of any built-in element type, whose category alone takes part in promotion; see
/// [`result_type`](crate::result_type).
pub enum AnyOperand<'a, K> {
    /// A tensor.
    Tensor(&'a AnyTensorBase<K>),
    /// A handle to the storage of a typed tensor.
    Handle(AnyTensorBase<K>),
    /// One value.
    Value(AnyValue),
}

impl<K> AnyOperand<'_, K> {
    /// The tensor; `None` if it is a value.
    pub fn tensor(&self) -> Option<&AnyTensorBase<K>> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Handle(tensor) => Some(tensor),
            Self::Value(_) => None,
        }
    }

    /// The same operand, borrowed.
    pub fn reborrow(&self) -> AnyOperand<'_, K> {
        match self {
            Self::Tensor(tensor) => AnyOperand::Tensor(tensor),
            Self::Handle(tensor) => AnyOperand::Tensor(tensor),
            Self::Value(value) => AnyOperand::Value(*value),
        }
    }

    /// The sizes; none for a value.
    pub fn shape(&self) -> &[usize] {
        self.tensor().map_or(&[], AnyTensorBase::shape)
    }

    /// The dtype; that of a value is the default of its category.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Tensor(tensor) => tensor.dtype(),
            Self::Handle(tensor) => tensor.dtype(),
            Self::Value(value) => value.default_dtype(),
        }
    }
}

impl<'a, K> From<&'a AnyTensorBase<K>> for AnyOperand<'a, K> {
    fn from(tensor: &'a AnyTensorBase<K>) -> Self {
        Self::Tensor(tensor)
    }
}

impl<K> From<AnyTensorBase<K>> for AnyOperand<'_, K> {
    fn from(tensor: AnyTensorBase<K>) -> Self {
        Self::Handle(tensor)
    }
}

impl<K> From<AnyValue> for AnyOperand<'_, K> {
    fn from(value: AnyValue) -> Self {
        Self::Value(value)
    }
}

macro_rules! operands {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        $(#[$gate])*
        impl<K> From<&TensorBase<$type, K>> for AnyOperand<'_, K> {
            fn from(tensor: &TensorBase<$type, K>) -> Self {
                Self::Handle(tensor.clone().into())
            }
        }

        $(#[$gate])*
        impl<K> From<$type> for AnyOperand<'_, K> {
            fn from(value: $type) -> Self {
                Self::Value(value.into())
            }
        }
    )*};
}

for_each_dtype!(operands);
