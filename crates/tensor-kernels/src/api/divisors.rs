//! Division by zero of integers, which is refused: divisors are searched for 0 before anything is
//! written.

use std::marker::PhantomData;

use tensor_core::{Element, Layout, Operand, ReduceDims, Result, TensorViewMut};

use super::{
    call::{Call, Divisors},
    compiled::compiled,
    reduction::{Reduce, arg_reductions, first_if, folds},
};
#[cfg(tensor_compiled)]
use crate::kernel::Reduction;
use crate::{
    element::{Compare, Equality, Ordered},
    kernel::{ArgOrder, ArgReduction, Fold, FoldReduction, ReductionOf},
    run::{self, Erased},
};

/// Is any element 0?
pub(crate) struct HasZero;
/// The index of the first 0, if there is one.
pub(crate) struct FirstZero;

folds! {
    HasZero<T: Compare>(self): T::Key => bool,
        T::GREATEST, |x| x.to_key(),
        |a, b| first_if(a.is_nonzero(), b, a), |last| !last.is_nonzero(), |_count| Self,
        Some(false), true;
}

arg_reductions! {
    FirstZero: GREATEST, |a, b| !a.is_nonzero() & b.is_nonzero(),
        if a.is_nonzero() { b } else { a };
}

impl Call<'_> {
    /// The same call, refusing divisors of 0 if the type has no result for them. A single value is
    /// checked here, and not again.
    pub(crate) fn dividing_by<T: Ordered>(self, divisors: &Operand<'_, T>) -> Self {
        match divisors {
            _ if T::DIVIDES_BY_ZERO => self,
            Operand::Value(divisor) if divisor.is_nonzero() => self,
            _ => Self { divisors: Divisors::NotZero(first_zero::<T>), ..self },
        }
    }

    /// Reduces all elements, of which there is at least one, to one value.
    fn reduce_erased<T: Element, O: Reduce<T>>(self, elements: Erased<'_>) -> Result<O::Output> {
        let mut result = [O::Output::default()];
        let mut value = TensorViewMut::new(&mut result, Layout::contiguous(())?)?;
        let reduced = elements.layout().reduced(self.op, ReduceDims::ALL)?;
        let kernels = O::kernels(reduced.count());
        run::reduce_erased(self.exec, &kernels, elements, &mut (&mut value).into(), &reduced)?;
        Ok(result[0])
    }
}

/// First searches in memory order for any 0; only if there is one, for the first in row-major
/// order.
fn first_zero<T: Ordered>(call: Call<'_>, elements: Erased<'_>) -> Result<Option<usize>> {
    Ok(match call.reduce_erased::<T, HasZero>(elements)? {
        false => None,
        true => Some(call.reduce_erased::<T, FirstZero>(elements)? as usize),
    })
}
