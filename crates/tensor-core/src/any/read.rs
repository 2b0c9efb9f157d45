//! Reading tensors of run-time dtypes: iteration, comparison, the bytes as another dtype, the
//! elements as a vector.

use super::{AnyTensorBase, AnyValue, BuiltIn};
use crate::{
    DType, DTypeError, Error, ReadKernel, Result, Scalar, TensorBase, TensorIter,
    dtype::for_each_dtype, operators::or_panic,
};

macro_rules! reading {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        /// The iterator of the typed tensor.
        enum Typed<'a> {
            $($(#[$gate])* $variant(TensorIter<'a, $type>),)*
        }

        impl Iterator for AnyIter<'_> {
            type Item = AnyValue;

            fn next(&mut self) -> Option<AnyValue> {
                match &mut self.0 {
                    $($(#[$gate])* Typed::$variant(iter) => iter.next().map(Into::into),)*
                }
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                match &self.0 {
                    $($(#[$gate])* Typed::$variant(iter) => iter.size_hint(),)*
                }
            }

            fn fold<B, F: FnMut(B, AnyValue) -> B>(self, init: B, mut f: F) -> B {
                match self.0 {
                    $(
                        $(#[$gate])*
                        Typed::$variant(iter) => iter.fold(init, |result, x| f(result, x.into())),
                    )*
                }
            }
        }

        impl<K> AnyTensorBase<K> {
            /// The elements in logical order, as values, which are borrowed for reading while the
            /// iterator lives.
            ///
            /// ```
            /// # use tensor_core as tensor_kernels;
            /// use tensor_kernels::{AnyTensor, AnyValue, DType};
            ///
            /// let x = AnyTensor::arange(0, 4, 1, DType::U8)?.view([2, 2])?.t()?;
            /// assert_eq!(x.iter()?.map(AnyValue::to::<i64>).collect::<Vec<_>>(), [0, 2, 1, 3]);
            /// # Ok::<(), tensor_core::Error>(())
            /// ```
            ///
            /// # Errors
            /// A storage that is being written.
            pub fn iter(&self) -> Result<AnyIter<'_>> {
                Ok(AnyIter(match self {
                    $($(#[$gate])* Self::$variant(tensor) => Typed::$variant(tensor.iter()?),)*
                }))
            }
        }

        impl<K: ReadKernel> PartialEq for AnyTensorBase<K> {
            /// The same dtype, the same shape and equal elements?
            ///
            /// # Panics
            /// As `RefCell` does, when a storage is being written.
            #[track_caller]
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $($(#[$gate])* (Self::$variant(a), Self::$variant(b)) => *a == *b,)*
                    _ => false,
                }
            }
        }
    };
}

for_each_dtype!(reading);

/// The elements of a tensor of a run-time dtype in logical order, as values.
pub struct AnyIter<'a>(Typed<'a>);

impl ExactSizeIterator for AnyIter<'_> {}

impl<'a, K> IntoIterator for &'a AnyTensorBase<K> {
    type Item = AnyValue;
    type IntoIter = AnyIter<'a>;

    /// # Panics
    /// As `RefCell` does, when the storage is being written; [`AnyTensorBase::iter`] returns an
    /// error.
    #[track_caller]
    fn into_iter(self) -> AnyIter<'a> {
        or_panic(self.iter())
    }
}

/// The view of another dtype, for the dtypes of which every bit pattern is a value.
macro_rules! plain_view {
    ($any:ident, $dtype:ident: $($(#[$gate:meta])* $variant:ident)*) => {
        match $dtype {
            $($(#[$gate])* DType::$variant => TensorBase::of_any_bytes($any).map(Self::$variant),)*
            dtype => Err(DTypeError::NotInBuild { dtype }.into()),
        }
    };
}

impl<K> AnyTensorBase<K> {
    /// The same bytes as elements of another dtype (PyTorch: `view(dtype)`). As
    /// [`TensorBase::view_dtype`].
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, AnyValue, DType};
    ///
    /// let ones = AnyTensor::ones([2], DType::F32)?;
    /// assert_eq!(ones.view_dtype(DType::U32)?.get(&[0])?, AnyValue::Int(0x3f80_0000));
    /// assert!(ones.view_dtype(DType::Bool).is_err());
    /// assert!(AnyTensor::ones([2], DType::Bool)?.view_dtype(DType::U8).is_err());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DTypeError::Unsupported`] to bool, of which not every byte is a value, and from bool, to
    /// which such a byte could be written through the view;
    /// [`DTypeError::NotInBuild`]; those of [`TensorBase::view_dtype`].
    pub fn view_dtype(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        if dtype == DType::Bool || self.dtype() == DType::Bool {
            return Err(DTypeError::Unsupported { op: "view_dtype", dtype: DType::Bool }.into());
        }
        plain_view! { self, dtype:
            U8 U16 U32 U64 I8 I16 I32 I64 F32 F64
            #[cfg(feature = "half")] F16 #[cfg(feature = "half")] Bf16
            #[cfg(feature = "complex")] C64 #[cfg(feature = "complex")] C128
        }
    }
}

impl<K: ReadKernel> AnyTensorBase<K> {
    /// The elements in logical order, as a vector of their type; without copying where
    /// [`TensorBase::into_vec`] does not copy.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] if the elements are not of type `T`; those of
    /// [`TensorBase::into_vec`].
    #[track_caller]
    pub fn into_vec<T: BuiltIn>(self) -> Result<Vec<T>> {
        let (expected, found) = (<T as Scalar>::DTYPE, self.dtype());
        let typed = self.typed::<T>().cloned();
        // The only handle must be the typed one.
        drop(self);
        match typed {
            Some(tensor) => TensorBase::into_vec(tensor),
            None => Err(Error::DTypeMismatch { expected, found }),
        }
    }
}
