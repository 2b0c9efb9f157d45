//! The table of common layouts that the report measures.

use tensor_kernels::DType;

use crate::{Failure, Result, cases::operand::Operand, input::chain::Chain};

/// The photograph of the first row: 512 × 512 pixels of RGB bytes, as image decoders return them.
pub const PHOTOGRAPH: &[u8] = include_bytes!("../../data/astronaut_hwc_u8.npy");

/// One row of the table: a layout as a chain of view operations, under its common name.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name.
    pub name: &'static str,
    /// The element type.
    pub dtype: DType,
    /// The element type of the result. If it is another one, the copy converts.
    pub out: DType,
    /// The array and its view, as a chain of calls.
    pub chain: &'static str,
    /// The same in a smaller size, for `--quick`.
    pub quick: &'static str,
    /// Whether the values come from the photograph.
    pub photograph: bool,
}

const fn floats(name: &'static str, chain: &'static str, quick: &'static str) -> Case {
    Case { name, dtype: DType::F32, out: DType::F32, chain, quick, photograph: false }
}

/// Every layout, in the order of the report.
pub const LAYOUTS: &[Case] = &[
    Case {
        name: "photo, HWC u8 to CHW f32",
        dtype: DType::U8,
        out: DType::F32,
        chain: "zeros(512, 512, 3).permute(2, 0, 1)",
        quick: "zeros(512, 512, 3).permute(2, 0, 1)",
        photograph: true,
    },
    floats(
        "image batch, NCHW to NHWC",
        "zeros(32, 3, 224, 224).permute(0, 2, 3, 1)",
        "zeros(8, 3, 224, 224).permute(0, 2, 3, 1)",
    ),
    floats(
        "feature maps, NHWC to NCHW",
        "zeros(32, 56, 56, 64).permute(0, 3, 1, 2)",
        "zeros(4, 56, 56, 64).permute(0, 3, 1, 2)",
    ),
    floats(
        "attention, bshd to bhsd",
        "zeros(8, 512, 16, 64).transpose(1, 2)",
        "zeros(2, 512, 16, 64).transpose(1, 2)",
    ),
    floats("weight matrix, transposed", "zeros(4096, 4096).t()", "zeros(1024, 1024).t()"),
    floats("block of columns", "zeros(4096, 8192)[:, 1024:5120]", "zeros(1024, 2048)[:, 256:1280]"),
    floats("every second column", "zeros(4096, 8192)[:, ::2]", "zeros(1024, 2048)[:, ::2]"),
    floats(
        "image batch, mirrored",
        "zeros(32, 3, 224, 224).flip(3)",
        "zeros(8, 3, 224, 224).flip(3)",
    ),
    floats(
        "bias, broadcast",
        "zeros(64, 1, 1).expand(32, 64, 56, 56)",
        "zeros(64, 1, 1).expand(4, 64, 56, 56)",
    ),
    floats(
        "4-D array, reversed",
        "zeros(64, 64, 64, 64).permute(3, 2, 1, 0)",
        "zeros(32, 32, 32, 32).permute(3, 2, 1, 0)",
    ),
    floats(
        "slice of a batch of one",
        "zeros(1, 16777216)[:, 4096:8392704]",
        "zeros(1, 1048576)[:, 4096:528384]",
    ),
];

impl Case {
    /// The view that is measured.
    ///
    /// # Errors
    /// A chain that cannot be parsed or that copies: a mistake in the table.
    pub fn operand(&self, quick: bool) -> Result<Operand> {
        let chain =
            Chain::parse(if quick { self.quick } else { self.chain }).map_err(Failure::work)?;
        let ops = chain
            .view_ops()
            .ok_or_else(|| Failure::work(format!("{}: a view is expected", self.name)))?;
        Ok(Operand::new(self.dtype, chain.shape, ops)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_describes_a_view() {
        for case in LAYOUTS {
            let (full, quick) = (case.operand(false).unwrap(), case.operand(true).unwrap());
            assert_eq!(full.ops.len(), quick.ops.len(), "{}", case.name);
            assert!(full.result_bytes() >= quick.result_bytes(), "{}", case.name);
        }
    }

    #[test]
    fn only_the_batch_of_one_is_contiguous() {
        let contiguous = |case: &&Case| case.operand(false).unwrap().layout.is_contiguous();
        let names: Vec<_> = LAYOUTS.iter().filter(contiguous).map(|case| case.name).collect();
        assert_eq!(names, ["slice of a batch of one"]);
    }
}
