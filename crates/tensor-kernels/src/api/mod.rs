//! The public functions: copies, elementwise operations, reductions, and the methods of tensors.
//!
//! Shapes, overlap and borrows are checked here. The layers below fail only for want of memory.

#![allow(clippy::needless_pass_by_value, reason = "an operand is often the result of a call")]

pub(crate) mod any;
pub(crate) mod bytes;
#[cfg(feature = "elementwise")]
pub(crate) mod call;
#[cfg_attr(not(feature = "elementwise"), allow(unused, reason = "only `equal` needs it"))]
pub(crate) mod compiled;
pub(crate) mod copied;
pub(crate) mod copy;
pub(crate) mod copy_explanation;
pub(crate) mod copy_plan;
pub(crate) mod copy_reason;
#[cfg(feature = "elementwise")]
mod divisors;
#[cfg(feature = "elementwise")]
pub(crate) mod elementwise;
#[cfg(feature = "elementwise")]
pub(crate) mod elementwise_explanation;
mod equal;
mod explanation_text;
pub(crate) mod ext;
#[cfg(feature = "in-place")]
pub(crate) mod in_place;
#[cfg(feature = "ledger")]
pub(crate) mod ledger;
#[cfg(not(feature = "ledger"))]
#[path = "no_ledger.rs"]
pub(crate) mod ledger;
#[cfg(feature = "elementwise")]
pub(crate) mod movement;
#[cfg(feature = "elementwise")]
mod operation_form;
#[cfg(feature = "elementwise")]
pub mod ops;
mod parts;
pub(crate) mod rearrange;
#[cfg(feature = "reductions")]
pub(crate) mod reduce;
#[cfg(feature = "elementwise")]
mod reduction;
#[cfg(feature = "reductions")]
pub(crate) mod reduction_explanation;
#[cfg(feature = "reductions")]
mod reductions;
pub(crate) mod repeat;
#[cfg(feature = "reductions")]
pub(crate) mod rows;
pub(crate) mod tensor;
mod types;
