//! Tensor methods that copy or compute, with [`Exec::current`].

mod methods;
mod operators;
mod patterns;
mod reshaped;

use tensor_core::{
    Element, Error, Int, Layout, MemoryFormat, Operand, Output, ReduceDims, Result, Scalar, Sizes,
    TensorBase, infer_shape,
};

use crate::{
    api::{
        call::Call,
        copy::{copy_between, fill, format_copy, tensor_copy},
        ledger::{CopyReason, Purpose},
        movement::{self, PadMode, methods::movement_methods},
        ops::{
            self,
            table::{
                binary_operations, reduction_operations, ternary_operations, unary_operations,
            },
        },
        rearrange::{self, PatternArg, RearrangePattern, ReducePattern, Reduction, RepeatPattern},
        reductions,
        rows::{self, Tolerance, methods::rows_methods},
    },
    element::{Accumulate, Bits, Cast, Compare, Equality, Inexact, Integer, Number, Ordered, Real},
    exec::Exec,
    kernel::Closure,
};
use methods::{binary, reductions, ternary, unary};
use patterns::pattern_methods;
pub use reshaped::Reshaped;

/// The operations that copy or compute, as methods of tensors.
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
    fn contiguous(&self) -> Result<TensorBase<T, K>>;

    /// The tensor itself if it is contiguous in a memory format, else a copy that is (PyTorch:
    /// `contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// [`Error::FormatRank`]; [`Error::PreserveFormat`].
    #[track_caller]
    fn to_contiguous(&self, format: MemoryFormat) -> Result<TensorBase<T, K>>;

    /// As [`contiguous`](Self::contiguous), but with row-major strides for dimensions of size 1
    /// too. PyTorch ignores their strides; code that reads strides may not. Copies only if
    /// `contiguous` does.
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn contiguous_canonical(&self) -> Result<TensorBase<T, K>>;

    /// A copy in a new tensor; a dense tensor keeps its strides (PyTorch: `clone()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn deep_clone(&self) -> Result<TensorBase<T, K>>;

    /// The elements under another shape: a view if strides can express it, else a copy (PyTorch:
    /// `reshape`).
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape(&self, sizes: impl Sizes) -> Result<Reshaped<T, K>>;

    /// The elements under another shape, always in a new contiguous tensor.
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape_copy(&self, sizes: impl Sizes) -> Result<TensorBase<T, K>>;

    /// Several dimensions as one: a view if strides can express it, else a copy (PyTorch:
    /// `flatten`).
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    #[track_caller]
    fn flattened(&self, start: impl Int, end: impl Int) -> Result<Reshaped<T, K>>;

    /// Repeats the tensor `times` along each dimension (PyTorch: `repeat`, NumPy: `tile`).
    ///
    /// # Errors
    /// Fewer numbers than dimensions; a result too large.
    #[track_caller]
    fn repeat(&self, times: impl Sizes) -> Result<TensorBase<T, K>>;

    /// Copies the elements of another tensor, broadcast, into this one (PyTorch: `copy_`).
    ///
    /// # Errors
    /// Shapes that do not broadcast; tensors that share elements.
    fn copy_from(&self, from: &TensorBase<T, K>) -> Result<()>;

    /// Writes one value to every element (PyTorch: `fill_`).
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    fn fill(&self, value: T) -> Result<()>;

    /// The elements converted to another type (PyTorch: `to(dtype)`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn cast<U: Element>(&self) -> Result<TensorBase<U, K>>
    where
        T: Cast<U>;

    /// A new tensor with `f` of each element.
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn map<R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<TensorBase<R, K>>;

    /// Replaces each element by `f` of it.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    #[track_caller]
    fn map_inplace(&self, f: impl Fn(T) -> T + Sync) -> Result<()>;

    /// A new tensor with `f` of the elements of two tensors, broadcast.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    #[track_caller]
    fn zip_map<B: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> R + Sync,
    ) -> Result<TensorBase<R, K>>;

    /// Replaces each element by `f` of it and of an element of the other tensor, which is broadcast
    /// (PyTorch: `add_` and similar).
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`];
    /// [`Error::ReadWriteOverlap`] if the other tensor shares elements with this one without being
    /// the same view.
    #[track_caller]
    fn zip_inplace<B: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> T + Sync,
    ) -> Result<()>;

    /// A new tensor with `f` of the elements of three tensors, broadcast.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    #[track_caller]
    fn zip3_map<B: Element, C: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> R + Sync,
    ) -> Result<TensorBase<R, K>>;

    /// Replaces each element by `f` of it and of elements of two other tensors, which are
    /// broadcast.
    ///
    /// # Errors
    /// As [`zip_inplace`](Self::zip_inplace).
    #[track_caller]
    fn zip3_inplace<B: Element, C: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> T + Sync,
    ) -> Result<()>;

    /// This tensor.
    fn as_tensor(&self) -> &TensorBase<T, K>;

    /// This tensor as an operand of [`ops`].
    fn operand(&self) -> Operand<'_, T>;

    /// This tensor as a result of [`ops`].
    fn target(&self) -> Output<'_, T>;

    unary_operations! { unary }
    binary_operations! { binary }
    ternary_operations! { ternary }
    reduction_operations! { reductions }
    pattern_methods! {}
    movement_methods! {}
    rows_methods! {}

    /// The elements of `a` where this is true, else those of `b`, broadcast (PyTorch:
    /// `torch.where`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    #[track_caller]
    fn where_cond<'a, 'b, U: Element>(
        &self,
        a: impl Into<Operand<'a, U>>,
        b: impl Into<Operand<'b, U>>,
    ) -> Result<TensorBase<U, K>>
    where
        Self: TensorExt<bool, K>,
    {
        let condition = TensorExt::<bool, K>::operand(self);
        current("where_cond")?.eval3(ops::Where, condition, a.into(), b.into())
    }
}

/// A call with [`Exec::current`].
#[track_caller]
fn current(op: &'static str) -> Result<Call<'static>> {
    Ok(Call::new(Exec::current()?, op))
}

impl<T: Element, K> TensorExt<T, K> for TensorBase<T, K> {
    fn contiguous(&self) -> Result<TensorBase<T, K>> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        tensor_copy(self, Purpose::contiguous("contiguous"))
    }

    fn to_contiguous(&self, format: MemoryFormat) -> Result<TensorBase<T, K>> {
        if format == MemoryFormat::Preserve {
            return Err(Error::PreserveFormat);
        }
        if self.layout().is_contiguous_as(format) {
            return Ok(self.clone());
        }
        let reason = CopyReason::NotInFormat(format);
        let purpose = Purpose::new("to_contiguous", reason);
        format_copy(Exec::current()?, self.read()?.as_elements(), format, purpose)
    }

    fn contiguous_canonical(&self) -> Result<TensorBase<T, K>> {
        if self.is_contiguous() {
            let strides = Layout::contiguous(self.shape())?;
            return self.with_layout(Layout::new(
                self.shape(),
                strides.strides(),
                self.storage_offset(),
            )?);
        }
        self.contiguous()
    }

    fn deep_clone(&self) -> Result<TensorBase<T, K>> {
        let (exec, purpose) = (Exec::current()?, Purpose::requested("deep_clone"));
        format_copy(exec, self.read()?.as_elements(), MemoryFormat::Preserve, purpose)
    }

    fn reshape(&self, sizes: impl Sizes) -> Result<Reshaped<T, K>> {
        let sizes = &sizes.into_sizes()?;
        match self.view(sizes) {
            Ok(tensor) => Ok(Reshaped { tensor, copied: false }),
            Err(refused @ Error::NotViewable { .. }) => {
                let reason = CopyReason::of_refusal(&refused);
                let copy = tensor_copy(self, Purpose::new("reshape", reason))?;
                Ok(Reshaped { tensor: copy.view(sizes)?, copied: true })
            }
            Err(refused) => Err(refused),
        }
    }

    fn reshape_copy(&self, sizes: impl Sizes) -> Result<TensorBase<T, K>> {
        let sizes = &sizes.into_sizes()?;
        infer_shape(sizes, self.numel())?;
        tensor_copy(self, Purpose::requested("reshape_copy"))?.view(sizes)
    }

    fn flattened(&self, start: impl Int, end: impl Int) -> Result<Reshaped<T, K>> {
        let (start, end) = (start.saturated(), end.saturated());
        match self.flatten(start, end) {
            Ok(tensor) => Ok(Reshaped { tensor, copied: false }),
            Err(refused @ Error::NotViewable { .. }) => {
                let reason = CopyReason::of_refusal(&refused);
                let copy = tensor_copy(self, Purpose::new("flattened", reason))?;
                Ok(Reshaped { tensor: copy.flatten(start, end)?, copied: true })
            }
            Err(refused) => Err(refused),
        }
    }

    fn repeat(&self, times: impl Sizes) -> Result<TensorBase<T, K>> {
        crate::api::repeat::repeat(Exec::current()?, &self.read()?.as_view(), &times.into_shape()?)
    }

    fn copy_from(&self, from: &TensorBase<T, K>) -> Result<()> {
        copy_between(Exec::current()?, from, self)
    }

    fn fill(&self, value: T) -> Result<()> {
        fill(Exec::current()?, &mut self.write()?.as_view_mut()?, value)
    }

    fn cast<U: Element>(&self) -> Result<TensorBase<U, K>>
    where
        T: Cast<U>,
    {
        current("cast")?.eval1(ops::Convert::TO, self.into())
    }

    fn map<R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<TensorBase<R, K>> {
        current("map")?.eval1(Closure(f), self.into())
    }

    fn map_inplace(&self, f: impl Fn(T) -> T + Sync) -> Result<()> {
        current("map_inplace")?.into1(Closure(f), Some(self.into()), self.into())
    }

    fn zip_map<B: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> R + Sync,
    ) -> Result<TensorBase<R, K>> {
        current("zip")?.eval2(Closure(f), self.into(), b.into())
    }

    fn zip_inplace<B: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> T + Sync,
    ) -> Result<()> {
        current("zip_inplace")?.into2(Closure(f), Some(self.into()), Some(b.into()), self.into())
    }

    fn zip3_map<B: Element, C: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> R + Sync,
    ) -> Result<TensorBase<R, K>> {
        current("zip3")?.eval3(Closure(f), self.into(), b.into(), c.into())
    }

    fn zip3_inplace<B: Element, C: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> T + Sync,
    ) -> Result<()> {
        let (x, b, c) = (Some(self.into()), Some(b.into()), Some(c.into()));
        current("zip3_inplace")?.into3(Closure(f), x, b, c, self.into())
    }

    fn as_tensor(&self) -> &TensorBase<T, K> {
        self
    }

    fn operand(&self) -> Operand<'_, T> {
        self.into()
    }

    fn target(&self) -> Output<'_, T> {
        self.into()
    }
}
