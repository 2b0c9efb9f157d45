//! Logarithms.

use super::{Float, FmaMode};

/// `x = 2^n (1 + f)`, with f from √½ − 1 to √2 − 1, and `rest = ln(1 + f) − f`.
struct Parts<T> {
    n: T,
    f: T,
    rest: T,
}

impl<T: Float> Parts<T> {
    /// For positive normal x.
    ///
    /// With `s = f / (2 + f)`, `ln(1 + f) = ln((1 + s) / (1 − s))`. A polynomial in s² computes the
    /// part beyond f − f²/2.
    #[inline(always)]
    fn of<M: FmaMode>(x: T) -> Self {
        let (n, m) = x.split();
        let f = m - T::ONE;
        let s = f / (T::ONE + m);
        let square = s * s;
        let half = T::HALF * f;
        let beyond = square.polynomial::<M>(T::LOG).fma::<M>(square, half * f);
        // The square is the largest part of the error, so it is not rounded before the sum.
        Self { n, f, rest: (-half).exact_fma::<M>(f, s * beyond) }
    }
}

/// A logarithm: the function of the parts of an argument.
pub(crate) trait Base {
    fn of_parts<M: FmaMode, T: Float>(n: T, f: T, rest: T) -> T;
}

/// The base e.
pub(crate) struct Natural;
/// The base 2.
pub(crate) struct Binary;
/// The base 10.
pub(crate) struct Decimal;

impl Base for Natural {
    #[inline(always)]
    fn of_parts<M: FmaMode, T: Float>(n: T, f: T, rest: T) -> T {
        n.fma::<M>(T::LN2[0], n.fma::<M>(T::LN2[1], rest) + f)
    }
}

impl Base for Binary {
    #[inline(always)]
    fn of_parts<M: FmaMode, T: Float>(n: T, f: T, rest: T) -> T {
        let small = rest.fma::<M>(T::LOG2_E, f * T::LOG2_E_REST);
        n + f.exact_fma::<M>(T::LOG2_E, small)
    }
}

impl Base for Decimal {
    #[inline(always)]
    fn of_parts<M: FmaMode, T: Float>(n: T, f: T, rest: T) -> T {
        let small = rest.fma::<M>(T::LOG10_E[0], f * T::LOG10_E[1]);
        let small = n.fma::<M>(T::LOG10_2[1], small);
        n.fma::<M>(T::LOG10_2[0], f.exact_fma::<M>(T::LOG10_E[0], small))
    }
}

/// Is the argument of a logarithm too special for [`log_fast`]: not positive, subnormal, infinite
/// or NaN?
#[inline(always)]
pub(crate) fn is_special_log<T: Float>(x: T) -> bool {
    let is_fast = (x >= T::MIN_NORMAL) & (x < T::INFINITY);
    !is_fast
}

/// The logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn log_fast<B: Base, M: FmaMode, T: Float>(x: T) -> T {
    let Parts { n, f, rest } = Parts::of::<M>(x);
    B::of_parts::<M, T>(n, f, rest)
}

/// The logarithm.
#[inline(always)]
pub(crate) fn log<B: Base, M: FmaMode, T: Float>(x: T) -> T {
    let subnormal = x < T::MIN_NORMAL;
    let lifted = if subnormal { x * T::SUBNORMAL_SCALE } else { x };
    let down = if subnormal { T::SUBNORMAL_SCALE_LOG2 } else { T::ZERO };
    let Parts { n, f, rest } = Parts::of::<M>(lifted);
    unless_special(x, B::of_parts::<M, T>(n - down, f, rest))
}

/// `log` where x is positive and finite; the special values of the logarithm elsewhere.
#[inline(always)]
fn unless_special<T: Float>(x: T, log: T) -> T {
    let positive = if x < T::INFINITY { log } else { x };
    let otherwise = if x < T::ZERO { T::NAN } else { x };
    let otherwise = if x == T::ZERO { -T::INFINITY } else { otherwise };
    if x > T::ZERO { positive } else { otherwise }
}
