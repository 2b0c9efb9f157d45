//! The kernels over any registers: written once, compiled for each instruction set that says what
//! its registers can do.

mod copy;
mod gather;
mod interleave;
mod isa;
pub(super) mod register;
mod row_writer;
mod shuffles;
mod stitch;
mod transpose;
mod unroll;
