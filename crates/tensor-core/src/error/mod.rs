//! The errors of this workspace.
//!
//! One enum. Each variant contains the operation and the offending values, so that callers can
//! match on them. If PyTorch has a message for the same mistake the text begins with it, and adds
//! the values or a remedy.
//!
//! The variants stand in files by what is refused: another `shape`, `dims`, shapes that do not
//! `broadcast`, an `index`, a `layout`, `memory`, an `operation`. Three contain the errors of
//! `pattern`, `dtype` and `movement`.

mod broadcast;
mod dims;
mod dtype;
mod error_enum;
mod index;
mod layout;
mod memory;
mod message;
mod movement;
mod operation;
mod pattern;
mod shape;

pub use dtype::DTypeError;
pub use movement::MovementError;

use crate::{DType, Overlap};
use broadcast::broadcast_errors;
use dims::dims_errors;
use error_enum::{error_variants, join_variants};
use index::index_errors;
use layout::layout_errors;
use memory::memory_errors;
use message::{
    byte_stride_text, dtype_names, empty_text, overlap_text, range_text, remedies_text, seam_text,
    shared_text, strides_text, value_text,
};
use operation::operation_errors;
pub use pattern::{PatternError, PatternRule, PatternSide};
use shape::shape_errors;

/// The result type of the crates of this workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

join_variants! {
    /// Why an operation was refused. Inputs and outputs are unchanged.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Error {
        shape_errors, dims_errors, broadcast_errors, index_errors, layout_errors, memory_errors,
        operation_errors, wrapped_errors
    }
}

error_variants! { $ wrapped_errors

/// A pattern in einops' notation that is malformed, or does not fit the operation or its input.
#[error("{why}")]
Pattern(why: Box<PatternError>),

/// A dtype, or a pair of them, that an operation on tensors of run-time dtypes refuses.
#[error("{why}")]
DType(why: Box<DTypeError>),

/// An operation that joins, pads, rolls or indexes was refused.
#[error("{why}")]
Movement(why: Box<MovementError>),
}

impl From<Box<PatternError>> for Error {
    fn from(why: Box<PatternError>) -> Self {
        Self::Pattern(why)
    }
}

impl From<DTypeError> for Error {
    fn from(why: DTypeError) -> Self {
        Self::DType(Box::new(why))
    }
}

impl From<MovementError> for Error {
    fn from(why: MovementError) -> Self {
        Self::Movement(Box::new(why))
    }
}
