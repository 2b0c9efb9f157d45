//! Measuring one case: make the arrays, hold the results against the reference, race.

use std::cell::RefCell;

use tensor_kernels::{
    DType, Layout, Tensor, TensorRef, TensorView, TensorViewMut, elementwise_path,
};

use super::{
    Case, Op, Row,
    kernel::{self, Kernel},
    op::Class,
};
use crate::{
    Failure, Result,
    engine::{Contender, race},
    reference::check,
    roof::{self, Roof},
    sample::Sample,
    setting::{Setting, copy_path},
    stats::Timing,
    with_dtype,
};

/// Measures a case, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory.
pub fn measure(setting: &Setting, case: &Case) -> Result<Row> {
    let dtype = case.operands[0].dtype;
    match (case.op, case.op.class()) {
        (Op::Cast, _) => cast(setting, case),
        (_, Class::Element) => {
            with_dtype!(dtype, T => run(setting, case, Some(kernel::copy::<T>())))
        }
        (op, Class::Number) => {
            with_dtype!(number: dtype, T => run(setting, case, kernel::number::<T>(op)))
        }
        (op, Class::Ordered) => {
            with_dtype!(ordered: dtype, T => run(setting, case, kernel::ordered::<T>(op)))
        }
        (op, Class::Fraction) => {
            with_dtype!(fraction: dtype, T => run(setting, case, kernel::fraction::<T>(op)))
        }
    }
}

/// Casts from or to f32 and f64; [`Op::casts`] has refused the others.
fn cast(setting: &Setting, case: &Case) -> Result<Row> {
    match (case.operands[0].dtype, case.out) {
        (from, DType::F32) => {
            with_dtype!(from, T => run(setting, case, Some(kernel::cast::<T, f32>())))
        }
        (from, DType::F64) => {
            with_dtype!(from, T => run(setting, case, Some(kernel::cast::<T, f64>())))
        }
        (DType::F32, to) => {
            with_dtype!(to, R => run(setting, case, Some(kernel::cast::<f32, R>())))
        }
        (_, to) => with_dtype!(to, R => run(setting, case, Some(kernel::cast::<f64, R>()))),
    }
}

fn run<T: Sample, R: Sample>(
    setting: &Setting,
    case: &Case,
    kernel: Option<Kernel<T, R>>,
) -> Result<Row> {
    let kernel =
        kernel.ok_or_else(|| Failure::input(format!("{} has no kernel", case.op.name())))?;
    let given = filled::<T>(case)?;
    let dense = if case.op == Op::Copy { Vec::new() } else { contiguous(&given)? };
    let target = Tensor::<R>::full(case.shape(), R::sample(0))?;
    let (given, dense, mut target) = (read(&given)?, read(&dense)?, target.write()?);
    let work = Work {
        setting,
        kernel,
        given: given.iter().map(TensorRef::as_view).collect(),
        dense: dense.iter().map(TensorRef::as_view).collect(),
        target: RefCell::new(target.as_view_mut()?),
    };
    work.verify()?;
    let into = Contender::new(|| work.compute(&work.given));
    let fresh = Contender::new(|| work.fresh().map(drop));
    let dense = (case.op != Op::Copy).then(|| Contender::new(|| work.compute(&work.dense)));
    row(setting, case, &compete(setting, case, into, fresh, dense)?)
}

/// The operands, each with values of its own.
fn filled<T: Sample>(case: &Case) -> Result<Vec<Tensor<T>>> {
    let operands = case.operands.iter().enumerate();
    operands.map(|(seed, operand)| Ok(operand.tensor(seed)?)).collect()
}

/// The same values, contiguous and of full size; not made by the kernels that are measured.
fn contiguous<T: Sample>(tensors: &[Tensor<T>]) -> Result<Vec<Tensor<T>>> {
    tensors.iter().map(|tensor| Ok(Tensor::from_vec(tensor.to_vec()?, tensor.shape())?)).collect()
}

fn read<T: Sample>(tensors: &[Tensor<T>]) -> Result<Vec<TensorRef<'_, T>>> {
    tensors.iter().map(|tensor| Ok(tensor.read()?)).collect()
}

/// Best times, in nanoseconds.
struct Times {
    into: f64,
    fresh: f64,
    contiguous: Option<f64>,
    roof: f64,
}

impl Times {
    fn new(into: Timing, fresh: Timing, contiguous: Option<Timing>, roof: f64) -> Self {
        let contiguous = contiguous.map(|timing| timing.best_ns);
        Times { into: into.best_ns, fresh: fresh.best_ns, contiguous, roof }
    }
}

fn row(setting: &Setting, case: &Case, times: &Times) -> Result<Row> {
    Ok(Row {
        group: case.group.clone(),
        id: case.id.clone(),
        op: case.op.name(),
        dtype: case.out.name(),
        threads: setting.threads,
        bytes: case.bytes(),
        into_ns: times.into,
        alloc_ns: times.fresh,
        roof_ns: times.roof,
        contiguous_ns: times.contiguous,
        path: path(setting, case)?.to_owned(),
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

/// Races the work against the roof of its result.
fn compete(
    setting: &Setting,
    case: &Case,
    into: Contender<'_>,
    fresh: Contender<'_>,
    dense: Option<Contender<'_>>,
) -> Result<Times> {
    let roof = Roof::new(case.result_bytes(), setting.threads)?;
    let [memcpy, stream] = roof.contenders();
    let Some(dense) = dense else {
        let [into, fresh, memcpy, stream] = race(&setting.budget, [into, fresh, memcpy, stream])?;
        return Ok(Times::new(into, fresh, None, roof::faster(memcpy, stream)));
    };
    let contenders = [into, fresh, dense, memcpy, stream];
    let [into, fresh, dense, memcpy, stream] = race(&setting.budget, contenders)?;
    Ok(Times::new(into, fresh, Some(dense), roof::faster(memcpy, stream)))
}

/// The work of a case with everything it is done on.
struct Work<'a, T, R> {
    setting: &'a Setting,
    kernel: Kernel<T, R>,
    given: Vec<TensorView<'a, T>>,
    /// Empty for a copy.
    dense: Vec<TensorView<'a, T>>,
    target: RefCell<TensorViewMut<'a, R>>,
}

impl<T: Sample, R: Sample> Work<'_, T, R> {
    fn compute(&self, operands: &[TensorView<'_, T>]) -> Result<()> {
        Ok((self.kernel.into)(&self.setting.exec, operands, &mut self.target.borrow_mut())?)
    }

    fn fresh(&self) -> Result<Tensor<R>> {
        Ok((self.kernel.fresh)(&self.setting.exec, &self.given)?)
    }

    fn verify(&self) -> Result<()> {
        self.check(&self.given)?;
        let fresh = self.fresh()?.to_vec()?;
        check(&fresh, self.expected(), self.kernel.same)?;
        if self.dense.is_empty() { Ok(()) } else { self.check(&self.dense) }
    }

    /// Computes over a result that is wrong everywhere, so that nothing right can be left from before.
    fn check(&self, operands: &[TensorView<'_, T>]) -> Result<()> {
        self.with_result(|result| result.fill(R::sample(usize::MAX)))?;
        self.compute(operands)?;
        self.with_result(|result| check(result, self.expected(), self.kernel.same))?
    }

    fn with_result<A>(&self, act: impl FnOnce(&mut [R]) -> A) -> Result<A> {
        let mut target = self.target.borrow_mut();
        let result = target.as_slice_mut().map(act);
        result.ok_or_else(|| Failure::work("the result is not contiguous"))
    }

    fn expected(&self) -> impl Iterator<Item = R> {
        let mut operands: Vec<_> = self.given.iter().map(TensorView::iter).collect();
        let mut element = Vec::with_capacity(operands.len());
        std::iter::from_fn(move || {
            element.clear();
            for operand in &mut operands {
                element.push(operand.next()?);
            }
            Some((self.kernel.one)(&element))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::Budget, setting, suite};

    fn turned() -> (Setting, Case) {
        let text = r#"[{"group": "g", "id": "t", "dtype": "f32", "base": [3, 4], "ops": [["permute", [1, 0]]]}]"#;
        let setting = Setting { exec: setting::exec().unwrap(), budget: Budget::QUICK, threads: 1 };
        (setting, suite::read(text).unwrap().remove(0))
    }

    #[test]
    fn a_wrong_result_is_found_before_anything_is_timed() {
        let (setting, case) = turned();
        let idle = Kernel { into: |_, _, _| Ok(()), ..kernel::copy::<f32>() };
        let flat =
            Kernel { fresh: |_, a| Tensor::full(a[0].shape(), 0.5), ..kernel::copy::<f32>() };
        for broken in [idle, flat] {
            let error = run(&setting, &case, Some(broken)).unwrap_err();
            assert!(error.to_string().starts_with("wrong result: element 0 is "), "{error}");
            assert_eq!(error.exit_code(), 1);
        }
    }

    #[test]
    fn a_right_result_has_times_and_a_path() {
        let (setting, case) = turned();
        let row = measure(&setting, &case).unwrap();
        assert!(row.into_ns > 0.0 && row.alloc_ns > 0.0 && row.roof_ns > 0.0, "{row:?}");
        assert_eq!((row.bytes, row.contiguous_ns, row.path.as_str()), (48, None, "tile"));
    }
}
