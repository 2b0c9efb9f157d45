//! Division by zero of integers, which is refused: divisors are searched for 0 before anything is
//! written.

use tensor_core::{Operand, Result};

use super::{
    call::{Call, Divisors},
    reductions::{FirstZero, HasZero},
};
use crate::{element::Ordered, run::Erased};

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
}

/// First searches in memory order for any 0; only if there is one, for the first in row-major
/// order.
fn first_zero<T: Ordered>(call: Call<'_>, elements: Erased<'_>) -> Result<Option<usize>> {
    Ok(match call.reduce_erased::<T, HasZero>(elements)? {
        false => None,
        true => Some(call.reduce_erased::<T, FirstZero>(elements)? as usize),
    })
}
