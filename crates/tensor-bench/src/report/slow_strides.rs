//! The slow strides of a layout in the report, with their measured cost.

use serde::Serialize;
use tensor_kernels::{Exec, Layout};

use crate::{Result, measure::lint_cost};

/// A lint of a layout, and what it costs on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct SlowStride {
    /// The name of the lint.
    pub lint: &'static str,
    /// The dimension that it is about.
    pub dim: usize,
    /// The stride that avoids it, in elements, if padding does.
    pub padded_stride: Option<usize>,
    /// All of it in words.
    pub text: String,
    /// What is timed, if it was.
    pub walk: Option<String>,
    /// The time with the layout as it is.
    pub ns: Option<f64>,
    /// The time without what the lint is about.
    pub avoided_ns: Option<f64>,
}

/// Finds and measures the slow strides of a layout.
///
/// # Errors
/// Too little memory.
pub(super) fn slow_strides(exec: Exec, layout: &Layout, width: usize) -> Result<Vec<SlowStride>> {
    let measured = |lint| {
        let cost = lint_cost::measure(exec, layout, width, &lint)?;
        Ok(SlowStride {
            lint: lint.kind().name(),
            dim: lint.dim(),
            padded_stride: lint.padded_stride(),
            text: lint.to_string(),
            ns: cost.as_ref().map(|cost| cost.ns),
            avoided_ns: cost.as_ref().map(|cost| cost.better_ns),
            walk: cost.map(|cost| cost.walk),
        })
    };
    layout.lints(width).into_iter().map(measured).collect()
}
