//! What each reduction does to two partial results: the operations that [`ops`](crate::ops) names,
//! and those that look for divisors of 0.

use std::marker::PhantomData;

use super::reduce::Reduce;
use crate::{
    element::{Accumulate, Compare, Equality, Inexact, Number},
    kernel::{ArgOrder, ArgReduction, Fold, FoldReduction, ReductionOf},
};

pub(crate) struct Sum;
pub(crate) struct Prod;
/// Of so many elements.
pub(crate) struct Mean {
    count: usize,
}
pub(crate) struct Min;
pub(crate) struct Max;
pub(crate) struct ArgMin;
pub(crate) struct ArgMax;
/// Is one of them 0?
pub(crate) struct HasZero;
/// Where the first 0 is, if there is one.
pub(crate) struct FirstZero;

macro_rules! folds {
    ($($op:ident<$t:ident: $bound:ident>($self:ident): $accumulator:ty => $output:ty, $empty:expr, |$element:ident| $from_element:expr,
        |$a:ident, $b:ident| $combine:expr, |$last:ident| $finalize:expr, |$count:ident| $of:expr, $nothing:expr;)*) => {$(
        impl<$t: $bound> Fold<$t> for $op {
            type Accumulator = $accumulator;
            type Output = $output;

            const IDENTITY: $accumulator = $empty;

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

            fn of_nothing() -> Option<$output> {
                $nothing
            }
        }
    )*};
}

/// Two choices rather than one by both conditions: the inner one is what the CPU has as minimum or
/// maximum.
#[inline(always)]
fn first_if<T>(condition: bool, a: T, b: T) -> T {
    if condition { a } else { b }
}

folds! {
    Sum<T: Accumulate>(self): T::Partial => T::Sum, T::ZERO, |x| x.to_partial(), |a, b| a.plus(b), |sum| T::rounded_sum(sum), |_count| Self,
        Some(T::rounded_sum(T::ZERO));
    Prod<T: Accumulate>(self): T::Partial => T::Sum, T::ONE, |x| x.to_partial(), |a, b| a.times(b), |product| T::rounded_sum(product), |_count| Self,
        Some(T::rounded_sum(T::ONE));
    Mean<T: Inexact>(self): T::Partial => T, T::ZERO, |x| x.to_partial(), |a, b| a.plus(b), |sum| T::mean(sum, self.count), |count| Self { count },
        Some(T::mean(T::ZERO, 0));
    Min<T: Compare>(self): T::Key => T, T::GREATEST, |x| x.to_key(), |a, b| first_if(a.is_not_a_number(), a, first_if(a.is_less(b), a, b)), |least| T::of_key(least), |_count| Self, None;
    Max<T: Compare>(self): T::Key => T, T::LEAST, |x| x.to_key(), |a, b| first_if(a.is_not_a_number(), a, first_if(b.is_less(a), a, b)), |most| T::of_key(most), |_count| Self, None;
    HasZero<T: Compare>(self): T::Key => bool, T::GREATEST, |x| x.to_key(), |a, b| first_if(a.truth(), b, a), |last| !last.truth(), |_count| Self, Some(false);
}

macro_rules! finds {
    ($($op:ident: $worst:ident, |$a:ident, $b:ident| $in_front:expr;)*) => {$(
        impl<T: Compare> ArgOrder<T> for $op {
            const LAST_KEY: T::Key = T::$worst;

            #[inline(always)]
            fn precedes($a: T::Key, $b: T::Key) -> bool {
                $in_front
            }
        }

        impl<T: Compare> Reduce<T> for $op {
            type Output = i64;

            fn kernels(_count: usize) -> impl ReductionOf<T, i64> {
                ArgReduction::<Self, T>(PhantomData)
            }

            fn of_nothing() -> Option<i64> {
                None
            }
        }
    )*};
}

finds! {
    ArgMin: GREATEST, |a, b| a.is_less(b) | (a.is_not_a_number() & !b.is_not_a_number());
    ArgMax: LEAST, |a, b| b.is_less(a) | (a.is_not_a_number() & !b.is_not_a_number());
    FirstZero: GREATEST, |a, b| !a.truth() & b.truth();
}
