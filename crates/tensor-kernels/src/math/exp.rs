//! The exponential function, and functions derived from it.

use super::{Float, FmaMode};

/// e to a power.
#[inline(always)]
pub(crate) fn exp<M: FmaMode, T: Float>(x: T) -> T {
    let (power, scale) = scaled_power::<M, T>(x);
    power * scale
}

/// The same, as a normal number and a factor.
#[inline(always)]
pub(super) fn scaled_power<M: FmaMode, T: Float>(x: T) -> (T, T) {
    scaled_exp::<M, T>(x, |q, r, _| q.fma::<M>(r * r, r))
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
    let (power, magic) = reduced::<M, T>(x, T::EXP_MAGIC + T::ONE, |q, r, _| q.fma::<M>(r * r, r));
    power * T::power_of_two(magic, false)
}

/// e to a power, as a normal number and a factor.
///
/// Only `2^(n−1)` is certain to be finite, so the factor is 2. Where the result may be subnormal
/// the number is scaled up by a power of two; the factor scales it down, rounding once.
#[inline(always)]
fn scaled_exp<M: FmaMode, T: Float>(x: T, less_one: impl Fn(T, T, T) -> T) -> (T, T) {
    let x = x.at_least(T::EXP_UNDERFLOW).at_most(T::EXP_OVERFLOW);
    let (power, magic) = reduced::<M, T>(x, T::EXP_MAGIC, less_one);
    let low = x < T::EXP_SUBNORMAL;
    (power * T::power_of_two(magic, low), if low { T::EXP_SUBNORMAL_SCALE } else { T::TWO })
}

/// The reduction `x = n ln 2 + r`, with n the integer nearest to `x / ln 2`. Returns `e^r`, and
/// n − 1 in the form that [`power_of_two`](Float::power_of_two) takes; n if `base` is
/// `EXP_MAGIC + 1`.
///
/// `less_one` computes `e^r − 1` as `q r² + r`; its third argument is the rounding error of r.
#[inline(always)]
fn reduced<M: FmaMode, T: Float>(x: T, base: T, less_one: impl Fn(T, T, T) -> T) -> (T, T) {
    let magic = x.fma::<M>(T::LOG2_E, base);
    let n = magic - base;
    let head = n.fma::<M>(-T::LN2[0], x);
    let r = n.fma::<M>(-T::LN2[1], head);
    let lost = n.fma::<M>(-T::LN2[1], head - r);
    (T::ONE + less_one(r.polynomial::<M>(T::EXP), r, lost), magic)
}

/// The hyperbolic tangent.
///
/// The quotient loses leading digits where the result is below one half, so the polynomial covers
/// that range.
#[inline(always)]
pub(crate) fn tanh<M: FmaMode, T: Float>(x: T) -> T {
    let size = x.abs();
    let square = size * size;
    let polynomial = (square * square.polynomial::<M>(T::TANH)).fma::<M>(size, size);
    let power = exp::<M, T>(size + size);
    let quotient = T::ONE - T::TWO / (power + T::ONE);
    let use_polynomial = size < T::MAX_TANH_POLYNOMIAL;
    (if use_polynomial { polynomial } else { quotient }).signed_as(x)
}

/// The logistic function, 1 / (1 + e^−x).
#[inline(always)]
pub(crate) fn sigmoid<M: FmaMode, T: Float>(x: T) -> T {
    Logistic::of::<M>(x).scaled_by::<M>(T::ONE)
}

/// x times the logistic function of x; NaN for −∞ (PyTorch: `silu`).
#[inline(always)]
pub(crate) fn silu<M: FmaMode, T: Float>(x: T) -> T {
    // Where the exponential no longer shrinks, the product is 0 already.
    let product = Logistic::of::<M>(x).scaled_by::<M>(x.at_least(T::EXP_UNDERFLOW));
    let infinite = if x < T::ZERO { T::NAN } else { x };
    if x.abs() == T::INFINITY { infinite } else { product }
}

/// The logistic function as `numerator / (denominator + lost) · scale`.
struct Logistic<T> {
    numerator: T,
    denominator: T,
    lost: T,
    scale: T,
}

impl<T: Float> Logistic<T> {
    /// The power is at most 1, so small results keep their digits. Neither r nor the sum may lose
    /// digits, as the quotient will lose some too.
    #[inline(always)]
    fn of<M: FmaMode>(x: T) -> Self {
        let (power, scale) = scaled_exp::<M, T>(-x.abs(), |q, r, lost| r + q.fma::<M>(r * r, lost));
        let small = power * scale;
        let denominator = T::ONE + small;
        let below = x < T::ZERO;
        Self {
            numerator: if below { power } else { T::ONE },
            denominator,
            lost: (T::ONE - denominator) + small,
            scale: if below { scale } else { T::ONE },
        }
    }

    /// `times` the function. With `q = times · numerator / denominator` and `slip` the rounding
    /// error of the product, it is `q + (slip − q · lost) / denominator`. The denominator is from 1
    /// to 2, and a linear approximation of its inverse suffices. Only the last product can round to
    /// a subnormal number.
    #[inline(always)]
    fn scaled_by<M: FmaMode>(self, times: T) -> T {
        let product = times * self.numerator;
        let slip = times.fma::<M>(self.numerator, -product);
        let quotient = product / self.denominator;
        let line = self.denominator.fma::<M>(-T::HALF, T::ONE_AND_HALF);
        let sum = quotient.fma::<M>(-self.lost, slip).fma::<M>(line, quotient);
        sum.signed_as(quotient) * self.scale
    }
}
