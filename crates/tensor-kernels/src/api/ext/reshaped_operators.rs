//! Operators, comparisons and iteration of reshaped tensors and views: those of what they hold.

use tensor_core::{
    AsOperand, Element, Output, ReadKernel, TensorBase, TensorIter, left_operators, or_panic,
};

use super::{reshaped::Reshaped, reshaped_view::ReshapedView};

left_operators! {
    [] Reshaped<T, K>;
    ['a] &'a Reshaped<T, K>;
    ['v] ReshapedView<'v, T, K>;
    ['a 'v] &'a ReshapedView<'v, T, K>;
}

/// Comparisons of what was reshaped with tensors, and with each other.
macro_rules! comparisons {
    ($($left:ty, $right:ty;)*) => {$(
        impl<T: Element + PartialEq, K: ReadKernel> PartialEq<$right> for $left {
            /// # Panics
            /// As `RefCell` does, when a storage is being written; [`TensorBase::equal`] returns an
            /// error.
            #[track_caller]
            fn eq(&self, other: &$right) -> bool {
                let (a, b) = (self.as_operand(), other.as_operand());
                let (a, b) = (or_panic(a.read()), or_panic(b.read()));
                or_panic(K::equal(a.elements(), b.elements()))
            }
        }
    )*};
}

comparisons! {
    Reshaped<T, K>, Reshaped<T, K>;
    Reshaped<T, K>, TensorBase<T, K>;
    TensorBase<T, K>, Reshaped<T, K>;
    ReshapedView<'_, T, K>, ReshapedView<'_, T, K>;
    ReshapedView<'_, T, K>, TensorBase<T, K>;
    TensorBase<T, K>, ReshapedView<'_, T, K>;
}

impl<'a, T: Element, K> IntoIterator for &'a Reshaped<T, K> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    /// # Panics
    /// As `RefCell` does, when the storage is being written; [`TensorBase::iter`] returns an error.
    #[track_caller]
    fn into_iter(self) -> TensorIter<'a, T> {
        or_panic(self.iter())
    }
}

impl<'a, T: Element, K> From<&'a Reshaped<T, K>> for Output<'a, T> {
    fn from(reshaped: &'a Reshaped<T, K>) -> Self {
        Self::from(&**reshaped)
    }
}
