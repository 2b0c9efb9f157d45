//! Complex numbers: sums and products by the definition, all else by [`math`](crate::math).

use num_complex::Complex;

use super::{Accumulate, Equality, Inexact, Number};
use crate::math::{
    FmaMode,
    complex::{self, ByDouble},
};

macro_rules! complex {
    ($($part:ty: $quotient:ident;)*) => {$(
        impl Equality for Complex<$part> {
            #[inline(always)]
            fn equals(self, other: Self) -> bool { self == other }
            #[inline(always)]
            fn is_nonzero(self) -> bool { (self.re != 0.0) | (self.im != 0.0) }
            #[inline(always)]
            fn is_not_a_number(self) -> bool { self.re.is_nan() | self.im.is_nan() }
        }

        impl Accumulate for Complex<$part> {
            type Sum = Self;
            type Partial = Self;

            const EMPTY_SUM: Self = Self::new(0.0, 0.0);
            const EMPTY_PRODUCT: Self = Self::new(1.0, 0.0);

            #[inline(always)]
            fn to_partial(self) -> Self { self }
            #[inline(always)]
            fn rounded_sum(partial: Self) -> Self { partial }

            type Running = Complex<f64>;

            #[inline(always)]
            fn to_running(self) -> Complex<f64> { Complex::new(self.re.into(), self.im.into()) }
            #[inline(always)]
            fn rounded_running(running: Complex<f64>) -> Self {
                Self::new(running.re as $part, running.im as $part)
            }
        }

        impl Number for Complex<$part> {
            type Float = Self;
            type Magnitude = $part;

            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self { self * factor + summand }
            fn magnitude(self) -> $part { self.norm() }
            fn power<M: FmaMode>(self, exponent: Self) -> Self {
                self.by_double(|z| complex::power(z, exponent.to_double()))
            }
            // A product has other special values than a power.
            fn is_two(self) -> bool { false }
            #[inline(always)]
            fn to_float(self) -> Self { self }
        }

        impl Inexact for Complex<$part> {
            #[inline(always)]
            fn mean(sum: Self, count: usize) -> Self { sum / count as $part }
            #[inline(always)]
            fn divided_by(self, divisor: Self) -> Self { complex::$quotient(self, divisor) }
            #[inline(always)]
            fn reciprocal(self) -> Self { Self::ONE.divided_by(self) }
            fn square_root(self) -> Self { self.by_double(complex::sqrt) }
            fn reciprocal_square_root(self) -> Self { self.by_double(complex::rsqrt) }
            fn exp_with<M: FmaMode>(self) -> Self { self.by_double(complex::Double::exp) }
            fn ln_with<M: FmaMode>(self) -> Self { self.by_double(complex::ln) }
            fn log2_with<M: FmaMode>(self) -> Self { self.by_double(complex::log2) }
            fn log10_with<M: FmaMode>(self) -> Self { self.by_double(complex::log10) }
            fn sin_with<M: FmaMode>(self) -> Self { self.by_double(complex::Double::sin) }
            fn cos_with<M: FmaMode>(self) -> Self { self.by_double(complex::Double::cos) }
            fn sin_large(self) -> Self { self.by_double(complex::Double::sin) }
            fn cos_large(self) -> Self { self.by_double(complex::Double::cos) }
            fn tanh_with<M: FmaMode>(self) -> Self { self.by_double(complex::tanh) }
            fn sigmoid_with<M: FmaMode>(self) -> Self { self.by_double(complex::sigmoid) }
        }
    )*};
}

complex! {
    f32: quotient32;
    f64: quotient64;
}
