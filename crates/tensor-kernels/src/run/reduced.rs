//! Reductions over dimensions, into a given result and into a newly allocated one.

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{
    Element, Layout, ReductionShape, Result, TensorBase, Uninit, ViewRef, ViewRefMut,
};

use super::{
    operands::{Destination, Input, OperandPtr, OperandPtrs},
    reduce::plan_and_run,
};
use crate::{exec::Exec, kernel::ReductionOf};

/// `out = reduction(input)`, over the dimensions that are `reduced`.
///
/// # Errors
/// [`Error::OutOfMemory`] if much of the input has to be copied first. No other, if input and
/// result have the shapes that `reduced` says.
///
/// # Panics
/// If the input has another shape.
pub(crate) fn reduce<T: Element, R: Element, W: Destination<R>>(
    exec: &Exec,
    kernels: &impl ReductionOf<T, R>,
    input: Input<'_, T>,
    out: &mut ViewRefMut<'_, W>,
    reduced: &ReductionShape,
) -> Result<()> {
    let layout = out.layout();
    let result = OperandPtr::from(out);
    let operands = OperandPtrs::new([result, input.ptr(result, size_of::<R>())]);
    let layouts = [input.layout(layout), layout];
    plan_and_run(exec, kernels.any(), layouts, reduced, operands)
}

/// A new tensor of `layout` with the results of a reduction.
pub(crate) fn reduced<T: Element, R: Element, K>(
    exec: &Exec,
    kernels: &impl ReductionOf<T, R>,
    input: ViewRef<'_, T>,
    reduced: &ReductionShape,
    layout: Layout,
) -> Result<TensorBase<R, K>> {
    let mut result = Uninit::new(layout)?;
    reduce(exec, kernels, Input::View(input), &mut result.as_elements_mut(), reduced)?;
    // SAFETY: a reduction visits every element of the result's layout, and writes each one it
    // visits.
    Ok(unsafe { result.assume_init() })
}
