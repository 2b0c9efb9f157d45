//! Operations on all elements, or those along some dimensions.

use std::marker::PhantomData;

use tensor_core::{Operand, Over, Result, Target, TensorBase};

use crate::{
    Compare, Exec, Fraction, Logic, Number, Simd, Summable,
    elementwise::call::Call,
    micro::{Find, Finding, Fold, Folding, Reduction},
    reduce::Reduce,
};

/// The forms of each reduction.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $op:ident $name:ident $into:ident $all:ident: $bound:ident -> $output:ty, |$t:ident|;
    )*) => {$(
        impl $op {
            pub(crate) fn fresh<$t: $bound, K>(exec: &Exec, a: &Operand<'_, $t>, over: Over<'_>) -> Result<TensorBase<$output, K>> {
                Call::new(exec, stringify!($name)).reduce_fresh::<$t, Self, K>(a, over)
            }

            pub(crate) fn all<$t: $bound>(exec: &Exec, a: Operand<'_, $t>) -> Result<$output> {
                Call::new(exec, stringify!($name)).reduce_all::<$t, Self>(a)
            }
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// A dimension out of range or named twice, a storage that is being written, no memory.
        pub fn $name<'a, 'd, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            over: impl Into<Over<'d>>,
        ) -> Result<TensorBase<$output, Simd>> {
            $op::fresh(exec, &a.into(), over.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`];")]
        /// a result of another shape, or that shares elements with the operand without being it, or with itself; see [`ops`](crate::ops).
        pub fn $into<'a, 'd, 'o, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            over: impl Into<Over<'d>>,
            out: impl Into<Target<'o, $output>>,
        ) -> Result<()> {
            Call::new(exec, stringify!($name)).reduce_into::<$t, $op>(a.into(), over.into(), out.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] of all elements, as a value.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`].")]
        pub fn $all<'a, $t: $bound>(exec: &Exec, a: impl Into<Operand<'a, $t>>) -> Result<$output> {
            $op::all(exec, a.into())
        }
    )*};
}

reductions! {
    /// The sum over dimensions (PyTorch: `torch.sum`); 0 of no elements.
    ///
    /// Of bool and integers as i64, of u64 as u64, wrapping around; f16 and bf16 are summed in f32 and rounded once. The sum of n floats is off by
    /// at most `(128 + log2 n) · u` times the sum of their magnitudes, `u` being 2⁻²⁴ for f32 and 2⁻⁵³ for f64.
    ///
    /// ```
    /// use tensor_kernels::{Exec, Over, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::arange(0i64, 6, 1)?.view(&[2, 3])?;
    /// assert_eq!(ops::sum(exec, &x, 0)?.to_vec()?, [3, 5, 7]);
    /// assert_eq!(ops::sum(exec, &x, Over::from(-1).keepdim())?.shape(), [2, 1]);
    /// assert_eq!(ops::sum(exec, &x, &[0, 1])?.get(&[])?, 15);
    /// assert_eq!(ops::sum_all(exec, &x.t()?)?, 15);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    Sum sum sum_into sum_all: Summable -> T::Sum, |T|;
    /// The product over dimensions (PyTorch: `torch.prod`); 1 of no elements. Types are those of [`sum`].
    Prod prod prod_into prod_all: Summable -> T::Sum, |T|;
    /// The mean over dimensions, of real and complex floats (PyTorch: `torch.mean`): the [`sum`] through the number of elements; NaN of none.
    Mean mean mean_into mean_all: Fraction -> T, |T|;
    /// The least element over dimensions; NaN if one is (PyTorch: `torch.amin`). No elements have none:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). Which of two zeros it is is not said.
    Min min min_into min_all: Compare -> T, |T|;
    /// The greatest element over dimensions; NaN if one is (PyTorch: `torch.amax`). No elements have none:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). Which of two zeros it is is not said.
    Max max max_into max_all: Compare -> T, |T|;
    /// Where the least element is, over dimensions; the first NaN if there is one, else the first of equals (PyTorch: `torch.argmin`).
    ///
    /// That is the index along the dimension; over several dimensions, the number of the element among them in row-major order. No elements have
    /// none: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMin argmin argmin_into argmin_all: Compare -> i64, |T|;
    /// Where the greatest element is, over dimensions; the first NaN if there is one, else the first of equals (PyTorch: `torch.argmax`).
    ///
    /// Indices are those of [`argmin`]. No elements have none: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMax argmax argmax_into argmax_all: Compare -> i64, |T|;
}

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
    ($($op:ident<$t:ident: $bound:ident>($self:ident): $slot:ty => $output:ty, $empty:expr, |$element:ident| $lift:expr,
        |$a:ident, $b:ident| $join:expr, |$last:ident| $finish:expr, |$count:ident| $of:expr, $nothing:expr;)*) => {$(
        impl<$t: $bound> Fold<$t> for $op {
            type Slot = $slot;
            type Output = $output;

            const EMPTY: $slot = $empty;

            #[inline(always)]
            fn lift($element: $t) -> $slot {
                $lift
            }

            #[inline(always)]
            fn join($a: $slot, $b: $slot) -> $slot {
                $join
            }

            #[inline(always)]
            fn finish(&$self, $last: $slot) -> $output {
                $finish
            }
        }

        impl<$t: $bound> Reduce<$t> for $op {
            type Output = $output;

            fn kernels($count: usize) -> impl Reduction {
                Folding($of, PhantomData::<fn($t)>)
            }

            fn of_nothing() -> Option<$output> {
                $nothing
            }
        }
    )*};
}

/// Two choices rather than one by both conditions: the inner one is what the CPU has as minimum or maximum.
#[inline(always)]
fn first_if<T>(condition: bool, a: T, b: T) -> T {
    if condition { a } else { b }
}

folds! {
    Sum<T: Summable>(self): T::Partial => T::Sum, T::ZERO, |x| x.to_partial(), |a, b| a.plus(b), |sum| T::rounded_sum(sum), |_count| Self,
        Some(T::rounded_sum(T::ZERO));
    Prod<T: Summable>(self): T::Partial => T::Sum, T::ONE, |x| x.to_partial(), |a, b| a.times(b), |product| T::rounded_sum(product), |_count| Self,
        Some(T::rounded_sum(T::ONE));
    Mean<T: Fraction>(self): T::Partial => T, T::ZERO, |x| x.to_partial(), |a, b| a.plus(b), |sum| T::mean(sum, self.count), |count| Self { count },
        Some(T::mean(T::ZERO, 0));
    Min<T: Compare>(self): T::Key => T, T::GREATEST, |x| x.to_key(), |a, b| first_if(a.is_not_a_number(), a, first_if(a.is_less(b), a, b)), |least| T::of_key(least), |_count| Self, None;
    Max<T: Compare>(self): T::Key => T, T::LEAST, |x| x.to_key(), |a, b| first_if(a.is_not_a_number(), a, first_if(b.is_less(a), a, b)), |most| T::of_key(most), |_count| Self, None;
    HasZero<T: Compare>(self): T::Key => bool, T::GREATEST, |x| x.to_key(), |a, b| first_if(a.truth(), b, a), |last| !last.truth(), |_count| Self, Some(false);
}

macro_rules! finds {
    ($($op:ident: $worst:ident, |$a:ident, $b:ident| $in_front:expr;)*) => {$(
        impl<T: Compare> Find<T> for $op {
            const WORST: T::Key = T::$worst;

            #[inline(always)]
            fn beats($a: T::Key, $b: T::Key) -> bool {
                $in_front | ($a.is_not_a_number() & !$b.is_not_a_number())
            }
        }

        impl<T: Compare> Reduce<T> for $op {
            type Output = i64;

            const IS_PLACE: bool = true;

            fn kernels(_count: usize) -> impl Reduction {
                Finding::<Self, T>(PhantomData)
            }

            fn of_nothing() -> Option<i64> {
                None
            }
        }
    )*};
}

finds! {
    ArgMin: GREATEST, |a, b| a.is_less(b);
    ArgMax: LEAST, |a, b| b.is_less(a);
    FirstZero: GREATEST, |a, b| !a.truth() & b.truth();
}
