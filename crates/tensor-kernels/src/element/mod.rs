//! What can be computed with which elements.
//!
//! The traits say which of the named operations an element type has, and compute one element. They
//! nest as the types do:
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
//! | [`Inexact`] | real and complex floats | division, roots, powers, logarithms, circular functions |
//! | [`Real`] | real floats | angles, gelu, silu |
//!
//! Integers wrap around, as PyTorch's do, and where a fraction is asked of them they become f32, as
//! there. f16 and bf16 compute in f32 and round once, at the end. What has an [`FmaMode`] as
//! parameter is rounded as that says; [`Baseline`](crate::math::Baseline) does anywhere.

mod cast;
#[cfg(feature = "complex")]
mod complex;
mod float;
#[cfg(feature = "half")]
mod half;
mod integer;

use tensor_core::Scalar;

use crate::math::FmaMode;
pub use cast::Cast;

/// Elements that can be told apart, and taken as true or false: all built-in ones.
pub trait Equality: Scalar {
    /// Are they equal? NaN equals nothing.
    #[must_use]
    fn same(self, other: Self) -> bool;
    /// Is it not zero? NaN is not.
    #[must_use]
    fn truth(self) -> bool;
    /// Is it, or a part of it, NaN?
    #[must_use]
    fn is_not_a_number(self) -> bool {
        false
    }
}

/// Elements made of bits: bool and the integers.
pub trait Bits: Equality {
    /// The bits that both have.
    #[must_use]
    fn bits_and(self, other: Self) -> Self;
    /// The bits that one or both have.
    #[must_use]
    fn bits_or(self, other: Self) -> Self;
    /// The bits that only one has.
    #[must_use]
    fn bits_xor(self, other: Self) -> Self;
    /// The bits that it does not have.
    #[must_use]
    fn bits_not(self) -> Self;
}

/// Elements of which any number can be summed or multiplied: all built-in ones.
pub trait Accumulate: Equality {
    /// What the sum and the product of these are: i64 of bool and integers, u64 of u64, else the
    /// type itself.
    type Sum: Number;
    /// What they are summed in: the sum's type, but f32 for f16 and bf16.
    type Partial: Number;

    /// The sum of no elements.
    const ZERO: Self::Partial;
    /// The product of no elements.
    const ONE: Self::Partial;

    /// The element as a sum.
    #[must_use]
    fn to_partial(self) -> Self::Partial;
    /// The sum, rounded once.
    #[must_use]
    fn rounded_sum(partial: Self::Partial) -> Self::Sum;
}

/// Elements that have an order: bool, integers and real floats.
pub trait Compare: Equality {
    /// What is compared: the type itself, but f32 for f16 and bf16.
    type Key: Compare;
    /// An unsigned integer as wide as a key, to count small numbers of elements beside them.
    type Count: Count;

    /// No key is less than this one.
    const LEAST: Self::Key;
    /// No key is greater than this one.
    const GREATEST: Self::Key;

    /// The element as a key.
    #[must_use]
    fn to_key(self) -> Self::Key;
    /// The element of a key.
    #[must_use]
    fn of_key(key: Self::Key) -> Self;
    /// `self < other`.
    #[must_use]
    fn is_less(self, other: Self) -> bool;
    /// `self <= other`.
    #[must_use]
    fn is_at_most(self, other: Self) -> bool;
    /// The lesser of the two; NaN if one is; the first of two zeros.
    #[must_use]
    fn least(self, other: Self) -> Self;
    /// The greater of the two; NaN if one is; the first of two zeros.
    #[must_use]
    fn most(self, other: Self) -> Self;
}

/// Counters, of 8 bits or more.
pub trait Count: Copy + Send + Sync + 'static {
    /// A small number.
    fn of(n: u8) -> Self;
    /// The number.
    fn number(self) -> u32;
}

/// Elements that can be added, subtracted, multiplied and negated.
pub trait Number: Accumulate {
    /// What fractions of these are: the type itself if it is a float, else f32.
    type Float: Inexact;
    /// What the magnitude of these is: the type itself, or the parts of a complex number.
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
    /// `self · factor + summand`; rounded once for f32 and f64, and what f32 has so is rounded to
    /// f16 and bf16.
    #[must_use]
    fn times_plus(self, factor: Self, summand: Self) -> Self;
    /// The distance from 0.
    #[must_use]
    fn magnitude(self) -> Self::Magnitude;
    /// `self` to the power of `exponent`.
    ///
    /// An integer to a negative power is rounded to zero: 0, unless it is 1 or −1; and so is 0
    /// itself.
    #[must_use]
    fn power<M: FmaMode>(self, exponent: Self) -> Self;
    /// The number as a fraction.
    #[must_use]
    fn to_float(self) -> Self::Float;
}

/// Numbers on a line: integers and real floats.
pub trait Ordered: Number<Magnitude = Self> + Compare {
    /// Does division by zero have a result?
    const DIVIDES_BY_ZERO: bool;

    /// The number, or 0 if it is below; NaN stays.
    #[must_use]
    fn or_zero(self) -> Self;
    /// −1, 0 or 1; NaN gives 0.
    #[must_use]
    fn sign(self) -> Self;
    /// The integer below.
    #[must_use]
    fn rounded_down(self) -> Self;
    /// The integer above.
    #[must_use]
    fn rounded_up(self) -> Self;
    /// The nearest integer, the even one of two.
    #[must_use]
    fn rounded(self) -> Self;
    /// The integer towards 0.
    #[must_use]
    fn rounded_to_zero(self) -> Self;
    /// What is left by a [`floor_quotient`](Self::floor_quotient): it has the divisor's sign.
    #[must_use]
    fn remainder(self, divisor: Self) -> Self;
    /// The quotient rounded down.
    #[must_use]
    fn floor_quotient(self, divisor: Self) -> Self;
    /// The quotient rounded towards 0.
    #[must_use]
    fn trunc_quotient(self, divisor: Self) -> Self;
}

/// The integers.
pub trait Integer: Ordered + Bits {
    /// Shifted towards the high bits; a distance that is negative or beyond the width gives 0.
    #[must_use]
    fn shifted_left(self, by: Self) -> Self;
    /// Shifted towards the low bits; a distance that is negative or beyond the width leaves the
    /// sign: 0 or −1.
    #[must_use]
    fn shifted_right(self, by: Self) -> Self;
}

/// Numbers that can be divided, and have roots and powers: real and complex floating point.
pub trait Inexact: Number<Float = Self> + Accumulate<Sum = Self> {
    /// A sum through the number of its elements.
    #[must_use]
    fn mean(sum: Self::Partial, count: usize) -> Self;

    /// Are there numbers too far from 0 for [`sin`](Self::sin) and [`cos`](Self::cos)?
    const HAS_FAR: bool = false;

    /// Is this one? [`far_sin`](Self::far_sin) and [`far_cos`](Self::far_cos) then are as exact,
    /// but do not vectorise.
    #[must_use]
    fn is_far(self) -> bool {
        false
    }

    /// Are there numbers too far from 0 for [`near_exp`](Self::near_exp)?
    const EXP_HAS_FAR: bool = false;

    /// Is this one, or NaN?
    #[must_use]
    fn is_exp_far(self) -> bool {
        false
    }

    /// e to this power, in fewer steps than [`exp`](Self::exp), and to the same bit, where neither
    /// the power nor a part of it is out of range.
    #[must_use]
    #[inline(always)]
    fn near_exp<M: FmaMode>(self) -> Self {
        self.exp::<M>()
    }

    /// `self / divisor`.
    #[must_use]
    fn over(self, divisor: Self) -> Self;
    /// `1 / self`.
    #[must_use]
    fn reciprocal(self) -> Self;
    /// The square root.
    #[must_use]
    fn root(self) -> Self;
    /// `1 / √self`.
    #[must_use]
    fn reciprocal_root(self) -> Self;
    /// e to this power.
    #[must_use]
    fn exp<M: FmaMode>(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln<M: FmaMode>(self) -> Self;
    /// The logarithm to base 2.
    #[must_use]
    fn log2<M: FmaMode>(self) -> Self;
    /// The logarithm to base 10.
    #[must_use]
    fn log10<M: FmaMode>(self) -> Self;
    /// The sine.
    #[must_use]
    fn sin<M: FmaMode>(self) -> Self;
    /// The cosine.
    #[must_use]
    fn cos<M: FmaMode>(self) -> Self;
    /// The sine, anywhere.
    #[must_use]
    fn far_sin(self) -> Self;
    /// The cosine, anywhere.
    #[must_use]
    fn far_cos(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn tanh<M: FmaMode>(self) -> Self;
    /// `1 / (1 + e^−self)`.
    #[must_use]
    fn sigmoid<M: FmaMode>(self) -> Self;
}

/// Real floating-point numbers.
pub trait Real: Inexact + Ordered {
    /// The angle of the point (x, self).
    #[must_use]
    fn atan2<M: FmaMode>(self, x: Self) -> Self;
    /// The number times the normal distribution's share below it.
    #[must_use]
    fn gelu<M: FmaMode>(self) -> Self;
    /// `self / (1 + e^−self)`.
    #[must_use]
    fn silu<M: FmaMode>(self) -> Self;
}
