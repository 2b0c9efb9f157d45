//! Operations on whole rows: softmax, variance, norms, running sums.
//!
//! A row is the elements along the dimensions that an operation combines. Rows of any strides are
//! copied to scratch memory in blocks that fit the caches, by the copies and conversions of the
//! rest of this crate. A kernel computes the block there, in the [wide type](crate::Real::Wide),
//! and the results are copied out. So each element is read from memory once and each result written
//! once, whatever the strides. A row too long for that is computed in parts, which are combined in
//! a tree.
//!
//! How rows are cut depends on the sizes and strides only, so no result depends on the number of
//! threads.

mod blocks;
mod close;
mod cumulative;
mod kernels;
mod long;
pub(super) mod methods;
mod norm;
mod softmax;
mod variance;

pub use self::{close::*, cumulative::*, norm::*, softmax::*, variance::*};
