//! The error of each elementary function, over the whole range, at every SIMD level.
//!
//! f32 functions are compared with double precision, for a sample of all bit patterns; with
//! `TENSOR_EXHAUSTIVE=1` for all of them (an hour). f64 functions are compared with [`wide`]
//! numbers, for random bit patterns, all magnitudes, and arguments near the thresholds between
//! methods. The unit of errors is the unit in the last place of the exact result. A failure names
//! the argument.

#![cfg(feature = "reductions")]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "complex")]
mod complex;
mod doubles;
#[cfg(feature = "half")]
mod halves;
mod singles;
mod special;
mod sums;
mod wide;

use tensor_kernels::{Element, Exec, Result, SimdLevel, Tensor};

/// A function of one number under test, with its reference and the bound of its error.
struct Function<T: Element, W> {
    name: &'static str,
    run: fn(&Exec, &Tensor<T>) -> Result<Tensor<T>>,
    exact: fn(T) -> W,
    bound: f64,
}

/// The levels to test, serial: results do not depend on threads.
fn execs() -> Vec<(SimdLevel, Exec)> {
    let serial = |level| Exec::current().unwrap().with_simd(level).unwrap().serial();
    common::levels().into_iter().map(|level| (level, serial(level))).collect()
}

/// The largest error and its argument.
#[derive(Clone, Copy, Default)]
struct Worst<T> {
    error: f64,
    at: T,
    got: T,
}

impl<T: Copy + std::fmt::Debug> Worst<T> {
    fn add(&mut self, error: f64, at: T, got: T) {
        // NaN instead of a number, or the reverse, is an infinite error.
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error > self.error {
            *self = Self { error, at, got };
        }
    }

    #[track_caller]
    fn check(&self, what: &str, bound: f64) {
        let Self { error, at, got } = self;
        println!("{what}: {error:.3} ulp at {at:?}");
        assert!(*error <= bound, "{what} of {at:?} gives {got:?}, {error} units off");
    }
}
