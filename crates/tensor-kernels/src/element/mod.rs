//! The element types, and the operations each supports.
//!
//! The traits state which named operations an element type has, and compute them for one element.
//! They extend each other as follows:
//!
//! | trait | types | what it adds |
//! |---|---|---|
//! | [`Equality`] | all | equality, truth |
//! | [`Accumulate`] | all | sums and products of any number of elements |
//! | [`Bits`] | bool, integers | and, or, exclusive or, not |
//! | [`Compare`] | all but complex | order, minimum, maximum |
//! | [`Number`] | all but bool | addition, multiplication, magnitude |
//! | [`Ordered`] | integers, real floats | sign, rounding, division with a remainder |
//! | [`Integer`] | integers | shifts |
//! | [`Inexact`] | real and complex floats | division, roots, exponentials, logarithms, sine |
//! | [`Real`] | real floats | angles, gelu, silu |
//!
//! Integers wrap around, as in PyTorch, and become f32 in operations whose results are fractions.
//! f16 and bf16 compute in f32 and round once. Functions with an [`FmaMode`] parameter may round
//! differently with each mode; those without, such as [`Inexact::exp`], use
//! [`Baseline`], which works on any CPU.

mod cast;
#[cfg(feature = "complex")]
mod complex;
mod float;
#[cfg(feature = "half")]
mod half;
mod integer;
mod real;

use std::{
    iter,
    ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, Sub, SubAssign},
};

use tensor_core::Scalar;

use crate::math::{Baseline, FmaMode};
pub use cast::Cast;
pub use real::Real;

/// Functions without an [`FmaMode`], for closures in generic code.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident($a:ident) = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline(always)]
        fn $name(self) -> Self {
            let $a = self;
            $value
        }
    )*};
}

/// Elements with equality and a truth value: all built-in ones.
pub trait Equality: Scalar {
    /// Are they equal? NaN equals nothing.
    #[must_use]
    fn equals(self, other: Self) -> bool;
    /// Is it not zero? True for NaN.
    #[must_use]
    fn is_nonzero(self) -> bool;
    /// Is it NaN, or has it a part that is?
    #[must_use]
    fn is_not_a_number(self) -> bool {
        false
    }
}

/// Elements with bitwise operations: bool and the integers.
pub trait Bits: Equality {
    /// `self & other`.
    #[must_use]
    fn bits_and(self, other: Self) -> Self;
    /// `self | other`.
    #[must_use]
    fn bits_or(self, other: Self) -> Self;
    /// `self ^ other`.
    #[must_use]
    fn bits_xor(self, other: Self) -> Self;
    /// `!self`.
    #[must_use]
    fn bits_not(self) -> Self;
}

/// Elements that can be summed and multiplied: all built-in ones.
pub trait Accumulate: Equality {
    /// The type of a sum or product: i64 for bool and integers, u64 for u64, else the type itself.
    type Sum: Number;
    /// The type of partial results: that of the sum, but f32 for f16 and bf16.
    type Partial: Number;

    /// The sum of no elements.
    const EMPTY_SUM: Self::Partial;
    /// The product of no elements.
    const EMPTY_PRODUCT: Self::Partial;

    /// The element as a partial result.
    #[must_use]
    fn to_partial(self) -> Self::Partial;
    /// The result of a partial result, rounded once.
    #[must_use]
    fn rounded_sum(partial: Self::Partial) -> Self::Sum;

    /// The type of a running sum: f64 for real floats, their pairs for complex numbers, else the
    /// type of the sum.
    type Running: Number;

    /// The element as a running sum.
    #[must_use]
    fn to_running(self) -> Self::Running;
    /// The result of a running sum, rounded once.
    #[must_use]
    fn rounded_running(running: Self::Running) -> Self::Sum;
}

/// Elements with an order: bool, integers and real floats.
pub trait Compare: Equality + PartialOrd {
    /// The type that is compared: the type itself, but f32 for f16 and bf16, u8 for bool.
    type Key: Compare;
    /// What elements are read as where many are compared: the type itself, but u8 for bool. Of
    /// comparisons of values that it knows to be 0 or 1 the compiler makes no vectors.
    type Stored: bytemuck::AnyBitPattern;
    /// An unsigned integer as wide as a key; it holds row numbers next to keys.
    type RowNumber: RowNumber;

    /// No key is less than this one.
    const LEAST: Self::Key;
    /// No key is greater than this one.
    const GREATEST: Self::Key;

    /// The element as a key.
    #[must_use]
    fn to_key(self) -> Self::Key;
    /// The element with this key.
    #[must_use]
    fn of_key(key: Self::Key) -> Self;
    /// The key of an element that is read as [`Stored`](Self::Stored).
    #[must_use]
    fn key_of_stored(stored: Self::Stored) -> Self::Key;
    /// `self < other`.
    #[must_use]
    fn is_less(self, other: Self) -> bool;
    /// `self <= other`.
    #[must_use]
    fn is_at_most(self, other: Self) -> bool;
    /// The smaller; NaN if one is NaN; the first of two zeros.
    #[must_use]
    fn minimum(self, other: Self) -> Self;
    /// The larger; NaN if one is NaN; the first of two zeros.
    #[must_use]
    fn maximum(self, other: Self) -> Self;
    /// `self`, or a NaN if `other` is one.
    ///
    /// For floats this is no choice between the two values. Where the result replaces `other` in
    /// memory, the compiler would make a masked store of a choice: with AVX2 the maximum of a few
    /// long rows takes four times as long (Zen 3).
    #[must_use]
    fn or_nan_of(self, other: Self) -> Self;
}

/// Unsigned integers of at least 8 bits that number rows in a search for the smallest or largest
/// element.
pub trait RowNumber: Copy + Send + Sync + 'static {
    /// A small number.
    fn of(n: u8) -> Self;
    /// The sum of two numbers, which fits.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The number.
    fn to_u32(self) -> u32;
}

/// Elements that can be added, subtracted, multiplied and negated.
///
/// Generic code has the operators of the standard library too. For integers they panic where those
/// do, on overflow and on division by zero; the methods here wrap around.
pub trait Number:
    Accumulate
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + iter::Sum
    + iter::Product
{
    /// The type of results that are fractions: the type itself if it is a float, else f32.
    type Float: Inexact;
    /// The type of the magnitude: the type itself; for complex numbers that of their parts.
    type Magnitude: Scalar;

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
    /// `self · factor + summand`. Rounded once for f32 and f64; f16 and bf16 are computed as f32
    /// and rounded again.
    #[must_use]
    fn times_plus(self, factor: Self, summand: Self) -> Self;
    /// The absolute value.
    #[must_use]
    fn magnitude(self) -> Self::Magnitude;
    /// `self` to the power of `exponent`.
    ///
    /// The power of an integer with a negative exponent is rounded towards zero: 0, unless the base
    /// is 1 or −1. It is also 0 for base 0.
    #[must_use]
    fn power<M: FmaMode>(self, exponent: Self) -> Self;
    /// Is it 2?
    #[must_use]
    fn is_two(self) -> bool;

    /// Does [`power_fast`](Self::power_fast) exclude special arguments?
    const POWER_HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Is one of these arguments special: a base that is not positive, or one of both that is
    /// infinite or NaN?
    #[must_use]
    #[inline(always)]
    fn is_special_power(self, _exponent: Self) -> bool {
        false
    }

    /// [`power`](Self::power) in fewer steps and with the same bits, for arguments that are not
    /// excluded.
    #[must_use]
    #[inline(always)]
    fn power_fast<M: FmaMode>(self, exponent: Self) -> Self {
        self.power::<M>(exponent)
    }

    /// Do [`remainder_fast`](Ordered::remainder_fast) and
    /// [`floor_quotient_fast`](Ordered::floor_quotient_fast) exclude large quotients?
    const DIVISION_HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// The number as a float.
    #[must_use]
    fn to_float(self) -> Self::Float;
}

/// Real numbers: integers and real floats.
pub trait Ordered: Number<Magnitude = Self> + Compare + Rem<Output = Self> {
    /// Does division by zero have a result?
    const DIVIDES_BY_ZERO: bool;

    /// The number, or 0 if it is negative; NaN stays NaN.
    #[must_use]
    fn relu(self) -> Self;
    /// −1, 0 or 1; NaN gives 0.
    #[must_use]
    fn sign(self) -> Self;
    /// The largest integer not above it.
    #[must_use]
    fn rounded_down(self) -> Self;
    /// The smallest integer not below it.
    #[must_use]
    fn rounded_up(self) -> Self;
    /// The nearest integer, ties to even.
    #[must_use]
    fn rounded(self) -> Self;
    /// The number, rounded towards 0.
    #[must_use]
    fn rounded_to_zero(self) -> Self;
    /// The remainder of [`floor_quotient`](Self::floor_quotient), with the divisor's sign.
    #[must_use]
    fn remainder(self, divisor: Self) -> Self;
    /// The quotient rounded down.
    #[must_use]
    fn floor_quotient(self, divisor: Self) -> Self;
    /// Is the quotient too large for the two functions below, or an argument infinite or NaN?
    #[must_use]
    #[inline(always)]
    fn is_large_quotient(self, _divisor: Self) -> bool {
        false
    }

    /// [`remainder`](Self::remainder) in vectors, for quotients that are not excluded.
    #[must_use]
    #[inline(always)]
    fn remainder_fast<M: FmaMode>(self, divisor: Self) -> Self {
        self.remainder(divisor)
    }

    /// [`floor_quotient`](Self::floor_quotient) in vectors, for quotients that are not excluded.
    #[must_use]
    #[inline(always)]
    fn floor_quotient_fast<M: FmaMode>(self, divisor: Self) -> Self {
        self.floor_quotient(divisor)
    }

    /// The quotient rounded towards 0.
    #[must_use]
    fn trunc_quotient(self, divisor: Self) -> Self;
}

/// The integers.
pub trait Integer: Ordered + Bits {
    /// Shifted to the left; 0 if the distance is negative or at least the width.
    #[must_use]
    fn shifted_left(self, by: Self) -> Self;
    /// Shifted to the right; the sign, 0 or −1, if the distance is negative or at least the width.
    #[must_use]
    fn shifted_right(self, by: Self) -> Self;
}

/// Numbers with division, roots and powers: real and complex floats.
pub trait Inexact: Number<Float = Self> + Accumulate<Sum = Self> + Neg<Output = Self> {
    /// The sum divided by the number of its elements.
    #[must_use]
    fn mean(sum: Self::Partial, count: usize) -> Self;

    /// Do [`sin`](Self::sin) and [`cos`](Self::cos) exclude arguments of large magnitude?
    const HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Is this such an argument? [`sin_large`](Self::sin_large) and
    /// [`cos_large`](Self::cos_large) are as
    /// accurate for it, but do not vectorise.
    #[must_use]
    fn is_large_argument(self) -> bool {
        false
    }

    /// Does [`exp_fast`](Self::exp_fast) exclude arguments of large magnitude?
    const EXP_HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Is this such an argument, or NaN?
    #[must_use]
    fn is_large_exp(self) -> bool {
        false
    }

    /// e to this power, in fewer steps than [`exp`](Self::exp) and with the same bits, for
    /// arguments that are not excluded.
    #[must_use]
    #[inline(always)]
    fn exp_fast<M: FmaMode>(self) -> Self {
        self.exp_with::<M>()
    }

    /// Do [`ln_fast`](Self::ln_fast) and those of other bases exclude special arguments?
    const LOG_HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Is this such an argument: not positive, subnormal, infinite or NaN?
    #[must_use]
    fn is_special_log(self) -> bool {
        false
    }

    /// The natural logarithm, in fewer steps than [`ln`](Self::ln) and with the same bits, for
    /// arguments that are not excluded.
    #[must_use]
    #[inline(always)]
    fn ln_fast<M: FmaMode>(self) -> Self {
        self.ln_with::<M>()
    }

    /// The same to base 2.
    #[must_use]
    #[inline(always)]
    fn log2_fast<M: FmaMode>(self) -> Self {
        self.log2_with::<M>()
    }

    /// The same to base 10.
    #[must_use]
    #[inline(always)]
    fn log10_fast<M: FmaMode>(self) -> Self {
        self.log10_with::<M>()
    }

    /// `self / divisor`.
    #[must_use]
    fn divided_by(self, divisor: Self) -> Self;
    /// `1 / self`.
    #[must_use]
    fn reciprocal(self) -> Self;
    /// The square root.
    #[must_use]
    fn square_root(self) -> Self;
    /// `1 / √self`.
    #[must_use]
    fn reciprocal_square_root(self) -> Self;
    /// e to this power.
    #[must_use]
    fn exp_with<M: FmaMode>(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln_with<M: FmaMode>(self) -> Self;
    /// The logarithm to base 2.
    #[must_use]
    fn log2_with<M: FmaMode>(self) -> Self;
    /// The logarithm to base 10.
    #[must_use]
    fn log10_with<M: FmaMode>(self) -> Self;
    /// The sine.
    #[must_use]
    fn sin_with<M: FmaMode>(self) -> Self;
    /// The cosine.
    #[must_use]
    fn cos_with<M: FmaMode>(self) -> Self;
    /// The sine of an argument that [`is_large_argument`](Self::is_large_argument) excludes.
    #[must_use]
    fn sin_large(self) -> Self;
    /// The cosine of an argument that [`is_large_argument`](Self::is_large_argument) excludes.
    #[must_use]
    fn cos_large(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn tanh_with<M: FmaMode>(self) -> Self;
    /// `1 / (1 + e^−self)`.
    #[must_use]
    fn sigmoid_with<M: FmaMode>(self) -> Self;

    plain! {
        /// The square root. For generic closures: `x.map(|v| v.sqrt())`.
        sqrt(a) = a.square_root();
        /// e to this power.
        exp(a) = a.exp_with::<Baseline>();
        /// The natural logarithm.
        ln(a) = a.ln_with::<Baseline>();
        /// The logarithm to base 2.
        log2(a) = a.log2_with::<Baseline>();
        /// The logarithm to base 10.
        log10(a) = a.log10_with::<Baseline>();
        /// The sine.
        sin(a) = if a.is_large_argument() { a.sin_large() } else { a.sin_with::<Baseline>() };
        /// The cosine.
        cos(a) = if a.is_large_argument() { a.cos_large() } else { a.cos_with::<Baseline>() };
        /// The hyperbolic tangent.
        tanh(a) = a.tanh_with::<Baseline>();
        /// `1 / (1 + e^−self)`.
        sigmoid(a) = a.sigmoid_with::<Baseline>();
    }
}
