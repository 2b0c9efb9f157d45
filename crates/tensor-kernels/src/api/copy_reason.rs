//! Why operations copy, as the [ledger](super::ledger) tells it.

use std::fmt;

use tensor_core::{DType, Error, MemoryFormat};

/// Why an operation copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyReason {
    /// The input is not contiguous: the stride of this dimension is another than expected.
    NotContiguous {
        /// The dimension.
        dim: usize,
    },
    /// The input is not contiguous in this memory format.
    NotInFormat(MemoryFormat),
    /// Strides cannot express the shape: a requested dimension would span this dimension and the
    /// one before it, which are not adjacent in memory.
    NotViewable {
        /// The dimension.
        dim: usize,
    },
    /// The operand shares elements with the result at other indices.
    OverlapsResult,
    /// The operand is converted to the dtype in which the operation computes.
    Converted {
        /// The dtype of the operand.
        from: DType,
        /// The dtype of the operation.
        to: DType,
    },
    /// The input is a view of borrowed memory, and the result owns its memory.
    OfView,
    /// The tensor's memory cannot be handed over: others share it, or it is not the whole of a
    /// vector.
    NotOwned,
    /// The operation always copies.
    Requested,
}

impl CopyReason {
    /// Why a view of this kind was refused.
    pub(crate) fn of_refusal(refusal: &Error) -> Self {
        match refusal {
            Error::NotViewable { seam, .. } => Self::NotViewable { dim: *seam },
            _ => Self::Requested,
        }
    }
}

impl fmt::Display for CopyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotContiguous { dim } => {
                write!(f, "the input is not contiguous at dimension {dim}")
            }
            Self::NotInFormat(format) => write!(f, "the input is not contiguous as {format:?}"),
            Self::NotViewable { dim } => {
                write!(f, "dimensions {} and {dim} cannot be viewed as one", dim.wrapping_sub(1))
            }
            Self::OverlapsResult => f.write_str("the operand overlaps the result"),
            Self::Converted { from, to } => {
                write!(f, "the operand is converted from {from} to {to}")
            }
            Self::OfView => f.write_str("the input is borrowed and the result owns its memory"),
            Self::NotOwned => f.write_str("the memory is shared, or not the whole of a vector"),
            Self::Requested => f.write_str("it always copies"),
        }
    }
}
