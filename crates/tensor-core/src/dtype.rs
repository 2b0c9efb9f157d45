//! Element types named at run time: for files, command lines and messages.
//!
//! [`for_each_dtype!`] holds the one list of the built-in element types. The other modules generate
//! their items from it.

use std::{fmt, str::FromStr};

use crate::Error;

/// Invokes the macro `$then` with one row for each built-in element type, preceded by the arguments
/// in brackets:
///
/// `[$arguments] $(#[$gate:meta])* $variant:ident: $type:ty, $name:literal, $torch:literal,
/// $bytes:literal;`
///
/// The gate is the feature that the type needs. A [`DType`] exists with and without the feature.
macro_rules! for_each_dtype {
    ($then:ident $(, $($arguments:tt)*)?) => {
        $then! {
            [$($($arguments)*)?]
            Bool: bool, "bool", "torch.bool", 1;
            U8: u8, "u8", "torch.uint8", 1;
            U16: u16, "u16", "torch.uint16", 2;
            U32: u32, "u32", "torch.uint32", 4;
            U64: u64, "u64", "torch.uint64", 8;
            I8: i8, "i8", "torch.int8", 1;
            I16: i16, "i16", "torch.int16", 2;
            I32: i32, "i32", "torch.int32", 4;
            I64: i64, "i64", "torch.int64", 8;
            #[cfg(feature = "half")]
            F16: half::f16, "f16", "torch.float16", 2;
            #[cfg(feature = "half")]
            Bf16: half::bf16, "bf16", "torch.bfloat16", 2;
            F32: f32, "f32", "torch.float32", 4;
            F64: f64, "f64", "torch.float64", 8;
            #[cfg(feature = "complex")]
            C64: num_complex::Complex<f32>, "c64", "torch.complex64", 8;
            #[cfg(feature = "complex")]
            C128: num_complex::Complex<f64>, "c128", "torch.complex128", 16;
        }
    };
}

pub(crate) use for_each_dtype;

macro_rules! dtypes {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty,
          $name:literal, $torch:literal, $bytes:literal;)*) => {
        /// The built-in element types (PyTorch: `torch.dtype`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum DType {
            $(
                #[doc = concat!("`", $name, "`, PyTorch's `", $torch, "`, ", $bytes, " bytes")]
                $variant,
            )*
        }

        impl DType {
            /// Every built-in type, in the order of the declaration.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The short name: `f32`, `bf16`, `c128`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name),* }
            }

            /// PyTorch's name: `torch.float32`.
            pub const fn torch_name(self) -> &'static str {
                match self { $(DType::$variant => $torch),* }
            }

            /// The width of one element in bytes (PyTorch: `itemsize`).
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => $bytes),* }
            }
        }
    };
}

for_each_dtype!(dtypes);

/// The categories of PyTorch's type promotion, from the lowest to the highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Category {
    /// bool.
    Bool,
    /// Integers, signed or not.
    Integer,
    /// Real floats.
    Float,
    /// Complex floats.
    Complex,
}

impl DType {
    /// The category in type promotion.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => Category::Float,
            DType::C64 | DType::C128 => Category::Complex,
            _ => Category::Integer,
        }
    }

    /// The least and the greatest value of an integer dtype (PyTorch: `torch.iinfo`).
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            DType::U8 => (0, u8::MAX as i128),
            DType::U16 => (0, u16::MAX as i128),
            DType::U32 => (0, u32::MAX as i128),
            DType::U64 => (0, u64::MAX as i128),
            DType::I8 => (i8::MIN as i128, i8::MAX as i128),
            DType::I16 => (i16::MIN as i128, i16::MAX as i128),
            DType::I32 => (i32::MIN as i128, i32::MAX as i128),
            DType::I64 => (i64::MIN as i128, i64::MAX as i128),
            _ => return None,
        })
    }

    /// Is it u16, u32 or u64, which promote with floats only?
    pub(crate) const fn is_wide_unsigned(self) -> bool {
        matches!(self, DType::U16 | DType::U32 | DType::U64)
    }

    /// The name in PyTorch's messages: `Long` for i64.
    pub(crate) const fn scalar_type(self) -> &'static str {
        match self {
            DType::Bool => "Bool",
            DType::U8 => "Byte",
            DType::U16 => "UInt16",
            DType::U32 => "UInt32",
            DType::U64 => "UInt64",
            DType::I8 => "Char",
            DType::I16 => "Short",
            DType::I32 => "Int",
            DType::I64 => "Long",
            DType::F16 => "Half",
            DType::Bf16 => "BFloat16",
            DType::F32 => "Float",
            DType::F64 => "Double",
            DType::C64 => "ComplexFloat",
            DType::C128 => "ComplexDouble",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        DType::ALL
            .iter()
            .copied()
            .find(|d| d.name() == text || d.torch_name() == text)
            .ok_or_else(|| Error::UnknownDType { name: text.to_owned() })
    }
}
