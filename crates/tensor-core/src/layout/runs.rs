//! Iteration over a layout in logical order: every offset, or every contiguous run.
//!
//! Every public function here has an example.

use super::Layout;
use crate::DimVec;

/// The offsets of all elements in logical (row-major) order; made by [`Layout::offsets`].
///
/// The last dimensions that one stride can step through form rows, so that a step within a row is
/// one addition.
#[derive(Clone, Debug)]
pub struct Offsets {
    /// The dimensions outside the rows, and the index of the current row.
    shape: DimVec<usize>,
    strides: DimVec<isize>,
    index: DimVec<usize>,
    row: Row,
    /// The start of the current row.
    start: isize,
    /// The rows after the current one.
    rows: usize,
    /// The next offset in the current row, and how many it has left.
    at: isize,
    left: usize,
}

/// The length of rows, and the stride along them.
#[derive(Clone, Copy, Debug)]
struct Row {
    len: usize,
    stride: isize,
}

impl Offsets {
    fn over(shape: &[usize], strides: &[isize], offset: usize, count: usize) -> Self {
        let (outer, row) = rows(shape, strides);
        let (shape, strides) = (&shape[..outer], &strides[..outer]);
        Self {
            index: DimVec::from_elem(0, outer),
            shape: DimVec::from_slice(shape),
            strides: DimVec::from_slice(strides),
            row,
            start: offset as isize,
            rows: count.checked_div(row.len).map_or(0, |rows| rows.saturating_sub(1)),
            at: offset as isize,
            left: row.len.min(count),
        }
    }

    /// Goes to the next row: increments its index, the last dimension first.
    #[inline(never)]
    fn next_row(&mut self) {
        self.rows -= 1;
        for d in (0..self.shape.len()).rev() {
            self.index[d] += 1;
            if self.index[d] < self.shape[d] {
                self.start += self.strides[d];
                break;
            }
            self.start -=
                (self.shape[d] - 1) as isize * if self.shape[d] > 1 { self.strides[d] } else { 0 };
            self.index[d] = 0;
        }
        (self.at, self.left) = (self.start, self.row.len);
    }
}

/// The number of dimensions outside the rows, and the rows.
fn rows(shape: &[usize], strides: &[isize]) -> (usize, Row) {
    let mut row = Row { len: 1, stride: 0 };
    for (d, (&size, &stride)) in shape.iter().zip(strides).enumerate().rev() {
        let continues = row.stride.checked_mul(row.len as isize) == Some(stride);
        match size {
            1 => {}
            _ if row.len == 1 => row = Row { len: size, stride },
            _ if continues => row.len *= size,
            _ => return (d + 1, row),
        }
    }
    (0, row)
}

impl Iterator for Offsets {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            if self.rows == 0 {
                return None;
            }
            self.next_row();
        }
        let at = self.at;
        self.left -= 1;
        // Behind the last element of a layout the sum may overflow; it is not used then.
        self.at = at.wrapping_add(self.row.stride);
        Some(at as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.left + self.rows * self.row.len;
        (remaining, Some(remaining))
    }

    /// Row by row, without a check at each element.
    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(mut self, init: B, mut f: F) -> B {
        let mut result = init;
        loop {
            for i in 0..self.left as isize {
                result = f(result, (self.at + i * self.row.stride) as usize);
            }
            if self.rows == 0 {
                return result;
            }
            self.next_row();
        }
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
