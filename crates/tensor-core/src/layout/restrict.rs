//! Some of the elements: narrow, select, slice, index tuples, diagonal, unfold, split.

use super::{Layout, saturating_stride};
use crate::{
    Error, Index, Int, Result, Slice,
    shape::{reserved, wrap_dim, wrap_dim_or_scalar},
};

impl Layout {
    /// `len` indices of dimension `dim`, from `start` on (PyTorch: `narrow`).
    ///
    /// # Errors
    /// No dimension to narrow, one out of range, a range that does not fit into the dimension.
    pub fn narrow(&self, dim: impl Int, start: impl Int, len: usize) -> Result<Self> {
        let start = start.saturated();
        let dim = self.dim_to_restrict("narrow", dim.saturated())?;
        let size = self.shape[dim];
        let begin = wrap_start(start, size).ok_or(Error::NarrowStart { start, dim, size })?;
        if len > size - begin {
            return Err(Error::NarrowLength { start: begin, len, dim, size });
        }
        self.restricted(dim, begin, len, 1)
    }

    /// One index of dimension `dim`, which is removed (PyTorch: `select`).
    ///
    /// # Errors
    /// No dimension to select from, one out of range, an index beyond its size.
    pub fn select(&self, dim: impl Int, index: impl Int) -> Result<Self> {
        let (dim, index) = (dim.saturated(), index.saturated());
        let dim = self.dim_to_restrict("select", dim)?;
        let at = wrap_index(index, self.shape[dim]).ok_or_else(|| Error::SelectIndex {
            index,
            dim,
            shape: self.shape.to_vec(),
        })?;
        self.selected(dim, at)
    }

    /// The indices `slice` of dimension `dim`, with Python's rules (PyTorch: `t[start:end:step]`
    /// along a dimension).
    ///
    /// A negative step reverses the order, as in NumPy; PyTorch refuses it.
    ///
    /// ```
    /// # use tensor_core::{Layout, Slice};
    /// let row = Layout::contiguous(&[10])?;
    /// assert_eq!(row.slice(0, 1..-1)?.shape(), [8]);
    /// let odd_backwards = row.slice(0, Slice::new(None, None, -2))?;
    /// assert_eq!(odd_backwards.shape(), [5]);
    /// assert_eq!((odd_backwards.strides(), odd_backwards.offset()), (&[-2][..], 9));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// No dimension to slice, one out of range, a step of 0.
    pub fn slice(&self, dim: impl Int, slice: impl Into<Slice>) -> Result<Self> {
        let dim = self.dim_to_restrict("slice", dim.saturated())?;
        self.sliced(dim, slice.into())
    }

    /// An index tuple: integers, ranges with steps, new axes and one ellipsis (PyTorch: `t[2, 1:3,
    /// None, ...]`).
    ///
    /// The macro [`s!`](crate::s) writes the tuple.
    ///
    /// # Errors
    /// More indices than dimensions, an index beyond its size, a step of 0, two ellipses.
    pub fn index(&self, items: &[Index]) -> Result<Self> {
        let consumed =
            items.iter().filter(|item| matches!(item, Index::At(_) | Index::Slice(_))).count();
        let Some(unnamed) = self.ndim().checked_sub(consumed) else {
            return Err(Error::TooManyIndices { ndim: self.ndim(), given: consumed });
        };
        if items.iter().filter(|&&item| item == Index::Ellipsis).count() > 1 {
            return Err(Error::TwoEllipses);
        }
        // `at` counts the dimensions of the result so far, `own` those of the input.
        let (mut layout, mut at, mut own) = (self.clone(), 0, 0);
        for &item in items {
            match item {
                Index::At(index) => {
                    let size = self.shape[own];
                    let i = wrap_index(index, size).ok_or(Error::IndexOutOfBounds {
                        index,
                        dim: own,
                        size,
                    })?;
                    layout = layout.selected(at, i)?;
                    own += 1;
                }
                Index::Slice(slice) => {
                    layout = layout.sliced(at, slice)?;
                    (at, own) = (at + 1, own + 1);
                }
                Index::NewAxis => {
                    layout = layout.unsqueeze(at)?;
                    at += 1;
                }
                Index::Ellipsis => (at, own) = (at + unnamed, own + unnamed),
            }
        }
        Ok(layout)
    }

    /// The elements whose indices in `d0` and `d1` are `i` and `i + offset`; `i` becomes the last
    /// dimension (PyTorch: `diagonal`).
    ///
    /// # Errors
    /// A dimension out of range, one dimension given twice.
    pub fn diagonal(&self, offset: impl Int, d0: impl Int, d1: impl Int) -> Result<Self> {
        self.diagonal_of(offset.saturated(), d0.saturated(), d1.saturated())
    }

    fn diagonal_of(&self, offset: isize, d0: isize, d1: isize) -> Result<Self> {
        let first = wrap_dim_or_scalar("diagonal", d0, self.ndim())?;
        let second = wrap_dim_or_scalar("diagonal", d1, self.ndim())?;
        if first == second {
            return Err(Error::DiagonalDims { d0, d1 });
        }
        let skip = offset.unsigned_abs();
        let (rows, columns) = (self.shape[first], self.shape[second]);
        let (len, shifted) = if offset >= 0 {
            (rows.min(columns.saturating_sub(skip)), second)
        } else {
            (columns.min(rows.saturating_sub(skip)), first)
        };
        let start =
            if len > 0 { self.shifted_offset(skip, self.strides[shifted]) } else { self.offset };
        let others = || (0..self.ndim()).filter(|&d| d != first && d != second);
        let shape = others().map(|d| self.shape[d]).chain([len]).collect();
        let step = self.strides[first].saturating_add(self.strides[second]).max(-isize::MAX);
        let strides = others().map(|d| self.strides[d]).chain([step]).collect();
        Self::checked(shape, strides, start)
    }

    /// All windows of `size` elements along `dim`, `step` apart; the index within the window
    /// becomes the last dimension (PyTorch: `unfold`).
    ///
    /// # Errors
    /// A dimension out of range, a window longer than it, a step of 0.
    pub fn unfold(&self, dim: impl Int, size: usize, step: usize) -> Result<Self> {
        let dim = wrap_dim_or_scalar("unfold", dim.saturated(), self.ndim())?;
        let full = self.shape.get(dim).copied().unwrap_or(1);
        if size > full {
            return Err(Error::UnfoldSize { dim, size: full, window: size });
        }
        if step == 0 {
            return Err(Error::UnfoldStep);
        }
        let Layout { mut shape, mut strides, .. } = self.clone();
        let stride = strides.get(dim).copied().unwrap_or(1);
        if let Some(windows) = shape.get_mut(dim) {
            *windows = (full - size) / step + 1;
            strides[dim] = saturating_stride(step, stride);
        }
        shape.push(size);
        strides.push(stride);
        Self::checked(shape, strides, self.offset)
    }

    /// Consecutive parts of `size` indices along `dim`, the last one possibly shorter (PyTorch:
    /// `split`).
    ///
    /// # Errors
    /// No dimension to split, one out of range, size 0 for a dimension that is not empty.
    pub fn split(&self, size: usize, dim: impl Int) -> Result<Vec<Self>> {
        let dim = self.dim_to_split("split", dim.saturated())?;
        let full = self.shape[dim];
        match size {
            0 if full == 0 => Ok(vec![self.clone()]),
            0 => Err(Error::SplitSize { size: full }),
            _ => self.split_evenly(dim, size, full.div_ceil(size).max(1)),
        }
    }

    /// At most `chunks` consecutive parts of equal size along `dim`, the last one possibly shorter
    /// (PyTorch: `chunk`).
    ///
    /// # Errors
    /// No dimension to split, one out of range, no chunks.
    pub fn chunk(&self, chunks: usize, dim: impl Int) -> Result<Vec<Self>> {
        if self.ndim() == 0 {
            return Err(Error::NothingToSplit { op: "chunk" });
        }
        if chunks == 0 {
            return Err(Error::ZeroChunks);
        }
        let dim = self.dim_to_split("chunk", dim.saturated())?;
        match self.shape[dim].div_ceil(chunks) {
            0 => self.split_evenly(dim, 0, chunks),
            size => self.split(size, dim),
        }
    }

    /// Every index of dimension `dim` as a layout of its own (PyTorch: `unbind`).
    ///
    /// # Errors
    /// No dimension to unbind, one out of range.
    pub fn unbind(&self, dim: impl Int) -> Result<Vec<Self>> {
        let dim = wrap_dim("unbind", dim.saturated(), self.ndim())?;
        let mut parts = reserved(self.shape[dim])?;
        for at in 0..self.shape[dim] {
            parts.push(self.selected(dim, at)?);
        }
        Ok(parts)
    }

    /// `count` consecutive parts of `size` indices, the last one possibly shorter.
    fn split_evenly(&self, dim: usize, size: usize, count: usize) -> Result<Vec<Self>> {
        let mut parts = reserved(count)?;
        for part in 0..count {
            let start = part * size;
            parts.push(self.restricted(dim, start, size.min(self.shape[dim] - start), 1)?);
        }
        Ok(parts)
    }

    fn dim_to_restrict(&self, op: &'static str, dim: isize) -> Result<usize> {
        if self.ndim() == 0 { Err(Error::ZeroDim { op }) } else { wrap_dim(op, dim, self.ndim()) }
    }

    fn dim_to_split(&self, op: &'static str, dim: isize) -> Result<usize> {
        if self.ndim() == 0 {
            Err(Error::NothingToSplit { op })
        } else {
            wrap_dim(op, dim, self.ndim())
        }
    }

    fn sliced(&self, dim: usize, slice: Slice) -> Result<Self> {
        let (start, len) = slice.resolve(self.shape[dim])?;
        self.restricted(dim, start, len, slice.step)
    }

    /// `len` indices from `start`, `step` apart.
    fn restricted(&self, dim: usize, start: usize, len: usize, step: isize) -> Result<Self> {
        let Layout { mut shape, mut strides, .. } = self.clone();
        let offset = self.shifted_offset(start, strides[dim]);
        shape[dim] = len;
        strides[dim] = strides[dim].saturating_mul(step).max(-isize::MAX);
        Self::checked(shape, strides, offset)
    }

    /// One index; the dimension is removed.
    fn selected(&self, dim: usize, at: usize) -> Result<Self> {
        let Layout { mut shape, mut strides, .. } = self.clone();
        shape.remove(dim);
        let offset = self.shifted_offset(at, strides.remove(dim));
        Self::checked(shape, strides, offset)
    }

    /// The offset `steps` strides further. Exact if elements remain (invariant 3); otherwise
    /// saturated to a valid offset, as any would do.
    fn shifted_offset(&self, steps: usize, stride: isize) -> usize {
        let distance = stride.saturating_mul(steps as isize);
        (self.offset as isize).saturating_add(distance).max(0) as usize
    }
}

fn wrap_index(index: isize, size: usize) -> Option<usize> {
    let at = if index < 0 { index.checked_add_unsigned(size)? } else { index };
    usize::try_from(at).ok().filter(|&at| at < size)
}

/// As [`wrap_index`], but `size` is allowed too.
fn wrap_start(start: isize, size: usize) -> Option<usize> {
    let at = if start < 0 { start.checked_add_unsigned(size)? } else { start };
    usize::try_from(at).ok().filter(|&at| at <= size)
}
