//! Elements at given indices: of one dimension, or of all elements in sequence.

use std::borrow::Cow;

use tensor_core::{
    AsOperand, Bare, DimVec, Element, Int, Layout, MovementError, Operand, Output, Result,
    TensorBase, TensorView, wrap_dim,
};

use super::{Assemble, assembled, odometer::Odometer, through_copy, with_slice, with_span};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part, RowWriter},
};

/// The given indices of a dimension, in a new contiguous tensor (PyTorch: `torch.index_select`).
///
/// `index` is a vector or one index. Where the dimensions behind `dim` are adjacent in memory, as
/// the rows of a table, each index is one copy of a block.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let table = Tensor::arange(0.0f32, 6.0, 1.0)?.view([3, 2])?;
/// let words = Tensor::from_vec(vec![2, 0, 2], [3])?;
/// let rows = ops::index_select(exec, &table, 0, &words)?;
/// assert_eq!(rows.to_vec()?, [4.0, 5.0, 0.0, 1.0, 4.0, 5.0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// An index that is negative or too large, indices of two dimensions or more
/// ([`Error::Movement`](crate::Error::Movement)); a dimension out of range.
#[track_caller]
pub fn index_select<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
) -> Result<TensorBase<T, Simd>> {
    select_eval(
        Call::new(exec, "index_select"),
        &a.as_operand(),
        &index.as_operand(),
        dim.saturated(),
    )
}

/// [`index_select`] into a given result.
///
/// # Errors
/// Those of [`index_select`]; a result of another shape, or that shares elements with an operand or
/// with itself.
#[track_caller]
pub fn index_select_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    index: impl AsOperand<i64>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let call = Call::new(exec, "index_select");
    select_write(call, &a.as_operand(), &index.as_operand(), dim.saturated(), out.into())
}

/// The elements at given positions in row-major order, in a new tensor of the shape of `index`
/// (PyTorch: `torch.take`). Negative positions count from the end.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::arange(0i32, 6, 1)?.view([2, 3])?.t()?;
/// let taken = ops::take(exec, &x, &Tensor::from_vec(vec![1, -1], [2])?)?;
/// assert_eq!(taken.to_vec()?, [3, 5]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A position out of range ([`Error::Movement`](crate::Error::Movement)).
#[track_caller]
pub fn take<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    index: impl AsOperand<i64>,
) -> Result<TensorBase<T, Simd>> {
    take_eval(Call::new(exec, "take"), &a.as_operand(), &index.as_operand())
}

/// [`take`] into a given result.
///
/// # Errors
/// Those of [`take`]; a result of another shape, or that shares elements with an operand or with
/// itself.
#[track_caller]
pub fn take_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    index: impl AsOperand<i64>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    take_write(Call::new(exec, "take"), &a.as_operand(), &index.as_operand(), out.into())
}

assembled! {
    select_eval, select_write, T: Element; a: T, "a"; index: i64, "index";
    |call, dim: isize| Select::new(call, a, &index, dim)?
}

assembled! {
    take_eval, take_write, T: Element; a: T, "a"; index: i64, "index";
    |call| Take::new(call, a, index)?
}

/// Checks that indices are at least `lowest` and less than `size`.
pub(super) fn check_indices(
    call: Call<'_>,
    index: &TensorView<'_, i64>,
    lowest: i64,
    (dim, size): (usize, usize),
) -> Result<()> {
    let end = i64::try_from(size).unwrap_or(i64::MAX);
    let is_out = |index: i64| index < lowest || index >= end;
    // Expanded dimensions repeat indices.
    let mut distinct = index.clone();
    for dim in 0..index.ndim() {
        if index.strides()[dim] == 0 && index.shape()[dim] > 1 {
            distinct = distinct.narrow(dim as isize, 0, 1)?;
        }
    }
    let any_out = with_slice(call, &distinct, |indices| {
        Ok(indices.iter().fold(false, |any, &index| any | is_out(index)))
    })?;
    if !any_out {
        return Ok(());
    }
    match index.iter().enumerate().find(|&(_, index)| is_out(index)) {
        None => Ok(()),
        Some((position, index)) => {
            Err(MovementError::Index { op: call.op, index, dim, size, position }.into())
        }
    }
}

/// A slice of fewer elements is not copied on its own, if the inner dimensions are not adjacent.
const MIN_COPIED_ELEMENTS: usize = 1024;

pub(super) struct Select<'v, T> {
    view: TensorView<'v, T>,
    dim: usize,
    index: Cow<'v, [usize]>,
    layout: Layout,
}

impl<'v, T: Element> Select<'v, T> {
    fn new(
        call: Call<'_>,
        view: TensorView<'v, T>,
        index: &TensorView<'_, i64>,
        dim: isize,
    ) -> Result<Self> {
        let dim = wrap_dim(call.op, dim, view.ndim().max(1))?;
        if index.ndim() > 1 {
            let shape = index.shape().to_vec();
            return Err(MovementError::NotAVector { op: call.op, name: "Index", shape }.into());
        }
        if view.ndim() == 0 && index.numel() != 1 {
            return Err(MovementError::IndexOfScalar { given: index.numel() }.into());
        }
        check_indices(call, index, 0, (dim, view.shape().get(dim).copied().unwrap_or(1)))?;
        let index = index.try_to_vec()?.into_iter().map(|index| index as usize).collect();
        Self::of_checked(view, dim, Cow::Owned(index))
    }

    /// Each of the indices is one of the dimension.
    pub(super) fn of_checked(
        view: TensorView<'v, T>,
        dim: usize,
        index: Cow<'v, [usize]>,
    ) -> Result<Self> {
        let mut shape = DimVec::from_slice(view.shape());
        if let Some(size) = shape.get_mut(dim) {
            *size = index.len();
        }
        Ok(Self { layout: Layout::contiguous(&shape)?, view, dim, index })
    }

    /// Are the elements behind the dimension adjacent in memory, in row-major order?
    fn has_adjacent_blocks(&self) -> Result<bool> {
        let (shape, strides) = (self.view.shape(), self.view.strides());
        let inner = Layout::new(&shape[self.dim + 1..], &strides[self.dim + 1..], 0);
        Ok(inner.is_ok_and(|inner| inner.is_contiguous()))
    }

    /// One copy for each index.
    fn write_slices<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        let mut rest = part;
        for &index in self.index.iter() {
            let (first, others) = rest.split(self.dim, 1)?;
            first.copy_from(call.exec, &self.view.narrow(self.dim as isize, index as isize, 1)?)?;
            rest = others;
        }
        Ok(())
    }

    /// One block for each index of the outer dimensions and each of the given indices.
    fn write_blocks<W: Destination<T>>(
        &self,
        call: Call<'_>,
        view: &TensorView<'_, T>,
        part: Part<'_, T, W>,
    ) -> Result<()> {
        let block: usize = view.shape()[self.dim + 1..].iter().product();
        let outer = &view.shape()[..self.dim];
        with_span(call, view, |span, layout| {
            let (strides, stride) = (&layout.strides()[..self.dim], layout.strides()[self.dim]);
            part.write_rows(call.exec, self.index.len() * block, &|rows, writer| {
                let mut starts = Odometer::new(outer, strides, layout.offset(), rows.start);
                for _ in rows {
                    self.write_row(span, starts.next(), (stride, block), writer);
                }
            })
        })
    }

    #[inline(always)]
    fn write_row<W: Destination<T>>(
        &self,
        span: &[T],
        start: usize,
        (stride, block): (isize, usize),
        writer: &mut RowWriter<'_, T, W>,
    ) {
        let at = |index: usize| start.wrapping_add_signed(stride * index as isize);
        if block == 1 {
            return writer.by_number(self.index.len(), |number| span[at(self.index[number])]);
        }
        for &index in self.index.iter() {
            let first = at(index);
            writer.slice(&span[first..first + block]);
        }
    }
}

impl<T: Element> Assemble<T> for Select<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if self.layout.numel() == 0 {
            return part.write_rows(call.exec, 1, &|_, _| {});
        }
        if self.view.ndim() == 0 {
            return part.copy_from(call.exec, &self.view);
        }
        if !part.layout().is_contiguous() {
            return through_copy(call, self, part);
        }
        if self.has_adjacent_blocks()? {
            return self.write_blocks(call, &self.view, part);
        }
        if self.layout.numel() / self.index.len() >= MIN_COPIED_ELEMENTS {
            return self.write_slices(call, part);
        }
        let copy: TensorBase<T, Bare> = call.contiguous_operand(&self.view)?;
        let copy = copy.read()?;
        self.write_blocks(call, &copy.as_view(), part)
    }
}

struct Take<'v, 'i, T> {
    view: TensorView<'v, T>,
    index: TensorView<'i, i64>,
    layout: Layout,
}

impl<'v, 'i, T: Element> Take<'v, 'i, T> {
    fn new(call: Call<'_>, view: TensorView<'v, T>, index: TensorView<'i, i64>) -> Result<Self> {
        let numel = view.numel();
        check_indices(call, &index, -(numel as i64), (0, numel))?;
        Ok(Self { layout: Layout::contiguous(index.shape())?, view, index })
    }
}

impl<T: Element> Assemble<T> for Take<'_, '_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if !part.layout().is_contiguous() {
            return through_copy(call, self, part);
        }
        let numel = self.view.numel();
        with_slice(call, &self.index, |index| {
            with_span(call, &self.view, |span, layout| {
                let start = layout.offset();
                part.write_rows(call.exec, 1, &|rows, writer| {
                    writer.by_number(rows.len(), |number| {
                        let at = index[rows.start + number];
                        let at = if at < 0 { at + numel as i64 } else { at } as usize;
                        if layout.is_contiguous() {
                            return span[start + at];
                        }
                        span[Odometer::new(layout.shape(), layout.strides(), start, at).next()]
                    });
                })
            })
        })
    }
}
