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
        ops,
        tensor::{Simd, Tensor},
    },
    element::{Bits, Inexact, Integer, Number, Ordered},
    exec::Exec,
};

macro_rules! binary_kernels {
    ($($op:ident: $kernel:ident<$bound:ident> -> |$t:ident| $output:ty;)*) => {$(
        impl<$t: $bound> BinaryKernel<op::$op, $t> for Simd {
            type Output = $output;

            fn binary(a: Operand<'_, $t>, b: Operand<'_, $t>) -> Result<TensorBase<$output, Self>> {
                ops::$kernel::eval(Exec::current()?, a, b)
            }
        }
    )*};
}

binary_kernels! {
    Add: Add<Number> -> |T| T;
    Sub: Sub<Number> -> |T| T;
    Mul: Mul<Number> -> |T| T;
    Div: Div<Number> -> |T| T::Float;
    Rem: Rem<Ordered> -> |T| T;
    BitAnd: BitwiseAnd<Bits> -> |T| T;
    BitOr: BitwiseOr<Bits> -> |T| T;
    BitXor: BitwiseXor<Bits> -> |T| T;
    Shl: Shl<Integer> -> |T| T;
    Shr: Shr<Integer> -> |T| T;
}

macro_rules! assign_kernels {
    ($($op:ident: $kernel:ident<$bound:ident>;)*) => {$(
        impl<T: $bound> AssignKernel<op::$op, T> for Simd {
            fn assign(x: Output<'_, T>, b: Operand<'_, T>) -> Result<()> {
                ops::$kernel::write(Exec::current()?, None, b, x)
            }
        }
    )*};
}

assign_kernels! {
    Add: Add<Number>;
    Sub: Sub<Number>;
    Mul: Mul<Number>;
    Div: Div<Inexact>;
    Rem: Rem<Ordered>;
    BitAnd: BitwiseAnd<Bits>;
    BitOr: BitwiseOr<Bits>;
    BitXor: BitwiseXor<Bits>;
    Shl: Shl<Integer>;
    Shr: Shr<Integer>;
}

impl<T: Number> UnaryKernel<op::Neg, T> for Simd {
    fn unary(a: Operand<'_, T>) -> Result<Tensor<T>> {
        Call::new(Exec::current()?, "neg").eval1(ops::Neg, a)
    }
}

impl<T: Bits> UnaryKernel<op::Not, T> for Simd {
    fn unary(a: Operand<'_, T>) -> Result<Tensor<T>> {
        Call::new(Exec::current()?, "bitwise_not").eval1(ops::BitwiseNot, a)
    }
}
