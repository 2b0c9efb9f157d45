//! Refusals of another shape: views, flattened or split dimensions, other elements.

use super::error_enum::error_variants;

error_variants! { $ shape_errors

/// The strides cannot express the requested shape; only a copy can.
/// [`Layout::why_not_view`](crate::Layout::why_not_view) has the reason and the ways out as
/// data.
#[error(
    "view size is not compatible with input tensor's size and stride (at least one dimension \
     spans across two contiguous subspaces). \
     Use .reshape(...) instead. [size {shape:?} stride {strides:?} as {target:?}: {}{}]",
    seam_text(strides, *seam, *expected), remedies_text(shape, strides, target)
)]
NotViewable {
    /// The shape of the input.
    shape: Vec<usize>,
    /// The strides of the input, in elements.
    strides: Vec<isize>,
    /// The shape asked for.
    target: Vec<usize>,
    /// A requested dimension would span this input dimension and the one before it, which are
    /// not adjacent in memory.
    seam: usize,
    /// The stride that the dimension before would need.
    expected: isize,
},

/// The number of elements of the new shape differs from the input's.
#[error("shape '{shape:?}' is invalid for input of size {numel}")]
ShapeMismatch {
    /// The shape asked for.
    shape: Vec<isize>,
    /// The number of elements there are.
    numel: usize,
},

/// More than one −1 in a requested shape.
#[error("only one dimension can be inferred, but shape {shape:?} has several -1")]
InferTwice {
    /// The shape asked for.
    shape: Vec<isize>,
},

/// A −1 that any size would satisfy.
#[error(
    "cannot reshape tensor of 0 elements into shape {shape:?} because the unspecified \
     dimension size -1 can be any value and is ambiguous"
)]
InferAmbiguous {
    /// The shape asked for.
    shape: Vec<isize>,
},

/// A size below −1 in a requested shape.
#[error("invalid shape dimension {size} at index {index} of shape {shape:?}")]
InvalidSize {
    /// The size refused.
    size: isize,
    /// Its index in the shape.
    index: usize,
    /// The shape asked for.
    shape: Vec<isize>,
},

/// The product of the sizes given to unflatten is not the dimension's size.
#[error(
    "unflatten: Provided sizes {sizes:?} don't multiply up to the size of dim {dim} ({size}) \
     in the input tensor"
)]
Unflatten {
    /// The sizes given.
    sizes: Vec<isize>,
    /// The dimension.
    dim: usize,
    /// Its size.
    size: usize,
},

/// Unflatten without sizes.
#[error("unflatten: sizes must be non-empty")]
UnflattenEmpty,

/// A range of dimensions that ends before it starts.
#[error("flatten() has invalid args: start_dim cannot come after end_dim [{start} > {end}]")]
FlattenRange {
    /// The first dimension.
    start: usize,
    /// The last dimension.
    end: usize,
},

/// A reinterpretation as another element type that the layout does not allow.
#[error(
    "{what} to view {from}-byte as {to}-byte elements (different element sizes){}",
    value_text(*value)
)]
ViewDType {
    /// The requirement, in PyTorch's words.
    what: String,
    /// The width of the present element, in bytes.
    from: usize,
    /// The width asked for, in bytes.
    to: usize,
    /// The value that breaks the rule, if there is one.
    value: Option<isize>,
},

/// A memory format that does not fit the rank.
#[error("required rank {needed} tensor to use {format} format [got rank {ndim}]")]
FormatRank {
    /// The memory format.
    format: &'static str,
    /// The rank it needs.
    needed: usize,
    /// The rank there is.
    ndim: usize,
},

/// `Preserve` without a layout to preserve.
#[error("preserve memory format is unsupported by the contiguous operator")]
PreserveFormat,
}
