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
    /// Real and complex floating point, and two integers, whose results are f32: others would take
    /// minutes to compile.
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
            Class::Inexact => real || complex || is_measured_integer(dtype),
            Class::Reduced => averaged || is_measured_integer(dtype),
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
            Op::Sum if is_measured_integer(dtype) => DType::I64,
            Op::Div | Op::Sqrt | Op::Exp if is_measured_integer(dtype) => DType::F32,
            _ => dtype,
        }
    }

    /// Why the operation cannot be measured on a type; `None` if it can.
    pub fn refusal(self, dtype: DType) -> Option<String> {
        let name = self.name();
        if self.takes(dtype) {
            return None;
        }
        if !self.is_defined_for(dtype) {
            return Some(format!("{name} is not defined for dtype {dtype}"));
        }
        let measured = DType::ALL.iter().filter(|dtype| self.takes(**dtype));
        let measured: Vec<_> = measured.map(|dtype| dtype.name()).collect();
        let measured = measured.join(", ");
        Some(format!("{name} of {dtype} is not measured: expected one of {measured}"))
    }

    /// Whether the library has the operation for the type.
    fn is_defined_for(self, dtype: DType) -> bool {
        let complex = matches!(dtype, DType::C64 | DType::C128);
        match self {
            Op::Copy | Op::Cast => true,
            Op::Relu | Op::Max | Op::ArgMax => dtype != DType::Bool && !complex,
            Op::Mean => self.takes(dtype) || dtype == DType::Bf16 || complex,
            _ => dtype != DType::Bool,
        }
    }

    /// Whether this cast can be measured. One type must be f32 or f64: all pairs would take minutes
    /// to compile.
    pub fn casts(from: DType, to: DType) -> bool {
        [from, to].iter().any(|dtype| matches!(dtype, DType::F32 | DType::F64))
    }
}

/// The integers for which operations are compiled that other integers have, too.
fn is_measured_integer(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::I32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_operations_that_mean_something() {
        assert!(Op::Copy.takes(DType::Bool) && !Op::Add.takes(DType::Bool));
        assert!(Op::Neg.takes(DType::U8) && Op::Sqrt.takes(DType::I32));
        assert!(!Op::Sqrt.takes(DType::I16) && !Op::Exp.takes(DType::Bool));
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
        assert_eq!(Op::Exp.usual_result(DType::U8), DType::F32);
    }

    #[test]
    fn what_the_library_has_is_not_called_undefined() {
        let cases = [
            (Op::Exp, DType::I16, "exp of i16 is not measured: expected one of u8, i32, f16"),
            (Op::Sum, DType::Bf16, "sum of bf16 is not measured: expected one of u8, i32, f16"),
            (Op::Add, DType::Bool, "add is not defined for dtype bool"),
            (Op::Relu, DType::C64, "relu is not defined for dtype c64"),
        ];
        for (op, dtype, reason) in cases {
            let refusal = op.refusal(dtype).unwrap();
            assert!(refusal.starts_with(reason), "{refusal}");
        }
        assert_eq!(Op::Exp.refusal(DType::U8), None);
    }
}
