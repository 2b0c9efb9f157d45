//! What the fuzz targets share: arguments drawn from the fuzzer's bytes, and a naive model of
//! layouts.
//!
//! The bytes become a raw layout and calls on it ([`draw`], [`Call`]). Each call is made on a
//! [`Layout`](tensor_kernels::Layout) and, by the rule that PyTorch's or Python's manual states for
//! it, on a [`Naive`] model: a list of offsets in 128-bit arithmetic without strides. The two must
//! agree, on refusals too.

mod call;
pub mod draw;
pub mod index;
mod naive;
mod rules;

pub use call::Call;
pub use naive::{LIMIT, Naive, Ruled, Stop, is_addressable};
