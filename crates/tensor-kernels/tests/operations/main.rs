//! Every named operation, for every element type that has it, at every SIMD level, against a
//! function of one element in other words.
//!
//! Operands lie in several ways (see [`check`]); the result is fresh, given in another order, and,
//! where it has the operands' type, the first operand itself. Values include the ends of each type
//! and what is special about it. Elementary functions are held to their accuracy elsewhere; here
//! they must only be the right ones.

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
