//! Measuring one layout: hold every pass against the reference, then race them.

use std::cell::RefCell;

use tensor_kernels::{Layout, Tensor, TensorView, TensorViewMut, map_into};

use super::{Conversion, Pass, Row, Same, why};
use crate::{
    Failure, Result,
    engine::{Contender, race},
    memory, reads,
    reference::{check, elements, identical},
    roof::{self, Roof},
    sample::Sample,
    setting::Setting,
};

/// A view to be measured, and what it is called.
pub struct Subject<'a, T> {
    /// What it is called.
    pub name: String,
    /// How the view was made.
    pub view: String,
    /// The whole storage, as one dimension.
    pub base: &'a Tensor<T>,
    /// The view of it.
    pub layout: Layout,
}

/// Measures a layout and its copy.
///
/// # Errors
/// Too little memory, a view without elements, a wrong result.
pub fn measure<C: Conversion>(setting: &Setting, subject: &Subject<'_, C::From>) -> Result<Row> {
    let layout = &subject.layout;
    if layout.numel() == 0 {
        return Err(Failure::input(format!(
            "{}: a view without elements cannot be measured",
            subject.name
        )));
    }
    let bytes = layout.dense_bytes(size_of::<C::To>())? as u64;
    memory::preflight(6 * u128::from(bytes))?;
    let arrays = Arrays::<C>::new(subject)?;
    let times = arrays.measure(setting, bytes)?;
    row::<C>(setting, subject, bytes, &times)
}

/// The best times, in nanoseconds.
struct Times {
    copy: f64,
    fresh: f64,
    roof: f64,
    elementwise: [f64; 2],
    sum: [f64; 2],
}

fn row<C: Conversion>(
    setting: &Setting,
    subject: &Subject<'_, C::From>,
    bytes: u64,
    times: &Times,
) -> Result<Row> {
    let layout = &subject.layout;
    let pass = |[strided, contiguous]: [f64; 2]| match layout.is_contiguous() {
        true => Pass { strided_ns: strided, contiguous_ns: contiguous, pays_after: None },
        false => Pass::new(strided, contiguous, times.fresh),
    };
    Ok(Row {
        name: subject.name.clone(),
        view: subject.view.clone(),
        dtype: C::FROM.name(),
        result_dtype: C::TO.name(),
        shape: layout.shape().to_vec(),
        strides: layout.strides().to_vec(),
        offset: layout.offset(),
        contiguous: layout.is_contiguous(),
        breaks_at: layout.contiguity_break(),
        why: why(layout),
        path: C::path(&setting.exec, layout)?,
        bytes,
        copy_ns: times.copy,
        roof_ns: times.roof,
        contiguous_ns: times.fresh,
        elementwise: pass(times.elementwise),
        sum: pass(times.sum),
    })
}

/// The arrays of one layout.
struct Arrays<'a, C: Conversion> {
    base: &'a Tensor<C::From>,
    /// The view.
    view: Tensor<C::From>,
    /// Its contiguous copy.
    dense: Tensor<C::To>,
    /// Where results go.
    target: Tensor<C::To>,
}

impl<'a, C: Conversion> Arrays<'a, C> {
    fn new(subject: &Subject<'a, C::From>) -> Result<Self> {
        let view = subject.base.with_layout(subject.layout.clone())?;
        let dense = C::fresh(&view)?;
        let target = Tensor::full(view.shape(), C::To::sample(0))?;
        Ok(Arrays { base: subject.base, view, dense, target })
    }

    fn measure(&self, setting: &Setting, bytes: u64) -> Result<Times> {
        let (base, view) = (self.base.read()?, self.view.read()?);
        let (dense, mut target) = (self.dense.read()?, self.target.write()?);
        let base = base
            .as_view()
            .as_slice()
            .ok_or_else(|| Failure::work("the storage is not one piece"))?;
        let passes = Passes::<C> {
            setting,
            base,
            view: view.as_view(),
            dense: dense.as_view(),
            target: RefCell::new(target.as_view_mut()?),
        };
        passes.verify()?;
        passes.race(&self.view, &Roof::new(bytes, setting.threads)?)
    }
}

/// A result that the compiler must not find to be unused.
fn keep<T>(result: Result<T>) -> Result<()> {
    std::hint::black_box(result).map(drop)
}

/// Everything that is timed.
struct Passes<'a, C: Conversion> {
    setting: &'a Setting,
    base: &'a [C::From],
    view: TensorView<'a, C::From>,
    dense: TensorView<'a, C::To>,
    target: RefCell<TensorViewMut<'a, C::To>>,
}

impl<C: Conversion> Passes<'_, C> {
    fn copy(&self) -> Result<()> {
        C::copy_into(&self.setting.exec, &self.view, &mut self.target.borrow_mut())
    }

    fn elementwise(&self) -> Result<()> {
        Ok(map_into(&self.setting.exec, &self.view, &mut self.target.borrow_mut(), C::pass)?)
    }

    fn elementwise_dense(&self) -> Result<()> {
        Ok(map_into(
            &self.setting.exec,
            &self.dense,
            &mut self.target.borrow_mut(),
            Same::<C::To>::pass,
        )?)
    }

    fn sum(&self) -> Result<<C::From as Sample>::Sum> {
        Ok(reads::sum(self.base, self.view.layout(), self.setting.threads)?)
    }

    fn sum_dense(&self) -> Result<<C::To as Sample>::Sum> {
        let dense = Layout::contiguous(self.dense.shape())?;
        Ok(reads::sum(self.dense_slice()?, &dense, self.setting.threads)?)
    }

    fn dense_slice(&self) -> Result<&[C::To]> {
        self.dense
            .as_slice()
            .ok_or_else(|| Failure::work("wrong result: the copy is not contiguous"))
    }

    fn race(&self, view: &Tensor<C::From>, roof: &Roof) -> Result<Times> {
        let [memcpy, stream] = roof.contenders();
        let contenders = [
            Contender::new(|| self.copy()),
            Contender::new(|| C::fresh(view).map(drop)),
            Contender::new(|| self.elementwise()),
            Contender::new(|| self.elementwise_dense()),
            Contender::new(|| keep(self.sum())),
            Contender::new(|| keep(self.sum_dense())),
            memcpy,
            stream,
        ];
        let [copy, fresh, strided, dense, sum, sum_dense, memcpy, stream] =
            race(&self.setting.budget, contenders)?;
        Ok(Times {
            copy: copy.best_ns,
            fresh: fresh.best_ns,
            roof: roof::faster(memcpy, stream),
            elementwise: [strided.best_ns, dense.best_ns],
            sum: [sum.best_ns, sum_dense.best_ns],
        })
    }

    fn verify(&self) -> Result<()> {
        let converted = || elements(self.base, self.view.layout()).map(C::convert);
        check(self.dense_slice()?, converted(), identical)?;
        self.check_pass(Self::copy, converted())?;
        self.check_pass(Self::elementwise, converted().map(C::To::affine))?;
        self.check_pass(Self::elementwise_dense, converted().map(C::To::affine))?;
        self.check_sums()
    }

    /// Runs a pass over a result that is wrong everywhere, so that nothing right can be left from before.
    fn check_pass(
        &self,
        pass: impl FnOnce(&Self) -> Result<()>,
        expected: impl Iterator<Item = C::To>,
    ) -> Result<()> {
        self.with_result(|result| result.fill(C::To::sample(usize::MAX)))?;
        pass(self)?;
        self.with_result(|result| check(result, expected, identical))?
    }

    fn with_result<A>(&self, act: impl FnOnce(&mut [C::To]) -> A) -> Result<A> {
        let mut target = self.target.borrow_mut();
        let result = target.as_slice_mut().map(act);
        result.ok_or_else(|| Failure::work("the result is not contiguous"))
    }

    fn check_sums(&self) -> Result<()> {
        let terms = elements(self.base, self.view.layout()).map(C::convert);
        let (expected, allowed) = C::To::expected_sum(terms);
        let sums = [C::From::number(self.sum()?), C::To::number(self.sum_dense()?)];
        match sums.into_iter().find(|sum| (sum - expected).abs() > allowed) {
            Some(sum) => {
                Err(Failure::work(format!("wrong result: the sum is {sum}, not {expected}")))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::Exec;

    use super::*;
    use crate::{engine::Budget, setting};

    /// Forgets to copy.
    struct Broken;

    impl Conversion for Broken {
        type From = i32;
        type To = i32;

        fn convert(x: i32) -> i32 {
            x
        }

        fn copy_into(
            _: &Exec,
            _: &TensorView<'_, i32>,
            _: &mut TensorViewMut<'_, i32>,
        ) -> Result<()> {
            Ok(())
        }

        fn fresh(view: &Tensor<i32>) -> Result<Tensor<i32>> {
            Same::fresh(view)
        }

        fn path(exec: &Exec, layout: &Layout) -> Result<String> {
            Same::<i32>::path(exec, layout)
        }
    }

    #[test]
    fn a_wrong_copy_is_found_before_anything_is_timed() {
        let base = Tensor::arange(0i32, 12, 1).unwrap();
        let layout = Layout::new(&[4, 3], &[1, 4], 0).unwrap();
        let subject = Subject { name: "turned".into(), view: String::new(), base: &base, layout };
        let setting = Setting { exec: setting::exec().unwrap(), budget: Budget::QUICK, threads: 1 };
        let error = measure::<Broken>(&setting, &subject).unwrap_err();
        assert!(error.to_string().starts_with("wrong result: element 0 is "), "{error}");
        assert_eq!(measure::<Same<i32>>(&setting, &subject).unwrap().breaks_at, Some(1));
    }
}
