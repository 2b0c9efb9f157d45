//! A prepared case: kernel, operands, preallocated result, and the expected result.

use std::cell::{OnceCell, RefCell};

use tensor_kernels::{DimVec, Tensor, TensorView, TensorViewMut};

use super::{
    Case, Ready,
    kernel::Kernel,
    race::{self, Times},
};
use crate::{
    Failure, Result,
    cases::{sample::Sample, strided::Strided},
    measure::{reference, setting::Setting},
};

/// [`Work`] of any element types.
pub(super) trait AnyWork: Ready {
    /// Checks the results of this library.
    fn verify(&self) -> Result<()>;

    /// Checks the results of this library, the naive loop and other libraries.
    fn verify_all(&self, case: &Case) -> Result<()>;

    /// The same, then races them.
    fn race(&self, case: &Case) -> Result<Times>;
}

impl<T: Sample, R: Sample> AnyWork for Work<'_, T, R> {
    fn verify(&self) -> Result<()> {
        self.verify_preallocated(&self.operands)?;
        self.check(&Work::allocating(self)?.to_vec()?)?;
        if self.dense.is_empty() { Ok(()) } else { self.verify_preallocated(&self.dense) }
    }

    fn verify_all(&self, case: &Case) -> Result<()> {
        race::with_results_verified(self, case, &mut |_, _| Ok(()))
    }

    fn race(&self, case: &Case) -> Result<Times> {
        race::check_and_race(self, case)
    }
}

pub(super) struct Work<'a, T: 'static, R: 'static> {
    pub(super) setting: &'a Setting,
    pub(super) kernel: Kernel<T, R>,
    /// The operands as slices and layouts.
    pub(super) given: Vec<Strided<'a, T>>,
    /// The operands as views.
    pub(super) operands: Vec<TensorView<'a, T>>,
    /// Contiguous copies of the operands; empty for a copy.
    pub(super) dense: Vec<TensorView<'a, T>>,
    target: RefCell<TensorViewMut<'a, R>>,
    /// The expected result in row-major order, computed on first use.
    expected: OnceCell<Vec<R>>,
}

impl<'a, T: Sample, R: Sample> Work<'a, T, R> {
    pub(super) fn new(
        setting: &'a Setting,
        kernel: Kernel<T, R>,
        given: Vec<Strided<'a, T>>,
        dense: Vec<TensorView<'a, T>>,
        target: TensorViewMut<'a, R>,
    ) -> Result<Self> {
        let operands = given.iter().map(Strided::view).collect::<Result<Vec<_>>>()?;
        let target = RefCell::new(target);
        Ok(Work { setting, kernel, given, operands, dense, target, expected: OnceCell::new() })
    }

    pub(super) fn compute(&self, operands: &[TensorView<'_, T>]) -> Result<()> {
        Ok((self.kernel.preallocated)(&self.setting.exec, operands, &mut self.target.borrow_mut())?)
    }

    pub(super) fn allocating(&self) -> Result<Tensor<R>> {
        Ok((self.kernel.allocating)(&self.setting.exec, &self.operands)?)
    }

    pub(super) fn naive(&self, out: &mut [R]) {
        (self.kernel.naive)(&self.given, out);
    }

    fn verify_preallocated(&self, operands: &[TensorView<'_, T>]) -> Result<()> {
        self.with_result(fill_with_wrong_values)?;
        self.compute(operands)?;
        self.with_result(|result| self.check(result))?
    }

    fn with_result<A>(&self, act: impl FnOnce(&mut [R]) -> A) -> Result<A> {
        let mut target = self.target.borrow_mut();
        let result = target.as_slice_mut().map(act);
        result.ok_or_else(|| Failure::work("the result is not contiguous"))
    }

    /// Checks a row-major result.
    pub(super) fn check(&self, result: &[R]) -> Result<()> {
        let expected = self.expected()?;
        let (found, len) = (result.len(), expected.len());
        if found != len {
            return Err(Failure::work(format!("wrong result: {found} elements, not {len}")));
        }
        reference::check(result, expected.iter().copied(), self.kernel.same)
    }

    fn expected(&self) -> Result<&[R]> {
        if self.expected.get().is_none() {
            let _ = self.expected.set(expected(&self.operands, self.kernel.one)?);
        }
        Ok(self.expected.get().map_or(&[], Vec::as_slice))
    }
}

/// Computes the expected result element by element.
fn expected<T: Sample, R>(operands: &[TensorView<'_, T>], one: fn(&[T]) -> R) -> Result<Vec<R>> {
    let len = operands.first().map_or(0, TensorView::numel);
    let mut expected = Vec::new();
    expected
        .try_reserve_exact(len)
        .map_err(|_| Failure::work(format!("no memory for {len} elements")))?;
    let mut operands: Vec<_> = operands.iter().map(TensorView::iter).collect();
    expected.extend((0..len).map_while(|_| {
        let element: Option<DimVec<T>> = operands.iter_mut().map(Iterator::next).collect();
        Some(one(&element?))
    }));
    Ok(expected)
}

/// Overwrites a result with wrong values, so that an earlier result cannot pass the check.
pub(super) fn fill_with_wrong_values<R: Sample>(result: &mut [R]) {
    result.fill(R::sample(usize::MAX));
}
