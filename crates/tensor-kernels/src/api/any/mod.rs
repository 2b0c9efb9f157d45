//! The operations that copy or compute, for tensors of run-time dtypes.
//!
//! Nothing is implemented twice: a method promotes its operands to one dtype and calls the typed
//! operation for it. `convert` has the conversion of operands; `elementwise` and `methods` take the
//! table of named operations; `scalars` has what is special about values as operands, and `typed`
//! what they all do once the dtype is known.
//!
//! All of it is generic over the kernels of a tensor, or `inline`. So it is compiled in the
//! programs that use it, operation by operation, and costs others nothing.

#[cfg(feature = "reductions")]
mod allclose;
#[cfg(feature = "elementwise")]
mod convert;
#[cfg(feature = "elementwise")]
mod elementwise;
#[cfg(feature = "elementwise")]
mod into_result;
#[cfg(feature = "elementwise")]
mod methods;
#[cfg(feature = "elementwise")]
mod movement;
#[cfg(feature = "elementwise")]
mod operators;
#[cfg(feature = "elementwise")]
mod output;
mod patterns;
#[cfg(feature = "reductions")]
mod reduce;
mod reshaped;
#[cfg(feature = "reductions")]
mod rows;
#[cfg(feature = "elementwise")]
mod scalars;
#[cfg(feature = "elementwise")]
mod typed;

use tensor_core::{AnyTensorBase, AnyValue, Int, MemoryFormat, Result, Sizes};
#[cfg(doc)]
use tensor_core::{DTypeError, Error};

use super::types::match_tensor;
use crate::{PatternArg, RearrangePattern, RepeatPattern, TensorExt};
#[cfg(feature = "elementwise")]
pub use convert::CastAny;
#[cfg(feature = "elementwise")]
use methods::*;
use patterns::pattern_methods;
#[cfg(feature = "reductions")]
use reduce::*;
pub use reshaped::AnyReshaped;

/// An operation that is the same for all dtypes.
macro_rules! forward {
    ($any:expr, $op:expr, $x:ident => $result:expr) => {
        $crate::api::types::match_tensor!(Equality, $any, $op, $x => {
            $result.map(tensor_core::AnyTensorBase::from)
        })
    };
}

/// An operation that is the same for all dtypes, and gives a view or a copy.
macro_rules! forward_reshaped {
    ($any:expr, $op:expr, $x:ident => $result:expr) => {
        $crate::api::types::match_tensor!(Equality, $any, $op, $x => {
            $result.map(AnyReshaped::of_typed)
        })
    };
}

/// The operations that copy or compute, as methods of tensors whose dtype is known at run time.
///
/// Operands of different dtypes are promoted as in PyTorch; see
/// [`result_type`](crate::result_type). An operand is a tensor of either kind or a value. An
/// operand with dimensions that is of another dtype than the common one is converted in a new
/// tensor first; the [copy ledger](crate::count_copies) has it. `allclose` converts by parts.
///
/// ```
/// use tensor_kernels::{AnyTensor, AnyTensorExt, AnyValue, DType, Tensor};
///
/// let bytes = AnyTensor::from(Tensor::arange(0u8, 6, 1)?.view([2, 3])?);
/// let halves = AnyTensor::full([3], 0.5, DType::F64)?;
/// let sum = &bytes.exp()? * 2.0 + &halves; // f32, then f64
/// assert_eq!((sum.dtype(), sum.shape()), (DType::F64, &[2, 3][..]));
/// assert_eq!((&bytes / 2).dtype(), DType::F32);
/// assert_eq!((&bytes + 300).get(&[0, 1])?, AnyValue::Int(45)); // u8, as in PyTorch
/// assert_eq!(bytes.t()?.contiguous()?.sum(0)?.to_vec::<i64>()?, [3, 12]);
///
/// let refused = bytes.mean(0).unwrap_err().to_string();
/// assert!(refused.starts_with("mean(): could not infer output dtype."));
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Differences from PyTorch
/// - u16, u32 and u64 have all operations, not only some. With other integers they do not promote,
///   there as here.
/// - f16 and bf16 with a complex value or 0-dimensional tensor give c64: there is no `complex32`.
/// - The sum of u64 is i64, as in PyTorch, where that of a typed tensor is u64. `any` and `all` of
///   u8 are u8.
/// - Comparisons of tensors whose dtypes differ in `equal`, `isclose` and `allclose` promote.
/// - `clamp`, `argmin` and `argmax` take bools.
///
/// # Errors
/// Every method fails with [`Error::Borrowed`] if the storage is borrowed in conflict, with
/// [`Error::OutOfMemory`] if a new result cannot be allocated, and with [`DTypeError`] if the
/// operation is not defined for the dtype.
pub trait AnyTensorExt<K>: Sized {
    /// This tensor.
    fn as_any(&self) -> &AnyTensorBase<K>;

    /// The tensor itself if it is contiguous, else a contiguous copy (PyTorch: `contiguous()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn contiguous(&self) -> Result<AnyTensorBase<K>> {
        forward!(self.as_any(), "contiguous", x => TensorExt::contiguous(x))
    }

    /// The tensor itself if it is contiguous in a memory format, else a copy that is (PyTorch:
    /// `contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// [`Error::FormatRank`]; [`Error::PreserveFormat`].
    #[track_caller]
    fn to_contiguous(&self, format: MemoryFormat) -> Result<AnyTensorBase<K>> {
        forward!(self.as_any(), "to_contiguous", x => TensorExt::to_contiguous(x, format))
    }

    /// As [`contiguous`](Self::contiguous), but with row-major strides for dimensions of size 1
    /// too. As [`TensorExt::contiguous_canonical`].
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn contiguous_canonical(&self) -> Result<AnyTensorBase<K>> {
        forward!(self.as_any(), "contiguous_canonical", x => TensorExt::contiguous_canonical(x))
    }

    /// A copy in a new tensor; a dense tensor keeps its strides (PyTorch: `clone()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn deep_clone(&self) -> Result<AnyTensorBase<K>> {
        forward!(self.as_any(), "deep_clone", x => TensorExt::deep_clone(x))
    }

    /// The elements under another shape: a view if strides can express it, else a copy (PyTorch:
    /// `reshape`). [`copied`](AnyReshaped::copied) tells which.
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape(&self, sizes: impl Sizes) -> Result<AnyReshaped<K>> {
        let sizes = &sizes.into_sizes()?;
        forward_reshaped!(self.as_any(), "reshape", x => TensorExt::reshape(x, sizes))
    }

    /// The elements under another shape, always in a new contiguous tensor.
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape_copy(&self, sizes: impl Sizes) -> Result<AnyTensorBase<K>> {
        let sizes = &sizes.into_sizes()?;
        forward!(self.as_any(), "reshape_copy", x => TensorExt::reshape_copy(x, sizes))
    }

    /// Several dimensions as one: a view if strides can express it, else a copy (PyTorch:
    /// `flatten`).
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    #[track_caller]
    fn flattened(&self, start: impl Int, end: impl Int) -> Result<AnyReshaped<K>> {
        let (start, end) = (start.saturated(), end.saturated());
        forward_reshaped!(self.as_any(), "flattened", x => TensorExt::flattened(x, start, end))
    }

    /// Repeats the tensor `times` along each dimension (PyTorch: `repeat`).
    ///
    /// # Errors
    /// Fewer numbers than dimensions; a result too large.
    #[track_caller]
    fn repeat(&self, times: impl Sizes) -> Result<AnyTensorBase<K>> {
        let times = &times.into_shape()?;
        forward!(self.as_any(), "repeat", x => TensorExt::repeat(x, times))
    }

    /// Writes one value, converted, to every element (PyTorch: `fill_`).
    ///
    /// # Errors
    /// [`DTypeError::ValueOverflow`]; [`Error::WriteOverlap`].
    fn fill(&self, value: impl Into<AnyValue>) -> Result<()> {
        let value = value.into();
        match_tensor!(Equality, self.as_any(), "fill", x => {
            crate::TensorMutExt::fill(x, value.checked_to()?)
        })
    }

    pattern_methods! {}

    #[cfg(feature = "elementwise")]
    elementwise_methods! {}
    #[cfg(feature = "reductions")]
    reduction_methods! {}
}

impl<K> AnyTensorExt<K> for AnyTensorBase<K> {
    fn as_any(&self) -> &AnyTensorBase<K> {
        self
    }
}
