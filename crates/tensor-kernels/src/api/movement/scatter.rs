//! Elements written to places that indices choose.

use tensor_core::{
    AsOperand, Bare, DimVec, Element, Int, Layout, MovementError, Operand, Output, Result,
    TensorBase, TensorView, TensorViewMutBase, wrap_dim,
};

use super::{
    apart, elements, gather::at_least_1d, index::check_indices, odometer::Odometer, with_slice,
    with_span,
};
use crate::{
    api::{call::Call, copy::copy_into, copy_reason::CopyReason, ledger::Purpose, tensor::Simd},
    exec::{Exec, pool},
};

/// A copy of `a` in which `result[index[i][j][k]][j][k] = src[i][j][k]` for dimension 0, and so on
/// (PyTorch: `torch.scatter`). `src` is a tensor at least as large as `index`, or one value.
///
/// `index` has as many dimensions as `a`, and is no larger in the others than `dim`. If indices
/// repeat, the last one in row-major order counts; PyTorch leaves that open.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let labels = Tensor::from_vec(vec![1, 2], [2, 1])?;
/// let one_hot = ops::scatter(exec, &Tensor::zeros([2, 3])?, 1, &labels, 1.0)?;
/// assert_eq!(one_hot.to_vec()?, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Indices of another rank, larger in another dimension or than `src`, negative or too large
/// ([`Error::Movement`](crate::Error::Movement)); a dimension out of range.
#[track_caller]
pub fn scatter<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
    src: impl AsOperand<T>,
) -> Result<TensorBase<T, Simd>> {
    scatter_eval(
        Call::new(exec, "scatter"),
        &a.as_operand(),
        dim.saturated(),
        &index.as_operand(),
        &src.as_operand(),
    )
}

/// [`scatter`] into a given result.
///
/// ```
/// use tensor_kernels::{Exec, ops, tensor};
///
/// let mut moved = [0; 3];
/// let index = tensor![2i64, 0];
/// ops::scatter_into(Exec::current()?, &tensor![1, 2, 3], 0, &index, 7, &mut moved)?;
/// assert_eq!(moved, [7, 2, 7]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Those of [`scatter`]; a result of another shape, or that shares elements with an operand or with
/// itself. [`scatter_inplace`] overwrites its operand.
#[track_caller]
pub fn scatter_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
    src: impl AsOperand<T>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let (a, index, src) = (&a.as_operand(), &index.as_operand(), &src.as_operand());
    scatter_apart(Call::new(exec, "scatter"), a, dim.saturated(), index, src, out.into())
}

/// [`scatter`] in place (PyTorch: `scatter_`).
///
/// # Errors
/// Those of [`scatter`]; a tensor that shares elements with an operand or with itself.
#[track_caller]
pub fn scatter_inplace<'x, T: Element>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    dim: impl Int,
    index: impl AsOperand<i64>,
    src: impl AsOperand<T>,
) -> Result<()> {
    scatter_write(
        Call::new(exec, "scatter"),
        x.into(),
        dim.saturated(),
        &index.as_operand(),
        &src.as_operand(),
    )
}

pub(crate) fn scatter_eval<T: Element, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    dim: isize,
    index: &Operand<'_, i64>,
    src: &Operand<'_, T>,
) -> Result<TensorBase<T, K>> {
    let (a, index, src) = (a.read()?, index.read()?, src.read()?);
    let a: TensorView<'_, T> = a.elements().to_view();
    let (index, src) = (index.elements().to_view(), src.elements().to_view());
    let scatter = Scatter::new(call, a.shape(), dim, &index, &src)?;
    let layout = Layout::contiguous(a.shape())?;
    let result: TensorBase<T, K> = call.operand_copy(&a, layout, Purpose::requested(call.op))?;
    scatter.run(call, &mut result.write()?.as_view_mut()?)?;
    Ok(result)
}

fn scatter_apart<T: Element>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    dim: isize,
    index: &Operand<'_, i64>,
    src: &Operand<'_, T>,
    out: Output<'_, T>,
) -> Result<()> {
    let is_apart = call.is_apart(a, &out, "a")?
        & call.is_apart(index, &out, "index")?
        & call.is_apart(src, &out, "src")?;
    if !is_apart {
        let result: TensorBase<T, Bare> = scatter_eval(call, a, dim, index, src)?;
        return call.copy_result(&result, out);
    }
    let mut writing = out.with_shape(a.shape())?.open()?;
    let (out, scope) = writing.split()?;
    let a = call.open_apart(a, Some(&scope), "a")?;
    let index = call.open_apart(index, Some(&scope), "index")?;
    let src = call.open_apart(src, Some(&scope), "src")?;
    let a = apart(elements(&a), call.op, "a")?;
    let index = apart(elements(&index), call.op, "index")?;
    let src = apart(elements(&src), call.op, "src")?;
    call.check_result(out.layout().shape(), a.shape())?;
    let scatter = Scatter::new(call, a.shape(), dim, &index, &src)?;
    scatter.run_on_copy(call, &a, &mut out.into_view())
}

pub(crate) fn scatter_write<T: Element>(
    call: Call<'_>,
    x: Output<'_, T>,
    dim: isize,
    index: &Operand<'_, i64>,
    src: &Operand<'_, T>,
) -> Result<()> {
    let is_apart = call.is_apart(index, &x, "index")? & call.is_apart(src, &x, "src")?;
    let copies = match is_apart {
        true => None,
        false => Some((copied(call, index)?, copied(call, src)?)),
    };
    let (index, src) = match &copies {
        Some((index, src)) => (&Operand::from(index), &Operand::from(src)),
        None => (index, src),
    };
    let mut writing = x.open()?;
    let (out, scope) = writing.split()?;
    let index = call.open_apart(index, Some(&scope), "index")?;
    let src = call.open_apart(src, Some(&scope), "src")?;
    let (index, src) =
        (apart(elements(&index), call.op, "index")?, apart(elements(&src), call.op, "src")?);
    Scatter::new(call, out.layout().shape(), dim, &index, &src)?
        .run::<Bare>(call, &mut out.into_view())
}

fn copied<T: Element>(call: Call<'_>, operand: &Operand<'_, T>) -> Result<TensorBase<T, Bare>> {
    let reading = operand.read()?;
    let view: TensorView<'_, T> = reading.elements().to_view();
    let purpose = Purpose::new(call.op, CopyReason::OverlapsResult);
    call.operand_copy(&view, view.layout().preserved()?, purpose)
}

struct Scatter<'i, 's, T> {
    index: TensorView<'i, i64>,
    /// As large as the indices.
    src: TensorView<'s, T>,
    dim: usize,
}

/// The places of the written elements, as adjacent memory sees them.
#[derive(Clone, Copy)]
struct Rows<'r> {
    /// The sizes of the indices, without the last.
    outer: &'r [usize],
    row: usize,
    /// The strides of the result along the outer dimensions, 0 along the one that is indexed.
    strides: &'r [isize],
    /// The steps of result, indices and source along a row.
    steps: [isize; 3],
    /// The stride of the result along the dimension that is indexed.
    stride: isize,
}

impl<'i, 's, T: Element> Scatter<'i, 's, T> {
    fn new(
        call: Call<'_>,
        shape: &[usize],
        dim: isize,
        index: &TensorView<'i, i64>,
        src: &TensorView<'s, T>,
    ) -> Result<Self> {
        let dim = wrap_dim(call.op, dim, shape.len().max(1))?;
        let (shape, index) = (if shape.is_empty() { &[1] } else { shape }, at_least_1d(index)?);
        if index.numel() == 0 {
            return Ok(Self { index, src: src.clone(), dim });
        }
        if index.ndim() != shape.len() || ![0, shape.len()].contains(&src.ndim()) {
            let (index, shape) = (index.shape().to_vec(), shape.to_vec());
            return Err(MovementError::IndexRank { op: call.op, index, shape }.into());
        }
        let fits = |d: usize, size: usize| {
            (d == dim || size <= shape[d]) && src.shape().get(d).is_none_or(|&src| size <= src)
        };
        if !index.shape().iter().enumerate().all(|(d, &size)| fits(d, size)) {
            let (index, src) = (index.shape().to_vec(), src.shape().to_vec());
            let shape = shape.to_vec();
            return Err(MovementError::ScatterSizes { index, shape, src, dim }.into());
        }
        check_indices(call, &index, 0, (dim, shape[dim]))?;
        let mut src = src.clone();
        for d in 0..src.ndim() {
            src = src.narrow(d as isize, 0, index.shape()[d])?;
        }
        Ok(Self { src: src.broadcast_to(index.shape())?, index, dim })
    }

    /// Into a result that is another tensor. One that is not contiguous is written once.
    fn run_on_copy(
        &self,
        call: Call<'_>,
        a: &TensorView<'_, T>,
        out: &mut TensorViewMutBase<'_, T, Bare>,
    ) -> Result<()> {
        if out.layout().is_contiguous() {
            copy_into(call.exec, a, &mut *out)?;
            return self.run(call, out);
        }
        let layout = Layout::contiguous(a.shape())?;
        let copy: TensorBase<T, Bare> =
            call.operand_copy(a, layout, Purpose::contiguous(call.op))?;
        self.run(call, &mut copy.write()?.as_view_mut()?)?;
        copy_into(call.exec, &copy, out)
    }

    fn run<K>(&self, call: Call<'_>, out: &mut TensorViewMutBase<'_, T, K>) -> Result<()> {
        if self.index.numel() == 0 {
            return Ok(());
        }
        let shape = DimVec::<usize>::from_slice(out.shape());
        if let Some(elements) = out.as_slice_mut() {
            return self.run_adjacent(call, elements, &shape);
        }
        let copy: TensorBase<T, Bare> = call.contiguous_operand(&out.as_view())?;
        self.run(call, &mut copy.write()?.as_view_mut()?)?;
        copy_into(call.exec, &copy, out)
    }

    fn run_adjacent(&self, call: Call<'_>, out: &mut [T], shape: &[usize]) -> Result<()> {
        let strides = tensor_core::contiguous_strides(if shape.is_empty() { &[1] } else { shape });
        let mut outer_strides = DimVec::from_slice(&strides);
        outer_strides[self.dim] = 0;
        let (outer, row) = self.index.shape().split_at(self.index.ndim() - 1);
        let last = outer.len();
        let bytes = self.index.numel().saturating_mul(2 * size_of::<T>() + size_of::<i64>());
        with_slice(call, &self.index, |indices| {
            with_span(call, &self.src, |src, places| {
                let rows = Rows {
                    outer,
                    row: row[0],
                    strides: &outer_strides[..last],
                    steps: [outer_strides[last], 1, places.strides()[last]],
                    stride: strides[self.dim],
                };
                let src = (src, places.offset(), &places.strides()[..last]);
                // Different indices of the first dimension write different elements, unless it is
                // the one that is indexed.
                let tasks = if self.dim == 0 { 1 } else { call.exec.tasks(bytes) };
                let first = if last == 0 { 1 } else { outer[0] };
                rows.run(out, indices, src, (0, first), tasks);
                Ok(())
            })
        })
    }
}

impl Rows<'_> {
    /// Indices `from` to `to` of the first dimension; `out` starts at the first of them.
    fn run<T: Element>(
        self,
        out: &mut [T],
        indices: &[i64],
        src: (&[T], usize, &[isize]),
        (from, to): (usize, usize),
        tasks: usize,
    ) {
        if tasks > 1 && to - from > 1 {
            let middle = from.midpoint(to);
            let step = self.strides[0].unsigned_abs();
            let (before, after) = out.split_at_mut((middle - from) * step);
            return pool::join(
                || self.run(before, indices, src, (from, middle), tasks / 2),
                || self.run(after, indices, src, (middle, to), tasks - tasks / 2),
            );
        }
        let inner: usize = self.outer.iter().skip(1).product();
        let first = from * inner;
        let back = self.strides.first().map_or(0, |step| step.unsigned_abs() * from);
        let mut starts = Odometer::new(self.outer, self.strides, 0, first);
        let mut src_starts = Odometer::new(self.outer, src.2, src.1, first);
        let [step, _, src_step] = self.steps;
        for row in first..to * inner {
            let (start, src_start) = (starts.next() - back, src_starts.next());
            let indices = &indices[row * self.row..][..self.row];
            for (number, &index) in indices.iter().enumerate() {
                let number = number as isize;
                let at = start.wrapping_add_signed(number * step + index as isize * self.stride);
                out[at] = src.0[src_start.wrapping_add_signed(number * src_step)];
            }
        }
    }
}
