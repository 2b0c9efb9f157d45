//! The same elements with dimensions reordered or reversed: transpose, permute, movedim, flip.

use super::Layout;
use crate::{
    DimVec, Error, Int, Result, Sizes,
    shape::{wrap_dim, wrap_dim_or_scalar},
};

impl Layout {
    /// Swaps two dimensions (PyTorch: `transpose`).
    ///
    /// # Errors
    /// A dimension out of range; a tensor without dimensions accepts 0 and −1.
    pub fn transpose(&self, d0: impl Int, d1: impl Int) -> Result<Self> {
        let d0 = wrap_dim_or_scalar("transpose", d0.saturated(), self.ndim())?;
        let d1 = wrap_dim_or_scalar("transpose", d1.saturated(), self.ndim())?;
        let mut swapped = self.clone();
        if self.ndim() > 0 {
            swapped.shape.swap(d0, d1);
            swapped.strides.swap(d0, d1);
        }
        Self::checked(swapped.shape, swapped.strides, self.offset)
    }

    /// The transpose of a matrix; tensors with fewer dimensions are left as they are (PyTorch:
    /// `t`).
    ///
    /// # Errors
    /// More than two dimensions.
    pub fn t(&self) -> Result<Self> {
        match self.ndim() {
            0 | 1 => Ok(self.clone()),
            2 => self.transpose(0, 1),
            ndim => Err(Error::NotAMatrix { ndim }),
        }
    }

    /// Reorders all dimensions: dimension `i` of the result is dimension `dims[i]` of the input
    /// (PyTorch: `permute`).
    ///
    /// # Errors
    /// Too few or too many dimensions, one out of range, one named twice.
    pub fn permute(&self, dims: impl Sizes) -> Result<Self> {
        self.permuted(&dims.into_sizes()?)
    }

    fn permuted(&self, dims: &[isize]) -> Result<Self> {
        if dims.len() != self.ndim() {
            return Err(Error::PermuteLength { ndim: self.ndim(), given: dims.len() });
        }
        self.reordered(&distinct_dims("permute", dims, self.ndim(), |dim| Error::PermuteTwice {
            dim,
        })?)
    }

    /// Moves dimensions to new positions; the others keep their order (PyTorch: `movedim`, NumPy:
    /// `moveaxis`).
    ///
    /// # Errors
    /// Lists of different lengths, a dimension out of range, one named twice.
    pub fn movedim(&self, from: impl Sizes, to: impl Sizes) -> Result<Self> {
        self.moved(&from.into_sizes()?, &to.into_sizes()?)
    }

    fn moved(&self, from: &[isize], to: &[isize]) -> Result<Self> {
        if from.len() != to.len() {
            return Err(Error::MoveLength { from: from.to_vec(), to: to.to_vec() });
        }
        let range = self.ndim().max(1);
        let twice = |list, dims: &[isize]| Error::MoveTwice { list, dims: dims.to_vec() };
        let from = distinct_dims("movedim", from, range, |_| twice("source", from))?;
        let to = distinct_dims("movedim", to, range, |_| twice("destination", to))?;
        let mut rest = (0..self.ndim()).filter(|d| !from.contains(d));
        let order: DimVec<usize> = (0..self.ndim())
            .filter_map(|d| match to.iter().position(|&t| t == d) {
                Some(moved) => Some(from[moved]),
                None => rest.next(),
            })
            .collect();
        self.reordered(&order)
    }

    /// Reverses dimensions (NumPy: `flip`). PyTorch copies here; this is a view with negative
    /// strides.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let backwards = Layout::contiguous(&[4])?.flip(&[0])?;
    /// assert_eq!((backwards.strides(), backwards.offset()), (&[-1][..], 3));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension out of range or named twice.
    pub fn flip(&self, dims: impl Sizes) -> Result<Self> {
        self.flipped(&dims.into_sizes()?)
    }

    fn flipped(&self, dims: &[isize]) -> Result<Self> {
        let dims = distinct_dims("flip", dims, self.ndim().max(1), |dim| Error::FlipTwice { dim })?;
        let mut strides = self.strides.clone();
        let mut offset = self.offset as isize;
        for &d in dims.iter().filter(|&&d| d < self.ndim() && self.shape[d] > 1) {
            if self.numel > 0 {
                offset += (self.shape[d] - 1) as isize * strides[d];
            }
            strides[d] = -strides[d];
        }
        Self::checked(self.shape.clone(), strides, offset as usize)
    }

    /// Dimension `i` of the result is dimension `order[i]`; `order` names each dimension once.
    pub(super) fn reordered(&self, order: &[usize]) -> Result<Self> {
        let shape = order.iter().map(|&d| self.shape[d]).collect();
        let strides = order.iter().map(|&d| self.strides[d]).collect();
        Self::checked(shape, strides, self.offset)
    }
}

/// The dimensions counted from the front, all different.
fn distinct_dims(
    op: &'static str,
    dims: &[isize],
    range: usize,
    twice: impl Fn(usize) -> Error,
) -> Result<DimVec<usize>> {
    let mut distinct = DimVec::new();
    for &dim in dims {
        let dim = wrap_dim(op, dim, range)?;
        if distinct.contains(&dim) {
            return Err(twice(dim));
        }
        distinct.push(dim);
    }
    Ok(distinct)
}
