//! The reductions that [`ops`](crate::ops) names: how each combines two partial results.

use std::marker::PhantomData;

use super::{
    compiled::compiled,
    reduction::{Reduce, arg_reductions, first_if, folds},
};
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
        |a, b| first_if(a.is_less(b), a, b).or_nan_of(a),
        |least| T::of_key(least), |_count| Self,
        None, true;
    Max<T: Compare>(self): T::Key => T,
        T::LEAST, |x| x.to_key(),
        |a, b| first_if(b.is_less(a), a, b).or_nan_of(a),
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
}

arg_reductions! {
    ArgMin: GREATEST, |a, b| a.is_less(b) | (a.is_not_a_number() & !b.is_not_a_number()),
        first_if(a.is_less(b), a, b).or_nan_of(a);
    ArgMax: LEAST, |a, b| b.is_less(a) | (a.is_not_a_number() & !b.is_not_a_number()),
        first_if(b.is_less(a), a, b).or_nan_of(a);
}
