//! Iteration over a layout in logical order: every offset, or every contiguous run.
//!
//! Every public function here has an example.

use smallvec::SmallVec;

use super::Layout;

/// The offsets of all elements in logical (row-major) order; made by [`Layout::offsets`].
///
/// The last dimensions that one stride can step through form rows, so that a step within a row is
/// one addition.
///
/// In a loop the fields stay in registers, so a loop over a single row is as fast as one over a
/// slice. That is why what follows the first row has memory of its own, and why the step to the
/// next row is inlined: a call would spill the sum of a loop at each element (3 ns instead of 0.5,
/// Zen 5).
#[derive(Clone, Debug)]
pub struct Offsets {
    /// The next offset in the current row, and how many it has left.
    at: isize,
    left: usize,
    row: Row,
    /// `None` if there is a single row. As this does not change in a loop, the compiler makes one
    /// for a single row.
    outer: Option<Box<Outer>>,
}

/// The length of rows, and the stride along them.
#[derive(Clone, Copy, Debug)]
struct Row {
    len: usize,
    stride: isize,
}

/// The rows after the first.
#[derive(Clone, Debug)]
struct Outer {
    /// The dimensions outside the rows.
    dims: SmallVec<[OuterDim; 8]>,
    /// The start of the current row.
    start: isize,
    /// The rows after the current one.
    rows: usize,
}

/// A dimension with more than one index, and the index of the current row.
#[derive(Clone, Copy, Debug)]
struct OuterDim {
    size: usize,
    stride: isize,
    /// The distance from the first index to the last one.
    reach: isize,
    index: usize,
}

impl Offsets {
    fn over(shape: &[usize], strides: &[isize], offset: usize, count: usize) -> Self {
        let (outer, row) = rows(shape, strides);
        let rows = count.checked_div(row.len).map_or(0, |rows| rows.saturating_sub(1));
        let start = offset as isize;
        let outer = (rows > 0).then(|| {
            let dims = shape[..outer].iter().zip(&strides[..outer]);
            let dims = dims.filter(|&(&size, _)| size > 1).map(OuterDim::new).collect();
            Box::new(Outer { dims, start, rows })
        });
        Self { at: start, left: row.len.min(count), row, outer }
    }

    /// Goes to the next row, if there is one.
    #[inline(always)]
    fn next_row(&mut self) -> Option<()> {
        self.at = self.outer.as_mut()?.next_row()?;
        self.left = self.row.len;
        Some(())
    }
}

impl Outer {
    /// The start of the next row. Increments the index, the last dimension first.
    #[inline(always)]
    fn next_row(&mut self) -> Option<isize> {
        self.rows = self.rows.checked_sub(1)?;
        for dim in self.dims.iter_mut().rev() {
            dim.index += 1;
            if dim.index < dim.size {
                self.start += dim.stride;
                break;
            }
            dim.index = 0;
            self.start -= dim.reach;
        }
        Some(self.start)
    }
}

impl OuterDim {
    fn new((&size, &stride): (&usize, &isize)) -> Self {
        Self { size, stride, reach: (size - 1) as isize * stride, index: 0 }
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
            self.next_row()?;
        }
        let at = self.at;
        self.left -= 1;
        // Behind the last element of a layout the sum may overflow; it is not used then.
        self.at = at.wrapping_add(self.row.stride);
        Some(at as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rows = self.outer.as_ref().map_or(0, |outer| outer.rows);
        let remaining = self.left + rows * self.row.len;
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
            if self.next_row().is_none() {
                return result;
            }
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
