//! The normal distribution function, for gelu.

use super::{Float, FmaMode, exp::scaled_power};

/// x times the standard normal distribution function of x (PyTorch: `gelu`, its exact form).
#[inline(always)]
pub(crate) fn gelu64<M: FmaMode>(x: f64) -> f64 {
    gelu::<M>(x, 4.0, TAIL)
}

/// The same in single precision.
#[inline(always)]
pub(crate) fn gelu32<M: FmaMode>(x: f32) -> f32 {
    gelu::<M>(f64::from(x), 3.0, TAIL_SHORT) as f32
}

/// `x/2 · erfc(−x/√2)`. Below 0 this cancels no digits, as `1 + erf` would. Only the last product
/// can round to a subnormal number.
#[inline(always)]
fn gelu<M: FmaMode>(x: f64, middle: f64, tail: &[f64]) -> f64 {
    let (erfc, scale) = erfc_of_size::<M>(x, middle, tail);
    let upper = 0.5 * erfc;
    // Beyond the limit the power no longer shrinks, and the result is 0. −∞ times 0 is NaN.
    let below = x.at_least(-MAX_DEVIATIONS) * upper * scale;
    let below = if x == f64::NEG_INFINITY { f64::NAN } else { below };
    if x < 0.0 { below } else { x * (1.0 - upper * scale) }
}

/// erfc(|x|/√2), as a normal number and a factor: `e^(−x²/2)` times a function that a polynomial in
/// `(z − middle) / (z + middle)` approximates on the whole half-line.
#[inline(always)]
fn erfc_of_size<M: FmaMode>(x: f64, middle: f64, tail: &[f64]) -> (f64, f64) {
    let size = x.abs().at_most(MAX_DEVIATIONS);
    // x² in two parts, of which the first is exact: the power would multiply its rounding error.
    let head = size.truncated();
    let lost = -0.5 * (size - head) * (size + head);
    let (power, scale) = scaled_power::<M, f64>(-0.5 * head * head);
    // The second part is at most 2^-16, so three terms of its exponential series suffice.
    let correction = lost * lost.fma::<M>(lost.fma::<M>(1.0 / 6.0, 0.5), 1.0);
    let power = power.fma::<M>(correction, power);
    let z = size * std::f64::consts::FRAC_1_SQRT_2;
    let ratio = (z - middle) / (z + middle);
    (power * ratio.polynomial::<M>(tail) / z.fma::<M>(2.0, 1.0), scale)
}

/// From this many standard deviations on the density underflows to 0.
const MAX_DEVIATIONS: f64 = 39.0;

/// `(1 + 2z) e^(z²) erfc z`, a polynomial in `(z − 4) / (z + 4)`, lowest power first.
const TAIL: &[f64] = &[
    1.232_995_118_625_552_6,
    -0.139_621_116_840_562_86,
    0.015_379_652_102_620_036,
    0.068_097_054_254_734_45,
    -0.101_039_066_036_317_33,
    0.093_732_834_996_887_81,
    -0.066_330_365_812_185_71,
    0.037_167_515_561_044_216,
    -0.016_197_734_052_945_61,
    0.005_031_969_768_470_887_5,
    -0.000_757_773_373_774_512_7,
    -0.000_199_255_573_659_697_7,
    0.000_150_622_342_165_386_62,
    -2.440_295_227_253_348_6e-5,
    -1.122_495_493_238_722_5e-5,
    5.717_443_406_024_36e-6,
    3.014_726_590_603_352e-7,
    -8.346_173_404_080_839e-7,
    6.274_069_724_558_707e-8,
    1.149_876_339_700_033_1e-7,
    -7.822_010_683_047_007e-9,
    -1.357_305_610_345_597_9e-8,
    -1.776_242_250_548_268_7e-9,
];

/// The same in `(z − 3) / (z + 3)`, with a relative error of 2^-28.
const TAIL_SHORT: &[f64] = &[
    1.253_008_059_623_674_3,
    -0.135_621_143_161_930_58,
    -0.047_562_453_046_320_5,
    0.129_646_497_148_843_21,
    -0.119_270_059_406_279,
    0.068_295_806_965_129_5,
    -0.023_802_492_870_084_627,
    0.002_563_025_632_851_635,
    0.002_009_058_109_483_020_5,
    -0.000_765_499_842_902_171_2,
    -0.000_263_424_439_348_439_25,
];
