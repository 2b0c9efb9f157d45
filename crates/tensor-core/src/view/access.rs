//! Reading through a mutable view, and indexing.

use std::ops;

use super::{TensorViewBase, TensorViewMutBase};
use crate::{Iter, IterMut, Result, operators::or_panic};

impl<T: Copy, K> TensorViewMutBase<'_, T, K> {
    /// The elements in logical order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.as_view().iter()
    }

    /// The elements in logical order, as a vector.
    ///
    /// # Panics
    /// If memory is short; [`try_to_vec`](Self::try_to_vec) returns an error.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T> {
        self.as_view().to_vec()
    }

    /// The elements in logical order, as a vector.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn try_to_vec(&self) -> Result<Vec<T>> {
        self.as_view().try_to_vec()
    }

    /// The elements as a slice, if the view is contiguous.
    pub fn as_slice(&self) -> Option<&[T]> {
        self.as_view().as_slice()
    }
}

impl<T: Copy, K, const R: usize> ops::Index<[usize; R]> for TensorViewBase<'_, T, K> {
    type Output = T;

    /// # Panics
    /// If the index is not in the view; [`get`](TensorViewBase::get) returns an error.
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        or_panic(self.get_ref(&index))
    }
}

impl<T: Copy, K, const R: usize> ops::Index<[usize; R]> for TensorViewMutBase<'_, T, K> {
    type Output = T;

    /// # Panics
    /// If the index is not in the view; [`get`](TensorViewMutBase::get) returns an error.
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        or_panic(self.get_ref(&index))
    }
}

/// ```
/// use tensor_core::{Layout, TensorViewMut};
///
/// let mut grid = [0; 6];
/// let mut view = TensorViewMut::new(&mut grid, Layout::contiguous(&[2, 3])?)?;
/// view[[1, 0]] = 7;
/// view[[0, 2]] += view[[1, 0]];
/// assert_eq!(grid, [0, 0, 7, 7, 0, 0]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
impl<T: Copy, K, const R: usize> ops::IndexMut<[usize; R]> for TensorViewMutBase<'_, T, K> {
    /// # Panics
    /// If the index is not in the view; [`get_mut`](TensorViewMutBase::get_mut) returns an error.
    #[track_caller]
    fn index_mut(&mut self, index: [usize; R]) -> &mut T {
        or_panic(self.get_mut(&index))
    }
}

impl<'a, T: Copy, K> IntoIterator for &TensorViewBase<'a, T, K> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Copy, K> IntoIterator for TensorViewBase<'a, T, K> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Copy, K> IntoIterator for &'a TensorViewMutBase<'_, T, K> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Copy, K> IntoIterator for &'a mut TensorViewMutBase<'_, T, K> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}
