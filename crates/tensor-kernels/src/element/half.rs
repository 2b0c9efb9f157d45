//! f16 and bf16: computed in f32 and rounded once.

use half::{bf16, f16};
use tensor_core::ViewRef;

use super::{Accumulate, Compare, Equality, Inexact, Number, Ordered, Real};
use crate::math::{FmaMode, half::Half};

/// Implements functions of halves by the f32 functions of the same name.
macro_rules! by_f32 {
    ($trait:ident: $($(<$m:ident>)? $name:ident($self:ident $(, $other:ident)*);)*) => {$(
        #[inline(always)]
        fn $name$(<$m: FmaMode>)?($self $(, $other: Self)*) -> Self {
            Self::narrow(<f32 as $trait>::$name$(::<$m>)?($self.widen() $(, $other.widen())*))
        }
    )*};
}

macro_rules! halves {
    ($($type:ty: $has_far:literal;)*) => {$(
        impl Equality for $type {
            #[inline(always)]
            fn equals(self, other: Self) -> bool { self.widen() == other.widen() }
            #[inline(always)]
            fn is_nonzero(self) -> bool { self.to_bits() & 0x7FFF != 0 }
            #[inline(always)]
            fn is_not_a_number(self) -> bool { self.widen().is_nan() }
        }

        impl Accumulate for $type {
            type Sum = Self;
            type Partial = f32;

            const EMPTY_SUM: f32 = 0.0;
            const EMPTY_PRODUCT: f32 = 1.0;

            #[inline(always)]
            fn to_partial(self) -> f32 { self.widen() }
            #[inline(always)]
            fn rounded_sum(partial: f32) -> Self { Self::narrow(partial) }

            type Running = f64;

            #[inline(always)]
            fn to_running(self) -> f64 { self.widen().into() }
            #[inline(always)]
            fn rounded_running(running: f64) -> Self { Self::from_f64(running) }
        }

        impl Compare for $type {
            type Key = f32;
            type Stored = Self;
            type RowNumber = u32;

            const LEAST: f32 = f32::NEG_INFINITY;
            const GREATEST: f32 = f32::INFINITY;

            #[inline(always)]
            fn to_key(self) -> f32 { self.widen() }
            #[inline(always)]
            fn of_key(key: f32) -> Self { Self::narrow(key) }
            #[inline(always)]
            fn key_of_stored(stored: Self) -> f32 { stored.widen() }
            #[inline(always)]
            fn is_less(self, other: Self) -> bool { self.widen() < other.widen() }
            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool { self.widen() <= other.widen() }
            by_f32! { Compare: minimum(self, other); maximum(self, other); or_nan_of(self, other); }
        }

        impl Number for $type {
            type Float = Self;
            type Magnitude = Self;

            by_f32! { Number:
                plus(self, other);
                minus(self, other);
                times(self, other);
                times_plus(self, factor, summand);
                <M> power(self, exponent);
            }
            #[inline(always)]
            fn negated(self) -> Self { Self::from_bits(self.to_bits() ^ 0x8000) }
            #[inline(always)]
            fn magnitude(self) -> Self { Self::from_bits(self.to_bits() & 0x7FFF) }
            #[inline(always)]
            fn is_two(self) -> bool { self.widen() == 2.0 }
            #[inline(always)]
            fn to_float(self) -> Self { self }
        }

        impl Ordered for $type {
            const DIVIDES_BY_ZERO: bool = true;

            by_f32! { Ordered:
                relu(self);
                sign(self);
                rounded_down(self);
                rounded_up(self);
                rounded(self);
                rounded_to_zero(self);
                remainder(self, divisor);
                floor_quotient(self, divisor);
                trunc_quotient(self, divisor);
            }
        }

        impl Inexact for $type {
            #[inline(always)]
            fn mean(sum: f32, count: usize) -> Self { Self::narrow(sum / count as f32) }

            const HAS_LARGE_ARGUMENT_PATH: bool = $has_far;

            #[inline(always)]
            fn is_large_argument(self) -> bool {
                Self::HAS_LARGE_ARGUMENT_PATH && Inexact::is_large_argument(self.widen())
            }
            by_f32! { Inexact:
                divided_by(self, divisor);
                reciprocal(self);
                square_root(self);
                reciprocal_square_root(self);
                sin_large(self);
                cos_large(self);
            }
            by_f32! { Inexact:
                <M> exp_with(self);
                <M> ln_with(self);
                <M> log2_with(self);
                <M> log10_with(self);
                <M> sin_with(self);
                <M> cos_with(self);
                <M> tanh_with(self);
                <M> sigmoid_with(self);
            }
        }

        impl Real for $type {
            type Wide = f32;

            #[inline(always)]
            fn widened(self) -> f32 { self.widen() }
            #[inline(always)]
            fn narrowed(wide: f32) -> Self { Self::narrow(wide) }
            fn wide_elements(_: ViewRef<'_, Self>) -> Option<ViewRef<'_, f32>> { None }
            fn narrow_elements(_: ViewRef<'_, f32>) -> Option<ViewRef<'_, Self>> { None }
            fn from_f64(number: f64) -> Self { <$type>::from_f64(number) }
            fn to_f64(self) -> f64 { self.widen().into() }

            by_f32! { Real: <M> atan2_with(self, x); <M> gelu_with(self); <M> silu_with(self); }
        }
    )*};
}

halves! {
    f16: false; // its largest is not far
    bf16: true;
}
