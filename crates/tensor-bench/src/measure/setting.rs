//! How a measurement runs: instruction set, machine, threads, time.

use tensor_kernels::{CopyPlan, Exec, Layout};

use crate::{Failure, Result, measure::engine::Budget};

/// How a measurement runs.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The instruction set and machine that kernels are given.
    pub exec: Exec,
    /// The time each race may take.
    pub budget: Budget,
    /// The threads of the pool it runs in.
    pub threads: usize,
}

/// The way this machine runs kernels, or the one that `TENSOR_SIMD` asks for.
///
/// # Errors
/// A level that does not exist or that this CPU lacks: it was asked for, so it is the input that is wrong.
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
