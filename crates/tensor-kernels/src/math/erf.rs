//! The normal distribution, for gelu.

use super::{Arith, Float, exp::exp_of_sum};

/// x times the share of the normal distribution below x (PyTorch: `gelu`, its exact form).
#[inline(always)]
pub(crate) fn gelu64<M: Arith>(x: f64) -> f64 {
    gelu::<M>(x, 4.0, TAIL)
}

/// The same in single precision.
#[inline(always)]
pub(crate) fn gelu32<M: Arith>(x: f32) -> f32 {
    gelu::<M>(f64::from(x), 3.0, TAIL_SHORT) as f32
}

/// `x/2 · erfc(−x/√2)`: below 0 no digits cancel, as they do in `1 + erf`.
#[inline(always)]
fn gelu<M: Arith>(x: f64, middle: f64, tail: &[f64]) -> f64 {
    let upper = 0.5 * erfc_of_size::<M>(x, middle, tail);
    x * if x < 0.0 { upper } else { 1.0 - upper }
}

/// erfc(|x|/√2): `e^(−x²/2)` times a function that a polynomial in `(z − middle) / (z + middle)` gives on the whole half-line.
#[inline(always)]
fn erfc_of_size<M: Arith>(x: f64, middle: f64, tail: &[f64]) -> f64 {
    let size = x.abs().at_most(ALL);
    // x² in two parts, of which the first is exact: the power would multiply its rounding error.
    let head = size.cut();
    let lost = (size - head) * (size + head);
    let power = exp_of_sum::<M, f64>(-0.5 * head * head, -0.5 * lost);
    let z = size * std::f64::consts::FRAC_1_SQRT_2;
    let place = (z - middle) / (z + middle);
    power * place.polynomial::<M>(tail) / z.fma::<M>(2.0, 1.0)
}

/// So many standard deviations are all there is.
const ALL: f64 = 39.0;

/// `(1 + 2z) e^(z²) erfc z`, a polynomial in `(z − 4) / (z + 4)`, lowest power first.
const TAIL: &[f64] = &[];

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
