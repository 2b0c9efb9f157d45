//! `+ - * / % & | ^ << >>`, unary `-` and `!`, and assignments like `+=`, on tensors of run-time
//! dtypes: on the right any [`AnyOperand`], on the left also a value: bool, i64, f64, complex f64
//! or [`AnyValue`].

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::{AnyOperand, AnyTensorBase, AnyValue};
use crate::{Result, op, operators::or_panic};

/// Kernels that compute the binary operator `Op` on operands of run-time dtypes, with promotion.
pub trait AnyBinaryKernel<Op>: Sized {
    /// The result in newly allocated memory, operands broadcast to one shape.
    ///
    /// # Errors
    /// Dtypes that the operator or promotion refuses, shapes that do not broadcast, a storage that
    /// is being written, no memory.
    #[track_caller]
    fn binary(a: AnyOperand<'_, Self>, b: AnyOperand<'_, Self>) -> Result<AnyTensorBase<Self>>;

    /// Writes the result to the first operand, whose dtype stays as it is.
    ///
    /// # Errors
    /// Those of [`binary`](Self::binary), a result of a higher category, operands that overlap
    /// without being the same.
    #[track_caller]
    fn assign(x: &AnyTensorBase<Self>, b: AnyOperand<'_, Self>) -> Result<()>;
}

/// Kernels that compute the unary operator `Op` on tensors of run-time dtypes.
pub trait AnyUnaryKernel<Op>: Sized {
    /// The result in newly allocated memory.
    ///
    /// # Errors
    /// A dtype that the operator refuses, a storage that is being written, no memory.
    #[track_caller]
    fn unary(a: &AnyTensorBase<Self>) -> Result<AnyTensorBase<Self>>;
}

macro_rules! binary_operators {
    ($($trait:ident::$method:ident, $assign:ident::$assign_method:ident;)*) => {$(
        binary_operators! { @right ['a] &'a AnyTensorBase<K>: $trait::$method }
        binary_operators! { @right [] AnyTensorBase<K>: $trait::$method }

        impl<'b, R, K: AnyBinaryKernel<op::$trait> + 'b> $assign<R> for AnyTensorBase<K>
        where
            R: Into<AnyOperand<'b, K>>,
        {
            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $assign_method(&mut self, other: R) {
                or_panic(K::assign(self, other.into()))
            }
        }

        binary_operators! { @left AnyValue: $trait::$method }
        binary_operators! { @left bool: $trait::$method }
        binary_operators! { @left i64: $trait::$method }
        binary_operators! { @left f64: $trait::$method }
        #[cfg(feature = "complex")]
        binary_operators! { @left num_complex::Complex<f64>: $trait::$method }
    )*};

    // Any operand on the right of a tensor.
    (@right [$($life:lifetime)?] $left:ty: $trait:ident::$method:ident) => {
        impl<$($life,)? 'b, R, K: AnyBinaryKernel<op::$trait> + 'b> $trait<R> for $left
        where
            R: Into<AnyOperand<'b, K>>,
        {
            type Output = AnyTensorBase<K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: R) -> AnyTensorBase<K> {
                or_panic(K::binary(self.into(), other.into()))
            }
        }
    };

    // A value on the left of a tensor. One type for each category, so that the type of a literal
    // is inferred.
    (@left $left:ty: $trait:ident::$method:ident) => {
        binary_operators! { @value ['b] $left, &'b AnyTensorBase<K>: $trait::$method }
        binary_operators! { @value [] $left, AnyTensorBase<K>: $trait::$method }
    };
    (@value [$($life:lifetime)?] $left:ty, $right:ty: $trait:ident::$method:ident) => {
        impl<$($life,)? K: AnyBinaryKernel<op::$trait>> $trait<$right> for $left {
            type Output = AnyTensorBase<K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: $right) -> AnyTensorBase<K> {
                or_panic(K::binary(self.into(), other.into()))
            }
        }
    };
}

binary_operators! {
    Add::add, AddAssign::add_assign;
    Sub::sub, SubAssign::sub_assign;
    Mul::mul, MulAssign::mul_assign;
    Div::div, DivAssign::div_assign;
    Rem::rem, RemAssign::rem_assign;
    BitAnd::bitand, BitAndAssign::bitand_assign;
    BitOr::bitor, BitOrAssign::bitor_assign;
    BitXor::bitxor, BitXorAssign::bitxor_assign;
    Shl::shl, ShlAssign::shl_assign;
    Shr::shr, ShrAssign::shr_assign;
}

macro_rules! unary_operators {
    ($($trait:ident::$method:ident),*) => {$(
        impl<K: AnyUnaryKernel<op::$trait>> $trait for &AnyTensorBase<K> {
            type Output = AnyTensorBase<K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> AnyTensorBase<K> {
                or_panic(K::unary(self))
            }
        }

        impl<K: AnyUnaryKernel<op::$trait>> $trait for AnyTensorBase<K> {
            type Output = AnyTensorBase<K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> AnyTensorBase<K> {
                or_panic(K::unary(&self))
            }
        }
    )*};
}

unary_operators!(Neg::neg, Not::not);
