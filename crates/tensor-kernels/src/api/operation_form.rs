//! What a plan must know of a named operation: the widths of its operands, and the operation of
//! registers that it is.

use tensor_core::{DType, DTypeError, Element, Result};

use super::{
    ops::{
        self,
        table::{binary_operations, ternary_operations, unary_operations},
    },
    types::match_dtype,
};
use crate::kernel::{Compute, Function1, Function2, Function3, Map, RegisterOp, Zip, Zip3};

/// An operation on inputs of one type, with `N - 1` inputs.
pub(super) struct OperationForm<const N: usize> {
    /// The bytes of an element of the result and of each input.
    pub(super) widths: [usize; N],
    pub(super) register_op: Option<RegisterOp>,
    /// Does it take much longer to compute a result than to store it?
    pub(super) computes_much: bool,
}

impl<const N: usize> OperationForm<N> {
    /// The form of the function `op` of [`ops`].
    ///
    /// # Errors
    /// [`DTypeError::Unsupported`] if there is none of this name and number of operands, or it is
    /// not defined for the dtype.
    pub(super) fn of(op: &'static str, dtype: DType) -> Result<Self> {
        let Form { result, input, register_op, computes_much } = match N {
            2 => unary_form(op, dtype),
            3 => binary_form(op, dtype),
            4 => ternary_form(op, dtype),
            _ => Err(DTypeError::Unsupported { op, dtype }.into()),
        }?;
        let widths = std::array::from_fn(|k| if k == 0 { result } else { input });
        Ok(Self { widths, register_op, computes_much })
    }
}

/// The same for any number of inputs, so that it is found by code that is compiled in this crate.
struct Form {
    /// The bytes of a result.
    result: usize,
    /// The bytes of an element of an input.
    input: usize,
    register_op: Option<RegisterOp>,
    computes_much: bool,
}

impl Form {
    /// Of an operation by its type alone: with the operation behind a trait object, all its loops
    /// would be compiled, for every element type.
    fn of<const N: usize, T, C: Compute<N>>() -> Self {
        Self {
            result: size_of::<C::Output>(),
            input: size_of::<T>(),
            register_op: C::register_op(),
            computes_much: C::COMPUTES_MUCH,
        }
    }
}

fn unary_form(op: &'static str, dtype: DType) -> Result<Form> {
    macro_rules! forms {
        ($(
            $(#[$doc:meta])*
            $operation:ident<$t:ident: $bound:ident> -> $output:ty:
                $name:ident, $into:ident
                $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
                { $($value:tt)* }
        )*) => {
            match op {
                $(stringify!($name) => match_dtype!($bound, dtype, op, T => {
                    fn form<T: Element, F: Function1<T, Output: Element>>(_: F) -> Form {
                        Form::of::<2, T, Map<F, T>>()
                    }
                    Ok(form::<T, _>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    unary_operations! { forms }
}

fn binary_form(op: &'static str, dtype: DType) -> Result<Form> {
    macro_rules! forms {
        ($(
            $(#[$doc:meta])*
            $operation:ident<$t:ident: $bound:ident> -> $output:ty:
                $name:ident, $into:ident
                $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
                $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
                { $($value:tt)* }
        )*) => {
            match op {
                $(stringify!($name) => match_dtype!($bound, dtype, op, T => {
                    fn form<T: Element, F: Function2<T, T, Output: Element>>(_: F) -> Form {
                        Form::of::<3, T, Zip<F, T, T>>()
                    }
                    Ok(form::<T, _>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    binary_operations! { forms }
}

fn ternary_form(op: &'static str, dtype: DType) -> Result<Form> {
    macro_rules! forms {
        ($(
            $(#[$doc:meta])*
            $operation:ident<$t:ident: $bound:ident>:
                $name:ident, $into:ident, in place $inplace:ident { $($value:tt)* }
        )*) => {
            match op {
                $(stringify!($name) => match_dtype!($bound, dtype, op, T => {
                    fn form<T: Element, F: Function3<T, T, T, Output: Element>>(_: F) -> Form {
                        Form::of::<4, T, Zip3<F, T, T, T>>()
                    }
                    Ok(form::<T, _>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    ternary_operations! { forms }
}
