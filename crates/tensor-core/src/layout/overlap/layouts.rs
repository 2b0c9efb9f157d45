//! The overlap queries of [`Layout`], in elements and in bytes.

use super::{Lattice, Overlap, pair_overlap, self_overlap};
use crate::{DimVec, Layout};

/// The search nodes after which an overlap check answers [`Overlap::TooHard`]: a few milliseconds.
const OVERLAP_BUDGET: u64 = 1 << 16;

impl Layout {
    /// Do two indices reach the same element? Exact, with the two indices as witness.
    ///
    /// ```
    /// # use tensor_core::{Layout, Overlap};
    /// assert_eq!(Layout::new(&[4, 4], &[3, 4], 0)?.self_overlap(), Overlap::No);
    /// assert!(matches!(Layout::new(&[5, 4], &[3, 4], 0)?.self_overlap(), Overlap::Yes { .. }));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn self_overlap(&self) -> Overlap {
        self.self_overlap_within(OVERLAP_BUDGET)
    }

    /// As [`self_overlap`](Self::self_overlap), with a number of search nodes after which it
    /// answers [`Overlap::TooHard`].
    pub fn self_overlap_within(&self, budget: u64) -> Overlap {
        if self.is_dense() {
            return Overlap::No;
        }
        self_overlap(self.lattice(), budget)
    }

    /// Do two layouts over one storage reach a common element? Exact, with an index of each as
    /// witness.
    pub fn overlap(&self, other: &Layout) -> Overlap {
        self.overlap_within(other, OVERLAP_BUDGET)
    }

    /// As [`overlap`](Self::overlap), with a number of search nodes after which it answers
    /// [`Overlap::TooHard`].
    pub fn overlap_within(&self, other: &Layout, budget: u64) -> Overlap {
        pair_overlap(self.lattice(), other.lattice(), budget)
    }

    /// As [`overlap`](Self::overlap), for layouts whose elements have these widths in bytes. A
    /// witness has one more index, that of the byte within the element.
    pub(crate) fn overlap_in_bytes(
        &self,
        width: usize,
        other: &Layout,
        other_width: usize,
    ) -> Overlap {
        match (self.bytes(width), other.bytes(other_width)) {
            (Some(own), Some(other)) => {
                pair_overlap(own.lattice(), other.lattice(), OVERLAP_BUDGET)
            }
            _ => Overlap::TooHard,
        }
    }

    /// The layout of the bytes of elements of this width, or `None` if one lies beyond
    /// `isize::MAX`, which cannot happen in a storage. Then no stride overflows that an index is
    /// multiplied with. The other strides are arbitrary and become 0.
    fn bytes(&self, width: usize) -> Option<Bytes> {
        let end = self.bounds().map_or(0, |(_, highest)| highest + 1);
        end.checked_mul(width).filter(|&bytes| bytes <= isize::MAX as usize)?;
        let is_empty = self.numel == 0;
        let scaled = |(&size, &stride): (&usize, &isize)| {
            if is_empty || size == 1 { 0 } else { stride * width as isize }
        };
        let shape = self.shape.iter().copied().chain([width]).collect();
        let strides = self.shape.iter().zip(&self.strides).map(scaled).chain([1]).collect();
        Some(Bytes { shape, strides, offset: if is_empty { 0 } else { self.offset * width } })
    }

    fn lattice(&self) -> Lattice<'_> {
        Lattice { shape: &self.shape, strides: &self.strides, offset: self.offset }
    }
}

/// A layout in bytes, which [`Lattice`] borrows. Its number of indices may overflow, which
/// a [`Layout`] does not allow.
struct Bytes {
    shape: DimVec<usize>,
    strides: DimVec<isize>,
    offset: usize,
}

impl Bytes {
    fn lattice(&self) -> Lattice<'_> {
        Lattice { shape: &self.shape, strides: &self.strides, offset: self.offset }
    }
}
