//! The plan of a case, by name and in words.

use tensor_kernels::{
    CopyPlan, DimVec, ElementwiseExplanation, Exec, Layout, ReductionExplanation, elementwise_path,
    explain_elementwise, explain_operation, explain_reduction,
};

use super::{Case, Op};
use crate::{Failure, Result, measure::setting::copy_path};

/// The path of a case. Only plans, allocates no arrays.
///
/// # Errors
/// A layout too large to plan for, more operands than an operation has.
pub fn path(exec: &Exec, case: &Case) -> Result<&'static str> {
    let layouts: DimVec<&Layout> = case.operands.iter().map(|operand| &operand.layout).collect();
    let width = |k: usize| case.operands[k].dtype.size();
    let (result, out) = (|| Layout::contiguous(case.shape()), case.out.size());
    Ok(match layouts.as_slice() {
        [a] if case.op == Op::Copy => copy_path(exec, a, out)?,
        [a] if case.op.is_reduction() => reduction(exec, case, a)?.path(),
        [a] => elementwise_path([&result()?, a], [out, width(0)])?,
        [a, b] => elementwise_path([&result()?, a, b], [out, width(0), width(1)])?,
        [a, b, c] => elementwise_path([&result()?, a, b, c], [out, width(0), width(1), width(2)])?,
        _ => return Err(Failure::input("more than three operands")),
    })
}

/// The plan of a copy in words; the path of an elementwise case.
///
/// # Errors
/// Those of [`path`].
pub fn plan(exec: &Exec, case: &Case) -> Result<String> {
    match case.operands.as_slice() {
        [operand] if case.op == Op::Copy => {
            let dense = Layout::contiguous(case.shape())?;
            let plan = CopyPlan::new(&operand.layout, &dense, case.out.size(), &exec.machine)?;
            Ok(plan.to_string())
        }
        _ => Ok(path(exec, case)?.to_owned()),
    }
}

/// The explanation of a case in words: the loops before and after they are fused, how operands are
/// accessed, blocks, threads and bytes.
///
/// # Errors
/// Those of [`path`].
pub fn explanation(exec: &Exec, case: &Case) -> Result<String> {
    let layouts: DimVec<&Layout> = case.operands.iter().map(|operand| &operand.layout).collect();
    let (result, out) = (Layout::contiguous(case.shape())?, case.out.size());
    let text = match layouts.as_slice() {
        [a] if case.op == Op::Copy => {
            CopyPlan::new(a, &result, out, &exec.machine)?.explain(exec).to_string()
        }
        [a] if case.op.is_reduction() => reduction(exec, case, a)?.to_string(),
        [a] => elementwise(exec, case, [&result, a])?.to_string(),
        [a, b] => elementwise(exec, case, [&result, a, b])?.to_string(),
        [a, b, c] => elementwise(exec, case, [&result, a, b, c])?.to_string(),
        _ => return Err(Failure::input("more than three operands")),
    };
    Ok(text.trim_end().to_owned())
}

/// The path that the explanation of a case names: that of its operation, where [`path`] is that of
/// any function of the same widths.
///
/// # Errors
/// Those of [`path`].
pub fn path_of_operation(exec: &Exec, case: &Case) -> Result<&'static str> {
    let layouts: DimVec<&Layout> = case.operands.iter().map(|operand| &operand.layout).collect();
    let result = || Layout::contiguous(case.shape());
    Ok(match layouts.as_slice() {
        [_] if case.op == Op::Copy || case.op.is_reduction() => path(exec, case)?,
        [a] => elementwise(exec, case, [&result()?, a])?.path(),
        [a, b] => elementwise(exec, case, [&result()?, a, b])?.path(),
        [a, b, c] => elementwise(exec, case, [&result()?, a, b, c])?.path(),
        _ => path(exec, case)?,
    })
}

fn reduction(exec: &Exec, case: &Case, input: &Layout) -> Result<ReductionExplanation> {
    let over: Vec<isize> = case.dims.iter().map(|&dim| dim as isize).collect();
    let (name, dtype) = (case.op.name(), case.operands[0].dtype);
    Ok(explain_reduction(exec, name, dtype, input, &over)?)
}

fn elementwise<const N: usize>(
    exec: &Exec,
    case: &Case,
    layouts: [&Layout; N],
) -> Result<ElementwiseExplanation<N>> {
    let (dtype, out) = (case.operands[0].dtype, case.out.size());
    if case.op == Op::Cast {
        let widths = std::array::from_fn(|k| if k == 0 { out } else { dtype.size() });
        return Ok(explain_elementwise(exec, layouts, widths)?);
    }
    Ok(explain_operation(exec, case.op.name(), dtype, layouts)?)
}
