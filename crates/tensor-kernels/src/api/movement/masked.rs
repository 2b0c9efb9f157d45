//! Elements chosen by a mask.

use tensor_core::{
    AsOperand, Element, Layout, Operand, Output, Result, TensorBase, TensorView, ViewRef,
};

use super::{Assemble, Source, assembled, through_copy, with_slice};
use crate::{
    api::{call::Call, ops, tensor::Simd},
    exec::Exec,
    kernel::Zip3,
    run::{self, Destination, Part, RowWriter},
};

/// `a` with `value` where the mask is true, both broadcast (PyTorch: `torch.masked_fill`).
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let scores = Tensor::full([2, 2], 0.5f32)?;
/// let future = Tensor::from_vec(vec![false, true, false, false], [2, 2])?;
/// let masked = ops::masked_fill(exec, &scores, &future, f32::NEG_INFINITY)?;
/// assert_eq!(masked.to_vec()?, [0.5, f32::NEG_INFINITY, 0.5, 0.5]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Shapes that do not broadcast.
#[track_caller]
pub fn masked_fill<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    mask: impl AsOperand<bool>,
    value: T,
) -> Result<TensorBase<T, Simd>> {
    masked_fill_eval(Call::new(exec, "masked_fill"), &a.as_operand(), &mask.as_operand(), value)
}

/// The result is contiguous, as in PyTorch, and not in the order of the operands.
pub(crate) fn masked_fill_eval<T: Element, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    mask: &Operand<'_, bool>,
    value: T,
) -> Result<TensorBase<T, K>> {
    let shape = call.broadcast_pair(mask.shape(), a.shape())?;
    let (a, mask) = (a.read()?, mask.read()?);
    let (mut a_buffer, mut mask_buffer, mut value_buffer) = (None, None, None);
    let a = a.elements().broadcast_to(&shape, &mut a_buffer)?;
    let mask = mask.elements().broadcast_to(&shape, &mut mask_buffer)?;
    let value = ViewRef::of_value(&value).broadcast_to(&shape, &mut value_buffer)?;
    let layout = Layout::contiguous(&shape)?;
    run::computed3(call.exec, Zip3::new(ops::Where).of_types(), layout, mask, value, a)
}

/// [`masked_fill`] into a given result.
///
/// # Errors
/// Also a result of another shape, or that shares elements with an operand without being it, or
/// with itself; see [`ops`].
#[track_caller]
pub fn masked_fill_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    mask: impl AsOperand<bool>,
    value: T,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let (a, mask, value) =
        (Some(a.as_operand()), Some(mask.as_operand()), Some(Operand::Value(value)));
    Call::new(exec, "masked_fill").into3(ops::Where, mask, value, a, out.into())
}

/// [`masked_fill`] in place (PyTorch: `masked_fill_`); the mask is broadcast.
///
/// # Errors
/// As [`masked_fill_into`].
#[track_caller]
pub fn masked_fill_inplace<'x, T: Element>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    mask: impl AsOperand<bool>,
    value: T,
) -> Result<()> {
    let (mask, value) = (Some(mask.as_operand()), Some(Operand::Value(value)));
    Call::new(exec, "masked_fill").into3(ops::Where, mask, value, None::<Operand<'_, T>>, x.into())
}

/// The elements at which the mask is true, both broadcast, as one dimension in row-major order
/// (PyTorch: `torch.masked_select`).
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::arange(0i32, 6, 1)?.view([2, 3])?.t()?;
/// let odd = ops::masked_select(exec, &x, &ops::eq(exec, &ops::rem(exec, &x, 2)?, 1)?)?;
/// assert_eq!(odd.to_vec()?, [3, 1, 5]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Shapes that do not broadcast.
#[track_caller]
pub fn masked_select<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    mask: impl AsOperand<bool>,
) -> Result<TensorBase<T, Simd>> {
    masked_select_eval(Call::new(exec, "masked_select"), &a.as_operand(), &mask.as_operand())
}

/// [`masked_select`] into a given result of one dimension, with as many elements as the mask
/// chooses. The error of another length names that number.
///
/// ```
/// use tensor_kernels::{Exec, ops, tensor};
///
/// let (exec, x) = (Exec::current()?, tensor![3, 1, 4, 1]);
/// let mut large = [0; 2];
/// ops::masked_select_into(exec, &x, &ops::gt(exec, &x, 2)?, &mut large)?;
/// assert_eq!(large, [3, 4]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Those of [`masked_select`]; a result of another shape, or that shares elements with an operand
/// or with itself.
#[track_caller]
pub fn masked_select_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    mask: impl AsOperand<bool>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    let call = Call::new(exec, "masked_select");
    masked_select_write(call, &a.as_operand(), &mask.as_operand(), out.into())
}

assembled! {
    masked_select_eval, masked_select_write, T: Element; a: T, "a"; mask: bool, "mask";
    |call| Chosen::new(call, &a, &mask)?
}

/// The elements of a piece of work: the mask of it fits the first-level cache.
const PIECE_ELEMENTS: usize = 16 << 10;

/// The chosen elements of a view.
struct Chosen<'v, T> {
    view: TensorView<'v, T>,
    mask: Source<'v, bool>,
    /// How many each piece chooses.
    lens: Vec<usize>,
    layout: Layout,
}

impl<'v, T: Element> Chosen<'v, T> {
    fn new(call: Call<'_>, view: &TensorView<'v, T>, mask: &TensorView<'v, bool>) -> Result<Self> {
        let shape = call.broadcast_pair(mask.shape(), view.shape())?;
        let mask = Source::contiguous(call, &mask.broadcast_to(&shape)?)?;
        let count = |piece: &[bool]| piece.iter().map(|&is_chosen| usize::from(is_chosen)).sum();
        let lens: Vec<usize> = mask.with(|mask| {
            with_slice(call, mask, |mask| Ok(mask.chunks(PIECE_ELEMENTS).map(count).collect()))
        })?;
        let layout = Layout::contiguous([lens.iter().sum::<usize>()])?;
        Ok(Self { view: view.broadcast_to(&shape)?, mask, lens, layout })
    }
}

impl<T: Element> Assemble<T> for Chosen<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if !part.layout().is_contiguous() {
            return through_copy(call, self, part);
        }
        self.mask.with(|mask| {
            with_slice(call, mask, |mask| {
                with_slice(call, &self.view, |elements| {
                    let bytes = mask.len().saturating_mul(size_of::<T>() + 1);
                    part.write_pieces(call.exec.tasks(bytes), &self.lens, &|piece, writer| {
                        let start = piece * PIECE_ELEMENTS;
                        let end = mask.len().min(start + PIECE_ELEMENTS);
                        write_chosen(&elements[start..end], &mask[start..end], writer);
                    })
                })
            })
        })
    }
}

/// Without a branch: every element is stored, and the next one over it if it is not chosen.
fn write_chosen<T: Element, W: Destination<T>>(
    elements: &[T],
    mask: &[bool],
    writer: &mut RowWriter<'_, T, W>,
) {
    const BUFFERED: usize = 64;
    for (elements, mask) in elements.chunks(BUFFERED).zip(mask.chunks(BUFFERED)) {
        let mut chosen = [elements[0]; BUFFERED];
        let mut count = 0;
        for (&element, &is_chosen) in elements.iter().zip(mask) {
            chosen[count % BUFFERED] = element;
            count += usize::from(is_chosen);
        }
        writer.slice(&chosen[..count]);
    }
}
