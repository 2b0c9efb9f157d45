//! Refusals of shapes that do not fit each other: expanding, broadcasting, repeating, outputs.

use super::error_enum::error_variants;

error_variants! { $ broadcast_errors

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
}
