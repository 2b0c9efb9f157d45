//! Newly allocated results of elementwise operations, each element written once.

use tensor_core::{Element, Layout, Result, TensorBase, Uninit, ViewRef};

use super::{
    elementwise::{compute1, compute2, compute3},
    operands::Input,
};
use crate::{exec::Exec, kernel::OperationOf};

/// For each number of inputs: a new tensor of `layout` with the elements `f(inputs)`, index by
/// index.
macro_rules! computed {
    ($($name:ident: $compute:ident($($arg:ident: $type:ident),*), $n:literal;)*) => {$(
        pub(crate) fn $name<$($type: Element,)* R: Element, K>(
            exec: &Exec,
            operation: OperationOf<'_, $n, ($($type,)* R)>,
            layout: Layout,
            $($arg: ViewRef<'_, $type>,)*
        ) -> Result<TensorBase<R, K>> {
            let mut result = Uninit::new(layout)?;
            $compute(exec, operation, &mut result.as_elements_mut(), $(Input::View($arg)),*);
            // SAFETY: an operation that returns has written every element of its result's layout.
            // If it panics, this line is not reached.
            Ok(unsafe { result.assume_init() })
        }
    )*};
}

computed! {
    computed1: compute1(a: A), 2;
    computed2: compute2(a: A, b: B), 3;
    computed3: compute3(a: A, b: B, c: C), 4;
}
