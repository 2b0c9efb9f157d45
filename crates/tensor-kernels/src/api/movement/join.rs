//! Concatenation along an existing or a new dimension: one copy into each part of the result.

use tensor_core::{
    AsOperand, Bare, Element, Int, Layout, MovementError, Operand, Output, Result, TensorBase,
    TensorView, wrap_dim,
};

use super::{Assemble, apart, elements};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part},
};

/// The tensors one after the other along a dimension, in a new tensor (PyTorch: `torch.cat`).
///
/// They have one shape apart from that dimension; tensors of shape `[0]` are passed over, as in
/// PyTorch. The result is channels-last if all are, else contiguous.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let a = Tensor::arange(0i64, 4, 1)?.view([2, 2])?;
/// let b = Tensor::full([2, 1], 9i64)?;
/// let joined = ops::cat(exec, [&a.t()?, &b], -1)?;
/// assert_eq!(joined.to_vec()?, [0, 2, 9, 1, 3, 9]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// No tensors, tensors without dimensions, shapes that differ
/// ([`Error::Movement`](crate::Error::Movement)); a dimension out of range.
#[track_caller]
pub fn cat<T: Element>(
    exec: &Exec,
    tensors: impl IntoIterator<Item: AsOperand<T>>,
    dim: impl Int,
) -> Result<TensorBase<T, Simd>> {
    let tensors: Vec<_> = tensors.into_iter().collect();
    JoinOf::existing(tensors.iter().map(AsOperand::as_operand), dim.saturated())
        .eval(Call::new(exec, "cat"))
}

/// [`cat`] into a given result.
///
/// # Errors
/// Those of [`cat`]; a result of another shape, or that shares elements with a tensor or with
/// itself.
#[track_caller]
pub fn cat_into<'o, T: Element>(
    exec: &Exec,
    tensors: impl IntoIterator<Item: AsOperand<T>>,
    dim: impl Int,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let tensors: Vec<_> = tensors.into_iter().collect();
    JoinOf::existing(tensors.iter().map(AsOperand::as_operand), dim.saturated())
        .into(Call::new(exec, "cat"), out.into())
}

/// The tensors along a new dimension, in a new tensor (PyTorch: `torch.stack`). They have one
/// shape.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let frames = [Tensor::full([2, 3], 0.5)?, Tensor::full([2, 3], 1.5)?];
/// let clip = ops::stack(exec, &frames, 1)?;
/// assert_eq!(clip.shape(), [2, 2, 3]);
/// assert_eq!(clip.get(&[0, 1, 2])?, 1.5);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// No tensors, shapes that differ ([`Error::Movement`](crate::Error::Movement)); a dimension out of
/// range.
#[track_caller]
pub fn stack<T: Element>(
    exec: &Exec,
    tensors: impl IntoIterator<Item: AsOperand<T>>,
    dim: impl Int,
) -> Result<TensorBase<T, Simd>> {
    let tensors: Vec<_> = tensors.into_iter().collect();
    JoinOf::new_dim(tensors.iter().map(AsOperand::as_operand), dim.saturated())
        .eval(Call::new(exec, "stack"))
}

/// [`stack`] into a given result.
///
/// # Errors
/// Those of [`stack`]; a result of another shape, or that shares elements with a tensor or with
/// itself.
#[track_caller]
pub fn stack_into<'o, T: Element>(
    exec: &Exec,
    tensors: impl IntoIterator<Item: AsOperand<T>>,
    dim: impl Int,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let tensors: Vec<_> = tensors.into_iter().collect();
    JoinOf::new_dim(tensors.iter().map(AsOperand::as_operand), dim.saturated())
        .into(Call::new(exec, "stack"), out.into())
}

/// The operands of a concatenation, not borrowed yet.
pub(crate) struct JoinOf<'a, T> {
    operands: Vec<Operand<'a, T>>,
    dim: isize,
    /// Along a new dimension?
    stacks: bool,
}

/// The name of an operand in error messages.
const TENSORS: &str = "tensors";

impl<'a, T: Element> JoinOf<'a, T> {
    pub(crate) fn existing(tensors: impl IntoIterator<Item = Operand<'a, T>>, dim: isize) -> Self {
        Self { operands: tensors.into_iter().collect(), dim, stacks: false }
    }

    pub(crate) fn new_dim(tensors: impl IntoIterator<Item = Operand<'a, T>>, dim: isize) -> Self {
        Self { stacks: true, ..Self::existing(tensors, dim) }
    }

    pub(crate) fn eval<K>(&self, call: Call<'_>) -> Result<TensorBase<T, K>> {
        let opened = self.operands.iter().map(Operand::read).collect::<Result<Vec<_>>>()?;
        let views = opened.iter().map(|reading| reading.elements().to_view()).collect();
        call.assemble(&self.prepare(views)?)
    }

    pub(crate) fn into(self, call: Call<'_>, out: Output<'_, T>) -> Result<()> {
        let mut is_apart = true;
        for operand in &self.operands {
            is_apart &= call.is_apart(operand, &out, TENSORS)?;
        }
        if !is_apart {
            let result: TensorBase<T, Bare> = self.eval(call)?;
            return call.copy_result(&result, out);
        }
        let mut writing = out.open()?;
        let is_slice = writing.is_slice();
        let (out, scope) = writing.split()?;
        let open = |operand| call.open_apart(operand, Some(&scope), TENSORS);
        let opened = self.operands.iter().map(open).collect::<Result<Vec<_>>>()?;
        let views = opened.iter().map(|operand| apart(elements(operand), call.op, TENSORS));
        call.assemble_into(&self.prepare(views.collect::<Result<_>>()?)?, out, is_slice)
    }

    fn prepare<'v>(&self, views: Vec<TensorView<'v, T>>) -> Result<Join<'v, T>> {
        if self.stacks { Join::stacked(&views, self.dim) } else { Join::new(views, self.dim) }
    }
}

/// Views of one shape apart from dimension `dim`, along which they are joined.
struct Join<'v, T> {
    parts: Vec<TensorView<'v, T>>,
    dim: usize,
    layout: Layout,
}

impl<'v, T: Element> Join<'v, T> {
    fn new(views: Vec<TensorView<'v, T>>, dim: isize) -> Result<Self> {
        if let Some(position) = views.iter().position(|view| view.ndim() == 0) {
            return Err(MovementError::CatScalar { position }.into());
        }
        if views.is_empty() {
            return Err(MovementError::CatNothing.into());
        }
        let Some(first) = views.iter().find(|view| view.shape() != [0]) else {
            return Ok(Self { layout: Layout::contiguous([0])?, dim: 0, parts: Vec::new() });
        };
        let (dim, expected) = (wrap_dim("cat", dim, first.ndim())?, first.shape().to_vec());
        let mut joined = 0usize;
        let mut parts = Vec::new();
        for (position, view) in views.into_iter().enumerate() {
            if view.shape() == [0] {
                continue;
            }
            check_sizes(&expected, view.shape(), dim, position)?;
            joined = joined.saturating_add(view.shape()[dim]);
            parts.push(view);
        }
        let mut shape = expected;
        shape[dim] = joined;
        Ok(Self { layout: result_layout(&shape, &parts)?, dim, parts })
    }

    fn stacked(views: &[TensorView<'v, T>], dim: isize) -> Result<Self> {
        let first = views.first().ok_or(MovementError::StackNothing)?;
        let dim = wrap_dim("stack", dim, first.ndim() + 1)?;
        let expected = first.shape();
        if let Some(position) = views.iter().position(|view| view.shape() != expected) {
            let (expected, shape) = (expected.to_vec(), views[position].shape().to_vec());
            return Err(MovementError::StackSizes { expected, shape, position }.into());
        }
        let insert = |view: &TensorView<'v, T>| view.unsqueeze(dim as isize);
        let parts = views.iter().map(insert).collect::<Result<Vec<_>>>()?;
        let mut shape = parts[0].shape().to_vec();
        shape[dim] = parts.len();
        Ok(Self { layout: Layout::contiguous(&shape)?, dim, parts })
    }
}

fn check_sizes(expected: &[usize], shape: &[usize], dim: usize, position: usize) -> Result<()> {
    let (ndim, wanted) = (shape.len(), expected.len());
    if ndim != wanted {
        return Err(MovementError::CatRank { expected: wanted, ndim, position }.into());
    }
    match (0..ndim).find(|&d| d != dim && shape[d] != expected[d]) {
        None => Ok(()),
        Some(differs) => {
            let (expected, size) = (expected[differs], shape[differs]);
            Err(MovementError::CatSizes { dim, differs, expected, size, position }.into())
        }
    }
}

/// In the memory format that all parts have, as in PyTorch.
fn result_layout<T: Element>(shape: &[usize], parts: &[TensorView<'_, T>]) -> Result<Layout> {
    let format = parts[0].layout().suggest_memory_format();
    if parts.iter().all(|part| part.layout().suggest_memory_format() == format) {
        Layout::with_format(shape, format)
    } else {
        Layout::contiguous(shape)
    }
}

impl<T: Element> Assemble<T> for Join<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        let mut rest = part;
        for view in &self.parts {
            let (first, others) = rest.split(self.dim, view.shape()[self.dim])?;
            first.copy_from(call.exec, view)?;
            rest = others;
        }
        Ok(())
    }
}
