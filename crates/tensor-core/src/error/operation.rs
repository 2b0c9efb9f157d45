//! Refusals of an operation: its values, its dtypes, how it is to run.

use super::error_enum::error_variants;

error_variants! { $ operation_errors

/// Division of an integer by zero.
#[error("{op} of integers by zero: the divisor at index {index:?} is 0")]
DivisionByZero {
    /// The operation.
    op: &'static str,
    /// The index at which the divisor is 0.
    index: Vec<usize>,
},

/// An arithmetic progression with invalid bounds or step.
#[error("{why} [arange]")]
Arange {
    /// What is wrong with it.
    why: &'static str,
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
}
