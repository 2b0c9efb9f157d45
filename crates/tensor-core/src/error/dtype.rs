//! The errors of operations on tensors of run-time dtypes.

use super::error_enum::error_enum;
use crate::{DType, dtype::Category};

error_enum! {
/// Why an operation refused a dtype or a pair of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DTypeError {
    /// Two dtypes without a common one: u16, u32 and u64 with another integer, bool or complex.
    #[error(
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {} and \
         {} [{a} and {b}; convert one of them first]",
        a.scalar_type(), b.scalar_type()
    )]
    Promotion {
        /// The first dtype.
        a: DType,
        /// The second dtype.
        b: DType,
    },

    /// An operation that is not defined for a dtype.
    #[error("{} [{op} of {dtype}]", unsupported_text(op, *dtype))]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// The dtype, after promotion.
        dtype: DType,
    },

    /// A result that an operation in place cannot store: a fraction in an integer, for example.
    #[error(
        "result type {} can't be cast to the desired output type {} [{op}: {from} to {to}]",
        from.scalar_type(), to.scalar_type()
    )]
    ResultCast {
        /// The operation.
        op: &'static str,
        /// The dtype of the result.
        from: DType,
        /// The dtype of the tensor that is written.
        to: DType,
    },

    /// A value that does not fit the elements it is written to.
    #[error(
        "value cannot be converted to type {} without overflow [{value} to {dtype}]",
        c_type(*dtype)
    )]
    ValueOverflow {
        /// The value, as it prints.
        value: String,
        /// The dtype of the elements.
        dtype: DType,
    },

    /// A bound for integers that all of them are above or below.
    #[error(
        "Clamp {which} value {value} is outside the representable range of {}",
        dtype.scalar_type()
    )]
    ClampBound {
        /// `min` or `max`.
        which: &'static str,
        /// The bound, as it prints.
        value: String,
        /// The dtype of the elements.
        dtype: DType,
    },

    /// Integers to a negative power that is one value.
    #[error(
        "Integers to negative integer powers are not allowed. [{dtype} to the power {exponent}]"
    )]
    NegativePower {
        /// The dtype of the elements.
        dtype: DType,
        /// The power, as it prints.
        exponent: String,
    },

    /// A dtype that this build does not contain.
    #[error("dtype {dtype} needs a feature that is not enabled: `half` or `complex`")]
    NotInBuild {
        /// The dtype.
        dtype: DType,
    },
}
}

/// The name that PyTorch's messages have for the C++ type.
fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "uint8_t",
        DType::U16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int",
        DType::I64 => "int64_t",
        DType::F16 => "c10::Half",
        DType::Bf16 => "c10::BFloat16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
    }
}

/// PyTorch's sentence, where it has one for this operation.
fn unsupported_text(op: &str, dtype: DType) -> String {
    let name = dtype.scalar_type();
    match (op, dtype.category()) {
        ("neg", Category::Bool) => "Negation, the `-` operator, on a bool tensor is not \
             supported. If you are trying to invert a mask, use the `~` or `logical_not()` \
             operator instead."
            .to_owned(),
        ("sub", Category::Bool) => "Subtraction, the `-` operator, with a bool tensor is not \
             supported. If you are trying to invert a mask, use the `~` or `logical_not()` \
             operator instead."
            .to_owned(),
        ("mean", _) => format!(
            "mean(): could not infer output dtype. Input dtype must be either a floating point \
             or complex dtype. Got: {name}"
        ),
        ("var" | "std", Category::Bool | Category::Integer) => {
            "std and var only support floating point and complex dtypes".to_owned()
        }
        ("norm", Category::Bool | Category::Integer) => format!(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {name}"
        ),
        ("relu", Category::Bool) => "Boolean inputs not supported for relu".to_owned(),
        ("clamp" | "relu", Category::Complex) => {
            "clamp is not supported for complex types".to_owned()
        }
        ("sign", Category::Complex) => "Unlike NumPy, torch.sign is not intended to support \
             complex numbers. Please use torch.sgn instead."
            .to_owned(),
        ("floor" | "ceil" | "trunc", Category::Complex) => {
            format!("{op} is not supported for complex inputs")
        }
        ("minimum" | "maximum", Category::Complex) => {
            format!("{op} not implemented for complex tensors.")
        }
        ("argmin" | "argmax", Category::Complex) => {
            format!("{op}(): does not support complex input")
        }
        _ => format!("\"{op}\" not implemented for '{name}'"),
    }
}
