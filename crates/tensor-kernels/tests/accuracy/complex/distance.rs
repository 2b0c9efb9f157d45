//! Errors of complex functions relative to exact results, which are pairs of [wide](crate::wide)
//! numbers.
//!
//! The unit of an error is half a unit in the last place of 1, times the magnitude of the exact
//! result.

use num_complex::Complex;
use tensor_kernels::{Exec, Result, Tensor, ops};

use super::{
    C, Part,
    exact::{self, ONE, WideComplex},
};
use crate::{Worst, execs, wide::Wide};

type Unary<T> = fn(&Exec, &Tensor<T>) -> Result<Tensor<T>>;
type Binary<T> = fn(&Exec, &Tensor<T>, &Tensor<T>) -> Result<Tensor<T>>;

/// Random bits, the same in each run.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

/// Numbers from −1 to 1.
fn units(seed: u64) -> impl FnMut() -> f64 {
    let mut bits = random(seed);
    move || (bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

const COUNT: usize = 1500;

/// Points whose parts have all magnitudes up to `2^exponent` and down to its reciprocal.
fn of_all_sizes(seed: u64, exponent: f64) -> Vec<C> {
    let mut unit = units(seed);
    let mut part = || unit() * (exponent * unit()).exp2();
    (0..COUNT).map(|_| C::new(part(), part())).collect()
}

/// Points with real parts up to `re` and imaginary parts up to `im`.
fn within(seed: u64, re: f64, im: f64) -> Vec<C> {
    let mut unit = units(seed);
    (0..COUNT).map(|_| C::new(re * unit(), im * unit())).collect()
}

/// Points at decreasing distances from the unit circle.
fn near_one(seed: u64) -> Vec<C> {
    let mut unit = units(seed);
    let mut point = |i: usize| {
        let size = 1.0 + unit() * f64::powi(0.5, (i % 60) as i32);
        C::from_polar(size, 4.0 * unit())
    };
    (0..COUNT).map(&mut point).collect()
}

fn rounded<T: Part>(points: &[C]) -> Vec<T> {
    points.iter().map(|&z| T::of(z)).collect()
}

fn tensor<T: Part>(points: &[T]) -> Tensor<T> {
    Tensor::from_slice(points, [points.len()]).unwrap()
}

#[track_caller]
fn check_error<T: Part>(
    name: &str,
    run: Unary<T>,
    points: &[C],
    exact: fn(C) -> WideComplex,
    distance: fn(WideComplex, C) -> f64,
    bound: f64,
) {
    let points = rounded::<T>(points);
    let x = tensor(&points);
    for (level, exec) in execs() {
        let mut worst = Worst::default();
        for (&z, got) in points.iter().zip(run(&exec, &x).unwrap().to_vec().unwrap()) {
            let off = distance(exact(z.double()), got.double()) / T::HALF_UNIT;
            worst.add(off, z, got);
        }
        worst.check(&format!("{name} at {level}"), bound);
    }
}

macro_rules! check_error {
    ($op:ident, $points:expr, $exact:expr, $distance:expr,
     f32 $single:literal, f64 $double:literal) => {
        let points: Vec<C> = $points;
        let name = stringify!($op);
        check_error::<Complex<f32>>(
            name,
            |e, z| ops::$op(e, z),
            &points,
            $exact,
            $distance,
            $single,
        );
        check_error::<C>(name, |e, z| ops::$op(e, z), &points, $exact, $distance, $double);
    };
}

fn check_quotients<T: Part>(run: Binary<T>, a: &[C], b: &[C], bound: f64) {
    let (a, b) = (rounded::<T>(a), rounded::<T>(b));
    for (level, exec) in execs() {
        let mut worst = Worst::default();
        let got = run(&exec, &tensor(&a), &tensor(&b)).unwrap().to_vec().unwrap();
        for ((&a, &b), got) in a.iter().zip(&b).zip(got) {
            let exact = WideComplex::of(a.double()).over(WideComplex::of(b.double()));
            worst.add(exact.distance(got.double()) / T::HALF_UNIT, (a, b), (got, got));
        }
        worst.check(&format!("div at {level}"), bound);
    }
}

#[test]
fn quotients() {
    let single: Binary<Complex<f32>> = |e, a, b| ops::div(e, a, b);
    let double: Binary<C> = |e, a, b| ops::div(e, a, b);
    check_quotients(single, &of_all_sizes(1, 28.0), &of_all_sizes(2, 28.0), 1.01);
    check_quotients(double, &of_all_sizes(3, 200.0), &of_all_sizes(4, 200.0), 3.0);
    check_quotients(double, &within(5, 1.0, 1.0), &within(6, 1.0, 1.0), 3.0);
}

/// Scaling both operands by a power of two does not change a quotient.
#[test]
fn quotients_at_the_ends_of_the_range() {
    let (a, b) = (within(7, 1.0, 1.0), within(8, 1.0, 1.0));
    for exponent in [-900, -1018, 1000, 1023] {
        let by = f64::from_bits(((1023 + exponent) as u64) << 52);
        let [scaled_a, scaled_b] = [&a, &b].map(|z| z.iter().map(|z| z * by).collect::<Vec<_>>());
        for (level, exec) in execs() {
            let unscaled = ops::div(&exec, tensor(&a), tensor(&b)).unwrap().to_vec().unwrap();
            let scaled =
                ops::div(&exec, tensor(&scaled_a), tensor(&scaled_b)).unwrap().to_vec().unwrap();
            for ((unscaled, scaled), (a, b)) in
                unscaled.iter().zip(&scaled).zip(scaled_a.iter().zip(&scaled_b))
            {
                assert_eq!(scaled, unscaled, "{a} / {b} at {level}");
            }
        }
    }
}

#[test]
fn roots_and_reciprocals() {
    let recip = |z| WideComplex::of(ONE).over(WideComplex::of(z));
    let rsqrt = |z| WideComplex::of(ONE).over(WideComplex::of(z).root());
    let root = |z| WideComplex::of(z).root();
    check_error!(recip, of_all_sizes(9, 60.0), recip, WideComplex::distance, f32 1.01, f64 3.0);
    check_error!(sqrt, of_all_sizes(10, 60.0), root, WideComplex::distance, f32 1.01, f64 3.0);
    check_error!(rsqrt, of_all_sizes(11, 60.0), rsqrt, WideComplex::distance, f32 1.01, f64 3.0);
}

#[test]
fn tanh_and_sigmoid() {
    check_error!(tanh, within(12, 3.0, 4.0), exact::tanh, WideComplex::distance, f32 1.01, f64 4.0);
    let points = within(13, 40.0, 4.0);
    check_error!(tanh, points, exact::tanh, WideComplex::distance, f32 1.01, f64 4.0);
    // Away from the poles on the imaginary axis, near which the divisor loses digits.
    let points = within(14, 80.0, 1.5);
    check_error!(sigmoid, points, exact::sigmoid, WideComplex::distance, f32 1.01, f64 4.0);
}

/// The parts of a logarithm are compared separately: near the unit circle the real part is small,
/// and must be as accurate.
#[test]
fn logarithms() {
    let parts = |exact: WideComplex, got: C| {
        let off = |exact: Wide, got: f64| (exact - got.into()).high.abs() / exact.high.abs();
        off(exact.re, got.re).max(off(exact.im, got.im))
    };
    check_error!(ln, of_all_sizes(15, 60.0), exact::ln, parts, f32 1.01, f64 4.0);
    check_error!(ln, near_one(16), exact::ln, parts, f32 1.01, f64 4.0);
}
