//! The strides of the common memory orders: row-major, column-major, channels-last.

use smallvec::SmallVec;

use crate::{DimVec, Error, Result};

/// In which order the dimensions lie in memory (PyTorch: `torch.memory_format`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryFormat {
    /// Row-major: the last dimension is the fastest (PyTorch: `contiguous_format`).
    #[default]
    Contiguous,
    /// N, H, W, C in memory for a tensor of size (N, C, H, W) (PyTorch: `channels_last`).
    ChannelsLast,
    /// N, D, H, W, C in memory for a tensor of size (N, C, D, H, W) (PyTorch: `channels_last_3d`).
    ChannelsLast3d,
    /// The strides of the input, if it is dense (PyTorch: `preserve_format`).
    Preserve,
}

/// The dimensions from the fastest to the slowest in memory.
pub(crate) const CHANNELS_LAST_ORDER: [usize; 4] = [1, 3, 2, 0];
pub(crate) const CHANNELS_LAST_3D_ORDER: [usize; 5] = [1, 4, 3, 2, 0];

/// Dense strides for a shape whose dimensions lie in `order`, fastest first.
///
/// After a size of 0 the strides are 0, as in PyTorch for every order but the row-major one.
pub(crate) fn dense_strides(
    shape: &[usize],
    order: impl IntoIterator<Item = usize>,
) -> DimVec<isize> {
    packed_strides(shape, order, |size| size)
}

/// Strides in `order`, where a dimension spans `extent(size)` indices. The product saturates, which
/// no caller sees that has checked the number of elements.
fn packed_strides(
    shape: &[usize],
    order: impl IntoIterator<Item = usize>,
    extent: impl Fn(usize) -> usize,
) -> DimVec<isize> {
    let mut strides: DimVec<isize> = SmallVec::from_elem(0, shape.len());
    let mut next = 1isize;
    for d in order {
        strides[d] = next;
        next = next.saturating_mul(extent(shape[d]) as isize);
    }
    strides
}

/// Row-major strides: 1 for the last dimension, for the others the product of the sizes after them,
/// where a size of 0 counts as 1.
///
/// ```
/// # use tensor_core::contiguous_strides;
/// assert_eq!(contiguous_strides(&[2, 3, 4]).as_slice(), [12, 4, 1]);
/// assert_eq!(contiguous_strides(&[2, 0, 3]).as_slice(), [3, 3, 1]);
/// ```
pub fn contiguous_strides(shape: &[usize]) -> DimVec<isize> {
    packed_strides(shape, (0..shape.len()).rev(), |size| size.max(1))
}

/// Column-major strides: 1 for the first dimension, for the others the product of the sizes before
/// them (NumPy: `order='F'`).
pub fn fortran_strides(shape: &[usize]) -> DimVec<isize> {
    packed_strides(shape, 0..shape.len(), |size| size.max(1))
}

/// The strides of `shape` in a memory format.
///
/// # Errors
/// A rank other than 4 (channels-last) or 5 (channels-last 3d); `Preserve`, which defines no
/// strides without an input.
pub fn format_strides(shape: &[usize], format: MemoryFormat) -> Result<DimVec<isize>> {
    let rank = |format, needed| match shape.len() {
        ndim if ndim == needed => Ok(()),
        ndim => Err(Error::FormatRank { format, needed, ndim }),
    };
    match format {
        MemoryFormat::Contiguous => Ok(contiguous_strides(shape)),
        MemoryFormat::ChannelsLast => {
            rank("channels_last", 4)?;
            Ok(dense_strides(shape, CHANNELS_LAST_ORDER))
        }
        MemoryFormat::ChannelsLast3d => {
            rank("channels_last_3d", 5)?;
            Ok(dense_strides(shape, CHANNELS_LAST_3D_ORDER))
        }
        MemoryFormat::Preserve => Err(Error::PreserveFormat),
    }
}

/// Strides in bytes, as NumPy gives them: `itemsize` times the strides in elements.
///
/// # Errors
/// A stride that overflows in bytes. In a tensor only a dimension of size 1 can have one.
pub(crate) fn strides_in_bytes(strides: &[isize], itemsize: usize) -> Result<DimVec<isize>> {
    let in_bytes =
        |&stride: &isize| isize::try_from(itemsize).ok().and_then(|size| stride.checked_mul(size));
    strides.iter().map(in_bytes).collect::<Option<_>>().ok_or_else(|| Error::TooLarge {
        what: "a stride in bytes",
        shape: Vec::new(),
        strides: strides.to_vec(),
    })
}
