//! Refusals of a layout: its strides, its size, the elements that it needs.

use super::error_enum::error_variants;

error_variants! { $ layout_errors

/// Shape and strides of different lengths.
#[error("mismatch in length of strides and shape [shape {shape:?}, strides {strides:?}]")]
StridesLength {
    /// The shape given.
    shape: Vec<usize>,
    /// The strides given.
    strides: Vec<isize>,
},

/// A negative stride in `as_strided`, which follows PyTorch's rules.
#[error(
    "as_strided: Negative strides are not supported at the moment, got strides: {strides:?}. \
     Build the layout with Layout::new and use .with_layout(...)."
)]
NegativeStrides {
    /// The strides given.
    strides: Vec<isize>,
},

/// A layout with elements beyond the end of the storage.
#[error(
    "sizes {shape:?} with strides {strides:?} and storage offset {offset} reach beyond the end \
     of the storage: {needed} bytes needed, {available} there [{itemsize} bytes an element]"
)]
OutOfBounds {
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements.
    strides: Vec<isize>,
    /// The offset, in elements.
    offset: usize,
    /// The width of an element, in bytes.
    itemsize: usize,
    /// The storage that would be needed, in bytes.
    needed: u128,
    /// The storage there is, in bytes.
    available: usize,
},

/// A layout with elements before the start of the storage.
#[error(
    "strides {strides:?} reach below the start of the storage from storage offset {offset} \
     [shape {shape:?}]"
)]
BelowStorage {
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements.
    strides: Vec<isize>,
    /// The offset, in elements.
    offset: usize,
},

/// More elements, or larger offsets, than `isize::MAX`.
#[error(
    "Storage size calculation overflowed with sizes={shape:?}{} [{what} exceeds isize::MAX]",
    strides_text(strides)
)]
TooLarge {
    /// The quantity that overflows.
    what: &'static str,
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements; empty if they were not computed yet.
    strides: Vec<isize>,
},

/// A stride of `isize::MIN`, which cannot be negated.
#[error("stride isize::MIN of dimension {dim} cannot be reversed")]
StrideMin {
    /// The dimension.
    dim: usize,
},

/// A layout with gaps, overlap or an offset for a newly allocated tensor, which must be dense.
#[error(
    "a new tensor needs a dense layout from offset 0, but got shape {shape:?}, strides \
     {strides:?}, offset {offset}"
)]
NotDense {
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements.
    strides: Vec<isize>,
    /// The offset, in elements.
    offset: usize,
},

/// The number of values is not what the shape needs.
#[error("shape {shape:?} needs {needed} elements, but {given} were given")]
ElementCount {
    /// The shape.
    shape: Vec<usize>,
    /// The number of elements of the shape.
    needed: usize,
    /// The number of values given.
    given: usize,
},

/// A slice or a vector that ends before the last element of a layout.
#[error(
    "shape {shape:?} with strides {strides:?} and offset {offset} needs {needed} elements, \
     but {given} were given"
)]
TooFewElements {
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements.
    strides: Vec<isize>,
    /// The offset, in elements.
    offset: usize,
    /// The number of elements up to the last one of the layout.
    needed: usize,
    /// The number of elements given.
    given: usize,
},

/// A padded stride that is smaller than what it has to hold.
#[error(
    "padded stride: an index of dimension {dim} needs {needed} elements, which a stride of \
     {stride} does not hold"
)]
PaddedStride {
    /// The dimension.
    dim: usize,
    /// The stride given, in elements.
    stride: usize,
    /// The least stride, in elements.
    needed: usize,
},
}
