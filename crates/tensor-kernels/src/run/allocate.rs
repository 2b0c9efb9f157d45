//! Newly allocated results: each element is written once, by the plan that fills the memory.

use std::mem::MaybeUninit;

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{
    Element, Layout, Result, TensorBase, TensorViewMut, TensorViewMutBase, Uninit, ViewRef,
    vec_with_capacity,
};

use super::copy::{CopyOperands, copy};
use crate::{exec::Exec, nest::check_shapes};

/// Copies a view into a new tensor of `layout`.
///
/// # Errors
/// [`Error::OutputShape`](tensor_core::Error) if the shapes differ, before anything is allocated.
/// Errors of the allocation.
pub(crate) fn copied<T: Element, K>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    layout: Layout,
) -> Result<TensorBase<T, K>> {
    check_shapes(from.layout(), &layout)?;
    let mut result = Uninit::new(layout)?;
    copy(exec, CopyOperands::new(from, &mut result.as_elements_mut())?);
    // SAFETY: a copy writes every element of its destination's layout.
    Ok(unsafe { result.assume_init() })
}

/// The elements in logical order, as a vector.
///
/// # Errors
/// No memory.
#[expect(clippy::disallowed_methods, reason = "the result is a vector, not a tensor")]
pub(crate) fn copied_to_vec<T: Element>(exec: &Exec, from: ViewRef<'_, T>) -> Result<Vec<T>> {
    let count = from.layout().numel();
    let mut values = vec_with_capacity(count)?;
    let layout = Layout::contiguous(from.layout().shape())?;
    let mut to = TensorViewMut::new(values.spare_capacity_mut(), layout)?;
    copy(exec, CopyOperands::new(from, &mut (&mut to).into())?);
    // SAFETY: a copy writes every element of its destination's layout: the first `count` ones.
    unsafe { values.set_len(count) };
    Ok(values)
}

/// Copies a view into uninitialised memory of the same shape.
///
/// # Errors
/// [`Error::OutputShape`] if the shapes differ.
pub(crate) fn copy_into_uninit<'t, T: Element, K>(
    exec: &Exec,
    from: ViewRef<'_, T>,
    mut to: TensorViewMutBase<'t, MaybeUninit<T>, K>,
) -> Result<TensorViewMutBase<'t, T, K>> {
    copy(exec, CopyOperands::new(from, &mut (&mut to).into())?);
    // SAFETY: a copy writes every element of its destination's layout.
    Ok(unsafe { to.assume_init() })
}
