//! `+ - * / % & | ^ << >>`, unary `-` and `!`, and assignments like `+=`, on tensors of run-time
//! dtypes: between two of them, and with values on either side. Values are bool, i64, f64, complex
//! f64 or [`AnyValue`]; methods take all element types.

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
        binary_operators!(@one $trait::$method, ['a 'b], &'a AnyTensorBase<K>,
            &'b AnyTensorBase<K>, self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, ['a], &'a AnyTensorBase<K>, AnyTensorBase<K>,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, ['b], AnyTensorBase<K>, &'b AnyTensorBase<K>,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, [], AnyTensorBase<K>, AnyTensorBase<K>,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, ['a], &'a AnyTensorBase<K>, AnyValue,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, [], AnyTensorBase<K>, AnyValue,
            self => self.into(), other => other.into());
        binary_operators!(@assign $trait, $assign::$assign_method, ['b], &'b AnyTensorBase<K>);
        binary_operators!(@assign $trait, $assign::$assign_method, [], AnyTensorBase<K>);
        binary_operators!(@assign $trait, $assign::$assign_method, [], AnyValue);

        value_operators!($trait::$method, $assign::$assign_method; bool, i64, f64);
        #[cfg(feature = "complex")]
        value_operators!($trait::$method, $assign::$assign_method; num_complex::Complex<f64>);
    )*};

    (@one $trait:ident::$method:ident, [$($life:lifetime)*], $left:ty, $right:ty,
     $self:ident => $a:expr, $other:ident => $b:expr) => {
        impl<$($life,)* K: AnyBinaryKernel<op::$trait>> $trait<$right> for $left {
            type Output = AnyTensorBase<K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method($self, $other: $right) -> AnyTensorBase<K> {
                or_panic(K::binary($a, $b))
            }
        }
    };

    (@assign $op:ident, $trait:ident::$method:ident, [$($life:lifetime)*], $right:ty) => {
        impl<$($life,)* K: AnyBinaryKernel<op::$op>> $trait<$right> for AnyTensorBase<K> {
            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(&mut self, other: $right) {
                or_panic(K::assign(self, other.into()))
            }
        }
    };
}

/// Operators with a value: `&x * 2`, `2.0 - &x`, `x += 1`. One type for each category, so that the
/// type of a literal is inferred.
macro_rules! value_operators {
    ($trait:ident::$method:ident, $assign:ident::$assign_method:ident; $($type:ty),*) => {$(
        binary_operators!(@one $trait::$method, ['a], &'a AnyTensorBase<K>, $type,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, [], AnyTensorBase<K>, $type,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, ['b], $type, &'b AnyTensorBase<K>,
            self => self.into(), other => other.into());
        binary_operators!(@one $trait::$method, [], $type, AnyTensorBase<K>,
            self => self.into(), other => other.into());
        binary_operators!(@assign $trait, $assign::$assign_method, [], $type);
    )*};
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
