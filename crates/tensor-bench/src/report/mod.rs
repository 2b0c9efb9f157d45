//! The contiguity report: for each layout, what a pass over the view costs, by a loop written by hand and by this library; what it costs over a
//! contiguous copy, what the copy costs, and after how many passes the copy has paid for itself.
//!
//! [`measure()`] makes a [`Row`] of a layout, `passes` being what is timed in it; [`measure_curve`] makes [`Point`]s of one layout in many sizes. A
//! [`Report`] has both, and is shown as [`text`](render), as JSON, or as a page of pictures ([`html`]).

mod advice;
mod conversion;
mod curve;
pub mod html;
mod measure;
mod passes;
mod text;

use serde::Serialize;
use tensor_kernels::Layout;

use crate::{advise::Costs, system::machine::MachineInfo, track::build::Build};
pub use conversion::{BytesToFloats, Conversion, Same, Summed};
pub use curve::{Point, measure_curve};
pub use measure::{Subject, measure};
pub use text::render;

/// The number that changes when a field of the JSON changes its meaning or goes away.
pub const SCHEMA: u32 = 2;

/// Everything a run has measured; `report --json` prints it as one document.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The arguments that made the figures what they are.
    pub command: String,
    /// What was built.
    pub build: Build,
    /// Where it was measured.
    pub machine: MachineInfo,
    /// The threads that were there to use.
    pub threads: usize,
    /// Small arrays and few samples.
    pub quick: bool,
    /// One entry a layout.
    pub layouts: Vec<Row>,
    /// One layout in many sizes, the smallest first. Empty if an array of the user's was measured.
    pub curve: Vec<Point>,
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
    /// The same copy by a loop written by hand, on one thread.
    pub naive_copy_ns: f64,
    /// A copy into memory that is there already.
    pub copy_ns: f64,
    /// The fastest plain copy of as many bytes.
    #[serde(rename = "roof_ns")]
    pub plain_copy_ns: f64,
    /// `contiguous()`: a copy into fresh memory, which is dropped. Of a contiguous view, which is returned as it is, the time to find that out.
    pub contiguous_ns: f64,
    /// An elementwise pass, `2x + 1` into memory that is there already, by the kernels.
    pub elementwise: Pass,
    /// A pass that only reads: the sum of all elements. The loops by hand are those of the threads, each over its part of the view.
    pub sum: Pass,
}

impl Row {
    /// The copy's share of the roof.
    pub fn bandwidth_share(&self) -> f64 {
        self.plain_copy_ns / self.copy_ns
    }
}

/// The same pass over the view and over its contiguous copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// Over the view, by a loop written by hand.
    pub naive_ns: f64,
    /// Over the view, by this library.
    pub strided_ns: f64,
    /// Over the copy, by this library.
    pub contiguous_ns: f64,
    /// `contiguous()`, then the pass over the copy.
    #[serde(rename = "copied_first_ns")]
    pub copy_then_compute_ns: f64,
    /// After this many passes the copy has paid for itself; `None`: never, or there is nothing to copy.
    #[serde(rename = "pays_after")]
    pub break_even: Option<u64>,
}

impl Pass {
    /// Weighs the times of a pass against those of the copy.
    pub fn new(naive_ns: f64, strided_ns: f64, contiguous_ns: f64, copy_ns: f64) -> Self {
        let costs = Costs { strided_ns, contiguous_ns, copy_ns };
        let (copy_then_compute_ns, break_even) = (costs.copied_ns(1), costs.break_even());
        Pass { naive_ns, strided_ns, contiguous_ns, copy_then_compute_ns, break_even }
    }

    /// The same of a view that is contiguous: there is nothing to copy.
    #[must_use]
    pub fn of_contiguous(self) -> Self {
        Pass { break_even: None, ..self }
    }

    /// The price of the view for this library: the speed that is left of that over contiguous memory. 1 means no price.
    pub fn efficiency(&self) -> f64 {
        self.contiguous_ns / self.strided_ns
    }

    /// The price of the view for a loop written by hand.
    pub fn naive_efficiency(&self) -> f64 {
        self.contiguous_ns / self.naive_ns
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
        return if odd { "size-1 strides are ignored" } else { "in logical order" }.to_owned();
    };
    let stride = layout.strides()[dim];
    let behind: usize = layout.shape()[dim + 1..].iter().product();
    match stride {
        0 => format!("dim {dim} is broadcast, stride 0"),
        s if s < 0 => format!("dim {dim} is reversed"),
        s => format!("dim {dim} stride {s}, not {behind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(strided_ns: f64, contiguous_ns: f64, copy_ns: f64) -> Pass {
        Pass::new(50.0, strided_ns, contiguous_ns, copy_ns)
    }

    #[test]
    fn a_copy_breaks_even_when_the_time_saved_covers_it() {
        assert_eq!(pass(10.0, 4.0, 12.0).break_even, Some(2));
        assert_eq!(pass(10.0, 4.0, 13.0).break_even, Some(3));
        assert_eq!(pass(100.0, 4.0, 13.0).break_even, Some(1));
        assert_eq!(pass(10.0, 4.0, 12.0).of_contiguous().break_even, None);
    }

    #[test]
    fn a_copy_that_saves_nothing_never_breaks_even() {
        assert_eq!(pass(4.0, 4.0, 1.0).break_even, None);
        assert_eq!(pass(4.1, 4.0, 1.0).break_even, None);
        assert_eq!(pass(3.0, 4.0, 1.0).break_even, None);
    }

    #[test]
    fn efficiency_is_the_fraction_of_the_contiguous_speed() {
        let pass = Pass::new(40.0, 8.0, 4.0, 12.0);
        assert_eq!(
            (pass.naive_efficiency(), pass.efficiency(), pass.copy_then_compute_ns),
            (0.1, 0.5, 16.0)
        );
    }

    #[test]
    fn the_reason_names_the_dimension() {
        let dense = Layout::contiguous(&[3, 4]).unwrap();
        let reasons = [
            (dense.clone(), "in logical order"),
            (dense.t().unwrap(), "dim 1 stride 4, not 1"),
            (dense.flip(&[1]).unwrap(), "dim 1 is reversed"),
            (dense.narrow(1, 0, 2).unwrap(), "dim 0 stride 4, not 2"),
            (Layout::new(&[3, 4], &[1, 0], 0).unwrap(), "dim 1 is broadcast, stride 0"),
            (Layout::new(&[1, 4], &[99, 1], 0).unwrap(), "size-1 strides are ignored"),
        ];
        for (layout, reason) in reasons {
            assert_eq!(why(&layout), reason, "{layout:?}");
        }
    }
}
