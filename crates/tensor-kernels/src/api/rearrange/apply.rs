//! The steps of a pattern, taken: as a view, as one copy, or as a reduction.

#[cfg(feature = "reductions")]
use tensor_core::AnyTensorBase;
use tensor_core::{DimVec, Element, Error, ReduceDims, Result, TensorBase, TensorViewBase};

use super::{
    PatternArg, RearrangePattern, ReducePattern, RepeatPattern,
    pattern::Pattern,
    resolve::{Merged, Steps, Strided},
};
#[cfg(feature = "reductions")]
use crate::api::types::match_tensor;
use crate::{
    api::{
        copy::contiguous_copy,
        ext::{Reshaped, ReshapedView},
        ledger::Purpose,
        tensor::{Tensor, TensorView},
    },
    exec::Exec,
};

/// As [`TensorExt::rearrange`](crate::TensorExt::rearrange), of a view (einops: `rearrange`).
///
/// ```
/// use tensor_kernels::{Exec, Layout, TensorView, rearrange};
///
/// let pixels = [0u8, 1, 2, 3, 4, 5];
/// let image = TensorView::new(&pixels, Layout::contiguous(&[2, 3])?)?;
/// let exec = Exec::current()?;
/// let columns = rearrange(exec, &image, "h w -> w h", &[])?;
/// assert!(!columns.copied());
/// let flat = rearrange(exec, &image, "h w -> (w h)", &[])?;
/// assert!(flat.copied());
/// assert_eq!(flat.to_vec()?, [0, 3, 1, 4, 2, 5]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Pattern`], [`Error::TooLarge`], [`Error::OutOfMemory`].
#[track_caller]
pub fn rearrange<'a, 'p, T: Element>(
    exec: &Exec,
    from: &TensorView<'a, T>,
    pattern: impl Into<PatternArg<'p, RearrangePattern>>,
    sizes: &[(&str, usize)],
) -> Result<ReshapedView<'a, T>> {
    rearranged_view(exec, from, pattern.into().parsed()?.pattern(), sizes)
}

/// As [`TensorExt::repeat_axes`](crate::TensorExt::repeat_axes), of a view (einops: `repeat`).
///
/// ```
/// use tensor_kernels::{Exec, Layout, TensorView, repeat_axes};
///
/// let gray = [1u8, 2];
/// let image = TensorView::new(&gray, Layout::contiguous(&[1, 2])?)?;
/// let rgb = repeat_axes(Exec::current()?, &image, "h w -> h w 3", &[])?;
/// assert!(!rgb.copied()); // the new axis has stride 0
/// assert_eq!(rgb.to_vec()?, [1, 1, 1, 2, 2, 2]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Pattern`], [`Error::TooLarge`], [`Error::OutOfMemory`].
#[track_caller]
pub fn repeat_axes<'a, 'p, T: Element>(
    exec: &Exec,
    from: &TensorView<'a, T>,
    pattern: impl Into<PatternArg<'p, RepeatPattern>>,
    sizes: &[(&str, usize)],
) -> Result<ReshapedView<'a, T>> {
    rearranged_view(exec, from, pattern.into().parsed()?.pattern(), sizes)
}

/// As [`TensorExt::reduce_with`](crate::TensorExt::reduce_with), of a view (einops: `reduce` with a
/// function).
///
/// ```
/// use tensor_kernels::{Exec, Layout, TensorView, ops, reduce_with};
///
/// let counts = [1u8, 2, 3, 4];
/// let grid = TensorView::new(&counts, Layout::contiguous(&[2, 2])?)?;
/// let exec = Exec::current()?;
/// let sums = reduce_with(exec, &grid, "h w -> h", &[], |x, over| ops::sum(exec, x, over))?;
/// assert_eq!(sums.to_vec()?, [3i64, 7]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Pattern`], [`Error::TooLarge`], those of the function; [`Error::OutputShape`] if it
/// returns another shape.
#[track_caller]
pub fn reduce_with<'p, T: Element, U: Element>(
    exec: &Exec,
    from: &TensorView<'_, T>,
    pattern: impl Into<PatternArg<'p, ReducePattern>>,
    sizes: &[(&str, usize)],
    reduction: impl FnOnce(&TensorView<'_, T>, ReduceDims) -> Result<Tensor<U>>,
) -> Result<Tensor<U>> {
    reduced(exec, from, pattern.into().parsed()?.pattern(), sizes, reduction)
}

/// A view, rearranged or repeated.
#[track_caller]
pub(in crate::api) fn rearranged_view<'a, T: Element, K>(
    exec: &Exec,
    from: &TensorViewBase<'a, T, K>,
    pattern: &Pattern,
    sizes: &[(&str, usize)],
) -> Result<ReshapedView<'a, T, K>> {
    let steps = pattern.steps(from.shape(), sizes)?;
    match steps.merged(steps.arranged(from)?)? {
        Merged::View(view) => Ok(ReshapedView::View(view)),
        Merged::NeedsCopy(axes) => {
            let copy = contiguous_copy(exec, (&axes).into(), Purpose::contiguous(pattern.op()))?;
            steps.merged_copy(&copy).map(ReshapedView::Copy)
        }
    }
}

/// A tensor, rearranged or repeated.
#[track_caller]
pub(in crate::api) fn rearranged<T: Element, K>(
    exec: &Exec,
    from: &TensorBase<T, K>,
    pattern: &Pattern,
    sizes: &[(&str, usize)],
) -> Result<Reshaped<T, K>> {
    let steps = pattern.steps(from.shape(), sizes)?;
    merged(exec, pattern.op(), &steps, steps.arranged(from)?)
}

/// A tensor whose dimensions are the axes of the result, merged to its dimensions.
#[track_caller]
fn merged<T: Element, K>(
    exec: &Exec,
    op: &'static str,
    steps: &Steps,
    axes: TensorBase<T, K>,
) -> Result<Reshaped<T, K>> {
    match steps.merged(axes)? {
        Merged::View(tensor) => Ok(Reshaped { tensor, copied: false }),
        Merged::NeedsCopy(axes) => {
            let reading = axes.read()?;
            let purpose = Purpose::contiguous(op);
            let copy = contiguous_copy(exec, reading.as_elements(), purpose)?;
            Ok(Reshaped { tensor: steps.merged_copy(&copy)?, copied: true })
        }
    }
}

/// A tensor or view, reduced by a function that is given its axes and which of them to reduce.
#[track_caller]
pub(in crate::api) fn reduced<V: Strided, U: Element, K>(
    exec: &Exec,
    from: &V,
    pattern: &Pattern,
    sizes: &[(&str, usize)],
    reduction: impl FnOnce(&V, ReduceDims) -> Result<TensorBase<U, K>>,
) -> Result<TensorBase<U, K>> {
    let (steps, result) = reduced_axes(from, pattern, sizes, reduction)?;
    // Reductions of this crate give contiguous results, which are merged as a view.
    merged(exec, pattern.op(), &steps, result).map(Reshaped::into_tensor)
}

/// As [`reduced`], of a tensor whose dtype is known at run time.
#[cfg(feature = "reductions")]
#[track_caller]
pub(in crate::api) fn reduced_any<K>(
    exec: &Exec,
    from: &AnyTensorBase<K>,
    pattern: &Pattern,
    sizes: &[(&str, usize)],
    reduction: impl FnOnce(&AnyTensorBase<K>, ReduceDims) -> Result<AnyTensorBase<K>>,
) -> Result<AnyTensorBase<K>> {
    let (steps, result) = reduced_axes(from, pattern, sizes, reduction)?;
    match_tensor!(Equality, result, pattern.op(), result => {
        merged(exec, pattern.op(), &steps, result).map(|merged| merged.into_tensor().into())
    })
}

/// A reduction with a dimension for each axis of the result, and the steps of the pattern.
#[track_caller]
fn reduced_axes<V: Strided, R: Strided>(
    from: &V,
    pattern: &Pattern,
    sizes: &[(&str, usize)],
    reduction: impl FnOnce(&V, ReduceDims) -> Result<R>,
) -> Result<(Steps, R)> {
    let steps = pattern.steps(from.shape(), sizes)?;
    let mut arranged = steps.arranged(from)?;
    let kept = steps.axes.len() as isize;
    if steps.reduced == 0 {
        // No dimensions would mean all of them.
        arranged = arranged.unsqueeze(kept)?;
    }
    let over: DimVec<isize> = (kept..kept + steps.reduced.max(1) as isize).collect();
    let result = reduction(&arranged, ReduceDims::from(&over[..]))?;
    if result.shape() != &steps.axes[..] {
        let (got, expected) = (result.shape().to_vec(), steps.axes.to_vec());
        return Err(Error::OutputShape { op: "reduce", got, expected });
    }
    Ok((steps, result))
}
