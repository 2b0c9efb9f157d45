//! Values as operands of elementwise operations, where they are more than one more element: bounds
//! for integers that need not be integers of the dtype, exponents, and factors of halves.

use tensor_core::{AnyOperand, AnyValue, DType, DTypeError, Result};

use crate::api::types::match_dtype;
#[cfg(feature = "half")]
pub(super) use of_halves::Scaled;

/// An operand of an operation in `dtype`, where a value is not just converted: bounds beyond the
/// integers of the dtype become its least and greatest (PyTorch: `clamp`).
pub(super) fn bound<'x, K>(
    op: &'static str,
    dtype: DType,
    which: &'static str,
    operand: &'x AnyOperand<'_, K>,
) -> Result<AnyOperand<'x, K>> {
    let &AnyOperand::Value(value) = operand else { return Ok(operand.reborrow()) };
    if op != "clamp" {
        return Ok(value.into());
    }
    let Some((least, greatest)) = dtype.integer_range() else {
        return if dtype == DType::Bool { Ok(value.into()) } else { checked(dtype, value) };
    };
    let bound = match value {
        AnyValue::Int(bound) => bound,
        other => other.to::<i64>().into(),
    };
    let is_outside = if which == "min" { bound > greatest } else { bound < least };
    if is_outside {
        let value = value.to_string();
        return Err(DTypeError::ClampBound { which, value, dtype }.into());
    }
    Ok(AnyValue::Int(bound.clamp(least, greatest)).into())
}

/// The value, if it fits a float or complex dtype.
fn checked<'x, K>(dtype: DType, value: AnyValue) -> Result<AnyOperand<'x, K>> {
    match_dtype!(Inexact, dtype, "clamp", T => {
        value.checked_to::<T>().map(|_| value.into())
    })
}

/// Refuses a value as exponent of integers that PyTorch refuses.
pub(super) fn check_exponent<K>(
    op: &'static str,
    dtype: DType,
    exponent: &AnyOperand<'_, K>,
) -> Result<()> {
    let (&AnyOperand::Value(value), Some(range)) = (exponent, dtype.integer_range()) else {
        return Ok(());
    };
    let AnyValue::Int(power) = value else { return Ok(()) };
    if op != "pow" || (0..=range.1).contains(&power) {
        return Ok(());
    }
    let value = value.to_string();
    Err(match power < 0 {
        true => DTypeError::NegativePower { dtype, exponent: value }.into(),
        false => DTypeError::ValueOverflow { value, dtype }.into(),
    })
}

#[cfg(feature = "half")]
mod of_halves {
    use half::{bf16, f16};
    use tensor_core::{
        AnyOperand, AnyOutput, AnyTensorBase, BuiltIn, DType, Element, Operand, Result, TensorBase,
    };

    use crate::{
        api::{
            any::{
                convert::typed_operand,
                output::{check_store, store},
            },
            call::Call,
        },
        kernel::Function1,
        math::{FmaMode, half::Half},
    };

    /// A product or a quotient of halves and one number, which is not rounded to a half: PyTorch
    /// computes both with the number as f32.
    pub(in crate::api::any) struct Scaled<'x, 'a, K> {
        elements: &'x AnyOperand<'a, K>,
        number: f32,
        divides: bool,
    }

    impl<'x, 'a, K> Scaled<'x, 'a, K> {
        /// `None` if the operation is another one.
        pub(in crate::api::any) fn of(
            op: &'static str,
            dtype: DType,
            [a, b]: [&'x AnyOperand<'a, K>; 2],
        ) -> Result<Option<Self>> {
            let divides = op == "div";
            if !matches!(dtype, DType::F16 | DType::Bf16) || !(divides || op == "mul") {
                return Ok(None);
            }
            let has_dtype =
                |x: &AnyOperand<'_, K>| x.input().is_some_and(|input| input.dtype() == dtype);
            if let (true, Some(number)) = (has_dtype(a), single(b)?) {
                return Ok(Some(Self { elements: a, number, divides }));
            }
            Ok(match (has_dtype(b) && !divides, single(a)?) {
                (true, Some(number)) => Some(Self { elements: b, number, divides }),
                _ => None,
            })
        }

        pub(in crate::api::any) fn eval(&self, call: Call<'_>) -> Result<AnyTensorBase<K>> {
            match self.elements.dtype() {
                DType::F16 => self.eval_as::<f16>(call).map(Into::into),
                _ => self.eval_as::<bf16>(call).map(Into::into),
            }
        }

        pub(in crate::api::any) fn write(&self, call: Call<'_>, out: AnyOutput<'_>) -> Result<()> {
            match self.elements.dtype() {
                DType::F16 => self.write_as::<f16>(call, out),
                _ => self.write_as::<bf16>(call, out),
            }
        }

        fn operand<T: BuiltIn>(&self) -> Result<Operand<'_, T>> {
            typed_operand(self.elements.input().expect("elements are no value"))
        }

        fn eval_as<T: BuiltIn + Half>(&self, call: Call<'_>) -> Result<TensorBase<T, K>> {
            match self.divides {
                true => call.eval1(DividedBy(self.number), self.operand::<T>()?),
                false => call.eval1(Times(self.number), self.operand::<T>()?),
            }
        }

        fn write_as<T: BuiltIn + Half>(&self, call: Call<'_>, out: AnyOutput<'_>) -> Result<()> {
            let out = match out.typed::<T>() {
                Ok(out) => out,
                Err(other) => {
                    check_store(call.op, T::DTYPE, other.dtype())?;
                    return store(call, &self.eval(call)?, other);
                }
            };
            let operand = Some(self.operand::<T>()?);
            match self.divides {
                true => call.into1(DividedBy(self.number), operand, out),
                false => call.into1(Times(self.number), operand, out),
            }
        }
    }

    /// The only element of an operand without dimensions.
    fn single<K>(operand: &AnyOperand<'_, K>) -> Result<Option<f32>> {
        match (operand, operand.input()) {
            (AnyOperand::Value(value), _) => Ok(Some(value.to())),
            (_, Some(input)) if input.layout().ndim() == 0 => Ok(Some(input.first()?.to())),
            _ => Ok(None),
        }
    }

    struct Times(f32);
    struct DividedBy(f32);

    impl<T: Element + Half> Function1<T> for Times {
        type Output = T;

        #[inline(always)]
        fn call<M: FmaMode>(&self, a: T) -> T {
            T::narrow(a.widen() * self.0)
        }
    }

    impl<T: Element + Half> Function1<T> for DividedBy {
        type Output = T;

        #[inline(always)]
        fn call<M: FmaMode>(&self, a: T) -> T {
            T::narrow(a.widen() / self.0)
        }
    }
}
