//! The element types that meet each bound, as arms of a `match`: the one table by which operations
//! on run-time dtypes reach the typed ones.

/// `match_tensor!(Bound, any, op, x => result)`: the result for the typed tensor in `any`, and
/// [`DTypeError::Unsupported`](tensor_core::DTypeError) if its elements do not meet the bound.
/// `match_dtype!(Bound, dtype, op, T => result)` does the same for a dtype.
macro_rules! match_tensor {
    ($bound:ident, $any:expr, $op:expr, $x:ident => $result:expr) => {
        $crate::api::types::arms_of! { $bound, tensor, ($any, $op, $x => $result) }
    };
}

#[cfg(feature = "elementwise")]
macro_rules! match_dtype {
    ($bound:ident, $dtype:expr, $op:expr, $t:ident => $result:expr) => {
        $crate::api::types::arms_of! { $bound, dtype, ($dtype, $op, $t => $result) }
    };
}

macro_rules! arms_of {
    (Equality, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @bool @integers @floats @complex, $($rest)* }
    };
    (Accumulate, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @bool @integers @floats @complex, $($rest)* }
    };
    (Bits, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @bool @integers, $($rest)* }
    };
    (Compare, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @bool @integers @floats, $($rest)* }
    };
    (Number, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @integers @floats @complex, $($rest)* }
    };
    (Ordered, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @integers @floats, $($rest)* }
    };
    (Integer, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @integers, $($rest)* }
    };
    (Inexact, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @floats @complex, $($rest)* }
    };
    (Real, $($rest:tt)*) => {
        $crate::api::types::arms_of! { @floats, $($rest)* }
    };

    ($(@$group:ident)*, $what:ident, $arguments:tt) => {
        $crate::api::types::arms_of! { [$(@$group)*] [] $what, $arguments }
    };
    ([@bool $($rest:tt)*] [$($arms:tt)*] $($end:tt)*) => {
        $crate::api::types::arms_of! {
            [$($rest)*] [$($arms)* [] Bool bool,] $($end)*
        }
    };
    ([@integers $($rest:tt)*] [$($arms:tt)*] $($end:tt)*) => {
        $crate::api::types::arms_of! {
            [$($rest)*] [$($arms)* [] U8 u8, [] U16 u16, [] U32 u32, [] U64 u64,
                [] I8 i8, [] I16 i16, [] I32 i32, [] I64 i64,] $($end)*
        }
    };
    ([@floats $($rest:tt)*] [$($arms:tt)*] $($end:tt)*) => {
        $crate::api::types::arms_of! {
            [$($rest)*] [$($arms)* [#[cfg(feature = "half")]] F16 half::f16,
                [#[cfg(feature = "half")]] Bf16 half::bf16, [] F32 f32, [] F64 f64,] $($end)*
        }
    };
    ([@complex $($rest:tt)*] [$($arms:tt)*] $($end:tt)*) => {
        $crate::api::types::arms_of! {
            [$($rest)*] [$($arms)*
                [#[cfg(feature = "complex")]] C64 num_complex::Complex<f32>,
                [#[cfg(feature = "complex")]] C128 num_complex::Complex<f64>,] $($end)*
        }
    };

    ([] [$([$($gate:tt)*] $variant:ident $type:ty,)*]
     tensor, ($any:expr, $op:expr, $x:ident => $result:expr)) => {
        match $any {
            $($($gate)* tensor_core::AnyTensorBase::$variant($x) => $result,)*
            #[allow(unreachable_patterns, reason = "a bound that all types meet")]
            other => {
                let (op, dtype) = ($op, other.dtype());
                Err(tensor_core::DTypeError::Unsupported { op, dtype }.into())
            }
        }
    };
    ([] [$([$($gate:tt)*] $variant:ident $type:ty,)*]
     dtype, ($dtype:expr, $op:expr, $t:ident => $result:expr)) => {
        match $dtype {
            $($($gate)* tensor_core::DType::$variant => {
                type $t = $type;
                $result
            })*
            dtype => Err(tensor_core::DTypeError::Unsupported { op: $op, dtype }.into()),
        }
    };
}

#[cfg(feature = "elementwise")]
pub(in crate::api) use match_dtype;
pub(in crate::api) use {arms_of, match_tensor};
