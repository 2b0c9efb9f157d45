//! The same elements, in the same order, under other dimensions: view, flatten, unflatten, squeeze,
//! unsqueeze, expand.

use super::{Layout, groups::Crossing, saturating_stride};
use crate::{
    DimVec, Error, Int, Result, Sizes,
    shape::{infer_shape, wrap_dim, wrap_dim_or_scalar},
    strides::contiguous_strides,
};

impl Layout {
    /// The same elements in the same order under another shape, if strides can express it (PyTorch:
    /// `view`).
    ///
    /// One size may be −1: it is inferred. The error names the two dimensions that are not adjacent
    /// in memory; [`why_not_view`](Self::why_not_view) says more.
    ///
    /// ```
    /// # use tensor_core::{Error, Layout};
    /// let cube = Layout::contiguous(&[2, 3, 4])?;
    /// assert_eq!(cube.view(&[6, -1])?.strides(), [4, 1]);
    ///
    /// let transposed = Layout::contiguous(&[3, 4])?.t()?;
    /// assert!(matches!(transposed.view(&[12]), Err(Error::NotViewable { .. })));
    /// assert_eq!(transposed.view(&[2, 2, 3])?.strides(), [2, 1, 4]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotViewable`] if it needs a copy; a shape with another number of elements; more
    /// than one −1.
    pub fn view(&self, sizes: impl Sizes) -> Result<Self> {
        let shape = infer_shape(&sizes.into_sizes()?, self.numel)?;
        self.viewed(shape)
    }

    fn viewed(&self, shape: DimVec<usize>) -> Result<Self> {
        let strides = self.view_strides(&shape).map_err(|at| self.not_viewable(&shape, at))?;
        Self::checked(shape, strides, self.offset)
    }

    /// The strides of a view of shape `target`. Splits the dimensions into chunks of one stride
    /// each, from the last to the first, and divides every chunk among dimensions of `target`
    /// (PyTorch: `computeStride`).
    pub(super) fn view_strides(&self, target: &[usize]) -> Result<DimVec<isize>, Crossing> {
        if self.numel == 0 {
            let same = target == self.shape();
            return Ok(if same { self.strides.clone() } else { contiguous_strides(target) });
        }
        let mut strides = DimVec::from_elem(1, target.len());
        let mut unassigned = target.len();
        let mut end = self.ndim();
        while end > 0 {
            let chunk = self.chunk_before(end);
            let mut filled = 1;
            while unassigned > 0 && (filled < chunk.count || target[unassigned - 1] == 1) {
                unassigned -= 1;
                strides[unassigned] = saturating_stride(filled, chunk.stride);
                filled *= target[unassigned];
            }
            if filled != chunk.count {
                return Err(Crossing { chunk, target_dim: unassigned });
            }
            end = chunk.start;
        }
        Ok(strides)
    }

    fn not_viewable(&self, target: &[usize], Crossing { chunk, .. }: Crossing) -> Error {
        Error::NotViewable {
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
            target: target.to_vec(),
            seam: chunk.start,
            expected: chunk.stride_before(),
        }
    }

    /// Merges the dimensions `start` to `end`, both included, into one, as a view (PyTorch:
    /// `flatten`, which copies where this returns an error).
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order; [`Error::NotViewable`].
    pub fn flatten(&self, start: impl Int, end: impl Int) -> Result<Self> {
        let shape = self.flat_shape(start, end)?;
        if shape.len() == self.ndim() {
            // A single dimension: PyTorch keeps all strides, also of dimensions of size 1.
            return Ok(self.clone());
        }
        self.viewed(shape)
    }

    /// The shape that [`flatten`](Self::flatten) gives.
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    pub fn flat_shape(&self, start: impl Int, end: impl Int) -> Result<DimVec<usize>> {
        let start = wrap_dim_or_scalar("flatten", start.saturated(), self.ndim())?;
        let end = wrap_dim_or_scalar("flatten", end.saturated(), self.ndim())?;
        if start > end {
            return Err(Error::FlattenRange { start, end });
        }
        if self.ndim() == 0 {
            return Ok(DimVec::from_slice(&[1]));
        }
        let merged = self.shape[start..=end].iter().product();
        let (before, after) = (&self.shape[..start], &self.shape[end + 1..]);
        Ok(before.iter().copied().chain([merged]).chain(after.iter().copied()).collect())
    }

    /// Splits a dimension into several; one size may be −1 (PyTorch: `unflatten`).
    ///
    /// # Errors
    /// A dimension out of range; sizes whose product is not the dimension's.
    pub fn unflatten(&self, dim: impl Int, sizes: impl Sizes) -> Result<Self> {
        self.unflattened(dim.saturated(), &sizes.into_sizes()?)
    }

    fn unflattened(&self, dim: isize, sizes: &[isize]) -> Result<Self> {
        if sizes.is_empty() {
            return Err(Error::UnflattenEmpty);
        }
        let dim = wrap_dim("unflatten", dim, self.ndim())?;
        let size = self.shape[dim];
        let mismatch = || Error::Unflatten { sizes: sizes.to_vec(), dim, size };
        let parts = infer_shape(sizes, size).map_err(|e| match e {
            Error::ShapeMismatch { .. } => mismatch(),
            other => other,
        })?;
        let (before, after) = (&self.shape[..dim], &self.shape[dim + 1..]);
        let shape: DimVec<usize> =
            before.iter().copied().chain(parts).chain(after.iter().copied()).collect();
        self.viewed(shape)
    }

    /// Inserts a dimension of size 1 before dimension `dim` (PyTorch: `unsqueeze`).
    ///
    /// # Errors
    /// A position outside −(R+1) to R, for rank R.
    pub fn unsqueeze(&self, dim: impl Int) -> Result<Self> {
        let dim = wrap_dim("unsqueeze", dim.saturated(), self.ndim() + 1)?;
        let Layout { mut shape, mut strides, .. } = self.clone();
        let stride =
            if dim < self.ndim() { saturating_stride(shape[dim], strides[dim]) } else { 1 };
        shape.insert(dim, 1);
        strides.insert(dim, stride);
        Self::checked(shape, strides, self.offset)
    }

    /// Removes every dimension of size 1 (PyTorch: `squeeze()`).
    ///
    /// # Errors
    /// Never; the signature is that of the other transforms.
    pub fn squeeze(&self) -> Result<Self> {
        let kept = (0..self.ndim()).filter(|&d| self.shape[d] != 1);
        self.reordered(&kept.collect::<DimVec<usize>>())
    }

    /// Removes dimension `dim` if its size is 1 (PyTorch: `squeeze(dim)`).
    ///
    /// # Errors
    /// A dimension out of range.
    pub fn squeeze_dim(&self, dim: impl Int) -> Result<Self> {
        let dim = wrap_dim_or_scalar("squeeze", dim.saturated(), self.ndim())?;
        let kept = (0..self.ndim()).filter(|&d| d != dim || self.shape[d] != 1);
        self.reordered(&kept.collect::<DimVec<usize>>())
    }

    /// Repeats dimensions of size 1 with stride 0, and adds leading dimensions; −1 keeps a size
    /// (PyTorch: `expand`).
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let bias = Layout::contiguous(&[3, 1])?.expand(&[2, -1, 4])?;
    /// assert_eq!((bias.shape(), bias.strides()), (&[2, 3, 4][..], &[0, 1, 0][..]));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fewer sizes than dimensions, another size for a dimension whose size is not 1, −1 for a
    /// leading dimension.
    pub fn expand(&self, sizes: impl Sizes) -> Result<Self> {
        self.expanded(&sizes.into_sizes()?)
    }

    fn expanded(&self, sizes: &[isize]) -> Result<Self> {
        let Some(lead) = sizes.len().checked_sub(self.ndim()) else {
            return Err(Error::ExpandRank { shape: self.shape.to_vec(), target: sizes.to_vec() });
        };
        let mut shape = DimVec::from_elem(1, sizes.len());
        let mut strides = DimVec::from_elem(0, sizes.len());
        for d in (0..sizes.len()).rev() {
            let (size, stride) = match d.checked_sub(lead) {
                Some(own) => (self.shape[own], self.strides[own]),
                None if self.ndim() == 0 => (1, 0),
                None => (1, saturating_stride(shape[d + 1], strides[d + 1])),
            };
            (shape[d], strides[d]) = self.expanded_dim(sizes, d, d >= lead, (size, stride))?;
        }
        Self::checked(shape, strides, self.offset)
    }

    /// Size and stride of dimension `d` after it is expanded to `sizes[d]`.
    fn expanded_dim(
        &self,
        sizes: &[isize],
        d: usize,
        exists: bool,
        now: (usize, isize),
    ) -> Result<(usize, isize)> {
        let wanted = sizes[d];
        match usize::try_from(wanted) {
            Err(_) if wanted == -1 && exists => Ok(now),
            Err(_) if !exists => Err(Error::ExpandLeading { wanted, dim: d }),
            Ok(same) if same == now.0 => Ok(now),
            Ok(larger) if now.0 == 1 => Ok((larger, 0)),
            _ => {
                let (target, shape) = (sizes.to_vec(), self.shape.to_vec());
                Err(Error::Expand { wanted, size: now.0, dim: d, target, shape })
            }
        }
    }

    /// Broadcasts to a shape (PyTorch and NumPy: `broadcast_to`).
    ///
    /// # Errors
    /// As [`expand`](Self::expand); a size above `isize::MAX`.
    pub fn broadcast_to(&self, shape: impl Sizes) -> Result<Self> {
        let shape = shape.into_shape()?;
        if shape[..] == *self.shape() {
            return Ok(self.clone());
        }
        if self.ndim() == 0 {
            let strides = DimVec::from_elem(0, shape.len());
            return Self::checked(shape, strides, self.offset);
        }
        self.expand(&shape)
    }
}
