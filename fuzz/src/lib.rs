//! Shared by the fuzz targets: arguments drawn from the fuzzer's bytes, and a naive model of
//! layouts.
//!
//! The bytes are decoded to a raw layout and calls on it ([`draw`], [`Call`]). Each call is made on
//! a [`Layout`](tensor_kernels::Layout) and, by the rule in PyTorch's or Python's documentation, on
//! a [`Naive`] model: a list of offsets in 128-bit arithmetic, without strides. The two must agree,
//! on errors too.

mod call;
pub mod cases;
pub mod draw;
pub mod index;
mod naive;
mod rules;

pub use call::Call;
pub use naive::{LIMIT, Naive, Ruled, Stop, is_addressable};
