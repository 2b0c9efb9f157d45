//! Every named operation, for every element type that has it, at every SIMD level, compared with a
//! reference function of one element.
//!
//! Operands have several layouts (see [`check`]). Results are column-major and, if they have the
//! operands' type, overwrite the first operand. Values include the limits and the special values of
//! each type. The test program `accuracy` checks the errors of elementary functions.
//!
//! `any` tests the operations on tensors of run-time dtypes, `operand_kinds` those on every kind of
//! operand and output, `movement` those that move elements, and `random` all of them on random
//! layouts. They stand in one program, because what takes the compiler's time is to instantiate the
//! same operations for the same types.

#![cfg(all(feature = "ledger", feature = "reductions"))]

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../common/named_operations.rs"]
mod named_operations;

mod aliasing;
mod any;
mod check;
mod complex;
mod floats;
mod forms;
mod in_registers;
mod index_reductions;
mod integers;
mod movement;
mod operand_kinds;
mod random;
mod reductions;
mod refusals;
