//! Overlap of two layouts, broadcasting of several shapes, and the layout of newly allocated
//! results.

use serde::Deserialize;
use tensor_kernels::{Layout, Overlap, Tensor, TensorExt, broadcast_shapes};

use crate::record::{Failure, Tally};

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct RecordedLayout {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
}

impl RecordedLayout {
    fn layout(&self) -> Result<Layout, Failure> {
        Layout::new(&self.shape, &self.strides, self.offset).map_err(|e| format!("{self:?}: {e}"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overlapping {
    a: RecordedLayout,
    b: RecordedLayout,
    shares: bool,
    a_self_overlaps: bool,
}

pub(crate) fn check_overlap(record: &Overlapping, tally: &mut Tally) -> Result<(), Failure> {
    let (a, b) = (record.a.layout()?, record.b.layout()?);
    let checks = [
        ("the two", overlaps(&a.overlap(&b), &a, &b)?, record.shares),
        ("the two in reverse", overlaps(&b.overlap(&a), &b, &a)?, record.shares),
        ("a with itself", collide(&a.self_overlap(), &a)?, record.a_self_overlaps),
    ];
    for (what, ours, theirs) in checks {
        tally.steps += 1;
        if ours != theirs {
            return Err(format!("{what}: {ours}, but the addresses say {theirs}"));
        }
    }
    Ok(())
}

/// As [`overlaps`], for one layout: the two indices of the witness must differ.
fn collide(answer: &Overlap, a: &Layout) -> Result<bool, Failure> {
    match answer {
        Overlap::Yes { first, second } if first == second => Err(format!("one index: {first:?}")),
        answer => overlaps(answer, a, a),
    }
}

/// Whether the answer is an overlap, after checking its witness.
fn overlaps(answer: &Overlap, a: &Layout, b: &Layout) -> Result<bool, Failure> {
    match answer {
        Overlap::No => Ok(false),
        Overlap::TooHard => Err("too hard for layouts of this size".to_owned()),
        Overlap::Yes { first, second } => match (a.offset_of(first), b.offset_of(second)) {
            (Ok(x), Ok(y)) if x == y => Ok(true),
            found => Err(format!("{first:?} and {second:?} do not overlap: {found:?}")),
        },
    }
}

#[derive(Deserialize)]
pub(crate) struct Broadcast {
    shapes: Vec<Vec<usize>>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Ok(Vec<usize>),
    Error(String),
}

pub(crate) fn check_broadcast(record: &Broadcast, tally: &mut Tally) -> Result<(), Failure> {
    let shapes: Vec<&[usize]> = record.shapes.iter().map(Vec::as_slice).collect();
    tally.steps += 1;
    match (broadcast_shapes(&shapes), &record.outcome) {
        (Ok(ours), Outcome::Ok(theirs)) if ours.as_slice() == theirs => Ok(()),
        (Err(ours), Outcome::Error(theirs)) => {
            tally.refused(&ours.to_string(), theirs);
            Ok(())
        }
        (ours, theirs) => Err(format!("{shapes:?}: {ours:?}, but PyTorch has {theirs:?}")),
    }
}

/// A row-major base, permuted, then perhaps expanded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Operand {
    base: Vec<usize>,
    permute: Vec<isize>,
    expand: Option<Vec<isize>>,
}

impl Operand {
    fn tensor(&self) -> tensor_kernels::Result<Tensor<i64>> {
        let numel: usize = self.base.iter().product();
        let base = Tensor::from_vec((0..numel as i64).collect(), &self.base)?;
        let permuted = base.permute(&self.permute)?;
        self.expand.as_ref().map_or(Ok(permuted.clone()), |sizes| permuted.expand(sizes))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Binary {
    a: Operand,
    b: Operand,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

pub(crate) fn check_binary(record: &Binary, tally: &mut Tally) -> Result<(), Failure> {
    let refused = |e: tensor_kernels::Error| format!("refused: {e}");
    let (a, b) = (record.a.tensor().map_err(refused)?, record.b.tensor().map_err(refused)?);
    let planned = Layout::elementwise(&[a.layout(), b.layout()]).map_err(refused)?;
    let sum = a.add(&b).map_err(refused)?;
    for (what, layout) in [("planned", &planned), ("computed", sum.layout())] {
        tally.steps += 1;
        if (layout.shape(), layout.strides()) != (&record.shape, &record.strides) {
            let theirs = (&record.shape, &record.strides);
            return Err(format!("{what} {layout:?}, but PyTorch has {theirs:?}"));
        }
    }
    check_sum(&a, &b, &sum).map_err(refused)?
}

fn check_sum(
    a: &Tensor<i64>,
    b: &Tensor<i64>,
    sum: &Tensor<i64>,
) -> tensor_kernels::Result<Result<(), Failure>> {
    let operand = |t: &Tensor<i64>| t.broadcast_to(sum.shape())?.to_vec();
    let (a, b, sum) = (operand(a)?, operand(b)?, sum.to_vec()?);
    let expected: Vec<i64> = a.iter().zip(&b).map(|(x, y)| x + y).collect();
    Ok(if sum == expected { Ok(()) } else { Err(format!("elements {sum:?}, not {expected:?}")) })
}
