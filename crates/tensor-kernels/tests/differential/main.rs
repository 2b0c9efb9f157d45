//! Differential testing: random operations on random layouts, compared with loops over single
//! elements.
//!
//! A random case consists of an operation, element types of different widths, layouts, addresses
//! within a cache line, threads, a machine and a SIMD level. Most machines have tiny caches, so
//! that every path is taken with arrays that are checked in a fraction of a millisecond. Guard
//! bytes surround the operands and fill the gaps of results.
//!
//! `generator` draws and checks one case; `runner` runs many, and shrinks and prints the first
//! failure. Environment variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `TENSOR_DIFFERENTIAL_CASES=n` | the number of cases of each test |
//! | `TENSOR_DIFFERENTIAL_SEED=n` | other cases |
//! | `TENSOR_DIFFERENTIAL_CASE=line` | this case alone, as a failure printed it |
//! | `TENSOR_DIFFERENTIAL_IN_PROCESS=1` | no child processes, for emulators and valgrind |
//! | `TENSOR_SIMD=level` | this instruction set alone |

#![cfg(feature = "reductions")]

mod generator;
mod runner;
mod shrink;

use generator::{Case, Choices, KINDS};

#[test]
fn copies() {
    runner::run("copies", 4_000);
}

#[test]
fn elementwise() {
    runner::run("elementwise", 8_000);
}

#[test]
fn casts_and_comparisons() {
    runner::run("casts_and_comparisons", 4_000);
}

#[test]
fn reductions() {
    runner::run("reductions", 3_000);
}

#[test]
fn aliasing() {
    runner::run("aliasing", 1_500);
}

/// A case that is drawn from a fuzzer's bytes can be repeated from its recorded choices.
#[test]
fn a_case_repeats_from_its_choices() {
    for (kind, check) in KINDS {
        let bytes: Vec<u8> = (0..160u32).map(|i| (i * i * 7 + kind.len() as u32) as u8).collect();
        let mut case = Case::described(Choices::bytes(&bytes));
        assert_eq!(check(&mut case), Ok(()), "{}", case.description());
        let mut again = Case::described(Choices::listed(case.choices.made()));
        assert_eq!(check(&mut again), Ok(()));
        assert_eq!(again.description(), case.description());
    }
}
