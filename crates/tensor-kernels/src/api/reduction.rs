//! What a reduction is, and the macros that define reductions by how they combine two partial
//! results.

use tensor_core::{Element, Scalar};

use crate::kernel::ReductionOf;
#[cfg(feature = "reductions")]
use crate::reduction_order::ReductionForm;

/// A named reduction of elements `T`.
pub(crate) trait Reduce<T: Element> {
    /// The element type of the result.
    type Output: Scalar;

    /// The kernels; `count` elements are reduced to each result.
    fn kernels(count: usize) -> impl ReductionOf<T, Self::Output>;

    /// The result of no elements, if it is defined.
    #[cfg(feature = "reductions")]
    fn of_empty() -> Option<Self::Output>;

    /// What a plan depends on. Without the kernels, so that these need not be compiled.
    #[cfg(feature = "reductions")]
    fn form() -> ReductionForm;
}

/// Defines reductions that fold the elements into an accumulator.
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

            #[cfg(feature = "reductions")]
            fn of_empty() -> Option<$output> {
                $of_empty
            }

            #[cfg(feature = "reductions")]
            fn form() -> $crate::reduction_order::ReductionForm {
                let $count: usize = 1;
                let reduction = FoldReduction($of, PhantomData::<fn($t)>);
                $crate::kernel::Reduction::form(&reduction)
            }
        }
    )*};
}

/// Defines reductions that choose an element, and give its number.
macro_rules! arg_reductions {
    ($($op:ident: $worst:ident, |$a:ident, $b:ident| $precedes:expr, $best:expr;)*) => {$(
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

            #[inline(always)]
            fn best($a: T::Key, $b: T::Key) -> T::Key {
                $best
            }
        }

        impl<T: Compare> Reduce<T> for $op {
            type Output = i64;

            fn kernels(_count: usize) -> impl ReductionOf<T, i64> {
                ArgReduction::<Self, T>(PhantomData)
            }

            #[cfg(feature = "reductions")]
            fn of_empty() -> Option<i64> {
                None
            }

            #[cfg(feature = "reductions")]
            fn form() -> $crate::reduction_order::ReductionForm {
                let reduction = ArgReduction::<Self, T>(PhantomData);
                $crate::kernel::Reduction::form(&reduction)
            }
        }
    )*};
}

/// The value of a choice.
#[inline(always)]
pub(super) fn first_if<T>(condition: bool, a: T, b: T) -> T {
    if condition { a } else { b }
}

pub(in crate::api) use {arg_reductions, folds};
