//! Conversions between all element types.
//!
//! - To a float: to the nearest value, ties to even; values out of range become infinite. f16 and
//!   bf16 are rounded from f32, as in PyTorch.
//! - To an integer: towards zero; values out of range become the nearest bound, and NaN becomes 0.
//!   (PyTorch leaves these to the C compiler.)
//! - To bool: whether the value is not zero.
//! - From complex: the real part. From bool: 0 or 1.

use tensor_core::Scalar;

#[cfg(feature = "half")]
use crate::math::half::Half;

/// Conversion to `U`, from every built-in type to every other.
pub trait Cast<U>: Scalar {
    /// The converted value.
    fn cast(self) -> U;
}

/// The conversion of `value`, by the kinds of both types.
macro_rules! convert {
    ($value:ident, $from:ident $from_type:ty => $to:ident $to_type:ty) => {
        convert!(@to $to $to_type, convert!(@from $from $value))
    };
    (@from bool $v:ident) => { $v as u8 };
    (@from plain $v:ident) => { $v };
    (@from half $v:ident) => { Half::widen($v) };
    (@from complex $v:ident) => { $v.re };
    (@to plain $to:ty, $v:expr) => { $v as $to };
    (@to half $to:ty, $v:expr) => {
        <$to as Half>::narrow($v as f32)
    };
}

macro_rules! casts {
    ([$($from_kind:ident $from:ty,)*] $to:tt) => {
        $(casts!(@one $from_kind $from, $to);)*
    };
    (@one $from_kind:ident $from:ty, [$($to_kind:ident $to:ty,)*]) => {
        $(casts!(@pair $from_kind $from, $to_kind $to);)*
    };
    (@pair $from_kind:ident $from:ty, bool $to:ty) => {
        impl Cast<bool> for $from {
            #[inline(always)]
            fn cast(self) -> bool { crate::Equality::is_nonzero(self) }
        }
    };
    (@pair complex $from:ty, complex $to:ty) => {
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { <$to>::new(self.re as _, self.im as _) }
        }
    };
    (@pair $from_kind:ident $from:ty, complex $to:ty) => {
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                let value = self;
                <$to>::new(convert!(@from $from_kind value) as _, 0.0)
            }
        }
    };
    (@pair $from_kind:ident $from:ty, $to_kind:ident $to:ty) => {
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                let value = self;
                convert!(value, $from_kind $from => $to_kind $to)
            }
        }
    };
}

casts! {
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,]
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,]
}

#[cfg(feature = "half")]
casts! {
    [half half::f16, half half::bf16,]
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,
     half half::f16, half half::bf16,]
}
#[cfg(feature = "half")]
casts! {
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,]
    [half half::f16, half half::bf16,]
}

#[cfg(feature = "complex")]
casts! {
    [complex num_complex::Complex<f32>, complex num_complex::Complex<f64>,]
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,
     complex num_complex::Complex<f32>, complex num_complex::Complex<f64>,]
}
#[cfg(feature = "complex")]
casts! {
    [bool bool, plain u8, plain u16, plain u32, plain u64, plain i8, plain i16, plain i32,
        plain i64, plain f32, plain f64,]
    [complex num_complex::Complex<f32>, complex num_complex::Complex<f64>,]
}

#[cfg(all(feature = "half", feature = "complex"))]
casts! {
    [half half::f16, half half::bf16,]
    [complex num_complex::Complex<f32>, complex num_complex::Complex<f64>,]
}
#[cfg(all(feature = "half", feature = "complex"))]
casts! {
    [complex num_complex::Complex<f32>, complex num_complex::Complex<f64>,]
    [half half::f16, half half::bf16,]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_to_integers_saturate() {
        let cases = [
            (1.9f32, 1i8),
            (-1.9, -1),
            (300.0, 127),
            (-300.0, -128),
            (f32::NAN, 0),
            (f32::INFINITY, 127),
        ];
        for (from, to) in cases {
            assert_eq!(Cast::<i8>::cast(from), to, "{from}");
        }
    }

    #[test]
    fn bool_is_zero_or_one_and_back() {
        assert_eq!((Cast::<f64>::cast(true), Cast::<u8>::cast(false)), (1.0, 0));
        let as_bool =
            [Cast::<bool>::cast(0.5f32), Cast::<bool>::cast(f32::NAN), Cast::<bool>::cast(-0.0f64)];
        assert_eq!(as_bool, [true, true, false]);
    }

    #[cfg(feature = "half")]
    #[test]
    fn to_half_the_nearest_by_way_of_f32() {
        let cases = [(2049.0, 2048.0), (2051.0, 2052.0), (1e9, f32::INFINITY), (-0.0, -0.0)];
        for (from, to) in cases {
            assert_eq!(
                Cast::<half::f16>::cast(from).to_f32().to_bits(),
                f32::to_bits(to),
                "{from}"
            );
        }
    }

    #[cfg(feature = "complex")]
    #[test]
    fn complex_keeps_its_real_part() {
        use num_complex::Complex;
        assert_eq!(Cast::<i32>::cast(Complex::new(2.5f32, 9.0)), 2);
        assert!(Cast::<bool>::cast(Complex::new(0.0f32, 1.0)));
        assert_eq!(Cast::<Complex<f64>>::cast(3u8), Complex::new(3.0, 0.0));
    }
}
