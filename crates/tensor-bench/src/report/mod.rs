//! The report: for each layout the times of a pass over the view, by the naive loop and by this
//! library, of a pass over a contiguous copy, and of the copy; and the break-even in passes.
//!
//! [`measure()`] gives a [`Row`] for a layout; `passes` has what is timed. [`measure_curve`] gives
//! [`Point`]s for one layout in many sizes. A [`Report`] has both and is printed as [text](render),
//! as JSON, or as an [HTML page](html).

mod advice;
mod conversion;
mod curve;
pub mod html;
mod measure;
mod passes;
mod slow_strides;
mod text;

use serde::Serialize;
use tensor_kernels::Layout;

use crate::{advise::Costs, system::machine::MachineInfo, track::build::Build};
pub use conversion::{BytesToFloats, Conversion, Same, Summed};
pub use curve::{Point, measure_curve};
pub use measure::{Subject, measure};
pub use slow_strides::SlowStride;
pub use text::render;

/// Changes when a field is removed or changes its meaning.
pub const SCHEMA: u32 = 2;

/// All figures of a run; `report --json` prints them as one document.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The arguments that the figures depend on.
    pub command: String,
    /// Commit and compiler.
    pub build: Build,
    /// The machine.
    pub machine: MachineInfo,
    /// The number of threads.
    pub threads: usize,
    /// Whether arrays are small and samples few.
    pub quick: bool,
    /// One row per layout.
    pub layouts: Vec<Row>,
    /// One layout in many sizes, the smallest first. Empty for an array of the user.
    pub curve: Vec<Point>,
}

/// One layout.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name.
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
    /// Its offset, in elements.
    pub offset: usize,
    /// Whether memory order equals logical order.
    pub contiguous: bool,
    /// The dimension that breaks contiguity.
    pub breaks_at: Option<usize>,
    /// Why it is contiguous or not, in words.
    pub why: String,
    /// The path of the copy.
    pub path: String,
    /// The bytes of the copy.
    pub bytes: u64,
    /// The same copy by the naive loop, on one thread.
    pub naive_copy_ns: f64,
    /// A copy with a preallocated result.
    pub copy_ns: f64,
    /// The fastest plain copy of the same bytes.
    #[serde(rename = "roof_ns")]
    pub plain_copy_ns: f64,
    /// `contiguous()`, which allocates its result; the result is dropped. A contiguous view is
    /// returned as it is, without a copy.
    #[serde(rename = "contiguous_ns")]
    pub allocating_copy_ns: f64,
    /// An elementwise pass, `2x + 1` with a preallocated result.
    pub elementwise: Pass,
    /// A pass that only reads: the sum of all elements. The naive loop runs on all threads, each
    /// with its part of the view.
    pub sum: Pass,
    /// What is slow about the strides.
    pub slow_strides: Vec<SlowStride>,
}

impl Row {
    /// The fraction of copy bandwidth that the copy reaches.
    pub fn bandwidth_share(&self) -> f64 {
        self.plain_copy_ns / self.copy_ns
    }
}

/// The same pass over the view and over its contiguous copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// Over the view, by the naive loop.
    pub naive_ns: f64,
    /// Over the view, by this library.
    pub strided_ns: f64,
    /// Over the copy, by this library.
    pub contiguous_ns: f64,
    /// `contiguous()`, then the pass over the copy.
    #[serde(rename = "copied_first_ns")]
    pub copy_then_compute_ns: f64,
    /// The number of passes from which copying takes no longer; `None`: never, or there is nothing
    /// to copy.
    #[serde(rename = "pays_after")]
    pub break_even: Option<u64>,
}

impl Pass {
    /// Computes the break-even of a pass.
    pub fn new(naive_ns: f64, strided_ns: f64, contiguous_ns: f64, copy_ns: f64) -> Self {
        let costs = Costs { strided_ns, contiguous_ns, copy_ns };
        let (copy_then_compute_ns, break_even) = (costs.copied_ns(1), costs.break_even());
        Pass { naive_ns, strided_ns, contiguous_ns, copy_then_compute_ns, break_even }
    }

    /// The same for a contiguous view: there is nothing to copy.
    #[must_use]
    pub fn of_contiguous(self) -> Self {
        Pass { break_even: None, ..self }
    }

    /// The efficiency of this library: the fraction of the contiguous speed that it reaches over
    /// the view.
    pub fn efficiency(&self) -> f64 {
        self.contiguous_ns / self.strided_ns
    }

    /// The efficiency of the naive loop.
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
        let dense = Layout::contiguous([3, 4]).unwrap();
        let reasons = [
            (dense.clone(), "in logical order"),
            (dense.t().unwrap(), "dim 1 stride 4, not 1"),
            (dense.flip([1]).unwrap(), "dim 1 is reversed"),
            (dense.narrow(1, 0, 2).unwrap(), "dim 0 stride 4, not 2"),
            (Layout::new([3, 4], [1, 0], 0).unwrap(), "dim 1 is broadcast, stride 0"),
            (Layout::new([1, 4], [99, 1], 0).unwrap(), "size-1 strides are ignored"),
        ];
        for (layout, reason) in reasons {
            assert_eq!(why(&layout), reason, "{layout:?}");
        }
    }
}
