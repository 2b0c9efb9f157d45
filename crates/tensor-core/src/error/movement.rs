//! The refusals of operations that join, pad, roll and index.

use super::error_enum::error_enum;

error_enum! {
/// Why an operation that moves elements was refused; see [`Error::Movement`](super::Error).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MovementError {
    /// No tensor to concatenate.
    #[error("torch.cat(): expected a non-empty list of Tensors")]
    CatNothing,

    /// No tensor to stack.
    #[error("stack expects a non-empty TensorList")]
    StackNothing,

    /// A tensor without dimensions in a concatenation.
    #[error(
        "zero-dimensional tensor (at position {position}) cannot be concatenated. Use stack(...)."
    )]
    CatScalar {
        /// Its position in the list.
        position: usize,
    },

    /// Tensors of different ranks in a concatenation.
    #[error(
        "Tensors must have same number of dimensions: got {expected} and {ndim} [tensor number \
         {position} in the list]"
    )]
    CatRank {
        /// The number of dimensions of the first tensor.
        expected: usize,
        /// The number of dimensions of this one.
        ndim: usize,
        /// Its position in the list.
        position: usize,
    },

    /// Tensors whose sizes differ in another dimension than the one along which they are joined.
    #[error(
        "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got \
         size {size} for tensor number {position} in the list. [dimension {differs} differs]"
    )]
    CatSizes {
        /// The dimension along which tensors are joined.
        dim: usize,
        /// The dimension that differs.
        differs: usize,
        /// Its size in the first tensor.
        expected: usize,
        /// Its size in this tensor.
        size: usize,
        /// The position of this tensor in the list.
        position: usize,
    },

    /// Tensors of different shapes in a stack.
    #[error(
        "stack expects each tensor to be equal size, but got {expected:?} at entry 0 and \
         {shape:?} at entry {position}"
    )]
    StackSizes {
        /// The shape of the first tensor.
        expected: Vec<usize>,
        /// The shape of this tensor.
        shape: Vec<usize>,
        /// Its position in the list.
        position: usize,
    },

    /// A list of paddings that is not pairs, or of too many dimensions.
    #[error("{}", pad_length_text(*given, *ndim))]
    PadLength {
        /// The number of paddings given.
        given: usize,
        /// The number of dimensions of the input.
        ndim: usize,
    },

    /// A padding that the mode cannot make from the elements there are.
    #[error(
        "{} [{mode} padding ({before}, {after}) of dimension {dim} of size {size}]",
        pad_text(mode)
    )]
    PadSize {
        /// The mode.
        mode: &'static str,
        /// The padding before the elements.
        before: isize,
        /// The padding after them.
        after: isize,
        /// The dimension.
        dim: usize,
        /// Its size.
        size: usize,
    },

    /// Another number of shifts than of dimensions.
    #[error("shifts and dimensions must align. shifts: {shifts}, dims:{dims} [roll]")]
    RollLength {
        /// The number of shifts.
        shifts: usize,
        /// The number of dimensions.
        dims: usize,
    },

    /// Too few dimensions for a matrix.
    #[error("{op}: input tensor must have at least 2 dimensions [got {ndim}]")]
    NoMatrix {
        /// The operation.
        op: &'static str,
        /// The number of dimensions of the input.
        ndim: usize,
    },

    /// A negative number of repeats.
    #[error("repeats can not be negative [{repeats} at position {position}]")]
    NegativeRepeats {
        /// The number given.
        repeats: i64,
        /// Its position among the repeats.
        position: usize,
    },

    /// Another number of repeats than of indices.
    #[error(
        "repeats must have the same size as input along dim, but got repeats.size(0) = {given} \
         and input.size({dim}) = {size}"
    )]
    RepeatsLength {
        /// The number of repeats.
        given: usize,
        /// The dimension.
        dim: usize,
        /// Its size.
        size: usize,
    },

    /// A list of indices or of repeats that has two dimensions or more.
    #[error("{op}(): {name} is supposed to be a vector [got shape {shape:?}]")]
    NotAVector {
        /// The operation.
        op: &'static str,
        /// The operand.
        name: &'static str,
        /// Its shape.
        shape: Vec<usize>,
    },

    /// Several indices into a tensor without dimensions.
    #[error("index_select(): Index to scalar can have only 1 value, got {given} value(s)")]
    IndexOfScalar {
        /// The number of indices.
        given: usize,
    },

    /// An index beyond the dimension, in a tensor of indices.
    #[error(
        "{} [{op}: at position {position} of the indices]",
        index_text(op, *index, *dim, *size)
    )]
    Index {
        /// The operation.
        op: &'static str,
        /// The index.
        index: i64,
        /// The dimension; 0 where all elements are numbered.
        dim: usize,
        /// The number of indices there are.
        size: usize,
        /// The position of the index among the indices, in row-major order.
        position: usize,
    },

    /// Indices of another rank than the tensor.
    #[error("{} [{op}: index {index:?}, input {shape:?}]", rank_text(op, index, shape))]
    IndexRank {
        /// The operation.
        op: &'static str,
        /// The shape of the indices.
        index: Vec<usize>,
        /// The shape of the input.
        shape: Vec<usize>,
    },

    /// Indices that are larger than the input in another dimension than the one indexed.
    #[error(
        "Size does not match at dimension {differs} expected index {index:?} to be no larger than \
         self {shape:?} apart from dimension {dim}"
    )]
    GatherSizes {
        /// The dimension that differs.
        differs: usize,
        /// The shape of the indices.
        index: Vec<usize>,
        /// The shape of the input.
        shape: Vec<usize>,
        /// The dimension that is indexed.
        dim: usize,
    },

    /// Indices that are larger than the tensor that is written to, or than the source.
    #[error(
        "Expected index {index:?} to be no larger than self {shape:?} apart from dimension {dim} \
         and to be no larger size than src {src:?}"
    )]
    ScatterSizes {
        /// The shape of the indices.
        index: Vec<usize>,
        /// The shape of the tensor that is written to.
        shape: Vec<usize>,
        /// The shape of the source.
        src: Vec<usize>,
        /// The dimension that is indexed.
        dim: usize,
    },

    /// The one element of a tensor with another number of elements.
    #[error("a Tensor with {numel} elements cannot be converted to Scalar [shape {shape:?}]")]
    NotOneElement {
        /// The number of elements.
        numel: usize,
        /// The shape.
        shape: Vec<usize>,
    },

    /// A negative tolerance.
    #[error("{name} must be greater than or equal to zero, but got {value}")]
    Tolerance {
        /// `rtol` or `atol`.
        name: &'static str,
        /// The value, as text.
        value: String,
    },
}
}

fn pad_length_text(given: usize, ndim: usize) -> String {
    if given % 2 == 1 {
        return format!("Padding length must be divisible by 2 [got {given} numbers]");
    }
    format!(
        "Padding length should be less than or equal to two times the input dimension but got \
         padding length {given} and input of dimension {ndim}"
    )
}

fn rank_text(op: &str, index: &[usize], shape: &[usize]) -> String {
    let name = match op {
        "take_along_dim" => {
            return format!(
                "torch.take_along_dim(): input and indices should have the same number of \
                 dimensions, but got {} dimensions for input, and {} dimensions for indices",
                shape.len(),
                index.len()
            );
        }
        "scatter" => "self",
        _ => "input",
    };
    format!("Index tensor must have the same number of dimensions as {name} tensor")
}

fn pad_text(mode: &str) -> &'static str {
    match mode {
        "reflect" => "Padding size should be less than the corresponding input dimension",
        "circular" => "Padding value causes wrapping around more than once.",
        "replicate" => "an empty dimension has no element to repeat",
        _ => "narrow(): length must be non-negative.",
    }
}

fn index_text(op: &str, index: i64, dim: usize, size: usize) -> String {
    match op {
        "index_select" if size == 0 => {
            "index_select(): self indexing axis dim should be positive".to_owned()
        }
        "index_select" => {
            format!("index out of range in self: {index} of dimension {dim} ({size})")
        }
        "take" if size == 0 => "take(): tried to take from an empty tensor".to_owned(),
        "take" => {
            format!("out of range: tried to access index {index} on a tensor of {size} elements.")
        }
        _ => format!("index {index} is out of bounds for dimension {dim} with size {size}"),
    }
}
