//! Divisors of 0, which integers refuse: they are looked for before anything is written.

use tensor_core::{Operand, Result};

use super::{
    call::{Call, Divisors},
    reductions::{FirstZero, HasZero},
};
use crate::{element::Ordered, run::Erased};

impl Call<'_> {
    /// The same, refusing divisors of 0 of types that have no result then. A value that is none
    /// need not be asked again.
    pub(crate) fn dividing_by<T: Ordered>(self, divisors: &Operand<'_, T>) -> Self {
        match divisors {
            _ if T::DIVIDES_BY_ZERO => self,
            Operand::Value(divisor) if divisor.truth() => self,
            _ => Self { divisors: Divisors::NotZero(first_zero::<T>), ..self },
        }
    }
}

/// Looks along memory whether there is a 0, and only then where the first one is.
fn first_zero<T: Ordered>(call: Call<'_>, elements: Erased<'_>) -> Result<Option<usize>> {
    Ok(match call.reduce_erased::<T, HasZero>(elements)? {
        false => None,
        true => Some(call.reduce_erased::<T, FirstZero>(elements)? as usize),
    })
}
