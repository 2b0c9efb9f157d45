//! The reductions that patterns name.

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{Operand, ReduceDims, Result, TensorBase};

use super::{PatternArg, ReducePattern, reduce_with};
use crate::{
    api::{
        reductions,
        tensor::{Tensor, TensorView},
    },
    element::Real,
    exec::Exec,
};

/// The reductions that einops names, for [`reduce`](crate::TensorExt::reduce).
///
/// ```
/// use tensor_kernels::{Reduction, Tensor, TensorExt};
///
/// let x = Tensor::arange(1.0f32, 7.0, 1.0)?.view([2, 3])?;
/// for (reduction, expected) in [(Reduction::Min, [1.0, 4.0]), (Reduction::Prod, [6.0, 120.0])] {
///     assert_eq!(x.reduce("h w -> h", reduction, &[])?.to_vec()?, expected);
/// }
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// As [`ops::min`](crate::ops::min) (einops: `"min"`).
    Min,
    /// As [`ops::max`](crate::ops::max) (einops: `"max"`).
    Max,
    /// As [`ops::sum`](crate::ops::sum) (einops: `"sum"`).
    Sum,
    /// As [`ops::mean`](crate::ops::mean) (einops: `"mean"`).
    Mean,
    /// As [`ops::prod`](crate::ops::prod) (einops: `"prod"`).
    Prod,
}

impl Reduction {
    pub(in crate::api) fn eval<T: Real, K>(
        self,
        exec: &Exec,
        a: &Operand<'_, T>,
        over: ReduceDims,
    ) -> Result<TensorBase<T, K>> {
        match self {
            Self::Min => reductions::Min::eval(exec, a, over),
            Self::Max => reductions::Max::eval(exec, a, over),
            Self::Sum => reductions::Sum::eval(exec, a, over),
            Self::Mean => reductions::Mean::eval(exec, a, over),
            Self::Prod => reductions::Prod::eval(exec, a, over),
        }
    }
}

/// As [`TensorExt::reduce`](crate::TensorExt::reduce), of a view (einops: `reduce`).
///
/// ```
/// use tensor_kernels::{Exec, Layout, Reduction, TensorView, reduce};
///
/// let heights = [1.0f32, 2.0, 3.0, 4.0];
/// let grid = TensorView::new(&heights, Layout::contiguous(&[2, 2])?)?;
/// let means = reduce(Exec::current()?, &grid, "h w -> w", Reduction::Mean, &[])?;
/// assert_eq!(means.to_vec()?, [2.0, 3.0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Pattern`], [`Error::TooLarge`], [`Error::OutOfMemory`]; [`Error::ReduceEmpty`] for the
/// minimum and maximum of no elements.
#[track_caller]
pub fn reduce<'p, T: Real>(
    exec: &Exec,
    from: &TensorView<'_, T>,
    pattern: impl Into<PatternArg<'p, ReducePattern>>,
    reduction: Reduction,
    sizes: &[(&str, usize)],
) -> Result<Tensor<T>> {
    reduce_with(exec, from, pattern, sizes, |x, over| reduction.eval(exec, &x.into(), over))
}
