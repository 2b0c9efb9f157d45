//! How a measurement runs: instruction set, machine parameters, threads, time budget.

use tensor_kernels::{CopyPlan, Exec, Layout};

use crate::{Failure, Result, measure::engine::Budget};

/// How a measurement runs.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The instruction set and machine parameters of the kernels.
    pub exec: Exec,
    /// The time each race may take.
    pub budget: Budget,
    /// The threads of the pool it runs in.
    pub threads: usize,
}

/// The best instruction set of this machine, or the one that `TENSOR_SIMD` names.
///
/// # Errors
/// [`Failure::Input`] for a level that does not exist or that this CPU lacks.
pub fn exec() -> Result<Exec> {
    Exec::current().copied().map_err(Failure::input)
}

/// The path that a copy of a layout to row-major order takes.
///
/// # Errors
/// A layout too large to plan for.
pub fn copy_path(exec: &Exec, layout: &Layout, width: usize) -> Result<&'static str> {
    let dense = Layout::contiguous(layout.shape())?;
    Ok(CopyPlan::new(layout, &dense, width, &exec.machine)?.path())
}
