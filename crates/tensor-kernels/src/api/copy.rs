//! Copies: between any strides, and from any strides to a new tensor.

use std::{mem::MaybeUninit, panic::Location};

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{
    AsOperand, Element, Layout, MemoryFormat, Operand, Output, Result, TensorBase,
    TensorViewMutBase, ViewRef, ViewRefMut,
};

use super::{copied::Copied, ledger::Purpose};
use crate::{
    exec::Exec,
    run::{self, CopyOperands},
};

/// Copies a tensor or view into another of the same shape, whatever the strides of either (PyTorch:
/// `copy_`, without broadcasting).
///
/// ```
/// use tensor_kernels::{Exec, Layout, TensorView, TensorViewMut, copy_into};
///
/// let pixels = [1u8, 2, 3, 4, 5, 6];
/// let mut planes = [0u8; 6];
/// let from = TensorView::new(&pixels, Layout::contiguous(&[2, 3])?)?.t()?;
/// let mut to = TensorViewMut::new(&mut planes, Layout::contiguous(&[3, 2])?)?;
/// copy_into(Exec::current()?, &from, &mut to)?;
/// assert_eq!(planes, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutputShape`] if the shapes differ; [`Error::WriteOverlap`],
/// [`Error::ReadWriteOverlap`], [`Error::Borrowed`].
#[track_caller]
pub fn copy_into<'o, T: Element>(
    exec: &Exec,
    from: impl AsOperand<T>,
    to: impl Into<Output<'o, T>>,
) -> Result<()> {
    let (from, to) = (from.as_operand(), to.into());
    let copied = Copied::if_overlapping(exec, ("copy", Location::caller()), &from, &to)?;
    let copied = copied.as_ref().map(Copied::elements).transpose()?;
    let from = copied.map_or(from, Operand::View);
    with_elements(from, to, |from, to| copy_elements(exec, from, to))
}

/// Copies a view into uninitialised memory of the same shape, and returns it as a view of elements.
/// So memory of the caller is written once only.
///
/// ```
/// use std::{mem::MaybeUninit, panic::Location};
/// use tensor_kernels::{Exec, Layout, TensorView, TensorViewMut, copy_into_uninit};
///
/// let pixels = [1u8, 2, 3, 4, 5, 6];
/// let mut planes = [MaybeUninit::uninit(); 6];
/// let from = TensorView::new(&pixels, Layout::contiguous(&[2, 3])?)?.t()?;
/// let to = TensorViewMut::new(&mut planes, Layout::contiguous(&[3, 2])?)?;
/// let mut written = copy_into_uninit(Exec::current()?, &from, to)?;
/// assert_eq!(written.as_slice_mut(), Some(&mut [1, 4, 2, 5, 3, 6][..]));
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutputShape`] if the shapes differ; nothing is written then.
pub fn copy_into_uninit<'t, T: Element, K>(
    exec: &Exec,
    from: impl AsOperand<T>,
    to: TensorViewMutBase<'t, MaybeUninit<T>, K>,
) -> Result<TensorViewMutBase<'t, T, K>> {
    run::copy_into_uninit(exec, from.as_operand().read()?.elements(), to)
}

/// The elements in row-major order, as a vector (PyTorch: `flatten().tolist()`): as
/// [`TensorView::to_vec`](crate::TensorView::to_vec), with an [`Exec`] and of any operand.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[track_caller]
pub fn to_vec<T: Element>(exec: &Exec, from: impl AsOperand<T>) -> Result<Vec<T>> {
    let from = from.as_operand();
    let reading = from.read()?;
    let from = reading.elements();
    Purpose::requested("to_vec").record_contiguous(exec, size_of::<T>(), from.layout())?;
    run::copied_to_vec(exec, from)
}

/// Calls `f` with the elements of an operand and of an output. A slice takes the operand's shape.
/// If both are the same elements, index by index, there is nothing to do.
#[inline]
pub(super) fn with_elements<T: Element>(
    from: Operand<'_, T>,
    to: Output<'_, T>,
    f: impl FnOnce(ViewRef<'_, T>, ViewRefMut<'_, T>) -> Result<()>,
) -> Result<()> {
    match (from, to) {
        (Operand::View(from), Output::View(to)) => f(from, to),
        (from, to) => with_opened(&from, to, f),
    }
}

#[cold]
#[inline(never)]
fn with_opened<T: Element>(
    from: &Operand<'_, T>,
    to: Output<'_, T>,
    f: impl FnOnce(ViewRef<'_, T>, ViewRefMut<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut writing = to.with_shape(from.shape())?.open()?;
    let (to, scope) = writing.split()?;
    match from.open(&scope, "copy", "input")?.elements() {
        Some(from) => f(from, to),
        None => Ok(()),
    }
}

/// Not inlined: it is the same code for every kind of operand, and tiny copies are inlined into it.
#[inline(never)]
fn copy_elements<T: Element>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    mut to: ViewRefMut<'_, T>,
) -> Result<()> {
    run::copy(exec, CopyOperands::new(from, &mut to)?);
    Ok(())
}

/// A new tensor with the elements of a view, in a dense layout of the same shape. The copy is
/// recorded in the ledger.
#[track_caller]
pub(crate) fn copied<T: Element, K>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    layout: Layout,
    purpose: Purpose,
) -> Result<TensorBase<T, K>> {
    purpose.record(exec, size_of::<T>(), from.layout(), &layout)?;
    run::copied(exec, from, layout)
}

/// A new contiguous tensor with the elements of a view.
#[track_caller]
pub(crate) fn contiguous_copy<T: Element, K>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    purpose: Purpose,
) -> Result<TensorBase<T, K>> {
    purpose.record_contiguous(exec, size_of::<T>(), from.layout())?;
    run::copied(exec, from, Layout::contiguous(from.layout().shape())?)
}

/// A new contiguous tensor with the elements of another.
#[track_caller]
pub(crate) fn tensor_copy<T: Element, K>(
    tensor: &TensorBase<T, K>,
    purpose: Purpose,
) -> Result<TensorBase<T, K>> {
    contiguous_copy(Exec::current()?, tensor.read()?.as_elements(), purpose)
}

/// A new dense tensor in a memory format, with the elements of a view.
#[track_caller]
pub(crate) fn format_copy<T: Element, K>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    format: MemoryFormat,
    purpose: Purpose,
) -> Result<TensorBase<T, K>> {
    let layout = match format {
        MemoryFormat::Preserve => from.layout().preserved()?,
        definite => Layout::with_format(from.layout().shape(), definite)?,
    };
    copied(exec, from, layout, purpose)
}

/// A new tensor with the elements of a view, in a dense layout of the same shape.
///
/// # Errors
/// [`Error::NotDense`] or [`Error::OutputShape`] for another kind of layout,
/// [`Error::OutOfMemory`].
#[track_caller]
pub fn copy_to_layout<T: Element, K>(
    exec: &Exec,
    from: impl AsOperand<T>,
    layout: Layout,
) -> Result<TensorBase<T, K>> {
    copied(exec, from.as_operand().read()?.elements(), layout, Purpose::requested("copy_to_layout"))
}

/// A new contiguous tensor with the elements of a view (PyTorch: `contiguous()` of a tensor that is
/// not contiguous).
///
/// # Errors
/// [`Error::OutOfMemory`].
#[track_caller]
pub fn to_contiguous<T: Element, K>(
    exec: &Exec,
    from: impl AsOperand<T>,
) -> Result<TensorBase<T, K>> {
    let purpose = Purpose::contiguous("to_contiguous");
    contiguous_copy(exec, from.as_operand().read()?.elements(), purpose)
}

/// A new dense tensor in a memory format, with the elements of a view; `Preserve` keeps the order
/// of its dimensions in memory.
///
/// # Errors
/// [`Error::FormatRank`], [`Error::OutOfMemory`].
#[track_caller]
pub fn to_format<T: Element, K>(
    exec: &Exec,
    from: impl AsOperand<T>,
    format: MemoryFormat,
) -> Result<TensorBase<T, K>> {
    let purpose = Purpose::requested("to_format");
    format_copy(exec, from.as_operand().read()?.elements(), format, purpose)
}

/// Writes one value to every element (PyTorch: `fill_`).
///
/// # Errors
/// [`Error::WriteOverlap`], [`Error::Borrowed`].
pub fn fill<'o, T: Element>(exec: &Exec, to: impl Into<Output<'o, T>>, value: T) -> Result<()> {
    copy_broadcast(exec, "fill", Operand::Value(value), to.into())
}

/// Copies elements, broadcast to the shape of the output (PyTorch: `copy_`).
///
/// Both may be tensors of one storage, if they share no element or are the same view. In the latter
/// case nothing happens. If they overlap otherwise, the source is copied first with
/// [`Exec::copying_first`].
///
/// ```
/// use tensor_kernels::{Exec, Tensor, copy_between};
///
/// let rows = Tensor::<i32>::zeros([2, 3])?;
/// copy_between(Exec::current()?, &Tensor::arange(0, 3, 1)?, &rows.flip([1])?)?;
/// assert_eq!(rows.to_vec()?, [2, 1, 0, 2, 1, 0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Shapes that do not broadcast, [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`] with two
/// overlapping indices, [`Error::Borrowed`].
#[track_caller]
pub fn copy_between<'o, T: Element>(
    exec: &Exec,
    from: impl AsOperand<T>,
    to: impl Into<Output<'o, T>>,
) -> Result<()> {
    copy_broadcast(exec, "copy", from.as_operand(), to.into())
}

#[track_caller]
fn copy_broadcast<T: Element>(
    exec: &Exec,
    op: &'static str,
    from: Operand<'_, T>,
    to: Output<'_, T>,
) -> Result<()> {
    let to = to.with_shape(from.shape())?;
    let (mut of_tensor, mut of_view) = (None, None);
    let from = from.broadcast_to(to.shape(), &mut of_tensor)?;
    let copied = Copied::if_overlapping(exec, (op, Location::caller()), &from, &to)?;
    let copied = copied.as_ref().map(Copied::elements).transpose()?;
    let from = copied.map_or(from, Operand::View);
    let mut writing = to.open()?;
    let (to, scope) = writing.split()?;
    match from.open(&scope, op, "input")?.elements() {
        Some(from) => {
            let from = from.broadcast_to(to.layout().shape(), &mut of_view)?;
            copy_elements(exec, from, to)
        }
        // The source is the destination itself.
        None => Ok(()),
    }
}
