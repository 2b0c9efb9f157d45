//! Complex numbers: what num-complex has, number by number.

use num_complex::Complex;

use super::{Fraction, Logic, Number, Summable};
use crate::math::Arith;

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Logic for Complex<$part> {
            #[inline(always)]
            fn same(self, other: Self) -> bool { self == other }
            #[inline(always)]
            fn truth(self) -> bool { (self.re != 0.0) | (self.im != 0.0) }
            #[inline(always)]
            fn is_not_a_number(self) -> bool { self.re.is_nan() | self.im.is_nan() }
        }

        impl Summable for Complex<$part> {
            type Sum = Self;
            type Partial = Self;

            const ZERO: Self = Self::new(0.0, 0.0);
            const ONE: Self = Self::new(1.0, 0.0);

            #[inline(always)]
            fn to_partial(self) -> Self { self }
            #[inline(always)]
            fn rounded_sum(partial: Self) -> Self { partial }
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
            fn power<M: Arith>(self, exponent: Self) -> Self { self.powc(exponent) }
            #[inline(always)]
            fn to_float(self) -> Self { self }
        }

        impl Fraction for Complex<$part> {
            #[inline(always)]
            fn mean(sum: Self, count: usize) -> Self { sum / count as $part }
            #[inline(always)]
            fn over(self, divisor: Self) -> Self { self / divisor }
            #[inline(always)]
            fn reciprocal(self) -> Self { Self::new(1.0, 0.0) / self }
            fn root(self) -> Self { self.sqrt() }
            fn reciprocal_root(self) -> Self { self.root().reciprocal() }
            fn exp<M: Arith>(self) -> Self { Self::exp(self) }
            fn ln<M: Arith>(self) -> Self { Self::ln(self) }
            fn log2<M: Arith>(self) -> Self { Self::log2(self) }
            fn log10<M: Arith>(self) -> Self { Self::log10(self) }
            fn sin<M: Arith>(self) -> Self { Self::sin(self) }
            fn cos<M: Arith>(self) -> Self { Self::cos(self) }
            fn far_sin(self) -> Self { Self::sin(self) }
            fn far_cos(self) -> Self { Self::cos(self) }
            fn tanh<M: Arith>(self) -> Self { Self::tanh(self) }
            fn sigmoid<M: Arith>(self) -> Self {
                Fraction::reciprocal(Self::new(1.0, 0.0) + Self::exp(-self))
            }
        }
    )*};
}

complex!(f32, f64);
