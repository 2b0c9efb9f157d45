//! Elements chosen by an index for each element of the result.

use tensor_core::{
    AsOperand, DimVec, Element, Int, Layout, MovementError, Operand, Output, Result, TensorBase,
    TensorView, wrap_dim,
};

use super::{
    Assemble, assembled, index::check_indices, odometer::Odometer, through_copy, with_span,
};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part, RowWriter},
};

/// `result[i][j][k] = a[index[i][j][k]][j][k]` for dimension 0, and so on, in a new contiguous
/// tensor of the shape of `index` (PyTorch: `torch.gather`).
///
/// `index` has as many dimensions as `a`, and is no larger in the others than `dim`.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let scores = Tensor::from_vec(vec![0.1, 0.7, 0.2, 0.5, 0.3, 0.2], [2, 3])?;
/// let labels = Tensor::from_vec(vec![1, 2], [2, 1])?;
/// assert_eq!(ops::gather(exec, &scores, 1, &labels)?.to_vec()?, [0.7, 0.2]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Indices of another rank, larger in another dimension, negative or too large
/// ([`Error::Movement`](crate::Error::Movement)); a dimension out of range.
#[track_caller]
pub fn gather<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
) -> Result<TensorBase<T, Simd>> {
    gather_eval(Call::new(exec, "gather"), &a.as_operand(), &index.as_operand(), dim.saturated())
}

/// [`gather`] into a given result.
///
/// # Errors
/// Those of [`gather`]; a result of another shape, or that shares elements with an operand or with
/// itself.
#[track_caller]
pub fn gather_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    gather_write(
        Call::new(exec, "gather"),
        &a.as_operand(),
        &index.as_operand(),
        dim.saturated(),
        out.into(),
    )
}

/// As [`gather`], with `a` and `index` broadcast in the other dimensions than `dim` (PyTorch:
/// `torch.take_along_dim`, NumPy: `take_along_axis`). Negative indices count from the end. It takes
/// what [`argmax`](crate::ops::argmax) with `keepdim` returns.
///
/// ```
/// use tensor_kernels::{Exec, ReduceDims, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::from_vec(vec![3, 9, 4, 8, 1, 2], [2, 3])?;
/// let largest = ops::argmax(exec, &x, ReduceDims::from(1).keepdim())?;
/// assert_eq!(ops::take_along_dim(exec, &x, &largest, 1)?.to_vec()?, [9, 8]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Shapes that do not broadcast; otherwise those of [`gather`].
#[track_caller]
pub fn take_along_dim<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    index: impl AsOperand<i64>,
    dim: impl Int,
) -> Result<TensorBase<T, Simd>> {
    along_eval(
        Call::new(exec, "take_along_dim"),
        &a.as_operand(),
        &index.as_operand(),
        dim.saturated(),
    )
}

/// [`take_along_dim`] into a given result.
///
/// # Errors
/// Those of [`take_along_dim`]; a result of another shape, or that shares elements with an operand
/// or with itself.
#[track_caller]
pub fn take_along_dim_into<'i, 'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    index: impl AsOperand<i64>,
    dim: impl Int,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    along_write(
        Call::new(exec, "take_along_dim"),
        &a.as_operand(),
        &index.as_operand(),
        dim.saturated(),
        out.into(),
    )
}

assembled! {
    gather_eval, gather_write, T: Element; a: T, "a"; index: i64, "index";
    |call, dim: isize| Gather::new(call, a, index, dim)?
}

assembled! {
    along_eval, along_write, T: Element; a: T, "a"; index: i64, "index";
    |call, dim: isize| Gather::broadcast(call, &a, &index, dim)?
}

struct Gather<'v, 'i, T> {
    view: TensorView<'v, T>,
    index: TensorView<'i, i64>,
    dim: usize,
    layout: Layout,
}

/// The shape of a tensor; one without dimensions counts as having one.
pub(super) fn at_least_1d<'v, T: Element>(view: &TensorView<'v, T>) -> Result<TensorView<'v, T>> {
    if view.ndim() == 0 { view.unsqueeze(0) } else { Ok(view.clone()) }
}

impl<'v, 'i, T: Element> Gather<'v, 'i, T> {
    fn new(
        call: Call<'_>,
        view: TensorView<'v, T>,
        index: TensorView<'i, i64>,
        dim: isize,
    ) -> Result<Self> {
        let layout = Layout::contiguous(index.shape())?;
        let dim = wrap_dim(call.op, dim, view.ndim().max(1))?;
        if index.numel() == 0 {
            return Ok(Self { view, index, dim, layout });
        }
        let (view, index) = (at_least_1d(&view)?, at_least_1d(&index)?);
        let shapes = || (index.shape().to_vec(), view.shape().to_vec());
        if index.ndim() != view.ndim() {
            let (index, shape) = shapes();
            return Err(MovementError::IndexRank { op: call.op, index, shape }.into());
        }
        let is_larger = |&d: &usize| d != dim && index.shape()[d] > view.shape()[d];
        if let Some(differs) = (0..index.ndim()).find(is_larger) {
            let (index, shape) = shapes();
            return Err(MovementError::GatherSizes { differs, index, shape, dim }.into());
        }
        check_indices(call, &index, 0, (dim, view.shape()[dim]))?;
        Ok(Self { view, index, dim, layout })
    }

    fn broadcast(
        call: Call<'_>,
        view: &TensorView<'v, T>,
        index: &TensorView<'i, i64>,
        dim: isize,
    ) -> Result<Self> {
        let wrapped = wrap_dim(call.op, dim, view.ndim().max(1))?;
        if view.ndim() != index.ndim() {
            let (index, shape) = (index.shape().to_vec(), view.shape().to_vec());
            return Err(MovementError::IndexRank { op: call.op, index, shape }.into());
        }
        let is_scalar = view.ndim() == 0;
        let (view, index) = (at_least_1d(view)?, at_least_1d(index)?);
        let one_at = |shape: &[usize]| {
            let mut shape = DimVec::from_slice(shape);
            shape[wrapped] = 1;
            shape
        };
        let shape = call.broadcast_pair(&one_at(view.shape()), &one_at(index.shape()))?;
        let with = |size: usize| {
            let mut shape = shape.clone();
            shape[wrapped] = size;
            shape
        };
        let (size, count) = (view.shape()[wrapped], index.shape()[wrapped]);
        let (view, index) = (view.broadcast_to(with(size))?, index.broadcast_to(with(count))?);
        check_indices(call, &index, -(size as i64), (wrapped, size))?;
        let shape = if is_scalar { &[] } else { index.shape() };
        Ok(Self { layout: Layout::contiguous(shape)?, view, index, dim: wrapped })
    }

    /// One row of the result. `at` has the first element of the input's row and that of the
    /// indices, `steps` their steps along it, and that of the input along the dimension.
    #[inline(always)]
    fn write_row<W: Destination<T>>(
        &self,
        (span, indices): (&[T], &[i64]),
        at: (usize, usize),
        steps: [isize; 3],
        writer: &mut RowWriter<'_, T, W>,
    ) {
        let row = self.index.shape().last().copied().unwrap_or(1);
        let (size, [step, index_step, stride]) = (self.view.shape()[self.dim], steps);
        writer.by_number(row, |number| {
            let number = number as isize;
            let index = indices[at.1.wrapping_add_signed(number * index_step)];
            let index = if index < 0 { index as isize + size as isize } else { index as isize };
            span[at.0.wrapping_add_signed(number * step + index * stride)]
        });
    }
}

impl<T: Element> Assemble<T> for Gather<'_, '_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if !part.layout().is_contiguous() {
            return through_copy(call, self, part);
        }
        if self.layout.numel() == 0 {
            return part.write_rows(call.exec, 1, &|_, _| {});
        }
        let (outer, row) = self.index.shape().split_at(self.index.ndim() - 1);
        with_span(call, &self.view, |span, layout| {
            // The index replaces the coordinate of the dimension.
            let mut strides = DimVec::from_slice(layout.strides());
            let stride = std::mem::take(&mut strides[self.dim]);
            let (step, strides) = (strides[outer.len()], &strides[..outer.len()]);
            with_span(call, &self.index, |indices, places| {
                let steps = [step, places.strides()[outer.len()], stride];
                let index_strides = &places.strides()[..outer.len()];
                part.write_rows(call.exec, row[0], &|rows, writer| {
                    let mut starts = Odometer::new(outer, strides, layout.offset(), rows.start);
                    let mut index_starts =
                        Odometer::new(outer, index_strides, places.offset(), rows.start);
                    for _ in rows {
                        let at = (starts.next(), index_starts.next());
                        self.write_row((span, indices), at, steps, writer);
                    }
                })
            })
        })
    }
}
