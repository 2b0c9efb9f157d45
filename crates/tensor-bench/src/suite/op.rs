//! The operations, and which element types have them.

use tensor_kernels::DType;

macro_rules! ops {
    ($($variant:ident $name:literal $arity:literal $doc:literal;)*) => {
        /// The operation of a case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op {
            $(#[doc = $doc] $variant,)*
        }

        impl Op {
            /// Every operation.
            pub const ALL: &[Op] = &[$(Op::$variant),*];

            /// The name in a suite file.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$variant => $name),* }
            }

            /// The number of operands.
            pub const fn arity(self) -> usize {
                match self { $(Op::$variant => $arity),* }
            }
        }
    };
}

ops! {
    Copy "copy" 1 "A row-major copy";
    Add "add" 2 "`a + b`";
    Sub "sub" 2 "`a - b`";
    Mul "mul" 2 "`a * b`";
    Div "div" 2 "`a / b`";
    Neg "neg" 1 "`-a`";
    Relu "relu" 1 "`max(a, 0)`";
    Sqrt "sqrt" 1 "The square root";
    Exp "exp" 1 "The exponential function";
    MulAdd "mul_add" 3 "`a * b + c`";
    Cast "cast" 1 "Another element type";
}

/// The element types that an operation is defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// All types.
    Element,
    /// All types but bool.
    Number,
    /// Real numbers.
    Ordered,
    /// Real and complex floating point.
    Inexact,
}

impl Op {
    pub(super) fn class(self) -> Class {
        match self {
            Op::Copy | Op::Cast => Class::Element,
            Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::MulAdd => Class::Number,
            Op::Relu => Class::Ordered,
            Op::Div | Op::Sqrt | Op::Exp => Class::Inexact,
        }
    }

    /// Whether the operation is defined for the type.
    pub fn takes(self, dtype: DType) -> bool {
        let complex = matches!(dtype, DType::C64 | DType::C128);
        let real = matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64);
        match self.class() {
            Class::Element => true,
            Class::Number => dtype != DType::Bool,
            Class::Ordered => dtype != DType::Bool && !complex,
            Class::Inexact => real || complex,
        }
    }

    /// Whether this cast can be measured. One type must be f32 or f64: all pairs would take minutes
    /// to compile.
    pub fn casts(from: DType, to: DType) -> bool {
        [from, to].iter().any(|dtype| matches!(dtype, DType::F32 | DType::F64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_operations_that_mean_something() {
        assert!(Op::Copy.takes(DType::Bool) && !Op::Add.takes(DType::Bool));
        assert!(Op::Neg.takes(DType::U8) && !Op::Sqrt.takes(DType::I32));
        assert!(Op::casts(DType::Bf16, DType::F32) && Op::casts(DType::F64, DType::Bool));
        assert!(!Op::casts(DType::U8, DType::I8));
        assert!(Op::Exp.takes(DType::C64) && !Op::Relu.takes(DType::C64));
    }
}
