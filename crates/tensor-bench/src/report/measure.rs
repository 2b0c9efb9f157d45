//! Measuring one layout: allocate its arrays, time the passes, compute the break-even.

use std::cell::RefCell;

use tensor_kernels::{Element, Layout, Tensor};

use super::{
    Conversion, Pass, Row,
    passes::{Passes, Times},
    slow_strides::slow_strides,
    why,
};
use crate::{
    Failure, Result,
    cases::{sample::Sample, strided::Strided},
    measure::{copy_bandwidth::PlainCopy, setting::Setting},
    system::memory,
};

/// A view to measure.
pub struct Subject<'a, T: Element> {
    /// The name.
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

fn row<C: Conversion>(
    setting: &Setting,
    subject: &Subject<'_, C::From>,
    bytes: u64,
    times: &Times,
) -> Result<Row> {
    let layout = &subject.layout;
    let pass = |naive, strided, contiguous| {
        let pass = Pass::new(naive, strided, contiguous, times.allocating);
        if layout.is_contiguous() { pass.of_contiguous() } else { pass }
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
        naive_copy_ns: times.naive_copy,
        copy_ns: times.copy,
        plain_copy_ns: times.plain_copy,
        allocating_copy_ns: times.allocating,
        elementwise: pass(times.naive, times.strided, times.dense),
        sum: pass(times.naive_sum, times.sum, times.sum_dense),
        slow_strides: slow_strides(setting.exec, layout, size_of::<C::From>())?,
    })
}

/// The arrays of one layout.
struct Arrays<'a, C: Conversion> {
    base: &'a Tensor<C::From>,
    /// The view.
    view: Tensor<C::From>,
    /// Its contiguous copy.
    dense: Tensor<C::To>,
    /// The preallocated result.
    target: Tensor<C::To>,
}

impl<'a, C: Conversion> Arrays<'a, C> {
    fn new(subject: &Subject<'a, C::From>) -> Result<Self> {
        let view = subject.base.with_layout(subject.layout.clone())?;
        let dense = C::allocating(&view)?;
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
            given: Strided::new(base, self.view.layout())?,
            view: view.as_view(),
            dense: dense.as_view(),
            target: RefCell::new(target.as_view_mut()?),
        };
        passes.verify()?;
        passes.race(&self.view, &PlainCopy::new(bytes, setting.threads)?)
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::{Exec, TensorView, TensorViewMut};

    use super::{super::Same, *};
    use crate::measure::{engine::Budget, setting};

    /// A conversion whose copy does nothing.
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

        fn allocating(view: &Tensor<i32>) -> Result<Tensor<i32>> {
            Same::allocating(view)
        }

        fn path(exec: &Exec, layout: &Layout) -> Result<String> {
            Same::<i32>::path(exec, layout)
        }
    }

    #[test]
    fn a_wrong_copy_is_found_before_anything_is_timed() {
        let base = Tensor::arange(0i32, 12, 1).unwrap();
        let layout = Layout::new([4, 3], [1, 4], 0).unwrap();
        let subject =
            Subject { name: "transposed".into(), view: String::new(), base: &base, layout };
        let setting = Setting { exec: setting::exec().unwrap(), budget: Budget::QUICK, threads: 1 };
        let error = measure::<Broken>(&setting, &subject).unwrap_err();
        assert!(error.to_string().starts_with("wrong result: element 0 is "), "{error}");
        assert_eq!(measure::<Same<i32>>(&setting, &subject).unwrap().breaks_at, Some(1));
    }
}
