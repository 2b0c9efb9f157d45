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
use crate::kernel::{Function1, Function2, Function3, Map, RegisterOp, Zip, Zip3};

/// An operation on inputs of one type, with `N - 1` inputs.
pub(super) struct OperationForm<const N: usize> {
    /// The bytes of an element of the result and of each input.
    pub(super) widths: [usize; N],
    pub(super) register_op: Option<RegisterOp>,
}

impl<const N: usize> OperationForm<N> {
    fn new<T: Element, R: Element>(register_op: Option<RegisterOp>) -> Self {
        let widths = std::array::from_fn(|k| if k == 0 { size_of::<R>() } else { size_of::<T>() });
        Self { widths, register_op }
    }

    /// The form of the function `op` of [`ops`].
    ///
    /// # Errors
    /// [`DTypeError::Unsupported`] if there is none of this name and number of operands, or it is
    /// not defined for the dtype.
    pub(super) fn of(op: &'static str, dtype: DType) -> Result<Self> {
        match N {
            2 => unary_form(op, dtype),
            3 => binary_form(op, dtype),
            4 => ternary_form(op, dtype),
            _ => Err(DTypeError::Unsupported { op, dtype }.into()),
        }
    }
}

fn unary_form<const N: usize>(op: &'static str, dtype: DType) -> Result<OperationForm<N>> {
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
                    fn form<const N: usize, T: Element, R: Element>(
                        f: impl Function1<T, Output = R>,
                    ) -> OperationForm<N> {
                        OperationForm::new::<T, R>(Map::new(f).of_types().any().register_op())
                    }
                    Ok(form::<N, T, _>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    unary_operations! { forms }
}

fn binary_form<const N: usize>(op: &'static str, dtype: DType) -> Result<OperationForm<N>> {
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
                    fn form<const N: usize, T: Element, R: Element>(
                        f: impl Function2<T, T, Output = R>,
                    ) -> OperationForm<N> {
                        OperationForm::new::<T, R>(Zip::new(f).of_types().any().register_op())
                    }
                    Ok(form::<N, T, _>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    binary_operations! { forms }
}

fn ternary_form<const N: usize>(op: &'static str, dtype: DType) -> Result<OperationForm<N>> {
    macro_rules! forms {
        ($(
            $(#[$doc:meta])*
            $operation:ident<$t:ident: $bound:ident>:
                $name:ident, $into:ident, in place $inplace:ident { $($value:tt)* }
        )*) => {
            match op {
                $(stringify!($name) => match_dtype!($bound, dtype, op, T => {
                    fn form<const N: usize, T: Element>(
                        f: impl Function3<T, T, T, Output = T>,
                    ) -> OperationForm<N> {
                        OperationForm::new::<T, T>(Zip3::new(f).of_types().any().register_op())
                    }
                    Ok(form::<N, T>(ops::$operation))
                }),)*
                _ => Err(DTypeError::Unsupported { op, dtype }.into()),
            }
        };
    }
    ternary_operations! { forms }
}
