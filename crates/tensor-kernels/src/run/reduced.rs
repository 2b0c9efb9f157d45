//! Newly allocated results of reductions, each element written once.

use tensor_core::{Element, Layout, ReductionShape, Result, TensorBase, Uninit, ViewRef};

use super::{operands::Input, reduce};
use crate::{exec::Exec, kernel::ReductionOf};

/// A new tensor of `layout` with the results of a reduction.
pub(crate) fn reduced<T: Element, R: Element, K>(
    exec: &Exec,
    kernels: &impl ReductionOf<T, R>,
    input: ViewRef<'_, T>,
    reduced: &ReductionShape,
    layout: Layout,
) -> Result<TensorBase<R, K>> {
    let mut result = Uninit::new(layout)?;
    reduce::reduce(exec, kernels, Input::View(input), &mut result.as_elements_mut(), reduced)?;
    // SAFETY: a reduction visits every element of the result's layout, and writes each one it
    // visits.
    Ok(unsafe { result.assume_init() })
}
