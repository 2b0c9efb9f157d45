//! Each index of a dimension several times.

use tensor_core::{
    AsOperand, DimVec, Element, Error, Layout, MovementError, Operand, OptionalDim, Result,
    TensorBase, TensorView, wrap_dim,
};

use super::{Source, index::Select};
use crate::{
    api::{call::Call, ledger::Purpose, tensor::Simd},
    exec::Exec,
};

/// Each index of a dimension `times` times in sequence, in a new contiguous tensor (PyTorch:
/// `torch.repeat_interleave`). `None` stands for all elements in row-major order.
///
/// [`repeat`](crate::repeat) repeats the whole dimension instead.
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

pub(crate) fn interleave_each_eval<T: Element, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    repeats: &Operand<'_, i64>,
    dim: Option<isize>,
) -> Result<TensorBase<T, K>> {
    let (a, repeats) = (a.read()?, repeats.read()?);
    let (view, repeats) = (a.elements().to_view(), repeats.elements().to_view());
    let Some(dim) = dim else {
        let index = repeated_indices(call, &repeats, (0, view.numel()))?;
        return Source::flat(call, &view)?
            .with(|flat| call.assemble(&Select::of_checked(flat.clone(), 0, index)?));
    };
    let dim = wrap_dim(call.op, dim, view.ndim())?;
    let index = repeated_indices(call, &repeats, (dim, view.shape()[dim]))?;
    call.assemble(&Select::of_checked(view, dim, index)?)
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
    let repeats = repeats.broadcast_to([size])?;
    let total =
        if size > 1 && repeats.strides() == [0] { total.saturating_mul(size) } else { total };
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
    let paired = view.unsqueeze(dim as isize + 1)?;
    let mut pairs = DimVec::from_slice(paired.shape());
    pairs[dim + 1] = times;
    let layout = Layout::contiguous(&pairs)?;
    let repeated = paired.broadcast_to(&pairs)?;
    let copy: TensorBase<T, K> =
        call.operand_copy(&repeated, layout, Purpose::requested(call.op))?;
    copy.flatten(dim as isize, dim as isize + 1)
}
