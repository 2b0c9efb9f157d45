//! Measuring one case: find the kernel, make the arrays, hold the results against the reference, race, write it down.

use tensor_kernels::{DType, Layout, Tensor, TensorRef, elementwise_path};

use super::{
    Against, Case, Op, Row,
    contest::{self, Times},
    kernel::{self, Kernel},
    op::Class,
    work::Work,
};
use crate::{
    Failure, Result,
    sample::Sample,
    setting::{Setting, copy_path},
    strided::Strided,
    with_dtype,
};

/// Measures a case, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory.
pub fn measure(setting: &Setting, case: &Case, against: Against) -> Result<Row> {
    let dtype = case.operands[0].dtype;
    match (case.op, case.op.class()) {
        (Op::Cast, _) => cast(setting, case, against),
        (_, Class::Element) => {
            with_dtype!(dtype, T => run(setting, case, against, Some(kernel::copy::<T>())))
        }
        (op, Class::Number) => {
            with_dtype!(number: dtype, T => run(setting, case, against, kernel::number::<T>(op)))
        }
        (op, Class::Ordered) => {
            with_dtype!(ordered: dtype, T => run(setting, case, against, kernel::ordered::<T>(op)))
        }
        (op, Class::Fraction) => {
            with_dtype!(fraction: dtype, T => run(setting, case, against, kernel::fraction::<T>(op)))
        }
    }
}

/// Casts from or to f32 and f64; [`Op::casts`] has refused the others.
fn cast(setting: &Setting, case: &Case, against: Against) -> Result<Row> {
    match (case.operands[0].dtype, case.out) {
        (from, DType::F32) => {
            with_dtype!(from, T => run(setting, case, against, Some(kernel::cast::<T, f32>())))
        }
        (from, DType::F64) => {
            with_dtype!(from, T => run(setting, case, against, Some(kernel::cast::<T, f64>())))
        }
        (DType::F32, to) => {
            with_dtype!(to, R => run(setting, case, against, Some(kernel::cast::<f32, R>())))
        }
        (_, to) => {
            with_dtype!(to, R => run(setting, case, against, Some(kernel::cast::<f64, R>())))
        }
    }
}

fn run<T: Sample, R: Sample>(
    setting: &Setting,
    case: &Case,
    against: Against,
    kernel: Option<Kernel<T, R>>,
) -> Result<Row> {
    let mut kernel =
        kernel.ok_or_else(|| Failure::input(format!("{} has no kernel", case.op.name())))?;
    if against == Against::Naive {
        kernel.peers.clear();
    }
    let bases = filled::<T>(case)?;
    let bases = read(&bases)?;
    let given = views(case, &bases)?;
    let dense = if case.op == Op::Copy { Vec::new() } else { contiguous(&given)? };
    let dense = read(&dense)?;
    let target = Tensor::<R>::full(case.shape(), R::sample(0))?;
    let mut target = target.write()?;
    let dense = dense.iter().map(TensorRef::as_view).collect();
    let work = Work::new(setting, kernel, given, dense, target.as_view_mut()?)?;
    row(setting, case, contest::hold(&work, case)?)
}

/// The arrays of the operands, each with values of its own.
fn filled<T: Sample>(case: &Case) -> Result<Vec<Tensor<T>>> {
    let operands = case.operands.iter().enumerate();
    operands.map(|(seed, operand)| Ok(operand.filled(seed)?)).collect()
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

/// The same values, contiguous and of full size; not made by the kernels that are measured.
fn contiguous<T: Sample>(views: &[Strided<'_, T>]) -> Result<Vec<Tensor<T>>> {
    let copy = |view: &Strided<'_, T>| {
        Ok(Tensor::from_vec(view.view()?.try_to_vec()?, view.layout().shape())?)
    };
    views.iter().map(copy).collect()
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
        into_ns: times.into.best_ns,
        alloc_ns: times.fresh.best_ns,
        naive_ns: times.naive.best_ns,
        slower_than_naive: times.into.surely_longer_than(&times.naive),
        roof_ns: times.roof,
        contiguous_ns: times.contiguous.map(|timing| timing.best_ns),
        path: path(setting, case)?.to_owned(),
        peers: times.peers,
    })
}

fn path(setting: &Setting, case: &Case) -> Result<&'static str> {
    let result = Layout::contiguous(case.shape())?;
    let layouts: Vec<&Layout> = case.operands.iter().map(|operand| &operand.layout).collect();
    Ok(match layouts.as_slice() {
        [a] if case.op == Op::Copy => copy_path(&setting.exec, a, case.out.size())?,
        [a] => elementwise_path([&result, a])?,
        [a, b] => elementwise_path([&result, a, b])?,
        [a, b, c] => elementwise_path([&result, a, b, c])?,
        _ => return Err(Failure::input("more than three operands")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Budget, Contender},
        peers::Peer,
        setting, suite,
    };

    fn turned() -> (Setting, Case) {
        let text = r#"[{"group": "g", "id": "t", "dtype": "f32", "base": [3, 4], "ops": [["permute", [1, 0]]]}]"#;
        let setting = Setting { exec: setting::exec().unwrap(), budget: Budget::QUICK, threads: 1 };
        (setting, suite::read(text).unwrap().remove(0))
    }

    fn refusal(kernel: Kernel<f32, f32>) -> String {
        let (setting, case) = turned();
        let error = run(&setting, &case, Against::Peers, Some(kernel)).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        error.to_string()
    }

    #[test]
    fn a_wrong_result_of_anybody_is_found_before_anything_is_timed() {
        let idle = Kernel { into: |_, _, _| Ok(()), ..kernel::copy() };
        let flat = Kernel { fresh: |_, a| Tensor::full(a[0].shape(), 0.5), ..kernel::copy() };
        for broken in [idle, flat] {
            let error = refusal(broken);
            assert!(error.starts_with("wrong result: element 0 is "), "{error}");
        }
        let error = refusal(Kernel { naive: |_, _| (), ..kernel::copy() });
        assert!(error.starts_with("naive loop: wrong result: element 0 is "), "{error}");
    }

    #[test]
    fn a_wrong_result_of_a_peer_is_found_with_its_name() {
        let idle: Peer<f32, f32> = Peer {
            name: "idler",
            into: |_, _| Some(Contender::new(|| Ok::<_, Failure>(()))),
            fresh: |_, _| None,
        };
        let short = Peer {
            into: |_, _| None,
            fresh: |_, look| {
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
    fn a_right_result_has_times_and_a_path() {
        let (setting, case) = turned();
        let row = measure(&setting, &case, Against::Naive).unwrap();
        assert!(row.into_ns > 0.0 && row.alloc_ns > 0.0 && row.roof_ns > 0.0, "{row:?}");
        assert!(row.naive_ns > 0.0 && row.peers.is_empty(), "{row:?}");
        assert_eq!((row.bytes, row.contiguous_ns, row.path.as_str()), (48, None, "tile"));
    }
}
