//! Reading through a mutable view, and indexing.

use std::ops;

use super::{TensorViewBase, TensorViewMutBase};
#[cfg(doc)]
use crate::Layout;
use crate::{
    Element, Iter, IterMut, ReadKernel, Result,
    methods::{argument_type, for_each_split},
    operators::or_panic,
};

/// Parts of a mutable view that are read; those of `split_mut` and `unbind_mut` are written.
macro_rules! shared_parts {
    ($($name:ident($($arg:ident: $kind:ident),*) $doc:literal;)*) => {$(
        #[doc = $doc]
        /// The parts are read only.
        ///
        /// # Errors
        #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
        pub fn $name(
            &self,
            $($arg: argument_type!($kind)),*
        ) -> Result<Vec<TensorViewBase<'_, T, K>>> {
            self.as_view().$name($($arg),*)
        }
    )*};
}

impl<T: Copy, K> TensorViewMutBase<'_, T, K> {
    /// The elements in logical order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.as_view().iter()
    }

    /// The elements as a slice, if the view is contiguous.
    pub fn as_slice(&self) -> Option<&[T]> {
        self.as_view().as_slice()
    }

    /// Writes the element at `index` (PyTorch: `t[i, j] = value`).
    ///
    /// # Errors
    /// An index of another length than the rank, or beyond a size.
    pub fn set(&mut self, index: &[usize], value: T) -> Result<()> {
        *self.get_mut(index)? = value;
        Ok(())
    }

    for_each_split! { shared_parts => }
}

impl<T: Element, K: ReadKernel> TensorViewMutBase<'_, T, K> {
    /// As [`TensorViewBase::to_vec`].
    ///
    /// # Panics
    /// Where [`try_to_vec`](Self::try_to_vec) returns an error.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T> {
        self.as_view().to_vec()
    }

    /// As [`TensorViewBase::try_to_vec`].
    ///
    /// # Errors
    /// Those of [`TensorViewBase::try_to_vec`].
    #[track_caller]
    pub fn try_to_vec(&self) -> Result<Vec<T>> {
        self.as_view().try_to_vec()
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
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Layout, TensorViewMut};
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
