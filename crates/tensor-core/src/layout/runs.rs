//! Iteration over a layout in logical order: every offset, or every contiguous run.
//!
//! Every public function here has an example.

use super::Layout;
use crate::DimVec;

/// The offsets of all elements in logical (row-major) order; made by [`Layout::offsets`].
#[derive(Clone, Debug)]
pub struct Offsets {
    shape: DimVec<usize>,
    strides: DimVec<isize>,
    index: DimVec<usize>,
    offset: isize,
    remaining: usize,
}

impl Offsets {
    fn over(shape: &[usize], strides: &[isize], offset: usize, count: usize) -> Self {
        let (shape, strides) = (DimVec::from_slice(shape), DimVec::from_slice(strides));
        Self {
            index: DimVec::from_elem(0, shape.len()),
            shape,
            strides,
            offset: offset as isize,
            remaining: count,
        }
    }

    /// Increments the index, the last dimension first.
    fn advance(&mut self) {
        for d in (0..self.shape.len()).rev() {
            self.index[d] += 1;
            if self.index[d] < self.shape[d] {
                self.offset += self.strides[d];
                return;
            }
            self.offset -=
                (self.shape[d] - 1) as isize * if self.shape[d] > 1 { self.strides[d] } else { 0 };
            self.index[d] = 0;
        }
    }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.remaining = self.remaining.checked_sub(1)?;
        let offset = self.offset as usize;
        if self.remaining > 0 {
            self.advance();
        }
        Some(offset)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for Offsets {}

/// The contiguous runs in logical order, as (offset, length); made by [`Layout::runs`].
#[derive(Clone, Debug)]
pub struct Runs {
    starts: Offsets,
    len: usize,
}

impl Iterator for Runs {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        self.starts.next().map(|start| (start, self.len))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.starts.size_hint()
    }
}

impl ExactSizeIterator for Runs {}

impl Layout {
    /// The offset of every element, in logical order.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let transposed = Layout::contiguous(&[2, 3])?.t()?;
    /// assert_eq!(transposed.offsets().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn offsets(&self) -> Offsets {
        Offsets::over(&self.shape, &self.strides, self.offset, self.numel)
    }

    /// The longest runs in which logical neighbours are adjacent in memory. All have one length,
    /// and they come in logical order.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let columns = Layout::contiguous(&[3, 8])?.narrow(1, 2, 4)?;
    /// assert_eq!(columns.runs().collect::<Vec<_>>(), [(2, 4), (10, 4), (18, 4)]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn runs(&self) -> Runs {
        let (outer, len) = self.run_split();
        let count = self.numel.checked_div(len).unwrap_or(0);
        Runs {
            starts: Offsets::over(&self.shape[..outer], &self.strides[..outer], self.offset, count),
            len,
        }
    }

    /// The number of leading dimensions outside the runs, and the length of a run.
    fn run_split(&self) -> (usize, usize) {
        let mut len = 1;
        for d in (0..self.ndim()).rev() {
            if self.shape[d] != 1 && self.strides[d] != len as isize {
                return (d + 1, len);
            }
            len *= self.shape[d];
        }
        (0, len)
    }
}
