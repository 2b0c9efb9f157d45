//! The elementwise operations on tensors of run-time dtypes.
//!
//! The table of operations makes the functions here and the methods of [`AnyTensorExt`]. Each
//! promotes its operands to one dtype, and calls the typed operation for it.
//!
//! [`AnyTensorExt`]: super::AnyTensorExt

use std::borrow::Cow;

use tensor_core::{
    AnyOperand, AnyOutput, AnyTensorBase, Category, DType, DTypeError, Result, result_type,
};

use super::{
    convert::as_dtype,
    expect, scalars,
    typed::{Forms, chosen, chosen_into, equal_as, zipped, zipped_into, zipped3, zipped3_into},
};
use crate::api::{
    call::Call,
    ops::{self, table::*},
    types::match_dtype,
};

/// The dtype of an operation whose results are fractions.
fn fraction(dtype: DType) -> DType {
    if dtype.category() <= Category::Integer { DType::F32 } else { dtype }
}

/// The dtype in which an operation on several operands computes.
fn compute_dtype<K>(op: &'static str, operands: &[AnyOperand<'_, K>]) -> Result<DType> {
    let dtype = result_type(operands)?;
    match op {
        "div" | "atan2" => Ok(fraction(dtype)),
        "sub" if operands.iter().any(|operand| operand.dtype() == DType::Bool) => {
            Err(DTypeError::Unsupported { op, dtype: DType::Bool }.into())
        }
        _ => Ok(dtype),
    }
}

/// The operand of a function of one element, in the dtype in which it is computed.
#[track_caller]
pub(super) fn prepared<'x, K>(
    call: Call<'_>,
    a: &'x AnyTensorBase<K>,
    fractions: bool,
) -> Result<Cow<'x, AnyTensorBase<K>>> {
    let dtype = match (call.op, a.dtype()) {
        ("square", DType::Bool) => DType::I64,
        (_, dtype) if fractions => fraction(dtype),
        (_, dtype) => dtype,
    };
    as_dtype(call, a, dtype)
}

/// Refuses what PyTorch refuses in place: the magnitude of a complex number is real.
pub(super) fn check_inplace<K>(op: &'static str, x: &AnyTensorBase<K>) -> Result<()> {
    if op == "abs" && x.dtype().category() == Category::Complex {
        return Err(DTypeError::Unsupported { op: "abs_inplace", dtype: x.dtype() }.into());
    }
    Ok(())
}

/// The result of an operation that leaves bools as they are.
#[track_caller]
pub(super) fn of_bool<K>(call: Call<'_>, a: &AnyTensorBase<K>) -> Result<Option<AnyTensorBase<K>>> {
    match (call.op, a) {
        ("sign", AnyTensorBase::Bool(a)) => {
            crate::TensorExt::deep_clone(a).map(|copy| Some(copy.into()))
        }
        _ => Ok(None),
    }
}

/// The operations on bool that PyTorch computes as logical ones: `+` is or, `*` is and.
fn of_bools<K>(op: &'static str, dtype: DType) -> Option<Forms<bool, bool, K>> {
    match (op, dtype) {
        ("add", DType::Bool) => Some((ops::LogicalOr::eval, ops::LogicalOr::write)),
        ("mul", DType::Bool) => Some((ops::LogicalAnd::eval, ops::LogicalAnd::write)),
        _ => None,
    }
}

/// Are the elements of two tensors of one shape equal, after promotion?
#[track_caller]
pub(super) fn equal<K>(a: &AnyOperand<'_, K>, b: &AnyOperand<'_, K>) -> Result<bool> {
    let call = Call::current("equal")?;
    let dtype = result_type(&[a.reborrow(), b.reborrow()])?;
    match_dtype!(Equality, dtype, call.op, T => equal_as::<T, K>(call, [a, b]))
}

/// For each row of the table: its function, and that into a given result.
macro_rules! binary {
    () => {};
    (
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $o:ident::Float:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
        $($rest:tt)*
    ) => {
        binary! { @function $op, Inexact, $name, $into }
        binary! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
        $($rest:tt)*
    ) => {
        binary! { @function $op, $bound, $name, $into }
        binary! { $($rest)* }
    };
    (@function $op:ident, $bound:ident, $name:ident, $into:ident) => {
        #[track_caller]
        pub(super) fn $name<K>(
            a: &AnyOperand<'_, K>,
            b: &AnyOperand<'_, K>,
        ) -> Result<AnyTensorBase<K>> {
            let call = Call::current(stringify!($name))?;
            let dtype = compute_dtype(call.op, &[a.reborrow(), b.reborrow()])?;
            if let Some((eval, _)) = of_bools::<K>(call.op, dtype) {
                return zipped(call, [a, b], eval);
            }
            scalars::check_exponent(call.op, dtype, b)?;
            #[cfg(feature = "half")]
            if let Some(scaled) = scalars::Scaled::of(call.op, dtype, [a, b])? {
                return scaled.eval(call);
            }
            match_dtype!($bound, dtype, call.op, T => {
                zipped(call, [a, b], ops::$op::eval::<T, K>)
            })
        }

        #[track_caller]
        pub(super) fn $into<K>(
            a: &AnyOperand<'_, K>,
            b: &AnyOperand<'_, K>,
            out: AnyOutput<'_>,
        ) -> Result<()> {
            let call = Call::current(stringify!($name))?;
            let dtype = compute_dtype(call.op, &[a.reborrow(), b.reborrow()])?;
            if let Some(forms) = of_bools::<K>(call.op, dtype) {
                return zipped_into(call, [a, b], out, forms);
            }
            scalars::check_exponent(call.op, dtype, b)?;
            #[cfg(feature = "half")]
            if let Some(scaled) = scalars::Scaled::of(call.op, dtype, [a, b])? {
                return scaled.write(call, out);
            }
            match_dtype!($bound, dtype, call.op, T => {
                zipped_into(call, [a, b], out, (ops::$op::eval::<T, K>, ops::$op::write::<T>))
            })
        }
    };
}

binary_operations! { binary }

/// For each row of the table: its function, and that into a given result.
macro_rules! ternary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr
                $(, in_registers $register_op:ident)? }
    )*) => {$(
        #[track_caller]
        pub(super) fn $name<K>(
            a: &AnyOperand<'_, K>,
            b: &AnyOperand<'_, K>,
            c: &AnyOperand<'_, K>,
        ) -> Result<AnyTensorBase<K>> {
            let call = Call::current(stringify!($name))?;
            let dtype = compute_dtype(call.op, &[a.reborrow(), b.reborrow(), c.reborrow()])?;
            let b = &scalars::bound(call.op, dtype, "min", b)?;
            let c = &scalars::bound(call.op, dtype, "max", c)?;
            match_dtype!($bound, dtype, call.op, T => {
                zipped3::<T, K>(call, [a, b, c], ops::$op)
            })
        }

        #[track_caller]
        pub(super) fn $into<K>(
            a: &AnyOperand<'_, K>,
            b: &AnyOperand<'_, K>,
            c: &AnyOperand<'_, K>,
            out: AnyOutput<'_>,
        ) -> Result<()> {
            let call = Call::current(stringify!($name))?;
            let dtype = compute_dtype(call.op, &[a.reborrow(), b.reborrow(), c.reborrow()])?;
            let b = &scalars::bound(call.op, dtype, "min", b)?;
            let c = &scalars::bound(call.op, dtype, "max", c)?;
            match_dtype!($bound, dtype, call.op, T => {
                zipped3_into::<T, K>(call, [a, b, c], ops::$op, out)
            })
        }
    )*};
}

ternary_operations! { ternary }

/// The elements of `a` where the condition is true, else those of `b`.
#[track_caller]
pub(super) fn where_cond<K>(
    condition: &AnyTensorBase<K>,
    a: &AnyOperand<'_, K>,
    b: &AnyOperand<'_, K>,
) -> Result<AnyTensorBase<K>> {
    let call = Call::current("where_cond")?;
    let condition = expect::<bool, K>(condition)?;
    let dtype = result_type(&[a.reborrow(), b.reborrow()])?;
    match_dtype!(Equality, dtype, call.op, T => chosen::<T, K>(call, condition, [a, b]))
}

/// [`where_cond`] into a result of any dtype that can store it.
#[track_caller]
pub(super) fn where_cond_into<K>(
    condition: &AnyTensorBase<K>,
    a: &AnyOperand<'_, K>,
    b: &AnyOperand<'_, K>,
    out: AnyOutput<'_>,
) -> Result<()> {
    let call = Call::current("where_cond")?;
    let condition = expect::<bool, K>(condition)?;
    let dtype = result_type(&[a.reborrow(), b.reborrow()])?;
    match_dtype!(Equality, dtype, call.op, T => {
        chosen_into::<T, K>(call, condition, [a, b], out)
    })
}
