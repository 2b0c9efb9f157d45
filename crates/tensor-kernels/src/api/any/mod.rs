//! The operations that copy or compute, for tensors of run-time dtypes.
//!
//! Nothing is implemented twice: a method promotes its operands to one dtype and calls the typed
//! operation for it. `types` has the element types of each operation, `convert` the conversion of
//! operands, `elementwise` and `methods` take the table of named operations.
//!
//! All of it is generic over the kernels of a tensor, or `inline`. So it is compiled in the
//! programs that use it, operation by operation, and costs others nothing.

mod convert;
mod elementwise;
mod methods;
mod movement;
mod operators;
mod patterns;
mod rows;

#[cfg(doc)]
use tensor_core::DTypeError;
use tensor_core::{
    AnyOperand, AnyTensorBase, AnyValue, BuiltIn, DType, Error, Int, MemoryFormat, ReduceDims,
    Result, Scalar, Sizes, TensorBase,
};

use super::types::match_tensor;
use super::{
    call::Call,
    ops::{self, table::*},
    reductions,
    rows::Tolerance,
};
use crate::{
    PatternArg, RearrangePattern, ReducePattern, Reduction, RepeatPattern, Reshaped, TensorExt,
    api::movement::PadMode, exec::Exec,
};
pub use convert::CastAny;
use methods::{binary, reductions, ternary, unary};
use movement::movement_methods;
use patterns::pattern_methods;
use rows::{real, rows_methods};

/// An operation that is the same for all dtypes.
macro_rules! forward {
    ($any:expr, $op:expr, $x:ident => $result:expr) => {
        $crate::api::types::match_tensor!(Equality, $any, $op, $x => {
            $result.map(tensor_core::AnyTensorBase::from)
        })
    };
}

/// The operations that copy or compute, as methods of tensors whose dtype is known at run time.
///
/// Operands of different dtypes are promoted as in PyTorch; see
/// [`result_type`](crate::result_type). An operand is a tensor of either kind or a value. An
/// operand with dimensions that is of another dtype than the common one is converted in a new
/// tensor first; the [copy ledger](crate::count_copies) has it.
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
/// - Comparisons of tensors whose dtypes differ in `equal` and `allclose` promote.
///
/// # Errors
/// Every method fails with [`Error::Borrowed`] if the storage is borrowed in conflict, with
/// [`Error::OutOfMemory`] if a new result cannot be allocated, and with [`DTypeError`] if the
/// operation is not defined for the dtype.
pub trait AnyTensorExt<K>: Sized {
    /// This tensor.
    fn as_any(&self) -> &AnyTensorBase<K>;

    /// The elements converted to a dtype; the tensor itself if it has it (PyTorch: `to(dtype)`).
    ///
    /// # Errors
    /// [`DTypeError::NotInBuild`]; see the trait.
    #[track_caller]
    fn to_dtype(&self, dtype: DType) -> Result<AnyTensorBase<K>> {
        convert::to_dtype(self.as_any(), dtype)
    }

    /// The elements converted to a type, as a typed tensor; the same storage if they have it.
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn to_typed<T: CastAny>(&self) -> Result<TensorBase<T, K>> {
        convert::typed(self.as_any())
    }

    /// The elements in logical order, converted to a type (PyTorch: `flatten().tolist()`).
    ///
    /// # Errors
    /// See the trait.
    fn to_vec<T: CastAny>(&self) -> Result<Vec<T>> {
        let typed = convert::typed::<T, K>(self.as_any())?;
        crate::to_vec(Exec::current()?, &typed.read()?.as_view())
    }

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

    /// A copy in a new tensor; a dense tensor keeps its strides (PyTorch: `clone()`).
    ///
    /// # Errors
    /// See the trait.
    #[track_caller]
    fn deep_clone(&self) -> Result<AnyTensorBase<K>> {
        forward!(self.as_any(), "deep_clone", x => TensorExt::deep_clone(x))
    }

    /// The elements under another shape: a view if strides can express it, else a copy (PyTorch:
    /// `reshape`). [`same_storage`](AnyTensorBase::same_storage) tells which.
    ///
    /// # Errors
    /// A shape with another number of elements.
    #[track_caller]
    fn reshape(&self, sizes: impl Sizes) -> Result<AnyTensorBase<K>> {
        let sizes = &sizes.into_sizes()?;
        forward!(self.as_any(), "reshape", x => {
            TensorExt::reshape(x, sizes).map(crate::Reshaped::into_tensor)
        })
    }

    /// Several dimensions as one: a view if strides can express it, else a copy (PyTorch:
    /// `flatten`).
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    #[track_caller]
    fn flattened(&self, start: impl Int, end: impl Int) -> Result<AnyTensorBase<K>> {
        let (start, end) = (start.saturated(), end.saturated());
        forward!(self.as_any(), "flattened", x => {
            TensorExt::flattened(x, start, end).map(crate::Reshaped::into_tensor)
        })
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

    /// Copies the elements of another tensor, broadcast and converted, into this one (PyTorch:
    /// `copy_`).
    ///
    /// # Errors
    /// Shapes that do not broadcast; tensors that share elements.
    #[track_caller]
    fn copy_from(&self, from: &AnyTensorBase<K>) -> Result<()> {
        elementwise::copy_converted(self.as_any(), from)
    }

    /// Writes one value, converted, to every element (PyTorch: `fill_`).
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    fn fill(&self, value: impl Into<AnyValue>) -> Result<()> {
        let value = value.into();
        match_tensor!(Equality, self.as_any(), "fill", x => {
            crate::TensorMutExt::fill(x, value.to())
        })
    }

    /// Same shape and equal elements, after promotion? (PyTorch: `torch.equal`)
    ///
    /// # Errors
    /// [`DTypeError::Promotion`].
    #[track_caller]
    fn equal(&self, other: &AnyTensorBase<K>) -> Result<bool> {
        let a = self.as_any();
        if a.shape() != other.shape() {
            return Ok(false);
        }
        elementwise::eq(&a.into(), &other.into())?.all_all().map(AnyValue::is_nonzero)
    }

    /// The elements of `a` where this is true, else those of `b`, broadcast and promoted (PyTorch:
    /// `torch.where`).
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] if this is no bool; [`DTypeError::Promotion`],
    /// [`Error::Broadcast`].
    #[track_caller]
    fn where_cond<'a, 'b>(
        &self,
        a: impl Into<AnyOperand<'a, K>>,
        b: impl Into<AnyOperand<'b, K>>,
    ) -> Result<AnyTensorBase<K>>
    where
        K: 'a + 'b,
    {
        elementwise::where_cond(self.as_any(), &a.into(), &b.into())
    }

    unary_operations! { unary }
    binary_operations! { binary }
    ternary_operations! { ternary }
    reduction_operations! { reductions }
    rows_methods! {}
    movement_methods! {}
    pattern_methods! {}
}

impl<K> AnyTensorExt<K> for AnyTensorBase<K> {
    fn as_any(&self) -> &AnyTensorBase<K> {
        self
    }
}

/// A call with [`Exec::current`].
#[track_caller]
fn current(op: &'static str) -> Result<Call<'static>> {
    Ok(Call::new(Exec::current()?, op))
}

/// The typed tensor, which must have these elements.
fn expect<T: BuiltIn, K>(any: &AnyTensorBase<K>) -> Result<&TensorBase<T, K>> {
    let (expected, found) = (<T as Scalar>::DTYPE, any.dtype());
    any.typed::<T>().ok_or(Error::DTypeMismatch { expected, found })
}

/// A result in PyTorch's dtype, where the typed operation has another one.
fn as_torch<K>(
    op: &'static str,
    from: DType,
    result: AnyTensorBase<K>,
) -> Result<AnyTensorBase<K>> {
    match (op, from) {
        ("sum" | "prod" | "cumsum", DType::U64) => convert::to_dtype(&result, DType::I64),
        ("any" | "all", DType::U8) => convert::to_dtype(&result, DType::U8),
        _ => Ok(result),
    }
}
