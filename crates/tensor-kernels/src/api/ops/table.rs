//! The table of the named operations: their names, element types and documentation, and what each
//! computes.
//!
//! Each macro here passes its rows to another macro. [`unary`](super::unary),
//! [`binary`](super::binary), [`ternary`](super::ternary) and [`reduce`](super::reduce) make the
//! functions of [`ops`](crate::ops) of them, [`ext`](crate::api::ext) makes the methods of tensors
//! and the operators. A row is
//!
//! ```text
//! Type<T: Elements> -> Result: name, name_into[, in place name_inplace<Elements>]
//!     [, divides check][, of two Type][, method name][, operator name] { |M, a, b| value }
//! ```
//!
//! where `in place` is there if the result may have the operand's type, `divides` if divisors of 0
//! are refused, `of two` if another operation computes the case that the second operand is the
//! single value 2, `method` if the method has another name than the function, and `operator` if
//! there is one. `M` says whether the SIMD level fuses multiplications and additions.

/// Operations on one operand. `large_argument` separates arguments that need a slower algorithm.
/// Those operations, and those with `computes_much`, take much longer to compute a result than to
/// store it. `in_registers` names the operation of registers that computes the same of f32 and f64.
macro_rules! unary_operations {
    ($generate:ident) => {$generate! {
        /// `−a` (PyTorch: `torch.neg`).
        Neg<T: Number> -> T: neg, neg_into, in place neg_inplace<Number>, operator Neg {
            |M, a| a.negated(), in_registers Neg
        }
        /// The magnitude; the least integer stays as it is (PyTorch: `torch.abs`).
        Abs<T: Number> -> T::Magnitude: abs, abs_into, in place abs_inplace<Ordered> {
            |M, a| a.magnitude(), in_registers Abs
        }
        /// −1, 0 or 1; NaN gives 0 (PyTorch: `torch.sign`).
        Sign<T: Ordered> -> T: sign, sign_into, in place sign_inplace<Ordered> { |M, a| a.sign() }
        /// `1 / a`, of integers as f32 (PyTorch: `torch.reciprocal`).
        #[doc(alias = "reciprocal")]
        Recip<T: Number> -> T::Float: recip, recip_into, in place recip_inplace<Inexact> {
            |M, a| a.to_float().reciprocal(), in_registers Recip
        }
        /// `√a`, of integers as f32 (PyTorch: `torch.sqrt`).
        Sqrt<T: Number> -> T::Float: sqrt, sqrt_into, in place sqrt_inplace<Inexact> {
            |M, a| a.to_float().square_root(), in_registers Sqrt
        }
        /// `1 / √a`, of integers as f32 (PyTorch: `torch.rsqrt`).
        Rsqrt<T: Number> -> T::Float: rsqrt, rsqrt_into, in place rsqrt_inplace<Inexact> {
            |M, a| a.to_float().reciprocal_square_root()
        }
        /// `a · a` (PyTorch: `torch.square`).
        Square<T: Number> -> T: square, square_into, in place square_inplace<Number> {
            |M, a| a.times(a), in_registers Square
        }
        /// `e^a`, of integers as f32 (PyTorch: `torch.exp`).
        Exp<T: Number> -> T::Float: exp, exp_into, in place exp_inplace<Inexact> {
            |M, a| a.to_float().exp_fast::<M>(),
            large_argument EXP_HAS_LARGE_ARGUMENT_PATH if a.to_float().is_large_exp()
                => a.to_float().exp_with::<M>()
        }
        /// The natural logarithm, of integers as f32 (PyTorch: `torch.log`).
        #[doc(alias = "log")]
        Ln<T: Number> -> T::Float: ln, ln_into, in place ln_inplace<Inexact> {
            |M, a| a.to_float().ln_fast::<M>(),
            large_argument LOG_HAS_LARGE_ARGUMENT_PATH if a.to_float().is_special_log()
                => a.to_float().ln_with::<M>()
        }
        /// The logarithm to base 2, of integers as f32 (PyTorch: `torch.log2`).
        Log2<T: Number> -> T::Float: log2, log2_into, in place log2_inplace<Inexact> {
            |M, a| a.to_float().log2_fast::<M>(),
            large_argument LOG_HAS_LARGE_ARGUMENT_PATH if a.to_float().is_special_log()
                => a.to_float().log2_with::<M>()
        }
        /// The logarithm to base 10, of integers as f32 (PyTorch: `torch.log10`).
        Log10<T: Number> -> T::Float: log10, log10_into, in place log10_inplace<Inexact> {
            |M, a| a.to_float().log10_fast::<M>(),
            large_argument LOG_HAS_LARGE_ARGUMENT_PATH if a.to_float().is_special_log()
                => a.to_float().log10_with::<M>()
        }
        /// The sine, of integers as f32 (PyTorch: `torch.sin`).
        Sin<T: Number> -> T::Float: sin, sin_into, in place sin_inplace<Inexact> {
            |M, a| a.to_float().sin_with::<M>(),
            large_argument HAS_LARGE_ARGUMENT_PATH if a.to_float().is_large_argument()
                => a.to_float().sin_large()
        }
        /// The cosine, of integers as f32 (PyTorch: `torch.cos`).
        Cos<T: Number> -> T::Float: cos, cos_into, in place cos_inplace<Inexact> {
            |M, a| a.to_float().cos_with::<M>(),
            large_argument HAS_LARGE_ARGUMENT_PATH if a.to_float().is_large_argument()
                => a.to_float().cos_large()
        }
        /// The hyperbolic tangent, of integers as f32 (PyTorch: `torch.tanh`).
        Tanh<T: Number> -> T::Float: tanh, tanh_into, in place tanh_inplace<Inexact> {
            |M, a| a.to_float().tanh_with::<M>(), computes_much true
        }
        /// `1 / (1 + e^−a)`, of integers as f32 (PyTorch: `torch.sigmoid`).
        Sigmoid<T: Number> -> T::Float: sigmoid, sigmoid_into, in place sigmoid_inplace<Inexact> {
            |M, a| a.to_float().sigmoid_with::<M>(), computes_much true
        }
        /// a, or 0 if a is negative; NaN stays NaN (PyTorch: `torch.relu`).
        Relu<T: Ordered> -> T: relu, relu_into, in place relu_inplace<Ordered> {
            |M, a| a.relu(), in_registers Relu
        }
        /// a times the standard normal distribution function of a (PyTorch: `gelu`, exact).
        Gelu<T: Real> -> T: gelu, gelu_into, in place gelu_inplace<Real> {
            |M, a| a.gelu_with::<M>(), computes_much true
        }
        /// `a / (1 + e^−a)` (PyTorch: `silu`).
        Silu<T: Real> -> T: silu, silu_into, in place silu_inplace<Real> {
            |M, a| a.silu_with::<M>(), computes_much true
        }
        /// The largest integer not above a (PyTorch: `torch.floor`).
        Floor<T: Ordered> -> T: floor, floor_into, in place floor_inplace<Ordered> {
            |M, a| a.rounded_down()
        }
        /// The smallest integer not below a (PyTorch: `torch.ceil`).
        Ceil<T: Ordered> -> T: ceil, ceil_into, in place ceil_inplace<Ordered> {
            |M, a| a.rounded_up()
        }
        /// The nearest integer, ties to even (PyTorch: `torch.round`).
        Round<T: Ordered> -> T: round, round_into, in place round_inplace<Ordered> {
            |M, a| a.rounded()
        }
        /// The integer part: rounds towards 0 (PyTorch: `torch.trunc`).
        Trunc<T: Ordered> -> T: trunc, trunc_into, in place trunc_inplace<Ordered> {
            |M, a| a.rounded_to_zero()
        }
        /// True for NaN (PyTorch: `torch.isnan`).
        IsNan<T: Equality> -> bool: is_nan, is_nan_into { |M, a| a.is_not_a_number() }
        /// True for 0 (PyTorch: `torch.logical_not`).
        LogicalNot<T: Equality> -> bool: logical_not, logical_not_into { |M, a| !a.is_nonzero() }
        /// `!a`: all bits inverted (PyTorch: `torch.bitwise_not`).
        BitwiseNot<T: Bits> -> T:
            bitwise_not, bitwise_not_into, in place bitwise_not_inplace<Bits>, operator Not {
                |M, a| a.bits_not()
            }
    }};
}

/// Operations on two operands. `large_argument` separates arguments that need a slower algorithm.
macro_rules! binary_operations {
    ($generate:ident) => {$generate! {
        /// `a + b` (PyTorch: `torch.add`).
        Add<T: Number> -> T: add, add_into, in place add_inplace<Number>, operator Add {
            |M, a, b| a.plus(b), in_registers Add
        }
        /// `a − b` (PyTorch: `torch.sub`).
        Sub<T: Number> -> T: sub, sub_into, in place sub_inplace<Number>, operator Sub {
            |M, a, b| a.minus(b), in_registers Sub
        }
        /// `a · b` (PyTorch: `torch.mul`).
        Mul<T: Number> -> T: mul, mul_into, in place mul_inplace<Number>, operator Mul {
            |M, a, b| a.times(b), in_registers Mul
        }
        /// `a / b`, of integers as f32 (PyTorch: `torch.div`).
        Div<T: Number> -> T::Float: div, div_into, in place div_inplace<Inexact>, operator Div {
            |M, a, b| a.to_float().divided_by(b.to_float()), in_registers Div
        }
        /// `a / b`, rounded down (PyTorch: `torch.div(rounding_mode='floor')`).
        DivFloor<T: Ordered> -> T:
            div_floor, div_floor_into, in place div_floor_inplace<Ordered>, divides dividing_by {
                |M, a, b| a.floor_quotient_fast::<M>(b),
                large_argument DIVISION_HAS_LARGE_ARGUMENT_PATH if a.is_large_quotient(b)
                    => a.floor_quotient(b)
            }
        /// `a / b`, rounded towards 0 (PyTorch: `torch.div(rounding_mode='trunc')`).
        DivTrunc<T: Ordered> -> T:
            div_trunc, div_trunc_into, in place div_trunc_inplace<Ordered>, divides dividing_by {
                |M, a, b| a.trunc_quotient(b)
            }
        /// The remainder of [`ops::div_floor`](crate::ops::div_floor), with the sign of b (PyTorch:
        /// `torch.remainder`, Python's `%`).
        Rem<T: Ordered> -> T:
            rem, rem_into, in place rem_inplace<Ordered>, divides dividing_by, operator Rem {
                |M, a, b| a.remainder_fast::<M>(b),
                large_argument DIVISION_HAS_LARGE_ARGUMENT_PATH if a.is_large_quotient(b)
                    => a.remainder(b)
            }
        /// a to the power of b. An integer to a negative power is 0, unless it is 1 or −1
        /// (PyTorch: `torch.pow`).
        Pow<T: Number> -> T: pow, pow_into, in place pow_inplace<Number>, of two Square {
            |M, a, b| a.power_fast::<M>(b),
            large_argument POWER_HAS_LARGE_ARGUMENT_PATH if a.is_special_power(b)
                => a.power::<M>(b)
        }
        /// The angle of the point (b, a), from −π to π (PyTorch: `torch.atan2`).
        Atan2<T: Real> -> T: atan2, atan2_into, in place atan2_inplace<Real> {
            |M, a, b| a.atan2_with::<M>(b), computes_much true
        }
        /// The smaller; NaN if one is NaN (PyTorch: `torch.minimum`).
        Minimum<T: Compare> -> T: minimum, minimum_into, in place minimum_inplace<Compare> {
            |M, a, b| a.minimum(b)
        }
        /// The larger; NaN if one is NaN (PyTorch: `torch.maximum`).
        Maximum<T: Compare> -> T: maximum, maximum_into, in place maximum_inplace<Compare> {
            |M, a, b| a.maximum(b)
        }
        /// `a == b` (PyTorch: `torch.eq`).
        Eq<T: Equality> -> bool: eq, eq_into, method elem_eq { |M, a, b| a.equals(b) }
        /// `a != b` (PyTorch: `torch.ne`).
        Ne<T: Equality> -> bool: ne, ne_into, method elem_ne { |M, a, b| !a.equals(b) }
        /// `a < b` (PyTorch: `torch.lt`).
        Lt<T: Compare> -> bool: lt, lt_into, method elem_lt { |M, a, b| a.is_less(b) }
        /// `a <= b` (PyTorch: `torch.le`).
        Le<T: Compare> -> bool: le, le_into, method elem_le { |M, a, b| a.is_at_most(b) }
        /// `a > b` (PyTorch: `torch.gt`).
        Gt<T: Compare> -> bool: gt, gt_into, method elem_gt { |M, a, b| b.is_less(a) }
        /// `a >= b` (PyTorch: `torch.ge`).
        Ge<T: Compare> -> bool: ge, ge_into, method elem_ge { |M, a, b| b.is_at_most(a) }
        /// True if both are nonzero (PyTorch: `torch.logical_and`).
        LogicalAnd<T: Equality> -> bool: logical_and, logical_and_into {
            |M, a, b| a.is_nonzero() & b.is_nonzero()
        }
        /// True if at least one is nonzero (PyTorch: `torch.logical_or`).
        LogicalOr<T: Equality> -> bool: logical_or, logical_or_into {
            |M, a, b| a.is_nonzero() | b.is_nonzero()
        }
        /// True if exactly one is nonzero (PyTorch: `torch.logical_xor`).
        LogicalXor<T: Equality> -> bool: logical_xor, logical_xor_into {
            |M, a, b| a.is_nonzero() ^ b.is_nonzero()
        }
        /// `a & b` (PyTorch: `torch.bitwise_and`).
        BitwiseAnd<T: Bits> -> T:
            bitwise_and, bitwise_and_into, in place bitwise_and_inplace<Bits>, operator BitAnd {
                |M, a, b| a.bits_and(b)
            }
        /// `a | b` (PyTorch: `torch.bitwise_or`).
        BitwiseOr<T: Bits> -> T:
            bitwise_or, bitwise_or_into, in place bitwise_or_inplace<Bits>, operator BitOr {
                |M, a, b| a.bits_or(b)
            }
        /// `a ^ b` (PyTorch: `torch.bitwise_xor`).
        BitwiseXor<T: Bits> -> T:
            bitwise_xor, bitwise_xor_into, in place bitwise_xor_inplace<Bits>, operator BitXor {
                |M, a, b| a.bits_xor(b)
            }
        /// `a << b`; 0 for a distance that is negative or beyond the width (PyTorch:
        /// `torch.bitwise_left_shift`).
        Shl<T: Integer> -> T: shl, shl_into, in place shl_inplace<Integer>, operator Shl {
            |M, a, b| a.shifted_left(b)
        }
        /// `a >> b`; the sign, 0 or −1, for a distance that is negative or beyond the width
        /// (PyTorch: `torch.bitwise_right_shift`).
        Shr<T: Integer> -> T: shr, shr_into, in place shr_inplace<Integer>, operator Shr {
            |M, a, b| a.shifted_right(b)
        }
    }};
}

/// Operations on three operands of one type.
macro_rules! ternary_operations {
    ($generate:ident) => {
        $generate! {
            /// `a · factor + summand` (PyTorch: `torch.addcmul(summand, a, factor)`). Rounded once
            /// for f32 and f64; f16 and bf16 are computed as f32 and rounded again.
            #[doc(alias = "addcmul")]
            MulAdd<T: Number>: mul_add, mul_add_into, in place mul_add_inplace {
                |M, a, factor, summand| a.times_plus(factor, summand), in_registers MulAdd
            }
            /// a, but at least `min` and at most `max`; `max` if `min` is larger; NaN if one is NaN
            /// (PyTorch: `torch.clamp`).
            Clamp<T: Compare>: clamp, clamp_into, in place clamp_inplace {
                |M, a, min, max| a.maximum(min).minimum(max)
            }
        }
    };
}

pub(in crate::api) use {binary_operations, ternary_operations, unary_operations};
