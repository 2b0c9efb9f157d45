//! Reductions of rows, running sums and comparisons, as recorded: `reductions.jsonl`.

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::{ReduceDims, Tensor, TensorExt, Tolerance};

use crate::{
    movement::{Integers, Outcome, Spec, same_strides},
    record::{Failure, Tally},
};

type Floats = Spec<Value>;

/// Results of both libraries are rounded, each in its own order.
const RELATIVE_DISTANCE: f64 = 1e-13;

/// The value of a recorded number; numbers that are not finite are recorded as text.
fn number(value: &Value) -> f64 {
    let text = || value.as_str()?.parse().ok();
    value.as_f64().or_else(text).unwrap_or_else(|| panic!("no number: {value}"))
}

impl Floats {
    fn get(&self) -> tensor_kernels::Result<Tensor<f64>> {
        self.tensor(number, |at| at as f64)
    }
}

#[derive(Deserialize, Debug)]
#[serde(tag = "op", content = "args", rename_all = "snake_case")]
enum Operation {
    Softmax(Floats, isize),
    LogSoftmax(Floats, isize),
    Logsumexp(Floats, Vec<isize>, bool),
    Var(Floats, Vec<isize>, bool, f64),
    Std(Floats, Vec<isize>, bool, f64),
    Norm(Floats, Vec<isize>, bool, Value),
    Any(Integers, Vec<isize>, bool),
    All(Integers, Vec<isize>, bool),
    Cumsum(Floats, isize),
    CumsumInt(Integers, isize),
    Isclose(Floats, Floats, f64, f64, bool),
}

fn over(dims: &[isize], keepdim: bool) -> ReduceDims {
    let over = ReduceDims::from(dims);
    if keepdim { over.keepdim() } else { over }
}

impl Operation {
    fn apply(&self) -> tensor_kernels::Result<Tensor<f64>> {
        match self {
            Self::Softmax(x, dim) => x.get()?.softmax(*dim),
            Self::LogSoftmax(x, dim) => x.get()?.log_softmax(*dim),
            Self::Logsumexp(x, dims, keep) => x.get()?.logsumexp(over(dims, *keep)),
            Self::Var(x, dims, keep, correction) => x.get()?.var(over(dims, *keep), *correction),
            Self::Std(x, dims, keep, correction) => x.get()?.std(over(dims, *keep), *correction),
            Self::Norm(x, dims, keep, p) => x.get()?.norm(over(dims, *keep), number(p)),
            Self::Any(x, dims, keep) => x.get()?.any(over(dims, *keep))?.cast(),
            Self::All(x, dims, keep) => x.get()?.all(over(dims, *keep))?.cast(),
            Self::Cumsum(x, dim) => x.get()?.cumsum(*dim),
            Self::CumsumInt(x, dim) => x.get()?.cumsum(*dim)?.cast(),
            Self::Isclose(a, b, rtol, atol, equal_nan) => {
                let tolerance = Tolerance { rtol: *rtol, atol: *atol, equal_nan: *equal_nan };
                a.get()?.isclose(&b.get()?, tolerance)?.cast()
            }
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Reduced {
    #[serde(flatten)]
    operation: Operation,
    #[serde(flatten)]
    outcome: Outcome<Value>,
}

fn agree(ours: f64, theirs: f64) -> bool {
    ours == theirs
        || (ours.is_nan() && theirs.is_nan())
        || (ours - theirs).abs() <= RELATIVE_DISTANCE * theirs.abs().max(1e-3)
}

/// `isclose` is a chain of operations in PyTorch: the order of its result in memory is not
/// compared.
pub(crate) fn check(record: &Reduced, tally: &mut Tally) -> Result<(), Failure> {
    let Reduced { operation, outcome } = record;
    outcome.check(operation, operation.apply(), tally, |ours, values, theirs| {
        let expected: Vec<f64> = theirs.values.iter().map(number).collect();
        let same = values.len() == expected.len()
            && values.iter().zip(&expected).all(|(&ours, &theirs)| agree(ours, theirs));
        same && (same_strides(ours, theirs) || matches!(operation, Operation::Isclose(..)))
    })
}
