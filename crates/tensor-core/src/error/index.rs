//! Refusals of indices and ranges: narrow, select, index tuples, windows, parts.

use super::error_enum::error_variants;

error_variants! { $ index_errors

/// A start beyond the dimension.
#[error(
    "start out of range (expected to be in range of [-{size}, {size}], but got {start}) \
     [narrow of dimension {dim}]"
)]
NarrowStart {
    /// The start given.
    start: isize,
    /// The dimension.
    dim: usize,
    /// Its size.
    size: usize,
},

/// A range that ends beyond the dimension.
#[error(
    "start ({start}) + length ({len}) exceeds dimension size ({size}). [narrow of dimension \
     {dim}]"
)]
NarrowLength {
    /// The start given, counted from the front.
    start: usize,
    /// The length given.
    len: usize,
    /// The dimension.
    dim: usize,
    /// Its size.
    size: usize,
},

/// An index beyond the dimension, in select.
#[error("select(): index {index} out of range for tensor of size {shape:?} at dimension {dim}")]
SelectIndex {
    /// The index given.
    index: isize,
    /// The dimension.
    dim: usize,
    /// The shape of the input.
    shape: Vec<usize>,
},

/// An index beyond the dimension, in an index tuple or element access.
#[error("index {index} is out of bounds for dimension {dim} with size {size}")]
IndexOutOfBounds {
    /// The index given.
    index: isize,
    /// The dimension.
    dim: usize,
    /// Its size.
    size: usize,
},

/// More indices than dimensions.
#[error("too many indices for tensor of dimension {ndim} [{given} given]")]
TooManyIndices {
    /// The number of dimensions.
    ndim: usize,
    /// The number of indices.
    given: usize,
},

/// Fewer indices than dimensions in the access of one element.
#[error("an element of a tensor of dimension {ndim} needs {ndim} indices, but got {given}")]
TooFewIndices {
    /// The number of dimensions.
    ndim: usize,
    /// The number of indices.
    given: usize,
},

/// Two ellipses in one index tuple.
#[error("an index can only have a single ellipsis ('...')")]
TwoEllipses,

/// A step of zero.
#[error("slice step cannot be zero")]
ZeroStep,

/// A window longer than the dimension.
#[error("maximum size for tensor at dimension {dim} is {size} but size is {window} [unfold]")]
UnfoldSize {
    /// The dimension.
    dim: usize,
    /// Its size.
    size: usize,
    /// The window asked for.
    window: usize,
},

/// A window step of zero.
#[error("step is 0 but must be > 0 [unfold]")]
UnfoldStep,

/// A split of a tensor without dimensions.
#[error("{op} expects at least a 1-dimensional tensor")]
NothingToSplit {
    /// The operation.
    op: &'static str,
},

/// Parts of size zero of a dimension that is not empty.
#[error(
    "split_size can only be 0 if dimension size is 0, but got dimension size of {size} [split]"
)]
SplitSize {
    /// The size of the dimension.
    size: usize,
},

/// Zero chunks.
#[error("chunk expects `chunks` to be greater than 0, got: 0")]
ZeroChunks,
}
