//! Operations on one operand.

use tensor_core::{Element, Operand, Output, Result, TensorBase};

use crate::{
    api::{call::Call, tensor::Simd},
    element::{Bits, Cast, Equality, Inexact, Number, Ordered, Real},
    exec::Exec,
    kernel::Function1,
    math::FmaMode,
};

/// For each operation: a type, compiled for each instruction set, and its forms. The third form
/// exists if the result has the operand's type.
macro_rules! unary {
    ($(
        $(#[$doc:meta])*
        $op:ident $name:ident $into:ident $(in place $inplace:ident<$place_bound:ident>)?:
            $bound:ident -> $output:ty,
        |$t:ident, $m:ident, $a:ident| $value:expr
        $(, large_argument $has_large:ident if $is_large:expr, $large:expr)?;
    )*) => {$(
        pub(crate) struct $op;

        impl<$t: $bound> Function1<$t> for $op {
            type Output = $output;

            #[inline(always)]
            fn call<$m: FmaMode>(&self, $a: $t) -> $output {
                $value
            }

            $(
                const HAS_LARGE_ARGUMENT_PATH: bool = <$t::Float as Inexact>::$has_large;

                #[inline(always)]
                fn is_large_argument(&self, $a: $t) -> bool {
                    $is_large
                }

                #[inline(always)]
                fn call_large_argument<$m: FmaMode>(&self, $a: $t) -> $output {
                    $large
                }
            )?
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// A storage that is being written, no memory.
        pub fn $name<'a, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
        ) -> Result<TensorBase<$output, Simd>> {
            Call::new(exec, stringify!($name)).eval1($op, a.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        /// Also a result of another shape, or that shares elements with the operand without being
        /// it, or with itself; see [`ops`](crate::ops).
        pub fn $into<'a, 'o, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            Call::new(exec, stringify!($name)).into1($op, Some(a.into()), out.into())
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($into), "`].")]
            pub fn $inplace<'x, $t: $place_bound>(
                exec: &Exec,
                x: impl Into<Output<'x, $t>>,
            ) -> Result<()> {
                Call::new(exec, stringify!($name)).into1($op, None::<Operand<'_, $t>>, x.into())
            }
        )?
    )*};
}

unary! {
    /// `−a` (PyTorch: `torch.neg`).
    Neg neg neg_into in place neg_inplace<Number>: Number -> T, |T, M, a| a.negated();
    /// The magnitude; the least integer stays as it is (PyTorch: `torch.abs`).
    Abs abs abs_into in place abs_inplace<Ordered>: Number -> T::Magnitude, |T, M, a| a.magnitude();
    /// −1, 0 or 1; NaN gives 0 (PyTorch: `torch.sign`).
    Sign sign sign_into in place sign_inplace<Ordered>: Ordered -> T, |T, M, a| a.sign();
    /// `1 / a`, of integers as f32 (PyTorch: `torch.reciprocal`).
    Recip recip recip_into in place recip_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().reciprocal();
    /// `√a`, of integers as f32 (PyTorch: `torch.sqrt`).
    Sqrt sqrt sqrt_into in place sqrt_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().root();
    /// `1 / √a`, of integers as f32 (PyTorch: `torch.rsqrt`).
    Rsqrt rsqrt rsqrt_into in place rsqrt_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().reciprocal_root();
    /// `a · a` (PyTorch: `torch.square`).
    Square square square_into in place square_inplace<Number>: Number -> T, |T, M, a| a.times(a);
    /// `e^a`, of integers as f32 (PyTorch: `torch.exp`).
    Exp exp exp_into in place exp_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().exp_fast::<M>(),
        large_argument EXP_HAS_FAR if a.to_float().is_large_exp(), a.to_float().exp::<M>();
    /// The natural logarithm, of integers as f32 (PyTorch: `torch.log`).
    Ln ln ln_into in place ln_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().ln::<M>();
    /// The logarithm to base 2, of integers as f32 (PyTorch: `torch.log2`).
    Log2 log2 log2_into in place log2_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().log2::<M>();
    /// The logarithm to base 10, of integers as f32 (PyTorch: `torch.log10`).
    Log10 log10 log10_into in place log10_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().log10::<M>();
    /// The sine, of integers as f32 (PyTorch: `torch.sin`).
    Sin sin sin_into in place sin_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().sin::<M>(),
        large_argument HAS_LARGE_ARGUMENT_PATH if a.to_float().is_large_argument(),
        a.to_float().sin_large();
    /// The cosine, of integers as f32 (PyTorch: `torch.cos`).
    Cos cos cos_into in place cos_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().cos::<M>(),
        large_argument HAS_LARGE_ARGUMENT_PATH if a.to_float().is_large_argument(),
        a.to_float().cos_large();
    /// The hyperbolic tangent, of integers as f32 (PyTorch: `torch.tanh`).
    Tanh tanh tanh_into in place tanh_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().tanh::<M>();
    /// `1 / (1 + e^−a)`, of integers as f32 (PyTorch: `torch.sigmoid`).
    Sigmoid sigmoid sigmoid_into in place sigmoid_inplace<Inexact>: Number -> T::Float,
        |T, M, a| a.to_float().sigmoid::<M>();
    /// a, or 0 if a is negative; NaN stays NaN (PyTorch: `torch.relu`).
    Relu relu relu_into in place relu_inplace<Ordered>: Ordered -> T, |T, M, a| a.or_zero();
    /// a times the standard normal distribution function of a (PyTorch: `gelu`, exact).
    Gelu gelu gelu_into in place gelu_inplace<Real>: Real -> T, |T, M, a| a.gelu::<M>();
    /// `a / (1 + e^−a)` (PyTorch: `silu`).
    Silu silu silu_into in place silu_inplace<Real>: Real -> T, |T, M, a| a.silu::<M>();
    /// The largest integer not above a (PyTorch: `torch.floor`).
    Floor floor floor_into in place floor_inplace<Ordered>: Ordered -> T,
        |T, M, a| a.rounded_down();
    /// The smallest integer not below a (PyTorch: `torch.ceil`).
    Ceil ceil ceil_into in place ceil_inplace<Ordered>: Ordered -> T, |T, M, a| a.rounded_up();
    /// The nearest integer, ties to even (PyTorch: `torch.round`).
    Round round round_into in place round_inplace<Ordered>: Ordered -> T, |T, M, a| a.rounded();
    /// The integer part: rounds towards 0 (PyTorch: `torch.trunc`).
    Trunc trunc trunc_into in place trunc_inplace<Ordered>: Ordered -> T,
        |T, M, a| a.rounded_to_zero();
    /// True for NaN (PyTorch: `torch.isnan`).
    IsNan is_nan is_nan_into: Equality -> bool, |T, M, a| a.is_not_a_number();
    /// True for 0 (PyTorch: `torch.logical_not`).
    LogicalNot logical_not logical_not_into: Equality -> bool, |T, M, a| !a.truth();
    /// `!a`: all bits inverted (PyTorch: `torch.bitwise_not`).
    BitwiseNot bitwise_not bitwise_not_into in place bitwise_not_inplace<Bits>: Bits -> T,
        |T, M, a| a.bits_not();
}

/// A conversion as a type, compiled for each instruction set.
pub(crate) struct Convert<U>(std::marker::PhantomData<fn() -> U>);

impl<U> Convert<U> {
    pub(crate) const TO: Self = Self(std::marker::PhantomData);
}

impl<T: Cast<U>, U: Element> Function1<T> for Convert<U> {
    type Output = U;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> U {
        a.cast()
    }
}

/// `a`, converted to another element type as [`Cast`] says (PyTorch: `a.to(dtype)`).
///
/// # Errors
/// A storage that is being written, no memory.
pub fn cast<'a, T: Cast<U>, U: Element>(
    exec: &Exec,
    a: impl Into<Operand<'a, T>>,
) -> Result<TensorBase<U, Simd>> {
    Call::new(exec, "cast").eval1(Convert::TO, a.into())
}

/// [`cast`] into a given result (PyTorch: `out.copy_(a)`).
///
/// # Errors
/// Also a result of another shape, or that shares elements with the operand without being it, or
/// with itself.
pub fn cast_into<'a, 'o, T: Cast<U>, U: Element>(
    exec: &Exec,
    a: impl Into<Operand<'a, T>>,
    out: impl Into<Output<'o, U>>,
) -> Result<()> {
    Call::new(exec, "cast").into1(Convert::TO, Some(a.into()), out.into())
}
