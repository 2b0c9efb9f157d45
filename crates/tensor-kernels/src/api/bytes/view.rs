//! Memory, an item size, and where the items lie.

use std::{fmt, mem::MaybeUninit, ptr::NonNull};

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::{Layout, Result, Sizes};

use crate::run::{ItemLayout, Source, Target};

/// A byte that is initialised, `u8`, or that need not be, `MaybeUninit<u8>`.
pub trait Byte: sealed::Sealed + Copy + Send + Sync {}

impl Byte for u8 {}
impl Byte for MaybeUninit<u8> {}

mod sealed {
    pub trait Sealed {}

    impl Sealed for u8 {}
    impl Sealed for std::mem::MaybeUninit<u8> {}
}

/// Items of a run-time number of bytes, to be read.
///
/// Items may overlap, and may be repeated by strides of 0. Memory, offsets and strides need no
/// alignment. Copies are fastest where every stride is a multiple of the item size, whatever the
/// address; other items, such as a field of packed records, are copied one by one as short runs.
///
/// ```
/// use tensor_kernels::{ByteView, Exec, Layout, to_byte_vec};
///
/// // Records of 5 bytes: a number of 4 bytes, and a flag.
/// let records = [1, 2, 3, 4, 0, 5, 6, 7, 8, 1];
/// let numbers = ByteView::strided(&records, 4, [2], [5], 0)?;
/// let backwards = ByteView::strided(&records, 4, [2], [-5], 5)?;
/// assert_eq!(to_byte_vec(Exec::current()?, &numbers)?, [1, 2, 3, 4, 5, 6, 7, 8]);
/// assert_eq!(to_byte_vec(Exec::current()?, &backwards)?, [5, 6, 7, 8, 1, 2, 3, 4]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone)]
pub struct ByteView<'a>(pub(super) Source<'a>);

/// Items of a run-time number of bytes, to be written; no two of them overlap.
///
/// `B` is [`MaybeUninit<u8>`] for memory that has not been written yet, and `u8` otherwise.
///
/// ```
/// use tensor_kernels::{ByteView, ByteViewMut, Exec, Layout, copy_bytes};
///
/// // Numbers of 2 bytes, written into records of 3 bytes; the others stay as they are.
/// let (numbers, mut records) = ([1u8, 2, 3, 4], [9u8; 6]);
/// let from = ByteView::new(&numbers, 2, Layout::contiguous(&[2])?)?;
/// let mut to = ByteViewMut::strided(&mut records, 2, [2], [3], 1)?;
/// copy_bytes(Exec::current()?, &from, &mut to)?;
/// assert_eq!(records, [9, 1, 2, 9, 3, 4]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
pub struct ByteViewMut<'a, B = u8>(pub(super) Target<'a, B>);

impl<'a> ByteView<'a> {
    /// Items of `item_size` bytes in a slice, at the offsets of a layout that counts in items from
    /// the start of the slice.
    ///
    /// # Errors
    /// [`Error::ByteStride`] for an item size of 0, [`Error::TooFewElements`] (in bytes) if the
    /// layout reaches beyond the slice, [`Error::TooLarge`].
    pub fn new(bytes: &'a [u8], item_size: usize, layout: Layout) -> Result<Self> {
        Source::new(bytes, ItemLayout::of(layout, item_size)?).map(Self)
    }

    /// Items of `item_size` bytes in a slice. Strides are in bytes, and `offset` is that of the
    /// first item, the one whose indices are all 0.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::InvalidSize`] for a negative size,
    /// [`Error::StridesLength`], [`Error::BelowStorage`].
    pub fn strided(
        bytes: &'a [u8],
        item_size: usize,
        shape: impl Sizes,
        byte_strides: impl Sizes,
        offset: usize,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, byte_strides.into_sizes()?);
        Source::new(bytes, ItemLayout::strided(&shape, &strides, offset, item_size)?).map(Self)
    }

    /// Items of `item_size` bytes in memory that no slice describes. `first` is the address of the
    /// first item, the one whose indices are all 0, and may be anything if there are no items.
    /// Strides are in bytes, as NumPy's.
    ///
    /// ```
    /// use std::ptr::NonNull;
    /// use tensor_kernels::{ByteView, Exec, to_byte_vec};
    ///
    /// let pixels = [1u8, 2, 3, 4, 5, 6];
    /// let first = NonNull::from(&pixels).cast();
    /// // SAFETY: the three pairs lie in the array, which outlives the view and is not written.
    /// let pairs = unsafe { ByteView::from_raw_parts(first, 2, [3], [2]) }?;
    /// assert_eq!(to_byte_vec(Exec::current()?, &pairs)?, pixels);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ByteStride`] for an item size of 0, [`Error::InvalidSize`] for a negative size,
    /// [`Error::StridesLength`], [`Error::TooLarge`].
    ///
    /// # Safety
    /// During `'a` the bytes of every item are in bounds of one allocation, initialised, valid for
    /// reads, and written by nobody.
    pub unsafe fn from_raw_parts(
        first: NonNull<u8>,
        item_size: usize,
        shape: impl Sizes,
        byte_strides: impl Sizes,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, byte_strides.into_sizes()?);
        let below = ItemLayout::bytes_below(&shape, &strides)?;
        let layout = ItemLayout::strided(&shape, &strides, below, item_size)?;
        // SAFETY: the lowest item is in bounds of the allocation; without items `below` is 0.
        let lowest = unsafe { first.sub(below) };
        // SAFETY: this function's contract: the layout's offsets are those of the items.
        Ok(Self(unsafe { Source::from_raw_parts(lowest, layout) }))
    }
}

impl<'a, B: Byte> ByteViewMut<'a, B> {
    /// Items of `item_size` bytes in a slice, at the offsets of a layout that counts in items from
    /// the start of the slice.
    ///
    /// # Errors
    /// [`Error::ByteStride`] for an item size of 0, [`Error::TooFewElements`] (in bytes) if the
    /// layout reaches beyond the slice, [`Error::WriteOverlap`] (with the byte of an item as the
    /// last index) if items overlap, [`Error::TooLarge`].
    pub fn new(bytes: &'a mut [B], item_size: usize, layout: Layout) -> Result<Self> {
        Target::new(bytes, ItemLayout::of(layout, item_size)?).map(Self)
    }

    /// Items of `item_size` bytes in a slice. Strides are in bytes, and `offset` is that of the
    /// first item, the one whose indices are all 0.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::InvalidSize`] for a negative size,
    /// [`Error::StridesLength`], [`Error::BelowStorage`].
    pub fn strided(
        bytes: &'a mut [B],
        item_size: usize,
        shape: impl Sizes,
        byte_strides: impl Sizes,
        offset: usize,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, byte_strides.into_sizes()?);
        Target::new(bytes, ItemLayout::strided(&shape, &strides, offset, item_size)?).map(Self)
    }

    /// Items of `item_size` bytes in memory that no slice describes. `first` is the address of the
    /// first item, the one whose indices are all 0, and may be anything if there are no items.
    /// Strides are in bytes, as NumPy's.
    ///
    /// # Errors
    /// [`Error::ByteStride`] for an item size of 0, [`Error::InvalidSize`] for a negative size,
    /// [`Error::StridesLength`], [`Error::TooLarge`], [`Error::WriteOverlap`] if items overlap.
    ///
    /// # Safety
    /// During `'a` the bytes of every item are in bounds of one allocation, valid for reads and
    /// writes, initialised if `B` is `u8`, and nobody else reads or writes them.
    pub unsafe fn from_raw_parts(
        first: NonNull<B>,
        item_size: usize,
        shape: impl Sizes,
        byte_strides: impl Sizes,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, byte_strides.into_sizes()?);
        let below = ItemLayout::bytes_below(&shape, &strides)?;
        let layout = ItemLayout::strided(&shape, &strides, below, item_size)?;
        // SAFETY: the lowest item is in bounds of the allocation; without items `below` is 0.
        let lowest = unsafe { first.sub(below) };
        // SAFETY: this function's contract: the layout's offsets are those of the items.
        unsafe { Target::from_raw_parts(lowest, layout) }.map(Self)
    }
}

macro_rules! queries {
    () => {
        /// The bytes of an item.
        pub fn item_size(&self) -> usize {
            self.0.item_size()
        }

        /// The sizes, in items.
        pub fn shape(&self) -> &[usize] {
            self.0.shape()
        }

        /// The strides, in bytes.
        pub fn byte_strides(&self) -> &[isize] {
            &self.0.bytes().strides()[..self.shape().len()]
        }

        /// The number of items.
        pub fn numel(&self) -> usize {
            self.shape().iter().product()
        }
    };
}

impl<'a> ByteView<'a> {
    queries!();

    /// The bytes of all items in order, if they are adjacent.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        self.0.bytes().as_slice()
    }
}

impl ByteViewMut<'_> {
    /// The same items, to be read.
    pub fn as_view(&self) -> ByteView<'_> {
        ByteView(self.0.as_source())
    }
}

impl<B: Byte> ByteViewMut<'_, B> {
    queries!();

    /// The bytes of all items in order, if they are adjacent.
    pub fn as_slice_mut(&mut self) -> Option<&mut [B]> {
        self.0.bytes_mut().as_slice_mut()
    }
}

macro_rules! debug {
    ($name:literal, $($type:tt)*) => {
        impl fmt::Debug for $($type)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name)
                    .field("item_size", &self.item_size())
                    .field("shape", &self.shape())
                    .field("byte_strides", &self.byte_strides())
                    .finish_non_exhaustive()
            }
        }
    };
}

debug!("ByteView", ByteView<'_>);
debug!("ByteViewMut", ByteViewMut<'_, u8>);
debug!("ByteViewMut", ByteViewMut<'_, MaybeUninit<u8>>);
