//! PyTorch's type promotion: the dtype in which operands of different dtypes are computed.
//!
//! There are four categories: bool, integers, floats, complex numbers. Tensors with dimensions
//! decide first. A tensor without dimensions changes their dtype only if it is of a higher
//! category, and so does a plain value, which ranks below both:
//!
//! | operands | result |
//! |---|---|
//! | u8 `[2]`, i8 `[2]` | i16 |
//! | f16 `[2]`, bf16 `[2]` | f32 |
//! | f32 `[2]`, f64 `[]` | f32 |
//! | i32 `[2]`, f64 `[]` | f64 |
//! | i32 `[2]`, the value 2.5 | f32 |
//!
//! u16, u32 and u64 promote with themselves and with floats only, as in PyTorch.

use super::{AnyOperand, AnyValue};
use crate::{DType, DTypeError, Result, dtype::Category};

/// The smallest dtype to which both can be converted (PyTorch: `torch.promote_types`).
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{DType, promote_types};
///
/// assert_eq!(promote_types(DType::U8, DType::I8)?, DType::I16);
/// assert_eq!(promote_types(DType::F16, DType::Bf16)?, DType::F32);
/// assert_eq!(promote_types(DType::I64, DType::F16)?, DType::F16);
/// let refused = promote_types(DType::U16, DType::I8).unwrap_err();
/// assert!(refused.to_string().starts_with("Promotion for uint16, uint32, uint64 types"));
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// [`DTypeError::Promotion`] for u16, u32 or u64 with another type that is not a float.
pub fn promote_types(a: DType, b: DType) -> Result<DType> {
    let (low, high) = if a.category() <= b.category() { (a, b) } else { (b, a) };
    match high.category() {
        _ if a == b => Ok(a),
        Category::Float if low.category() < Category::Float => Ok(high),
        _ if a.is_wide_unsigned() || b.is_wide_unsigned() => {
            Err(DTypeError::Promotion { a, b }.into())
        }
        _ if low.category() <= Category::Integer && high.category() != Category::Integer => {
            Ok(high)
        }
        Category::Bool => Ok(DType::Bool),
        Category::Integer => Ok(wider_integer(low, high)),
        Category::Float => Ok(wider_float(low, high)),
        Category::Complex => Ok(complex_for(low, high)),
    }
}

/// Of bool, u8 and signed integers; the second one is an integer.
fn wider_integer(a: DType, b: DType) -> DType {
    match (a, b) {
        (DType::Bool, other) => other,
        (DType::U8, DType::I8) | (DType::I8, DType::U8) => DType::I16,
        (a, b) if a.size() > b.size() => a,
        (_, b) => b,
    }
}

fn wider_float(a: DType, b: DType) -> DType {
    match a.size().cmp(&b.size()) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        // f16 and bf16, neither of which contains the other.
        std::cmp::Ordering::Equal => DType::F32,
    }
}

/// Of a float or complex type, and a complex type.
fn complex_for(a: DType, b: DType) -> DType {
    let double = |dtype| matches!(dtype, DType::F64 | DType::C128);
    if double(a) || double(b) { DType::C128 } else { DType::C64 }
}

/// Can a result of one dtype be stored in another (PyTorch: `torch.can_cast`)? Not if the category
/// is lower: a float in an integer.
pub fn can_cast(from: DType, to: DType) -> bool {
    from.category() <= to.category()
}

/// The dtype in which operands are computed (PyTorch: `torch.result_type`, for any number of
/// operands).
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{AnyOperand, AnyTensor, Bare, DType, result_type};
///
/// let bytes = AnyTensor::zeros([2], DType::U8)?;
/// let double = AnyTensor::zeros((), DType::F64)?;
/// assert_eq!(result_type(&[(&bytes).into(), (&double).into()])?, DType::F64);
/// assert_eq!(result_type::<Bare>(&[(&bytes).into(), 300.into()])?, DType::U8);
/// assert_eq!(result_type::<Bare>(&[(&bytes).into(), 2.5.into()])?, DType::F32);
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// [`DTypeError::Promotion`], as [`promote_types`].
pub fn result_type<K>(operands: &[AnyOperand<'_, K>]) -> Result<DType> {
    let [mut dims, mut no_dims, mut values] = [None; 3];
    for operand in operands {
        let (of_rank, dtype) = match operand {
            AnyOperand::Value(value) => (&mut values, value.default_dtype()),
            operand if operand.shape().is_empty() => (&mut no_dims, operand.dtype()),
            operand => (&mut dims, operand.dtype()),
        };
        *of_rank = promoted(*of_rank, Some(dtype))?;
    }
    let result = by_category(dims, by_category(no_dims, values)?)?;
    Ok(result.unwrap_or(DType::F32))
}

fn promoted(a: Option<DType>, b: Option<DType>) -> Result<Option<DType>> {
    match (a, b) {
        (Some(a), Some(b)) => promote_types(a, b).map(Some),
        (one, None) | (None, one) => Ok(one),
    }
}

/// The dtype of operands of higher rank, unless those of lower rank are of a higher category.
fn by_category(higher: Option<DType>, lower: Option<DType>) -> Result<Option<DType>> {
    let (Some(high), Some(low)) = (higher, lower) else { return promoted(higher, lower) };
    Ok(Some(match (high.category(), low.category()) {
        (Category::Complex, _) => high,
        (Category::Float, Category::Complex) => complex_for(high, DType::C64),
        (Category::Float, _) => high,
        (Category::Integer, Category::Float | Category::Complex) => low,
        (Category::Integer, _) => high,
        (Category::Bool, _) => promote_types(high, low)?,
    }))
}

impl AnyValue {
    /// The dtype that stands for a value in promotion: PyTorch's default types.
    pub fn default_dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::I64,
            Self::Float(_) => DType::F32,
            Self::Complex(..) => DType::C64,
        }
    }
}
