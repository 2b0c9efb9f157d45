//! Measuring the rates of this machine: a probe for each kind of view, in several sizes.

use std::{cell::RefCell, time::Duration};

use tensor_kernels::{
    DType, Inexact, Number, Slice, Tensor, TensorMutExt, TensorView, ops, to_contiguous,
};

use super::{
    Calibration, Question,
    calibration::{ProbeTimes, Speed, Use},
    kind::{Length, Step, ViewKind},
    measure,
};
use crate::{
    Result,
    cases::{operand::Operand, sample::Sample, view_op::ViewOp},
    measure::{
        engine::{Budget, Contender, race},
        setting::Setting,
    },
    output::progress::Progress,
    suite::Setup,
    system::{machine::MachineInfo, memory},
    with_dtype,
};

/// The bytes of the probes' results. Costs are interpolated between sizes.
pub(super) const SIZES: [usize; 8] =
    [1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 32 << 20];

/// One element type for each width. The operations of a probe take less time than their memory
/// traffic.
pub(super) const WIDTHS: [DType; 5] = [DType::U8, DType::U16, DType::F32, DType::F64, DType::C128];

/// The bytes of arrays that are in the cache, for the speed of operations.
const CACHED_BYTES: usize = 64 << 10;

/// The largest base array of a probe, in bytes. With wide gaps, smaller results exceed the caches
/// too.
const MAX_BASE_BYTES: usize = 128 << 20;

/// The most memory of a probe: its array, two contiguous ones, a result, a copy.
const PEAK_BYTES: u128 = MAX_BASE_BYTES as u128 + 4 * (32 << 20);

/// Measures all rates, in the pool it is called from. It takes about a minute.
///
/// # Errors
/// Too little memory.
pub fn calibrate(setting: &Setting) -> Result<Calibration> {
    memory::preflight(PEAK_BYTES)?;
    let (probes, speeds) = (probes()?, speeds()?);
    let progress = Progress::new(probes.len() + speeds.len());
    let rates = probes.iter().map(|probe| {
        progress.begin(format!("{:?}", probe.kind));
        let rate = probe.rate(setting)?;
        progress.end();
        Ok(rate)
    });
    let rates = rates.collect::<Result<Vec<_>>>()?;
    let speeds = speeds.iter().map(|question| {
        progress.begin(question.op.name());
        let speed = speed(setting, question)?;
        progress.end();
        Ok(speed)
    });
    let speeds = speeds.collect::<Result<Vec<_>>>()?;
    let machine = MachineInfo::read(&setting.exec.simd());
    Ok(Calibration::new(machine, setting.threads, rates, speeds))
}

/// The view that is measured for a kind.
struct Probe {
    kind: ViewKind,
    operand: Operand,
}

fn probes() -> Result<Vec<Probe>> {
    let mut probes = Vec::new();
    for kind in ViewKind::ALL {
        for dtype in WIDTHS {
            let operands = SIZES.into_iter().filter_map(|bytes| operand(kind, dtype, bytes));
            for operand in operands {
                probes.push(Probe { kind, operand: operand? });
            }
        }
    }
    Ok(probes)
}

impl Probe {
    fn rate(&self, setting: &Setting) -> Result<ProbeTimes> {
        let operand = &self.operand;
        let times = with_dtype!(number: operand.dtype, T => times::<T>(setting, operand))?;
        let [strided_unary, unary, strided_binary, binary, copy_ns] = times;
        Ok(ProbeTimes {
            kind: self.kind,
            width: operand.dtype.size(),
            bytes: operand.result_bytes(),
            unary: Use { strided_ns: strided_unary, contiguous_ns: unary },
            binary: Use { strided_ns: strided_binary, contiguous_ns: binary },
            exp_ns: exp(setting, operand)?,
            copy_ns,
        })
    }
}

/// Negation of the view and of a contiguous array, addition of both to another array, and the copy.
/// All elements are equal: no time here depends on their values.
fn times<T: Sample + Number>(setting: &Setting, operand: &Operand) -> Result<[f64; 5]> {
    let Setting { exec, budget, .. } = setting;
    let view = viewed::<T>(operand)?;
    let [dense, other, target] =
        [full::<T>(view.shape())?, full(view.shape())?, full(view.shape())?];
    let (view, dense, other) = (view.read()?, dense.read()?, other.read()?);
    let (view, dense, other) = (view.as_view(), dense.as_view(), other.as_view());
    let mut target = target.write()?;
    let target = RefCell::new(target.as_view_mut()?);
    let unary = |from: &TensorView<'_, T>| ops::neg_into(exec, from, &mut *target.borrow_mut());
    let binary =
        |from: &TensorView<'_, T>| ops::add_into(exec, from, &other, &mut *target.borrow_mut());
    let copy = || -> Result<Tensor<T>> { Ok(to_contiguous(exec, &view)?) };
    let contenders = [
        Contender::new(|| unary(&view)).capped(),
        Contender::new(|| unary(&dense)).capped(),
        Contender::new(|| binary(&view)).capped(),
        Contender::new(|| binary(&dense)).capped(),
        Contender::new(|| copy().map(drop)).capped(),
    ];
    Ok(race(budget, contenders)?.map(|timing| timing.best_ns))
}

/// An array whose pages have all been written.
fn full<T: Sample>(shape: &[usize]) -> Result<Tensor<T>> {
    let array = Tensor::zeros(shape)?;
    array.fill(T::sample(0))?;
    Ok(array)
}

fn viewed<T: Sample>(operand: &Operand) -> Result<Tensor<T>> {
    Ok(full(&[operand.base.iter().product()])?.with_layout(operand.layout.clone())?)
}

/// The exponential of the view, for floats of its width.
fn exp(setting: &Setting, operand: &Operand) -> Result<Option<f64>> {
    exp_type(operand.dtype.size())
        .map(|dtype| with_dtype!(fraction: dtype, T => exponential::<T>(setting, operand)))
        .transpose()
}

/// A float type of `width` bytes with an exponential.
pub(super) fn exp_type(width: usize) -> Option<DType> {
    [DType::F16, DType::F32, DType::F64, DType::C128]
        .into_iter()
        .find(|dtype| dtype.size() == width)
}

fn exponential<T: Sample + Inexact>(setting: &Setting, operand: &Operand) -> Result<f64> {
    let view = viewed::<T>(operand)?;
    let target = full::<T>(view.shape())?;
    let (view, mut target) = (view.read()?, target.write()?);
    let (view, mut target) = (view.as_view(), target.as_view_mut()?);
    let run = Contender::new(|| ops::exp_into(&setting.exec, &view, &mut target)).capped();
    Ok(race(&setting.budget, [run])?.map(|timing| timing.best_ns)[0])
}

/// Every operation on every element type that has it, on contiguous arrays in the cache.
fn speeds() -> Result<Vec<Question>> {
    let mut all = Vec::new();
    for op in Question::predicted_ops() {
        for &dtype in DType::ALL.iter().filter(|dtype| op.takes(**dtype)) {
            let dense = Operand::new(dtype, vec![CACHED_BYTES / dtype.size()], Vec::new())?;
            all.push(Question::new(op, dense, 1)?);
        }
    }
    Ok(all)
}

fn speed(setting: &Setting, question: &Question) -> Result<Speed> {
    let costs = measure::costs(setting, question, Setup::SkipVerify)?;
    Ok(Speed {
        op: question.op.name().to_owned(),
        dtype: question.operand.dtype.name().to_owned(),
        each_ns: costs.contiguous_ns / question.operand.layout.numel() as f64,
    })
}

/// The time budget of a probe. All contenders are capped, so a slow one runs three times in all.
pub const BUDGET: Budget = Budget {
    sample: Duration::from_micros(50),
    time: Duration::from_millis(5),
    min_rounds: 2,
    max_rounds: 40,
};

/// The probe of a kind with a result of `bytes` bytes; `None` if that is too small for the kind or
/// its base array too large.
fn operand(kind: ViewKind, dtype: DType, bytes: usize) -> Option<Result<Operand>> {
    let width = dtype.size();
    let (base, ops) = view(kind, bytes / width, width)?;
    if base.iter().product::<usize>() * width > MAX_BASE_BYTES {
        return None;
    }
    Some(Operand::new(dtype, base, ops).map_err(Into::into))
}

/// The base array and the view operations for a view of about `count` elements of `width` bytes.
fn view(kind: ViewKind, count: usize, width: usize) -> Option<(Vec<usize>, Vec<ViewOp>)> {
    let side = count.isqrt();
    let row = side.min(1024);
    let every = |step| ViewOp::Slice(1, Slice::new(None, None, step as isize));
    let strided = |step: usize| (vec![count / row, row * step], vec![every(step)]);
    Some(match kind {
        ViewKind::Rows(length) => {
            let row = row_of(length, width);
            let rows = at_least(2, count / row)?;
            (vec![rows, 2 * row], vec![ViewOp::Narrow(1, 0, row)])
        }
        ViewKind::PermutedRows(length) => {
            let row = row_of(length, width);
            let side = at_least(2, (count / row).isqrt())?;
            (vec![count / row / side, side, row], vec![ViewOp::Transpose(0, 1)])
        }
        ViewKind::BroadcastRows => {
            (vec![1, row], vec![ViewOp::Expand(vec![(count / row) as isize, row as isize])])
        }
        ViewKind::BroadcastElement => {
            (vec![count / row, 1], vec![ViewOp::Expand(vec![(count / row) as isize, row as isize])])
        }
        ViewKind::ReversedRows => (vec![count / row, row], vec![ViewOp::Flip(vec![0])]),
        ViewKind::Reversed => (vec![count / row, row], vec![ViewOp::Flip(vec![1])]),
        ViewKind::Strided(step) => strided(step_of(step, width)?),
        ViewKind::Transposed => {
            let side = at_least(16, out_of_step(side / 16 * 16, width))?;
            (vec![count / side, side], vec![ViewOp::T])
        }
        ViewKind::TransposedPageStride => {
            let side = at_least(4096 / width, 1 << side.max(4096 / width).ilog2())?;
            (vec![at_least(16, count / side)?, side], vec![ViewOp::T])
        }
        ViewKind::BatchedTranspose => {
            let batch = at_least(1, count / (64 * 300))?;
            (vec![batch.max(2), 300, 64], vec![ViewOp::Permute(vec![0, 2, 1])])
        }
        ViewKind::PermutedTranspose => {
            let side = at_least(16, (count as f64).cbrt() as usize)?;
            (vec![count / side / side, side, side], vec![ViewOp::Reverse])
        }
        ViewKind::Interleaved => (vec![3, at_least(16, count / 3)?], vec![ViewOp::T]),
        ViewKind::Deinterleaved => (vec![at_least(16, count / 3)?, 3], vec![ViewOp::T]),
        ViewKind::StridedTranspose => {
            let side = at_least(16, side)?;
            (vec![side, 2 * side], vec![every(2), ViewOp::T])
        }
    })
}

fn at_least(least: usize, count: usize) -> Option<usize> {
    (count >= least).then_some(count)
}

fn row_of(length: Length, width: usize) -> usize {
    let bytes = match length {
        Length::Short => 32,
        Length::Middle => 96,
        Length::Long => 384,
        Length::VeryLong => 4096,
    };
    bytes / width
}

/// The stride of a probe. For wide elements the stride of a cache line may be that of another kind.
fn step_of(step: Step, width: usize) -> Option<usize> {
    let line = 64 / width;
    match step {
        Step::Two => Some(2),
        Step::Four => Some(3),
        Step::Line => at_least(5, line),
        Step::Far => Some((2 * line).max(5)),
    }
}

/// About `side` elements, so that rows do not map to few sets of a cache.
fn out_of_step(side: usize, width: usize) -> usize {
    if (side * width).is_multiple_of(1024) { side.saturating_sub(16) } else { side }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_is_of_its_kind() {
        for Probe { kind, operand } in probes().unwrap() {
            let found = ViewKind::of(&operand.layout, operand.dtype.size());
            assert_eq!(found, Some(kind), "{} {:?}", operand.dtype, operand.layout);
        }
    }

    /// For wide elements the stride of a cache line is that of another kind.
    #[test]
    fn every_kind_is_probed_out_of_cache_at_every_width() {
        for kind in ViewKind::ALL {
            for dtype in WIDTHS {
                let sizes = SIZES.into_iter().filter_map(|bytes| operand(kind, dtype, bytes));
                let bases = sizes.map(|operand| operand.unwrap().base_bytes());
                let largest = bases.max().unwrap_or(0) as usize;
                let none = kind == ViewKind::Strided(Step::Line) && dtype.size() > 8;
                assert_eq!(none, largest == 0, "{kind:?} {dtype}");
                assert!(
                    none || kind == ViewKind::BroadcastElement
                        || kind == ViewKind::BroadcastRows
                        || largest > 31 << 20
                );
                assert!(largest <= MAX_BASE_BYTES);
            }
        }
    }
}
