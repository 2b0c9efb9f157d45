//! Row-major layouts with padding between rows, planes, ….
//!
//! Every public function here has an example.

use super::{Layout, saturating_stride};
use crate::{Error, Int, Result, Sizes, shape::wrap_dim, strides::contiguous_strides};

impl Layout {
    /// A row-major layout in which dimension `dim` has the stride `stride`, in elements; the
    /// dimensions before it follow. With `dim` −2 it is the layout of rows with padding (BLAS: a
    /// leading dimension; PyTorch: `torch.empty_strided`).
    ///
    /// [`lints`](Self::lints) says which strides are worth it.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let rows = Layout::padded(&[2, 100, 64], -2, 80)?;
    /// assert_eq!(rows.strides(), [8000, 80, 1]);
    /// let planes = Layout::padded(&[2, 100, 64], 0, 6416)?;
    /// assert_eq!(planes.strides(), [6416, 64, 1]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension out of range; [`Error::PaddedStride`] if an index of the dimension needs more
    /// elements than `stride`; [`Error::TooLarge`].
    pub fn padded(shape: impl Sizes, dim: impl Int, stride: usize) -> Result<Self> {
        let Layout { shape, mut strides, .. } = Self::contiguous(shape)?;
        let dim = wrap_dim("padded", dim.saturated(), shape.len())?;
        let needed = strides[dim].unsigned_abs();
        if stride < needed {
            return Err(Error::PaddedStride { dim, stride, needed });
        }
        strides[dim] = isize::try_from(stride).unwrap_or(isize::MAX);
        for d in (0..dim).rev() {
            strides[d] = saturating_stride(shape[d + 1].max(1), strides[d + 1]);
        }
        debug_assert_eq!(strides[dim + 1..], contiguous_strides(&shape)[dim + 1..]);
        Self::checked(shape, strides, 0)
    }
}
