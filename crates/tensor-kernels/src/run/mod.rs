//! Running a plan: choose the instructions once a piece, walk its loops, call its kernels.

mod allocate;
mod blocked;
mod bounce;
mod copy;
mod elementwise;
mod levels;
mod operands;
mod pack;
mod reduce;
mod reduce_workspace;
mod stream;
mod tiny;
mod walk;
mod workspace;

pub(crate) use allocate::{computed, copied, reduced};
pub(crate) use copy::copy;
pub(crate) use elementwise::compute;
pub(crate) use operands::{Ends, Place};
pub(crate) use reduce::reduce;
pub(crate) use tiny::{copy_tiny, is_tiny};
