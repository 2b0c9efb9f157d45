//! f32 and f64.

use tensor_core::ViewRef;

use super::{Accumulate, Compare, Equality, Inexact, Number, Ordered, Real};
use crate::math::{self, Binary, Decimal, FmaMode, Natural, SinCos};

macro_rules! floats {
    ($($type:ty: $count:ty, power $power:expr, fast $has_fast_power:literal $power_fast:expr,
        $atan2:ident, $gelu:ident;)*) => {$(
        impl Equality for $type {
            #[inline(always)]
            fn equals(self, other: Self) -> bool { self == other }
            #[inline(always)]
            fn is_nonzero(self) -> bool { self != 0.0 }
            #[inline(always)]
            fn is_not_a_number(self) -> bool { self.is_nan() }
        }

        impl Accumulate for $type {
            type Sum = Self;
            type Partial = Self;

            const EMPTY_SUM: Self = 0.0;
            const EMPTY_PRODUCT: Self = 1.0;

            #[inline(always)]
            fn to_partial(self) -> Self { self }
            #[inline(always)]
            fn rounded_sum(partial: Self) -> Self { partial }

            type Running = f64;

            #[inline(always)]
            fn to_running(self) -> f64 { self.into() }
            #[inline(always)]
            fn rounded_running(running: f64) -> Self { running as $type }
        }

        impl Compare for $type {
            type Key = Self;
            type Stored = Self;
            type RowNumber = $count;

            const LEAST: Self = Self::NEG_INFINITY;
            const GREATEST: Self = Self::INFINITY;

            #[inline(always)]
            fn to_key(self) -> Self { self }
            #[inline(always)]
            fn of_key(key: Self) -> Self { key }
            #[inline(always)]
            fn key_of_stored(stored: Self) -> Self { stored }
            #[inline(always)]
            fn is_less(self, other: Self) -> bool { self < other }
            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool { self <= other }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                if (self <= other) | self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                if (self >= other) | self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn or_nan_of(self, other: Self) -> Self {
                let nan: $count = if other.is_nan() { !0 } else { 0 };
                Self::from_bits(self.to_bits() | nan)
            }
        }

        impl Number for $type {
            type Float = Self;
            type Magnitude = Self;

            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self {
                self.mul_add(factor, summand)
            }
            #[inline(always)]
            fn magnitude(self) -> Self { self.abs() }
            #[inline(always)]
            fn power<M: FmaMode>(self, exponent: Self) -> Self { $power(self, exponent) }
            #[inline(always)]
            fn is_two(self) -> bool { self == 2.0 }

            const POWER_HAS_LARGE_ARGUMENT_PATH: bool = $has_fast_power;

            #[inline(always)]
            fn is_special_power(self, exponent: Self) -> bool {
                math::is_special_power(self, exponent)
            }
            #[inline(always)]
            fn power_fast<M: FmaMode>(self, exponent: Self) -> Self {
                $power_fast(self, exponent)
            }

            const DIVISION_HAS_LARGE_ARGUMENT_PATH: bool = true;

            #[inline(always)]
            fn to_float(self) -> Self { self }
        }

        impl Ordered for $type {
            const DIVIDES_BY_ZERO: bool = true;

            #[inline(always)]
            fn relu(self) -> Self { if self < 0.0 { 0.0 } else { self } }
            #[inline(always)]
            fn sign(self) -> Self {
                let positive: Self = if self > 0.0 { 1.0 } else { 0.0 };
                if self < 0.0 { -1.0 } else { positive }
            }
            #[inline(always)]
            fn rounded_down(self) -> Self { self.floor() }
            #[inline(always)]
            fn rounded_up(self) -> Self { self.ceil() }
            #[inline(always)]
            fn rounded(self) -> Self { self.round_ties_even() }
            #[inline(always)]
            fn rounded_to_zero(self) -> Self { self.trunc() }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                math::remainder(self % divisor, divisor)
            }
            fn floor_quotient(self, divisor: Self) -> Self {
                if divisor == 0.0 { return self / divisor; }
                math::floor_quotient(self, divisor, self % divisor)
            }
            #[inline(always)]
            fn is_large_quotient(self, divisor: Self) -> bool {
                math::is_large_quotient(self, divisor)
            }
            #[inline(always)]
            fn remainder_fast<M: FmaMode>(self, divisor: Self) -> Self {
                math::remainder(math::trunc_remainder::<M, Self>(self, divisor), divisor)
            }
            #[inline(always)]
            fn floor_quotient_fast<M: FmaMode>(self, divisor: Self) -> Self {
                let left = math::trunc_remainder::<M, Self>(self, divisor);
                math::floor_quotient(self, divisor, left)
            }
            #[inline(always)]
            fn trunc_quotient(self, divisor: Self) -> Self { (self / divisor).trunc() }
        }

        impl Inexact for $type {
            #[inline(always)]
            fn mean(sum: Self, count: usize) -> Self { sum / count as Self }

            const HAS_LARGE_ARGUMENT_PATH: bool = true;

            #[inline(always)]
            fn is_large_argument(self) -> bool { SinCos::is_large(self) }

            const EXP_HAS_LARGE_ARGUMENT_PATH: bool = true;

            #[inline(always)]
            fn is_large_exp(self) -> bool { math::is_large_exp(self) }
            #[inline(always)]
            fn exp_fast<M: FmaMode>(self) -> Self { math::exp_fast::<M, Self>(self) }

            const LOG_HAS_LARGE_ARGUMENT_PATH: bool = true;

            #[inline(always)]
            fn is_special_log(self) -> bool { math::is_special_log(self) }
            #[inline(always)]
            fn ln_fast<M: FmaMode>(self) -> Self { math::log_fast::<Natural, M, Self>(self) }
            #[inline(always)]
            fn log2_fast<M: FmaMode>(self) -> Self { math::log_fast::<Binary, M, Self>(self) }
            #[inline(always)]
            fn log10_fast<M: FmaMode>(self) -> Self { math::log_fast::<Decimal, M, Self>(self) }
            #[inline(always)]
            fn divided_by(self, divisor: Self) -> Self { self / divisor }
            #[inline(always)]
            fn reciprocal(self) -> Self { 1.0 / self }
            #[inline(always)]
            fn square_root(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn reciprocal_square_root(self) -> Self { 1.0 / self.sqrt() }
            #[inline(always)]
            fn exp_with<M: FmaMode>(self) -> Self { math::exp::<M, Self>(self) }
            #[inline(always)]
            fn ln_with<M: FmaMode>(self) -> Self { math::log::<Natural, M, Self>(self) }
            #[inline(always)]
            fn log2_with<M: FmaMode>(self) -> Self { math::log::<Binary, M, Self>(self) }
            #[inline(always)]
            fn log10_with<M: FmaMode>(self) -> Self { math::log::<Decimal, M, Self>(self) }
            #[inline(always)]
            fn sin_with<M: FmaMode>(self) -> Self { self.sin_of_quarters::<M>(0) }
            #[inline(always)]
            fn cos_with<M: FmaMode>(self) -> Self { self.sin_of_quarters::<M>(1) }
            fn sin_large(self) -> Self { self.sin_of_quarters_large(0) }
            fn cos_large(self) -> Self { self.sin_of_quarters_large(1) }
            #[inline(always)]
            fn tanh_with<M: FmaMode>(self) -> Self { math::tanh::<M, Self>(self) }
            #[inline(always)]
            fn sigmoid_with<M: FmaMode>(self) -> Self { math::sigmoid::<M, Self>(self) }
        }

        impl Real for $type {
            type Wide = Self;

            #[inline(always)]
            fn widened(self) -> Self { self }
            #[inline(always)]
            fn narrowed(wide: Self) -> Self { wide }
            fn wide_elements(elements: ViewRef<'_, Self>) -> Option<ViewRef<'_, Self>> {
                Some(elements)
            }
            fn narrow_elements(elements: ViewRef<'_, Self>) -> Option<ViewRef<'_, Self>> {
                Some(elements)
            }
            #[inline(always)]
            fn from_f64(number: f64) -> Self { number as $type }
            #[inline(always)]
            fn to_f64(self) -> f64 { self.into() }
            #[inline(always)]
            fn atan2_with<M: FmaMode>(self, x: Self) -> Self { math::$atan2::<M>(self, x) }
            #[inline(always)]
            fn gelu_with<M: FmaMode>(self) -> Self { math::$gelu::<M>(self) }
            #[inline(always)]
            fn silu_with<M: FmaMode>(self) -> Self { math::silu::<M, Self>(self) }
        }
    )*};
}

floats! {
    f32: u32, power math::pow32::<M>, fast true math::pow32_fast::<M>, atan2_32, gelu32;
    f64: u64, power math::pow64, fast false math::pow64, atan2_64, gelu64;
}
