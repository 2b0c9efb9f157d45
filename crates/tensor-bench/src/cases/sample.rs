//! What measurements need of an element type: values to fill arrays with, a pass to time, and
//! checks of results.

use std::{num::Wrapping, ops::Add};

use half::{bf16, f16};
use num_complex::Complex;
use tensor_kernels::Scalar;

/// A built-in element type that can be measured.
pub trait Sample: Scalar + bytemuck::Zeroable + std::fmt::Debug {
    /// The type of a naive sum: wide enough for the check, narrow enough to be summed at memory
    /// bandwidth.
    type Sum: Copy + Default + Add<Output = Self::Sum> + Send;

    /// The value at `index` of an array: pseudorandom, the same in every run, below 2 in magnitude
    /// for floats.
    fn sample(index: usize) -> Self;

    /// The memory of elements as bytes, which may be overwritten with any; `None` for bools.
    fn bytes_mut(_elements: &mut [Self]) -> Option<&mut [u8]> {
        None
    }

    /// The elementwise pass of the report: `2x + 1`, integers wrapping, booleans negated.
    fn affine(self) -> Self;

    /// Equality up to rounding. Two NaNs are equal; integers must be equal exactly.
    fn close(self, other: Self) -> bool;

    /// This value as a term of a sum.
    fn term(self) -> Self::Sum;

    /// A sum as one number.
    fn number(sum: Self::Sum) -> f64;

    /// The right sum, and how far another order of additions may differ from it: 0 for integers.
    fn expected_sum(terms: impl Iterator<Item = Self>) -> (f64, f64);
}

/// A 64-bit hash of the index (SplitMix64).
fn mix(index: usize) -> u64 {
    let mut z = (index as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A float in −1 … 1 with 20 random bits.
fn unit(bits: u64) -> f32 {
    (bits >> 44) as f32 / (1u32 << 19) as f32 - 1.0
}

/// A sum in double precision, and the error that is allowed for it. The naive loop adds one after
/// the other to each of 16 accumulators of single precision, which loses half a unit in the last
/// place each time; where magnitudes overflow it, any sum is right.
fn sum_with_tolerance(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut magnitudes, mut count) = (0.0, 0.0, 0.0);
    for term in terms {
        sum += term;
        magnitudes += term.abs();
        count += 1.0;
    }
    let rounding = (count / 16.0 * f64::from(f32::EPSILON) / 2.0).max(1e-4);
    let overflows = magnitudes > f64::from(f32::MAX);
    (sum, if overflows { f64::INFINITY } else { rounding * magnitudes })
}

macro_rules! sample_integers {
    ($($type:ty, $sum:ty;)*) => {$(
        impl Sample for $type {
            type Sum = Wrapping<$sum>;

            fn bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(elements))
            }

            fn sample(index: usize) -> Self {
                mix(index) as $type
            }

            fn affine(self) -> Self {
                self.wrapping_mul(2).wrapping_add(1)
            }

            fn close(self, other: Self) -> bool {
                self == other
            }

            fn term(self) -> Wrapping<$sum> {
                Wrapping(<$sum>::from(self))
            }

            fn number(sum: Wrapping<$sum>) -> f64 {
                sum.0 as f64
            }

            fn expected_sum(terms: impl Iterator<Item = Self>) -> (f64, f64) {
                (Self::number(terms.map(Self::term).fold(Default::default(), Add::add)), 0.0)
            }
        }
    )*};
}

sample_integers! {
    u8, u64; u16, u64; u32, u64; u64, u64;
    i8, i64; i16, i64; i32, i64; i64, i64;
}

macro_rules! sample_floats {
    ($($type:ty, $sum:ty, $from:expr, $widen:expr;)*) => {$(
        impl Sample for $type {
            type Sum = $sum;

            fn bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(elements))
            }

            fn sample(index: usize) -> Self {
                $from(unit(mix(index)))
            }

            fn affine(self) -> Self {
                self * $from(2.0_f32) + $from(1.0_f32)
            }

            fn close(self, other: Self) -> bool {
                let (a, b) = (f64::from(self), f64::from(other));
                let rounding = 4.0 * f64::from(Self::EPSILON);
                let apart = (a - b).abs();
                a == b
                    || (a.is_nan() && b.is_nan())
                    || apart <= rounding * a.abs().max(b.abs())
            }

            fn term(self) -> $sum {
                $widen(self)
            }

            fn number(sum: $sum) -> f64 {
                f64::from(sum)
            }

            fn expected_sum(terms: impl Iterator<Item = Self>) -> (f64, f64) {
                sum_with_tolerance(terms.map(|x| Self::number(x.term())))
            }
        }
    )*};
}

sample_floats! {
    f32, f32, f32::from, f32::from;
    f64, f64, f64::from, f64::from;
    f16, f32, f16::from_f32, f16::to_f32;
    bf16, f32, bf16::from_f32, bf16::to_f32;
}

macro_rules! sample_complex {
    ($($part:ty),*) => {$(
        impl Sample for Complex<$part> {
            type Sum = Complex<$part>;

            fn bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(elements))
            }

            fn sample(index: usize) -> Self {
                let bits = mix(index);
                Complex::new(<$part>::from(unit(bits)), <$part>::from(unit(bits << 20)))
            }

            fn affine(self) -> Self {
                self * 2.0 + 1.0
            }

            fn close(self, other: Self) -> bool {
                let rounding = 8.0 * f64::from(<$part>::EPSILON);
                let apart = f64::from((self - other).norm());
                self == other
                    || self.is_nan() && other.is_nan()
                    || apart <= rounding * f64::from(self.norm())
            }

            fn term(self) -> Self {
                self
            }

            fn number(sum: Self) -> f64 {
                f64::from(sum.re) + f64::from(sum.im)
            }

            fn expected_sum(terms: impl Iterator<Item = Self>) -> (f64, f64) {
                sum_with_tolerance(terms.map(|x| Self::number(x.term())))
            }
        }
    )*};
}

sample_complex!(f32, f64);

impl Sample for bool {
    type Sum = u64;

    fn sample(index: usize) -> Self {
        mix(index) & 1 == 1
    }

    fn affine(self) -> Self {
        !self
    }

    fn close(self, other: Self) -> bool {
        self == other
    }

    fn term(self) -> u64 {
        u64::from(self)
    }

    fn number(sum: u64) -> f64 {
        sum as f64
    }

    fn expected_sum(terms: impl Iterator<Item = Self>) -> (f64, f64) {
        (terms.map(u64::from).sum::<u64>() as f64, 0.0)
    }
}

/// Calls generic code for an element type known at run time: `with_dtype!(dtype, T =>
/// work::<T>(…))`. The forms `with_dtype!(number: dtype, …)`, `ordered:`, `fraction:`, `reduced:`
/// and `averaged:` cover only the types with those operations, and fail for others.
#[macro_export]
macro_rules! with_dtype {
    (number: $dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body,
            U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F32 f32, F64 f64,
            F16 half::f16, Bf16 half::bf16,
            C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (ordered: $dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body,
            U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F32 f32, F64 f64,
            F16 half::f16, Bf16 half::bf16)
    };
    (fraction: $dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body,
            F32 f32, F64 f64, F16 half::f16, Bf16 half::bf16,
            C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (reduced: $dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body,
            U8 u8, I32 i32, F16 half::f16, F32 f32, F64 f64)
    };
    (averaged: $dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body, F16 half::f16, F32 f32, F64 f64)
    };
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::with_dtype!(@ $dtype, $T, $body,
            Bool bool, U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64,
            F32 f32, F64 f64,
            F16 half::f16, Bf16 half::bf16,
            C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (@ $dtype:expr, $T:ident, $body:expr, $($variant:ident $type:ty),*) => {
        match $dtype {
            $(tensor_kernels::DType::$variant => {
                type $T = $type;
                $body
            })*
            other => Err($crate::Failure::input(format!("dtype {other} is not supported here"))),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct<T: Sample>(n: usize) -> usize {
        let values: Vec<T> = (0..n).map(T::sample).collect();
        (0..n).filter(|&i| (0..i).all(|j| values[i] != values[j])).count()
    }

    #[test]
    fn samples_differ_from_place_to_place() {
        assert!(distinct::<f32>(200) > 190);
        assert!(distinct::<u16>(200) > 190);
        assert!(distinct::<Complex<f64>>(200) > 190);
        assert_eq!(distinct::<bool>(200), 2);
    }

    #[test]
    fn the_pass_is_twice_plus_one() {
        assert_eq!((3.5f32.affine(), 200u8.affine(), true.affine()), (8.0, 145, false));
        assert_eq!(Complex::new(1.0f32, 2.0).affine(), Complex::new(3.0, 4.0));
    }

    #[test]
    fn close_is_up_to_rounding() {
        assert!(1.0f32.close(1.0 + 2.0 * f32::EPSILON) && !1.0f32.close(1.00001));
        assert!(
            f64::NAN.close(f64::NAN) && !f64::NAN.close(1.0) && f64::INFINITY.close(f64::INFINITY)
        );
        assert!(f16::from_f32(1.0).close(f16::from_f32(1.002)) && !3u8.close(4));
    }

    #[test]
    fn floats_stay_small() {
        assert!((0..1000).all(|i| f32::sample(i).abs() <= 1.0));
    }
}
