//! Operators, comparisons and iteration of reshaped tensors and views: those of what they hold.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use tensor_core::{
    AsOperand, BinaryKernel, Element, Output, ReadKernel, Result, TensorBase, TensorIter,
    UnaryKernel, op,
};

use super::{reshaped::Reshaped, reshaped_view::ReshapedView};

/// A panic in a closure would be reported at the closure, not at the caller.
#[track_caller]
fn or_panic<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => panic!("{refused}"),
    }
}

/// Operators whose left operand is of one type.
macro_rules! left_operators {
    ($([$($life:lifetime)*] $left:ty;)*) => {$(
        left_operators! { @binary [$($life)*] $left:
            Add::add, Sub::sub, Mul::mul, Div::div, Rem::rem, BitAnd::bitand, BitOr::bitor,
            BitXor::bitxor, Shl::shl, Shr::shr
        }
        left_operators! { @unary [$($life)*] $left: Neg::neg, Not::not }
    )*};

    (@binary $lives:tt $left:ty: $($trait:ident::$method:ident),*) => {$(
        left_operators! { @one $lives $left, $trait::$method }
    )*};

    (@one [$($life:lifetime)*] $left:ty, $trait:ident::$method:ident) => {
        impl<$($life,)* R, T: Element, K> $trait<R> for $left
        where
            R: AsOperand<T>,
            K: BinaryKernel<op::$trait, T>,
        {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                or_panic(K::binary(self.as_operand(), other.as_operand()))
            }
        }
    };

    (@unary $lives:tt $left:ty: $($trait:ident::$method:ident),*) => {$(
        left_operators! { @one_unary $lives $left, $trait::$method }
    )*};

    (@one_unary [$($life:lifetime)*] $left:ty, $trait:ident::$method:ident) => {
        impl<$($life,)* T: Element, K: UnaryKernel<op::$trait, T>> $trait for $left {
            type Output = TensorBase<T, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> TensorBase<T, K> {
                or_panic(K::unary(self.as_operand()))
            }
        }
    };
}

left_operators! {
    [] Reshaped<T, K>;
    ['a] &'a Reshaped<T, K>;
    ['v] ReshapedView<'v, T, K>;
    ['a 'v] &'a ReshapedView<'v, T, K>;
}

/// Comparisons of what was reshaped with tensors, and with each other.
macro_rules! comparisons {
    ($($left:ty, $right:ty;)*) => {$(
        impl<T: Element + PartialEq, K: ReadKernel> PartialEq<$right> for $left {
            /// # Panics
            /// As `RefCell` does, when a storage is being written; [`TensorBase::equal`] returns an
            /// error.
            #[track_caller]
            fn eq(&self, other: &$right) -> bool {
                let (a, b) = (self.as_operand(), other.as_operand());
                let (a, b) = (or_panic(a.read()), or_panic(b.read()));
                or_panic(K::equal(a.elements(), b.elements()))
            }
        }
    )*};
}

comparisons! {
    Reshaped<T, K>, Reshaped<T, K>;
    Reshaped<T, K>, TensorBase<T, K>;
    TensorBase<T, K>, Reshaped<T, K>;
    ReshapedView<'_, T, K>, ReshapedView<'_, T, K>;
    ReshapedView<'_, T, K>, TensorBase<T, K>;
    TensorBase<T, K>, ReshapedView<'_, T, K>;
}

impl<'a, T: Element, K> IntoIterator for &'a Reshaped<T, K> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    /// # Panics
    /// As `RefCell` does, when the storage is being written; [`TensorBase::iter`] returns an error.
    #[track_caller]
    fn into_iter(self) -> TensorIter<'a, T> {
        or_panic(self.iter())
    }
}

impl<'a, T: Element, K> From<&'a Reshaped<T, K>> for Output<'a, T> {
    fn from(reshaped: &'a Reshaped<T, K>) -> Self {
        Self::from(&**reshaped)
    }
}
