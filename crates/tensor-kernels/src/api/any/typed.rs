//! The part of an elementwise operation that follows when the dtype is known.
//!
//! Each operation matches over the dtypes, and an arm of the match only calls one of these
//! functions. They are not inlined: repeated for every dtype of every operation they were a
//! quarter of this crate's code before code generation (MIR).

use tensor_core::{AnyOperand, AnyTensorBase, Element, Operand, Output, Result, TensorBase};

use super::convert::{CastAny, Converted};
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

/// An operation on two typed operands: to a new tensor.
pub(super) type Eval<T, R, K> =
    fn(Call<'_>, Operand<'_, T>, Operand<'_, T>) -> Result<TensorBase<R, K>>;

/// An operation on two typed operands: into a result, which is the first operand if that is `None`.
pub(super) type Write<T> =
    fn(Call<'_>, Argument<'_, T>, Operand<'_, T>, Output<'_, T>) -> Result<()>;

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

/// An operation on two operands in place of the first one; the second is converted to its type.
#[inline(never)]
#[track_caller]
pub(super) fn zipped_inplace<T: CastAny, K>(
    call: Call<'_>,
    x: &TensorBase<T, K>,
    b: &AnyOperand<'_, K>,
    write: Write<T>,
) -> Result<()> {
    let b = Converted::of(call, b)?;
    write(call, Some(x.into()), b.operand(), x.into())
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
    let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
    call.eval3(ops::Where, condition.into(), a.operand(), b.operand()).map(Into::into)
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
