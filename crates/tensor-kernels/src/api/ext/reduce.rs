//! The reductions as methods of tensors and views.
//!
//! The macro is expanded beside the trait. What its methods name is exported with it.

use tensor_core::{Result, TensorBase, TensorViewBase};

use super::TensorExt;
pub(super) use crate::api::{
    ops::reduction_table::reduction_operations,
    rearrange::Reduction,
    reductions,
    rows::{self, Tolerance, methods::rows_methods},
};
pub(super) use crate::element::{Accumulate, Inexact};
use crate::{api::rearrange, element::Real, exec::Exec};

/// Reductions: over some dimensions, into a given result, and over all of them.
macro_rules! each_reduction {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident, $into:ident, $all:ident;
    )*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("As [`ops::", stringify!($name), "`].")]
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; [`Error::ReduceEmpty`] if there are no
        /// elements and the reduction has no value for that.
        #[track_caller]
        fn $name(&self, over: impl Into<ReduceDims>) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            reductions::$op::eval(Exec::current()?, &self.operand(), over.into())
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        #[doc = concat!("into a given result. As [`ops::", stringify!($into), "`].")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($into), "`].")]
        #[track_caller]
        fn $into<'o>(
            &self,
            over: impl Into<ReduceDims>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()>
        where
            T: $bound,
        {
            ops::$into(Exec::current()?, self.operand(), over, out)
        }

        #[doc = concat!(
            "[`", stringify!($name), "`](Self::", stringify!($name), ")",
            " of all elements, as a value."
        )]
        ///
        /// # Errors
        /// [`Error::ReduceEmpty`] if there are no elements and the reduction has no value for that.
        #[track_caller]
        fn $all(&self) -> Result<$output>
        where
            T: $bound,
        {
            reductions::$op::all(Exec::current()?, self.operand())
        }
    )*};
}

/// The methods, for the trait of the extension methods.
macro_rules! reduction_methods {
    () => {
        reduction_operations! { each_reduction }
        rows_methods! {}

        /// A reduction by a pattern: over the axes that are on its left side only (einops:
        /// `reduce`).
        ///
        /// A reduced axis can be a number, which is its size. The result is written once, in the
        /// order of the right side. Elements that are not real floats:
        /// [`reduce_with`](Self::reduce_with).
        ///
        /// ```
        /// use tensor_kernels::{Reduction, Tensor, TensorExt};
        ///
        /// let image = Tensor::arange(0.0f32, 16.0, 1.0)?.view([4, 4])?;
        /// let pooled = image.reduce("(h 2) (w 2) -> w h", Reduction::Mean, &[])?;
        /// assert_eq!(pooled.to_vec()?, [2.5, 10.5, 4.5, 12.5]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`rearrange`](Self::rearrange); [`Error::ReduceEmpty`] for the minimum and maximum of
        /// no elements.
        #[track_caller]
        fn reduce<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, ReducePattern>>,
            reduction: Reduction,
            sizes: &[(&str, usize)],
        ) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            let pattern = pattern.into().parsed()?;
            reduced_by_pattern(self, pattern.pattern(), sizes, reduction)
        }
    };
}

pub(super) use {each_reduction, reduction_methods};

/// Reduced by a pattern.
#[track_caller]
pub(super) fn reduced_by_pattern<T: Real, K>(
    x: &impl TensorExt<T, K>,
    pattern: &rearrange::Pattern,
    sizes: &[(&str, usize)],
    reduction: Reduction,
) -> Result<TensorBase<T, K>> {
    let exec = Exec::current()?;
    let view = x.operand();
    let reading = view.read()?;
    let view: TensorViewBase<'_, T, K> = reading.elements().to_view();
    rearrange::reduced(exec, &view, pattern, sizes, |x, over| reduction.eval(exec, &x.into(), over))
}
