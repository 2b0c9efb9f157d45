//! Functions of complex numbers by their definitions, computed with [`wide`] numbers.

use super::C;
use crate::wide::{self, Wide};

/// A complex number of two wide parts.
#[derive(Clone, Copy)]
pub(super) struct WideComplex {
    pub(super) re: Wide,
    pub(super) im: Wide,
}

impl WideComplex {
    fn new(re: Wide, im: Wide) -> Self {
        Self { re, im }
    }

    pub(super) fn of(z: C) -> Self {
        Self::new(z.re.into(), z.im.into())
    }

    fn square(self) -> Wide {
        self.re * self.re + self.im * self.im
    }

    pub(super) fn over(self, by: Self) -> Self {
        let (re, im) = (self.re * by.re + self.im * by.im, self.im * by.re - self.re * by.im);
        Self::new(re / by.square(), im / by.square())
    }

    pub(super) fn root(self) -> Self {
        let size = if self.re.high < 0.0 { -self.re } else { self.re };
        let long = ((self.square().sqrt() + size) * 0.5.into()).sqrt();
        let short = self.im * 0.5.into() / long;
        match (self.re.high < 0.0, self.im.high < 0.0) {
            (false, _) => Self::new(long, short),
            (true, false) => Self::new(short, long),
            (true, true) => Self::new(-short, -long),
        }
    }

    /// The exponential function, for a real part that does not overflow.
    fn exp(self) -> Self {
        let (power, (sin, cos)) = (wide::exp(self.re).wide(), wide::sin_cos(self.im));
        Self::new(power * cos, power * sin)
    }

    /// The distance of `got` from this number, relative to the magnitude of this number.
    pub(super) fn distance(self, got: C) -> f64 {
        let off = Self::new(self.re - got.re.into(), self.im - got.im.into());
        off.re.high.hypot(off.im.high) / self.re.high.hypot(self.im.high)
    }
}

pub(super) const ONE: C = C::new(1.0, 0.0);

/// `ln(1 + x)`, by the series of the inverse hyperbolic tangent.
fn ln_1p(x: Wide) -> Wide {
    let s = x / (x + 2.0.into());
    let (square, mut term, mut sum) = (s * s, s, s);
    for k in 1..24 {
        term = term * square;
        sum = sum + term / f64::from(2 * k + 1).into();
    }
    sum * 2.0.into()
}

pub(super) fn ln(z: C) -> WideComplex {
    let square = WideComplex::of(z).square();
    // The large terms cancel first, which is exact.
    let (large, small) = if z.re.abs() < z.im.abs() { (z.im, z.re) } else { (z.re, z.im) };
    let less_one = Wide::product(large, large) - 1.0.into() + Wide::product(small, small);
    let log = match less_one.high.abs() < 0.25 {
        true => ln_1p(less_one),
        false => wide::ln(square.high) + Wide::from(square.low) / square.high.into(),
    };
    WideComplex::new(log * 0.5.into(), wide::atan2(z.im, z.re))
}

pub(super) fn tanh(z: C) -> WideComplex {
    let power = wide::exp(z.re.into()).wide();
    let [sinh, cosh] = [power - Wide::from(1.0) / power, power + Wide::from(1.0) / power];
    let ((sin, cos), half) = (wide::sin_cos(z.im.into()), Wide::from(0.5));
    let (sinh, cosh) = (sinh * half, cosh * half);
    let by = sinh * sinh + cos * cos;
    WideComplex::new(sinh * cosh / by, sin * cos / by)
}

pub(super) fn sigmoid(z: C) -> WideComplex {
    let power = WideComplex::of(-z).exp();
    WideComplex::of(ONE).over(WideComplex::new(power.re + 1.0.into(), power.im))
}
