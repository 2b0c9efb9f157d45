//! The loops of a copy in bytes. Bytes that are adjacent in the source and in the result are a row.

use tensor_kernels::{Layout, Nest, Result};

/// One loop around the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteLoop {
    pub(super) len: usize,
    /// The stride of the result, in bytes.
    pub(super) to: usize,
    /// The stride of the source, in bytes.
    pub(super) from: isize,
}

/// A copy to a row-major result: rows of adjacent bytes, and the loops around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loops {
    /// The bytes of a row.
    pub(super) row: usize,
    /// Outermost first; the strides of the result descend.
    pub(super) loops: Vec<ByteLoop>,
    /// Where the source starts, in bytes.
    pub(super) start: isize,
}

impl Loops {
    /// The loops of the copy of a layout of elements of `width` bytes; without elements, a loop of
    /// length 0.
    ///
    /// # Errors
    /// A layout too large for a row-major result.
    pub(super) fn of(layout: &Layout, width: usize) -> Result<Loops> {
        let nest = Nest::of([&Layout::contiguous(layout.shape())?, layout])?;
        let mut inner = nest.loops();
        let mut row = width;
        if let [outer @ .., last] = inner
            && last.strides == [1, 1]
        {
            (inner, row) = (outer, width * last.len);
        }
        let bytes = |stride: isize| stride * width as isize;
        let loops = inner.iter().map(|l| ByteLoop {
            len: l.len,
            to: bytes(l.strides[0]).unsigned_abs(),
            from: bytes(l.strides[1]),
        });
        Ok(Loops { row, loops: loops.collect(), start: bytes(nest.starts()[1]) })
    }

    /// The bytes of the result.
    pub(super) fn bytes(&self) -> usize {
        self.loops.iter().map(|l| l.len).product::<usize>() * self.row
    }

    /// The bytes `start..end` of the source from the first that is needed to behind the last.
    pub(super) fn span(&self) -> (usize, usize) {
        if self.bytes() == 0 {
            return (0, 0);
        }
        let reach = |l: &ByteLoop| l.from * (l.len as isize - 1);
        let (mut low, mut high) = (self.start, self.start + self.row as isize);
        for l in &self.loops {
            low += reach(l).min(0);
            high += reach(l).max(0);
        }
        (low.unsigned_abs(), high.unsigned_abs())
    }
}
