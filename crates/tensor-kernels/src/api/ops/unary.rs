//! Operations on one operand.

use std::any::TypeId;

use tensor_core::{AsOperand, Category, DType, Element, Operand, Output, Result, TensorBase};

#[cfg(tensor_compiled)]
use crate::kernel::{Map, Operation};
use crate::{
    api::{call::Call, compiled::compiled, ops::table::unary_operations, tensor::Simd},
    element::{Bits, Cast, Equality, Inexact, Number, Ordered, Real},
    exec::Exec,
    kernel::{Function1, RegisterOp},
    math::FmaMode,
};

/// For each row of the table: a type, compiled for each instruction set, and its functions.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$(
        pub(crate) struct $op;

        compiled! { $op, $bound, T => Map<$op, T>, dyn Operation<2> }

        function! { $op<$t: $bound> -> $output { $($value)* } }

        $(#[$doc])*
        ///
        /// # Errors
        /// A storage that is being written, no memory.
        pub fn $name<$t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
        ) -> Result<TensorBase<$output, Simd>> {
            Call::new(exec, stringify!($name)).eval1($op, a.as_operand())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        /// Also a result of another shape, or that shares elements with the operand without being
        /// it, or with itself; see [`ops`](crate::ops).
        #[track_caller]
        pub fn $into<'o, $t: $bound>(
            exec: &Exec,
            a: impl AsOperand<$t>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            Call::new(exec, stringify!($name)).into1($op, Some(a.as_operand()), out.into())
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($into), "`].")]
            #[track_caller]
            pub fn $inplace<'x, $t: $inplace_bound>(
                exec: &Exec,
                x: impl Into<Output<'x, $t>>,
            ) -> Result<()> {
                Call::new(exec, stringify!($name)).into1($op, None::<Operand<'_, $t>>, x.into())
            }
        )?
    )*};
}

macro_rules! function {
    (
        $op:ident<$t:ident: $bound:ident> -> $output:ty {
            |$m:ident, $a:ident| $value:expr
            $(, large_argument $has_large:ident if $is_large:expr => $large:expr)?
            $(, computes_much $much:literal)?
            $(, in_registers $register_op:ident)?
        }
    ) => {
        impl<$t: $bound> Function1<$t> for $op {
            type Output = $output;

            #[cfg(tensor_compiled)]
            fn compiled(operation: &Map<Self, $t>) -> Option<&dyn Operation<2>> {
                $op::find_compiled(operation)
            }

            #[inline(always)]
            fn call<$m: FmaMode>(&self, $a: $t) -> $output {
                $value
            }

            $(
                const COMPUTES_MUCH: bool = $much;
            )?

            $(
                const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::$register_op);
            )?

            $(
                const HAS_LARGE_ARGUMENT_PATH: bool = <$t::Float as Inexact>::$has_large;

                #[inline(always)]
                fn is_large_argument(&self, $a: $t) -> bool {
                    $is_large
                }

                #[inline(always)]
                fn call_large_argument<$m: FmaMode>(&self, $a: $t) -> $output {
                    $large
                }
            )?
        }
    };
}

unary_operations! { functions }

/// A conversion as a type, compiled for each instruction set.
pub(crate) struct Convert<U>(std::marker::PhantomData<fn() -> U>);

impl<U> Convert<U> {
    pub(crate) const TO: Self = Self(std::marker::PhantomData);
}

impl<T: Cast<U>, U: Element> Function1<T> for Convert<U> {
    type Output = U;

    const IS_CHEAP_CONVERSION: bool =
        matches!(T::DTYPE, DType::F32 | DType::F64) && matches!(size_of::<U>(), 4 | 8);

    /// Conversions of floats to integers are, because of values out of range.
    #[inline(always)]
    fn is_scalar_code() -> bool {
        T::DTYPE.category() == Category::Float && is_integer::<U>()
    }

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Map<Self, T>) -> Option<&dyn Operation<2>> {
        find_conversion(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> U {
        a.cast()
    }
}

/// Known when the program is compiled.
#[inline(always)]
fn is_integer<U: Element>() -> bool {
    macro_rules! is_one_of {
        ($($integer:ident)*) => { $(TypeId::of::<U>() == TypeId::of::<$integer>())||* };
    }
    is_one_of!(u8 u16 u32 u64 i8 i16 i32 i64)
}

/// The conversions between the commonest types; see [`compiled`](crate::api::compiled).
#[cfg(tensor_compiled)]
#[inline(never)]
fn find_conversion(operation: &dyn std::any::Any) -> Option<&dyn Operation<2>> {
    macro_rules! conversions {
        ($($from:ident to $($to:ident)*;)*) => {
            $($(
                if let Some(found) = operation.downcast_ref::<Map<Convert<$to>, $from>>() {
                    return Some(found);
                }
            )*)*
        };
    }
    conversions! {
        f32 to f64 i64 i32 u8 bool;
        f64 to f32 i64 i32 u8 bool;
        i64 to f32 f64 i32 u8 bool;
        i32 to f32 f64 i64 u8 bool;
        u8 to f32 f64 i64 i32 bool;
        bool to f32 f64 i64 i32 u8;
    }
    #[cfg(feature = "half")]
    {
        use half::{bf16, f16};
        conversions! { f16 to f32 f64 bf16; bf16 to f32 f64 f16; f32 to f16 bf16; f64 to f16 bf16; }
    }
    None
}

/// `a`, converted to another element type as [`Cast`] says (PyTorch: `a.to(dtype)`).
///
/// # Errors
/// A storage that is being written, no memory.
#[track_caller]
pub fn cast<T: Cast<U>, U: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
) -> Result<TensorBase<U, Simd>> {
    Call::new(exec, "cast").eval1(Convert::TO, a.as_operand())
}

/// [`cast`] into a given result (PyTorch: `out.copy_(a)`).
///
/// # Errors
/// Also a result of another shape, or that shares elements with the operand without being it, or
/// with itself.
#[track_caller]
pub fn cast_into<'a, 'o, T: Cast<U>, U: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    out: impl Into<Output<'o, U>>,
) -> Result<()> {
    Call::new(exec, "cast").into1(Convert::TO, Some(a.as_operand()), out.into())
}
