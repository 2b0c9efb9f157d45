//! The slow strides of a layout in the report, with their measured cost.

use serde::Serialize;
use tensor_kernels::{Exec, Layout, Lint};

use crate::{Result, measure::lint_cost};

/// Lints of a layout that one walk measures, and what they cost on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct SlowStride {
    /// The names of the lints.
    pub lints: Vec<&'static str>,
    /// The dimension that they are about.
    pub dim: usize,
    /// The stride that avoids them, in elements, if padding does.
    pub padded_stride: Option<usize>,
    /// Each lint in words.
    pub texts: Vec<String>,
    /// What is timed, if it was.
    pub walk: Option<String>,
    /// The time with the layout as it is.
    pub ns: Option<f64>,
    /// The time without what the lints are about.
    pub avoided_ns: Option<f64>,
}

/// Finds and measures the slow strides of a layout.
///
/// # Errors
/// Too little memory.
pub(super) fn slow_strides(exec: Exec, layout: &Layout, width: usize) -> Result<Vec<SlowStride>> {
    let measured = |lints: Vec<Lint>| {
        let cost = lint_cost::measure(exec, layout, width, &lints[0])?;
        Ok(SlowStride {
            lints: lints.iter().map(|lint| lint.kind().name()).collect(),
            dim: lints[0].dim(),
            padded_stride: lints[0].padded_stride(),
            texts: lints.iter().map(Lint::to_string).collect(),
            ns: cost.as_ref().map(|cost| cost.ns),
            avoided_ns: cost.as_ref().map(|cost| cost.better_ns),
            walk: cost.map(|cost| cost.walk),
        })
    };
    lint_cost::walks(layout.lints(width)).into_iter().map(measured).collect()
}
