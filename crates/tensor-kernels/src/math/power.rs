//! Powers.

use super::{Float, FmaMode, short};

/// Is the base not a positive finite number, or the exponent infinite or NaN?
#[inline(always)]
pub(crate) fn is_special_power<T: Float>(x: T, y: T) -> bool {
    let is_fast = (x > T::ZERO) & (x < T::INFINITY) & (y.abs() < T::INFINITY);
    !is_fast
}

/// [`pow32`] for arguments that are not special: the same bits, without checks for special cases.
#[inline(always)]
pub(crate) fn pow32_fast<M: FmaMode>(x: f32, y: f32) -> f32 {
    let log = short::log2_of_positive::<M>(x.into());
    short::exp2::<M>(f64::from(y) * log) as f32
}

/// `x^y` with the special values of C99, computed in double precision.
#[inline(always)]
pub(crate) fn pow32<M: FmaMode>(x: f32, y: f32) -> f32 {
    let (size, exponent) = (f64::from(x.abs()), f64::from(y));
    let power = short::exp2::<M>(exponent * short::log2::<M>(size)) as f32;
    let (whole, odd) = integer(exponent);
    let signed = if odd { power.copysign(x) } else { power };
    let refused = x < 0.0 && x > f32::NEG_INFINITY && !whole;
    let result = if refused { f32::NAN } else { signed };
    // 1 to any power, anything to the power 0, and -1 to an infinite power, are 1.
    let one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (y.abs() == f32::INFINITY));
    if one { 1.0 } else { result }
}

/// Is it an integer, and an odd one? From 2^30 on every f32 is an even integer. NaN counts as an
/// integer, so that it stays NaN.
#[inline(always)]
fn integer(y: f64) -> (bool, bool) {
    const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    const ALL_EVEN: f64 = 1_073_741_824.0;
    let size = y.abs();
    let size = if size > ALL_EVEN { ALL_EVEN } else { size };
    let magic = size + MAGIC;
    let whole = magic - MAGIC == size;
    (whole | y.is_nan(), whole & (magic.to_bits() & 1 == 1))
}

/// `x^y` of the standard library: error below 1 unit in the last place, one number at a time.
#[inline(always)]
pub(crate) fn pow64(x: f64, y: f64) -> f64 {
    x.powf(y)
}
