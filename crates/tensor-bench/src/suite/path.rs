//! The plan of a case, by name and in words.

use tensor_kernels::{
    CopyPlan, DimVec, Exec, Layout, elementwise_path, explain_elementwise, explain_reduction,
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
        [_] if case.op.is_reduction() => "reduction",
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
    let width = case.operands.first().map_or(out, |operand| operand.dtype.size());
    let text = match layouts.as_slice() {
        [a] if case.op == Op::Copy => {
            CopyPlan::new(a, &result, out, &exec.machine)?.explain(exec).to_string()
        }
        [a] if case.op.is_reduction() => {
            let over: Vec<isize> = case.dims.iter().map(|&dim| dim as isize).collect();
            let (name, dtype) = (case.op.name(), case.operands[0].dtype);
            explain_reduction(exec, name, dtype, a, &over)?.to_string()
        }
        [a] => explain_elementwise(exec, [&result, a], [out, width])?.to_string(),
        [a, b] => explain_elementwise(exec, [&result, a, b], [out, width, width])?.to_string(),
        [a, b, c] => {
            explain_elementwise(exec, [&result, a, b, c], [out, width, width, width])?.to_string()
        }
        _ => return Err(Failure::input("more than three operands")),
    };
    Ok(text.trim_end().to_owned())
}
