//! einops' notation: rearrange, repeat and reduce the elements of a tensor by a pattern of named
//! axes.
//!
//! 1. `parse` splits the text into dimensions, `number` numbers their axes and applies the rules of
//!    the operation, `pattern` keeps them. What can be refused without a shape is refused here,
//!    once for each pattern.
//! 2. `resolve` finds the sizes of all axes for a shape, and the steps: split, permute, insert,
//!    merge.
//! 3. `apply` takes the steps. Only the last one, merging, can need a copy. That copy writes the
//!    axes in the order of the result, where merging is a view. A reduction writes them in this
//!    order itself.

mod apply;
mod number;
mod parse;
mod pattern;
#[cfg(feature = "reductions")]
mod reduction;
mod resolve;

pub use self::{
    apply::{rearrange, reduce_with, repeat_axes},
    pattern::{PatternArg, RearrangePattern, ReducePattern, RepeatPattern},
};
#[cfg(feature = "reductions")]
pub(super) use apply::reduced_any;
pub(super) use apply::{rearranged, rearranged_view, reduced};
pub(super) use pattern::Pattern;
#[cfg(feature = "reductions")]
pub use reduction::{Reduction, reduce};
pub(super) use resolve::Strided;
