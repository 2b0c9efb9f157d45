//! Chains of view operations on a row-major `arange`.

use std::fmt::Debug;

use serde::Deserialize;
use tensor_kernels::Tensor;

use crate::{
    operation::Operation,
    record::{Failure, Tally},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chain {
    base: Vec<usize>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    #[serde(flatten)]
    operation: Operation,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Ok(Recorded),
    Error(String),
}

/// PyTorch's result. If PyTorch copies and this library does not, as in `flip`, only the elements
/// are recorded.
#[derive(Deserialize)]
#[serde(untagged)]
enum Recorded {
    RecordedView(RecordedView),
    RecordedCopy(RecordedCopy),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedView {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    contiguous: bool,
    channels_last: bool,
    channels_last_3d: bool,
    dense: bool,
    shares_base: bool,
    values: Vec<i64>,
    checksum: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCopy {
    shape: Vec<usize>,
    values: Vec<i64>,
    checksum: u64,
}

/// One text for each difference.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + Debug + ?Sized>(&mut self, what: &str, ours: &T, theirs: &T) {
        if ours != theirs {
            self.0.push(format!("{what} {ours:?}, but PyTorch has {theirs:?}"));
        }
    }
}

pub(crate) fn check(chain: &Chain, tally: &mut Tally) -> Result<(), Failure> {
    let base = base(&chain.base).map_err(|e| format!("base {:?}: {e}", chain.base))?;
    let mut tensor = base.clone();
    for (number, step) in (1..).zip(&chain.steps) {
        let at = |what: String| format!("step {number}, {:?}: {what}", step.operation);
        tally.steps += 1;
        match (step.operation.apply(&tensor), &step.outcome) {
            (Ok(next), Outcome::Ok(expected)) => {
                expected.check(&next, &base).map_err(at)?;
                tensor = next;
            }
            (Err(ours), Outcome::Error(theirs)) => tally.refused(&ours.to_string(), theirs),
            (Err(refusal), Outcome::Ok(_)) => return Err(at(format!("refused: {refusal}"))),
            // The one case that only PyTorch refuses: strides are signed here.
            (Ok(_), Outcome::Error(theirs)) if theirs == "step must be greater than zero" => {}
            (Ok(next), Outcome::Error(refusal)) => {
                return Err(at(format!("gave {next:?}, but PyTorch refused: {refusal}")));
            }
        }
    }
    Ok(())
}

fn base(shape: &[usize]) -> tensor_kernels::Result<Tensor<i64>> {
    let numel: usize = shape.iter().product();
    Tensor::from_vec((0..numel as i64).collect(), shape)
}

impl Recorded {
    fn check(&self, ours: &Tensor<i64>, base: &Tensor<i64>) -> Result<(), Failure> {
        let mut differences = Differences::default();
        match self {
            Self::RecordedView(theirs) => {
                theirs.compare(ours, base, &mut differences);
                compare_elements(ours, &theirs.values, theirs.checksum, &mut differences);
            }
            Self::RecordedCopy(theirs) => {
                differences.compare("shape", ours.shape(), &theirs.shape);
                compare_elements(ours, &theirs.values, theirs.checksum, &mut differences);
            }
        }
        let Differences(texts) = differences;
        if texts.is_empty() { Ok(()) } else { Err(texts.join("; ")) }
    }
}

impl RecordedView {
    fn compare(&self, ours: &Tensor<i64>, base: &Tensor<i64>, differences: &mut Differences) {
        let layout = ours.layout();
        differences.compare("shape", layout.shape(), &self.shape);
        differences.compare("strides", layout.strides(), &self.strides);
        differences.compare("offset", &layout.offset(), &self.offset);
        let flags = [
            ("contiguous", layout.is_contiguous(), self.contiguous),
            ("channels_last", layout.is_channels_last(), self.channels_last),
            ("channels_last_3d", layout.is_channels_last_3d(), self.channels_last_3d),
            ("dense", layout.is_dense(), self.dense),
            ("shares_base", seems_shared(ours, base), self.shares_base),
        ];
        for (name, ours, theirs) in flags {
            differences.compare(name, &ours, &theirs);
        }
    }
}

/// Sharing as recorded: by address, which is null for every storage without bytes.
fn seems_shared(ours: &Tensor<i64>, base: &Tensor<i64>) -> bool {
    let is_empty = |tensor: &Tensor<i64>| tensor.storage().bytes() == 0;
    ours.same_storage(base) || (is_empty(ours) && is_empty(base))
}

/// Compares the first elements one by one, and all of them by their checksum.
fn compare_elements(
    ours: &Tensor<i64>,
    values: &[i64],
    checksum: u64,
    differences: &mut Differences,
) {
    match ours.to_vec() {
        Ok(all) => {
            differences.compare("values", &all[..values.len().min(all.len())], values);
            differences.compare("checksum", &checksum_of(&all), &checksum);
        }
        Err(refused) => differences.0.push(refused.to_string()),
    }
}

fn checksum_of(values: &[i64]) -> u64 {
    const MODULUS: u64 = (1 << 31) - 1;
    let weighted = (1u64..).zip(values).map(|(number, &v)| number % MODULUS * v.unsigned_abs());
    weighted.fold(0, |sum, term| (sum + term % MODULUS) % MODULUS)
}
