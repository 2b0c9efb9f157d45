//! Operations on two operands.

use tensor_core::{AsOperand, Operand, Output, Result, TensorBase};

#[cfg(tensor_compiled)]
use crate::kernel::{Operation, Zip};
use crate::{
    api::{
        call::{Argument, Call},
        compiled::compiled,
        ops::{table::binary_operations, unary::Square},
        tensor::Simd,
    },
    element::{Bits, Compare, Equality, Inexact, Integer, Number, Ordered, Real},
    exec::Exec,
    kernel::{Function2, RegisterOp},
    math::FmaMode,
};

/// The further error of operations that refuse divisors of 0.
macro_rules! divisors {
    ($check:ident) => {
        "[`Error::DivisionByZero`](crate::Error::DivisionByZero) for integers."
    };
}

/// Is the operand the single value 2?
fn is_two<T: Number>(b: &Operand<'_, T>) -> bool {
    matches!(b, Operand::Value(value) if value.is_two())
}

/// For each row of the table: a type, compiled for each instruction set, and its functions.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { |$m:ident, $a:ident, $b:ident| $value:expr
                $(, large_argument $has_large:ident if $is_large:expr => $large:expr)?
                $(, computes_much $much:literal)? $(, in_registers $register_op:ident)? }
    )*) => {$(
        pub(crate) struct $op;

        compiled! { $op, $bound, T => Zip<$op, T, T>, dyn Operation<3> }

        impl<$t: $bound> Function2<$t, $t> for $op {
            type Output = $output;

            #[cfg(tensor_compiled)]
            fn compiled(operation: &Zip<Self, $t, $t>) -> Option<&dyn Operation<3>> {
                $op::find_compiled(operation)
            }

            #[inline(always)]
            fn call<$m: FmaMode>(&self, $a: $t, $b: $t) -> $output {
                $value
            }

            $(
                #[doc = concat!("Integers are; see `", stringify!($check), "`.")]
                #[inline(always)]
                fn is_scalar_code() -> bool {
                    !<$t as Number>::DIVISION_HAS_LARGE_ARGUMENT_PATH
                }
            )?

            $(
                const COMPUTES_MUCH: bool = $much;
            )?

            $(
                const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::$register_op);
            )?

            $(
                const HAS_LARGE_ARGUMENT_PATH: bool = <$t as Number>::$has_large;

                #[inline(always)]
                fn is_large_argument(&self, $a: $t, $b: $t) -> bool {
                    $is_large
                }

                #[inline(always)]
                fn call_large_argument<$m: FmaMode>(&self, $a: $t, $b: $t) -> $output {
                    $large
                }
            )?
        }

        impl $op {
            pub(crate) fn eval<$t: $bound, K>(
                call: Call<'_>,
                a: Operand<'_, $t>,
                b: Operand<'_, $t>,
            ) -> Result<TensorBase<$output, K>> {
                $(if is_two(&b) {
                    return call.eval1($of_two, a);
                })?
                call$(.$check(&b))?.eval2($op, a, b)
            }

            pub(crate) fn write<$t: $bound>(
                call: Call<'_>,
                a: Argument<'_, $t>,
                b: Operand<'_, $t>,
                out: Output<'_, $output>,
            ) -> Result<()> {
                $(if is_two(&b) {
                    return call.into1($of_two, a, out);
                })?
                call$(.$check(&b))?.into2($op, a, Some(b), out)
            }
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// Shapes that do not broadcast, a storage that is being written, no memory.
        $(#[doc = divisors!($check)])?
        #[track_caller]
        pub fn $name<$t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            b: impl AsOperand<$t>,
        ) -> Result<TensorBase<$output, Simd>> {
            $op::eval(Call::new(exec, stringify!($name)), a.as_operand(), b.as_operand())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        /// Also a result of another shape, or that shares elements with an operand without being
        /// it, or with itself; see [`ops`](crate::ops).
        #[track_caller]
        pub fn $into<'o, $t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            b: impl AsOperand<$t>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            let call = Call::new(exec, stringify!($name));
            $op::write(call, Some(a.as_operand()), b.as_operand(), out.into())
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`] in place of the first operand.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($into), "`].")]
            #[track_caller]
            pub fn $inplace<'x, $t: $inplace_bound>(
                exec: &Exec,
                x: impl Into<Output<'x, $t>>,
                b: impl AsOperand<$t>,
            ) -> Result<()> {
                $op::write(Call::new(exec, stringify!($name)), None, b.as_operand(), x.into())
            }
        )?
    )*};
}

binary_operations! { functions }
