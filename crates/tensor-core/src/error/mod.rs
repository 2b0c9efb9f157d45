//! The errors of this workspace.
//!
//! One enum. Each variant contains the operation and the offending values, so that callers can
//! match on them. If PyTorch has a message for the same mistake the text begins with it, and adds
//! the values or a remedy.

mod dtype;
mod error_enum;
mod message;
mod movement;
mod pattern;

pub use dtype::DTypeError;
pub use movement::MovementError;

use crate::{DType, Overlap};
use error_enum::error_enum;
use message::{
    dtype_names, empty_text, overlap_text, range_text, remedies_text, seam_text, shared_text,
    strides_text, value_text,
};
pub use pattern::{PatternError, PatternRule, PatternSide};

/// The result type of the crates of this workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

error_enum! {
/// Why an operation was refused. Inputs and outputs are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
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

    /// A size that cannot be expanded to the one asked for.
    #[error(
        "The expanded size of the tensor ({wanted}) must match the existing size ({size}) at \
         non-singleton dimension {dim}.  \
         Output sizes: {target:?}.  Tensor sizes: {shape:?}"
    )]
    Expand {
        /// The size asked for.
        wanted: isize,
        /// The size there is.
        size: usize,
        /// The dimension of the shape asked for.
        dim: usize,
        /// The shape asked for.
        target: Vec<isize>,
        /// The shape of the input.
        shape: Vec<usize>,
    },

    /// A −1 for a leading dimension, which the input does not have.
    #[error(
        "The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing \
         dimension {dim}"
    )]
    ExpandLeading {
        /// The size asked for.
        wanted: isize,
        /// The dimension of the shape asked for.
        dim: usize,
    },

    /// A shape of lower rank than the input.
    #[error(
        "expand(tensor of size {shape:?}, size={target:?}): the number of sizes provided ({}) \
         must be greater or equal to the number of \
         dimensions in the tensor ({})", target.len(), shape.len()
    )]
    ExpandRank {
        /// The shape of the input.
        shape: Vec<usize>,
        /// The shape asked for.
        target: Vec<isize>,
    },

    /// Shapes that do not broadcast.
    #[error(
        "Attempting to broadcast a dimension of length {size} at {dim}! Mismatching argument at \
         index {argument} had {shape:?}; \
         but expected shape should be broadcastable to {expected:?}"
    )]
    BroadcastShapes {
        /// The size that does not fit.
        size: usize,
        /// Its dimension, counted from the end (−1 is the last).
        dim: isize,
        /// Which of the shapes.
        argument: usize,
        /// That shape.
        shape: Vec<usize>,
        /// The shape that the previous ones broadcast to.
        expected: Vec<usize>,
    },

    /// Two operands whose shapes do not broadcast.
    #[error(
        "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton \
         dimension {dim} \
         [{op}: shapes {a_shape:?} and {b_shape:?}]"
    )]
    Broadcast {
        /// The operation.
        op: &'static str,
        /// The size in the first operand.
        a: usize,
        /// The size in the second operand.
        b: usize,
        /// The dimension of the result.
        dim: usize,
        /// The first operand's shape.
        a_shape: Vec<usize>,
        /// The second operand's shape.
        b_shape: Vec<usize>,
    },

    /// Operands of different shapes while implicit broadcasting is disabled.
    #[error(
        "{op}: operands have shapes {a_shape:?} and {b_shape:?}, which implicit broadcasting \
         would make one. \
         It is switched off: use .broadcast_to(...) or .expand(...)."
    )]
    ImplicitBroadcast {
        /// The operation.
        op: &'static str,
        /// The first operand's shape.
        a_shape: Vec<usize>,
        /// The other operand's shape.
        b_shape: Vec<usize>,
    },

    /// Division of an integer by zero.
    #[error("{op} of integers by zero: the divisor at index {index:?} is 0")]
    DivisionByZero {
        /// The operation.
        op: &'static str,
        /// The index at which the divisor is 0.
        index: Vec<usize>,
    },

    /// An output of another shape than the operation's result.
    #[error("output with shape {got:?} doesn't match the broadcast shape {expected:?} [{op}]")]
    OutputShape {
        /// The operation.
        op: &'static str,
        /// The output's shape.
        got: Vec<usize>,
        /// The shape it must have.
        expected: Vec<usize>,
    },

    /// Views whose layouts or element width are not those that a plan was made for.
    #[error(
        "the plan was made for other layouts or another element width [run on shapes {from:?} and \
         {to:?}]"
    )]
    NotPlanned {
        /// The source's shape.
        from: Vec<usize>,
        /// The destination's shape.
        to: Vec<usize>,
    },

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

    /// A diagonal of a dimension with itself.
    #[error("diagonal dimensions cannot be identical {d0}, {d1}")]
    DiagonalDims {
        /// The first dimension given.
        d0: isize,
        /// The second dimension given.
        d1: isize,
    },

    /// Fewer repeats than dimensions.
    #[error(
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of \
         tensor [{given} repeats, {ndim} dimensions]"
    )]
    RepeatRank {
        /// The number of repeats given.
        given: usize,
        /// The number of dimensions.
        ndim: usize,
    },

    /// A range of dimensions that ends before it starts.
    #[error("flatten() has invalid args: start_dim cannot come after end_dim [{start} > {end}]")]
    FlattenRange {
        /// The first dimension.
        start: usize,
        /// The last dimension.
        end: usize,
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

    /// A split of a tensor without dimensions.
    #[error("{op} expects at least a 1-dimensional tensor")]
    NothingToSplit {
        /// The operation.
        op: &'static str,
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

    /// Memory for a result cannot be allocated.
    #[error("cannot allocate {bytes} bytes for a tensor")]
    OutOfMemory {
        /// The size asked for.
        bytes: usize,
    },

    /// A mutable view in which two indices share an element.
    #[error(
        "unsupported operation: more than one element of the written-to tensor refers to a single \
         memory location. \
         Please deep_clone() the tensor before performing the operation; clone() would share its \
         elements. [size {shape:?} stride {strides:?}: {}]", overlap_text(overlap)
    )]
    WriteOverlap {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<isize>,
        /// The two indices, or [`Overlap::TooHard`].
        overlap: Box<Overlap>,
    },

    /// An input that shares elements with the output.
    #[error(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer \
         to a single memory location. \
         Please deep_clone() the input before performing the operation, as clone() would share its \
         elements, or let it be copied: Exec::copying_first(). [{op}: {}]",
        shared_text(operand, overlap)
    )]
    ReadWriteOverlap {
        /// The operation.
        op: &'static str,
        /// Which of its operands.
        operand: &'static str,
        /// An index of the operand and one of the output that share an element, or
        /// [`Overlap::TooHard`]. If both have one shape, the two indices differ wherever there
        /// are such: the output would overwrite an element that is read later.
        overlap: Box<Overlap>,
    },

    /// The storage is being written, or (for a write) read, through another guard.
    #[error(
        "storage is already borrowed {held}: cannot borrow it {wanted} [another guard of this \
         storage is alive, and a guard borrows all of it; to write parts at the same time, cut the \
         view of one guard with split_mut, unbind_mut or split_at_mut]"
    )]
    Borrowed {
        /// How it is borrowed.
        held: &'static str,
        /// How it was asked for.
        wanted: &'static str,
    },

    /// A write to memory whose owner lets it be read only.
    #[error(
        "the storage is read-only: its memory belongs to an owner that shares it for reading \
         [copy the tensor first, with deep_clone()]"
    )]
    ReadOnly,

    /// A stride or an offset in bytes that is no multiple of the element width.
    #[error("{bytes} bytes are no multiple of the element width, {width}")]
    ByteStride {
        /// The stride or the offset.
        bytes: isize,
        /// The width of an element in bytes.
        width: usize,
    },

    /// A copy by bytes between items of different sizes.
    #[error("items of {from} bytes cannot be copied into items of {to} bytes")]
    ItemSize {
        /// The bytes of an item of the source.
        from: usize,
        /// The bytes of an item of the destination.
        to: usize,
    },

    /// A copy in a scope that forbids copies.
    #[error(
        "{op} at {location} would copy {bytes} bytes by {path}: {why} [copies are forbidden here]"
    )]
    CopyForbidden {
        /// The operation.
        op: &'static str,
        /// The bytes that it would copy.
        bytes: usize,
        /// The path of the copy, see `CopyPlan::path` of tensor-kernels.
        path: &'static str,
        /// Why it would copy.
        why: String,
        /// Where it was called.
        location: String,
    },

    /// A tensor of another storage than the guard that it is to be read through.
    #[error(
        "{op}: operand {operand} has a storage of its own, which this guard does not borrow: use \
         .read() of that tensor"
    )]
    OtherStorage {
        /// The operation.
        op: &'static str,
        /// Which of its operands.
        operand: &'static str,
    },

    /// A padded stride that is smaller than what it has to hold.
    #[error(
        "zeros_padded: an index of dimension {dim} needs {needed} elements, which a stride of \
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

    /// A buffer that is not aligned for the element type.
    #[error(
        "a buffer at address {address:#x} is not aligned to {align} bytes, as the element type \
         needs"
    )]
    Misaligned {
        /// The address.
        address: usize,
        /// The alignment needed.
        align: usize,
    },

    /// An element type with no such name.
    #[error("unknown dtype '{name}': expected one of {}", dtype_names())]
    UnknownDType {
        /// The name given.
        name: String,
    },

    /// A tensor of another element type than the one asked for.
    #[error("expected a tensor of dtype {expected} but found {found}")]
    DTypeMismatch {
        /// The type asked for.
        expected: DType,
        /// The type there is.
        found: DType,
    },

    /// A SIMD level that does not exist or that this CPU does not have.
    #[error("{why}")]
    Simd {
        /// The level asked for.
        level: String,
        /// Why it cannot be used.
        why: String,
    },

    /// A file with the measured properties of a machine that is missing, malformed, or of another
    /// CPU.
    #[error("{file}: {why}; `tensor-bench calibrate --machine` writes it")]
    Calibration {
        /// The file.
        file: String,
        /// Why it cannot be used.
        why: String,
    },

    /// A pattern in einops' notation that is malformed, or does not fit the operation or its input.
    #[error("{why}")]
    Pattern(why: Box<PatternError>),

    /// An arithmetic progression with invalid bounds or step.
    #[error("{why} [arange]")]
    Arange {
        /// What is wrong with it.
        why: &'static str,
    },

    /// A dtype, or a pair of them, that an operation on tensors of run-time dtypes refuses.
    #[error("{why}")]
    DType(why: Box<DTypeError>),

    /// An operation that joins, pads, rolls or indexes was refused.
    #[error("{why}")]
    Movement(why: Box<MovementError>),
}
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
