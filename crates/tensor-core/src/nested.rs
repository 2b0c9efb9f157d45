//! Tensors of nested arrays.

use crate::{Element, TensorBase, dtype::for_each_dtype};

/// An element, or an array of such values: `[[1, 2], [3, 4]]`.
///
/// Implemented for the built-in element types and for arrays of any depth. For another element type
/// it takes three lines:
///
/// ```
/// use tensor_core::{NestedArray, Tensor};
///
/// #[derive(Clone, Copy, PartialEq, Debug, bytemuck::NoUninit)]
/// #[repr(C)]
/// struct Rgb([u8; 3]);
///
/// impl NestedArray for Rgb {
///     type Element = Self;
///     fn append_shape(_: &mut Vec<usize>) {}
///     fn append_to(self, elements: &mut Vec<Self>) {
///         elements.push(self);
///     }
/// }
///
/// let image = Tensor::from_nested([[Rgb([255, 0, 0]); 3]; 2]);
/// assert_eq!(image.shape(), [2, 3]);
/// ```
pub trait NestedArray {
    /// The type of the innermost values.
    type Element: Element;

    /// Appends the lengths of the arrays, the outermost first.
    fn append_shape(shape: &mut Vec<usize>);

    /// Appends the innermost values in row-major order.
    fn append_to(self, elements: &mut Vec<Self::Element>);
}

impl<A: NestedArray, const N: usize> NestedArray for [A; N] {
    type Element = A::Element;

    fn append_shape(shape: &mut Vec<usize>) {
        shape.push(N);
        A::append_shape(shape);
    }

    fn append_to(self, elements: &mut Vec<A::Element>) {
        for value in self {
            value.append_to(elements);
        }
    }
}

macro_rules! elements {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        $(#[$gate])*
        impl NestedArray for $type {
            type Element = Self;

            fn append_shape(_: &mut Vec<usize>) {}

            fn append_to(self, elements: &mut Vec<Self>) {
                elements.push(self);
            }
        }
    )*};
}

for_each_dtype!(elements);

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
    pub fn from_nested(values: impl NestedArray<Element = T>) -> Self {
        fn shape_of<A: NestedArray>(_: &A) -> Vec<usize> {
            let mut shape = Vec::new();
            A::append_shape(&mut shape);
            shape
        }
        let (shape, mut elements) = (shape_of(&values), Vec::new());
        values.append_to(&mut elements);
        Self::from_vec(elements, &shape).expect("an array has as many values as its shape says")
    }
}
