//! The exponential function, and what is made of it.

use super::{Float, FmaMode};

/// e to a power.
#[inline(always)]
pub(crate) fn exp<M: FmaMode, T: Float>(x: T) -> T {
    let (power, scale) = scaled_power::<M, T>(x);
    power * scale
}

/// The same as a normal number, and what to multiply it by.
#[inline(always)]
pub(super) fn scaled_power<M: FmaMode, T: Float>(x: T) -> (T, T) {
    scaled_exp::<M, T>(x, |q, r, _| q.fma::<M>(r * r, r))
}

/// Is [`exp_fast`] not for this argument?
#[inline(always)]
pub(crate) fn is_large_exp<T: Float>(x: T) -> bool {
    let is_fast = x.abs() < T::MAX_EXP_FAST;
    !is_fast
}

/// e to a power that is no special case; the same number that [`exp`] gives, without its checks.
#[inline(always)]
pub(crate) fn exp_fast<M: FmaMode, T: Float>(x: T) -> T {
    let (power, magic) = reduced::<M, T>(x, T::EXP_MAGIC + T::ONE, |q, r, _| q.fma::<M>(r * r, r));
    power * T::power_of_two(magic, false)
}

/// e to a power as a normal number, and what to multiply it by.
///
/// Only `2^(n−1)` is sure to be finite, so the scale is 2; and where the result may be subnormal it
/// is `2^(n + many)`, and the scale brings it back, rounding once.
#[inline(always)]
fn scaled_exp<M: FmaMode, T: Float>(x: T, less_one: impl Fn(T, T, T) -> T) -> (T, T) {
    let x = x.at_least(T::EXP_UNDERFLOW).at_most(T::EXP_OVERFLOW);
    let (power, magic) = reduced::<M, T>(x, T::EXP_MAGIC, less_one);
    let low = x < T::EXP_SUBNORMAL;
    (power * T::power_of_two(magic, low), if low { T::EXP_SUBNORMAL_SCALE } else { T::TWO })
}

/// With n the integer nearest to `x / ln 2`, and r the rest: `e^r`, and n − 1 as
/// [`power_of_two`](Float::power_of_two) takes it, or another near it that `base` asks for.
///
/// `less_one` adds up `e^r − 1`: `q r² + r`, where r has lost a little, which comes last.
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
/// The quotient of the second form loses its leading digits where the result is below one half, so
/// the polynomial goes on to there.
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
    Odds::of::<M>(x).share::<M>(T::ONE)
}

/// x times the logistic function of it; NaN for −∞ (PyTorch: `silu`).
#[inline(always)]
pub(crate) fn silu<M: FmaMode, T: Float>(x: T) -> T {
    // Where the power no longer falls, the product is 0 already.
    let product = Odds::of::<M>(x).share::<M>(x.at_least(T::EXP_UNDERFLOW));
    let infinite = if x < T::ZERO { T::NAN } else { x };
    if x.abs() == T::INFINITY { infinite } else { product }
}

/// The logistic function as `part / (whole + lost) · scale`.
struct Odds<T> {
    part: T,
    whole: T,
    lost: T,
    scale: T,
}

impl<T: Float> Odds<T> {
    /// The power is never larger than 1, so that small results keep their digits. Neither r nor the
    /// sum may lose any, as the quotient will, too.
    #[inline(always)]
    fn of<M: FmaMode>(x: T) -> Self {
        let (power, scale) = scaled_exp::<M, T>(-x.abs(), |q, r, lost| r + q.fma::<M>(r * r, lost));
        let small = power * scale;
        let whole = T::ONE + small;
        let below = x < T::ZERO;
        Self {
            part: if below { power } else { T::ONE },
            whole,
            lost: (T::ONE - whole) + small,
            scale: if below { scale } else { T::ONE },
        }
    }

    /// So many times the function: with `q = times · part / whole`, where the product has slipped
    /// by a rounding, it is `q + (slip − q · lost) / whole`. For 1 / whole, from 1/2 to 1, a line
    /// will do. The only rounding that can meet a subnormal number is the last.
    #[inline(always)]
    fn share<M: FmaMode>(self, times: T) -> T {
        let product = times * self.part;
        let slip = times.fma::<M>(self.part, -product);
        let quotient = product / self.whole;
        let line = self.whole.fma::<M>(-T::HALF, T::ONE_AND_HALF);
        let sum = quotient.fma::<M>(-self.lost, slip).fma::<M>(line, quotient);
        sum.signed_as(quotient) * self.scale
    }
}
