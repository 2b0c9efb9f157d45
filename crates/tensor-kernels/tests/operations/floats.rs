//! Real floats, compared with the results in f64, rounded once.

use tensor_kernels::ops;

use crate::check::{binary, in_place, operands, ternary, unary};

/// Python's `%` of floats.
fn modulus(a: f64, b: f64) -> f64 {
    let left = a % b;
    if left != 0.0 && (left < 0.0) != (b < 0.0) { left + b } else { left }
}

/// PyTorch's `minimum`.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if b < a {
        b
    } else {
        a
    }
}

fn maximum(a: f64, b: f64) -> f64 {
    -minimum(-a, -b)
}

fn sign(a: f64) -> f64 {
    f64::from(i8::from(a > 0.0) - i8::from(a < 0.0))
}

/// Values whose results are the same whether computed directly in a format of up to 32 bits or in
/// f64 and then rounded.
const VALUES: [f64; 18] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    3.0,
    -7.0,
    0.125,
    100.25,
    -4096.0,
    3e4,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

macro_rules! two {
    ($type:ty, $table:ident, $widen:ident, $narrow:ident:
     $($op:ident, |$a:ident, $b:ident| $value:expr;)*) => {$(
        let name = concat!(stringify!($type), " ", stringify!($op));
        let oracle = |a: $type, b: $type| {
            let ($a, $b) = ($widen(a), $widen(b));
            $narrow($value)
        };
        binary(name, &$table, |e, a, b, o| ops::$op(e, a, b, o), oracle);
        in_place(name, operands(&$table), |e, a, b, o| ops::$op(e, a, b, o), oracle);
    )*};
}

macro_rules! compared {
    ($type:ty, $table:ident, $widen:ident: $($op:ident, |$a:ident, $b:ident| $value:expr;)*) => {$(
        binary(stringify!($op), &$table, |e, a, b, o| ops::$op(e, a, b, o), |a: $type, b: $type| {
            let ($a, $b) = ($widen(a), $widen(b));
            $value
        });
    )*};
}

macro_rules! one {
    ($type:ty, $table:ident, $widen:ident: $($op:ident, |$a:ident| $value:expr;)*) => {$(
        let name = concat!(stringify!($type), " ", stringify!($op));
        unary(name, &$table, |e, a, o| ops::$op(e, a, o), |a: $type| {
            let $a = $widen(a);
            $value
        });
    )*};
}

macro_rules! floats {
    ($($(#[$gate:meta])* $name:ident: $type:ty, $from:expr, $to:expr;)*) => {$(
        $(#[$gate])*
        #[test]
        fn $name() {
            let (widen, narrow) = (|x: $type| -> f64 { let from = $from; from(x) }, $to);
            let edges = [widen(<$type>::MIN_POSITIVE), widen(<$type>::MAX), widen(<$type>::MIN)];
            let table: Vec<$type> = VALUES.into_iter().chain(edges).map(narrow).collect();
            two! { $type, table, widen, narrow:
                add_into, |a, b| a + b;
                sub_into, |a, b| a - b;
                mul_into, |a, b| a * b;
                div_into, |a, b| a / b;
                minimum_into, |a, b| minimum(a, b);
                maximum_into, |a, b| maximum(a, b);
            }
            compared! { $type, table, widen:
                eq_into, |a, b| a == b;
                ne_into, |a, b| a != b;
                lt_into, |a, b| a < b;
                le_into, |a, b| a <= b;
                gt_into, |a, b| a > b;
                ge_into, |a, b| a >= b;
                logical_and_into, |a, b| a != 0.0 && b != 0.0;
                logical_or_into, |a, b| a != 0.0 || b != 0.0;
                logical_xor_into, |a, b| (a != 0.0) != (b != 0.0);
            }
            one! { $type, table, widen:
                neg_into, |a| narrow(-a);
                abs_into, |a| narrow(a.abs());
                sign_into, |a| narrow(sign(a));
                square_into, |a| narrow(a * a);
                recip_into, |a| narrow(1.0 / a);
                sqrt_into, |a| narrow(a.sqrt());
                relu_into, |a| narrow(if a < 0.0 { 0.0 } else { a });
                floor_into, |a| narrow(a.floor());
                ceil_into, |a| narrow(a.ceil());
                round_into, |a| narrow(a.round_ties_even());
                trunc_into, |a| narrow(a.trunc());
                logical_not_into, |a| a == 0.0;
                is_nan_into, |a| a.is_nan();
            }
            let small = VALUES.into_iter().filter(|x| x.abs() != 4096.0 && *x != 3e4);
            let small: Vec<$type> = small.map(narrow).collect();
            two! { $type, small, widen, narrow:
                rem_into, |a, b| modulus(a, b);
                div_trunc_into, |a, b| (a / b).trunc();
            }
            let mul_add = |a: $type, b: $type, c: $type| {
                narrow(widen(a).mul_add(widen(b), widen(c)))
            };
            let clamp = |a: $type, b: $type, c: $type| {
                narrow(minimum(maximum(widen(a), widen(b)), widen(c)))
            };
            ternary("mul_add", &small, |e, a, b, c, o| ops::mul_add_into(e, a, b, c, o), mul_add);
            ternary("clamp", &table, |e, a, b, c, o| ops::clamp_into(e, a, b, c, o), clamp);
        }
    )*};
}

floats! {
    singles: f32, f64::from, (|x: f64| x as f32);
    doubles: f64, f64::from, (|x: f64| x);
    #[cfg(feature = "half")]
    halves: half::f16, half::f16::to_f64, half::f16::from_f64;
    #[cfg(feature = "half")]
    brain_halves: half::bf16, half::bf16::to_f64, half::bf16::from_f64;
}

/// Elementary functions of half precision and of integers are computed in f32.
#[test]
fn functions_computed_in_f32() {
    macro_rules! functions {
        ($($op:ident $exact:expr;)*) => {$(
            let exact: fn(f64) -> f64 = $exact;
            let integers: Vec<i32> = (-30..60).collect();
            let oracle = |a: i32| exact(f64::from(a)) as f32;
            let run = |e: &_, a: &_, o: &_| ops::$op(e, a, o);
            close(stringify!($op), &integers, run, oracle, |x| f64::from(x), 3e-7);
            #[cfg(feature = "half")]
            {
                let eighths = (-60..60).map(|n| f64::from(n) / 8.0);
                let halves: Vec<half::f16> = eighths.map(half::f16::from_f64).collect();
                let oracle = |a: half::f16| half::f16::from_f64(exact(a.to_f64()));
                let run = |e: &_, a: &_, o: &_| ops::$op(e, a, o);
                close(stringify!($op), &halves, run, oracle, half::f16::to_f64, 1e-3);
            }
        )*};
    }
    functions! {
        exp_into f64::exp;
        ln_into f64::ln;
        log2_into f64::log2;
        log10_into f64::log10;
        sin_into f64::sin;
        cos_into f64::cos;
        tanh_into f64::tanh;
        sigmoid_into |x| 1.0 / (1.0 + (-x).exp());
        rsqrt_into |x| 1.0 / x.sqrt();
        recip_into |x| 1.0 / x;
        sqrt_into f64::sqrt;
    }
}

/// As [`unary`], with a tolerated relative error.
fn close<A: crate::check::Same, R: crate::check::Same>(
    name: &str,
    table: &[A],
    run: crate::check::Into1<A, R>,
    oracle: impl Fn(A) -> R,
    number: impl Fn(R) -> f64,
    error: f64,
) {
    let [a, ..] = operands(table);
    for exec in crate::check::execs() {
        let out = tensor_kernels::Tensor::full(a.shape(), oracle(table[0])).unwrap();
        run(&exec, &a, &out).unwrap();
        for (x, got) in a.to_vec().unwrap().into_iter().zip(out.to_vec().unwrap()) {
            let (got, exact) = (number(got), number(oracle(x)));
            let right = got == exact
                || (got.is_nan() && exact.is_nan())
                || (got - exact).abs() <= error * exact.abs().max(1e-6);
            assert!(right, "{name} of {x:?} at {}: {got}, not {exact}", exec.simd());
        }
    }
}
