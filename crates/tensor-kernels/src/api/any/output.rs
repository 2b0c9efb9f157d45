//! Results of run-time dtypes in given outputs: which dtypes can be stored, and their conversion.

use tensor_core::{
    AnyOperand, AnyOutput, AnyTensorBase, BuiltIn, DType, DTypeError, Error, Output, Result,
    Scalar, TensorBase, can_cast,
};

use super::convert::Converted;
use crate::api::{call::Call, copy::copy_between, types::match_dtype};

/// Checks that a result can be stored in an output: not if that is of a lower category.
pub(super) fn check_store(op: &'static str, from: DType, to: DType) -> Result<()> {
    if can_cast(from, to) { Ok(()) } else { Err(DTypeError::ResultCast { op, from, to }.into()) }
}

/// Writes a result to an output of its shape, converted if that has another dtype.
#[track_caller]
pub(super) fn store<K>(
    call: Call<'_>,
    result: &AnyTensorBase<K>,
    out: AnyOutput<'_>,
) -> Result<()> {
    // A slice takes the shape of the result if it has as many elements.
    let fits = match out.is_slice() {
        true => out.shape() == [result.numel()],
        false => out.shape() == result.shape(),
    };
    if !fits {
        let (got, expected) = (out.shape().to_vec(), result.shape().to_vec());
        return Err(Error::OutputShape { op: call.op, got, expected });
    }
    copy_converted(call, &result.into(), out)
}

/// The output as one of the elements of a tensor, or as it is if it has others.
pub(super) fn typed_as<'o, T: BuiltIn, K>(
    _: &TensorBase<T, K>,
    out: AnyOutput<'o>,
) -> std::result::Result<Output<'o, T>, AnyOutput<'o>> {
    out.typed()
}

/// Copies elements of any dtype, broadcast and converted, into an output.
#[track_caller]
pub(super) fn copy_converted<K>(
    call: Call<'_>,
    from: &AnyOperand<'_, K>,
    out: AnyOutput<'_>,
) -> Result<()> {
    match_dtype!(Equality, out.dtype(), call.op, T => {
        let from = Converted::<T, K>::of(call, from)?;
        copy_between(call.exec, from.operand(), typed_output(out)?)
    })
}

/// The typed output, which must have these elements.
fn typed_output<T: BuiltIn>(out: AnyOutput<'_>) -> Result<Output<'_, T>> {
    let mismatch = |other: AnyOutput<'_>| {
        let (expected, found) = (<T as Scalar>::DTYPE, other.dtype());
        Error::DTypeMismatch { expected, found }
    };
    out.typed::<T>().map_err(mismatch)
}
