//! Every named operation, for every element type that has it, at every SIMD level, compared with a
//! reference function of one element.
//!
//! Operands have several layouts (see [`check`]). Results are column-major and, if they have the
//! operands' type, overwrite the first operand. Values include the limits and the special values of
//! each type. The test program `accuracy` checks the errors of elementary functions.

#![cfg(feature = "reductions")]

#[path = "../common/mod.rs"]
mod common;

mod aliasing;
mod check;
mod complex;
mod floats;
mod forms;
mod integers;
mod reductions;
mod refusals;
