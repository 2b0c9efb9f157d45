//! Every public operation takes every kind of operand, writes to every kind of output, and is a
//! method of tensors, views and mutable views. The results are those of tensors.

#[macro_use]
mod kinds;

mod elementwise;
mod generic;
mod moving;
mod operators;
mod reading;
mod reducing;
mod shapes;
