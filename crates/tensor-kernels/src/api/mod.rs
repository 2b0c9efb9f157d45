//! The public functions: copies, elementwise operations, reductions, and the methods of tensors.
//!
//! Shapes, overlap and borrows are checked here. The layers below fail only for want of memory.

pub(crate) mod any;
pub(crate) mod bytes;
pub(crate) mod call;
pub(crate) mod compiled;
pub(crate) mod copy;
pub(crate) mod copy_explanation;
pub(crate) mod copy_plan;
mod divisors;
pub(crate) mod elementwise;
mod equal;
pub(crate) mod ext;
pub(crate) mod in_place;
pub(crate) mod ledger;
pub(crate) mod movement;
pub mod ops;
pub(crate) mod rearrange;
pub(crate) mod reduce;
mod reductions;
pub(crate) mod repeat;
pub(crate) mod rows;
pub(crate) mod tensor;
mod types;
