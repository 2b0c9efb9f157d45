//! Functions of elements, as the innermost loops call them.
//!
//! A named operation is a type without a value. It is compiled once per SIMD level, and the level
//! passes it the [`FmaMode`]. A user's closure is also compiled once per level, but ignores the
//! mode.

#[cfg(tensor_compiled)]
use super::elementwise::{Map, Operation, Zip, Zip3};
use super::register_op::RegisterOp;
use crate::math::FmaMode;

/// A function of one element.
pub(crate) trait Function1<A>: Sync {
    /// The type of the result.
    type Output;

    /// True if some arguments of large magnitude need a slower path. If so, the loop checks each
    /// block of elements for such arguments.
    const HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Does a result take much longer to compute than to store?
    const COMPUTES_MUCH: bool = Self::HAS_LARGE_ARGUMENT_PATH;

    /// Is it called once for each result, also for results that are equal? It may count its calls.
    const IS_COUNTED: bool = false;

    /// Is there no vector instruction for it, so that results are computed one by one? Then no
    /// result is computed twice to fill a register.
    #[inline(always)]
    fn is_scalar_code() -> bool {
        false
    }

    /// The operation of registers that this is for f32 and f64, if there is one.
    const REGISTER_OP: Option<RegisterOp> = None;

    /// Is it a conversion from f32 or f64 by few instructions?
    const IS_CHEAP_CONVERSION: bool = false;

    /// The operation as this crate compiled it, if it did; see `api::compiled`.
    #[cfg(tensor_compiled)]
    #[inline(always)]
    fn compiled(_operation: &Map<Self, A>) -> Option<&dyn Operation<2>>
    where
        Self: Sized,
    {
        None
    }

    /// The result, for arguments that do not need the large-argument path.
    fn call<M: FmaMode>(&self, a: A) -> Self::Output;

    /// Does this argument need the large-argument path?
    #[inline(always)]
    fn is_large_argument(&self, _a: A) -> bool {
        false
    }

    /// The result by the large-argument path; it is correct for every argument.
    fn call_large_argument<M: FmaMode>(&self, a: A) -> Self::Output {
        self.call::<M>(a)
    }
}

/// A function of two elements.
pub(crate) trait Function2<A, B>: Sync {
    /// The type of the result.
    type Output;

    /// True if some arguments need a slower path; see [`Function1::HAS_LARGE_ARGUMENT_PATH`].
    const HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Does a result take much longer to compute than to store?
    const COMPUTES_MUCH: bool = Self::HAS_LARGE_ARGUMENT_PATH;

    /// Is it called once for each result, also for results that are equal? It may count its calls.
    const IS_COUNTED: bool = false;

    /// See [`Function1::is_scalar_code`].
    #[inline(always)]
    fn is_scalar_code() -> bool {
        false
    }

    /// The operation of registers that this is for f32 and f64, if there is one.
    const REGISTER_OP: Option<RegisterOp> = None;

    /// The operation as this crate compiled it, if it did; see `api::compiled`.
    #[cfg(tensor_compiled)]
    #[inline(always)]
    fn compiled(_operation: &Zip<Self, A, B>) -> Option<&dyn Operation<3>>
    where
        Self: Sized,
    {
        None
    }

    /// The result, for arguments that do not need that path.
    fn call<M: FmaMode>(&self, a: A, b: B) -> Self::Output;

    /// Do these arguments need that path?
    #[inline(always)]
    fn is_large_argument(&self, _a: A, _b: B) -> bool {
        false
    }

    /// The result by that path; it is correct for all arguments.
    #[inline(always)]
    fn call_large_argument<M: FmaMode>(&self, a: A, b: B) -> Self::Output {
        self.call::<M>(a, b)
    }
}

/// A function of three elements.
pub(crate) trait Function3<A, B, C>: Sync {
    /// The type of the result.
    type Output;

    /// No function of three elements has a path for large arguments.
    const HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// Does a result take much longer to compute than to store?
    const COMPUTES_MUCH: bool = Self::HAS_LARGE_ARGUMENT_PATH;

    /// Is it called once for each result, also for results that are equal? It may count its calls.
    const IS_COUNTED: bool = false;

    /// See [`Function1::is_scalar_code`].
    #[inline(always)]
    fn is_scalar_code() -> bool {
        false
    }

    /// The operation of registers that this is for f32 and f64, if there is one.
    const REGISTER_OP: Option<RegisterOp> = None;

    /// The operation as this crate compiled it, if it did; see `api::compiled`.
    #[cfg(tensor_compiled)]
    #[inline(always)]
    fn compiled(_operation: &Zip3<Self, A, B, C>) -> Option<&dyn Operation<4>>
    where
        Self: Sized,
    {
        None
    }

    /// The result.
    fn call<M: FmaMode>(&self, a: A, b: B, c: C) -> Self::Output;

    /// See [`Function2::is_large_argument`].
    #[inline(always)]
    fn is_large_argument(&self, _a: A, _b: B, _c: C) -> bool {
        false
    }

    /// See [`Function2::call_large_argument`].
    #[inline(always)]
    fn call_large_argument<M: FmaMode>(&self, a: A, b: B, c: C) -> Self::Output {
        self.call::<M>(a, b, c)
    }
}

/// A user's function.
pub(crate) struct Closure<F>(pub(crate) F);

impl<A, R, F: Fn(A) -> R + Sync> Function1<A> for Closure<F> {
    type Output = R;

    // It may.
    const COMPUTES_MUCH: bool = true;

    const IS_COUNTED: bool = true;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A) -> R {
        self.0(a)
    }
}

impl<A, B, R, F: Fn(A, B) -> R + Sync> Function2<A, B> for Closure<F> {
    type Output = R;

    // It may.
    const COMPUTES_MUCH: bool = true;

    const IS_COUNTED: bool = true;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A, b: B) -> R {
        self.0(a, b)
    }
}

impl<A, B, C, R, F: Fn(A, B, C) -> R + Sync> Function3<A, B, C> for Closure<F> {
    type Output = R;

    // It may.
    const COMPUTES_MUCH: bool = true;

    const IS_COUNTED: bool = true;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A, b: B, c: C) -> R {
        self.0(a, b, c)
    }
}
