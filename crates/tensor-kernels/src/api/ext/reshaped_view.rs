//! The result of a reshape of a view of borrowed memory, which may be a view or a copy.

use std::fmt;

use tensor_core::{
    AsOperand, Element, Layout, Operand, ReadKernel, Result, TensorBase, TensorViewBase,
};

use crate::api::{rearrange::Strided, tensor::Simd};
#[cfg(doc)]
use crate::{Error, TensorExt};

/// A reshaped, rearranged or repeated view: a view of the same memory if strides can express it,
/// else a copy.
///
/// It has the methods of views and tensors that copy or compute, in [`TensorExt`], and is an
/// operand as they are.
///
/// ```
/// use tensor_kernels::{ReshapedView, prelude::*};
///
/// let pixels = [1.0f32, 2.0, 3.0, 4.0];
/// let image = TensorView::new(&pixels, Layout::contiguous([2, 2])?)?;
/// let columns = image.rearrange("h w -> w h", &[])?;
/// assert_eq!(columns.sum(0)?.to_vec()?, [3.0, 7.0]);
/// match columns {
///     ReshapedView::View(view) => assert_eq!(view.strides(), [1, 2]),
///     ReshapedView::Copy(_) => unreachable!("strides express a transpose"),
/// }
/// assert!(image.rearrange("h w -> (w h)", &[])?.copied());
/// # Ok::<(), Error>(())
/// ```
pub enum ReshapedView<'a, T: Element, K = Simd> {
    /// A view of the input's memory.
    View(TensorViewBase<'a, T, K>),
    /// A contiguous copy, or a view of one that an earlier step made.
    Copy(TensorBase<T, K>),
}

impl<T: Element, K> Clone for ReshapedView<'_, T, K> {
    fn clone(&self) -> Self {
        match self {
            Self::View(view) => Self::View(view.clone()),
            Self::Copy(copy) => Self::Copy(copy.clone()),
        }
    }
}

impl<T: Element + fmt::Debug, K> fmt::Debug for ReshapedView<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::View(view) => f.debug_tuple("View").field(view).finish(),
            Self::Copy(copy) => f.debug_tuple("Copy").field(copy).finish(),
        }
    }
}

impl<T: Element, K> ReshapedView<'_, T, K> {
    /// Are the elements in new memory? If not, it is a view of the input's memory.
    pub fn copied(&self) -> bool {
        matches!(self, Self::Copy(_))
    }

    /// Sizes, strides and offset.
    pub fn layout(&self) -> &Layout {
        match self {
            Self::View(view) => view.layout(),
            Self::Copy(copy) => copy.layout(),
        }
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> usize {
        self.layout().ndim()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.layout().numel()
    }

    /// The size of each dimension.
    pub fn shape(&self) -> &[usize] {
        self.layout().shape()
    }

    /// The distance between neighbours along each dimension, in elements.
    pub fn strides(&self) -> &[isize] {
        self.layout().strides()
    }

    /// The elements in logical order.
    ///
    /// # Errors
    /// [`Error::Borrowed`] if the copy is being written, [`Error::OutOfMemory`].
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>>
    where
        K: ReadKernel,
    {
        match self {
            Self::View(view) => view.try_to_vec(),
            Self::Copy(copy) => copy.to_vec(),
        }
    }
}

impl<T: Element, K> AsOperand<T> for ReshapedView<'_, T, K> {
    fn as_operand(&self) -> Operand<'_, T> {
        match self {
            Self::View(view) => view.into(),
            Self::Copy(copy) => copy.into(),
        }
    }
}

impl<T: Element, K> AsOperand<T> for &ReshapedView<'_, T, K> {
    fn as_operand(&self) -> Operand<'_, T> {
        (*self).as_operand()
    }
}

impl<'s, T: Element, K> From<&'s ReshapedView<'_, T, K>> for Operand<'s, T> {
    fn from(reshaped: &'s ReshapedView<'_, T, K>) -> Self {
        reshaped.as_operand()
    }
}

/// The same step of either.
macro_rules! strided {
    ($($name:ident($arg:ident: $type:ty);)*) => {$(
        fn $name(&self, $arg: $type) -> Result<Self> {
            match self {
                Self::View(view) => view.$name($arg).map(Self::View),
                Self::Copy(copy) => copy.$name($arg).map(Self::Copy),
            }
        }
    )*};
}

impl<T: Element, K> Strided for ReshapedView<'_, T, K> {
    fn shape(&self) -> &[usize] {
        self.layout().shape()
    }

    strided! {
        view(sizes: &[isize]);
        permute(dims: &[isize]);
        unsqueeze(dim: isize);
        broadcast_to(shape: &[usize]);
    }
}
