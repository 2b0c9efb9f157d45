//! Operations on three operands.

use tensor_core::{AsOperand, Element, Operand, Output, Result, TensorBase};

#[cfg(tensor_compiled)]
use crate::kernel::{Operation, Zip3};
use crate::{
    api::{call::Call, compiled::compiled, ops::table::ternary_operations, tensor::Simd},
    element::{Compare, Number},
    exec::Exec,
    kernel::{Function3, RegisterOp},
    math::FmaMode,
};

/// For each row of the table: a type, compiled for each instruction set, and its functions.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr
                $(, in_registers $register_op:ident)? }
    )*) => {$(
        pub(crate) struct $op;

        compiled! { $op, $bound, T => Zip3<$op, T, T, T>, dyn Operation<4> }

        impl<$t: $bound> Function3<$t, $t, $t> for $op {
            type Output = $t;

            #[cfg(tensor_compiled)]
            fn compiled(operation: &Zip3<Self, $t, $t, $t>) -> Option<&dyn Operation<4>> {
                $op::find_compiled(operation)
            }

            #[inline(always)]
            fn call<$m: FmaMode>(&self, $a: $t, $b: $t, $c: $t) -> $t {
                $value
            }

            $(
                const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::$register_op);
            )?
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// Shapes that do not broadcast, a storage that is being written, no memory.
        #[track_caller]
        pub fn $name<$t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            $b: impl AsOperand<$t>,
            $c: impl AsOperand<$t>,
        ) -> Result<TensorBase<$t, Simd>> {
            let (b, c) = ($b.as_operand(), $c.as_operand());
            Call::new(exec, stringify!($name)).eval3($op, a.as_operand(), b, c)
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
            $b: impl AsOperand<$t>,
            $c: impl AsOperand<$t>,
            out: impl Into<Output<'o, $t>>,
        ) -> Result<()> {
            let (a, b, c) = (Some(a.as_operand()), Some($b.as_operand()), Some($c.as_operand()));
            Call::new(exec, stringify!($name)).into3($op, a, b, c, out.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] in place of the first operand.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($into), "`].")]
        #[track_caller]
        pub fn $inplace<'x, $t: $bound>(
            exec: &Exec,
            x: impl Into<Output<'x, $t>>,
            $b: impl AsOperand<$t>,
            $c: impl AsOperand<$t>,
        ) -> Result<()> {
            let (b, c) = (Some($b.as_operand()), Some($c.as_operand()));
            Call::new(exec, stringify!($name)).into3($op, None::<Operand<'_, $t>>, b, c, x.into())
        }
    )*};
}

ternary_operations! { functions }

/// One of two values, chosen by a condition.
pub(crate) struct Where;

compiled! { Where, Element, T => Zip3<Where, bool, T, T>, dyn Operation<4> }

impl<T: Element> Function3<bool, T, T> for Where {
    type Output = T;

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Zip3<Self, bool, T, T>) -> Option<&dyn Operation<4>> {
        Where::find_compiled(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, condition: bool, a: T, b: T) -> T {
        if condition { a } else { b }
    }
}

/// a where the condition is true, else b (PyTorch: `torch.where`).
///
/// # Errors
/// Shapes that do not broadcast, a storage that is being written, no memory.
#[track_caller]
pub fn where_cond<T: Element>(
    exec: &Exec,
    condition: impl AsOperand<bool>,
    a: impl AsOperand<T>,
    b: impl AsOperand<T>,
) -> Result<TensorBase<T, Simd>> {
    Call::new(exec, "where_cond").eval3(
        Where,
        condition.as_operand(),
        a.as_operand(),
        b.as_operand(),
    )
}

/// [`where_cond`] into a given result.
///
/// # Errors
/// Also a result of another shape, or that shares elements with an operand without being it, or
/// with itself; see [`ops`](crate::ops).
#[track_caller]
pub fn where_cond_into<'o, T: Element>(
    exec: &Exec,
    condition: impl AsOperand<bool>,
    a: impl AsOperand<T>,
    b: impl AsOperand<T>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let (condition, a, b) =
        (Some(condition.as_operand()), Some(a.as_operand()), Some(b.as_operand()));
    Call::new(exec, "where_cond").into3(Where, condition, a, b, out.into())
}
