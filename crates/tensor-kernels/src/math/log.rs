//! Logarithms.

use super::{Float, FmaMode};

/// `x = 2^n (1 + f)`, with f from √½ − 1 to √2 − 1, and ln(1 + f) as `f − half_square + rest`.
struct Parts<T> {
    n: T,
    f: T,
    half_square: T,
    rest: T,
}

impl<T: Float> Parts<T> {
    /// With `s = f / (2 + f)`, `ln(1 + f) = ln((1 + s) / (1 − s))`. A polynomial in s² computes the
    /// part beyond f − f²/2.
    #[inline(always)]
    fn of<M: FmaMode>(x: T) -> Self {
        let subnormal = x < T::MIN_NORMAL;
        let lifted = if subnormal { x * T::SUBNORMAL_SCALE } else { x };
        let down = if subnormal { T::SUBNORMAL_SCALE_LOG2 } else { T::ZERO };
        let (exponent, m) = lifted.split();
        let f = m - T::ONE;
        let s = f / (T::TWO + f);
        let square = s * s;
        let half_square = T::HALF * f * f;
        let rest = s * square.polynomial::<M>(T::LOG).fma::<M>(square, half_square);
        Self { n: exponent - down, f, half_square, rest }
    }

    /// `log` where x is positive and finite; the special values of the logarithm elsewhere.
    #[inline(always)]
    fn unless_special(x: T, log: T) -> T {
        let positive = if x < T::INFINITY { log } else { x };
        let otherwise = if x < T::ZERO { T::NAN } else { x };
        let otherwise = if x == T::ZERO { -T::INFINITY } else { otherwise };
        if x > T::ZERO { positive } else { otherwise }
    }
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln<M: FmaMode, T: Float>(x: T) -> T {
    let Parts { n, f, half_square, rest } = Parts::of::<M>(x);
    let small = n.fma::<M>(T::LN2[1], rest) - half_square;
    Parts::unless_special(x, n.fma::<M>(T::LN2[0], small + f))
}

/// The logarithm to base 2.
#[inline(always)]
pub(crate) fn log2<M: FmaMode, T: Float>(x: T) -> T {
    to_base::<M, T>(x, [T::ONE, T::ZERO], T::PER_LN2)
}

/// The logarithm to base 10.
#[inline(always)]
pub(crate) fn log10<M: FmaMode, T: Float>(x: T) -> T {
    to_base::<M, T>(x, T::LOG10_2, T::PER_LN10)
}

/// `n · of_two + ln(1 + f) · per_ln`. Each factor is in two parts, of which the first gives exact
/// products.
#[inline(always)]
fn to_base<M: FmaMode, T: Float>(x: T, of_two: [T; 2], per_ln: [T; 2]) -> T {
    let Parts { n, f, half_square, rest } = Parts::of::<M>(x);
    let head = (f - half_square).truncated();
    let tail = (f - head) - half_square + rest;
    let large = n * of_two[0];
    let middle = head * per_ln[0];
    let small = n.fma::<M>(of_two[1], (tail + head) * per_ln[1] + tail * per_ln[0]);
    // Either n is 0, or n is at least as large as ln(1 + f), which is below 1/2. So the rounding
    // error of the sum is a difference.
    let sum = large + middle;
    let lost = (large - sum) + middle;
    Parts::unless_special(x, sum + (small + lost))
}
