//! The reductions that [`ops`](crate::ops) names, and those that search for divisors of 0: how each
//! combines two partial results.

use std::marker::PhantomData;

use super::{compiled::compiled, reduce::Reduce};
#[cfg(tensor_compiled)]
use crate::kernel::Reduction;
use crate::{
    element::{Accumulate, Compare, Equality, Inexact, Number},
    kernel::{ArgOrder, ArgReduction, Fold, FoldReduction, ReductionOf},
};

pub(crate) struct Sum;
pub(crate) struct Prod;
/// The mean of `count` elements.
pub(crate) struct Mean {
    count: usize,
}
pub(crate) struct Min;
pub(crate) struct Max;
/// Is any element not 0?
pub(crate) struct Any;
/// Are all elements not 0?
pub(crate) struct All;
pub(crate) struct ArgMin;
pub(crate) struct ArgMax;
/// Is any element 0?
pub(crate) struct HasZero;
/// The index of the first 0, if there is one.
pub(crate) struct FirstZero;

macro_rules! folds {
    ($(
        $op:ident<$t:ident: $bound:ident>($self:ident): $accumulator:ty => $output:ty,
        $identity:expr, |$element:ident| $from_element:expr,
        |$a:ident, $b:ident| $combine:expr, |$last:ident| $finalize:expr, |$count:ident| $of:expr,
        $of_empty:expr, $any_order:literal;
    )*) => {$(
        compiled! { $op, $bound, T => FoldReduction<$op, T>, dyn Reduction }

        impl<$t: $bound> Fold<$t> for $op {
            #[cfg(tensor_compiled)]
            fn compiled(reduction: &FoldReduction<Self, $t>) -> Option<&dyn Reduction> {
                $op::find_compiled(reduction)
            }

            type Accumulator = $accumulator;
            type Output = $output;

            const IDENTITY: $accumulator = $identity;
            const ANY_ORDER: bool = $any_order;

            #[inline(always)]
            fn from_element($element: $t) -> $accumulator {
                $from_element
            }

            #[inline(always)]
            fn combine($a: $accumulator, $b: $accumulator) -> $accumulator {
                $combine
            }

            #[inline(always)]
            fn finalize(&$self, $last: $accumulator) -> $output {
                $finalize
            }
        }

        impl<$t: $bound> Reduce<$t> for $op {
            type Output = $output;

            fn kernels($count: usize) -> impl ReductionOf<$t, $output> {
                FoldReduction($of, PhantomData::<fn($t)>)
            }

            fn of_empty() -> Option<$output> {
                $of_empty
            }
        }
    )*};
}

/// The value of a choice. Two nested choices compile better than one with both conditions: the
/// inner one is the CPU's minimum or maximum instruction.
#[inline(always)]
fn first_if<T>(condition: bool, a: T, b: T) -> T {
    if condition { a } else { b }
}

folds! {
    Sum<T: Accumulate>(self): T::Partial => T::Sum,
        T::EMPTY_SUM, |x| x.to_partial(),
        |a, b| a.plus(b), |sum| T::rounded_sum(sum), |_count| Self,
        Some(T::rounded_sum(T::EMPTY_SUM)), false;
    Prod<T: Accumulate>(self): T::Partial => T::Sum,
        T::EMPTY_PRODUCT, |x| x.to_partial(),
        |a, b| a.times(b), |product| T::rounded_sum(product), |_count| Self,
        Some(T::rounded_sum(T::EMPTY_PRODUCT)), false;
    Mean<T: Inexact>(self): T::Partial => T,
        T::EMPTY_SUM, |x| x.to_partial(),
        |a, b| a.plus(b), |sum| T::mean(sum, self.count), |count| Self { count },
        Some(T::mean(T::EMPTY_SUM, 0)), false;
    Min<T: Compare>(self): T::Key => T,
        T::GREATEST, |x| x.to_key(),
        |a, b| first_if(a.is_not_a_number(), a, first_if(a.is_less(b), a, b)),
        |least| T::of_key(least), |_count| Self,
        None, true;
    Max<T: Compare>(self): T::Key => T,
        T::LEAST, |x| x.to_key(),
        |a, b| first_if(a.is_not_a_number(), a, first_if(b.is_less(a), a, b)),
        |most| T::of_key(most), |_count| Self,
        None, true;
    Any<T: Equality>(self): bool => bool,
        false, |x| x.is_nonzero(),
        |a, b| a | b, |any| any, |_count| Self,
        Some(false), true;
    All<T: Equality>(self): bool => bool,
        true, |x| x.is_nonzero(),
        |a, b| a & b, |all| all, |_count| Self,
        Some(true), true;
    HasZero<T: Compare>(self): T::Key => bool,
        T::GREATEST, |x| x.to_key(),
        |a, b| first_if(a.is_nonzero(), b, a), |last| !last.is_nonzero(), |_count| Self,
        Some(false), true;
}

macro_rules! arg_reductions {
    ($($op:ident: $worst:ident, |$a:ident, $b:ident| $precedes:expr;)*) => {$(
        compiled! { $op, Compare, T => ArgReduction<$op, T>, dyn Reduction }

        impl<T: Compare> ArgOrder<T> for $op {
            #[cfg(tensor_compiled)]
            fn compiled(reduction: &ArgReduction<Self, T>) -> Option<&dyn Reduction> {
                $op::find_compiled(reduction)
            }

            const LAST_KEY: T::Key = T::$worst;

            #[inline(always)]
            fn precedes($a: T::Key, $b: T::Key) -> bool {
                $precedes
            }
        }

        impl<T: Compare> Reduce<T> for $op {
            type Output = i64;

            fn kernels(_count: usize) -> impl ReductionOf<T, i64> {
                ArgReduction::<Self, T>(PhantomData)
            }

            fn of_empty() -> Option<i64> {
                None
            }
        }
    )*};
}

arg_reductions! {
    ArgMin: GREATEST, |a, b| a.is_less(b) | (a.is_not_a_number() & !b.is_not_a_number());
    ArgMax: LEAST, |a, b| b.is_less(a) | (a.is_not_a_number() & !b.is_not_a_number());
    FirstZero: GREATEST, |a, b| !a.is_nonzero() & b.is_nonzero();
}
