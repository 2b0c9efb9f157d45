//! Quotients, roots and elementary functions of complex numbers, where the textbook formulas
//! overflow or cancel.
//!
//! All is computed in double precision, and rounded at the end for single precision;
//! [`math`](super) states the error bounds. Quotients are straight-line code and vectorise. The
//! other functions call the standard library for each number.

use num_complex::Complex;

use super::trig::sum;

/// A complex number in double precision.
pub(crate) type Double = Complex<f64>;

const ONE: Double = Complex::ONE;

/// 2 to a power, exactly.
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// From here on the sum of two parts may overflow.
const MAX_UNSCALED: f64 = power_of_two(1021);
/// Below this, a product with a ratio may lose significant digits.
const MIN_UNSCALED: f64 = power_of_two(-900);
/// Factors that bring large and small numbers into the middle of the range: squares of powers of
/// two, so that their roots are exact.
const DIVISION_SCALE_DOWN: f64 = power_of_two(-4);
const DIVISION_SCALE_UP: f64 = power_of_two(200);

/// The factor that brings a number into the middle of the range, and its inverse.
#[inline(always)]
fn scale(z: Double) -> (f64, f64) {
    let size = larger(z.re.abs(), z.im.abs());
    let (by, back) =
        if size < MIN_UNSCALED { (DIVISION_SCALE_UP, 1.0 / DIVISION_SCALE_UP) } else { (1.0, 1.0) };
    if size >= MAX_UNSCALED { (DIVISION_SCALE_DOWN, 1.0 / DIVISION_SCALE_DOWN) } else { (by, back) }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a < b { b } else { a }
}

/// A quotient whose two parts are still to be divided by the same number.
struct Quotient {
    parts: [f64; 2],
    by: f64,
}

impl Quotient {
    /// Smith's method: it uses the ratio of the divisor's parts, at most 1, instead of their
    /// squares. If the divisor is nearer to the imaginary axis, both numbers are first rotated by
    /// 90°.
    ///
    /// For a divisor of zero the parts are divided one by one, which gives infinities a direction,
    /// as in NumPy and PyTorch.
    #[inline(always)]
    fn of(a: Double, b: Double) -> Self {
        let steep = b.re.abs() < b.im.abs();
        let (re, im) = if steep { (a.im, -a.re) } else { (a.re, a.im) };
        let (long, short) = if steep { (b.im, b.re) } else { (b.re, b.im) };
        let ratio = short / long;
        let signed_ratio = if steep { -ratio } else { ratio };
        let by_zero = long == 0.0;
        Self {
            parts: [
                if by_zero { re } else { re + im * signed_ratio },
                if by_zero { im } else { im - re * signed_ratio },
            ],
            by: if by_zero { 0.0 } else { long + short * ratio },
        }
    }
}

/// `a / b`. Division by a real number divides both parts by it.
#[inline(always)]
pub(crate) fn quotient64(a: Double, b: Double) -> Double {
    let ((a_by, a_back), (b_by, _)) = (scale(a), scale(b));
    let Quotient { parts, by } = Quotient::of(a * a_by, b * b_by);
    Complex::new(parts[0] / by, parts[1] / by) * (b_by * a_back)
}

/// The same in single precision: no square and no reciprocal leaves the range of double precision.
#[inline(always)]
pub(crate) fn quotient32(a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
    let Quotient { parts, by } = Quotient::of(a.to_double(), b.to_double());
    let per = 1.0 / by;
    Complex::new((parts[0] * per) as f32, (parts[1] * per) as f32)
}

/// Complex numbers that are computed in double precision.
pub(crate) trait ByDouble: Sized {
    fn to_double(self) -> Double;
    fn rounded(double: Double) -> Self;

    #[inline(always)]
    fn by_double(self, function: impl FnOnce(Double) -> Double) -> Self {
        Self::rounded(function(self.to_double()))
    }
}

impl ByDouble for Complex<f32> {
    #[inline(always)]
    fn to_double(self) -> Double {
        Complex::new(self.re.into(), self.im.into())
    }

    #[inline(always)]
    fn rounded(double: Double) -> Self {
        Self::new(double.re as f32, double.im as f32)
    }
}

impl ByDouble for Double {
    #[inline(always)]
    fn to_double(self) -> Double {
        self
    }

    #[inline(always)]
    fn rounded(double: Double) -> Self {
        double
    }
}

/// `√z`, with a non-negative real part. One part is the root of half the sum of `|z|` and the real
/// part's magnitude; the other follows from it.
pub(crate) fn sqrt(z: Double) -> Double {
    if z.re.is_infinite() | z.im.is_infinite() {
        return sqrt_of_infinite(z);
    }
    let (by, back) = scale(z);
    let (re, im) = (z.re.abs() * by, z.im.abs() * by);
    let long = (0.5 * (re + re.hypot(im))).sqrt();
    let short = if long == 0.0 { 0.0 } else { 0.5 * im / long };
    let (long, short) = (long * back.sqrt(), short * back.sqrt());
    let (re, im) = if z.re < 0.0 { (short, long) } else { (long, short) };
    Complex::new(re, im.copysign(z.im))
}

/// The square root of an infinite number (C99, G.6.4.2).
fn sqrt_of_infinite(z: Double) -> Double {
    let nothing = if z.im.is_nan() { f64::NAN } else { 0.0 };
    match z {
        _ if z.im.is_infinite() => Complex::new(f64::INFINITY, z.im),
        _ if z.re > 0.0 => Complex::new(f64::INFINITY, nothing.copysign(z.im)),
        _ => Complex::new(nothing, f64::INFINITY.copysign(z.im)),
    }
}

/// `1 / √z`.
pub(crate) fn rsqrt(z: Double) -> Double {
    quotient64(ONE, sqrt(z))
}

/// The natural logarithm: the logarithm of the magnitude, and the angle.
pub(crate) fn ln(z: Double) -> Double {
    Complex::new(ln_magnitude(z), z.arg())
}

/// The logarithm of the magnitude, from its square. Three cases: near 1, where the distance from 1
/// must be exact; in range; and out of range, where the number is scaled.
fn ln_magnitude(z: Double) -> f64 {
    if z.re.is_infinite() | z.im.is_infinite() {
        return f64::INFINITY;
    }
    let square = z.norm_sqr();
    match square {
        0.5..2.0 => 0.5 * square_less_one(z).ln_1p(),
        MIN_SAFE_SQUARE..MAX_SAFE_SQUARE => 0.5 * square.ln(),
        _ if square > 1.0 => 0.5 * (z * SCALE_DOWN).norm_sqr().ln() + SCALE_LN,
        _ => 0.5 * (z * SCALE_UP).norm_sqr().ln() - SCALE_LN,
    }
}

/// Between these bounds a sum of squares neither overflows nor loses digits to underflow.
const MIN_SAFE_SQUARE: f64 = power_of_two(-900);
const MAX_SAFE_SQUARE: f64 = power_of_two(1000);
/// The scale for numbers out of range, up and down, and its logarithm.
const SCALE_UP: f64 = power_of_two(600);
const SCALE_DOWN: f64 = power_of_two(-600);
const SCALE_LN: f64 = 600.0 * std::f64::consts::LN_2;

/// `|z|² − 1` of a number near the unit circle. The large terms cancel exactly; then the rounding
/// errors of the squares are added.
fn square_less_one(z: Double) -> f64 {
    let (re, im) = (z.re.abs(), z.im.abs());
    let (large, small) = if re < im { (im, re) } else { (re, im) };
    let (first, second) = (large * large, small * small);
    let (lost, rest) = sum(large.mul_add(large, -first), small.mul_add(small, -second));
    (first - 1.0) + second + lost + rest
}

/// The logarithm to base 2.
pub(crate) fn log2(z: Double) -> Double {
    ln(z) / std::f64::consts::LN_2
}

/// The logarithm to base 10.
pub(crate) fn log10(z: Double) -> Double {
    ln(z) / std::f64::consts::LN_10
}

/// `z` to the power of `exponent`; 1 if the exponent is 0.
pub(crate) fn power(z: Double, exponent: Double) -> Double {
    if exponent == Complex::ZERO { ONE } else { (exponent * ln(z)).exp() }
}

/// From here on the real part of a hyperbolic tangent rounds to ±1.
const MIN_TANH_LIMIT: f64 = 22.0;

/// The hyperbolic tangent after Kahan: from sinh of the real part and tan of the imaginary part, so
/// that no sum cancels.
pub(crate) fn tanh(z: Double) -> Double {
    match z {
        _ if z.im == 0.0 => Complex::new(z.re.tanh(), z.im),
        _ if z.re == 0.0 => Complex::new(z.re, z.im.tan()),
        _ if z.re.is_infinite() && !z.im.is_finite() => Complex::new(z.re.signum(), 0.0),
        _ if z.im.is_finite() && z.re.abs() >= MIN_TANH_LIMIT => tanh_at_limit(z),
        _ => {
            let (sinh, tan) = (z.re.sinh(), z.im.tan());
            let (square, per_cos) = (sinh * sinh, 1.0 + tan * tan);
            let by = 1.0 + per_cos * square;
            Complex::new(per_cos * (1.0 + square).sqrt() * sinh / by, tan / by)
        }
    }
}

/// `±1 + 2i sin(2y) e^(−2|x|)`.
fn tanh_at_limit(z: Double) -> Double {
    let tail = 4.0 * z.im.sin() * z.im.cos() * (-2.0 * z.re.abs()).exp();
    Complex::new(z.re.signum(), tail)
}

/// `1 / (1 + e^−z)` or `e^z / (1 + e^z)`: the form whose power is at most 1 in magnitude.
pub(crate) fn sigmoid(z: Double) -> Double {
    if z.re < 0.0 {
        let power = z.exp();
        quotient64(power, ONE + power)
    } else {
        quotient64(ONE, ONE + (-z).exp())
    }
}
