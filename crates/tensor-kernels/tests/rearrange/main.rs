//! Patterns in einops' notation.
//!
//! | test | what is checked |
//! |---|---|
//! | `golden` | `tests/data/rearrange.jsonl`: recorded results and refusals of einops |
//! | `random` | patterns of the `generator` against the `interpreter`, which maps index to index |
//! | `copies` | the number of buffers that a call allocates |
//! | `refusals` | each rule, with its place in the pattern |
//! | `extremes` | ranks from 0 to 64, sizes beyond memory, long patterns |
//!
//! `TENSOR_DIFFERENTIAL_CASES=n` sets the number of random patterns,
//! `TENSOR_DIFFERENTIAL_SEED=n` draws others.

#![cfg(feature = "reductions")]

mod copies;
mod extremes;
mod generator;
mod golden;
mod interpreter;
mod random;
mod refusals;
