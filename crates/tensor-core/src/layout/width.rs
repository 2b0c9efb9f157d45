//! The same bytes as elements of another width.
//!
//! Every public function here has an example.

use super::{Layout, saturating_stride};
use crate::{Error, Result, shape::too_large};

impl Layout {
    /// The layout of the same bytes read as elements of another width (PyTorch: `view(dtype)`).
    ///
    /// Narrower elements multiply the last dimension, wider ones divide it. Widths are in bytes.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let floats = Layout::contiguous(&[2, 3])?;
    /// assert_eq!(floats.view_as_width(4, 1)?.shape(), [2, 12]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ViewDType`]: no dimension to change, a last stride other than 1, a size, stride or
    /// offset that does not divide.
    pub fn view_as_width(&self, from: usize, to: usize) -> Result<Self> {
        if from == to {
            return Ok(self.clone());
        }
        let refuse = |what: String, value| Err(Error::ViewDType { what, from, to, value });
        if from == 0 || to == 0 || (!from.is_multiple_of(to) && !to.is_multiple_of(from)) {
            return refuse("one element width must divide the other".to_owned(), None);
        }
        let Some(last) = self.ndim().checked_sub(1) else {
            return refuse("self.dim() cannot be 0".to_owned(), None);
        };
        if self.strides[last] != 1 {
            return refuse("self.stride(-1) must be 1".to_owned(), Some(self.strides[last]));
        }
        if from > to { self.narrower(last, from / to) } else { self.wider(last, to / from, refuse) }
    }

    fn narrower(&self, last: usize, ratio: usize) -> Result<Self> {
        let Layout { mut shape, mut strides, .. } = self.clone();
        let too_many = || too_large("the number of elements", self.shape());
        shape[last] = shape[last].checked_mul(ratio).ok_or_else(too_many)?;
        for stride in &mut strides[..last] {
            *stride = saturating_stride(ratio, *stride);
        }
        Self::checked(shape, strides, self.offset.checked_mul(ratio).ok_or_else(too_many)?)
    }

    fn wider(
        &self,
        last: usize,
        ratio: usize,
        refuse: impl Fn(String, Option<isize>) -> Result<Self>,
    ) -> Result<Self> {
        let Layout { mut shape, mut strides, .. } = self.clone();
        if !shape[last].is_multiple_of(ratio) {
            return refuse(
                format!("self.size(-1) must be divisible by {ratio}"),
                Some(shape[last] as isize),
            );
        }
        if !self.offset.is_multiple_of(ratio) {
            return refuse(
                format!("self.storage_offset() must be divisible by {ratio}"),
                Some(self.offset as isize),
            );
        }
        for (d, stride) in strides[..last].iter_mut().enumerate() {
            if *stride % ratio as isize != 0 {
                return refuse(
                    format!("self.stride({d}) must be divisible by {ratio}"),
                    Some(*stride),
                );
            }
            *stride /= ratio as isize;
        }
        shape[last] /= ratio;
        Self::checked(shape, strides, self.offset / ratio)
    }
}
