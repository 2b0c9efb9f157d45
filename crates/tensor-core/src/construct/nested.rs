//! Tensors of nested arrays.

use crate::{Element, TensorBase, dtype::for_each_dtype};

/// An element `T`, or an array of such values: `[[1, 2], [3, 4]]`.
///
/// Implemented for the built-in element types and for arrays of any depth. The element type is a
/// parameter, not an associated type, so that it determines the type of number literals. For
/// another element type it takes three lines:
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{NestedArray, Tensor};
///
/// #[derive(Clone, Copy, PartialEq, Debug, bytemuck::NoUninit)]
/// #[repr(C)]
/// struct Rgb([u8; 3]);
///
/// impl NestedArray<Self> for Rgb {
///     fn append_shape(_: &mut Vec<usize>) {}
///     fn append_to(self, elements: &mut Vec<Self>) {
///         elements.push(self);
///     }
/// }
///
/// let image = Tensor::from_nested([[Rgb([255, 0, 0]); 3]; 2]);
/// assert_eq!(image.shape(), [2, 3]);
/// ```
pub trait NestedArray<T> {
    /// Appends the lengths of the arrays, the outermost first.
    fn append_shape(shape: &mut Vec<usize>);

    /// Appends the innermost values in row-major order.
    fn append_to(self, elements: &mut Vec<T>);
}

impl<T, A: NestedArray<T>, const N: usize> NestedArray<T> for [A; N] {
    fn append_shape(shape: &mut Vec<usize>) {
        shape.push(N);
        A::append_shape(shape);
    }

    fn append_to(self, elements: &mut Vec<T>) {
        for value in self {
            value.append_to(elements);
        }
    }
}

macro_rules! elements {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        $(#[$gate])*
        impl NestedArray<Self> for $type {
            fn append_shape(_: &mut Vec<usize>) {}

            fn append_to(self, elements: &mut Vec<Self>) {
                elements.push(self);
            }
        }
    )*};
}

for_each_dtype!(elements);

/// Made of nested arrays.
impl<T: Element, K> TensorBase<T, K> {
    /// The values of nested arrays, in a tensor with a dimension for each level (PyTorch:
    /// `torch.tensor`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let x = Tensor::from_nested([[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!((x.shape(), x.get(&[1, 0])?), (&[2, 3][..], 4));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn from_nested<A: NestedArray<T>>(values: A) -> Self {
        let (mut shape, mut elements) = (Vec::new(), Vec::new());
        A::append_shape(&mut shape);
        values.append_to(&mut elements);
        Self::from_vec(elements, &shape).expect("an array has as many values as its shape says")
    }
}
