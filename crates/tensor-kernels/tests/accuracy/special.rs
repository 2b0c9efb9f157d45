//! Infinities, zeros and NaN: C99's rules, and PyTorch's for the functions that C99 does not have.

use tensor_kernels::{Exec, Result, SimdLevel, Tensor, ops};

use crate::execs;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Equal, with the sign of zero, or both NaN.
fn same(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits()
}

type Unary<T> = fn(&Exec, &Tensor<T>) -> Result<Tensor<T>>;
type Binary<T> = fn(&Exec, &Tensor<T>, &Tensor<T>) -> Result<Tensor<T>>;

/// The value alone, and in a long row, which the vector loop computes.
fn rows<T: Copy>(value: T) -> [Vec<T>; 2] {
    [vec![value], vec![value; 67]]
}

fn check_unary<T: tensor_kernels::Scalar>(
    name: &str,
    run: Unary<T>,
    from: impl Fn(f64) -> T,
    to: impl Fn(T) -> f64,
    cases: &[(f64, f64)],
) {
    for &(x, expected) in cases {
        for row in rows(from(x)) {
            let x_tensor = Tensor::from_slice(&row, [row.len()]).unwrap();
            for (level, exec) in execs() {
                for got in run(&exec, &x_tensor).unwrap().to_vec().unwrap() {
                    let got = to(got);
                    assert!(
                        same(got, to(from(expected))),
                        "{name}({x}) at {level}: {got}, not {expected}"
                    );
                }
            }
        }
    }
}

macro_rules! unary_cases {
    ($($name:ident: $($x:expr => $y:expr),*;)*) => {$(
        #[test]
        fn $name() {
            let cases = [$(($x, $y)),*];
            check_unary("f64", |e, x| ops::$name(e, x), |x| x, |x| x, &cases);
            check_unary("f32", |e, x| ops::$name(e, x), |x| x as f32, f64::from, &cases);
            #[cfg(feature = "half")]
            {
                use half::{bf16, f16};
                check_unary("f16", |e, x| ops::$name(e, x), f16::from_f64, f16::to_f64, &cases);
                check_unary("bf16", |e, x| ops::$name(e, x), bf16::from_f64, bf16::to_f64, &cases);
            }
        }
    )*};
}

unary_cases! {
    exp: 0.0 => 1.0, -0.0 => 1.0, INF => INF, -INF => 0.0, NAN => NAN, 1e5 => INF, -1e5 => 0.0;
    ln: 1.0 => 0.0, 0.0 => -INF, -0.0 => -INF, -1.0 => NAN, -INF => NAN, INF => INF, NAN => NAN;
    log2: 1.0 => 0.0, 8.0 => 3.0, 0.25 => -2.0, 0.0 => -INF, -0.0 => -INF, -1.0 => NAN, INF => INF,
        NAN => NAN;
    log10: 1.0 => 0.0, 1000.0 => 3.0, 0.0 => -INF, -0.0 => -INF, -1.0 => NAN, INF => INF,
        NAN => NAN;
    sin: 0.0 => 0.0, -0.0 => -0.0, INF => NAN, -INF => NAN, NAN => NAN;
    cos: 0.0 => 1.0, -0.0 => 1.0, INF => NAN, -INF => NAN, NAN => NAN;
    tanh: 0.0 => 0.0, -0.0 => -0.0, INF => 1.0, -INF => -1.0, NAN => NAN, 50.0 => 1.0,
        -50.0 => -1.0;
    sigmoid: 0.0 => 0.5, -0.0 => 0.5, INF => 1.0, -INF => 0.0, NAN => NAN;
    silu: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => NAN, NAN => NAN, -30000.0 => -0.0;
    gelu: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => NAN, NAN => NAN, -30000.0 => -0.0,
        30000.0 => 30000.0;
    sqrt: 4.0 => 2.0, 0.0 => 0.0, -0.0 => -0.0, -1.0 => NAN, INF => INF, NAN => NAN;
    rsqrt: 4.0 => 0.5, 0.0 => INF, -0.0 => -INF, -1.0 => NAN, INF => 0.0, NAN => NAN;
    recip: 4.0 => 0.25, 0.0 => INF, -0.0 => -INF, INF => 0.0, -INF => -0.0, NAN => NAN;
    abs: -2.0 => 2.0, -0.0 => 0.0, -INF => INF, NAN => NAN;
    neg: 2.0 => -2.0, 0.0 => -0.0, INF => -INF, NAN => NAN;
    sign: 3.0 => 1.0, -3.0 => -1.0, 0.0 => 0.0, -0.0 => 0.0, INF => 1.0, -INF => -1.0, NAN => 0.0;
    square: -3.0 => 9.0, INF => INF, -INF => INF, NAN => NAN;
    relu: 3.0 => 3.0, -3.0 => 0.0, 0.0 => 0.0, -0.0 => -0.0, -INF => 0.0, INF => INF, NAN => NAN;
    floor: 1.5 => 1.0, -1.5 => -2.0, 2.0 => 2.0, -0.0 => -0.0, INF => INF, NAN => NAN;
    ceil: 1.5 => 2.0, -1.5 => -1.0, -0.5 => -0.0, 2.0 => 2.0, -INF => -INF, NAN => NAN;
    round: 0.5 => 0.0, 1.5 => 2.0, 2.5 => 2.0, -0.5 => -0.0, -1.5 => -2.0, INF => INF, NAN => NAN;
    trunc: 1.9 => 1.0, -1.9 => -1.0, -0.5 => -0.0, INF => INF, NAN => NAN;
}

fn check_binary<T: tensor_kernels::Scalar>(
    name: &str,
    run: Binary<T>,
    from: impl Fn(f64) -> T,
    to: impl Fn(T) -> f64,
    cases: &[(f64, f64, f64)],
) {
    for &(a, b, expected) in cases {
        for (x, y) in rows(from(a)).into_iter().zip(rows(from(b))) {
            let (x, y) = (
                Tensor::from_slice(&x, [x.len()]).unwrap(),
                Tensor::from_slice(&y, [y.len()]).unwrap(),
            );
            for (level, exec) in execs() {
                for got in run(&exec, &x, &y).unwrap().to_vec().unwrap() {
                    let got = to(got);
                    assert!(
                        same(got, to(from(expected))),
                        "{name}({a}, {b}) at {level}: {got}, not {expected}"
                    );
                }
            }
        }
    }
}

macro_rules! binary_cases {
    ($($name:ident { $($a:expr, $b:expr => $y:expr;)* })*) => {$(
        #[test]
        fn $name() {
            let cases = [$(($a, $b, $y)),*];
            check_binary("f64", |e, a, b| ops::$name(e, a, b), |x| x, |x| x, &cases);
            check_binary("f32", |e, a, b| ops::$name(e, a, b), |x| x as f32, f64::from, &cases);
            #[cfg(feature = "half")]
            {
                use half::{bf16, f16};
                let (of_f16, of_bf16): (Binary<f16>, Binary<bf16>) =
                    (|e, a, b| ops::$name(e, a, b), |e, a, b| ops::$name(e, a, b));
                check_binary("f16", of_f16, f16::from_f64, f16::to_f64, &cases);
                check_binary("bf16", of_bf16, bf16::from_f64, bf16::to_f64, &cases);
            }
        }
    )*};
}

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

binary_cases! {
    pow {
        2.0, 10.0 => 1024.0; -2.0, 3.0 => -8.0; -2.0, 2.0 => 4.0; -8.0, 0.5 => NAN; 4.0, 0.5 => 2.0;
        4.0, -0.5 => 0.5;
        1.0, NAN => 1.0; NAN, 0.0 => 1.0; NAN, -0.0 => 1.0; NAN, 1.0 => NAN; 2.0, NAN => NAN;
        0.0, 0.0 => 1.0;
        0.0, 3.0 => 0.0; -0.0, 3.0 => -0.0; -0.0, 2.0 => 0.0; 0.0, -1.0 => INF; -0.0, -1.0 => -INF;
        -0.0, -2.0 => INF; -0.0, 0.5 => 0.0;
        -1.0, INF => 1.0; -1.0, -INF => 1.0; 0.5, INF => 0.0; 0.5, -INF => INF; 2.0, INF => INF;
        2.0, -INF => 0.0; -2.0, INF => INF;
        INF, 2.0 => INF; INF, -2.0 => 0.0; -INF, 3.0 => -INF; -INF, 2.0 => INF; -INF, -3.0 => -0.0;
        -INF, 0.5 => INF; INF, 0.0 => 1.0;
    }
    atan2 {
        0.0, 1.0 => 0.0; -0.0, 1.0 => -0.0; 0.0, -1.0 => PI; -0.0, -1.0 => -PI; 0.0, 0.0 => 0.0;
        -0.0, 0.0 => -0.0; 0.0, -0.0 => PI;
        -0.0, -0.0 => -PI; 1.0, 0.0 => FRAC_PI_2; -1.0, -0.0 => -FRAC_PI_2; 1.0, INF => 0.0;
        -1.0, INF => -0.0; 1.0, -INF => PI;
        INF, 1.0 => FRAC_PI_2; -INF, 1.0 => -FRAC_PI_2; INF, INF => FRAC_PI_4;
        INF, -INF => 3.0 * FRAC_PI_4; -INF, -INF => -3.0 * FRAC_PI_4;
        NAN, 1.0 => NAN; 1.0, NAN => NAN; 1.0, 1.0 => FRAC_PI_4; 3.0, 0.0 => FRAC_PI_2;
    }
    minimum {
        1.0, 2.0 => 1.0; 2.0, 1.0 => 1.0; NAN, 1.0 => NAN; 1.0, NAN => NAN; 0.0, -0.0 => 0.0;
        -0.0, 0.0 => -0.0; INF, -INF => -INF;
    }
    maximum {
        1.0, 2.0 => 2.0; 2.0, 1.0 => 2.0; NAN, 1.0 => NAN; 1.0, NAN => NAN; 0.0, -0.0 => 0.0;
        -0.0, 0.0 => -0.0; INF, -INF => INF;
    }
    rem {
        5.5, 2.0 => 1.5; -5.5, 2.0 => 0.5; 5.5, -2.0 => -0.5; -5.5, -2.0 => -1.5; INF, 2.0 => NAN;
        1.0, INF => 1.0; 1.0, -INF => -INF;
        -1.0, INF => INF; 0.0, 0.0 => NAN; -0.0, 2.0 => -0.0;
    }
    div_floor {
        7.0, 2.0 => 3.0; -7.0, 2.0 => -4.0; 7.0, -2.0 => -4.0; 1.0, 0.0 => INF; -1.0, 0.0 => -INF;
        0.0, 0.0 => NAN; -0.0, 2.0 => -0.0;
    }
    div_trunc {
        7.0, 2.0 => 3.0; -7.0, 2.0 => -3.0; 1.0, 0.0 => INF; NAN, 1.0 => NAN;
    }
}

/// Arguments that are too large for the vectorised range reduction are computed one by one with the
/// standard library, and the other elements of the register must not change.
#[test]
fn large_angles() {
    let far = [1.7e6, -1.7e6, 1e15, 1e22, -1e30, 3e38];
    let near = [0.5, -3.0, 100.0, 1.6e6, -0.0];
    let mixed: Vec<f64> = far.iter().chain(&near).copied().cycle().take(700).collect();
    let alone: Vec<f64> = near.iter().copied().cycle().take(700).collect();
    for (level, exec) in execs() {
        let of = |x: &[f64]| {
            ops::sin(&exec, Tensor::from_slice(x, [x.len()]).unwrap()).unwrap().to_vec().unwrap()
        };
        let (mixed_sin, alone_sin) = (of(&mixed), of(&alone));
        for (x, y) in mixed.iter().zip(&mixed_sin) {
            let expected = match far.contains(x) {
                true => x.sin(),
                false => alone_sin[near.iter().position(|near| near == x).unwrap()],
            };
            assert_eq!(y.to_bits(), expected.to_bits(), "sin {x} at {level}");
        }
    }
}

/// The remainder with the divisor's sign, by the standard library.
macro_rules! modulus {
    ($a:expr, $b:expr) => {{
        let left = $a % $b;
        if left != 0.0 && (left < 0.0) != ($b < 0.0) { left + $b } else { left }
    }};
}

/// Quotients from tiny to too large for vectors, and those that round up to an integer.
macro_rules! remainders {
    ($name:ident, $type:ident, $far:expr) => {
        #[test]
        fn $name() {
            let size = |i: i16| $type::from(i % 97 + 1) * $type::powi(1.37, i32::from(i % 31) - 15);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for i in 0..6000i16 {
                let divisor = size(i / 5) * if i % 7 == 0 { -1.0 } else { 1.0 };
                // One place below a multiple, a large quotient in every second block, or any.
                let below = $type::from_bits((divisor.abs() * 3.0).to_bits() - 1);
                let is_far = i % 500 == 3 && i / 1024 % 2 == 1;
                let dividend = if is_far {
                    $far
                } else if i % 3 == 0 {
                    below
                } else {
                    -size(i)
                };
                a.push(dividend);
                b.push(divisor);
            }
            let tensor = |x: &[$type]| Tensor::from_slice(x, &[x.len()]).unwrap();
            for (level, exec) in execs() {
                let got = ops::rem(&exec, &tensor(&a), &tensor(&b)).unwrap().to_vec().unwrap();
                for ((&a, &b), got) in a.iter().zip(&b).zip(got) {
                    let exact = modulus!(a, b);
                    assert_eq!(got.to_bits(), exact.to_bits(), "{a:e} % {b:e} at {level}: {got:e}");
                }
            }
        }
    };
}

remainders!(remainders_f32, f32, 1e30);
remainders!(remainders_f64, f64, 1e300);

/// Special arguments anywhere in a block leave the other powers as they are.
#[test]
fn powers_beside_special_ones() {
    let bases: Vec<f32> = (1..3000i16).map(|i| f32::from(i) * 0.013).collect();
    let exponents: Vec<f32> = (1..3000i16).map(|i| f32::from(i % 61) * 0.37 - 9.0).collect();
    let mut mixed = bases.clone();
    let special = [0.0, -0.0, -2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for (i, x) in mixed.iter_mut().step_by(111).enumerate() {
        *x = special[i % special.len()];
    }
    let tensor = |x: &[f32]| Tensor::from_slice(x, [x.len()]).unwrap();
    for (level, exec) in execs() {
        let of = |x| ops::pow(&exec, tensor(x), tensor(&exponents)).unwrap().to_vec().unwrap();
        for (i, (got, alone)) in of(&mixed).iter().zip(of(&bases)).enumerate() {
            let expected = if i % 111 == 0 { mixed[i].powf(exponents[i]) } else { alone };
            let close = (got - expected).abs() <= expected.abs() * 1e-6;
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(same || (i % 111 == 0 && close), "{i} at {level}: {got} {expected}");
        }
    }
}

#[test]
fn squares_are_products() {
    let x: Vec<f32> = (-500..500i16).map(|i| f32::from(i) * 0.137).collect();
    let tensor = Tensor::from_slice(&x, [x.len()]).unwrap();
    for (level, exec) in execs() {
        let got = ops::pow(&exec, &tensor, 2.0).unwrap().to_vec().unwrap();
        for (&x, got) in x.iter().zip(got) {
            assert_eq!(got.to_bits(), (x * x).to_bits(), "{x} at {level}");
        }
    }
}

/// Numbers of many magnitudes.
fn of_all_sizes() -> Tensor<f64> {
    let number = |i: i32| f64::from(i % 97 - 40) * 1.37f64.powi(i % 61 - 30);
    Tensor::from_vec((1..2000).map(number).collect(), [1999]).unwrap()
}

/// The bits of the results at each level, and whether the level uses FMA.
fn bits(run: impl Fn(&Exec) -> Result<Tensor<f64>>) -> Vec<(bool, Vec<u64>)> {
    // All NaNs are equal.
    let bits = |x: f64| if x.is_nan() { NAN.to_bits() } else { x.to_bits() };
    let of = |(level, exec)| {
        let results = run(&exec).unwrap().to_vec().unwrap();
        let fused = level != SimdLevel::Scalar || cfg!(target_arch = "aarch64");
        (fused, results.into_iter().map(bits).collect())
    };
    execs().into_iter().map(of).collect()
}

/// Asserts the same bits at all levels for which `$comparable(fma, other_fma)` holds.
macro_rules! same_bits {
    ($comparable:expr; $($op:ident($($arg:ident),*))*) => {
        let comparable: fn(bool, bool) -> bool = $comparable;
        $(
            $(let $arg = of_all_sizes();)*
            let results = bits(|e| ops::$op(e, $(&$arg),*));
            for (fused, result) in &results {
                let other = results.iter().find(|(other, _)| comparable(*fused, *other)).unwrap();
                assert!(*result == other.1, concat!(stringify!($op), " differs between levels"));
            }
        )*
    };
}

#[test]
fn correctly_rounded_operations_are_the_same_at_every_level() {
    same_bits! { |_, _| true;
        add(a, b) sub(a, b) mul(a, b) div(a, b) rem(a, b) div_floor(a, b) div_trunc(a, b)
        minimum(a, b) mul_add(a, b, c) sqrt(a) rsqrt(a) recip(a) square(a) round(a) floor(a)
    }
}

#[test]
fn functions_are_the_same_at_all_levels_with_fma() {
    same_bits! { |fused, other| fused == other;
        exp(a) ln(a) log2(a) log10(a) sin(a) cos(a) tanh(a) sigmoid(a) silu(a) gelu(a)
        atan2(a, b) pow(a, b)
    }
}
