//! Properties of a layout, defined as PyTorch defines them.
//!
//! Most checks go through the dimensions in memory order, fastest first, skip those of size 1, and
//! compare each stride with the product of the sizes before it in that order. PyTorch recomputes
//! its flags at every change of sizes or strides; a layout is immutable, so they are computed once
//! by the constructor and kept in one byte.

use super::Layout;
use crate::{
    DimVec, MemoryFormat, Result,
    strides::{CHANNELS_LAST_3D_ORDER, CHANNELS_LAST_ORDER, strides_in_bytes},
};

/// The cached properties, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Flags(u8);

impl Flags {
    const CONTIGUOUS: u8 = 1;
    const CHANNELS_LAST: u8 = 2;
    const CHANNELS_LAST_3D: u8 = 4;
    const DENSE: u8 = 8;

    /// The flags of a layout without dimensions.
    pub(super) const SCALAR: Self = Self(Self::CONTIGUOUS | Self::DENSE);

    pub(super) fn of(shape: &[usize], strides: &[isize], numel: usize) -> Self {
        let ordered = |order: &[usize]| {
            shape.len() == order.len()
                && first_break(shape, strides, order.iter().copied()).is_none()
        };
        let contiguous =
            numel == 0 || first_break(shape, strides, (0..shape.len()).rev()).is_none();
        let channels_last = ordered(&CHANNELS_LAST_ORDER);
        let channels_last_3d = ordered(&CHANNELS_LAST_3D_ORDER);
        let dense = contiguous
            || channels_last
            || channels_last_3d
            || is_dense(shape, strides, |stride| stride);
        let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
        Self(
            bit(contiguous, Self::CONTIGUOUS)
                | bit(channels_last, Self::CHANNELS_LAST)
                | bit(channels_last_3d, Self::CHANNELS_LAST_3D)
                | bit(dense, Self::DENSE),
        )
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// The first dimension of `order` whose stride is not the product of the sizes before it in
/// `order`.
fn first_break(
    shape: &[usize],
    strides: &[isize],
    order: impl Iterator<Item = usize>,
) -> Option<usize> {
    let mut expected = 1isize;
    for d in order {
        if shape[d] == 1 {
            continue;
        }
        if strides[d] != expected {
            return Some(d);
        }
        expected *= shape[d] as isize;
    }
    None
}

/// Do the dimensions, in order of their strides, fill the memory without gap or overlap?
///
/// Each round searches the dimension whose stride is the product of the sizes found so far. Ranks
/// are small, so this is faster than sorting.
fn is_dense(shape: &[usize], strides: &[isize], magnitude: impl Fn(isize) -> isize) -> bool {
    let mut expected = 1isize;
    for _ in shape.iter().filter(|&&size| size > 1) {
        let is_next = |d: &usize| shape[*d] > 1 && magnitude(strides[*d]) == expected;
        let Some(d) = (0..shape.len()).find(is_next) else { return false };
        expected = expected.saturating_mul(shape[d] as isize);
    }
    true
}

impl Layout {
    /// Does memory order equal logical order, without gaps? (PyTorch: `is_contiguous()`)
    ///
    /// Strides of dimensions of size 1 are ignored, and a tensor without elements is contiguous.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// assert!(Layout::new(&[1, 10], &[512, 1], 7)?.is_contiguous());
    /// assert!(!Layout::new(&[2, 10], &[512, 1], 7)?.is_contiguous());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.flags.has(Flags::CONTIGUOUS)
    }

    /// Do the elements of a rank-4 tensor lie in the order N, H, W, C? (PyTorch:
    /// `is_contiguous(memory_format=torch.channels_last)`)
    pub fn is_channels_last(&self) -> bool {
        self.flags.has(Flags::CHANNELS_LAST)
    }

    /// Do the elements of a rank-5 tensor lie in the order N, D, H, W, C? (PyTorch:
    /// `torch.channels_last_3d`)
    pub fn is_channels_last_3d(&self) -> bool {
        self.flags.has(Flags::CHANNELS_LAST_3D)
    }

    /// Is every offset between the lowest and the highest that of exactly one element, for any
    /// order of dimensions? (PyTorch: `is_non_overlapping_and_dense`)
    ///
    /// As in PyTorch a layout with a negative stride is not dense;
    /// [`is_dense_signed`](Self::is_dense_signed) allows negative strides.
    pub fn is_dense(&self) -> bool {
        self.flags.has(Flags::DENSE)
    }

    /// As [`is_dense`](Self::is_dense), with negative strides allowed.
    pub fn is_dense_signed(&self) -> bool {
        self.is_dense() || is_dense(&self.shape, &self.strides, isize::abs)
    }

    /// Column-major and without gaps? (NumPy: `flags.f_contiguous`)
    pub fn is_fortran(&self) -> bool {
        self.numel == 0 || first_break(&self.shape, &self.strides, 0..self.ndim()).is_none()
    }

    /// Contiguous in a memory format (PyTorch: `is_contiguous(memory_format)`); `false` for
    /// `Preserve`.
    pub fn is_contiguous_as(&self, format: MemoryFormat) -> bool {
        match format {
            MemoryFormat::Contiguous => self.is_contiguous(),
            MemoryFormat::ChannelsLast => self.is_channels_last(),
            MemoryFormat::ChannelsLast3d => self.is_channels_last_3d(),
            MemoryFormat::Preserve => false,
        }
    }

    /// The memory format that the strides look like (PyTorch: `suggest_memory_format`).
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        if self.ndim() == 4 && self.resembles(&CHANNELS_LAST_ORDER) {
            MemoryFormat::ChannelsLast
        } else if self.ndim() == 5 && self.resembles(&CHANNELS_LAST_3D_ORDER) {
            MemoryFormat::ChannelsLast3d
        } else {
            MemoryFormat::Contiguous
        }
    }

    /// Do the strides ascend in this order, each at least the extent of the dimensions before it?
    /// (PyTorch: `is_channels_last_strides_2d_s4`)
    fn resembles(&self, order: &[usize]) -> bool {
        let mut least = 0isize;
        self.strides[1] != 0
            && order.iter().all(|&d| {
                let (size, stride) = (self.shape[d], self.strides[d]);
                let fits = size != 0 && stride >= least && !(d == 0 && least == self.strides[1]);
                least = super::saturating_stride(size.max(1), stride);
                fits
            })
    }

    /// The dimension that breaks contiguity: the last one whose stride is not the product of the
    /// sizes after it.
    pub fn contiguity_break(&self) -> Option<usize> {
        if self.numel == 0 {
            return None;
        }
        first_break(&self.shape, &self.strides, (0..self.ndim()).rev())
    }

    /// The strides in bytes (NumPy: `strides`).
    ///
    /// # Errors
    /// A stride that does not fit in bytes.
    pub fn strides_in_bytes(&self, itemsize: usize) -> Result<DimVec<isize>> {
        strides_in_bytes(&self.strides, itemsize)
    }
}
