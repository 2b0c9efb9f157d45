//! What is measured: a dense base array and the view operations on it.
//!
//! [`layouts`] is the table of common layouts that the report measures. [`operand`] is one array of
//! a case, [`view_op`] one view operation on it, and [`sample`] the values that fill it.
//! [`strided`] is a view as a slice and a layout, the form that the naive loop and other libraries
//! take.

pub mod layouts;
pub mod operand;
pub mod sample;
pub mod strided;
pub mod view_op;
