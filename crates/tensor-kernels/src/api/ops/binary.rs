//! Operations on two operands.

use tensor_core::{Operand, Output, Result, TensorBase};

use crate::{
    api::{
        call::{Argument, Call},
        tensor::Simd,
    },
    element::{Bits, Compare, Equality, Inexact, Integer, Number, Ordered, Real},
    exec::Exec,
    kernel::Function2,
    math::FmaMode,
};

/// The further error of operations that refuse divisors of 0.
macro_rules! divisors {
    ($check:ident) => {
        "[`Error::DivisionByZero`](crate::Error::DivisionByZero) for integers."
    };
}

/// For each operation: a type, compiled for each instruction set, and its forms.
///
/// `in place` adds the third form, for results of the operands' type. `divides` refuses divisors of
/// 0.
macro_rules! binary {
    ($(
        $(#[$doc:meta])*
        $op:ident $name:ident $into:ident $(in place $inplace:ident)? $(divides $check:ident)?:
            $bound:ident -> $output:ty,
        |$t:ident, $m:ident, $a:ident, $b:ident| $value:expr;
    )*) => {$(
        pub(crate) struct $op;

        impl<$t: $bound> Function2<$t, $t> for $op {
            type Output = $output;

            #[inline(always)]
            fn call<$m: FmaMode>(&self, $a: $t, $b: $t) -> $output {
                $value
            }
        }

        impl $op {
            pub(crate) fn eval<$t: $bound, K>(
                exec: &Exec,
                a: Operand<'_, $t>,
                b: Operand<'_, $t>,
            ) -> Result<TensorBase<$output, K>> {
                Call::new(exec, stringify!($name))$(.$check(&b))?.eval2($op, a, b)
            }

            pub(crate) fn write<$t: $bound>(
                exec: &Exec,
                a: Argument<'_, $t>,
                b: Operand<'_, $t>,
                out: Output<'_, $output>,
            ) -> Result<()> {
                Call::new(exec, stringify!($name))$(.$check(&b))?.into2($op, a, Some(b), out)
            }
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// Shapes that do not broadcast, a storage that is being written, no memory.
        $(#[doc = divisors!($check)])?
        pub fn $name<'a, 'b, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            b: impl Into<Operand<'b, $t>>,
        ) -> Result<TensorBase<$output, Simd>> {
            $op::eval(exec, a.into(), b.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        /// Also a result of another shape, or that shares elements with an operand without being
        /// it, or with itself; see [`ops`](crate::ops).
        pub fn $into<'a, 'b, 'o, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            b: impl Into<Operand<'b, $t>>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            $op::write(exec, Some(a.into()), b.into(), out.into())
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`] in place of the first operand.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($into), "`].")]
            pub fn $inplace<'x, 'b, $t: $bound>(
                exec: &Exec,
                x: impl Into<Output<'x, $t>>,
                b: impl Into<Operand<'b, $t>>,
            ) -> Result<()> {
                $op::write(exec, None, b.into(), x.into())
            }
        )?
    )*};
}

binary! {
    /// `a + b` (PyTorch: `torch.add`).
    Add add add_into in place add_inplace: Number -> T, |T, M, a, b| a.plus(b);
    /// `a − b` (PyTorch: `torch.sub`).
    Sub sub sub_into in place sub_inplace: Number -> T, |T, M, a, b| a.minus(b);
    /// `a · b` (PyTorch: `torch.mul`).
    Mul mul mul_into in place mul_inplace: Number -> T, |T, M, a, b| a.times(b);
    /// `a / b`, of integers as f32 (PyTorch: `torch.div`).
    Div div div_into: Number -> T::Float, |T, M, a, b| a.to_float().over(b.to_float());
    /// `a / b`, rounded down (PyTorch: `torch.div(rounding_mode='floor')`).
    DivFloor div_floor div_floor_into in place div_floor_inplace divides dividing_by: Ordered -> T,
        |T, M, a, b| a.floor_quotient(b);
    /// `a / b`, rounded towards 0 (PyTorch: `torch.div(rounding_mode='trunc')`).
    DivTrunc div_trunc div_trunc_into in place div_trunc_inplace divides dividing_by: Ordered -> T,
        |T, M, a, b| a.trunc_quotient(b);
    /// The remainder of [`div_floor`], with the sign of b (PyTorch: `torch.remainder`, Python's
    /// `%`).
    Rem rem rem_into in place rem_inplace divides dividing_by: Ordered -> T,
        |T, M, a, b| a.remainder(b);
    /// a to the power of b. An integer to a negative power is 0, unless it is 1 or −1 (PyTorch:
    /// `torch.pow`).
    Pow pow pow_into in place pow_inplace: Number -> T, |T, M, a, b| a.power::<M>(b);
    /// The angle of the point (b, a), from −π to π (PyTorch: `torch.atan2`).
    Atan2 atan2 atan2_into in place atan2_inplace: Real -> T, |T, M, a, b| a.atan2::<M>(b);
    /// The smaller; NaN if one is NaN (PyTorch: `torch.minimum`).
    Minimum minimum minimum_into in place minimum_inplace: Compare -> T, |T, M, a, b| a.least(b);
    /// The larger; NaN if one is NaN (PyTorch: `torch.maximum`).
    Maximum maximum maximum_into in place maximum_inplace: Compare -> T, |T, M, a, b| a.most(b);
    /// `a == b` (PyTorch: `torch.eq`).
    Eq eq eq_into: Equality -> bool, |T, M, a, b| a.same(b);
    /// `a != b` (PyTorch: `torch.ne`).
    Ne ne ne_into: Equality -> bool, |T, M, a, b| !a.same(b);
    /// `a < b` (PyTorch: `torch.lt`).
    Lt lt lt_into: Compare -> bool, |T, M, a, b| a.is_less(b);
    /// `a <= b` (PyTorch: `torch.le`).
    Le le le_into: Compare -> bool, |T, M, a, b| a.is_at_most(b);
    /// `a > b` (PyTorch: `torch.gt`).
    Gt gt gt_into: Compare -> bool, |T, M, a, b| b.is_less(a);
    /// `a >= b` (PyTorch: `torch.ge`).
    Ge ge ge_into: Compare -> bool, |T, M, a, b| b.is_at_most(a);
    /// True if both are nonzero (PyTorch: `torch.logical_and`).
    LogicalAnd logical_and logical_and_into: Equality -> bool, |T, M, a, b| a.truth() & b.truth();
    /// True if at least one is nonzero (PyTorch: `torch.logical_or`).
    LogicalOr logical_or logical_or_into: Equality -> bool, |T, M, a, b| a.truth() | b.truth();
    /// True if exactly one is nonzero (PyTorch: `torch.logical_xor`).
    LogicalXor logical_xor logical_xor_into: Equality -> bool, |T, M, a, b| a.truth() ^ b.truth();
    /// `a & b` (PyTorch: `torch.bitwise_and`).
    BitwiseAnd bitwise_and bitwise_and_into in place bitwise_and_inplace: Bits -> T,
        |T, M, a, b| a.bits_and(b);
    /// `a | b` (PyTorch: `torch.bitwise_or`).
    BitwiseOr bitwise_or bitwise_or_into in place bitwise_or_inplace: Bits -> T,
        |T, M, a, b| a.bits_or(b);
    /// `a ^ b` (PyTorch: `torch.bitwise_xor`).
    BitwiseXor bitwise_xor bitwise_xor_into in place bitwise_xor_inplace: Bits -> T,
        |T, M, a, b| a.bits_xor(b);
    /// `a << b`; 0 for a distance that is negative or beyond the width (PyTorch:
    /// `torch.bitwise_left_shift`).
    Shl shl shl_into in place shl_inplace: Integer -> T, |T, M, a, b| a.shifted_left(b);
    /// `a >> b`; the sign, 0 or −1, for a distance that is negative or beyond the width (PyTorch:
    /// `torch.bitwise_right_shift`).
    Shr shr shr_into in place shr_inplace: Integer -> T, |T, M, a, b| a.shifted_right(b);
}

/// [`div`] in place of the first operand. Not for integers, whose type cannot hold the quotient, as
/// in PyTorch.
///
/// # Errors
/// As [`div_into`].
pub fn div_inplace<'x, 'b, T: Inexact>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    b: impl Into<Operand<'b, T>>,
) -> Result<()> {
    Div::write(exec, None, b.into(), x.into())
}
