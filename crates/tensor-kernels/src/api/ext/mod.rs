//! Methods of tensors and views that copy or compute, with [`Exec::current`].
//!
//! | file | |
//! |---|---|
//! | `compute`, `reduce`, `patterns`, and `methods` of all folders | macros that write methods |
//! | `into_result` | the macro of methods that write into a given result |
//! | `implement` | the trait for tensors, views and mutable views |
//! | `arrange` | the same elements under another layout |
//! | `write`, `inplace` | methods that write in place |
//! | `operators` | what operators compute |

mod arrange;
#[cfg(feature = "elementwise")]
mod compute;
mod implement;
#[cfg(feature = "elementwise")]
mod inplace;
#[cfg(feature = "elementwise")]
mod into_result;
#[cfg(feature = "elementwise")]
mod methods;
#[cfg(feature = "elementwise")]
mod operators;
mod patterns;
#[cfg(feature = "reductions")]
mod reduce;
mod reshaped;
mod reshaped_operators;
mod reshaped_view;
mod write;

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{
    AsOperand, Element, Int, MemoryFormat, Operand, Output, ReduceDims, Result, Sizes, TensorBase,
    infer_shape,
};

use crate::{
    api::{
        copy::{copy_into, format_copy},
        equal::equal,
        ledger::Purpose,
        rearrange::{PatternArg, RearrangePattern, ReducePattern, RepeatPattern},
    },
    exec::Exec,
};
#[cfg(feature = "elementwise")]
use compute::*;
use patterns::pattern_methods;
#[cfg(feature = "reductions")]
use reduce::*;
pub use reshaped::Reshaped;
pub use reshaped_view::ReshapedView;
pub use write::{TensorMutExt, TensorViewMutExt};

/// The operations that copy or compute, as methods of tensors and views. Results own their memory.
/// Those of a tensor share its storage where that is said; what [`reshape`](Self::reshape),
/// [`flattened`](Self::flattened), [`rearrange`](Self::rearrange) and
/// [`repeat_axes`](Self::repeat_axes) make of a view is a view where possible. What writes in place
/// is in [`TensorMutExt`] and [`TensorViewMutExt`].
///
/// Methods that compute, convert, join or index need the feature `elementwise`, those that reduce
/// `reductions`; both are on by default.
///
/// Every method fails with [`Error::Borrowed`] if the storage is borrowed in conflict, and with
/// [`Error::OutOfMemory`] if a new result cannot be allocated.
///
/// ```
/// use tensor_kernels::{Tensor, TensorExt};
///
/// let t = Tensor::arange(0i64, 24, 1)?.view([1, 2, 3, 4])?;
/// let column = t.select(3, 2)?;
/// let flat = column.reshape(&[3, 2])?;
/// assert!(!flat.copied() && flat.same_storage(&t)); // not contiguous, but viewable
/// assert_eq!(flat.strides(), [8, 4]);
/// assert_eq!(flat.contiguous()?.to_vec()?, [2, 6, 10, 14, 18, 22]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
pub trait TensorExt<T: Element, K>: Sized {
    /// The tensor itself if it is contiguous, else a contiguous copy (PyTorch: `contiguous()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn contiguous(&self) -> Result<TensorBase<T, K>> {
        arrange::contiguous(self)
    }

    /// The tensor itself if it is contiguous in a memory format, else a copy that is (PyTorch:
    /// `contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// [`Error::FormatRank`]; [`Error::PreserveFormat`].
    #[track_caller]
    fn to_contiguous(&self, format: MemoryFormat) -> Result<TensorBase<T, K>> {
        arrange::to_contiguous(self, format)
    }

    /// As [`contiguous`](Self::contiguous), but with row-major strides for dimensions of size 1
    /// too. PyTorch ignores their strides; code that reads strides may not. Copies only if
    /// `contiguous` does.
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn contiguous_canonical(&self) -> Result<TensorBase<T, K>> {
        arrange::contiguous_canonical(self)
    }

    /// A copy in a new tensor; a dense tensor keeps its strides (PyTorch: `clone()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn deep_clone(&self) -> Result<TensorBase<T, K>> {
        let (exec, purpose) = (Exec::current()?, Purpose::requested("deep_clone"));
        format_copy(exec, self.operand().read()?.elements(), MemoryFormat::Preserve, purpose)
    }

    /// The elements under another shape: a view if strides can express it, else a copy (PyTorch:
    /// `reshape`). The result says which.
    ///
    /// ```
    /// use tensor_kernels::prelude::*;
    ///
    /// let numbers = [0, 1, 2, 3, 4, 5];
    /// let x = TensorView::new(&numbers, Layout::contiguous([2, 3])?)?;
    /// assert!(!x.reshape([3, 2])?.copied());
    /// assert!(x.t()?.reshape([6])?.copied());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape(&self, sizes: impl Sizes) -> Result<Self::Arranged<'_>>;

    /// The elements under another shape, always in a new contiguous tensor.
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape_copy(&self, sizes: impl Sizes) -> Result<TensorBase<T, K>> {
        let sizes = &sizes.into_sizes()?;
        infer_shape(sizes, self.operand().shape().iter().product())?;
        arrange::copied(self, Purpose::requested("reshape_copy"))?.view(sizes)
    }

    /// Several dimensions as one: a view if strides can express it, else a copy (PyTorch:
    /// `flatten`). The result says which.
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    #[track_caller]
    fn flattened(&self, start: impl Int, end: impl Int) -> Result<Self::Arranged<'_>>;

    /// Repeats the tensor `times` along each dimension (PyTorch: `repeat`, NumPy: `tile`).
    ///
    /// # Errors
    /// Fewer numbers than dimensions; a result too large.
    #[track_caller]
    fn repeat(&self, times: impl Sizes) -> Result<TensorBase<T, K>> {
        crate::api::repeat::repeat(Exec::current()?, self.operand(), times)
    }

    /// Copies the elements into a given result of the same shape (PyTorch: `out.copy_(a)`).
    ///
    /// ```
    /// use tensor_kernels::prelude::*;
    ///
    /// let x = tensor![[1, 2], [3, 4]];
    /// let mut columns = [0; 4];
    /// x.t()?.copy_into(&mut columns)?;
    /// assert_eq!(columns, [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`copy_into`](fn@crate::copy_into).
    fn copy_into<'o>(&self, out: impl Into<Output<'o, T>>) -> Result<()> {
        copy_into(Exec::current()?, self.operand(), out)
    }

    /// Same shape and equal elements? (PyTorch: `torch.equal`)
    ///
    /// # Errors
    /// See the trait.
    fn equal(&self, other: impl AsOperand<T>) -> Result<bool>
    where
        T: PartialEq,
    {
        let (a, b) = (self.operand(), other.as_operand());
        equal(Exec::current()?, a.read()?.elements(), b.read()?.elements())
    }

    /// This tensor or view as an operand of [`ops`].
    fn operand(&self) -> Operand<'_, T>;

    /// The tensor, if this is one and not a view: results can share its storage.
    fn as_tensor(&self) -> Option<&TensorBase<T, K>>;

    /// The elements under another layout: [`Reshaped`] of a tensor, whose storage it shares unless
    /// it is a copy; [`ReshapedView`] of a view.
    type Arranged<'s>: AsOperand<T>
    where
        Self: 's;

    /// What [`reduce_with`](Self::reduce_with) reduces: a tensor, or a view.
    type Axes<'s>
    where
        Self: 's;

    /// As [`reduce`](Self::reduce), by any function (einops: `reduce` with a function).
    ///
    /// The function is given a tensor or view with a dimension for each axis, and the dimensions to
    /// reduce, which are the last ones. If the pattern reduces no axis there is one of size 1.
    ///
    /// ```
    /// use tensor_kernels::{Tensor, TensorExt};
    ///
    /// let image = Tensor::arange(0u8, 16, 1)?.view([4, 4])?;
    /// let sums = image.reduce_with("(h 2) w -> h w", &[], |x, over| x.sum(over))?;
    /// assert_eq!(sums.to_vec()?, [4i64, 6, 8, 10, 20, 22, 24, 26]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`rearrange`](Self::rearrange), and those of the function; [`Error::OutputShape`] if
    /// its result has other dimensions than the axes that are not reduced.
    #[track_caller]
    fn reduce_with<'s, 'p, U: Element>(
        &'s self,
        pattern: impl Into<PatternArg<'p, ReducePattern>>,
        sizes: &[(&str, usize)],
        reduction: impl FnOnce(&Self::Axes<'s>, ReduceDims) -> Result<TensorBase<U, K>>,
    ) -> Result<TensorBase<U, K>>;

    pattern_methods! {}

    #[cfg(feature = "elementwise")]
    elementwise_methods! {}
    #[cfg(feature = "reductions")]
    reduction_methods! {}
}
