//! Walking the elements of a view in logical order.

use std::{marker::PhantomData, ptr::NonNull};

use crate::{Offsets, TensorView, TensorViewMut};

/// The elements of a view in logical order.
///
/// # Invariant
/// The offsets are some of those of the layout of a view of `base` that is valid during `'a`.
pub struct Iter<'a, T> {
    base: NonNull<T>,
    offsets: Offsets,
    life: PhantomData<&'a T>,
}

// SAFETY: it is a shared reference to the elements.
unsafe impl<T: Sync> Send for Iter<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Iter<'_, T> {}

impl<'a, T: Copy> Iter<'a, T> {
    pub(crate) fn of(view: &TensorView<'a, T>) -> Self {
        Self { base: view.base(), offsets: view.layout().offsets(), life: PhantomData }
    }
}

impl<T: Copy> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let offset = self.offsets.next()?;
        // SAFETY: the offset is one of the view's (view invariant 1).
        let place = unsafe { self.base.add(offset) };
        // SAFETY: view invariants 1 and 2.
        Some(unsafe { place.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }
}

impl<T: Copy> ExactSizeIterator for Iter<'_, T> {}

/// The places of a mutable view's elements in logical order.
///
/// # Invariant
/// The offsets are some of those of the layout of a mutable view of `base` that is valid during
/// `'a` and not used otherwise; none comes twice.
pub struct IterMut<'a, T> {
    base: NonNull<T>,
    offsets: Offsets,
    life: PhantomData<&'a mut T>,
}

// SAFETY: it is a unique reference to the elements that are still to come.
unsafe impl<T: Send> Send for IterMut<'_, T> {}
// SAFETY: through `&IterMut` no element can be reached.
unsafe impl<T: Sync> Sync for IterMut<'_, T> {}

impl<'a, T: Copy> IterMut<'a, T> {
    pub(crate) fn of(view: &'a mut TensorViewMut<'_, T>) -> Self {
        let offsets = view.layout().offsets();
        Self { base: view.base(), offsets, life: PhantomData }
    }
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    fn next(&mut self) -> Option<&'a mut T> {
        let offset = self.offsets.next()?;
        // SAFETY: the offset is one of the view's (mutable view invariant 1).
        let mut place = unsafe { self.base.add(offset) };
        // SAFETY: mutable view invariants 1 and 2; by its invariant 3, and as no offset comes
        // twice, no two items are the same place.
        Some(unsafe { place.as_mut() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

impl<'a, T: Copy> IntoIterator for &TensorView<'a, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Copy> IntoIterator for &'a mut TensorViewMut<'_, T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}
