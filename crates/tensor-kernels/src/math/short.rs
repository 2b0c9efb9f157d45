//! Powers of two and logarithms in double precision, with the accuracy that results in single
//! precision need: some five more digits than such a result has.
//!
//! Products with a large exponent and small values of the normal distribution function need digits
//! that single precision has not. Polynomials for 2^-29 instead of 2^-56 make up for the wider
//! numbers. All are minimax polynomials (Remez), with coefficients rounded to double precision.

use super::{Float, FmaMode};

/// `2^r` on ±0.5003, with a relative error of 2^-29.
const POWER: &[f64] = &[
    1.000_000_000_556_804_8,
    0.693_147_205_827_047_7,
    0.240_226_468_768_364_23,
    0.055_503_285_812_568_81,
    0.009_618_489_836_248_965,
    0.001_340_001_050_854_293_6,
    0.000_153_457_383_392_564_1,
];
/// `log2((1 + s) / (1 − s)) / s` of s², for s up to 0.1717, with a relative error of 2^-37.
const LOG: &[f64] = &[
    2.885_390_081_790_171_6,
    0.961_796_673_225_869_9,
    0.577_083_608_568_952_4,
    0.411_671_223_370_760_45,
    0.340_759_119_268_028_1,
];
/// From this exponent on a power of two is infinite or 0 in single precision.
const MAX_EXPONENT: f64 = 300.0;

/// 2 to a power.
#[inline(always)]
pub(super) fn exp2<M: FmaMode>(x: f64) -> f64 {
    exp2_of_normal::<M>(x.at_least(-MAX_EXPONENT).at_most(MAX_EXPONENT))
}

/// The same, for results that are normal numbers.
#[inline(always)]
pub(super) fn exp2_of_normal<M: FmaMode>(x: f64) -> f64 {
    let base = f64::EXP_MAGIC + 1.0;
    let magic = x + base;
    let r = x - (magic - base);
    r.polynomial::<M>(POWER) * f64::power_of_two(magic, false)
}

/// The logarithm to base 2 of a magnitude that single precision has: also of 0, infinity and NaN.
#[inline(always)]
pub(super) fn log2<M: FmaMode>(size: f64) -> f64 {
    let otherwise = if size == 0.0 { f64::NEG_INFINITY } else { size };
    let usual = (size > 0.0) & (size < f64::INFINITY);
    if usual { log2_of_positive::<M>(size) } else { otherwise }
}

/// The same for positive finite numbers. They are normal in double precision.
#[inline(always)]
pub(super) fn log2_of_positive<M: FmaMode>(size: f64) -> f64 {
    let (n, m) = size.split();
    let s = (m - 1.0) / (m + 1.0);
    s.fma::<M>((s * s).polynomial::<M>(LOG), n)
}
