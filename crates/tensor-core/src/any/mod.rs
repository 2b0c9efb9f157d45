//! Tensors whose element type is known at run time only, as read from a file.
//!
//! [`AnyTensorBase`] is an enum with one variant for each dtype. Views and queries concern its
//! layout (`views`); operators promote their operands (`promote`) and call the kernels that the
//! type parameter names (`operators`). [`with_tensor!`](crate::with_tensor) matches the variants
//! and runs generic code on the typed tensor, where no operation does what is needed.

mod construct;
mod operand;
mod operators;
mod promote;
mod read;
mod value;
mod views;

pub use self::{
    operand::{AnyInput, AnyOperand, AnyOutput},
    operators::{AnyBinaryKernel, AnyUnaryKernel},
    promote::{can_cast, promote_types, result_type},
    read::AnyIter,
    value::{AnyValue, BuiltIn},
};
use crate::{Bare, DType, Error, Layout, Result, Scalar, TensorBase, dtype::for_each_dtype};

/// A tensor of a run-time element type, without operators.
pub type AnyTensor = AnyTensorBase<Bare>;

macro_rules! any_tensor {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        /// A tensor of one of the built-in element types.
        ///
        /// It has the views of a typed tensor. [`typed`](Self::typed) borrows the typed tensor, and
        /// [`with_tensor!`](crate::with_tensor) runs generic code on it.
        ///
        /// ```
        /// # use tensor_core as tensor_kernels;
        /// use tensor_kernels::{AnyTensor, AnyValue, DType, Tensor, with_tensor};
        ///
        /// let any: AnyTensor = Tensor::full([2, 3], 1.5f32)?.into();
        /// assert_eq!(any.dtype(), DType::F32);
        /// let column = any.t()?.narrow(0, 1, 1)?;
        /// assert_eq!((column.shape(), column.strides()), (&[1, 2][..], &[1, 3][..]));
        /// assert_eq!(column.get(&[0, 1])?, AnyValue::Float(1.5));
        /// let bytes = with_tensor!(&any, t => t.storage().bytes());
        /// assert_eq!(bytes, 24);
        /// # Ok::<(), tensor_core::Error>(())
        /// ```
        #[non_exhaustive]
        #[allow(missing_docs, reason = "a variant is named after its element type")]
        pub enum AnyTensorBase<K> {
            $($(#[$gate])* $variant(TensorBase<$type, K>),)*
        }

        $($(#[$gate])*
        impl<K> From<TensorBase<$type, K>> for AnyTensorBase<K> {
            fn from(tensor: TensorBase<$type, K>) -> Self {
                AnyTensorBase::$variant(tensor)
            }
        }

        $(#[$gate])*
        impl<K> TryFrom<AnyTensorBase<K>> for TensorBase<$type, K> {
            type Error = Error;

            fn try_from(any: AnyTensorBase<K>) -> Result<Self> {
                match any {
                    AnyTensorBase::$variant(tensor) => Ok(tensor),
                    other => {
                        let (expected, found) = (<$type>::DTYPE, other.dtype());
                        Err(Error::DTypeMismatch { expected, found })
                    }
                }
            }
        })*

        impl<K> Clone for AnyTensorBase<K> {
            fn clone(&self) -> Self {
                match self {
                    $(
                        $(#[$gate])*
                        AnyTensorBase::$variant(tensor) => AnyTensorBase::$variant(tensor.clone()),
                    )*
                }
            }
        }

        impl<K> std::fmt::Debug for AnyTensorBase<K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(
                        $(#[$gate])*
                        AnyTensorBase::$variant(tensor) => {
                            f.debug_tuple(stringify!($variant)).field(tensor).finish()
                        }
                    )*
                }
            }
        }

        impl<K> AnyTensorBase<K> {
            /// The element type (PyTorch: `dtype`).
            pub fn dtype(&self) -> DType {
                match self {
                    $($(#[$gate])* AnyTensorBase::$variant(_) => <$type>::DTYPE,)*
                }
            }

            /// Sizes, strides and offset.
            pub fn layout(&self) -> &Layout {
                match self {
                    $($(#[$gate])* AnyTensorBase::$variant(tensor) => tensor.layout(),)*
                }
            }

            /// The same storage under another layout.
            ///
            /// # Errors
            /// [`Error::OutOfBounds`] if the layout reaches beyond the storage.
            pub fn with_layout(&self, layout: Layout) -> Result<Self> {
                match self {
                    $(
                        $(#[$gate])*
                        AnyTensorBase::$variant(tensor) => {
                            tensor.with_layout(layout).map(Self::from)
                        }
                    )*
                }
            }
        }

        impl<K> std::fmt::Display for AnyTensorBase<K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($(#[$gate])* AnyTensorBase::$variant(tensor) => tensor.fmt(f),)*
                }
            }
        }
    };
}

for_each_dtype!(any_tensor);

/// Runs an expression on the typed tensor inside an [`AnyTensor`]. The expression is compiled once
/// for each element type: `with_tensor!(&any, t => t.numel())`.
#[macro_export]
macro_rules! with_tensor {
    ($any:expr, $tensor:ident => $body:expr) => {
        $crate::with_tensor_arms!($any, $tensor => $body)
    };
}

// `with_tensor!` expands in other crates, where `#[cfg(feature = …)]` would test the features of
// those crates. So the arms are chosen here.
macro_rules! arms {
    ($d:tt $($variant:ident)*) => {
        /// The arms of [`with_tensor!`](crate::with_tensor): the variants that this build contains.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! with_tensor_arms {
            ($d any:expr, $d tensor:ident => $d body:expr) => {
                match $d any {
                    $($d crate::AnyTensorBase::$variant($d tensor) => $d body,)*
                    _ => unreachable!("every variant of this build is matched"),
                }
            };
        }
    };
}

#[cfg(all(feature = "half", feature = "complex"))]
arms!($ Bool U8 U16 U32 U64 I8 I16 I32 I64 F16 Bf16 F32 F64 C64 C128);
#[cfg(all(feature = "half", not(feature = "complex")))]
arms!($ Bool U8 U16 U32 U64 I8 I16 I32 I64 F16 Bf16 F32 F64);
#[cfg(all(not(feature = "half"), feature = "complex"))]
arms!($ Bool U8 U16 U32 U64 I8 I16 I32 I64 F32 F64 C64 C128);
#[cfg(not(any(feature = "half", feature = "complex")))]
arms!($ Bool U8 U16 U32 U64 I8 I16 I32 I64 F32 F64);
