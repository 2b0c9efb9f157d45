//! The operators of tensors.
//!
//! | operator | elements | result | assignment |
//! |---|---|---|---|
//! | `+ - *` | numbers | the same | yes |
//! | `/` | numbers | the same; f32 of integers | floats |
//! | `%` | integers, real floats | the same, with the divisor's sign as in PyTorch | yes |
//! | `& | ^`, `!` | bool, integers | the same | yes |
//! | `<< >>` | integers | the same | yes |
//! | unary `-` | numbers | the same | |

use tensor_core::{
    AssignKernel, BinaryKernel, Operand, Output, Result, TensorBase, UnaryKernel, op,
};

use crate::{
    api::{
        call::Call,
        ops::{
            self,
            table::{binary_operations, unary_operations},
        },
        tensor::{Simd, Tensor},
    },
    element::{Bits, Inexact, Integer, Number, Ordered},
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
        binary_operator! {
            $op<$t: $bound> -> $output: $name
            $(, in place $inplace_bound)? $(, operator $operator)?
        }
    )*};
}

macro_rules! binary_operator {
    (
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident,
        in place $inplace_bound:ident, operator $operator:ident
    ) => {
        impl<$t: $bound> BinaryKernel<op::$operator, $t> for Simd {
            type Output = $output;

            fn binary(a: Operand<'_, $t>, b: Operand<'_, $t>) -> Result<TensorBase<$output, Self>> {
                ops::$op::eval(Call::current(stringify!($name))?, a, b)
            }
        }

        impl<$t: $inplace_bound> AssignKernel<op::$operator, $t> for Simd {
            fn assign(x: Output<'_, $t>, b: Operand<'_, $t>) -> Result<()> {
                ops::$op::write(Call::current(stringify!($name))?, None, b, x)
            }
        }
    };
    (
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident
        $(, in place $inplace_bound:ident)?
    ) => {};
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
        impl<$t: $bound> UnaryKernel<op::$operator, $t> for Simd {
            fn unary(a: Operand<'_, $t>) -> Result<Tensor<$t>> {
                Call::current(stringify!($name))?.eval1(ops::$op, a)
            }
        }
    )?)*};
}

binary_operations! { binary }
unary_operations! { unary }
