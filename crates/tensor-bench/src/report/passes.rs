//! The passes over one layout that are timed: copy, elementwise pass, sum. Each result is checked
//! before.

use std::{cell::RefCell, hint::black_box};

use tensor_kernels::{Accumulate, Tensor, TensorView, TensorViewMut, map_into, ops::sum_all};

use super::{Conversion, Same};
use crate::{
    Failure, Result,
    cases::{sample::Sample, strided::Strided},
    measure::{
        copy_bandwidth::{self, PlainCopy},
        engine::{Contender, Race, Ticket},
        naive_loop, naive_sum,
        reference::{check, elements, identical},
        setting::Setting,
    },
};

/// Keeps the compiler from removing an unused result.
fn keep<T>(result: Result<T>) -> Result<()> {
    black_box(result).map(drop)
}

/// The best times, in nanoseconds.
pub(super) struct Times {
    /// The copy by the naive loop, by the library with a preallocated result, and allocating.
    pub(super) naive_copy: f64,
    pub(super) copy: f64,
    pub(super) allocating: f64,
    pub(super) plain_copy: f64,
    /// The elementwise pass by the naive loop and by the library over the view, then over the copy.
    pub(super) naive: f64,
    pub(super) strided: f64,
    pub(super) dense: f64,
    /// The same of the sum.
    pub(super) naive_sum: f64,
    pub(super) sum: f64,
    pub(super) sum_dense: f64,
}

/// Everything that is timed, and on what.
pub(super) struct Passes<'a, C: Conversion> {
    pub(super) setting: &'a Setting,
    /// The view as slice and layout …
    pub(super) given: Strided<'a, C::From>,
    /// … as a view of the library …
    pub(super) view: TensorView<'a, C::From>,
    /// … and its contiguous copy.
    pub(super) dense: TensorView<'a, C::To>,
    /// The preallocated result.
    pub(super) target: RefCell<TensorViewMut<'a, C::To>>,
}

impl<C: Conversion> Passes<'_, C> {
    fn copy(&self) -> Result<()> {
        C::copy_into(&self.setting.exec, &self.view, &mut *self.target.borrow_mut())
    }

    fn elementwise(&self) -> Result<()> {
        Ok(map_into(&self.setting.exec, &self.view, &mut *self.target.borrow_mut(), C::pass)?)
    }

    fn elementwise_dense(&self) -> Result<()> {
        Ok(map_into(
            &self.setting.exec,
            &self.dense,
            &mut *self.target.borrow_mut(),
            Same::<C::To>::pass,
        )?)
    }

    /// The naive loop that applies `f` to each element.
    fn naive(&self, f: impl Fn(C::From) -> C::To) -> Result<()> {
        self.with_result(|result| {
            naive_loop::compute([self.given], result, |[x]| f(x));
            black_box(result);
        })
    }

    /// The naive loop of the sum, a part of the view for each thread.
    fn naive_sum(&self) -> Result<<C::From as Sample>::Sum> {
        Ok(naive_sum::sum(self.given.elements(), self.given.layout(), self.setting.threads)?)
    }

    fn sum(&self) -> Result<<C::From as Accumulate>::Sum> {
        Ok(sum_all(&self.setting.exec, &self.view)?)
    }

    fn sum_dense(&self) -> Result<<C::To as Accumulate>::Sum> {
        Ok(sum_all(&self.setting.exec, &self.dense)?)
    }

    fn dense_slice(&self) -> Result<&[C::To]> {
        self.dense
            .as_slice()
            .ok_or_else(|| Failure::work("wrong result: the copy is not contiguous"))
    }

    /// Times all passes. The naive loops are capped, because they are slow and only compared with.
    pub(super) fn race(&self, view: &Tensor<C::From>, plain_copy: &PlainCopy) -> Result<Times> {
        let mut memory = plain_copy.open()?;
        let mut plain = memory.views()?;
        let mut race = Race::new(self.setting.budget);
        let copy = race.enter(Contender::new(|| self.copy()));
        let allocating = race.enter(Contender::new(|| C::allocating(view).map(drop)));
        let strided = race.enter(Contender::new(|| self.elementwise()));
        let dense = race.enter(Contender::new(|| self.elementwise_dense()));
        let sum = race.enter(Contender::new(|| keep(self.sum())));
        let sum_dense = race.enter(Contender::new(|| keep(self.sum_dense())));
        let naive_sum = race.enter(Contender::new(|| keep(self.naive_sum())).capped());
        let [memcpy, stream] = plain.contenders()?.map(|copy| race.enter(copy));
        let naive_copy = race.enter(Contender::new(|| self.naive(C::convert)).capped());
        let naive = race.enter(Contender::new(|| self.naive(C::pass)).capped());
        let timings = race.run()?;
        let best = |ticket: Ticket| timings[ticket].best_ns;
        Ok(Times {
            naive_copy: best(naive_copy),
            copy: best(copy),
            allocating: best(allocating),
            plain_copy: copy_bandwidth::faster(timings[memcpy], timings[stream]),
            naive: best(naive),
            strided: best(strided),
            dense: best(dense),
            naive_sum: best(naive_sum),
            sum: best(sum),
            sum_dense: best(sum_dense),
        })
    }

    /// Checks every result.
    pub(super) fn verify(&self) -> Result<()> {
        let converted = || elements(self.given.elements(), self.given.layout()).map(C::convert);
        check(self.dense_slice()?, converted(), identical)?;
        self.check_pass(Self::copy, converted())?;
        self.check_pass(|passes| passes.naive(C::convert), converted())?;
        self.check_pass(Self::elementwise, converted().map(C::To::affine))?;
        self.check_pass(Self::elementwise_dense, converted().map(C::To::affine))?;
        self.check_pass(|passes| passes.naive(C::pass), converted().map(C::To::affine))?;
        self.check_sums()
    }

    /// Overwrites the result with wrong values, runs the pass and checks the result.
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
        let terms = elements(self.given.elements(), self.given.layout()).map(C::convert);
        let (expected, allowed) = C::To::expected_sum(terms);
        let naive_loop = C::From::number(self.naive_sum()?);
        let sums = [(naive_loop, 0.0), number(self.sum()?), number(self.sum_dense()?)];
        let wrong = |&(sum, rounding): &(f64, f64)| {
            (sum - expected).abs() > allowed + rounding * expected.abs()
        };
        match sums.into_iter().find(wrong) {
            Some((sum, _)) => {
                Err(Failure::work(format!("wrong result: the sum is {sum}, not {expected}")))
            }
            None => Ok(()),
        }
    }
}

/// A sum as a number, and the relative error from rounding it to its type: 1 if a 16-bit float
/// overflowed.
fn number<S: Sample>(sum: S) -> (f64, f64) {
    let number = S::number(sum.term());
    match size_of::<S>() {
        2 if number.is_infinite() => (0.0, 1.0),
        2 => (number, 1.0 / 128.0),
        _ => (number, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn a_sum_is_as_exact_as_its_type() {
        assert_eq!(number(7i64), (7.0, 0.0));
        assert_eq!(number(f16::from_f32(2.0)), (2.0, 1.0 / 128.0));
        assert_eq!(number(f16::INFINITY), (0.0, 1.0));
    }
}
