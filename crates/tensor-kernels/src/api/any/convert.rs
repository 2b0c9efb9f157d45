//! Operands converted to the dtype in which an operation computes.
//!
//! A tensor of that dtype is read where it is. One of another dtype is converted to a new tensor
//! first, so that the loops of an operation exist for operands of one type only; the ledger has
//! the copy. A tensor without dimensions becomes a value.

use std::borrow::Cow;

use tensor_core::{
    AnyInput, AnyOperand, AnyTensorBase, BuiltIn, DType, DTypeError, Element, Error, Operand,
    Result, Scalar, TensorBase,
};

use crate::api::types::match_dtype;
use crate::{
    api::{call::Call, copy_reason::CopyReason, ledger::Purpose, ops::Convert},
    element::Cast,
};

/// Element types to which a tensor of any dtype can be converted: all built-in ones.
pub trait CastAny: BuiltIn + Cast<Self> {
    /// The elements converted to this type, in a new tensor.
    ///
    /// # Errors
    /// A storage that is being written, no memory.
    #[doc(hidden)]
    #[track_caller]
    fn cast_any<K>(input: AnyInput<'_>) -> Result<TensorBase<Self, K>>;
}

macro_rules! cast_any {
    ($($(#[$gate:meta])* $type:ty;)*) => {$(
        $(#[$gate])*
        impl CastAny for $type {
            #[inline]
            fn cast_any<K>(input: AnyInput<'_>) -> Result<TensorBase<Self, K>> {
                let call = Call::current("cast")?;
                match_dtype!(Equality, input.dtype(), call.op, T => {
                    call.eval1(Convert::<$type>::TO, typed_operand::<T>(input)?)
                })
            }
        }
    )*};
}

cast_any! {
    bool; u8; u16; u32; u64; i8; i16; i32; i64; f32; f64;
    #[cfg(feature = "half")] half::f16;
    #[cfg(feature = "half")] half::bf16;
    #[cfg(feature = "complex")] num_complex::Complex<f32>;
    #[cfg(feature = "complex")] num_complex::Complex<f64>;
}

/// The typed operand, which must have these elements.
pub(super) fn typed_operand<T: BuiltIn>(input: AnyInput<'_>) -> Result<Operand<'_, T>> {
    let mismatch = |other: AnyInput<'_>| {
        let (expected, found) = (<T as Scalar>::DTYPE, other.dtype());
        Error::DTypeMismatch { expected, found }
    };
    input.typed::<T>().map_err(mismatch)
}

/// The tensor itself if it has the type, else converted.
#[track_caller]
pub(super) fn typed<T: CastAny, K>(any: &AnyTensorBase<K>) -> Result<TensorBase<T, K>> {
    match any.typed::<T>() {
        Some(tensor) => Ok(tensor.clone()),
        None => T::cast_any(any.input()),
    }
}

/// The tensor itself if it has the dtype, else converted.
#[track_caller]
pub(super) fn to_dtype<K>(any: &AnyTensorBase<K>, dtype: DType) -> Result<AnyTensorBase<K>> {
    if any.dtype() == dtype {
        return Ok(any.clone());
    }
    match_dtype!(Equality, dtype, "to_dtype", T => {
        T::cast_any(any.input()).map(AnyTensorBase::from)
    })
    .map_err(|refused| not_in_build(refused, dtype))
}

/// All dtypes can be converted to, unless the build does not have them.
fn not_in_build(refused: Error, dtype: DType) -> Error {
    match refused {
        Error::DType(_) => DTypeError::NotInBuild { dtype }.into(),
        other => other,
    }
}

/// The operand of a reduction or of a function of one element, converted if it has another dtype.
#[track_caller]
pub(super) fn as_dtype<'x, K>(
    call: Call<'_>,
    any: &'x AnyTensorBase<K>,
    dtype: DType,
) -> Result<Cow<'x, AnyTensorBase<K>>> {
    if any.dtype() == dtype {
        return Ok(Cow::Borrowed(any));
    }
    record(call, &any.input(), dtype)?;
    to_dtype(any, dtype).map(Cow::Owned)
}

fn record(call: Call<'_>, input: &AnyInput<'_>, to: DType) -> Result<()> {
    let purpose = Purpose::new(call.op, CopyReason::Converted { from: input.dtype(), to });
    let layout = input.layout();
    purpose.record_at(call.location, call.exec, to.size(), [layout, layout])
}

/// An operand of elements `T`.
pub(super) enum Converted<'x, T: Element, K> {
    /// It had the type, or is one value.
    Operand(Operand<'x, T>),
    /// It had another type.
    Copy(TensorBase<T, K>),
}

impl<'x, T: CastAny, K> Converted<'x, T, K> {
    #[track_caller]
    pub(super) fn of(call: Call<'_>, operand: &'x AnyOperand<'_, K>) -> Result<Self> {
        match Self::unconverted(operand)? {
            Ok(operand) => Ok(Self::Operand(operand)),
            Err(other) => {
                record(call, &other, T::DTYPE)?;
                T::cast_any(other).map(Self::Copy)
            }
        }
    }

    /// The same, but a value must fit the type.
    #[track_caller]
    pub(super) fn fitting(call: Call<'_>, operand: &'x AnyOperand<'_, K>) -> Result<Self> {
        if let AnyOperand::Value(value) = operand {
            return value.checked_to().map(|value| Self::Operand(Operand::Value(value)));
        }
        Self::of(call, operand)
    }

    /// The operand if it has the type or is one value, else what is to be converted.
    pub(super) fn unconverted(
        operand: &'x AnyOperand<'_, K>,
    ) -> Result<std::result::Result<Operand<'x, T>, AnyInput<'x>>> {
        let input = match operand {
            AnyOperand::Value(value) => return Ok(Ok(Operand::Value(value.to()))),
            AnyOperand::Tensor(any) => any.input(),
            AnyOperand::Handle(any) => any.input(),
            AnyOperand::View(view) => view.clone(),
        };
        Ok(match input.typed::<T>() {
            Err(other) if other.layout().ndim() == 0 => Ok(Operand::Value(other.first()?.to())),
            typed => typed,
        })
    }

    pub(super) fn operand(&self) -> Operand<'_, T> {
        match self {
            Self::Operand(operand) => operand.clone(),
            Self::Copy(tensor) => tensor.into(),
        }
    }
}
