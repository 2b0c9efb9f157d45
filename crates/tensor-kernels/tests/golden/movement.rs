//! Operations that move elements, as recorded: `movement.jsonl`.

use std::fmt::Debug;

use serde::Deserialize;
use tensor_kernels::{Element, PadMode, Slice, Tensor, TensorExt};

use crate::record::{Failure, Tally};

/// A row-major base; then its dimensions are permuted, and one of them is taken in steps.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec<V> {
    base: Vec<usize>,
    values: Option<Vec<V>>,
    permute: Option<Vec<isize>>,
    step: Option<(isize, isize)>,
}

impl<V> Spec<V> {
    pub(crate) fn tensor<T: Element>(
        &self,
        element: impl Fn(&V) -> T,
        number: impl Fn(usize) -> T,
    ) -> tensor_kernels::Result<Tensor<T>> {
        let values = match &self.values {
            Some(values) => values.iter().map(element).collect(),
            None => (0..self.base.iter().product()).map(number).collect(),
        };
        let mut tensor = Tensor::from_vec(values, &self.base)?;
        if let Some(dims) = &self.permute {
            tensor = tensor.permute(dims)?;
        }
        match self.step {
            Some((dim, step)) => tensor.slice(dim, Slice::new(None, None, step)),
            None => Ok(tensor),
        }
    }
}

pub(crate) type Integers = Spec<i64>;

impl Spec<i64> {
    pub(crate) fn get(&self) -> tensor_kernels::Result<Tensor<i64>> {
        self.tensor(|&value| value, |number| number as i64)
    }

    fn mask(&self) -> tensor_kernels::Result<Tensor<bool>> {
        self.tensor(|&value| value != 0, |number| number != 0)
    }
}

#[derive(Deserialize, Debug)]
#[serde(tag = "op", content = "args", rename_all = "snake_case")]
enum Operation {
    Cat(Vec<Integers>, isize),
    Stack(Vec<Integers>, isize),
    Pad(Integers, Vec<isize>, Mode, i64),
    Roll(Integers, Vec<isize>, Vec<isize>),
    RepeatInterleave(Integers, usize, Option<isize>),
    RepeatInterleaveEach(Integers, Integers, Option<isize>),
    IndexSelect(Integers, isize, Integers),
    Take(Integers, Integers),
    Gather(Integers, isize, Integers),
    TakeAlongDim(Integers, Integers, isize),
    Scatter(Integers, isize, Integers, Integers),
    ScatterValue(Integers, isize, Integers, i64),
    MaskedFill(Integers, Integers, i64),
    MaskedSelect(Integers, Integers),
    Tril(Integers, isize),
    Triu(Integers, isize),
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Constant,
    Reflect,
    Replicate,
    Circular,
}

impl Operation {
    fn apply(&self) -> tensor_kernels::Result<Tensor<i64>> {
        match self {
            Self::Cat(parts, dim) => {
                let parts = parts.iter().map(Spec::get).collect::<Result<Vec<_>, _>>()?;
                Tensor::cat(&parts.iter().collect::<Vec<_>>(), *dim)
            }
            Self::Stack(parts, dim) => {
                let parts = parts.iter().map(Spec::get).collect::<Result<Vec<_>, _>>()?;
                Tensor::stack(&parts.iter().collect::<Vec<_>>(), *dim)
            }
            Self::Pad(x, padding, mode, value) => x.get()?.pad(
                padding,
                match mode {
                    Mode::Constant => PadMode::Constant(*value),
                    Mode::Reflect => PadMode::Reflect,
                    Mode::Replicate => PadMode::Replicate,
                    Mode::Circular => PadMode::Circular,
                },
            ),
            Self::Roll(x, shifts, dims) => x.get()?.roll(shifts, dims),
            Self::RepeatInterleave(x, times, dim) => x.get()?.repeat_interleave(*times, *dim),
            Self::RepeatInterleaveEach(x, repeats, dim) => {
                x.get()?.repeat_interleave_each(&repeats.get()?, *dim)
            }
            Self::IndexSelect(x, dim, index) => x.get()?.index_select(*dim, &index.get()?),
            Self::Take(x, index) => x.get()?.take(&index.get()?),
            Self::Gather(x, dim, index) => x.get()?.gather(*dim, &index.get()?),
            Self::TakeAlongDim(x, index, dim) => x.get()?.take_along_dim(&index.get()?, *dim),
            Self::Scatter(x, dim, index, src) => x.get()?.scatter(*dim, &index.get()?, &src.get()?),
            Self::ScatterValue(x, dim, index, value) => {
                x.get()?.scatter(*dim, &index.get()?, *value)
            }
            Self::MaskedFill(x, mask, value) => x.get()?.masked_fill(&mask.mask()?, *value),
            Self::MaskedSelect(x, mask) => x.get()?.masked_select(&mask.mask()?),
            Self::Tril(x, diagonal) => x.get()?.tril(*diagonal),
            Self::Triu(x, diagonal) => x.get()?.triu(*diagonal),
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Moved {
    #[serde(flatten)]
    operation: Operation,
    #[serde(flatten)]
    outcome: Outcome<i64>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome<V> {
    Ok(Recorded<V>),
    Error(String),
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded<V> {
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) values: Vec<V>,
}

impl<V: Debug> Outcome<V> {
    /// Holds a result, or a refusal, against what is recorded. `same` compares the elements, and
    /// what else is to agree; the shape is compared here.
    pub(crate) fn check<T: Element + Debug>(
        &self,
        operation: &impl Debug,
        ours: tensor_kernels::Result<Tensor<T>>,
        tally: &mut Tally,
        same: impl Fn(&Tensor<T>, &[T], &Recorded<V>) -> bool,
    ) -> Result<(), Failure> {
        tally.steps += 1;
        let at = |what: String| format!("{operation:?}: {what}");
        match (ours, self) {
            (Ok(ours), Outcome::Ok(theirs)) => {
                let values = ours.to_vec().map_err(|refused| at(refused.to_string()))?;
                if ours.shape() == theirs.shape && same(&ours, &values, theirs) {
                    return Ok(());
                }
                let (shape, strides) = (ours.shape(), ours.strides());
                Err(at(format!("{shape:?} {strides:?} {values:?}, not {theirs:?}")))
            }
            (Err(ours), Outcome::Error(theirs)) => {
                tally.refused(&ours.to_string(), theirs);
                Ok(())
            }
            (Err(ours), Outcome::Ok(_)) => Err(at(format!("refused: {ours}"))),
            (Ok(ours), Outcome::Error(theirs)) => {
                Err(at(format!("gave {ours:?}, but PyTorch refused: {theirs}")))
            }
        }
    }
}

/// Strides have no meaning where there are no elements.
pub(crate) fn same_strides<T: Element, V>(ours: &Tensor<T>, theirs: &Recorded<V>) -> bool {
    ours.strides() == theirs.strides || ours.numel() == 0
}

pub(crate) fn check(record: &Moved, tally: &mut Tally) -> Result<(), Failure> {
    let Moved { operation, outcome } = record;
    outcome.check(operation, operation.apply(), tally, |ours, values, theirs| {
        values == theirs.values && same_strides(ours, theirs)
    })
}
