//! f64 functions, compared with double-double arithmetic.

use tensor_kernels::{Tensor, ops};

use crate::{
    Function, Worst, execs,
    wide::{self, Scaled, Wide},
};

const FUNCTIONS: [Function<f64, Scaled>; 12] = [
    Function {
        name: "exp",
        run: |e, x| ops::exp(e, x),
        exact: |x| wide::exp(x.into()),
        bound: 1.1,
    },
    Function { name: "ln", run: |e, x| ops::ln(e, x), exact: |x| wide::ln(x).into(), bound: 1.0 },
    Function {
        name: "log2",
        run: |e, x| ops::log2(e, x),
        exact: |x| wide::log2(x).into(),
        bound: 1.0,
    },
    Function {
        name: "log10",
        run: |e, x| ops::log10(e, x),
        exact: |x| wide::log10(x).into(),
        bound: 1.0,
    },
    Function {
        name: "sin",
        run: |e, x| ops::sin(e, x),
        exact: |x| wide::sin_cos(x.into()).0.into(),
        bound: 1.0,
    },
    Function {
        name: "cos",
        run: |e, x| ops::cos(e, x),
        exact: |x| wide::sin_cos(x.into()).1.into(),
        bound: 1.0,
    },
    Function { name: "tanh", run: |e, x| ops::tanh(e, x), exact: tanh, bound: 1.6 },
    Function { name: "sigmoid", run: |e, x| ops::sigmoid(e, x), exact: sigmoid, bound: 1.8 },
    Function {
        name: "silu",
        run: |e, x| ops::silu(e, x),
        exact: |x| sigmoid(x).times(x.into()),
        bound: 1.8,
    },
    Function { name: "gelu", run: |e, x| ops::gelu(e, x), exact: gelu, bound: 2.0 },
    Function {
        name: "rsqrt",
        run: |e, x| ops::rsqrt(e, x),
        exact: |x| (Wide::from(1.0) / Wide::from(x).sqrt()).into(),
        bound: 1.5,
    },
    Function {
        name: "recip",
        run: |e, x| ops::recip(e, x),
        exact: |x| (Wide::from(1.0) / x.into()).into(),
        bound: 0.5,
    },
];

fn tanh(x: f64) -> Scaled {
    if x.abs() < 1e-8 {
        let x = Wide::from(x);
        return (x - x * x * x / 3.0.into()).into();
    }
    let power = wide::exp(Wide::from(2.0 * x.abs().min(50.0))).wide();
    let size = (power - 1.0.into()) / (power + 1.0.into());
    (if x < 0.0 { -size } else { size }).into()
}

fn sigmoid(x: f64) -> Scaled {
    let power = wide::exp(Wide::from(-x.abs()));
    let whole = Wide::from(1.0) + power.wide();
    if x < 0.0 { power.over(whole) } else { (Wide::from(1.0) / whole).into() }
}

fn gelu(x: f64) -> Scaled {
    let z = Wide::from(x.abs()) / Wide::from(2.0).sqrt();
    let upper = wide::erfc(z).times(0.5.into());
    if x < 0.0 {
        return upper.times(x.into());
    }
    ((Wide::from(1.0) - upper.wide()) * x.into()).into()
}

/// The error of a finite f64, in units in the last place of the exact result.
fn error(got: f64, Scaled(exact, exponent): Scaled) -> f64 {
    let own = (exact.high.abs().to_bits() >> 52) as i32 - 1023;
    // The exponent of the last place, which is fixed for subnormal numbers.
    let last = (own + exponent).max(-1022) - 52;
    let scaled = |x: f64, by: i32| x * f64::powi(2.0, by / 2) * f64::powi(2.0, by - by / 2);
    let got = Wide::from(scaled(got, -exponent));
    let unit = scaled(1.0, last - exponent);
    ((got - exact).high / unit).abs()
}

/// Arguments of both signs and all magnitudes, many of them near zeros and thresholds. `special`
/// tests larger arguments of the trigonometric functions.
fn arguments() -> Vec<f64> {
    let count = if std::env::var_os("TENSOR_EXHAUSTIVE").is_some() { 10_000_000 } else { 12_000 };
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB)
    };
    let mut all = Vec::new();
    for _ in 0..count {
        let bits = random();
        let unit = (random() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        all.extend([
            f64::from_bits(bits),
            unit * 800.0,
            unit * 6.0,
            1.0 + unit / 64.0,
            unit * 1.6e6,
        ]);
        // Close to a zero of a function, or to a threshold between two methods.
        let quarter = (random() % 1_000_000) as f64 * std::f64::consts::FRAC_PI_4;
        all.push(f64::from_bits(quarter.to_bits().wrapping_add(random() % 8).wrapping_sub(4)));
    }
    all
}

#[test]
fn functions_of_one_number() {
    let arguments = arguments();
    for Function { name, run, exact, bound } in FUNCTIONS {
        let fits = |&x: &f64| match name {
            "ln" | "log2" | "log10" | "rsqrt" => x > 0.0 && x.is_finite(),
            "sin" | "cos" => x.abs() < 1.6e6 && x.abs() > 1e-290,
            "exp" => x > -745.0 && x < 709.7,
            "recip" => x.abs() > 1e-300 && x.abs() < 1e300,
            "gelu" => x.abs() < 38.0 && x.abs() > 1e-290,
            "silu" => x.abs() < 740.0 && x.abs() > 1e-290,
            _ => x.abs() < 740.0,
        };
        let x: Vec<f64> = arguments.iter().copied().filter(fits).collect();
        let tensor = Tensor::from_slice(&x, [x.len()]).unwrap();
        let exact: Vec<Scaled> = x.iter().map(|&x| exact(x)).collect();
        for (level, exec) in execs() {
            let got = run(&exec, &tensor).unwrap().to_vec().unwrap();
            let mut worst = Worst::default();
            for ((&x, &got), &exact) in x.iter().zip(&got).zip(&exact) {
                worst.add(error(got, exact), x, got);
            }
            worst.check(&format!("{name} at {level}"), bound);
        }
    }
}

#[test]
fn angles() {
    let arguments: Vec<f64> =
        arguments().into_iter().filter(|x| x.abs() > 1e-140 && x.abs() < 1e140).collect();
    let (y, x) = arguments.split_at(arguments.len() / 2);
    let x = &x[..y.len()];
    let exact: Vec<Scaled> = y.iter().zip(x).map(|(&y, &x)| wide::atan2(y, x).into()).collect();
    let tensor = |values: &[f64]| Tensor::from_slice(values, [values.len()]).unwrap();
    let (y_tensor, x_tensor) = (tensor(y), tensor(x));
    for (level, exec) in execs() {
        let got = ops::atan2(&exec, &y_tensor, &x_tensor).unwrap().to_vec().unwrap();
        let mut worst = Worst::default();
        for (((&y, &x), &got), &exact) in y.iter().zip(x).zip(&got).zip(&exact) {
            worst.add(error(got, exact), (y, x), (got, exact.wide().high));
        }
        worst.check(&format!("atan2 at {level}"), 1.9);
    }
}
