//! The extension trait for tensors, views and mutable views.

use tensor_core::{
    Element, Operand, ReduceDims, Result, TensorBase, TensorViewBase, TensorViewMutBase,
};

use super::TensorExt;
use crate::{
    api::rearrange::{self, PatternArg, ReducePattern},
    exec::Exec,
};

/// Implements the trait: the operand, the tensor, and how axes are reduced.
macro_rules! implement {
    (
        [$($life:lifetime)?] $type:ty, $axes:ty;
        as_tensor |$tensor:pat_param| $as_tensor:expr, axes |$axes_of:ident| $reduced:expr
    ) => {
        impl<$($life,)? T: Element, K> TensorExt<T, K> for $type {
            type Axes<'s>
                = $axes
            where
                Self: 's;

            fn operand(&self) -> Operand<'_, T> {
                self.into()
            }

            fn as_tensor(&self) -> Option<&TensorBase<T, K>> {
                let $tensor = self;
                $as_tensor
            }

            fn reduce_with<'s, 'p, U: Element>(
                &'s self,
                pattern: impl Into<PatternArg<'p, ReducePattern>>,
                sizes: &[(&str, usize)],
                reduction: impl FnOnce(&Self::Axes<'s>, ReduceDims) -> Result<TensorBase<U, K>>,
            ) -> Result<TensorBase<U, K>> {
                let (exec, pattern) = (Exec::current()?, pattern.into().parsed()?);
                let $axes_of = self;
                rearrange::reduced(exec, $reduced, pattern.pattern(), sizes, reduction)
            }
        }
    };
}

implement! {
    [] TensorBase<T, K>, TensorBase<T, K>;
    as_tensor |tensor| Some(tensor), axes |tensor| tensor
}
implement! {
    ['a] TensorViewBase<'a, T, K>, TensorViewBase<'s, T, K>;
    as_tensor |_| None, axes |view| view
}
implement! {
    ['a] TensorViewMutBase<'a, T, K>, TensorViewBase<'s, T, K>;
    as_tensor |_| None, axes |view| &view.as_view()
}
