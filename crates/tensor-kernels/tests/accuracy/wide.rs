//! Double-double arithmetic (about 106 bits) with elementary functions: the reference for f64.
//!
//! The methods are simple, slow, and different from those of the kernels. The exponential function
//! is a Taylor series of 1/1024 of its argument, squared ten times. Logarithms and angles are found
//! by Newton's method from it and from Taylor series of sine and cosine.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

pub(crate) const LN_2: Wide = Wide::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN_10: Wide = Wide::new(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
pub(crate) const PI: Wide = Wide::new(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
/// π/2 as a sum of parts with few bits, so that their multiples are exact.
const HALF_PI: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_9e-32,
];

impl Wide {
    pub(crate) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// The exact sum of two doubles.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let of_b = high - a;
        Self { high, low: (a - (high - of_b)) + (b - of_b) }
    }

    /// The exact product of two doubles.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    /// The product with a power of two, which is exact.
    fn scaled(self, by: f64) -> Self {
        Self::new(self.high * by, self.low * by)
    }

    pub(crate) fn sqrt(self) -> Self {
        let near = Wide::from(self.high.sqrt());
        (near + self / near).scaled(0.5)
    }
}

impl From<f64> for Wide {
    fn from(number: f64) -> Self {
        Self::new(number, 0.0)
    }
}

impl Neg for Wide {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let first = Self::sum(high.high, high.low + low.high);
        Self::sum(first.high, first.low + low.low)
    }
}

impl Sub for Wide {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = Self::product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        Self::sum(high.high, high.low + cross)
    }
}

impl Div for Wide {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let left = self - other * first.into();
        let second = left.high / other.high;
        let left = left - other * second.into();
        Self::sum(first, second) + (left.high / other.high).into()
    }
}

/// `number · 2^exponent`: represents results in f64's subnormal range without loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled(pub(crate) Wide, pub(crate) i32);

impl From<Wide> for Scaled {
    fn from(number: Wide) -> Self {
        Self(number, 0)
    }
}

impl Scaled {
    pub(crate) fn times(self, factor: Wide) -> Self {
        Self(self.0 * factor, self.1)
    }

    pub(crate) fn over(self, divisor: Wide) -> Self {
        Self(self.0 / divisor, self.1)
    }

    /// The number without the separate exponent; a subnormal one is rounded twice.
    pub(crate) fn wide(self) -> Wide {
        let half = self.1 / 2;
        let (first, second) = (f64::powi(2.0, half), f64::powi(2.0, self.1 - half));
        self.0.scaled(first).scaled(second)
    }
}

/// The exponential function.
pub(crate) fn exp(x: Wide) -> Scaled {
    let n = (x.high * std::f64::consts::LOG2_E).round().clamp(-3000.0, 3000.0);
    let r = (x - LN_2 * n.into()).scaled(1.0 / 1024.0);
    let mut term = Wide::from(1.0);
    let mut less_one = Wide::from(0.0);
    for k in 1..12 {
        term = term * r / f64::from(k).into();
        less_one = less_one + term;
    }
    for _ in 0..10 {
        less_one = less_one.scaled(2.0) + less_one * less_one;
    }
    Scaled(less_one + 1.0.into(), n as i32)
}

/// The natural logarithm of a positive number.
pub(crate) fn ln(x: f64) -> Wide {
    let exponent = if x < f64::MIN_POSITIVE { 54.0 } else { 0.0 };
    let x = if exponent > 0.0 { x * (1u64 << 54) as f64 } else { x };
    let biased = (x.to_bits().wrapping_sub(0.75f64.to_bits()) as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((biased as u64) << 52));
    let exponent = biased as f64 - exponent;
    let mut log = Wide::from(m.ln());
    for _ in 0..2 {
        let power = exp(log).wide();
        let (above, below) = (Wide::from(m) - power, Wide::from(m) + power);
        log = log + (above / below).scaled(2.0);
    }
    log + LN_2 * exponent.into()
}

pub(crate) fn log2(x: f64) -> Wide {
    ln(x) / LN_2
}

pub(crate) fn log10(x: f64) -> Wide {
    ln(x) / LN_10
}

/// Sine and cosine of a number up to a million, or of a wide one up to π/4.
pub(crate) fn sin_cos(x: Wide) -> (Wide, Wide) {
    let n = (x.high * std::f64::consts::FRAC_2_PI).round();
    let parts = HALF_PI.iter().fold(x, |left, &part| left - Wide::product(n, part));
    let r = parts.scaled(1.0 / 16.0);
    let (mut sin, mut versine) = small_sin_versine(r);
    for _ in 0..4 {
        let cos = Wide::from(1.0) - versine;
        versine = (sin * sin).scaled(2.0);
        sin = (sin * cos).scaled(2.0);
    }
    let cos = Wide::from(1.0) - versine;
    match n.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// sin r and 1 − cos r, by their series.
fn small_sin_versine(r: Wide) -> (Wide, Wide) {
    let square = r * r;
    let (mut sin, mut versine) = (r, square.scaled(0.5));
    let (mut of_sin, mut of_versine) = (sin, versine);
    for k in 1..12 {
        let k = 2.0 * f64::from(k);
        of_sin = -(of_sin * square) / (k * (k + 1.0)).into();
        of_versine = -(of_versine * square) / ((k + 1.0) * (k + 2.0)).into();
        (sin, versine) = (sin + of_sin, versine + of_versine);
    }
    (sin, versine)
}

/// The angle of a point neither of whose coordinates is 0 or infinite.
pub(crate) fn atan2(y: f64, x: f64) -> Wide {
    // Reduced to angles of at most π/4.
    let (above, below) = (y.abs().min(x.abs()), y.abs().max(x.abs()));
    let tangent = Wide::from(above) / below.into();
    let mut angle = Wide::from(tangent.high.atan());
    for _ in 0..2 {
        let (sin, cos) = sin_cos(angle);
        angle = angle + (tangent * cos - sin) / (cos + tangent * sin);
    }
    let upright = if y.abs() > x.abs() { PI.scaled(0.5) - angle } else { angle };
    let half = if x < 0.0 { PI - upright } else { upright };
    if y < 0.0 { -half } else { half }
}

/// erfc for z ≥ 0: the series of erf below 2, a continued fraction above.
pub(crate) fn erfc(z: Wide) -> Scaled {
    let square = z * z;
    let power = exp(-square);
    if z.high < 2.0 {
        let (mut term, mut sum) = (z, z);
        for k in 1..80 {
            term = term * square.scaled(2.0) / f64::from(2 * k + 1).into();
            sum = sum + term;
        }
        let erf = power.times(sum.scaled(2.0)).over(PI.sqrt()).wide();
        return (Wide::from(1.0) - erf).into();
    }
    let mut tail = z;
    for k in (1..400).rev() {
        tail = z + Wide::from(f64::from(k) / 2.0) / tail;
    }
    power.over(tail * PI.sqrt())
}
