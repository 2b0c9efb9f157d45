//! The offsets of the rows of a layout, from any row on.

use tensor_core::DimVec;

/// Counts through the indices of some dimensions in row-major order, and follows the offset.
pub(super) struct Odometer {
    sizes: DimVec<usize>,
    strides: DimVec<isize>,
    index: DimVec<usize>,
    offset: isize,
}

impl Odometer {
    /// Stands at index number `at` of dimensions of these sizes and strides.
    pub(super) fn new(sizes: &[usize], strides: &[isize], start: usize, mut at: usize) -> Self {
        let mut index: DimVec<usize> = DimVec::from_elem(0, sizes.len());
        for (i, &size) in index.iter_mut().zip(sizes).rev() {
            (*i, at) = (at % size.max(1), at / size.max(1));
        }
        let moved: isize = index.iter().zip(strides).map(|(&i, &stride)| i as isize * stride).sum();
        let offset = start as isize + moved;
        let (sizes, strides) = (DimVec::from_slice(sizes), DimVec::from_slice(strides));
        Self { sizes, strides, index, offset }
    }

    /// The offset at this index; moves on to the next index.
    #[inline]
    pub(super) fn next(&mut self) -> usize {
        let now = self.offset;
        for d in (0..self.sizes.len()).rev() {
            self.index[d] += 1;
            // The stride of a dimension of size 1 may be any, and is taken back at once.
            self.offset = self.offset.wrapping_add(self.strides[d]);
            if self.index[d] < self.sizes[d] {
                break;
            }
            let whole = self.strides[d].wrapping_mul(self.sizes[d] as isize);
            self.offset = self.offset.wrapping_sub(whole);
            self.index[d] = 0;
        }
        now.unsigned_abs()
    }
}
