//! Fresh results: memory that is written once, by the plan that fills it.

use tensor_core::{Element, Layout, Result, TensorBase, TensorView, Uninit};

use super::{Ends, Place, compute, copy, reduce};
use crate::{
    exec::Exec,
    kernel::{Compute, Reduction},
    plan::{ElementwiseWork, ReduceWork, Work},
};

/// A tensor of `layout` that holds the elements of a view; `work` was planned for the two.
pub(crate) fn copied<T: Element, K>(
    exec: &Exec,
    work: &Work,
    from: &TensorView<'_, T>,
    layout: Layout,
) -> Result<TensorBase<T, K>> {
    let mut fresh = Uninit::new(layout)?;
    copy(exec, work, Ends::new([(&mut fresh.as_elements_mut()).into(), from.into()]));
    // SAFETY: the plan visits every element of the fresh layout.
    Ok(unsafe { fresh.assume_init() })
}

/// A tensor of `layout` that holds what an operation gives for its inputs; `work` was planned for the layouts of the result and the inputs.
pub(crate) fn computed<const N: usize, O: Compute<N>, K>(
    exec: &Exec,
    work: &ElementwiseWork<N>,
    operation: &O,
    inputs: &[Place<'_>],
    layout: Layout,
) -> Result<TensorBase<O::Output, K>> {
    let mut fresh = Uninit::new(layout)?;
    compute(
        exec,
        work,
        operation,
        Ends::with_inputs((&mut fresh.as_elements_mut()).into(), inputs),
    );
    // SAFETY: the plan visits every element of the fresh layout; had the operation panicked, we would not be here.
    Ok(unsafe { fresh.assume_init() })
}

/// A tensor of `layout` that holds the results of a reduction; `work` was planned for that layout and the input's.
pub(crate) fn reduced<R: Element, K>(
    exec: &Exec,
    work: &ReduceWork,
    operation: &dyn Reduction,
    input: Place<'_>,
    layout: Layout,
) -> Result<TensorBase<R, K>> {
    let mut fresh = Uninit::new(layout)?;
    reduce(exec, work, operation, Ends::new([(&mut fresh.as_elements_mut()).into(), input]));
    // SAFETY: the plan visits every element of the fresh layout, and a reduction finishes all that it visits.
    Ok(unsafe { fresh.assume_init() })
}
