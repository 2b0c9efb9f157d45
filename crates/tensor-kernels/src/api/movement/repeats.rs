//! Each index of a dimension several times.

use std::borrow::Cow;

use tensor_core::{
    AsOperand, DimVec, Element, Error, Layout, MovementError, Operand, OptionalDim, Output, Result,
    Sizes, TensorBase, TensorView, wrap_dim,
};

use super::{Assemble, Source, assembled, index::Select};
use crate::{
    api::{
        call::Call,
        ledger::Purpose,
        repeat::{expanded, repeat},
        tensor::Simd,
    },
    exec::Exec,
    run::{Destination, Part},
};

/// Each index of a dimension `times` times in sequence, in a new contiguous tensor (PyTorch:
/// `torch.repeat_interleave`). `None` stands for all elements in row-major order.
///
/// [`repeat`] repeats the whole dimension instead.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::arange(0i32, 4, 1)?.view([2, 2])?;
/// assert_eq!(ops::repeat_interleave(exec, &x, 2, 0)?.to_vec()?, [0, 1, 0, 1, 2, 3, 2, 3]);
/// assert_eq!(ops::repeat_interleave(exec, &x, 2, None)?.to_vec()?, [0, 0, 1, 1, 2, 2, 3, 3]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range, a result too large.
#[track_caller]
pub fn repeat_interleave<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    times: usize,
    dim: impl OptionalDim,
) -> Result<TensorBase<T, Simd>> {
    interleave_eval(Call::new(exec, "repeat_interleave"), &a.as_operand(), times, dim.optional())
}

/// [`repeat_interleave`] into a given result.
///
/// # Errors
/// Those of [`repeat_interleave`]; a result of another shape, or that shares elements with the
/// operand or with itself.
#[track_caller]
pub fn repeat_interleave_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    times: usize,
    dim: impl OptionalDim,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let call = Call::new(exec, "repeat_interleave");
    interleave_write(call, &a.as_operand(), times, dim.optional(), out.into())
}

/// Each index of a dimension as often as `repeats` says, in a new contiguous tensor (PyTorch:
/// `torch.repeat_interleave` with a tensor). `repeats` is a vector with a number for each index, or
/// one number. `None` stands for all elements in row-major order.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::arange(0i32, 4, 1)?.view([2, 2])?;
/// let repeats = Tensor::from_vec(vec![0, 2], [2])?;
/// assert_eq!(ops::repeat_interleave_each(exec, &x, &repeats, 0)?.to_vec()?, [2, 3, 2, 3]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Repeats that are negative, not a vector, or of another number than the indices
/// ([`Error::Movement`]); a dimension out of range, a result too large.
#[track_caller]
pub fn repeat_interleave_each<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    repeats: impl AsOperand<i64>,
    dim: impl OptionalDim,
) -> Result<TensorBase<T, Simd>> {
    let call = Call::new(exec, "repeat_interleave");
    interleave_each_eval(call, &a.as_operand(), &repeats.as_operand(), dim.optional())
}

/// [`repeat_interleave_each`] into a given result.
///
/// # Errors
/// Those of [`repeat_interleave_each`]; a result of another shape, or that shares elements with an
/// operand or with itself.
#[track_caller]
pub fn repeat_interleave_each_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    repeats: impl AsOperand<i64>,
    dim: impl OptionalDim,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let call = Call::new(exec, "repeat_interleave");
    let (a, repeats) = (a.as_operand(), repeats.as_operand());
    interleave_each_write(call, &a, &repeats, dim.optional(), out.into())
}

/// [`repeat`] into a given result.
///
/// ```
/// use tensor_kernels::{Exec, ops, tensor};
///
/// let mut tiled = [0; 6];
/// ops::repeat_into(Exec::current()?, &tensor![1, 2, 3], [2], &mut tiled)?;
/// assert_eq!(tiled, [1, 2, 3, 1, 2, 3]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Those of [`repeat`]; a result of another shape, or that shares elements with the
/// operand or with itself.
#[track_caller]
pub fn repeat_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    times: impl Sizes,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let times = times.into_shape()?;
    repeat_write(Call::new(exec, "repeat"), &a.as_operand(), &times, out.into())
}

assembled! {
    interleave_each_eval, interleave_each_write, T: Element; a: T, "a"; repeats: i64, "repeats";
    |call, dim: Option<isize>| InterleaveEach::new(call, &a, &repeats, dim)?
}

assembled! {
    @into interleave_eval, interleave_write, T: Element; a: T, "a";
    |call, times: usize, dim: Option<isize>| Expanded::interleaved(call, &a, times, dim)?
}

assembled! {
    @into repeat_eval, repeat_write, T: Element; a: T, "a";
    |call, times: &[usize]| Expanded::repeated(&a, times)?
}

fn repeat_eval<T: Element, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    times: &[usize],
) -> Result<TensorBase<T, K>> {
    repeat(call.exec, a.clone(), times)
}

/// Some indices of a dimension, each as often as it is there.
struct InterleaveEach<'v, T: Element> {
    source: Source<'v, T>,
    dim: usize,
    index: Vec<usize>,
    layout: Layout,
}

impl<'v, T: Element> InterleaveEach<'v, T> {
    fn new(
        call: Call<'_>,
        view: &TensorView<'v, T>,
        repeats: &TensorView<'_, i64>,
        dim: Option<isize>,
    ) -> Result<Self> {
        let dim = dim.map(|dim| wrap_dim(call.op, dim, view.ndim())).transpose()?;
        let size = dim.map_or(view.numel(), |dim| view.shape()[dim]);
        let index = repeated_indices(call, repeats, (dim.unwrap_or(0), size))?;
        let source = match dim {
            Some(_) => Source::View(view.clone()),
            None => Source::flat(call, view)?,
        };
        let dim = dim.unwrap_or(0);
        let layout = source.with(|view| {
            let mut shape = DimVec::from_slice(view.shape());
            shape[dim] = index.len();
            Layout::contiguous(&shape)
        })?;
        Ok(Self { source, dim, index, layout })
    }
}

impl<T: Element> Assemble<T> for InterleaveEach<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        self.source.with(|view| {
            let index = Cow::Borrowed(&self.index[..]);
            Select::of_checked(view.clone(), self.dim, index)?.write(call, part)
        })
    }
}

/// Elements, expanded to a shape with two dimensions for each repeated one of the result: all that
/// is left is one copy.
struct Expanded<'v, T: Element> {
    source: Source<'v, T>,
    layout: Layout,
}

impl<'v, T: Element> Expanded<'v, T> {
    fn interleaved(
        call: Call<'_>,
        view: &TensorView<'v, T>,
        times: usize,
        dim: Option<isize>,
    ) -> Result<Self> {
        let dim = dim.map(|dim| wrap_dim(call.op, dim, view.ndim())).transpose()?;
        let source = match dim {
            Some(_) => Source::View(view.clone()),
            None => Source::flat(call, view)?,
        };
        let dim = dim.unwrap_or(0);
        let pairs = source.with(|view| Ok(paired(view.shape(), times, dim)))?;
        let at = dim as isize;
        let layout = Layout::contiguous(&pairs)?.flatten(at, at + 1)?;
        let source = match source {
            Source::View(view) => Source::View(view.unsqueeze(at + 1)?.broadcast_to(&pairs)?),
            Source::Copy(copy) => Source::Copy(copy.unsqueeze(at + 1)?.broadcast_to(&pairs)?),
        };
        Ok(Self { source, layout })
    }

    fn repeated(view: &TensorView<'v, T>, times: &[usize]) -> Result<Self> {
        let (expanded, shape) = expanded(view, times)?;
        Ok(Self { source: Source::View(expanded), layout: Layout::contiguous(&shape)? })
    }
}

impl<T: Element> Assemble<T> for Expanded<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        self.source.with(|expanded| {
            let part = part.reshaped(|out| out.view(expanded.shape()))?;
            part.copy_from(call.exec, expanded)
        })
    }
}

/// A shape with a dimension of size `times` behind another one.
fn paired(shape: &[usize], times: usize, dim: usize) -> DimVec<usize> {
    let mut pairs = DimVec::from_slice(shape);
    pairs.insert(dim + 1, times);
    pairs
}

/// Each index of the dimension as often as `repeats` says.
fn repeated_indices(
    call: Call<'_>,
    repeats: &TensorView<'_, i64>,
    (dim, size): (usize, usize),
) -> Result<Vec<usize>> {
    if repeats.ndim() > 1 {
        let shape = repeats.shape().to_vec();
        return Err(MovementError::NotAVector { op: call.op, name: "repeats", shape }.into());
    }
    if repeats.numel() != 1 && repeats.numel() != size {
        return Err(MovementError::RepeatsLength { given: repeats.numel(), dim, size }.into());
    }
    let mut total = 0usize;
    for (position, times) in repeats.iter().enumerate() {
        let count = usize::try_from(times)
            .map_err(|_| MovementError::NegativeRepeats { repeats: times, position })?;
        total = total.saturating_add(count);
    }
    let total = if repeats.numel() == 1 { total.saturating_mul(size) } else { total };
    let repeats = repeats.broadcast_to([size])?;
    let mut index = Vec::new();
    let bytes = total.saturating_mul(size_of::<usize>());
    index.try_reserve_exact(total).map_err(|_| Error::OutOfMemory { bytes })?;
    for (at, times) in repeats.iter().enumerate() {
        index.extend(std::iter::repeat_n(at, times as usize));
    }
    Ok(index)
}

pub(crate) fn interleave_eval<T: Element, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    times: usize,
    dim: Option<isize>,
) -> Result<TensorBase<T, K>> {
    let a = a.read()?;
    let view = a.elements().to_view();
    let Some(dim) = dim else {
        return Source::flat(call, &view)?.with(|flat| interleave(call, flat, times, 0));
    };
    let dim = wrap_dim(call.op, dim, view.ndim())?;
    interleave(call, &view, times, dim)
}

/// One copy of an expanded view: a dimension of size n is n and `times` with stride 0.
fn interleave<T: Element, K>(
    call: Call<'_>,
    view: &TensorView<'_, T>,
    times: usize,
    dim: usize,
) -> Result<TensorBase<T, K>> {
    let pairs = paired(view.shape(), times, dim);
    let layout = Layout::contiguous(&pairs)?;
    let repeated = view.unsqueeze(dim as isize + 1)?.broadcast_to(&pairs)?;
    let copy: TensorBase<T, K> =
        call.operand_copy(&repeated, layout, Purpose::requested(call.op))?;
    copy.flatten(dim as isize, dim as isize + 1)
}
