//! One value of a dtype that is known at run time, and its conversion to every element type.

use std::fmt;

use super::{AnyInput, AnyOutput, AnyTensorBase};
use crate::{
    Category, DType, DTypeError, Operand, Output, Result, Scalar, TensorBase, dtype::for_each_dtype,
};

/// One value, as a number of its category (PyTorch: what `item()` returns, and numbers as
/// arguments).
///
/// As an operand it takes part in promotion by its category only: `&bytes + 1` stays u8.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::AnyValue;
///
/// assert_eq!(AnyValue::from(7u8), AnyValue::Int(7));
/// assert_eq!(AnyValue::from(2.5f32).to::<f64>(), 2.5);
/// assert_eq!(AnyValue::Int(300).to::<u8>(), 44);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyValue {
    /// A bool.
    Bool(bool),
    /// An integer; every integer dtype fits.
    Int(i128),
    /// A real number.
    Float(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
}

impl AnyValue {
    /// The value as an element. Integers wrap around, floats are rounded to the nearest; to an
    /// integer they are rounded towards 0, and the nearest bound if out of range. Of a complex
    /// number the real part.
    pub fn to<T: BuiltIn>(self) -> T {
        T::from_value(self)
    }

    /// The value as an element, if it fits: what [`full`](AnyTensorBase::full) and other functions
    /// write, as in PyTorch. Numbers are rounded as by [`to`](Self::to). An integer from 0 to
    /// `-max` wraps around in an unsigned type, and every number is a bool.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::AnyValue;
    ///
    /// assert_eq!(AnyValue::Int(-1).checked_to::<u8>(), Ok(255));
    /// assert!(AnyValue::Int(300).checked_to::<u8>().is_err());
    /// assert!(AnyValue::Float(f64::NAN).checked_to::<i32>().is_err());
    /// assert_eq!(AnyValue::Float(f64::INFINITY).checked_to::<f32>(), Ok(f32::INFINITY));
    /// assert!(AnyValue::Float(1e300).checked_to::<f32>().is_err());
    /// ```
    ///
    /// # Errors
    /// [`DTypeError::ValueOverflow`].
    pub fn checked_to<T: BuiltIn>(self) -> Result<T> {
        let dtype = T::DTYPE;
        match self.fits(dtype) {
            true => Ok(self.to()),
            false => Err(DTypeError::ValueOverflow { value: self.to_string(), dtype }.into()),
        }
    }

    /// Does [`checked_to`](Self::checked_to) accept the dtype?
    fn fits(self, dtype: DType) -> bool {
        let is_real = !matches!(self, Self::Complex(_, im) if im != 0.0);
        match dtype.category() {
            Category::Bool => true,
            Category::Integer => is_real && self.fits_integer(dtype),
            Category::Float => is_real && fits_float(self.re(), dtype),
            Category::Complex => {
                let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
                let im = if let Self::Complex(_, im) = self { im } else { 0.0 };
                fits_float(self.re(), part) && fits_float(im, part)
            }
        }
    }

    fn fits_integer(self, dtype: DType) -> bool {
        let Some((min, max)) = dtype.integer_range() else { return false };
        match self {
            Self::Int(value) if min == 0 => (-max..=max).contains(&value),
            Self::Int(value) => (min..=max).contains(&value),
            value => {
                let re = value.re();
                re >= min as f64 && re.is_finite() && re as i128 <= max
            }
        }
    }

    /// Is it not 0?
    pub fn is_nonzero(self) -> bool {
        match self {
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Float(value) => value != 0.0,
            Self::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// The real part in double precision.
    fn re(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
            Self::Complex(re, _) => re,
        }
    }

    #[cfg(feature = "complex")]
    fn im(self) -> f64 {
        if let Self::Complex(_, im) = self { im } else { 0.0 }
    }
}

/// Infinities and NaN fit every float.
fn fits_float(value: f64, dtype: DType) -> bool {
    let max = match dtype {
        DType::F16 => 65_504.0,
        DType::Bf16 => f64::from(f32::from_bits(0x7F7F_0000)),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    !value.is_finite() || value.abs() <= max
}

impl fmt::Display for AnyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => fmt::Debug::fmt(value, f),
            // NaN is printed without a sign.
            Self::Complex(re, im) if im.is_nan() => write!(f, "({re:?}+{im:?}j)"),
            Self::Complex(re, im) => write!(f, "({re:?}{im:+?}j)"),
        }
    }
}

/// The element types of [`AnyTensorBase`]: those with a [`DType`]. The trait is sealed, as
/// [`Scalar`] is.
pub trait BuiltIn: Scalar + Into<AnyValue> {
    /// The value converted to this type; see [`AnyValue::to`].
    fn from_value(value: AnyValue) -> Self;

    /// The typed tensor, if its elements are of this type.
    fn tensor_of<K>(any: &AnyTensorBase<K>) -> Option<&TensorBase<Self, K>>;

    /// The typed operand, if its elements are of this type.
    ///
    /// # Errors
    /// The input, if they are not.
    fn operand_of(input: AnyInput<'_>) -> Result<Operand<'_, Self>, AnyInput<'_>>;

    /// The typed output, if its elements are of this type.
    ///
    /// # Errors
    /// The output, if they are not.
    fn output_of(output: AnyOutput<'_>) -> Result<Output<'_, Self>, AnyOutput<'_>>;

    /// The tensor with its dtype known at run time.
    fn into_any<K>(tensor: TensorBase<Self, K>) -> AnyTensorBase<K>;
}

macro_rules! from_values {
    ($($(#[$gate:meta])* $type:ty: |$x:ident| $to:expr, |$v:ident| $from:expr;)*) => {$(
        $(#[$gate])*
        impl From<$type> for AnyValue {
            fn from($x: $type) -> Self {
                $to
            }
        }

        $(#[$gate])*
        impl FromValue for $type {
            fn from_value($v: AnyValue) -> Self {
                $from
            }
        }
    )*};
}

/// The conversion alone, so that one table can implement the rest of [`BuiltIn`].
trait FromValue {
    fn from_value(value: AnyValue) -> Self;
}

macro_rules! plain {
    (integers $($int:ident)*; floats $($float:ident)*) => {
        from_values! {
            $($int: |x| AnyValue::Int(x.into()), |v| match v {
                AnyValue::Int(value) => value as $int,
                other => other.re() as $int,
            };)*
            $($float: |x| AnyValue::Float(x.into()), |v| match v {
                AnyValue::Int(value) => value as $float,
                other => other.re() as $float,
            };)*
        }
    };
}

plain! { integers u8 u16 u32 u64 i8 i16 i32 i64; floats f32 f64 }

from_values! {
    bool: |x| AnyValue::Bool(x), |v| v.is_nonzero();
    #[cfg(feature = "half")]
    half::f16: |x| AnyValue::Float(x.into()), |v| Self::from_f32(v.to());
    #[cfg(feature = "half")]
    half::bf16: |x| AnyValue::Float(x.into()), |v| Self::from_f32(v.to());
    #[cfg(feature = "complex")]
    num_complex::Complex<f32>: |x| AnyValue::Complex(x.re.into(), x.im.into()),
        |v| Self::new(v.re() as f32, v.im() as f32);
    #[cfg(feature = "complex")]
    num_complex::Complex<f64>: |x| AnyValue::Complex(x.re, x.im), |v| Self::new(v.re(), v.im());
}

macro_rules! built_in {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        $(#[$gate])*
        impl BuiltIn for $type {
            fn from_value(value: AnyValue) -> Self {
                FromValue::from_value(value)
            }

            fn tensor_of<K>(any: &AnyTensorBase<K>) -> Option<&TensorBase<Self, K>> {
                if let AnyTensorBase::$variant(tensor) = any { Some(tensor) } else { None }
            }

            fn operand_of(input: AnyInput<'_>) -> Result<Operand<'_, Self>, AnyInput<'_>> {
                match input {
                    AnyInput::$variant(operand) => Ok(operand),
                    other => Err(other),
                }
            }

            fn output_of(output: AnyOutput<'_>) -> Result<Output<'_, Self>, AnyOutput<'_>> {
                match output {
                    AnyOutput::$variant(output) => Ok(output),
                    other => Err(other),
                }
            }

            fn into_any<K>(tensor: TensorBase<Self, K>) -> AnyTensorBase<K> {
                AnyTensorBase::$variant(tensor)
            }
        }
    )*};
}

for_each_dtype!(built_in);
