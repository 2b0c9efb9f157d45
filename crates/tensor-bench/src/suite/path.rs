//! The plan of a case, by name and in words.

use tensor_kernels::{CopyPlan, DimVec, Exec, Layout, elementwise_path};

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
