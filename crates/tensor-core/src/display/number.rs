//! The text of real numbers and of `bool`.

use super::{Column, PRECISION};

/// Integers and `bool`: only the width of a value depends on the others.
pub struct Words {
    width: usize,
}

/// A value whose text, as Python writes it, does not depend on other values.
pub trait Word: Copy {
    /// The text.
    fn word(self) -> String;
}

macro_rules! words {
    ($($integer:ty),*) => {
        $(impl Word for $integer {
            fn word(self) -> String {
                self.to_string()
            }
        })*
    };
}

words!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Word for bool {
    fn word(self) -> String {
        if self { "True" } else { "False" }.to_owned()
    }
}

impl<T: Word> Column<T> for Words {
    fn fit(shown: impl Iterator<Item = T> + Clone) -> Self {
        Self { width: widest(shown.map(Word::word)) }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn cell(&self, value: T) -> String {
        pad(&value.word(), self.width)
    }
}

/// Floating-point numbers, all in one notation.
pub struct Decimals {
    notation: Notation,
    width: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Notation {
    /// `13.`
    Whole,
    /// `13.2500`
    Fixed,
    /// `1.3250e+01`
    Scientific,
}

impl<T: Into<f64>> Column<T> for Decimals {
    /// Zeros and non-finite values are ignored, as in PyTorch, for the width too: next to `1.` an
    /// infinity is wider than its column.
    fn fit(shown: impl Iterator<Item = T> + Clone) -> Self {
        let counted = shown.map(T::into).filter(|value| value.is_finite() && *value != 0.0);
        let notation = Notation::choose(counted.clone());
        Self { notation, width: widest(counted.map(|value| notation.write(value))) }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn cell(&self, value: T) -> String {
        pad(&self.notation.write(value.into()), self.width)
    }
}

impl Notation {
    /// The notation for values that are all finite and not zero.
    fn choose(mut values: impl Iterator<Item = f64> + Clone) -> Self {
        let magnitudes = values.clone().map(f64::abs);
        let smallest = magnitudes.clone().fold(f64::INFINITY, f64::min);
        let largest = magnitudes.fold(0.0, f64::max);
        if largest / smallest > 1000.0 || largest > 1e8 || smallest < 1e-4 {
            Notation::Scientific
        } else if values.all(|value| value.fract() == 0.0) {
            Notation::Whole
        } else {
            Notation::Fixed
        }
    }

    fn write(self, value: f64) -> String {
        match self {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => value.to_string(),
            Notation::Whole => format!("{value:.0}."),
            Notation::Fixed => format!("{value:.PRECISION$}"),
            Notation::Scientific => scientific(value),
        }
    }
}

/// C's `%e`: the exponent has a sign and at least two digits.
fn scientific(value: f64) -> String {
    let text = format!("{value:.PRECISION$e}");
    let (mantissa, exponent) = text.split_once('e').expect("`{:e}` writes an exponent");
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn widest(texts: impl Iterator<Item = String>) -> usize {
    texts.map(|text| text.len()).max().unwrap_or(1)
}

fn pad(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}
