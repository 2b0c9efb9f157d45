//! Remainders and rounded quotients, exact as the standard library's `%`, but in vectors.

use super::{Float, FmaMode};

/// Is the quotient too large for [`trunc_remainder`], or a divisor 0 or infinite, or one of both
/// NaN?
#[inline(always)]
pub(crate) fn is_large_quotient<T: Float>(a: T, b: T) -> bool {
    let divisor = b.abs();
    let is_fast = (a.abs() < divisor * T::MAX_EXACT_QUOTIENT) & (divisor < T::INFINITY);
    !is_fast
}

/// `a % b`: what is left of a after division by b rounded to 0, with the sign of a.
///
/// The rounded quotient of magnitudes can be the next integer above the exact one, never below it.
/// Then the difference is negative; it is exact all the same, as every remainder is a multiple of
/// the last place of the smaller number and below the divisor.
#[inline(always)]
pub(crate) fn trunc_remainder<M: FmaMode, T: Float>(a: T, b: T) -> T {
    if !M::FUSES {
        return a.library_remainder(b);
    }
    let (size, divisor) = (a.abs(), b.abs());
    let left = (size / divisor).trunc().fma::<M>(-divisor, size);
    let left = if left < T::ZERO { left + divisor } else { left };
    left.signed_as(a)
}

/// The remainder with the divisor's sign, by the one with the dividend's sign.
#[inline(always)]
pub(crate) fn remainder<T: Float>(left: T, b: T) -> T {
    if is_opposed(left, b) { left + b } else { left }
}

/// The quotient rounded down, by the remainder of a with its own sign; b is not 0.
#[inline(always)]
pub(crate) fn floor_quotient<T: Float>(a: T, b: T, left: T) -> T {
    let below = if is_opposed(left, b) { T::ONE } else { T::ZERO };
    let quotient = (a - left) / b - below;
    let down = quotient.floor();
    let rounded = if quotient - down > T::HALF { down + T::ONE } else { down };
    if quotient == T::ZERO { T::ZERO.signed_as(a / b) } else { rounded }
}

/// Is the remainder on the other side of 0 than the divisor?
#[inline(always)]
fn is_opposed<T: Float>(left: T, b: T) -> bool {
    (left != T::ZERO) & ((left < T::ZERO) != (b < T::ZERO))
}
