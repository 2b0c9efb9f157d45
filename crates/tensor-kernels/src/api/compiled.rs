//! The named operations on the commonest element types, compiled in this crate.
//!
//! Operations are generic, so the compiler makes their loops in the crate that calls them, at that
//! crate's level of optimisation: in a debug build of a program, without any, a hundred times
//! slower. If this crate is optimised in such a build (`tensor_compiled`, set by the build script),
//! it compiles the named operations on f32, f64, f16, bf16, i64, i32, u8 and bool itself, and calls
//! take those loops. In other builds none of this exists. (All element types would take minutes to
//! compile.)
//!
//! Each operation has one function that is not generic and finds the element type of its argument
//! by downcasts. It turns the reference into a trait object, and so the loops behind that object
//! are made here.

/// `find_compiled`, for an operation's type: the trait object, if the argument is of this type for
/// one of the element types.
macro_rules! compiled {
    ($op:ident, $bound:ident, $t:ident => $typed:ty, $object:ty) => {
        #[cfg(tensor_compiled)]
        impl $op {
            #[inline(never)]
            pub(in crate::api) fn find_compiled(
                operation: &dyn std::any::Any,
            ) -> Option<&$object> {
                $crate::api::compiled::find_typed!($bound, operation, $t => $typed)
            }
        }
    };
}

/// The value behind a `&dyn Any`, if it is of this type for one of the element types of a bound.
#[cfg(tensor_compiled)]
macro_rules! find_typed {
    (Bits, $($rest:tt)*) => { $crate::api::compiled::find_typed! { @ bool i64 i32 u8, $($rest)* } };
    (Integer, $($rest:tt)*) => {
        $crate::api::compiled::find_typed! { @ i64 i32 u8, $($rest)* }
    };
    (Real, $($rest:tt)*) => { $crate::api::compiled::find_typed! { @halves f32 f64, $($rest)* } };
    (Inexact, $($rest:tt)*) => {
        $crate::api::compiled::find_typed! { @halves f32 f64, $($rest)* }
    };
    (Number, $($rest:tt)*) => {
        $crate::api::compiled::find_typed! { @halves f32 f64 i64 i32 u8, $($rest)* }
    };
    (Ordered, $($rest:tt)*) => {
        $crate::api::compiled::find_typed! { @halves f32 f64 i64 i32 u8, $($rest)* }
    };
    ($bound:ident, $($rest:tt)*) => {
        $crate::api::compiled::find_typed! { @halves bool f32 f64 i64 i32 u8, $($rest)* }
    };
    (@halves $($type:ty)*, $any:expr, $t:ident => $typed:ty) => {{
        #[cfg(feature = "half")]
        {
            $crate::api::compiled::find_typed! { @each half::f16 half::bf16, $any, $t => $typed }
        }
        $crate::api::compiled::find_typed! { @ $($type)*, $any, $t => $typed }
    }};
    (@each $($type:ty)*, $any:expr, $t:ident => $typed:ty) => {
        $({
            type $t = $type;
            if let Some(found) = $any.downcast_ref::<$typed>() {
                return Some(found);
            }
        })*
    };
    (@ $($type:ty)*, $any:expr, $t:ident => $typed:ty) => {{
        $crate::api::compiled::find_typed! { @each $($type)*, $any, $t => $typed }
        None
    }};
}

/// `compiled_function! { find<T: Bound>: fn(…) -> R = function for types }` defines `find::<T>()`,
/// which returns `function::<T>`: for one of the types the one that this crate has compiled, for
/// another the one that the calling crate compiles.
macro_rules! compiled_function {
    ($find:ident<$t:ident: $bound:path>: $signature:ty = $function:ident for $($type:ty)*) => {
        #[inline]
        fn $find<$t: tensor_core::Element + $bound>() -> $signature {
            #[cfg(tensor_compiled)]
            {
                #[inline(never)]
                fn all() -> &'static [&'static (dyn std::any::Any + Send + Sync)] {
                    &[$({
                        type $t = $type;
                        const FUNCTION: $signature = $function::<$type>;
                        &FUNCTION
                    }),*]
                }
                let found = all().iter().find_map(|compiled| compiled.downcast_ref::<$signature>());
                if let Some(&found) = found {
                    return found;
                }
            }
            $function::<$t>
        }
    };
}

#[cfg(tensor_compiled)]
pub(in crate::api) use find_typed;
pub(in crate::api) use {compiled, compiled_function};
