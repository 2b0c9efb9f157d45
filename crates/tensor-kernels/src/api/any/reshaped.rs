//! The result of a reshape of a tensor of a run-time dtype, which may be a view or a copy.

use std::{
    fmt,
    ops::{Add, BitAnd, BitOr, BitXor, Deref, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub},
};

use tensor_core::{AnyOperand, AnyTensorBase, Element, ReadKernel, TensorBase};

#[cfg(doc)]
use crate::AnyTensorExt;
use crate::{Reshaped, api::tensor::Simd};

/// A reshaped or rearranged tensor of a run-time dtype, which records whether its elements had to
/// be copied; see [`AnyTensorExt::reshape`] and [`AnyTensorExt::rearrange`].
///
/// It dereferences to the tensor, and is an operand as that is.
///
/// ```
/// use tensor_kernels::{AnyTensor, AnyTensorExt, DType};
///
/// let x = AnyTensor::arange(0, 6, 1, DType::F16)?.view([2, 3])?;
/// let (flat, columns) = (x.reshape([6])?, x.t()?.reshape([6])?);
/// assert!(!flat.copied() && columns.copied());
/// assert_eq!((&flat + &columns).to_vec::<i32>()?, [0, 4, 3, 7, 6, 10]);
/// let tensor: AnyTensor = columns.into_tensor();
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyReshaped<K = Simd> {
    tensor: AnyTensorBase<K>,
    copied: bool,
}

impl<K> AnyReshaped<K> {
    pub(super) fn of_typed<T: Element>(reshaped: Reshaped<T, K>) -> Self
    where
        AnyTensorBase<K>: From<TensorBase<T, K>>,
    {
        let copied = reshaped.copied();
        Self { tensor: reshaped.into_tensor().into(), copied }
    }

    /// Was a copy made? If not, it is a view of the input's storage.
    pub fn copied(&self) -> bool {
        self.copied
    }

    /// The tensor.
    pub fn into_tensor(self) -> AnyTensorBase<K> {
        self.tensor
    }
}

impl<K> fmt::Debug for AnyReshaped<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tensor, copied } = self;
        f.debug_struct("AnyReshaped").field("tensor", tensor).field("copied", copied).finish()
    }
}

impl<K> Deref for AnyReshaped<K> {
    type Target = AnyTensorBase<K>;

    fn deref(&self) -> &AnyTensorBase<K> {
        &self.tensor
    }
}

impl<'a, K> From<&'a AnyReshaped<K>> for AnyOperand<'a, K> {
    fn from(reshaped: &'a AnyReshaped<K>) -> Self {
        (&reshaped.tensor).into()
    }
}

impl<K> From<AnyReshaped<K>> for AnyOperand<'_, K> {
    fn from(reshaped: AnyReshaped<K>) -> Self {
        reshaped.tensor.into()
    }
}

impl<K> From<AnyReshaped<K>> for AnyTensorBase<K> {
    fn from(reshaped: AnyReshaped<K>) -> Self {
        reshaped.tensor
    }
}

/// The operators of what was reshaped.
macro_rules! operators {
    ($($trait:ident::$method:ident),*) => {$(
        impl<'a, R, K> $trait<R> for &'a AnyReshaped<K>
        where
            &'a AnyTensorBase<K>: $trait<R>,
        {
            type Output = <&'a AnyTensorBase<K> as $trait<R>>::Output;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                (&self.tensor).$method(other)
            }
        }
    )*};
}

operators! {
    Add::add, Sub::sub, Mul::mul, Div::div, Rem::rem, BitAnd::bitand, BitOr::bitor, BitXor::bitxor,
    Shl::shl, Shr::shr
}

/// The same for operators of one operand.
macro_rules! unary_operators {
    ($($trait:ident::$method:ident),*) => {$(
        impl<'a, K> $trait for &'a AnyReshaped<K>
        where
            &'a AnyTensorBase<K>: $trait,
        {
            type Output = <&'a AnyTensorBase<K> as $trait>::Output;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> Self::Output {
                (&self.tensor).$method()
            }
        }
    )*};
}

unary_operators! { Neg::neg, Not::not }

impl<K: ReadKernel> PartialEq for AnyReshaped<K> {
    /// # Panics
    /// As `RefCell` does, when a storage is being written.
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.tensor.eq(&other.tensor)
    }
}

impl<K: ReadKernel> PartialEq<AnyTensorBase<K>> for AnyReshaped<K> {
    /// # Panics
    /// As `RefCell` does, when a storage is being written.
    #[track_caller]
    fn eq(&self, other: &AnyTensorBase<K>) -> bool {
        self.tensor.eq(other)
    }
}
