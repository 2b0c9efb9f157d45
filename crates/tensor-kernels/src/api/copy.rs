//! Copies: between any strides, and from any strides to a new tensor.

use std::mem::MaybeUninit;

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{
    DimVec, Element, Layout, MemoryFormat, Operand, Output, Result, TensorBase, TensorView,
    TensorViewMut, ViewRef, ViewRefMut,
};

use super::ledger::Purpose;
use crate::{
    exec::Exec,
    run::{self, CopyOperands},
};

/// Copies a view into another of the same shape, whatever the strides of either (PyTorch: `copy_`,
/// without broadcasting).
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
/// [`Error::OutputShape`] if the shapes differ.
pub fn copy_into<T: Element>(
    exec: &Exec,
    from: &TensorView<'_, T>,
    to: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    copy_elements(exec, from.into(), to.into())
}

/// Copies a view into uninitialised memory of the same shape, and returns it as a view of elements.
/// So memory of the caller is written once only.
///
/// ```
/// use std::mem::MaybeUninit;
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
pub fn copy_into_uninit<'t, T: Element>(
    exec: &Exec,
    from: &TensorView<'_, T>,
    to: TensorViewMut<'t, MaybeUninit<T>>,
) -> Result<TensorViewMut<'t, T>> {
    run::copy_into_uninit(exec, from.into(), to)
}

/// The elements of a view in row-major order, as a vector (PyTorch: `flatten().tolist()`). Unlike
/// [`TensorView::to_vec`], it copies with the kernels of this crate.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn to_vec<T: Element>(exec: &Exec, from: &TensorView<'_, T>) -> Result<Vec<T>> {
    run::copied_to_vec(exec, from.into())
}

#[inline]
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
    let layout = Layout::contiguous(from.layout().shape())?;
    copied(exec, from, layout, purpose)
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
    from: &TensorView<'_, T>,
    layout: Layout,
) -> Result<TensorBase<T, K>> {
    copied(exec, from.into(), layout, Purpose::requested("copy_to_layout"))
}

/// A new contiguous tensor with the elements of a view (PyTorch: `contiguous()` of a tensor that is
/// not contiguous).
///
/// # Errors
/// [`Error::OutOfMemory`].
#[track_caller]
pub fn to_contiguous<T: Element, K>(
    exec: &Exec,
    from: &TensorView<'_, T>,
) -> Result<TensorBase<T, K>> {
    contiguous_copy(exec, from.into(), Purpose::contiguous("to_contiguous"))
}

/// A new dense tensor in a memory format, with the elements of a view; `Preserve` keeps the order
/// of its dimensions in memory.
///
/// # Errors
/// [`Error::FormatRank`], [`Error::OutOfMemory`].
#[track_caller]
pub fn to_format<T: Element, K>(
    exec: &Exec,
    from: &TensorView<'_, T>,
    format: MemoryFormat,
) -> Result<TensorBase<T, K>> {
    format_copy(exec, from.into(), format, Purpose::requested("to_format"))
}

/// Writes one value to every element of a view (PyTorch: `fill_`).
///
/// # Errors
/// None today; the signature is that of the other operations.
pub fn fill<T: Element>(exec: &Exec, to: &mut TensorViewMut<'_, T>, value: T) -> Result<()> {
    let one = [value];
    let shape = DimVec::from_slice(to.shape());
    let from = TensorView::new(&one, Layout::contiguous(&[])?)?.broadcast_to(&shape)?;
    copy_into(exec, &from, to)
}

/// Copies one tensor's elements into another, broadcasting them to its shape (PyTorch: `copy_`).
///
/// The two may be tensors of one storage, if they share no element or are the same view. In the
/// latter case nothing happens.
///
/// # Errors
/// Shapes that do not broadcast, [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`] with two
/// overlapping indices, [`Error::Borrowed`].
pub fn copy_between<T: Element, K>(
    exec: &Exec,
    from: &TensorBase<T, K>,
    to: &TensorBase<T, K>,
) -> Result<()> {
    let from = from.broadcast_to(to.shape())?;
    let from = Operand::from(&from);
    let mut writing = Output::from(to).open()?;
    let (to, scope) = writing.split()?;
    match from.open(&scope, "copy", "input")?.elements() {
        Some(from) => copy_elements(exec, from, to),
        // The source is the destination itself.
        None => Ok(()),
    }
}
