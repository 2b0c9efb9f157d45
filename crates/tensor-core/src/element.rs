//! The types that a tensor can hold.
//!
//! [`Element`] is open: any `Copy` type without padding bytes can be viewed, permuted and copied.
//! The element types of PyTorch are [`Scalar`]s: they have a [`DType`], can be printed, and
//! arithmetic is defined for them. `Scalar` is sealed.

use std::fmt;

use crate::{DType, Show, dtype::for_each_dtype};

/// A value that a tensor can hold: plain data, no padding, no destructor, free to cross threads.
///
/// Implemented for every type that meets the bounds. A pixel is an element:
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::Tensor;
///
/// #[derive(Clone, Copy, PartialEq, Debug, bytemuck::NoUninit)]
/// #[repr(C)]
/// struct Rgb([u8; 3]);
///
/// let image = Tensor::from_vec(vec![Rgb([255, 0, 0]); 6], [2, 3])?;
/// assert_eq!(image.t()?.shape(), [3, 2]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// A type of size zero meets the bounds, but strides have no meaning for it; storing one does not
/// compile:
///
/// ```compile_fail
/// # use tensor_core as tensor_kernels;
/// let nothing = tensor_kernels::Tensor::from_vec(vec![(); 6], [2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a tensor",
    note = "an element is `Copy + bytemuck::NoUninit + Send + Sync + 'static`: plain data without \
            padding",
    note = "in generic code, add the bound `Element`; for a type of your own, derive \
            `bytemuck::NoUninit`"
)]
pub trait Element: Copy + bytemuck::NoUninit + Send + Sync + 'static {}

// So that the compiler names this trait where it is missing, and not one of its bounds.
#[diagnostic::do_not_recommend]
impl<T: Copy + bytemuck::NoUninit + Send + Sync + 'static> Element for T {}

/// Refuses types of size zero at compile time: `const { assert_occupies_memory::<T>() }` precedes
/// every division of a storage into elements.
pub(crate) const fn assert_occupies_memory<T>() {
    assert!(size_of::<T>() > 0, "an element occupies at least one byte");
}

/// An element type with a [`DType`]: one of PyTorch's.
///
/// The trait is sealed, and so are all traits of arithmetic: the kernels rely on the size and the
/// alignment of these types, and on one type for each dtype. For other elements, `map` and `zip`
/// compute any function.
///
/// ```compile_fail,E0277
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{DType, Scalar, Show};
///
/// #[derive(Clone, Copy, Default, PartialEq, bytemuck::NoUninit)]
/// #[repr(C)]
/// struct Three([f32; 3]);
///
/// impl From<Three> for f64 {
///     fn from(Three([first, ..]): Three) -> f64 {
///         first.into()
///     }
/// }
///
/// impl Show for Three {
///     type Column = <f32 as Show>::Column;
/// }
///
/// impl Scalar for Three {
///     const DTYPE: DType = DType::F32;
/// }
/// ```
pub trait Scalar:
    Element
    + bytemuck::Zeroable
    + Default
    + PartialEq
    + fmt::Debug
    + fmt::Display
    + Show
    + sealed::Sealed
{
    /// The name of this type at run time.
    const DTYPE: DType;
    /// 0; `false` for bool.
    const ZERO: Self;
    /// 1; `true` for bool.
    const ONE: Self;
}

mod sealed {
    /// Restricts [`Scalar`](super::Scalar) to the built-in types: this module is private.
    pub trait Sealed {}
}

macro_rules! scalars {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        $(
            $(#[$gate])*
            impl sealed::Sealed for $type {}

            $(#[$gate])*
            impl Scalar for $type {
                const DTYPE: DType = DType::$variant;
                const ZERO: Self = <$type as Numerals>::ZERO;
                const ONE: Self = <$type as Numerals>::ONE;
            }
        )*
    };
}

for_each_dtype!(scalars);

/// The constants of [`Scalar`], which the table of dtypes does not have.
trait Numerals: Sized {
    const ZERO: Self;
    const ONE: Self;
}

macro_rules! numerals {
    ($($(#[$gate:meta])* $type:ty: $zero:expr, $one:expr;)*) => {$(
        $(#[$gate])*
        impl Numerals for $type {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
        }
    )*};
}

numerals! {
    bool: false, true;
    u8: 0, 1; u16: 0, 1; u32: 0, 1; u64: 0, 1;
    i8: 0, 1; i16: 0, 1; i32: 0, 1; i64: 0, 1;
    f32: 0.0, 1.0; f64: 0.0, 1.0;
    #[cfg(feature = "half")] half::f16: Self::ZERO, Self::ONE;
    #[cfg(feature = "half")] half::bf16: Self::ZERO, Self::ONE;
    #[cfg(feature = "complex")] num_complex::Complex<f32>: Self::new(0.0, 0.0), Self::new(1.0, 0.0);
    #[cfg(feature = "complex")] num_complex::Complex<f64>: Self::new(0.0, 0.0), Self::new(1.0, 0.0);
}
