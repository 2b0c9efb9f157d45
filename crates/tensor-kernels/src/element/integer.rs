//! bool and the integers.

use super::{Accumulate, Bits, Compare, Equality, Integer, Number, Ordered, RowNumber};
use crate::math::FmaMode;

macro_rules! discrete {
    ($($type:ty: $zero:expr, $least:expr, $greatest:expr, $count:ty, $sum:ty,
        key $key:ty: |$x:ident| $to_key:expr, |$k:ident| $of_key:expr;)*) => {$(
        impl Equality for $type {
            #[inline(always)]
            fn equals(self, other: Self) -> bool { self == other }
            #[inline(always)]
            fn is_nonzero(self) -> bool { self != $zero }
        }

        impl Bits for $type {
            #[inline(always)]
            fn bits_and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn bits_or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn bits_xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn bits_not(self) -> Self { !self }
        }

        impl Accumulate for $type {
            type Sum = $sum;
            type Partial = $sum;

            const EMPTY_SUM: $sum = 0;
            const EMPTY_PRODUCT: $sum = 1;

            #[inline(always)]
            fn to_partial(self) -> $sum { self as $sum }
            #[inline(always)]
            fn rounded_sum(partial: $sum) -> $sum { partial }

            type Running = $sum;

            #[inline(always)]
            fn to_running(self) -> $sum { self as $sum }
            #[inline(always)]
            fn rounded_running(running: $sum) -> $sum { running }
        }

        impl Compare for $type {
            type Key = $key;
            type Stored = $key;
            type RowNumber = $count;

            const LEAST: $key = $least;
            const GREATEST: $key = $greatest;

            #[inline(always)]
            fn to_key(self) -> $key {
                let $x = self;
                $to_key
            }
            #[inline(always)]
            fn of_key($k: $key) -> Self { $of_key }
            #[inline(always)]
            fn key_of_stored(stored: $key) -> $key { stored }
            #[inline(always)]
            fn is_less(self, other: Self) -> bool { self < other }
            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool { self <= other }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self { self.min(other) }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self { self.max(other) }
            #[inline(always)]
            fn or_nan_of(self, _: Self) -> Self { self }
        }
    )*};
}

discrete! {
    bool: false, 0, 1, u8, i64, key u8: |x| x.into(), |key| key != 0;
    u8: 0, u8::MIN, u8::MAX, u8, i64, key u8: |x| x, |key| key;
    u16: 0, u16::MIN, u16::MAX, u16, i64, key u16: |x| x, |key| key;
    u32: 0, u32::MIN, u32::MAX, u32, i64, key u32: |x| x, |key| key;
    u64: 0, u64::MIN, u64::MAX, u64, u64, key u64: |x| x, |key| key;
    i8: 0, i8::MIN, i8::MAX, u8, i64, key i8: |x| x, |key| key;
    i16: 0, i16::MIN, i16::MAX, u16, i64, key i16: |x| x, |key| key;
    i32: 0, i32::MIN, i32::MAX, u32, i64, key i32: |x| x, |key| key;
    i64: 0, i64::MIN, i64::MAX, u64, i64, key i64: |x| x, |key| key;
}

macro_rules! row_numbers {
    ($($type:ty),*) => {$(
        impl RowNumber for $type {
            #[inline(always)]
            fn of(n: u8) -> Self { n.into() }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn to_u32(self) -> u32 { self as u32 }
        }
    )*};
}

row_numbers!(u8, u16, u32, u64);

/// Is a number below 0? For unsigned types the comparison would be a lint.
macro_rules! below_zero {
    (signed $value:expr) => {
        $value < 0
    };
    (unsigned $value:expr) => {{
        let _ = $value;
        false
    }};
}

macro_rules! integers {
    ($($sort:ident: $($type:ty),*;)*) => {$($(
        impl Number for $type {
            type Float = f32;
            type Magnitude = Self;

            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn negated(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self {
                self.wrapping_mul(factor).wrapping_add(summand)
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                if below_zero!($sort self) { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn power<M: FmaMode>(self, exponent: Self) -> Self {
                let minus_one = self.wrapping_add(1) == 0;
                match (below_zero!($sort exponent), self) {
                    (false, _) => self.wrapping_pow_by_squares(exponent),
                    (true, 1) => 1,
                    (true, _) if minus_one => if exponent & 1 == 0 { 1 } else { self },
                    (true, _) => 0,
                }
            }
            #[inline(always)]
            fn is_two(self) -> bool { self == 2 }
            #[inline(always)]
            fn to_float(self) -> f32 { self as f32 }
        }

        impl Powers for $type {
            #[inline(always)]
            fn wrapping_pow_by_squares(self, mut exponent: Self) -> Self {
                let (mut power, mut square): (Self, Self) = (1, self);
                while exponent != 0 {
                    power = if exponent & 1 == 0 { power } else { power.wrapping_mul(square) };
                    square = square.wrapping_mul(square);
                    exponent >>= 1;
                }
                power
            }
        }

        impl Ordered for $type {
            const DIVIDES_BY_ZERO: bool = false;

            #[inline(always)]
            fn relu(self) -> Self { self.max(0) }
            #[inline(always)]
            fn sign(self) -> Self {
                let positive = Self::from(self != 0);
                if below_zero!($sort self) { (0 as Self).wrapping_sub(1) } else { positive }
            }
            #[inline(always)]
            fn rounded_down(self) -> Self { self }
            #[inline(always)]
            fn rounded_up(self) -> Self { self }
            #[inline(always)]
            fn rounded(self) -> Self { self }
            #[inline(always)]
            fn rounded_to_zero(self) -> Self { self }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                let left = self.wrapping_rem(divisor);
                let opposed = left != 0 && below_zero!($sort left ^ divisor);
                if opposed { left + divisor } else { left }
            }
            #[inline(always)]
            fn floor_quotient(self, divisor: Self) -> Self {
                let left = self.wrapping_rem(divisor);
                let opposed = left != 0 && below_zero!($sort left ^ divisor);
                self.wrapping_div(divisor).wrapping_sub(Self::from(opposed))
            }
            #[inline(always)]
            fn trunc_quotient(self, divisor: Self) -> Self { self.wrapping_div(divisor) }
        }

        impl Integer for $type {
            #[inline(always)]
            fn shifted_left(self, by: Self) -> Self {
                let within = !below_zero!($sort by) && (by as u64) < u64::from(Self::BITS);
                if within { self.wrapping_shl(by as u32) } else { 0 }
            }
            #[inline(always)]
            fn shifted_right(self, by: Self) -> Self {
                let within = !below_zero!($sort by) && (by as u64) < u64::from(Self::BITS);
                // The result of a shift by the full width or more.
                let sign = (self >> (Self::BITS - 1)) >> 1;
                if within { self.wrapping_shr(by as u32) } else { sign }
            }
        }
    )*)*};
}

/// Powers with non-negative exponents.
trait Powers {
    fn wrapping_pow_by_squares(self, exponent: Self) -> Self;
}

integers! {
    signed: i8, i16, i32, i64;
    unsigned: u8, u16, u32, u64;
}
