//! Functions of elements, as the innermost loops call them.
//!
//! A named operation is a type without a value, so that it is compiled anew for each SIMD level and
//! told there what arithmetic the level has. A user's closure is compiled anew, too, but asks for
//! nothing.

use crate::math::FmaMode;

/// A function of one element.
pub(crate) trait Function1<A>: Sync {
    /// What it gives.
    type Output;

    /// Are there arguments, far from 0, that take more than the others? Blocks of elements are
    /// searched for them then.
    const HAS_LARGE_ARGUMENT_PATH: bool = false;

    /// The result, for arguments that are not far.
    fn call<M: FmaMode>(&self, a: A) -> Self::Output;

    /// Is this such an argument?
    #[inline(always)]
    fn is_large_argument(&self, _a: A) -> bool {
        false
    }

    /// The result for such an argument.
    fn call_large_argument<M: FmaMode>(&self, a: A) -> Self::Output {
        self.call::<M>(a)
    }
}

/// A function of two elements.
pub(crate) trait Function2<A, B>: Sync {
    /// What it gives.
    type Output;

    /// The result.
    fn call<M: FmaMode>(&self, a: A, b: B) -> Self::Output;
}

/// A function of three elements.
pub(crate) trait Function3<A, B, C>: Sync {
    /// What it gives.
    type Output;

    /// The result.
    fn call<M: FmaMode>(&self, a: A, b: B, c: C) -> Self::Output;
}

/// A user's function.
pub(crate) struct Closure<F>(pub(crate) F);

impl<A, R, F: Fn(A) -> R + Sync> Function1<A> for Closure<F> {
    type Output = R;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A) -> R {
        self.0(a)
    }
}

impl<A, B, R, F: Fn(A, B) -> R + Sync> Function2<A, B> for Closure<F> {
    type Output = R;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A, b: B) -> R {
        self.0(a, b)
    }
}

impl<A, B, C, R, F: Fn(A, B, C) -> R + Sync> Function3<A, B, C> for Closure<F> {
    type Output = R;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: A, b: B, c: C) -> R {
        self.0(a, b, c)
    }
}
