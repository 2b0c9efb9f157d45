//! Measuring one case: find the kernel, allocate the arrays, check the results, race.

use tensor_kernels::{DType, Element, Tensor, TensorRef, TensorView};

use super::{
    Against, Case, Op, Others, Row,
    kernel::{self, Kernel},
    op::Class,
    path::path,
    race::Times,
    reduction::{self, Reduced},
    work::{AnyWork, Dense, Work, reduced_last},
};
use crate::{
    Failure, Result,
    cases::{operand::Operand, sample::Sample, strided::Strided},
    measure::setting::Setting,
    with_dtype,
};

/// How a case is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Arrays are filled with pseudorandom values, and the results are checked.
    Verify,
    /// The same without the check, which has been done before.
    SkipVerify,
    /// Arrays of zeros, no check, no contiguous operands: the least that the operation needs.
    Minimal,
}

/// Receives the prepared work of a case, of any element types.
pub(super) type Task<'a> = &'a mut dyn FnMut(&dyn AnyWork) -> Result<()>;

/// Measures a case, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory.
pub fn measure(setting: &Setting, case: &Case, against: Against) -> Result<Row> {
    let mut times = None;
    with_work(setting, case, against, Setup::Verify, &mut |work| {
        times = Some(work.race(case, against)?);
        Ok(())
    })?;
    let times = times.ok_or_else(|| Failure::work("nothing was measured"))?;
    row(setting, case, times)
}

/// Runs every contender of [`measure`] once and checks the results.
///
/// # Errors
/// A wrong result, too little memory.
pub fn verify(setting: &Setting, case: &Case, against: Against) -> Result<()> {
    with_work(setting, case, against, Setup::Verify, &mut |work| work.verify_all(case, against))
}

/// Finds the kernel of a case for its element types, allocates the arrays, and runs the task on
/// them.
pub(super) fn with_work(
    setting: &Setting,
    case: &Case,
    against: Against,
    setup: Setup,
    task: Task<'_>,
) -> Result<()> {
    // Fuzz targets parse suites and measure none. Without this, the instrumented kernels of all
    // operations and element types would be most of what is compiled for them.
    if cfg!(fuzzing) {
        return Err(Failure::work("a build for fuzzing has no kernels"));
    }
    let run = Run { setting, case, against, setup };
    let dtype = case.operands[0].dtype;
    // Unit tests measure copies and elementwise operations of f32 only. `tests/commands` has all
    // others; here they would be half of what is compiled.
    if cfg!(test) {
        return match (case.op, dtype) {
            (Op::Copy, DType::F32) => run.perform(Some(kernel::copy::<f32>()), task),
            (op, DType::F32) => run.perform(kernel::number::<f32>(op), task),
            (op, dtype) => Err(Failure::work(format!("{} of {dtype} in a unit test", op.name()))),
        };
    }
    match (case.op, case.op.class()) {
        (Op::Cast, _) => run.cast(task),
        (_, Class::Element) => {
            with_dtype!(dtype, T => run.perform(Some(kernel::copy::<T>()), task))
        }
        (op, Class::Number) => {
            with_dtype!(number: dtype, T => run.perform(kernel::number::<T>(op), task))
        }
        (op, Class::Ordered) => {
            with_dtype!(ordered: dtype, T => run.perform(kernel::ordered::<T>(op), task))
        }
        (op, Class::Inexact) => match dtype {
            DType::U8 => run.perform(kernel::integer_fraction::<u8>(op), task),
            DType::I32 => run.perform(kernel::integer_fraction::<i32>(op), task),
            _ => with_dtype!(fraction: dtype, T => run.perform(kernel::fraction::<T>(op), task)),
        },
        (op, Class::Reduced) => with_dtype!(reduced: dtype, T => run.reduce::<T>(op, task)),
        (_, Class::Averaged) => {
            with_dtype!(averaged: dtype, T => run.perform(Some(reduction::mean::<T>()), task))
        }
    }
}

struct Run<'a> {
    setting: &'a Setting,
    case: &'a Case,
    against: Against,
    setup: Setup,
}

impl Run<'_> {
    /// Casts from or to f32 and f64; [`Op::casts`] refuses others.
    fn cast(&self, task: Task<'_>) -> Result<()> {
        match (self.case.operands[0].dtype, self.case.out) {
            (from, DType::F32) => {
                with_dtype!(from, T => self.perform(Some(kernel::cast::<T, f32>()), task))
            }
            (from, DType::F64) => {
                with_dtype!(from, T => self.perform(Some(kernel::cast::<T, f64>()), task))
            }
            (DType::F32, to) => {
                with_dtype!(to, R => self.perform(Some(kernel::cast::<f32, R>()), task))
            }
            (_, to) => {
                with_dtype!(to, R => self.perform(Some(kernel::cast::<f64, R>()), task))
            }
        }
    }

    fn reduce<T: Reduced>(&self, op: Op, task: Task<'_>) -> Result<()> {
        match op {
            Op::Sum => self.perform(Some(reduction::sum::<T>()), task),
            Op::Max => self.perform(Some(reduction::max::<T>()), task),
            _ => self.perform(Some(reduction::argmax::<T>()), task),
        }
    }

    fn perform<T: Sample, R: Sample>(
        &self,
        kernel: Option<Kernel<T, R>>,
        task: Task<'_>,
    ) -> Result<()> {
        let (case, setup) = (self.case, self.setup);
        let mut kernel =
            kernel.ok_or_else(|| Failure::input(format!("{} has no kernel", case.op.name())))?;
        if self.against.others != Others::Peers {
            kernel.peers.clear();
        }
        kernel.bounded &= self.against.bound;
        let bases = filled::<T>(case, setup)?;
        let bases = read(&bases)?;
        let given = views(case, &bases)?;
        let compared = case.op != Op::Copy && setup != Setup::Minimal;
        let dense = if compared { contiguous(case, &given)? } else { Vec::new() };
        let dense = dense.iter().map(|order| Ok((read(&order.tensors)?, &order.dims)));
        let dense = dense.collect::<Result<Vec<_>>>()?;
        let target = target::<R>(case, setup)?;
        let mut target = target.write()?;
        let dense = dense.iter().map(|(tensors, dims)| Dense {
            operands: tensors.iter().map(TensorRef::as_view).collect(),
            dims: (*dims).clone(),
        });
        let (dims, dense) = (signed(&case.dims), dense.collect());
        task(&Work::new(self.setting, kernel, given, dims, dense, target.as_view_mut()?)?)
    }
}

/// The base arrays of the operands, of different values unless they are zeros.
fn filled<T: Sample>(case: &Case, setup: Setup) -> Result<Vec<Tensor<T>>> {
    let fill = |(seed, operand): (usize, &Operand)| match setup {
        Setup::Minimal => Tensor::zeros([operand.base.iter().product::<usize>()]),
        Setup::Verify | Setup::SkipVerify => operand.filled(seed),
    };
    Ok(case.operands.iter().enumerate().map(fill).collect::<Result<_, _>>()?)
}

fn target<R: Sample>(case: &Case, setup: Setup) -> Result<Tensor<R>> {
    Ok(match setup {
        Setup::Minimal => Tensor::zeros(case.shape())?,
        Setup::Verify | Setup::SkipVerify => Tensor::full(case.shape(), R::sample(0))?,
    })
}

fn views<'a, T: Sample>(
    case: &'a Case,
    bases: &'a [TensorRef<'_, T>],
) -> Result<Vec<Strided<'a, T>>> {
    let operands = case.operands.iter().zip(bases);
    operands
        .map(|(operand, base)| {
            let elements = base.as_view().as_slice();
            let elements = elements.ok_or_else(|| Failure::work("the base is not one piece"))?;
            Strided::new(elements, &operand.layout)
        })
        .collect()
}

fn signed(dims: &[usize]) -> Vec<isize> {
    dims.iter().map(|&dim| dim as isize).collect()
}

/// Contiguous operands, and where the dimensions of a reduction are in them.
struct Order<T: Element> {
    tensors: Vec<Tensor<T>>,
    dims: Vec<isize>,
}

/// Contiguous copies of the operands, made without the kernels that are measured. Of a reduction's
/// operand there are two: with the reduced dimensions last, and first.
fn contiguous<T: Sample>(case: &Case, views: &[Strided<'_, T>]) -> Result<Vec<Order<T>>> {
    if !case.op.is_reduction() {
        let tensors = views.iter().map(|view| copied(&view.view()?)).collect::<Result<_>>()?;
        return Ok(vec![Order { tensors, dims: Vec::new() }]);
    }
    let (view, count) = (views[0].view()?, case.dims.len() as isize);
    let ndim = view.ndim() as isize;
    let last = reduced_last(view.ndim(), &signed(&case.dims));
    let first = [&last[(ndim - count) as usize..], &last[..(ndim - count) as usize]].concat();
    let order = |dims: &[isize], reduced: std::ops::Range<isize>| -> Result<Order<T>> {
        Ok(Order { tensors: vec![copied(&view.permute(dims)?)?], dims: reduced.collect() })
    };
    Ok(vec![order(&last, ndim - count..ndim)?, order(&first, 0..count)?])
}

fn copied<T: Sample>(view: &TensorView<'_, T>) -> Result<Tensor<T>> {
    Ok(Tensor::from_vec(view.try_to_vec()?, view.shape())?)
}

fn read<T: Sample>(tensors: &[Tensor<T>]) -> Result<Vec<TensorRef<'_, T>>> {
    tensors.iter().map(|tensor| Ok(tensor.read()?)).collect()
}

fn row(setting: &Setting, case: &Case, times: Times) -> Result<Row> {
    Ok(Row {
        group: case.group.clone(),
        id: case.id.clone(),
        op: case.op.name().to_owned(),
        dtype: case.out.name().to_owned(),
        threads: setting.threads,
        bytes: case.bytes(),
        preallocated_ns: times.preallocated.best_ns,
        allocating_ns: times.allocating.best_ns,
        naive_ns: times.naive.best_ns,
        slower_than_naive: times.preallocated.surely_longer_than(&times.naive),
        slower_than: Some(Vec::new()),
        plain_copy_ns: times.plain_copy,
        contiguous_ns: times.contiguous,
        bound_ns: times.bound,
        path: path(&setting.exec, case)?.to_owned(),
        peers: times.peers,
        candidates: None,
        family: None,
        case: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        measure::{
            engine::{Budget, Contender},
            peers::Peer,
            setting,
        },
        suite,
    };

    fn transposed() -> (Setting, Case) {
        let text = r#"[{"group": "g", "id": "t", "dtype": "f32", "base": [3, 4],
            "ops": [["permute", [1, 0]]]}]"#;
        let setting = Setting { exec: setting::exec().unwrap(), budget: Budget::QUICK, threads: 1 };
        (setting, suite::read(text).unwrap().remove(0))
    }

    fn refusal(kernel: Kernel<f32, f32>) -> String {
        let (setting, case) = transposed();
        let (against, setup) = (Against::PEERS, Setup::Verify);
        let run = Run { setting: &setting, case: &case, against, setup };
        let mut race = |work: &dyn AnyWork| work.race(&case, against).map(drop);
        let error = run.perform(Some(kernel), &mut race).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        error.to_string()
    }

    #[test]
    fn a_wrong_result_of_anybody_is_found_before_anything_is_timed() {
        let idle = Kernel { preallocated: |_, _, _, _| Ok(()), ..kernel::copy() };
        let flat =
            Kernel { allocating: |_, a, _| Tensor::full(a[0].shape(), 0.5), ..kernel::copy() };
        for broken in [idle, flat] {
            let error = refusal(broken);
            assert!(error.starts_with("wrong result: element 0 is "), "{error}");
        }
        let error = refusal(Kernel { naive: |_, _, _| (), ..kernel::copy() });
        assert!(error.starts_with("naive loop: wrong result: element 0 is "), "{error}");
    }

    #[test]
    fn a_wrong_result_of_a_peer_is_found_with_its_name() {
        let idle: Peer<f32, f32> = Peer {
            name: "idler",
            preallocated: |_, _| Some(Contender::new(|| Ok::<_, Failure>(()))),
            allocating: |_, _| None,
        };
        let short = Peer {
            preallocated: |_, _| None,
            allocating: |_, look| {
                Some(Contender::new(move || {
                    look(&[]);
                    Ok::<_, Failure>(())
                }))
            },
            ..idle
        };
        let error = refusal(Kernel { peers: vec![short], ..kernel::copy() });
        assert_eq!(error, "idler: wrong result: 0 elements, not 12");
        let error = refusal(Kernel { peers: vec![idle], ..kernel::copy() });
        assert!(error.starts_with("idler: wrong result: element 0 is "), "{error}");
    }

    #[test]
    fn a_copy_by_bytes_is_a_peer_of_the_typed_one_in_the_same_memory() {
        let (setting, case) = transposed();
        let by_bytes = Against { others: Others::Bytes, bound: false };
        let row = measure(&setting, &case, by_bytes).unwrap();
        let [peer] = &row.peers[..] else { panic!("{row:?}") };
        assert_eq!((peer.name.as_str(), peer.allocating_ns), ("by bytes", None));
        assert!(peer.preallocated_ns.unwrap() > 0.0 && row.preallocated_ns > 0.0, "{row:?}");
        assert_eq!(case.memory(by_bytes), case.memory(Against::NAIVE));
    }

    #[test]
    fn an_operation_is_bounded_by_each_input_and_by_contiguous_work() {
        let text = r#"[{"group": "g", "id": "t", "op": "add", "out_dtype": "f32", "operands": [
            {"dtype": "f32", "base": [30, 40], "ops": [["permute", [1, 0]]]},
            {"dtype": "f32", "base": [40, 30], "ops": [["flip", 1]]}]}]"#;
        let (setting, case) = (transposed().0, suite::read(text).unwrap().remove(0));
        let bounded = Against { bound: true, ..Against::NAIVE };
        let row = measure(&setting, &case, bounded).unwrap();
        let (bound, contiguous) = (row.bound_ns.unwrap(), row.contiguous_ns.unwrap());
        assert!(bound <= row.preallocated_ns.min(row.naive_ns), "{row:?}");
        assert!(bound >= contiguous.min(row.preallocated_ns).min(row.naive_ns), "{row:?}");
        assert_eq!(row.bound_score(), Some(contiguous / bound));
        assert!(case.memory(bounded) > case.memory(Against::NAIVE));
    }

    #[test]
    fn a_right_result_has_times_and_a_path() {
        let (setting, case) = transposed();
        let row = measure(&setting, &case, Against::NAIVE).unwrap();
        assert!(
            row.preallocated_ns > 0.0 && row.allocating_ns > 0.0 && row.plain_copy_ns > 0.0,
            "{row:?}"
        );
        assert!(row.naive_ns > 0.0 && row.peers.is_empty(), "{row:?}");
        assert_eq!((row.bytes, row.contiguous_ns, row.path.as_str()), (48, None, "transpose"));
    }
}
