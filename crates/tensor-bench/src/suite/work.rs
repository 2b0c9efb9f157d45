//! A prepared case: kernel, operands, preallocated result, and the expected result.

use std::cell::{OnceCell, RefCell};

use tensor_kernels::{CopyPlan, DimVec, Element, Tensor, TensorView, TensorViewMut};

use super::{
    Against, Case, Others, Ready,
    by_bytes::{self, Pair},
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

    /// Checks the results of this library, the naive loop and what else it is raced against.
    fn verify_all(&self, case: &Case, against: Against) -> Result<()>;

    /// The same, then races them.
    fn race(&self, case: &Case, against: Against) -> Result<Times>;
}

impl<T: Sample, R: Sample> AnyWork for Work<'_, T, R> {
    fn verify(&self) -> Result<()> {
        self.verify_preallocated(|| self.compute(&self.operands))?;
        self.check(&Work::allocating(self)?.to_vec()?)?;
        let mut dense = self.dense.iter();
        dense.try_for_each(|dense| self.verify_preallocated(|| self.compute_dense(dense)))
    }

    fn verify_all(&self, case: &Case, against: Against) -> Result<()> {
        race::with_results_verified(self, case, &mut |_, _| Ok(()))?;
        if against.others == Others::Bytes {
            by_bytes::verify(self)?;
        }
        Ok(())
    }

    fn race(&self, case: &Case, against: Against) -> Result<Times> {
        let mut times = race::check_and_race(self, case)?;
        let pair = if against.others == Others::Bytes { by_bytes::race_pair(self)? } else { None };
        if let Some(Pair { typed, by_bytes }) = pair {
            times.preallocated = typed;
            times.peers.push(by_bytes);
        }
        Ok(times)
    }
}

pub(super) struct Work<'a, T: Element, R: Element> {
    pub(super) setting: &'a Setting,
    pub(super) kernel: Kernel<T, R>,
    /// The operands as slices and layouts.
    pub(super) given: Vec<Strided<'a, T>>,
    /// The operands as views.
    pub(super) operands: Vec<TensorView<'a, T>>,
    /// The dimensions that a reduction reduces.
    dims: Vec<isize>,
    /// Contiguous copies of the operands; none for a copy, two orders for a reduction.
    pub(super) dense: Vec<Dense<'a, T>>,
    target: RefCell<TensorViewMut<'a, R>>,
    /// The expected result in row-major order, computed on first use.
    expected: OnceCell<Vec<R>>,
}

/// Contiguous operands of full size, in an order that suits the operation.
pub(super) struct Dense<'a, T: 'static> {
    pub(super) operands: Vec<TensorView<'a, T>>,
    /// Where the dimensions are that a reduction reduces.
    pub(super) dims: Vec<isize>,
}

impl<'a, T: Sample, R: Sample> Work<'a, T, R> {
    pub(super) fn new(
        setting: &'a Setting,
        kernel: Kernel<T, R>,
        given: Vec<Strided<'a, T>>,
        dims: Vec<isize>,
        dense: Vec<Dense<'a, T>>,
        target: TensorViewMut<'a, R>,
    ) -> Result<Self> {
        let operands = given.iter().map(Strided::view).collect::<Result<Vec<_>>>()?;
        let target = RefCell::new(target);
        let expected = OnceCell::new();
        Ok(Work { setting, kernel, given, operands, dims, dense, target, expected })
    }

    pub(super) fn compute(&self, operands: &[TensorView<'_, T>]) -> Result<()> {
        self.reduced(operands, &self.dims)
    }

    pub(super) fn compute_dense(&self, dense: &Dense<'_, T>) -> Result<()> {
        self.reduced(&dense.operands, &dense.dims)
    }

    fn reduced(&self, operands: &[TensorView<'_, T>], dims: &[isize]) -> Result<()> {
        let target = &mut self.target.borrow_mut();
        Ok((self.kernel.preallocated)(&self.setting.exec, operands, dims, target)?)
    }

    pub(super) fn is_copy(&self) -> bool {
        self.kernel.planned.is_some()
    }

    /// The plans that are considered for a copy, the chosen one first; none for other work.
    pub(super) fn plans(&self) -> Result<Vec<CopyPlan>> {
        if !self.is_copy() {
            return Ok(Vec::new());
        }
        let (from, machine) = (self.operands[0].layout(), &self.setting.exec.machine);
        let target = self.target.borrow();
        let found = CopyPlan::candidates(from, target.layout(), size_of::<T>(), machine)?;
        Ok(found.into_iter().map(|candidate| candidate.plan).collect())
    }

    pub(super) fn run_plan(&self, plan: &CopyPlan) -> Result<()> {
        let no_copy = || Failure::work("only copies have plans");
        let run = self.kernel.planned.ok_or_else(no_copy)?;
        let target = &mut self.target.borrow_mut();
        Ok(run(plan, &self.setting.exec, &self.operands[0], target)?)
    }

    pub(super) fn allocating(&self) -> Result<Tensor<R>> {
        Ok((self.kernel.allocating)(&self.setting.exec, &self.operands, &self.dims)?)
    }

    pub(super) fn naive(&self, out: &mut [R]) {
        (self.kernel.naive)(&self.given, &self.dims, out);
    }

    fn verify_preallocated(&self, compute: impl FnOnce() -> Result<()>) -> Result<()> {
        self.with_result(fill_with_wrong_values)?;
        compute()?;
        self.with_result(|result| self.check(result))?
    }

    /// Passes the elements of the preallocated result on.
    pub(super) fn with_result<A>(&self, act: impl FnOnce(&mut [R]) -> A) -> Result<A> {
        let mut target = self.target.borrow_mut();
        let result = target.as_slice_mut().map(act);
        result.ok_or_else(|| Failure::work("the result is not contiguous"))
    }

    /// Checks a row-major result.
    pub(super) fn check(&self, result: &[R]) -> Result<()> {
        self.check_by(self.kernel.same, result)
    }

    /// Checks the result of the naive loop.
    pub(super) fn check_naive(&self, result: &[R]) -> Result<()> {
        self.check_by(self.kernel.naive_same, result)
    }

    fn check_by(&self, same: fn(R, R, usize) -> bool, result: &[R]) -> Result<()> {
        let expected = self.expected()?;
        let (found, len) = (result.len(), expected.len());
        if found != len {
            return Err(Failure::work(format!("wrong result: {found} elements, not {len}")));
        }
        let terms = self.operands.first().map_or(0, TensorView::numel) / len.max(1);
        reference::check(result, expected.iter().copied(), |a, b| same(a, b, terms))
    }

    fn expected(&self) -> Result<&[R]> {
        if self.expected.get().is_none() {
            let expected = match self.dims.as_slice() {
                [] => expected(&self.operands, self.kernel.one)?,
                dims => expected_reduction(&self.operands[0], dims, self.kernel.one)?,
            };
            let _ = self.expected.set(expected);
        }
        Ok(self.expected.get().map_or(&[], Vec::as_slice))
    }
}

/// Computes the expected result element by element.
fn expected<T: Sample, R>(operands: &[TensorView<'_, T>], one: fn(&[T]) -> R) -> Result<Vec<R>> {
    let len = operands.first().map_or(0, TensorView::numel);
    let mut expected = reserved(len)?;
    let mut operands: Vec<_> = operands.iter().map(TensorView::iter).collect();
    expected.extend((0..len).map_while(|_| {
        let element: Option<DimVec<T>> = operands.iter_mut().map(Iterator::next).collect();
        Some(one(&element?))
    }));
    Ok(expected)
}

/// The same for a reduction: of the elements of each result, in row-major order.
fn expected_reduction<T: Sample, R>(
    operand: &TensorView<'_, T>,
    dims: &[isize],
    one: fn(&[T]) -> R,
) -> Result<Vec<R>> {
    let sorted = operand.permute(reduced_last(operand.ndim(), dims))?;
    let terms: usize = dims.iter().map(|&dim| operand.shape()[dim as usize]).product();
    let mut expected = reserved(operand.numel() / terms.max(1))?;
    let mut elements = sorted.iter();
    let mut of_one = reserved(terms)?;
    loop {
        of_one.clear();
        of_one.extend(elements.by_ref().take(terms));
        if of_one.is_empty() {
            return Ok(expected);
        }
        expected.push(one(&of_one));
    }
}

/// All dimensions, those that are reduced behind the others.
pub(super) fn reduced_last(ndim: usize, dims: &[isize]) -> Vec<isize> {
    let all = 0..ndim as isize;
    let kept = all.clone().filter(|dim| !dims.contains(dim));
    kept.chain(all.filter(|dim| dims.contains(dim))).collect()
}

fn reserved<R>(len: usize) -> Result<Vec<R>> {
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(len)
        .map_err(|_| Failure::work(format!("no memory for {len} elements")))?;
    Ok(elements)
}

/// Overwrites a result with wrong values, so that an earlier result cannot pass the check.
pub(super) fn fill_with_wrong_values<R: Sample>(result: &mut [R]) {
    result.fill(R::sample(usize::MAX));
}
