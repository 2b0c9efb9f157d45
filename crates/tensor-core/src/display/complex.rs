//! The text of complex numbers: real and imaginary parts are two columns, each with its own
//! notation and width.

use num_complex::Complex;

use super::{Column, number::Decimals};

/// Complex numbers.
pub struct Pairs {
    re: Decimals,
    im: Decimals,
}

impl<F: Into<f64> + Copy> Column<Complex<F>> for Pairs {
    fn fit(shown: impl Iterator<Item = Complex<F>> + Clone) -> Self {
        let re = Decimals::fit(shown.clone().map(|value| value.re));
        let im = Decimals::fit(shown.map(|value| value.im));
        Self { re, im }
    }

    /// Both parts and the `j`. PyTorch does not count the sign between them.
    fn width(&self) -> usize {
        Column::<F>::width(&self.re) + Column::<F>::width(&self.im) + 1
    }

    fn cell(&self, value: Complex<F>) -> String {
        let re = self.re.cell(value.re);
        let im = self.im.cell(value.im);
        let im = im.trim_start();
        let plus = if im.starts_with('-') { "" } else { "+" };
        format!("{re}{plus}{im}j")
    }
}
