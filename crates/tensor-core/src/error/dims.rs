//! Refusals of dimensions, one or a list of them.

use super::error_enum::error_variants;

error_variants! { $ dims_errors

/// A dimension that the tensor does not have.
#[error("{} [{op}]", range_text(*dim, *range))]
DimOutOfRange {
    /// The operation.
    op: &'static str,
    /// The dimension given.
    dim: isize,
    /// The number of dimensions there are to choose from.
    range: usize,
},

/// The operation needs at least one dimension.
#[error("{op}() cannot be applied to a 0-dim tensor.")]
ZeroDim {
    /// The operation.
    op: &'static str,
},

/// A permutation with too few or too many dimensions.
#[error(
    "permute: number of dimensions in the tensor input does not match the length of the \
     desired ordering of dimensions \
     i.e. input.dim() = {ndim} is not equal to len(dims) = {given}"
)]
PermuteLength {
    /// The number of dimensions of the input.
    ndim: usize,
    /// The number of dimensions given.
    given: usize,
},

/// A dimension repeated in a permutation.
#[error("permute(): duplicate dims are not allowed. [dimension {dim} repeats]")]
PermuteTwice {
    /// The dimension, counted from the front.
    dim: usize,
},

/// A dimension repeated in flip.
#[error("dim {dim} appears multiple times in the list of dims [flip]")]
FlipTwice {
    /// The dimension, counted from the front.
    dim: usize,
},

/// A dimension repeated in a reduction.
#[error("dim {dim} appears multiple times in the list of dims [{op}]")]
ReduceTwice {
    /// The operation.
    op: &'static str,
    /// The dimension, counted from the front.
    dim: usize,
},

/// A reduction without identity, like max, of no elements.
#[error("{} [shape {shape:?}: no elements have no {op}]", empty_text(op, *dim))]
ReduceEmpty {
    /// The operation.
    op: &'static str,
    /// The dimension of size 0, if dimensions were given.
    dim: Option<usize>,
    /// The shape of the input.
    shape: Vec<usize>,
},

/// A dimension repeated in the source or the destination of movedim.
#[error("movedim: repeated dim in `{list}` ({dims:?})")]
MoveTwice {
    /// `source` or `destination`.
    list: &'static str,
    /// The dimensions given.
    dims: Vec<isize>,
},

/// Source and destination of movedim have different lengths.
#[error(
    "movedim: Invalid source or destination dims: source ({from:?} dims) should contain the \
     same number of dims as destination ({to:?} dims)"
)]
MoveLength {
    /// The dimensions to move.
    from: Vec<isize>,
    /// The positions to move them to.
    to: Vec<isize>,
},

/// More than two dimensions where a matrix is needed.
#[error(
    "t() expects a tensor with <= 2 dimensions, but self is {ndim}D. Use .transpose(d0, d1) \
     or .permute(dims)."
)]
NotAMatrix {
    /// The number of dimensions of the input.
    ndim: usize,
},

/// A diagonal of a dimension with itself.
#[error("diagonal dimensions cannot be identical {d0}, {d1}")]
DiagonalDims {
    /// The first dimension given.
    d0: isize,
    /// The second dimension given.
    d1: isize,
},
}
