//! Sizes and dimensions as users write them: of any integer type, in arrays, slices and vectors.

use smallvec::{Array, SmallVec};

use crate::{DimVec, Error, Result};

/// An integer that names a dimension, an index or a size.
///
/// Every method of tensors and views takes any of them: a size that `shape()` returned is a
/// `usize`, and −1 is none.
pub trait Int: Copy + sealed::Sealed {
    /// The number, if it is in the range of `isize`.
    fn checked(self) -> Option<isize>;

    /// The number, or the nearest one in the range of `isize`, which is the number of no dimension
    /// and no index.
    fn saturated(self) -> isize;
}

/// A dimension, or `None` where the elements are taken as one row: any [`Int`], or an
/// `Option<isize>`.
pub trait OptionalDim: sealed::Optional {
    /// The dimension; a number beyond `isize` as the nearest one, which is no dimension.
    fn optional(self) -> Option<isize>;
}

impl<I: Int> sealed::Optional for I {}

impl<I: Int> OptionalDim for I {
    #[inline]
    fn optional(self) -> Option<isize> {
        Some(self.saturated())
    }
}

impl sealed::Optional for Option<isize> {}

impl OptionalDim for Option<isize> {
    #[inline]
    fn optional(self) -> Option<isize> {
        self
    }
}

/// A list of sizes or of dimensions: an array, a slice or a vector of any integers, owned or
/// borrowed. `()` is the empty list. A literal of unknown type is an `i32`, as everywhere in Rust:
/// write `1_usize << 40` for a size beyond it.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::Tensor;
///
/// let x = Tensor::arange(0, 24, 1)?;
/// let [rows, columns] = [4_usize, 6];
/// assert_eq!(x.view([rows, columns])?.shape(), [4, 6]);
/// assert_eq!(x.view(&[2, 3, -1])?.shape(), [2, 3, 4]);
/// assert_eq!(x.view(vec![2_i64, -1])?.permute([1_usize, 0])?.shape(), [12, 2]);
/// assert!(x.narrow(0, 5, 1)?.view(())?.shape().is_empty());
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of sizes or dimensions",
    note = "sizes and dimensions are one argument, an array, slice or vector of integers: \
            `x.view([2, 3])`; none is `()`"
)]
pub trait Sizes {
    /// The numbers, which may be negative.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a number beyond `isize`.
    fn into_sizes(self) -> Result<DimVec<isize>>;

    /// The numbers, as a shape.
    ///
    /// # Errors
    /// [`Error::InvalidSize`] for a negative number, [`Error::TooLarge`] for one beyond `isize`.
    fn into_shape(self) -> Result<DimVec<usize>>
    where
        Self: Sized,
    {
        any_shape(&self.into_sizes()?)
    }
}

mod sealed {
    use crate::{DimVec, Result};

    /// Restricts [`OptionalDim`](super::OptionalDim) to the types that are named there.
    pub trait Optional {}

    /// Restricts [`Int`](super::Int) to the integers of Rust. The lists of sizes that the library
    /// itself passes are of `usize` and `isize`, which are copied as they are.
    pub trait Sealed: Sized {
        fn sizes(list: &[Self]) -> Result<DimVec<isize>>;
        fn shape(list: &[Self]) -> Result<DimVec<usize>>;
        /// The number in an error that shows sizes; a negative one is 0.
        fn shown(self) -> usize;
    }
}

macro_rules! ints {
    ($($type:ty $(, sizes $sizes:expr)? $(, shape $shape:expr)?;)*) => {$(
        impl sealed::Sealed for $type {
            #[inline]
            fn sizes(list: &[Self]) -> Result<DimVec<isize>> {
                ints!(@first $(($sizes))? (any_sizes))(list)
            }

            #[inline]
            fn shape(list: &[Self]) -> Result<DimVec<usize>> {
                ints!(@first $(($shape))? (any_shape))(list)
            }

            #[allow(unused_comparisons, reason = "the integer may be unsigned")]
            fn shown(self) -> usize {
                usize::try_from(self).unwrap_or(if self < 0 { 0 } else { usize::MAX })
            }
        }

        impl Int for $type {
            #[inline]
            fn checked(self) -> Option<isize> {
                isize::try_from(self).ok()
            }

            #[inline]
            fn saturated(self) -> isize {
                #[allow(unused_comparisons, reason = "the integer may be unsigned")]
                self.checked().unwrap_or(if self < 0 { isize::MIN } else { isize::MAX })
            }
        }
    )*};
    (@first ($first:expr) $($rest:tt)*) => { $first };
}

ints! {
    i8; i16; i32; i64; u8; u16; u32; u64;
    isize, sizes |list: &[isize]| Ok(DimVec::from_slice(list));
    usize, shape |list: &[usize]| match list.iter().all(|&size| size <= isize::MAX as usize) {
        true => Ok(DimVec::from_slice(list)),
        false => Err(too_large(list)),
    };
}

impl<I: Int> Sizes for &[I] {
    #[inline]
    fn into_sizes(self) -> Result<DimVec<isize>> {
        I::sizes(self)
    }

    #[inline]
    fn into_shape(self) -> Result<DimVec<usize>> {
        I::shape(self)
    }
}

fn any_sizes<I: Int>(list: &[I]) -> Result<DimVec<isize>> {
    list.iter().map(|&size| size.checked().ok_or_else(|| too_large(list))).collect()
}

fn any_shape<I: Int>(list: &[I]) -> Result<DimVec<usize>> {
    let sizes = any_sizes(list)?;
    let size = |(index, &size): (usize, &isize)| {
        usize::try_from(size).map_err(|_| Error::InvalidSize { size, index, shape: sizes.to_vec() })
    };
    sizes.iter().enumerate().map(size).collect()
}

fn too_large<I: Int>(sizes: &[I]) -> Error {
    let shape = sizes.iter().map(|&size| size.shown());
    Error::TooLarge { what: "a size", shape: shape.collect(), strides: Vec::new() }
}

impl Sizes for () {
    fn into_sizes(self) -> Result<DimVec<isize>> {
        Ok(DimVec::new())
    }
}

/// Lists that are slices behind a conversion.
macro_rules! lists {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Sizes for $type {
            #[inline]
            fn into_sizes(self) -> Result<DimVec<isize>> {
                self[..].into_sizes()
            }

            #[inline]
            fn into_shape(self) -> Result<DimVec<usize>> {
                self[..].into_shape()
            }
        }
    )*};
}

lists! {
    [I: Int, const N: usize] [I; N];
    [I: Int, const N: usize] &[I; N];
    [I: Int] Vec<I>;
    [I: Int] &Vec<I>;
    [I: Int] Box<[I]>;
    [I: Int] &Box<[I]>;
    [I: Int, A: Array<Item = I>] SmallVec<A>;
    [I: Int, A: Array<Item = I>] &SmallVec<A>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_every_integer_is_read() {
        let two: DimVec<isize> = SmallVec::from_slice(&[2, 3]);
        assert_eq!([2_u8, 3].into_sizes().unwrap(), two);
        assert_eq!((&[2_u16, 3]).into_sizes().unwrap(), two);
        assert_eq!([2_u32, 3][..].into_sizes().unwrap(), two);
        assert_eq!(vec![2_u64, 3].into_sizes().unwrap(), two);
        assert_eq!((&vec![2_usize, 3]).into_sizes().unwrap(), two);
        assert_eq!([2_i8, 3].into_sizes().unwrap(), two);
        assert_eq!([2_i16, 3].into_sizes().unwrap(), two);
        assert_eq!([2_i32, 3].into_sizes().unwrap(), two);
        assert_eq!(vec![2_i64, 3].into_boxed_slice().into_sizes().unwrap(), two);
        assert_eq!((&two).into_sizes().unwrap(), two);
        assert_eq!(two.clone().into_sizes().unwrap(), two);
        assert_eq!(().into_shape().unwrap().len(), 0);
    }

    #[test]
    fn fault_numbers_beyond_isize_and_negative_sizes_are_refused() {
        for refused in [[1, u64::MAX].into_sizes(), [isize::MAX as u64 + 1, 1].into_sizes()] {
            assert!(matches!(refused, Err(Error::TooLarge { what: "a size", .. })));
        }
        let refused = [3, -2].into_shape().unwrap_err();
        assert_eq!(refused, Error::InvalidSize { size: -2, index: 1, shape: vec![3, -2] });
        assert_eq!([usize::MAX.saturated(), u64::MAX.saturated()], [isize::MAX; 2]);
        assert_eq!([i64::MIN.saturated(), (-1_i8).saturated()], [isize::MIN, -1]);
    }
}
