//! Tensors whose element type is known at run time only: what comes out of files.

use crate::{Bare, DType, Error, Layout, Result, Scalar, TensorBase};

/// A tensor of a run-time element type, without operators.
pub type AnyTensor = AnyTensorBase<Bare>;

macro_rules! any_tensor {
    ($($(#[$gate:meta])* $variant:ident($type:ty),)*) => {
        /// A tensor of one of the built-in element types.
        ///
        /// [`with_tensor!`](crate::with_tensor) runs one piece of generic code on whichever it is.
        ///
        /// ```
        /// use tensor_core::{AnyTensor, DType, Tensor, with_tensor};
        ///
        /// let any: AnyTensor = Tensor::full(&[2, 3], 1.5f32)?.into();
        /// assert_eq!(any.dtype(), DType::F32);
        /// let turned = with_tensor!(&any, t => AnyTensor::from(t.transpose(0, 1)?));
        /// assert_eq!(turned.layout().shape(), [3, 2]);
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
                    other => Err(Error::DTypeMismatch { expected: <$type>::DTYPE, found: other.dtype() }),
                }
            }
        })*

        impl<K> Clone for AnyTensorBase<K> {
            fn clone(&self) -> Self {
                match self { $($(#[$gate])* AnyTensorBase::$variant(tensor) => AnyTensorBase::$variant(tensor.clone()),)* }
            }
        }

        impl<K> std::fmt::Debug for AnyTensorBase<K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $($(#[$gate])* AnyTensorBase::$variant(tensor) => f.debug_tuple(stringify!($variant)).field(tensor).finish(),)* }
            }
        }

        impl<K> AnyTensorBase<K> {
            /// The element type (PyTorch: `dtype`).
            pub fn dtype(&self) -> DType {
                match self { $($(#[$gate])* AnyTensorBase::$variant(_) => <$type>::DTYPE,)* }
            }

            /// Sizes, strides and offset.
            pub fn layout(&self) -> &Layout {
                match self { $($(#[$gate])* AnyTensorBase::$variant(tensor) => tensor.layout(),)* }
            }

            /// The same storage under another layout.
            ///
            /// # Errors
            /// [`Error::OutOfBounds`] if the layout reaches beyond the storage.
            pub fn with_layout(&self, layout: Layout) -> Result<Self> {
                match self { $($(#[$gate])* AnyTensorBase::$variant(tensor) => tensor.with_layout(layout).map(Self::from),)* }
            }
        }

        impl<K> std::fmt::Display for AnyTensorBase<K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $($(#[$gate])* AnyTensorBase::$variant(tensor) => tensor.fmt(f),)* }
            }
        }
    };
}

any_tensor! {
    Bool(bool),
    U8(u8), U16(u16), U32(u32), U64(u64),
    I8(i8), I16(i16), I32(i32), I64(i64),
    #[cfg(feature = "half")] F16(half::f16),
    #[cfg(feature = "half")] Bf16(half::bf16),
    F32(f32), F64(f64),
    #[cfg(feature = "complex")] C64(num_complex::Complex<f32>),
    #[cfg(feature = "complex")] C128(num_complex::Complex<f64>),
}

/// Runs an expression on the typed tensor inside an [`AnyTensor`], whatever its element type:
/// `with_tensor!(&any, t => t.numel())`.
#[macro_export]
macro_rules! with_tensor {
    ($any:expr, $tensor:ident => $body:expr) => {
        $crate::with_tensor_arms!($any, $tensor => $body)
    };
}

macro_rules! arms {
    ($d:tt $($variant:ident)*) => {
        /// The arms of [`with_tensor!`](crate::with_tensor): the variants that this build has.
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
