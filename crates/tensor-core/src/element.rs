//! What may stand in a tensor.
//!
//! [`Element`] is open: any plain copyable value without padding bytes can be viewed, permuted and
//! copied. The element types that PyTorch also has are [`Scalar`]s: they know their [`DType`],
//! print themselves and can be computed with. Those are no others.

use crate::DType;

/// A value that a tensor can hold: plain data, no padding, no destructor, free to cross threads.
///
/// Implemented for every type that meets the bounds; there is nothing to write. A pixel is an
/// element:
///
/// ```
/// use tensor_core::Tensor;
///
/// #[derive(Clone, Copy, PartialEq, Debug, bytemuck::NoUninit)]
/// #[repr(C)]
/// struct Rgb([u8; 3]);
///
/// let image = Tensor::from_vec(vec![Rgb([255, 0, 0]); 6], &[2, 3])?;
/// assert_eq!(image.t()?.shape(), [3, 2]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// A type of size zero meets the bounds but occupies no memory to stride over; storing one does not
/// compile:
///
/// ```compile_fail
/// let nothing = tensor_core::Tensor::from_vec(vec![(); 6], &[2, 3]);
/// ```
pub trait Element: Copy + bytemuck::NoUninit + Send + Sync + 'static {}

impl<T: Copy + bytemuck::NoUninit + Send + Sync + 'static> Element for T {}

/// Refuses types of size zero when a program is compiled: `const { assert_occupies_memory::<T>() }`
/// stands wherever a storage is divided into elements.
pub(crate) const fn assert_occupies_memory<T>() {
    assert!(size_of::<T>() > 0, "an element occupies at least one byte");
}

/// An element type with a [`DType`]: the ones PyTorch has too, and no others.
///
/// The trait is sealed, and with it all traits of arithmetic: what computes relies on the size and
/// the alignment of these types, and on one type for each dtype. Of other elements, `map` and its
/// like compute any function.
///
/// ```compile_fail,E0277
/// use tensor_core::{DType, Scalar, Show};
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
pub trait Scalar: Element + Default + PartialEq + crate::display::Show + sealed::Sealed {
    /// The name of this type at run time.
    const DTYPE: DType;
}

mod sealed {
    /// Keeps [`Scalar`](super::Scalar) to the types that are listed below: the module has no name
    /// outside.
    pub trait Sealed {}
}

macro_rules! scalars {
    ($($(#[$gate:meta])* $type:ty => $dtype:ident),* $(,)?) => {
        $(
            $(#[$gate])*
            impl sealed::Sealed for $type {}

            $(#[$gate])*
            impl Scalar for $type {
                const DTYPE: DType = DType::$dtype;
            }
        )*
    };
}

scalars! {
    bool => Bool,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    f32 => F32, f64 => F64,
    #[cfg(feature = "half")] half::f16 => F16,
    #[cfg(feature = "half")] half::bf16 => Bf16,
    #[cfg(feature = "complex")] num_complex::Complex<f32> => C64,
    #[cfg(feature = "complex")] num_complex::Complex<f64> => C128,
}
