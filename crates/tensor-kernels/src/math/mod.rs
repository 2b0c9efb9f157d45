//! Elementary functions that vectorise: no branch, no table, no call.
//!
//! Each function is straight-line code over `f32` or `f64`, with selects instead of branches, so
//! that the compiler turns a loop over it into SIMD code at the level into which it is inlined.
//! Therefore all of it is `#[inline(always)]`, and an [`FmaMode`] says whether the level can fuse a
//! multiplication and an addition: without that instruction `mul_add` would be a call per element.
//!
//! # Accuracy
//! Bounds of the error, in units in the last place of the exact result. No argument tested has
//! reached them. f32 is tested at every 16411th bit pattern against double precision, f64 at some
//! 70,000 numbers of all magnitudes against 106-bit arithmetic; the tests can try more.
//!
//! | function | f32 | f64 | method |
//! |---|---|---|---|
//! | `exp` | 1.1 | 1.1 | `2^n · e^r`, polynomial |
//! | `ln`, `log2`, `log10` | 1 | 1 | `ln(1 + f)` from `f / (2 + f)` |
//! | `tanh` | 1.6 | 1.6 | polynomial; from 0.6 on `1 − 2 / (e^2x + 1)` |
//! | `sigmoid`, `silu` | 1.8 | 1.8 | `1 / (1 + e^-x)`, `x / (1 + e^-x)`, scaled if large |
//! | `sin`, `cos` | 0.8 | 1 | π/2 in parts; large ones by the standard library |
//! | `atan2` | 0.7 | 1.9 | one division, polynomial |
//! | `gelu` | 0.7 | 2 | `x Φ(x)`; below 0 by `e^(−x²/2)` |
//! | `pow` | 0.7 | the standard library's | `2^(y log2 x)`; f64 one number at a time |
//! | `rsqrt` | 1.5 | 1.5 | two operations, each correctly rounded |
//!
//! An argument of `sin` and `cos` is large from 205,887 on, for f64 from 1.6 million.
//!
//! The bounds hold whether products and sums are [fused](Fused) or [not](Unfused), but the last
//! place of a result may differ: between the scalar level of x86-64, which has no such instruction,
//! and the levels above it, which all have it and agree bitwise.
//!
//! `pow`, `gelu` and `atan2` of f32 are computed in double precision, with shorter polynomials.
//! Their bounds need products and quotients of more than 24 digits; pairs of single-precision
//! numbers take as many instructions. All other functions of f32 use single precision.
//!
//! Special values follow C99 (annex F), as PyTorch does: signed zeros, infinities, subnormal
//! arguments and results, NaN. PyTorch computes powers of 0.5 and −0.5 as square roots, with other
//! results for −0 and −∞.
//!
//! # Complex numbers
//! Sums, differences and products follow the definition, part by part, each operation rounded.
//! Other results of complex f32 are computed in double precision and rounded once. The table bounds
//! the distance to the exact result, as a multiple of the result's magnitude times 2⁻⁵³, or 2⁻²⁴
//! for f32:
//!
//! | function | f32 | f64 | method |
//! |---|---|---|---|
//! | `div`, `recip` | 1.01 | 3 | Smith's: squares cannot overflow; the whole range |
//! | `sqrt`, `rsqrt` | 1.01 | 3 | the root of half the sum of magnitude and real part |
//! | `ln` | 1.01, each part | 4, each part | near the unit circle `ln(1 + x) / 2`, `x = |z|² − 1` |
//! | `tanh` | 1.01 | 4 | Kahan's, by sinh and tan; from 22 on its limit and the remainder |
//! | `sigmoid` | 1.01 | 4 | by the power that is at most 1 |
//!
//! The bound of `sigmoid` holds within π/2 of the real axis; its poles are odd multiples of πi.
//!
//! `log2` and `log10` are quotients of `ln`. `exp`, `sin`, `cos` and `pow` are num-complex's
//! formulas and the standard library's functions; no bound is stated. Special values are PyTorch's.
//! Where PyTorch returns NaN because an intermediate result overflows (the sigmoid of −800,
//! quotients of the largest numbers), the result here is the exact one. All but sums, differences,
//! products and quotients are computed one number at a time, and are the same at every level.

#[cfg(feature = "complex")]
pub(crate) mod complex;
mod division;
mod erf;
mod exp;
mod float;
#[cfg(feature = "half")]
pub(crate) mod half;
mod log;
mod power;
mod short;
mod trig;

pub(crate) use division::{floor_quotient, is_large_quotient, remainder, trunc_remainder};
pub(crate) use erf::{gelu32, gelu64};
pub(crate) use exp::{exp, exp_fast, is_large_exp, sigmoid, silu, tanh};
pub(crate) use float::Float;
pub(crate) use log::{Binary, Decimal, Natural, is_special_log, log, log_fast};
pub(crate) use power::{is_special_power, pow32, pow32_fast, pow64};
pub(crate) use trig::{SinCos, atan2_32, atan2_64};

/// How `a · b + c` is computed where one or two roundings are both acceptable.
pub trait FmaMode: Copy + Send + Sync + 'static {
    /// Is it one instruction that rounds once?
    const FUSES: bool;
    /// `a · b + c`.
    fn mul_add32(a: f32, b: f32, c: f32) -> f32;
    /// `a · b + c`.
    fn mul_add64(a: f64, b: f64, c: f64) -> f64;
    /// `a · b + c`, rounded once.
    fn exact_mul_add32(a: f32, b: f32, c: f32) -> f32;
    /// `a · b + c` for a product that is much larger than c, with an error of little more than half
    /// a unit in the last place.
    fn exact_mul_add64(a: f64, b: f64, c: f64) -> f64;
    /// `a · b − product`, where the product is that of a and b, rounded.
    fn product_error64(a: f64, b: f64, product: f64) -> f64;
}

/// Rounded once, by one instruction.
#[derive(Clone, Copy, Debug)]
pub enum Fused {}

/// Rounded twice.
#[derive(Clone, Copy, Debug)]
pub enum Unfused {}

impl FmaMode for Fused {
    const FUSES: bool = true;

    #[inline(always)]
    fn mul_add32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn mul_add64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn exact_mul_add32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn exact_mul_add64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn product_error64(a: f64, b: f64, product: f64) -> f64 {
        a.mul_add(b, -product)
    }
}

impl FmaMode for Unfused {
    const FUSES: bool = false;

    #[inline(always)]
    fn mul_add32(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }

    #[inline(always)]
    fn mul_add64(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    #[inline(always)]
    fn exact_mul_add32(a: f32, b: f32, c: f32) -> f32 {
        (f64::from(a) * f64::from(b) + f64::from(c)) as f32
    }

    #[inline(always)]
    fn exact_mul_add64(a: f64, b: f64, c: f64) -> f64 {
        // The product of the high halves is exact.
        let (a_high, b_high) = (a.truncated(), b.truncated());
        a_high * b_high + (a_high * (b - b_high) + (a - a_high) * b + c)
    }

    #[inline(always)]
    fn product_error64(a: f64, b: f64, product: f64) -> f64 {
        let (a_high, b_high) = (a.truncated(), b.truncated());
        (a_high * b_high - product) + (a_high * (b - b_high) + (a - a_high) * b)
    }
}

/// The mode of the build's target, without checking the CPU.
#[cfg(any(target_feature = "fma", target_arch = "aarch64"))]
pub type Baseline = Fused;
/// The mode of the build's target, without checking the CPU.
#[cfg(not(any(target_feature = "fma", target_arch = "aarch64")))]
pub type Baseline = Unfused;
