//! f32 functions, compared with the standard library in double precision and with `erfc` of
//! [`wide`] numbers.

use tensor_kernels::{Exec, Result, Tensor, ops};

use crate::{Function, Worst, execs, wide};

/// The step between tested bit patterns: a prime, so that all exponents and mantissas occur.
const STRIDE: usize = 16411;

const FUNCTIONS: [Function<f32, f64>; 12] = [
    Function { name: "exp", run: |e, x| ops::exp(e, x), exact: |x| f64::from(x).exp(), bound: 1.1 },
    Function { name: "ln", run: |e, x| ops::ln(e, x), exact: |x| f64::from(x).ln(), bound: 1.0 },
    Function {
        name: "log2",
        run: |e, x| ops::log2(e, x),
        exact: |x| f64::from(x).log2(),
        bound: 1.0,
    },
    Function {
        name: "log10",
        run: |e, x| ops::log10(e, x),
        exact: |x| f64::from(x).log10(),
        bound: 1.0,
    },
    Function { name: "sin", run: |e, x| ops::sin(e, x), exact: |x| f64::from(x).sin(), bound: 0.8 },
    Function { name: "cos", run: |e, x| ops::cos(e, x), exact: |x| f64::from(x).cos(), bound: 0.8 },
    Function {
        name: "tanh",
        run: |e, x| ops::tanh(e, x),
        exact: |x| f64::from(x).tanh(),
        bound: 1.6,
    },
    Function { name: "sigmoid", run: |e, x| ops::sigmoid(e, x), exact: sigmoid, bound: 1.8 },
    Function {
        name: "silu",
        run: |e, x| ops::silu(e, x),
        exact: |x| f64::from(x) * sigmoid(x),
        bound: 1.8,
    },
    Function { name: "gelu", run: |e, x| ops::gelu(e, x), exact: gelu, bound: 0.7 },
    Function {
        name: "rsqrt",
        run: |e, x| ops::rsqrt(e, x),
        exact: |x| 1.0 / f64::from(x).sqrt(),
        bound: 1.5,
    },
    Function {
        name: "recip",
        run: |e, x| ops::recip(e, x),
        exact: |x| 1.0 / f64::from(x),
        bound: 0.5,
    },
];

fn sigmoid(x: f32) -> f64 {
    1.0 / (1.0 + (-f64::from(x)).exp())
}

fn gelu(x: f32) -> f64 {
    let x = f64::from(x);
    if x.abs() > 40.0 {
        return x * if x > 0.0 { 1.0 } else { 0.0 };
    }
    let upper =
        wide::erfc(wide::Wide::from(x.abs()) / wide::Wide::from(2.0).sqrt()).wide().high / 2.0;
    x * if x < 0.0 { upper } else { 1.0 - upper }
}

/// The error of an f32, in units in the last place of the exact result.
fn error(got: f32, exact: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::NAN };
    }
    let exponent = (exact.abs().max(f64::from(f32::MIN_POSITIVE)).to_bits() >> 52) as i32 - 1023;
    let unit = f64::powi(2.0, exponent.min(127) - 23);
    if got.is_infinite() || exact.is_infinite() {
        // Results of at least half a unit above the largest number round to infinity.
        let beyond = f64::from(f32::MAX) + unit / 2.0;
        let right = exact.abs() >= beyond * (1.0 - 1e-7) && got.is_sign_positive() == (exact > 0.0);
        return if right && (got.is_infinite() || exact.abs() <= beyond) { 0.0 } else { f64::NAN };
    }
    (f64::from(got) - exact).abs() / unit
}

fn patterns() -> impl Iterator<Item = u32> {
    let stride = if std::env::var_os("TENSOR_EXHAUSTIVE").is_some() { 1 } else { STRIDE };
    (0..=u32::MAX).step_by(stride)
}

/// The numbers in blocks, as all of them would not fit in memory.
fn blocks() -> impl Iterator<Item = Vec<f32>> {
    let mut patterns = patterns().map(f32::from_bits).peekable();
    std::iter::from_fn(move || {
        patterns.peek()?;
        Some(patterns.by_ref().take(1 << 16).collect())
    })
}

#[test]
fn functions_of_one_number() {
    for function in FUNCTIONS {
        let mut worst = execs().iter().map(|_| Worst::default()).collect::<Vec<_>>();
        for block in blocks() {
            let x = Tensor::from_slice(&block, [block.len()]).unwrap();
            let exact: Vec<f64> = block.iter().map(|&x| (function.exact)(x)).collect();
            for ((_, exec), worst) in execs().iter().zip(&mut worst) {
                let got = (function.run)(exec, &x).unwrap().to_vec().unwrap();
                for ((&x, &got), &exact) in block.iter().zip(&got).zip(&exact) {
                    worst.add(error(got, exact), x, got);
                }
            }
        }
        for ((level, _), worst) in execs().iter().zip(&worst) {
            worst.check(&format!("{} at {level}", function.name), function.bound);
        }
    }
}

type Exact = fn(f64, f64) -> f64;
type Binary = fn(&Exec, &Tensor<f32>, &Tensor<f32>) -> Result<Tensor<f32>>;

/// Two numbers of all magnitudes, each pattern once as the first.
fn pairs() -> impl Iterator<Item = (f32, f32)> {
    let mix = |bits: u32| bits.wrapping_mul(0x9E37_79B9) ^ bits.rotate_left(13);
    patterns().flat_map(move |bits| {
        let other = f32::from_bits(mix(bits));
        // Powers of bases near 1 are the most sensitive ones.
        let near = f32::from_bits(0x3F00_0000 | bits >> 8);
        let few = (mix(bits) >> 8) as f32 / 65536.0 - 128.0;
        [(f32::from_bits(bits), other), (near, few), (few, few.round())]
    })
}

#[test]
fn functions_of_two_numbers() {
    let functions: [(&str, Binary, Exact, f64); 2] = [
        ("pow", |e, a, b| ops::pow(e, a, b), f64::powf, 0.7),
        ("atan2", |e, a, b| ops::atan2(e, a, b), f64::atan2, 0.7),
    ];
    let (a, b): (Vec<f32>, Vec<f32>) = pairs().unzip();
    let (x, y) =
        (Tensor::from_slice(&a, [a.len()]).unwrap(), Tensor::from_slice(&b, [b.len()]).unwrap());
    for (name, run, exact, bound) in functions {
        let exact: Vec<f64> =
            a.iter().zip(&b).map(|(&a, &b)| exact(f64::from(a), f64::from(b))).collect();
        for (level, exec) in execs() {
            let got = run(&exec, &x, &y).unwrap().to_vec().unwrap();
            let mut worst = Worst::default();
            for (((&a, &b), &got), &exact) in a.iter().zip(&b).zip(&got).zip(&exact) {
                worst.add(error(got, exact), (a, b), (got, exact as f32));
            }
            worst.check(&format!("{name} at {level}"), bound);
        }
    }
}
