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
    Sum "sum" 1 "The sum over dimensions";
    Mean "mean" 1 "The mean over dimensions";
    Max "max" 1 "The largest element over dimensions";
    ArgMax "argmax" 1 "The index of the largest element over dimensions";
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
    /// A choice of real numbers: others would take minutes to compile for reductions.
    Reduced,
    /// The floats among them.
    Averaged,
}

impl Op {
    pub(super) fn class(self) -> Class {
        match self {
            Op::Copy | Op::Cast => Class::Element,
            Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::MulAdd => Class::Number,
            Op::Relu => Class::Ordered,
            Op::Div | Op::Sqrt | Op::Exp => Class::Inexact,
            Op::Sum | Op::Max | Op::ArgMax => Class::Reduced,
            Op::Mean => Class::Averaged,
        }
    }

    /// The operation of a name.
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Whether the operation is defined for the type.
    pub fn takes(self, dtype: DType) -> bool {
        let complex = matches!(dtype, DType::C64 | DType::C128);
        let real = matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64);
        let averaged = matches!(dtype, DType::F16 | DType::F32 | DType::F64);
        match self.class() {
            Class::Element => true,
            Class::Number => dtype != DType::Bool,
            Class::Ordered => dtype != DType::Bool && !complex,
            Class::Inexact => real || complex,
            Class::Reduced => averaged || matches!(dtype, DType::U8 | DType::I32),
            Class::Averaged => averaged,
        }
    }

    /// Whether the operation reduces dimensions.
    pub fn is_reduction(self) -> bool {
        matches!(self.class(), Class::Reduced | Class::Averaged)
    }

    /// Whether the result has the shape of the operands, and elements are computed.
    pub fn is_elementwise(self) -> bool {
        self != Op::Copy && !self.is_reduction()
    }

    /// The element type of the result for operands of this type. A cast can have another one.
    pub fn usual_result(self, dtype: DType) -> DType {
        match self {
            Op::ArgMax => DType::I64,
            Op::Sum if matches!(dtype, DType::U8 | DType::I32) => DType::I64,
            _ => dtype,
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
        assert!(Op::Sum.takes(DType::U8) && !Op::Mean.takes(DType::U8));
    }

    #[test]
    fn indices_and_sums_of_integers_are_wide() {
        assert_eq!(Op::ArgMax.usual_result(DType::F32), DType::I64);
        assert_eq!(Op::Sum.usual_result(DType::U8), DType::I64);
        assert_eq!(Op::Sum.usual_result(DType::F16), DType::F16);
        assert_eq!(Op::Max.usual_result(DType::U8), DType::U8);
    }
}
