//! The extension trait for tensors, views and mutable views, and for what may be either.

use tensor_core::{
    AsOperand, Element, Int, Operand, ReduceDims, Result, Sizes, TensorBase, TensorViewBase,
    TensorViewMutBase,
};

use super::{Reshaped, ReshapedView, TensorExt, arrange};
use crate::{
    api::rearrange::{self, Pattern, PatternArg, RearrangePattern, ReducePattern, RepeatPattern},
    exec::Exec,
};

/// What differs between tensors and views: how they are brought under another layout.
trait Arrange<T: Element, K> {
    type Result;

    #[track_caller]
    fn with_sizes(&self, sizes: &[isize]) -> Result<Self::Result>;

    #[track_caller]
    fn merged(&self, start: isize, end: isize) -> Result<Self::Result>;

    #[track_caller]
    fn by_pattern(&self, pattern: &Pattern, sizes: &[(&str, usize)]) -> Result<Self::Result>;
}

impl<T: Element, K> Arrange<T, K> for TensorBase<T, K> {
    type Result = Reshaped<T, K>;

    #[track_caller]
    fn with_sizes(&self, sizes: &[isize]) -> Result<Reshaped<T, K>> {
        arrange::reshaped(self, "reshape", |tensor| tensor.view(sizes))
    }

    #[track_caller]
    fn merged(&self, start: isize, end: isize) -> Result<Reshaped<T, K>> {
        arrange::reshaped(self, "flattened", |tensor| tensor.flatten(start, end))
    }

    #[track_caller]
    fn by_pattern(&self, pattern: &Pattern, sizes: &[(&str, usize)]) -> Result<Reshaped<T, K>> {
        rearrange::rearranged(Exec::current()?, self, pattern, sizes)
    }
}

impl<'a, T: Element, K> Arrange<T, K> for TensorViewBase<'a, T, K> {
    type Result = ReshapedView<'a, T, K>;

    #[track_caller]
    fn with_sizes(&self, sizes: &[isize]) -> Result<ReshapedView<'a, T, K>> {
        arrange::reshaped_view(self, "reshape", |view| view.view(sizes), |copy| copy.view(sizes))
    }

    #[track_caller]
    fn merged(&self, start: isize, end: isize) -> Result<ReshapedView<'a, T, K>> {
        let view = |view: &Self| view.flatten(start, end);
        arrange::reshaped_view(self, "flattened", view, |copy| copy.flatten(start, end))
    }

    #[track_caller]
    fn by_pattern(
        &self,
        pattern: &Pattern,
        sizes: &[(&str, usize)],
    ) -> Result<ReshapedView<'a, T, K>> {
        rearrange::rearranged_view(Exec::current()?, self, pattern, sizes)
    }
}

/// The same step of either. A tensor stays one.
macro_rules! arranged {
    ($either:expr, $x:ident => $arranged:expr) => {
        match $either {
            ReshapedView::View($x) => $arranged,
            ReshapedView::Copy($x) => Ok(ReshapedView::Copy($arranged?.into_tensor())),
        }
    };
}

impl<'a, T: Element, K> Arrange<T, K> for ReshapedView<'a, T, K> {
    type Result = Self;

    #[track_caller]
    fn with_sizes(&self, sizes: &[isize]) -> Result<Self> {
        arranged! { self, x => x.with_sizes(sizes) }
    }

    #[track_caller]
    fn merged(&self, start: isize, end: isize) -> Result<Self> {
        arranged! { self, x => x.merged(start, end) }
    }

    #[track_caller]
    fn by_pattern(&self, pattern: &Pattern, sizes: &[(&str, usize)]) -> Result<Self> {
        arranged! { self, x => x.by_pattern(pattern, sizes) }
    }
}

/// Implements the trait: the tensor, what is arranged and reduced, and the type of an arrangement.
macro_rules! implement {
    (
        [$($life:lifetime)?] $type:ty, $axes:ty => $arranged:ty;
        as_tensor |$tensor:pat_param| $as_tensor:expr, axes |$axes_of:ident| $view:expr
    ) => {
        impl<$($life,)? T: Element, K> TensorExt<T, K> for $type {
            type Arranged<'s>
                = $arranged
            where
                Self: 's;

            type Axes<'s>
                = $axes
            where
                Self: 's;

            fn operand(&self) -> Operand<'_, T> {
                self.as_operand()
            }

            fn as_tensor(&self) -> Option<&TensorBase<T, K>> {
                let $tensor = self;
                $as_tensor
            }

            #[track_caller]
            fn reshape(&self, sizes: impl Sizes) -> Result<Self::Arranged<'_>> {
                let $axes_of = self;
                Arrange::with_sizes($view, &sizes.into_sizes()?)
            }

            #[track_caller]
            fn flattened(&self, start: impl Int, end: impl Int) -> Result<Self::Arranged<'_>> {
                let $axes_of = self;
                Arrange::merged($view, start.saturated(), end.saturated())
            }

            #[track_caller]
            fn rearrange<'p>(
                &self,
                pattern: impl Into<PatternArg<'p, RearrangePattern>>,
                sizes: &[(&str, usize)],
            ) -> Result<Self::Arranged<'_>> {
                let $axes_of = self;
                Arrange::by_pattern($view, pattern.into().parsed()?.pattern(), sizes)
            }

            #[track_caller]
            fn repeat_axes<'p>(
                &self,
                pattern: impl Into<PatternArg<'p, RepeatPattern>>,
                sizes: &[(&str, usize)],
            ) -> Result<Self::Arranged<'_>> {
                let $axes_of = self;
                Arrange::by_pattern($view, pattern.into().parsed()?.pattern(), sizes)
            }

            fn reduce_with<'s, 'p, U: Element>(
                &'s self,
                pattern: impl Into<PatternArg<'p, ReducePattern>>,
                sizes: &[(&str, usize)],
                reduction: impl FnOnce(&Self::Axes<'s>, ReduceDims) -> Result<TensorBase<U, K>>,
            ) -> Result<TensorBase<U, K>> {
                let (exec, pattern) = (Exec::current()?, pattern.into().parsed()?);
                let $axes_of = self;
                rearrange::reduced(exec, $view, pattern.pattern(), sizes, reduction)
            }
        }
    };
}

implement! {
    [] TensorBase<T, K>, TensorBase<T, K> => Reshaped<T, K>;
    as_tensor |tensor| Some(tensor), axes |tensor| tensor
}
implement! {
    ['a] TensorViewBase<'a, T, K>, TensorViewBase<'s, T, K> => ReshapedView<'a, T, K>;
    as_tensor |_| None, axes |view| view
}
implement! {
    ['a] TensorViewMutBase<'a, T, K>, TensorViewBase<'s, T, K> => ReshapedView<'s, T, K>;
    as_tensor |_| None, axes |view| &view.as_view()
}
implement! {
    ['a] ReshapedView<'a, T, K>, ReshapedView<'a, T, K> => ReshapedView<'a, T, K>;
    as_tensor |reshaped| match reshaped {
        ReshapedView::Copy(tensor) => Some(tensor),
        ReshapedView::View(_) => None,
    }, axes |reshaped| reshaped
}
