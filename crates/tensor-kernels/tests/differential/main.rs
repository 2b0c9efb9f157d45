//! Differential testing: random operations on random layouts against loops over single elements.
//!
//! Tests that name their cases find the mistakes that somebody thought of. Here a case is drawn:
//! an operation, element types of different widths, layouts, addresses within a cache line,
//! threads, a machine and an instruction set. Machines are tiny, so that every path runs on arrays
//! that are checked in a fraction of a millisecond. Around the operands, and in the gaps of
//! results, lie guard bytes.
//!
//! `generator` draws and checks one case; `runner` runs many, and shrinks and prints one that
//! fails. Environment variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `TENSOR_DIFFERENTIAL_CASES=n` | the number of cases of each test |
//! | `TENSOR_DIFFERENTIAL_SEED=n` | other cases |
//! | `TENSOR_DIFFERENTIAL_CASE=line` | this case alone, as a failure printed it |
//! | `TENSOR_DIFFERENTIAL_IN_PROCESS=1` | no child processes, for emulators and valgrind |
//! | `TENSOR_SIMD=level` | this instruction set alone |

mod generator;
mod runner;
mod shrink;

#[test]
fn copies() {
    runner::run("copies", 30_000);
}

#[test]
fn elementwise() {
    runner::run("elementwise", 30_000);
}

#[test]
fn casts_and_comparisons() {
    runner::run("casts_and_comparisons", 30_000);
}

#[test]
fn reductions() {
    runner::run("reductions", 20_000);
}

#[test]
fn aliasing() {
    runner::run("aliasing", 20_000);
}
