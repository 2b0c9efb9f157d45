//! The strides of the well-known memory orders.

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
    /// As the input lies, if it is dense (PyTorch: `preserve_format`).
    Preserve,
}

/// The dimensions from the fastest to the slowest in memory.
pub(crate) const CHANNELS_LAST_ORDER: [usize; 4] = [1, 3, 2, 0];
pub(crate) const CHANNELS_LAST_3D_ORDER: [usize; 5] = [1, 4, 3, 2, 0];

/// Dense strides for a shape whose dimensions lie in `order`, fastest first.
///
/// Behind a size of 0 the strides are 0: so PyTorch has it in every order but the row-major one.
pub(crate) fn dense_strides(
    shape: &[usize],
    order: impl IntoIterator<Item = usize>,
) -> DimVec<isize> {
    packed_strides(shape, order, |size| size)
}

/// Saturates: a caller that has checked the number of elements never sees it.
fn packed_strides(
    shape: &[usize],
    order: impl IntoIterator<Item = usize>,
    room: impl Fn(usize) -> usize,
) -> DimVec<isize> {
    let mut strides: DimVec<isize> = SmallVec::from_elem(0, shape.len());
    let mut next = 1isize;
    for d in order {
        strides[d] = next;
        next = next.saturating_mul(room(shape[d]) as isize);
    }
    strides
}

/// Row-major strides: 1 for the last dimension, then the product of the sizes behind, where a size
/// of 0 counts as 1.
///
/// ```
/// # use tensor_core::contiguous_strides;
/// assert_eq!(contiguous_strides(&[2, 3, 4]).as_slice(), [12, 4, 1]);
/// assert_eq!(contiguous_strides(&[2, 0, 3]).as_slice(), [3, 3, 1]);
/// ```
pub fn contiguous_strides(shape: &[usize]) -> DimVec<isize> {
    packed_strides(shape, (0..shape.len()).rev(), |size| size.max(1))
}

/// Column-major strides: 1 for the first dimension, then the product of the sizes before (NumPy:
/// `order='F'`).
pub fn fortran_strides(shape: &[usize]) -> DimVec<isize> {
    packed_strides(shape, 0..shape.len(), |size| size.max(1))
}

/// The strides of `shape` in a memory format.
///
/// # Errors
/// The channels-last formats need rank 4 and 5; `Preserve` is no format of its own.
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
/// A stride that does not fit in bytes (only a dimension of size 1 can have one in a real tensor).
pub(crate) fn strides_in_bytes(strides: &[isize], itemsize: usize) -> Result<DimVec<isize>> {
    let in_bytes =
        |&stride: &isize| isize::try_from(itemsize).ok().and_then(|size| stride.checked_mul(size));
    strides.iter().map(in_bytes).collect::<Option<_>>().ok_or_else(|| Error::TooLarge {
        what: "a stride in bytes",
        shape: Vec::new(),
        strides: strides.to_vec(),
    })
}
