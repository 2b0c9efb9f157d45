//! The part of an elementwise operation that follows when the dtype is known.
//!
//! Each operation matches over the dtypes, and an arm of the match only calls one of these
//! functions. They are not inlined: repeated for every dtype of every operation they were a
//! quarter of this crate's code before code generation (MIR).

use tensor_core::{
    AnyOperand, AnyOutput, AnyTensorBase, BuiltIn, Element, Operand, Output, Result, Scalar,
    TensorBase,
};

use super::{
    convert::{CastAny, Converted},
    output::{check_store, store},
};
use crate::{
    api::{
        call::{Argument, Call},
        ops,
    },
    element::Equality,
    kernel::{Function1, Function3},
};

/// A function of one operand, applied to a typed tensor.
#[inline(never)]
pub(super) fn mapped<T: Element, F: Function1<T, Output: Element>, K>(
    call: Call<'_>,
    a: &TensorBase<T, K>,
    function: F,
) -> Result<AnyTensorBase<K>>
where
    AnyTensorBase<K>: From<TensorBase<F::Output, K>>,
{
    call.eval1(function, a.into()).map(Into::into)
}

/// A function of one operand, applied to a typed tensor, into a given result.
#[inline(never)]
pub(super) fn mapped_into<T: Element, F: Function1<T, Output: BuiltIn>, K>(
    call: Call<'_>,
    a: &TensorBase<T, K>,
    function: F,
    out: AnyOutput<'_>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<F::Output, K>>,
{
    match out.typed::<F::Output>() {
        Ok(out) => call.into1(function, Some(a.into()), out),
        Err(other) => {
            check_store(call.op, <F::Output as Scalar>::DTYPE, other.dtype())?;
            store(call, &mapped(call, a, function)?, other)
        }
    }
}

/// An operation on two typed operands: to a new tensor.
pub(super) type Eval<T, R, K> =
    fn(Call<'_>, Operand<'_, T>, Operand<'_, T>) -> Result<TensorBase<R, K>>;

/// An operation on two typed operands: into a given result.
pub(super) type Write<T, R> =
    fn(Call<'_>, Argument<'_, T>, Operand<'_, T>, Output<'_, R>) -> Result<()>;

/// Both forms of an operation on two typed operands.
pub(super) type Forms<T, R, K> = (Eval<T, R, K>, Write<T, R>);

/// An operation on two operands, converted to one type.
#[inline(never)]
#[track_caller]
pub(super) fn zipped<T: CastAny, R: Element, K>(
    call: Call<'_>,
    [a, b]: [&AnyOperand<'_, K>; 2],
    eval: Eval<T, R, K>,
) -> Result<AnyTensorBase<K>>
where
    AnyTensorBase<K>: From<TensorBase<R, K>>,
{
    let (a, b) = (Converted::of(call, a)?, Converted::of(call, b)?);
    eval(call, a.operand(), b.operand()).map(Into::into)
}

/// An operation on two operands, converted to one type, into a given result.
#[inline(never)]
#[track_caller]
pub(super) fn zipped_into<T: CastAny, R: BuiltIn, K>(
    call: Call<'_>,
    [a, b]: [&AnyOperand<'_, K>; 2],
    out: AnyOutput<'_>,
    (eval, write): Forms<T, R, K>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<R, K>>,
{
    match out.typed::<R>() {
        Ok(out) => {
            let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
            write(call, Some(a.operand()), b.operand(), out)
        }
        Err(other) => {
            check_store(call.op, R::DTYPE, other.dtype())?;
            store(call, &zipped(call, [a, b], eval)?, other)
        }
    }
}

/// A function of three operands, converted to one type.
#[inline(never)]
#[track_caller]
pub(super) fn zipped3<T: CastAny, K>(
    call: Call<'_>,
    [a, b, c]: [&AnyOperand<'_, K>; 3],
    function: impl Function3<T, T, T, Output = T>,
) -> Result<AnyTensorBase<K>>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    let (a, b, c) = (Converted::of(call, a)?, Converted::of(call, b)?, Converted::of(call, c)?);
    call.eval3(function, a.operand(), b.operand(), c.operand()).map(Into::into)
}

/// A function of three operands, converted to one type, into a given result.
#[inline(never)]
#[track_caller]
pub(super) fn zipped3_into<T: CastAny, K>(
    call: Call<'_>,
    [a, b, c]: [&AnyOperand<'_, K>; 3],
    function: impl Function3<T, T, T, Output = T>,
    out: AnyOutput<'_>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    match out.typed::<T>() {
        Ok(out) => {
            let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
            let c = Converted::<T, K>::of(call, c)?;
            call.into3(function, Some(a.operand()), Some(b.operand()), Some(c.operand()), out)
        }
        Err(other) => {
            check_store(call.op, T::DTYPE, other.dtype())?;
            store(call, &zipped3(call, [a, b, c], function)?, other)
        }
    }
}

/// The elements of one of two operands, converted to one type.
#[inline(never)]
#[track_caller]
pub(super) fn chosen<T: CastAny, K>(
    call: Call<'_>,
    condition: &TensorBase<bool, K>,
    [a, b]: [&AnyOperand<'_, K>; 2],
) -> Result<AnyTensorBase<K>>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    let (a, b) = (Converted::<T, K>::fitting(call, a)?, Converted::<T, K>::fitting(call, b)?);
    call.eval3(ops::Where, condition.into(), a.operand(), b.operand()).map(Into::into)
}

/// [`chosen`] into a result of any dtype that can store it.
#[inline(never)]
#[track_caller]
pub(super) fn chosen_into<T: CastAny, K>(
    call: Call<'_>,
    condition: &TensorBase<bool, K>,
    [a, b]: [&AnyOperand<'_, K>; 2],
    out: AnyOutput<'_>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    match out.typed::<T>() {
        Ok(out) => {
            let a = Converted::<T, K>::fitting(call, a)?;
            let b = Converted::<T, K>::fitting(call, b)?;
            let (a, b) = (Some(a.operand()), Some(b.operand()));
            call.into3(ops::Where, Some(condition.into()), a, b, out)
        }
        Err(other) => {
            check_store(call.op, T::DTYPE, other.dtype())?;
            store(call, &chosen(call, condition, [a, b])?, other)
        }
    }
}

/// Are the elements of two operands equal, converted to one type?
#[inline(never)]
#[track_caller]
pub(super) fn equal_as<T: CastAny + Equality, K>(
    call: Call<'_>,
    [a, b]: [&AnyOperand<'_, K>; 2],
) -> Result<bool> {
    let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
    let (a, b) = (a.operand(), b.operand());
    crate::api::equal::equal(call.exec, a.read()?.elements(), b.read()?.elements())
}
