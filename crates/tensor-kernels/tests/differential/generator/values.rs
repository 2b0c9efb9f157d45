//! Element types: drawing, comparing and converting their values.

use std::fmt::Debug;

use bytemuck::{CheckedBitPattern, bytes_of};
use tensor_kernels::Element;

/// The kind of values to draw.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ValueKind {
    /// Any bits, with an increased share of special values.
    Any,
    /// Numbers whose sums do not overflow.
    Moderate,
    /// Numbers near 1, whose products do not overflow.
    NearOne,
}

/// An element type.
pub(crate) trait Value: Element + CheckedBitPattern + Debug {
    const NAME: &'static str;

    /// A value that depends on some bits.
    fn of(bits: u64, kind: ValueKind) -> Self;

    /// Is the result equal, both NaN, or at most `ulps` units in the last place away?
    fn agrees(self, expected: Self, ulps: u32) -> bool;
}

/// A value that converts to any element type.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    Int(i128),
    Real(f64),
    #[cfg(feature = "complex")]
    Complex(f64, f64),
}

/// Element types that convert into each other.
pub(crate) trait Number: Value {
    fn wide(self) -> Wide;
    fn narrow(wide: Wide) -> Self;
}

impl Wide {
    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Real(value) => value,
            #[cfg(feature = "complex")]
            Self::Complex(re, _) => re,
        }
    }

    pub(crate) fn imaginary(self) -> f64 {
        match self {
            #[cfg(feature = "complex")]
            Self::Complex(_, im) => im,
            _ => 0.0,
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Int(value) => value == 0,
            _ => self.real() == 0.0 && self.imaginary() == 0.0,
        }
    }

    /// Converts an integer directly, other values by their real part.
    fn single(self) -> f32 {
        match self {
            Self::Int(value) => value as f32,
            _ => self.real() as f32,
        }
    }
}

macro_rules! integers {
    ($($type:ident),*) => {$(
        impl Value for $type {
            const NAME: &'static str = stringify!($type);

            fn of(bits: u64, kind: ValueKind) -> Self {
                match (kind, bits >> 61) {
                    (ValueKind::Any, 3..) => bits as Self,
                    (ValueKind::NearOne, _) => (bits % 3) as Self,
                    _ => (bits % 19) as Self,
                }
            }

            fn agrees(self, expected: Self, _ulps: u32) -> bool {
                self == expected
            }
        }

        impl Number for $type {
            fn wide(self) -> Wide {
                Wide::Int(self.into())
            }

            fn narrow(wide: Wide) -> Self {
                match wide {
                    Wide::Int(value) => value as Self,
                    _ => wide.real() as Self,
                }
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Value for bool {
    const NAME: &'static str = "bool";

    fn of(bits: u64, _taste: ValueKind) -> Self {
        bits >> 63 == 1
    }

    fn agrees(self, expected: Self, _ulps: u32) -> bool {
        self == expected
    }
}

impl Number for bool {
    fn wide(self) -> Wide {
        Wide::Int(self.into())
    }

    fn narrow(wide: Wide) -> Self {
        !wide.is_zero()
    }
}

/// The rank of a float among all floats of its type, 0 for both zeros.
fn rank(bits: u64, width: u32) -> i128 {
    let magnitude = i128::from(bits & ((1 << (width - 1)) - 1));
    if bits >> (width - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// A real number: small integers, numbers of moderate size, zeros, or what `any` makes of the bits.
fn real(bits: u64, kind: ValueKind, any: impl Fn(u64) -> f64) -> f64 {
    let small = (bits % 17) as f64 - 8.0;
    let moderate =
        (bits as u32 as f64 / f64::from(1 << 30) - 2.0) * [1.0, 40.0][(bits >> 32) as usize % 2];
    match (kind, bits >> 60) {
        (ValueKind::NearOne, _) => [1.0, -1.0, 1.125, 8.0 / 9.0][bits as usize % 4],
        (ValueKind::Any, 0) => {
            [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY][bits as usize % 5]
        }
        (ValueKind::Any, 1..4) => any(bits),
        (_, 4..7) => small,
        _ => moderate,
    }
}

macro_rules! floats {
    ($($type:ty, $name:literal, $bits:ty, $wide:expr, $narrow:expr, $of_wide:expr;)*) => {$(
        impl Value for $type {
            const NAME: &'static str = $name;

            fn of(bits: u64, kind: ValueKind) -> Self {
                $narrow(real(bits, kind, |bits| $wide(<$type>::from_bits(bits as $bits))))
            }

            fn agrees(self, expected: Self, ulps: u32) -> bool {
                let (found, wanted) = (self.to_bits(), expected.to_bits());
                if self.is_nan() || expected.is_nan() {
                    return self.is_nan() && expected.is_nan();
                }
                let rank = |bits| rank(u64::from(bits), <$bits>::BITS);
                found == wanted || ulps > 0 && (rank(found) - rank(wanted)).abs() <= ulps.into()
            }
        }

        impl Number for $type {
            fn wide(self) -> Wide {
                Wide::Real($wide(self))
            }

            fn narrow(wide: Wide) -> Self {
                $of_wide(wide)
            }
        }
    )*};
}

floats! {
    f32, "f32", u32, f64::from, |x: f64| x as f32, Wide::single;
}
floats! {
    f64, "f64", u64, |x: f64| x, |x: f64| x, Wide::real;
}
#[cfg(feature = "half")]
floats! {
    half::f16, "f16", u16, half::f16::to_f64, half::f16::from_f64,
        |wide: Wide| half::f16::from_f32(wide.single());
    half::bf16, "bf16", u16, half::bf16::to_f64, half::bf16::from_f64,
        |wide: Wide| half::bf16::from_f32(wide.single());
}

#[cfg(feature = "complex")]
macro_rules! complexes {
    ($($part:ident, $name:literal;)*) => {$(
        impl Value for num_complex::Complex<$part> {
            const NAME: &'static str = $name;

            fn of(bits: u64, kind: ValueKind) -> Self {
                let other = super::choices::mixed(bits ^ 0x55);
                Self { re: $part::of(bits, kind), im: $part::of(other, kind) }
            }

            fn agrees(self, expected: Self, ulps: u32) -> bool {
                let any_nan = |z: Self| z.re.is_nan() || z.im.is_nan();
                (any_nan(self) && any_nan(expected))
                    || self.re.agrees(expected.re, ulps) && self.im.agrees(expected.im, ulps)
            }
        }

        impl Number for num_complex::Complex<$part> {
            fn wide(self) -> Wide {
                Wide::Complex(self.re.into(), self.im.into())
            }

            fn narrow(wide: Wide) -> Self {
                let real = match wide {
                    Wide::Complex(re, _) => Wide::Real(re),
                    other => other,
                };
                Self { re: $part::narrow(real), im: wide.imaginary() as $part }
            }
        }
    )*};
}

#[cfg(feature = "complex")]
complexes! {
    f32, "c64";
    f64, "c128";
}

/// Elements without arithmetic.
macro_rules! plain {
    ($($type:ty, $name:literal;)*) => {$(
        impl Value for $type {
            const NAME: &'static str = $name;

            fn of(bits: u64, _taste: ValueKind) -> Self {
                let mut value: Self = bytemuck::Zeroable::zeroed();
                let bytes = bytemuck::bytes_of_mut(&mut value).iter_mut().enumerate();
                bytes.for_each(|(i, byte)| *byte = (bits >> (8 * (i % 8))) as u8 ^ (i / 8) as u8);
                value
            }

            fn agrees(self, expected: Self, _ulps: u32) -> bool {
                bytes_of(&self) == bytes_of(&expected)
            }
        }
    )*};
}

plain! {
    u128, "u128";
    [u8; 3], "[u8; 3]";
    [u8; 5], "[u8; 5]";
    [u16; 3], "[u16; 3]";
    [u32; 3], "[u32; 3]";
    [u8; 16], "[u8; 16]";
    [u64; 3], "[u64; 3]";
    [u64; 4], "[u64; 4]";
    [u64; 9], "[u64; 9]";
}
