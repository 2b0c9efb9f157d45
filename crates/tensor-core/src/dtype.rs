//! Element types named at run time: for files, command lines and messages.

use std::{fmt, str::FromStr};

use crate::Error;

macro_rules! dtypes {
    ($($variant:ident, $name:literal, $torch:literal, $bytes:literal;)*) => {
        /// The built-in element types (PyTorch: `torch.dtype`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`, PyTorch's `", $torch, "`, ", stringify!($bytes), " bytes")] $variant,)*
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

dtypes! {
    Bool, "bool", "torch.bool", 1;
    U8, "u8", "torch.uint8", 1;
    U16, "u16", "torch.uint16", 2;
    U32, "u32", "torch.uint32", 4;
    U64, "u64", "torch.uint64", 8;
    I8, "i8", "torch.int8", 1;
    I16, "i16", "torch.int16", 2;
    I32, "i32", "torch.int32", 4;
    I64, "i64", "torch.int64", 8;
    F16, "f16", "torch.float16", 2;
    Bf16, "bf16", "torch.bfloat16", 2;
    F32, "f32", "torch.float32", 4;
    F64, "f64", "torch.float64", 8;
    C64, "c64", "torch.complex64", 8;
    C128, "c128", "torch.complex128", 16;
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
