//! The outputs of operations.

#[cfg(doc)]
use crate::Error;
use crate::{
    Element, Handle, Layout, Result, TensorBase, TensorRefMut, TensorViewMutBase, ViewRefMut,
    WriteScope,
};

/// The output of an operation: a tensor, a mutable view, or a slice with as many elements as the
/// result, which are its elements in row-major order.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Output, Tensor};
///
/// let mut x = Tensor::<f32>::zeros([2, 3])?;
/// assert_eq!(Output::from(&x).shape(), [2, 3]);
/// assert_eq!(Output::from(&mut x).shape(), [2, 3]);
/// assert_eq!(Output::from(&mut x.write()?.as_view_mut()?).shape(), [2, 3]);
/// let mut numbers = [0.0f32; 6];
/// let slice = Output::from(&mut numbers[..]);
/// assert_eq!(slice.shape(), [6]);
/// assert_eq!(slice.with_shape(&[2, 3])?.shape(), [2, 3]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Output<'a, T> {
    /// A tensor, not borrowed yet.
    Tensor(Handle<'a, T>),
    /// A view.
    View(ViewRefMut<'a, T>),
    /// A slice, which takes the shape of the result.
    Slice(Box<OutputSlice<'a, T>>),
}

/// A slice under a shape, in row-major order.
///
/// # Invariant
/// The layout is contiguous from offset 0, and has as many elements as the slice.
#[derive(Debug)]
pub struct OutputSlice<'a, T> {
    elements: &'a mut [T],
    layout: Layout,
}

impl<'a, T: Element, K> From<&'a TensorBase<T, K>> for Output<'a, T> {
    fn from(tensor: &'a TensorBase<T, K>) -> Self {
        Self::Tensor(Handle::of(tensor))
    }
}

impl<'a, T: Element, K> From<&'a mut TensorBase<T, K>> for Output<'a, T> {
    fn from(tensor: &'a mut TensorBase<T, K>) -> Self {
        Self::Tensor(Handle::of(tensor))
    }
}

impl<'a, T: Copy, K> From<&'a mut TensorViewMutBase<'_, T, K>> for Output<'a, T> {
    fn from(view: &'a mut TensorViewMutBase<'_, T, K>) -> Self {
        Self::View(view.into())
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Output<'a, T> {
    fn from(elements: &'a mut [T]) -> Self {
        let layout = Layout::contiguous([elements.len()]).expect("a slice fits in memory");
        Self::Slice(Box::new(OutputSlice { elements, layout }))
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Output<'a, T> {
    fn from(elements: &'a mut [T; N]) -> Self {
        Self::from(&mut elements[..])
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Output<'a, T> {
    fn from(elements: &'a mut Vec<T>) -> Self {
        Self::from(&mut elements[..])
    }
}

impl<'a, T: Element> Output<'a, T> {
    /// Is it a slice, which has no shape of its own?
    #[inline]
    pub fn is_slice(&self) -> bool {
        matches!(self, Self::Slice(_))
    }

    /// A slice takes the shape of the result, if it has as many elements. Other outputs keep their
    /// own.
    ///
    /// # Errors
    /// A shape with too many elements for memory.
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self> {
        if let Self::Slice(slice) = &mut self {
            let layout = Layout::contiguous(shape)?;
            if layout.numel() == slice.elements.len() {
                slice.layout = layout;
            }
        }
        Ok(self)
    }

    /// The sizes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Tensor(tensor) => tensor.layout().shape(),
            Self::View(elements) => elements.layout().shape(),
            Self::Slice(slice) => slice.layout.shape(),
        }
    }

    /// Borrows the elements.
    ///
    /// # Errors
    /// [`Error::Borrowed`].
    #[inline]
    pub fn open(self) -> Result<Writing<'a, T>> {
        Ok(match self {
            Self::Tensor(tensor) => Writing::Guard(TensorRefMut::of(tensor)?),
            Self::View(elements) => Writing::View(elements),
            Self::Slice(slice) => Writing::Slice(slice),
        })
    }
}

/// A borrowed output.
pub enum Writing<'a, T> {
    /// The write guard of a tensor.
    Guard(TensorRefMut<'a, T>),
    /// A view.
    View(ViewRefMut<'a, T>),
    /// A slice.
    Slice(Box<OutputSlice<'a, T>>),
}

impl<T: Element> Writing<'_, T> {
    /// Is it a slice, which has no shape of its own?
    pub fn is_slice(&self) -> bool {
        matches!(self, Self::Slice(_))
    }

    /// The elements to write, and the scope to open the operands in.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    #[inline]
    pub fn split(&mut self) -> Result<(ViewRefMut<'_, T>, WriteScope<'_>)> {
        match self {
            Self::Guard(guard) => guard.split(),
            Self::View(elements) => Ok((elements.reborrow(), WriteScope::nothing())),
            Self::Slice(slice) => {
                let OutputSlice { elements, layout } = &mut **slice;
                Ok((ViewRefMut::of_slice(elements, layout)?, WriteScope::nothing()))
            }
        }
    }
}
