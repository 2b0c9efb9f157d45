//! Complex numbers, up to rounding.

#![cfg(feature = "complex")]

use num_complex::Complex;
use tensor_kernels::ops;

use crate::check::{binary, ternary, unary};

type C = Complex<f64>;

fn table() -> Vec<C> {
    let parts = [0.5, -1.5, 2.0, 0.0, -0.25];
    parts
        .iter()
        .flat_map(|&re| parts.iter().map(move |&im| C::new(re, im)))
        .filter(|z| z.norm() > 0.0)
        .collect()
}

macro_rules! functions {
    ($check:ident: $($op:ident, |$($z:ident),*| $value:expr;)*) => {$(
        $check(stringify!($op), &table(), functions!(@run $check $op), |$($z: C),*| $value);
    )*};
    (@run unary $op:ident) => { |e, a, o| ops::$op(e, a, o) };
    (@run binary $op:ident) => { |e, a, b, o| ops::$op(e, a, b, o) };
    (@run ternary $op:ident) => { |e, a, b, c, o| ops::$op(e, a, b, c, o) };
}

#[test]
fn arithmetic() {
    functions! { binary:
        add_into, |a, b| a + b;
        sub_into, |a, b| a - b;
        mul_into, |a, b| a * b;
        div_into, |a, b| a / b;
        pow_into, |a, b| (b * a.ln()).exp();
        eq_into, |a, b| a == b;
        ne_into, |a, b| a != b;
    }
    functions! { ternary: mul_add_into, |a, b, c| a * b + c; }
}

#[test]
fn functions() {
    functions! { unary:
        neg_into, |z| -z;
        square_into, |z| z * z;
        abs_into, |z| z.re.hypot(z.im);
        recip_into, |z| z.finv();
        sqrt_into, |z| (z.ln() * 0.5).exp();
        exp_into, |z| C::from_polar(z.re.exp(), z.im);
        ln_into, |z| C::new(z.norm().ln(), z.arg());
        log10_into, |z| z.ln() / std::f64::consts::LN_10;
        log2_into, |z| z.ln() / std::f64::consts::LN_2;
        sin_into, |z| C::new(z.re.sin() * z.im.cosh(), z.re.cos() * z.im.sinh());
        cos_into, |z| C::new(z.re.cos() * z.im.cosh(), -z.re.sin() * z.im.sinh());
        tanh_into, |z| z.sinh() / z.cosh();
        sigmoid_into, |z| C::new(1.0, 0.0) / (C::new(1.0, 0.0) + (-z).exp());
        is_nan_into, |z| z.is_nan();
        logical_not_into, |z| z.norm() == 0.0;
    }
}
