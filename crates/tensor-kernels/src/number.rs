//! What can be computed with which elements.
//!
//! Integers wrap around, as PyTorch's do. f16 and bf16 compute in f32 and round once, at the end.

use tensor_core::Scalar;

/// Elements that can be added, subtracted, multiplied and negated.
pub trait Number: Scalar {
    /// `self + other`.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// `self − other`.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// `self · other`.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// `−self`.
    #[must_use]
    fn negated(self) -> Self;
    /// `self · factor + summand`, rounded once for real floating-point numbers.
    #[must_use]
    fn times_plus(self, factor: Self, summand: Self) -> Self;
}

/// Numbers with a sign to cut off.
pub trait Ordered: Number {
    /// The number, or 0 if it is below; NaN stays.
    #[must_use]
    fn or_zero(self) -> Self;
}

/// Numbers that can be divided, and have roots and powers: real and complex floating point.
pub trait Fraction: Number {
    /// `self / divisor`.
    #[must_use]
    fn over(self, divisor: Self) -> Self;
    /// The square root.
    #[must_use]
    fn root(self) -> Self;
    /// e to this power.
    #[must_use]
    fn power_of_e(self) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn negated(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self { self.wrapping_mul(factor).wrapping_add(summand) }
        }

        impl Ordered for $type {
            #[inline(always)]
            fn or_zero(self) -> Self { self.max(0) }
        }
    )*};
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! floats {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self { self.mul_add(factor, summand) }
        }

        impl Ordered for $type {
            #[inline(always)]
            fn or_zero(self) -> Self { if self < 0.0 { 0.0 } else { self } }
        }

        impl Fraction for $type {
            #[inline(always)]
            fn over(self, divisor: Self) -> Self { self / divisor }
            #[inline(always)]
            fn root(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn power_of_e(self) -> Self { self.exp() }
        }
    )*};
}

floats!(f32, f64);

#[cfg(feature = "half")]
macro_rules! halves {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { Self::from_f32(self.to_f32() + other.to_f32()) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { Self::from_f32(self.to_f32() - other.to_f32()) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { Self::from_f32(self.to_f32() * other.to_f32()) }
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self {
                Self::from_f32(self.to_f32().mul_add(factor.to_f32(), summand.to_f32()))
            }
        }

        impl Ordered for $type {
            #[inline(always)]
            fn or_zero(self) -> Self { if self < Self::ZERO { Self::ZERO } else { self } }
        }

        impl Fraction for $type {
            #[inline(always)]
            fn over(self, divisor: Self) -> Self { Self::from_f32(self.to_f32() / divisor.to_f32()) }
            #[inline(always)]
            fn root(self) -> Self { Self::from_f32(self.to_f32().sqrt()) }
            #[inline(always)]
            fn power_of_e(self) -> Self { Self::from_f32(self.to_f32().exp()) }
        }
    )*};
}

#[cfg(feature = "half")]
halves!(half::f16, half::bf16);

#[cfg(feature = "complex")]
macro_rules! complex {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self { self * factor + summand }
        }

        impl Fraction for $type {
            #[inline(always)]
            fn over(self, divisor: Self) -> Self { self / divisor }
            #[inline(always)]
            fn root(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn power_of_e(self) -> Self { self.exp() }
        }
    )*};
}

#[cfg(feature = "complex")]
complex!(num_complex::Complex<f32>, num_complex::Complex<f64>);
