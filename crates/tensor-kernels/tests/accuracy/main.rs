//! How far each elementary function is from the exact result, over the whole range, at every SIMD
//! level.
//!
//! f32 goes by strides through all bit patterns, against double precision; with
//! `TENSOR_EXHAUSTIVE=1` through every one (an hour). f64 takes random bit patterns, numbers of
//! every magnitude and those around the places where a method changes, against [`wide`] numbers.
//! Errors count in units in the last place of the exact result; a bound that is broken names the
//! argument.

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

use tensor_kernels::{Exec, Result, SimdLevel, Tensor};

/// A function of one number under test, and what it may be wrong by.
struct Function<T, W> {
    name: &'static str,
    run: fn(&Exec, &Tensor<T>) -> Result<Tensor<T>>,
    exact: fn(T) -> W,
    bound: f64,
}

/// The levels to test, serial: threads do not change results.
fn execs() -> Vec<(SimdLevel, Exec)> {
    let serial = |level| Exec::current().unwrap().with_simd(level).unwrap().serial();
    common::levels().into_iter().map(|level| (level, serial(level))).collect()
}

/// The largest error, and where it was.
#[derive(Clone, Copy, Default)]
struct Worst<T> {
    error: f64,
    at: T,
    got: T,
}

impl<T: Copy + std::fmt::Debug> Worst<T> {
    fn add(&mut self, error: f64, at: T, got: T) {
        // No number where there should be one, or the reverse, is as wrong as can be.
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
