//! The operators of tensors of run-time dtypes.

use tensor_core::{AnyBinaryKernel, AnyOperand, AnyTensorBase, AnyUnaryKernel, Result, op};

use super::{AnyTensorExt, elementwise};
use crate::api::{
    ops::table::{binary_operations, unary_operations},
    tensor::Simd,
};

/// For each row of the table that has an operator: the operator, and its assignment.
macro_rules! binary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$(
        binary_operator! { $name $(, $inplace)? $(, operator $operator)? }
    )*};
}

macro_rules! binary_operator {
    ($name:ident, $inplace:ident, operator $operator:ident) => {
        // `inline`: compiled only in programs that use the operator, for the dtypes of its bound.
        impl AnyBinaryKernel<op::$operator> for Simd {
            #[inline]
            fn binary(
                a: AnyOperand<'_, Self>,
                b: AnyOperand<'_, Self>,
            ) -> Result<AnyTensorBase<Self>> {
                elementwise::$name(&a, &b)
            }

            #[inline]
            fn assign(x: &AnyTensorBase<Self>, b: AnyOperand<'_, Self>) -> Result<()> {
                AnyTensorExt::$inplace(x, b)
            }
        }
    };
    ($name:ident $(, $inplace:ident)?) => {};
}

/// For each row of the table that has an operator: the operator.
macro_rules! unary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$($(
        impl AnyUnaryKernel<op::$operator> for Simd {
            #[inline]
            fn unary(a: &AnyTensorBase<Self>) -> Result<AnyTensorBase<Self>> {
                AnyTensorExt::$name(a)
            }
        }
    )?)*};
}

binary_operations! { binary }
unary_operations! { unary }
