//! The exponential function, and functions derived from it.

use super::{Float, FmaMode};

/// e to a power.
#[inline(always)]
pub(crate) fn exp<M: FmaMode, T: Float>(x: T) -> T {
    let x = x.at_least(T::EXP_UNDERFLOW).at_most(T::EXP_OVERFLOW);
    let (less_one, magic) = reduced::<M, T>(x, T::EXP_MAGIC);
    let (power, scale) = power_and_scale(magic, x);
    (T::ONE + less_one) * power * scale
}

/// The power of two of [`reduced`] for the base `EXP_MAGIC`, as two factors.
///
/// Only `2^(n−1)` is certain to be finite, so the second is 2. Where the result may be subnormal
/// the first is scaled up by a power of two; the second scales it down, rounding once.
#[inline(always)]
fn power_and_scale<T: Float>(magic: T, x: T) -> (T, T) {
    let low = x < T::EXP_SUBNORMAL;
    (T::power_of_two(magic, low), if low { T::EXP_SUBNORMAL_SCALE } else { T::TWO })
}

/// `(head + lost) · scale`.
pub(super) struct SplitPower {
    pub(super) head: f64,
    pub(super) lost: f64,
    pub(super) scale: f64,
}

/// e to the power of `x + tail`, for x from −1000 to 0; with an error of a few hundredths of a unit
/// in the last place of its head.
#[inline(always)]
pub(super) fn split_power<M: FmaMode>(x: f64, tail: f64) -> SplitPower {
    let magic = x.fma::<M>(f64::LOG2_E, f64::EXP_MAGIC);
    let n = magic - f64::EXP_MAGIC;
    let first = n.fma::<M>(-f64::LN2[0], x);
    let small = n.fma::<M>(-f64::LN2[1], tail);
    let r = first + small;
    let r_lost = (first - r) + small;
    let beyond = (r * r).fma::<M>(r.polynomial::<M>(f64::EXP), r_lost);
    let head = 1.0 + r;
    let lost = ((1.0 - head) + r) + beyond;
    let (power, scale) = power_and_scale(magic, x);
    SplitPower { head: head * power, lost: lost * power, scale }
}

/// Is the argument too large for [`exp_fast`], or NaN?
#[inline(always)]
pub(crate) fn is_large_exp<T: Float>(x: T) -> bool {
    let is_fast = x.abs() < T::MAX_EXP_FAST;
    !is_fast
}

/// e to a power, without checks for special cases; bitwise equal to [`exp`] for other arguments.
#[inline(always)]
pub(crate) fn exp_fast<M: FmaMode, T: Float>(x: T) -> T {
    let (less_one, magic) = reduced::<M, T>(x, T::EXP_MAGIC + T::ONE);
    (T::ONE + less_one) * T::power_of_two(magic, false)
}

/// The reduction `x = n ln 2 + r`, with n the integer nearest to `x / ln 2`. Returns `e^r − 1`, and
/// n − 1 in the form that [`power_of_two`](Float::power_of_two) takes if `base` is `EXP_MAGIC`; n
/// if it is `EXP_MAGIC + 1`, and so on.
#[inline(always)]
fn reduced<M: FmaMode, T: Float>(x: T, base: T) -> (T, T) {
    let magic = x.fma::<M>(T::LOG2_E, base);
    let n = magic - base;
    let r = n.fma::<M>(-T::LN2[1], n.fma::<M>(-T::LN2[0], x));
    (r.polynomial::<M>(T::EXP).fma::<M>(r * r, r), magic)
}

/// The hyperbolic tangent: a polynomial where the result is below one half.
#[inline(always)]
pub(crate) fn tanh<M: FmaMode, T: Float>(x: T) -> T {
    let size = x.abs();
    let square = size * size;
    let polynomial = (square * square.polynomial::<M>(T::TANH)).fma::<M>(size, size);
    let quotient = T::ONE - from_tanh_to_one::<M, T>(size.at_most(T::TANH_IS_ONE));
    let use_polynomial = size < T::MAX_TANH_POLYNOMIAL;
    (if use_polynomial { polynomial } else { quotient }).signed_as(x)
}

/// `1 − tanh x`, for x up to 20, or 40 in f64; its absolute error is small.
///
/// With `x = n ln 2 / 2 + h` and `t = tanh h`, `e^2h` is `(1 + t) / (1 − t)`, and the result is
/// `2 (1 − t) / (2^n + 1 + t (2^n − 1))`. The polynomial of t is shorter than that of a power of e.
#[inline(always)]
fn from_tanh_to_one<M: FmaMode, T: Float>(x: T) -> T {
    let base = T::EXP_MAGIC + T::ONE;
    let magic = x.fma::<M>(T::TWO * T::LOG2_E, base);
    let n = magic - base;
    let h = n.fma::<M>(-T::HALF * T::LN2[1], n.fma::<M>(-T::HALF * T::LN2[0], x));
    let square = h * h;
    let t = (h * square).fma::<M>(square.polynomial::<M>(T::TANH_OF_REST), h);
    let power = T::power_of_two(magic, false);
    t.fma::<M>(-T::TWO, T::TWO) / t.fma::<M>(power - T::ONE, power + T::ONE)
}

/// The logistic function, 1 / (1 + e^−x).
#[inline(always)]
pub(crate) fn sigmoid<M: FmaMode, T: Float>(x: T) -> T {
    let (denominator, scale) = logistic_denominator::<M, T>(x);
    scale / denominator
}

/// x times the logistic function of x; NaN for −∞ (PyTorch: `silu`).
#[inline(always)]
pub(crate) fn silu<M: FmaMode, T: Float>(x: T) -> T {
    let (denominator, scale) = logistic_denominator::<M, T>(x);
    x * scale / denominator
}

/// `(1 + e^−x) · scale`, and the scale: a power of two that is below 1 where the sum is large.
///
/// So the quotient of a number of normal size and the sum is subnormal where it has to be, and is
/// rounded once. The sum is infinite where every finite x divided by it is 0; thus −∞ divided by it
/// is NaN.
///
/// With `e^−x = 2^n + 2^n q` and the rounding error of `1 + 2^n`, only the last sum rounds much.
#[inline(always)]
fn logistic_denominator<M: FmaMode, T: Float>(x: T) -> (T, T) {
    let scaled = x < T::LOGISTIC_SCALED;
    let scale = if scaled { T::LOGISTIC_SCALE } else { T::ONE };
    let base = T::EXP_MAGIC + T::ONE;
    let base = if scaled { base - T::LOGISTIC_SCALE_LOG2 } else { base };
    let (q, magic) = reduced::<M, T>((-x).at_least(-T::MAX_EXP_FAST), base);
    let power = T::power_of_two(magic, false);
    let (larger, smaller) = (power.at_least(scale), power.at_most(scale));
    let head = larger + smaller;
    let sum = head + power.fma::<M>(q, (larger - head) + smaller);
    (if x < T::LOGISTIC_IS_ZERO { T::INFINITY } else { sum }, scale)
}
