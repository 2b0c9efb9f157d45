//! Iterators over the elements of a view in logical order.

use std::{marker::PhantomData, ptr::NonNull};

use crate::{Offsets, TensorViewBase, TensorViewMutBase};

/// The elements of a view in logical order.
///
/// # Invariant
/// The offsets belong to the layout of a view of `base` that is valid during `'a`.
pub struct Iter<'a, T> {
    base: NonNull<T>,
    offsets: Offsets,
    life: PhantomData<&'a T>,
}

// SAFETY: the iterator is a shared reference to the elements.
unsafe impl<T: Sync> Send for Iter<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Iter<'_, T> {}

impl<'a, T: Copy> Iter<'a, T> {
    pub(crate) fn of<K>(view: &TensorViewBase<'a, T, K>) -> Self {
        Self { base: view.base(), offsets: view.layout().offsets(), life: PhantomData }
    }
}

impl<T: Copy> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let offset = self.offsets.next()?;
        // SAFETY: the offset is one of the view's (view invariant 1).
        let element = unsafe { self.base.add(offset) };
        // SAFETY: view invariants 1 and 2.
        Some(unsafe { element.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.offsets.fold(init, |result, offset| {
            // SAFETY: the offset is one of the view's (view invariant 1).
            let element = unsafe { self.base.add(offset) };
            // SAFETY: view invariants 1 and 2.
            f(result, unsafe { element.read() })
        })
    }
}

impl<T: Copy> ExactSizeIterator for Iter<'_, T> {}

/// References to the elements of a mutable view in logical order.
///
/// # Invariant
/// The offsets belong to the layout of a mutable view of `base` that is valid during `'a` and not
/// used otherwise. No index is visited twice.
pub struct IterMut<'a, T> {
    base: NonNull<T>,
    offsets: Offsets,
    life: PhantomData<&'a mut T>,
}

// SAFETY: the iterator is a unique reference to the elements that it has not yielded.
unsafe impl<T: Send> Send for IterMut<'_, T> {}
// SAFETY: a `&IterMut` gives access to no element.
unsafe impl<T: Sync> Sync for IterMut<'_, T> {}

impl<'a, T: Copy> IterMut<'a, T> {
    pub(crate) fn of<K>(view: &'a mut TensorViewMutBase<'_, T, K>) -> Self {
        let offsets = view.layout().offsets();
        Self { base: view.base(), offsets, life: PhantomData }
    }
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        let offset = self.offsets.next()?;
        // SAFETY: the offset is one of the view's (mutable view invariant 1).
        let mut element = unsafe { self.base.add(offset) };
        // SAFETY: mutable view invariants 1 and 2. No two items alias: different indices have
        // different offsets (invariant 3), and no index is visited twice.
        Some(unsafe { element.as_mut() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, &'a mut T) -> B>(self, init: B, mut f: F) -> B {
        self.offsets.fold(init, |result, offset| {
            // SAFETY: the offset is one of the view's (mutable view invariant 1).
            let mut element = unsafe { self.base.add(offset) };
            // SAFETY: mutable view invariants 1 and 2, and no two items alias, as in `next`.
            f(result, unsafe { element.as_mut() })
        })
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}
