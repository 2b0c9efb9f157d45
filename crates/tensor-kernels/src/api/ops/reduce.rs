//! Reductions, over all elements or along some dimensions.

use tensor_core::{AsOperand, Operand, Output, ReduceDims, Result, TensorBase};

use crate::{
    api::{call::Call, ops::reduction_table::reduction_operations, reductions::*, tensor::Simd},
    element::{Accumulate, Compare, Equality, Inexact},
    exec::Exec,
};

/// For each row of the table: its functions.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident, $into:ident, $all:ident;
    )*) => {$(
        impl $op {
            pub(crate) fn eval<$t: $bound, K>(
                exec: &Exec,
                a: &Operand<'_, $t>,
                over: ReduceDims,
            ) -> Result<TensorBase<$output, K>> {
                Call::new(exec, stringify!($name)).reduce_new::<$t, Self, K>(a, over)
            }

            pub(crate) fn write<$t: $bound>(
                call: Call<'_>,
                a: Operand<'_, $t>,
                over: ReduceDims,
                out: Output<'_, $output>,
            ) -> Result<()> {
                call.reduce_into::<$t, Self>(a, over, out)
            }

            pub(crate) fn all<$t: $bound>(exec: &Exec, a: Operand<'_, $t>) -> Result<$output> {
                Call::new(exec, stringify!($name)).reduce_all::<$t, Self>(a)
            }
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// A dimension out of range or named twice, a storage that is being written, no memory.
        #[track_caller]
        pub fn $name<$t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            over: impl Into<ReduceDims>,
        ) -> Result<TensorBase<$output, Simd>> {
            $op::eval(exec, &a.as_operand(), over.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`];")]
        /// a result of another shape, or that shares elements with the operand without being it, or
        /// with itself; see [`ops`](crate::ops).
        #[track_caller]
        pub fn $into<'o, $t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            over: impl Into<ReduceDims>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            let call = Call::new(exec, stringify!($name));
            $op::write(call, a.as_operand(), over.into(), out.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] of all elements, as a value.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`].")]
        pub fn $all<$t: $bound>(exec: &Exec, a: impl AsOperand<$t>) -> Result<$output> {
            $op::all(exec, a.as_operand())
        }
    )*};
}

reduction_operations! { functions }
