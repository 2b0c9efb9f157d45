//! The named operations, each for the element types that have it.
//!
//! For views: `add_into(exec, &a, &b, &mut out)` and its like. For tensors: the methods of [`TensorExt`](crate::TensorExt) and the operators.

use tensor_core::{Result, TensorView, TensorViewMut};

use crate::{Cast, Exec, Fraction, Number, Ordered, map_into, zip_into, zip3_into};

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $f:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// Those of [`zip_into`].
        pub fn $name<T: $bound>(
            exec: &Exec,
            a: &TensorView<'_, T>,
            b: &TensorView<'_, T>,
            out: &mut TensorViewMut<'_, T>,
        ) -> Result<()> {
            zip_into(exec, a, b, out, T::$f)
        }
    )*};
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $f:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// Those of [`map_into`].
        pub fn $name<T: $bound>(exec: &Exec, a: &TensorView<'_, T>, out: &mut TensorViewMut<'_, T>) -> Result<()> {
            map_into(exec, a, out, T::$f)
        }
    )*};
}

binary! {
    /// `out = a + b` (PyTorch: `torch.add(a, b, out=out)`).
    add_into: Number, plus;
    /// `out = a − b` (PyTorch: `torch.sub`).
    sub_into: Number, minus;
    /// `out = a · b` (PyTorch: `torch.mul`).
    mul_into: Number, times;
    /// `out = a / b` (PyTorch: `torch.div`).
    div_into: Fraction, over;
}

unary! {
    /// `out = −a` (PyTorch: `torch.neg`).
    neg_into: Number, negated;
    /// `out = max(a, 0)`, NaN stays (PyTorch: `torch.relu`).
    relu_into: Ordered, or_zero;
    /// `out = √a` (PyTorch: `torch.sqrt`).
    sqrt_into: Fraction, root;
    /// `out = e^a` (PyTorch: `torch.exp`).
    exp_into: Fraction, power_of_e;
}

/// `out = a · b + c`, rounded once for real numbers (PyTorch: `torch.addcmul(c, a, b)`).
///
/// # Errors
/// Those of [`zip3_into`].
pub fn mul_add_into<T: Number>(
    exec: &Exec,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    c: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    zip3_into(exec, a, b, c, out, T::times_plus)
}

/// `out` = `a`, converted to another element type (PyTorch: `out.copy_(a)`).
///
/// # Errors
/// Those of [`map_into`].
pub fn cast_into<T: Cast<U>, U: tensor_core::Element>(
    exec: &Exec,
    a: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, U>,
) -> Result<()> {
    map_into(exec, a, out, T::cast)
}
