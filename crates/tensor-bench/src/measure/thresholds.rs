//! Measures two properties of a machine that the operating system does not describe: the size from
//! which non-temporal stores are faster, and the work from which another thread makes it faster.
//!
//! Operations that depend on such a threshold are timed with several thresholds. The one with the
//! least regret wins: the mean over all operations of how much longer they take than with the
//! threshold that suits them best. Another one than that of [`Machine::detect`] must be better by
//! more than the measurement is unsure of.

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use tensor_kernels::{
    CopyPlan, Element, Exec, Layout, Machine, Slice, Tensor, TensorExt, copy_into, ops,
};

use crate::{
    Failure, Result,
    measure::engine::{Budget, Contender, Race},
    output::progress::Progress,
    system::{memory, pool},
};

/// The thresholds that are tried for stores past the caches, beside that of [`Machine::detect`].
const STREAMS: [usize; 10] = [
    512 << 10,
    1 << 20,
    2 << 20,
    3 << 20,
    4 << 20,
    8 << 20,
    12 << 20,
    16 << 20,
    24 << 20,
    48 << 20,
];

/// The bytes of the results that are written with each of [`STREAMS`].
const STREAMED_RESULTS: [usize; 7] =
    [512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20];

/// The thresholds that are tried for another thread, beside that of [`Machine::detect`].
const GRAINS: [usize; 5] = [32 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20];

/// The bytes of the results that are computed with each of [`GRAINS`].
const SHARED_RESULTS: [usize; 6] = [32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// The most memory of an operation: two operands, wider ones with gaps, and a result.
const PEAK_BYTES: u128 = 4 * (32 << 20);

/// The time of a race.
const BUDGET: Budget = Budget {
    sample: Duration::from_micros(100),
    time: Duration::from_millis(120),
    min_rounds: 5,
    max_rounds: 100,
};

/// A threshold replaces the detected one if times are shorter by this part on average.
const CLEARLY_LESS: f64 = 0.02;

/// Thresholds that were tried, and the one that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The one of the least regret, in bytes.
    pub chosen: usize,
    /// All of them in ascending order, and how long operations take with each, over how long they
    /// take with the one that suits them best: the geometric mean.
    pub tried: Vec<(usize, f64)>,
}

/// The size from which non-temporal stores are faster, on one thread: [`Machine::stream`].
///
/// # Errors
/// Too little memory.
pub fn stream(exec: &Exec) -> Result<Threshold> {
    memory::preflight(PEAK_BYTES)?;
    stream_of(exec, &STREAMED_RESULTS)
}

/// The bytes of work from which a pool of `threads` threads is faster: [`Machine::grain`].
///
/// # Errors
/// Too little memory, no threads.
pub fn grain(exec: &Exec, threads: usize) -> Result<Threshold> {
    memory::preflight(PEAK_BYTES)?;
    pool::build(threads)?.install(|| grain_of(exec, &SHARED_RESULTS))
}

fn stream_of(exec: &Exec, sizes: &[usize]) -> Result<Threshold> {
    let exec = exec.serial();
    let tried = candidates(exec.machine.stream, &STREAMS);
    let machines: Vec<Machine> =
        tried.iter().map(|&stream| Machine { stream, ..exec.machine }).collect();
    let times = times(&exec, &machines, sizes, Operation::plan)?;
    Ok(Threshold::of(&tried, &times))
}

fn grain_of(exec: &Exec, sizes: &[usize]) -> Result<Threshold> {
    let tried = candidates(exec.machine.grain, &GRAINS);
    let machines: Vec<Machine> =
        tried.iter().map(|&grain| Machine { grain, ..exec.machine }).collect();
    let each = |_: &Operation, machine: &Machine| Ok(machine.grain.to_string());
    let times = times(exec, &machines, sizes, each)?;
    Ok(Threshold::of(&tried, &times))
}

/// The detected threshold, then the others.
fn candidates(detected: usize, others: &[usize]) -> Vec<usize> {
    let others = others.iter().copied().filter(|&other| other != detected);
    std::iter::once(detected).chain(others).collect()
}

impl Threshold {
    /// Of the times of each operation with each threshold, the first of which is the detected one:
    /// that of the least regret, but the detected one unless another is clearly better.
    fn of(tried: &[usize], times: &[Vec<f64>]) -> Self {
        let regret = |column: usize| {
            let over_best = |row: &Vec<f64>| {
                (row[column] / row.iter().copied().fold(f64::INFINITY, f64::min)).ln()
            };
            (times.iter().map(over_best).sum::<f64>() / times.len().max(1) as f64).exp()
        };
        let regrets: Vec<f64> = (0..tried.len()).map(regret).collect();
        let best = (0..tried.len()).min_by(|&a, &b| regrets[a].total_cmp(&regrets[b])).unwrap_or(0);
        let chosen = if regrets[best] + CLEARLY_LESS < regrets[0] { best } else { 0 };
        let chosen = tried[chosen];
        let mut tried: Vec<_> = tried.iter().copied().zip(regrets).collect();
        tried.sort_by_key(|&(threshold, _)| threshold);
        Self { chosen, tried }
    }
}

/// The time of each operation with each machine. Machines for which `differs_by` gives the same
/// text do the same.
fn times(
    exec: &Exec,
    machines: &[Machine],
    sizes: &[usize],
    differs_by: impl Fn(&Operation, &Machine) -> Result<String>,
) -> Result<Vec<Vec<f64>>> {
    let progress = Progress::new(sizes.len() * Operation::COUNT);
    let mut times = Vec::new();
    for &bytes in sizes {
        for operation in Operation::all(bytes)? {
            progress.begin(operation.name);
            let texts = machines.iter().map(|machine| differs_by(&operation, machine));
            let texts = texts.collect::<Result<Vec<_>>>()?;
            times.push(operation.times(exec, machines, &texts)?);
            progress.end();
        }
    }
    Ok(times)
}

/// An operation whose plan depends on the thresholds.
struct Operation {
    name: &'static str,
    /// The operand, the result, and the bytes of an element, if it is a copy.
    copy: Option<(Layout, Layout, usize)>,
    bytes: usize,
    #[expect(clippy::type_complexity, reason = "a name for it would say no more")]
    run: Box<dyn Fn(&Exec) -> tensor_kernels::Result<()>>,
}

impl Operation {
    /// How many there are of a size.
    const COUNT: usize = 6;

    /// With results of about `bytes` bytes.
    fn all(bytes: usize) -> Result<[Self; Self::COUNT]> {
        let side = |width: usize| bytes.div_ceil(width).isqrt();
        let odd = side(4) | 1;
        let cube = bytes.div_ceil(8 * 15).isqrt();
        Ok([
            Self::copy("transposed f32, odd", transposed::<f32>(odd, 1.0)?)?,
            Self::copy(
                "transposed f32, whole lines",
                transposed::<f32>(side(4).next_multiple_of(16), 1.0)?,
            )?,
            Self::copy("transposed u8", transposed::<u8>(side(1) | 1, 1)?)?,
            Self::copy(
                "reversed f64",
                Tensor::full([cube, 5, cube, 3], 1.0_f64)?.permute([3, 2, 1, 0])?,
            )?,
            Self::copy(
                "rows of wider f32",
                Tensor::full([side(4), side(4) + 40], 1.0_f32)?.slice(1, Slice::from(..side(4)))?,
            )?,
            Self::sum("sum with transposed f32", odd)?,
        ])
    }

    fn copy<T: Element>(name: &'static str, from: Tensor<T>) -> Result<Self> {
        let to = from.contiguous()?;
        let layouts = (from.layout().clone(), to.layout().clone(), size_of::<T>());
        let (bytes, to) = (to.layout().numel() * size_of::<T>(), RefCell::new(to));
        let run = move |exec: &Exec| copy_into(exec, &from, &mut *to.borrow_mut());
        Ok(Self { name, copy: Some(layouts), bytes, run: Box::new(run) })
    }

    fn sum(name: &'static str, side: usize) -> Result<Self> {
        let (a, b) = (transposed::<f32>(side, 1.0)?, Tensor::full([side, side], 1.0)?);
        let (bytes, to) = (4 * side * side, RefCell::new(Tensor::full([side, side], 0.0)?));
        let run = move |exec: &Exec| ops::add_into(exec, &a, &b, &mut *to.borrow_mut());
        Ok(Self { name, copy: None, bytes, run: Box::new(run) })
    }

    /// The plan for a machine in words; of other operations, whether the result is streamed.
    fn plan(&self, machine: &Machine) -> Result<String> {
        let Some((from, to, width)) = &self.copy else {
            return Ok((self.bytes >= machine.stream).to_string());
        };
        Ok(CopyPlan::new(from, to, *width, machine)?.to_string())
    }

    /// The time with each machine; machines of the same text are timed as one.
    fn times(&self, exec: &Exec, machines: &[Machine], texts: &[String]) -> Result<Vec<f64>> {
        let (mut race, mut entered) = (Race::new(BUDGET), BTreeMap::new());
        for (machine, text) in machines.iter().zip(texts) {
            entered.entry(text).or_insert_with(|| {
                let exec = exec.with_machine(*machine);
                race.enter(Contender::new(move || (self.run)(&exec).map_err(Failure::work)))
            });
        }
        let timings = race.run()?;
        Ok(texts.iter().map(|text| timings[entered[text]].best_ns).collect())
    }
}

fn transposed<T: Element>(side: usize, value: T) -> Result<Tensor<T>> {
    Ok(Tensor::full([side, side], value)?.t()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_of_the_least_regret_wins() {
        let times = [vec![10.0, 12.0, 9.0], vec![20.0, 21.0, 12.0]];
        let threshold = Threshold::of(&[5, 7, 3], &times);
        assert_eq!((threshold.chosen, threshold.tried[0]), (3, (3, 1.0)));
        let alike = Threshold::of(&[5, 7, 3], &[vec![10.0, 9.9, 10.1]]);
        assert_eq!(alike.chosen, 5, "the difference is within the error");
        assert_eq!(Threshold::of(&[5], &[]).chosen, 5);
    }

    #[test]
    fn a_measured_threshold_is_one_of_those_tried() {
        let exec = crate::measure::setting::exec().unwrap();
        let stream = stream_of(&exec, &[4 << 10]).unwrap();
        assert!(stream.chosen == exec.machine.stream || STREAMS.contains(&stream.chosen));
        assert!(stream.tried.iter().all(|&(_, regret)| regret >= 1.0), "{stream:?}");
        let grain = pool::build(2).unwrap().install(|| grain_of(&exec, &[4 << 10])).unwrap();
        assert!(grain.chosen == exec.machine.grain || GRAINS.contains(&grain.chosen));
    }

    #[test]
    fn plans_of_copies_and_sums_depend_on_the_threshold() {
        let machine = |stream| Machine { stream, ..Machine::REFERENCE };
        let (early, late) = (machine(1 << 10), machine(1 << 30));
        let differing = Operation::all(1 << 20).unwrap();
        let differing =
            differing.iter().filter(|o| o.plan(&early).unwrap() != o.plan(&late).unwrap());
        assert!(differing.count() >= 4);
    }
}
