//! The contiguity report: for each layout, what a pass over the view costs, what it costs over a contiguous copy, what the copy costs, and after
//! how many passes the copy has paid for itself.

mod advice;
mod conversion;
mod measure;
mod text;

use serde::Serialize;
use tensor_kernels::Layout;

use crate::env::Card;
pub use conversion::{BytesToFloats, Conversion, Same};
pub use measure::{Subject, measure};
pub use text::render;

/// The number that changes when a field of the JSON changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Everything a run has measured; `report --json` prints it as one document.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it was measured.
    pub machine: Card,
    /// The threads that were there to use.
    pub threads: usize,
    /// Small arrays and few samples.
    pub quick: bool,
    /// One entry a layout.
    pub layouts: Vec<Row>,
}

/// One layout.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// How the view was made.
    pub view: String,
    /// The element type of the array.
    pub dtype: &'static str,
    /// The element type of the copy.
    pub result_dtype: &'static str,
    /// The sizes of the view.
    pub shape: Vec<usize>,
    /// Its strides, in elements.
    pub strides: Vec<isize>,
    /// Its first element, in elements.
    pub offset: usize,
    /// Does memory order equal logical order?
    pub contiguous: bool,
    /// The dimension that breaks contiguity.
    pub breaks_at: Option<usize>,
    /// In words.
    pub why: String,
    /// The strategy of the copy.
    pub path: String,
    /// The bytes of the copy.
    pub bytes: u64,
    /// A copy into memory that is there already.
    pub copy_ns: f64,
    /// The fastest plain copy of as many bytes.
    pub roof_ns: f64,
    /// `contiguous()`: a copy into fresh memory, which is dropped. Of a contiguous view, which is returned as it is, the time to find that out.
    pub contiguous_ns: f64,
    /// An elementwise pass, `2x + 1` into memory that is there already, by the kernels.
    pub elementwise: Pass,
    /// A pass that reads: the sum in logical order, by plain loops.
    pub sum: Pass,
}

impl Row {
    /// The copy's share of the roof.
    pub fn share_of_roof(&self) -> f64 {
        self.roof_ns / self.copy_ns
    }
}

/// The same pass over the view and over its contiguous copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// Over the view.
    pub strided_ns: f64,
    /// Over the copy.
    pub contiguous_ns: f64,
    /// After this many passes the copy has paid for itself; `None`: never, or there is nothing to copy.
    pub pays_after: Option<u64>,
}

/// Two times closer than this are the same: no copy is advised on the strength of noise.
const NOISE: f64 = 0.03;

impl Pass {
    /// Weighs the times of a pass against the price of the copy.
    pub fn new(strided_ns: f64, contiguous_ns: f64, copy_ns: f64) -> Self {
        let saved = strided_ns - contiguous_ns;
        let pays = saved > NOISE * contiguous_ns;
        let pays_after = pays.then(|| (copy_ns / saved).ceil().max(1.0) as u64);
        Pass { strided_ns, contiguous_ns, pays_after }
    }
}

/// Why a layout is contiguous, or which dimension breaks it.
pub fn why(layout: &Layout) -> String {
    let Some(dim) = layout.contiguity_break() else {
        let odd = layout
            .shape()
            .iter()
            .zip(layout.strides())
            .any(|(&size, &stride)| size == 1 && stride != 1);
        return if odd { "size-1 dims do not count" } else { "in logical order" }.to_owned();
    };
    let stride = layout.strides()[dim];
    let behind: usize = layout.shape()[dim + 1..].iter().product();
    match stride {
        0 => format!("dim {dim} repeats, stride 0"),
        s if s < 0 => format!("dim {dim} runs backwards"),
        s => format!("dim {dim} stride {s}, not {behind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_pays_when_the_passes_saved_cover_it() {
        assert_eq!(Pass::new(10.0, 4.0, 12.0).pays_after, Some(2));
        assert_eq!(Pass::new(10.0, 4.0, 13.0).pays_after, Some(3));
        assert_eq!(Pass::new(100.0, 4.0, 13.0).pays_after, Some(1));
    }

    #[test]
    fn a_copy_that_saves_nothing_never_pays() {
        assert_eq!(Pass::new(4.0, 4.0, 1.0).pays_after, None);
        assert_eq!(Pass::new(4.1, 4.0, 1.0).pays_after, None);
        assert_eq!(Pass::new(3.0, 4.0, 1.0).pays_after, None);
    }

    #[test]
    fn the_reason_names_the_dimension() {
        let dense = Layout::contiguous(&[3, 4]).unwrap();
        let reasons = [
            (dense.clone(), "in logical order"),
            (dense.t().unwrap(), "dim 1 stride 4, not 1"),
            (dense.flip(&[1]).unwrap(), "dim 1 runs backwards"),
            (dense.narrow(1, 0, 2).unwrap(), "dim 0 stride 4, not 2"),
            (Layout::new(&[3, 4], &[1, 0], 0).unwrap(), "dim 1 repeats, stride 0"),
            (Layout::new(&[1, 4], &[99, 1], 0).unwrap(), "size-1 dims do not count"),
        ];
        for (layout, reason) in reasons {
            assert_eq!(why(&layout), reason, "{layout:?}");
        }
    }
}
