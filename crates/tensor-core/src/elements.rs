//! Views that borrow their layout: the arguments of kernels.
//!
//! A [`TensorView`] owns its layout of about 180 bytes, so that it can be stored and transformed. A
//! kernel only reads the layout. Moving layouts between the steps of a call takes longer than
//! adding a thousand numbers.

use std::{fmt, marker::PhantomData, ptr::NonNull};

use crate::{
    Layout, Result, TensorViewBase, TensorViewMutBase,
    view::{check_injective, describe},
};
#[cfg(doc)]
use crate::{TensorView, TensorViewMut};

/// A [`TensorView`] with a borrowed layout. The same invariants hold.
#[derive(Clone, Copy)]
pub struct ViewRef<'a, T> {
    base: NonNull<T>,
    layout: &'a Layout,
    gaps: Gaps,
    life: PhantomData<&'a T>,
}

/// See [`TensorView::gaps_readable`]. As wide as a pointer: views are moved in words, and a load of
/// a word stalls where a single byte of it has just been stored. The additions of 16 floats spent a
/// quarter of their time on that (Zen 5).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Gaps {
    Unreadable,
    Readable,
}

impl Gaps {
    #[inline]
    fn new(readable: bool) -> Self {
        if readable { Self::Readable } else { Self::Unreadable }
    }
}

/// A [`TensorViewMut`] with a borrowed layout. The same invariants hold.
pub struct ViewRefMut<'a, T> {
    base: NonNull<T>,
    layout: &'a Layout,
    life: PhantomData<&'a mut T>,
}

// SAFETY: like a view, it is a shared reference to the elements.
unsafe impl<T: Sync> Send for ViewRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for ViewRef<'_, T> {}
// SAFETY: like a mutable view, it is a unique reference to the elements.
unsafe impl<T: Send> Send for ViewRefMut<'_, T> {}
// SAFETY: a `&ViewRefMut` gives access to the layout only.
unsafe impl<T: Sync> Sync for ViewRefMut<'_, T> {}

impl<'a, T: Copy> ViewRef<'a, T> {
    /// A view of a slice.
    ///
    /// # Errors
    /// [`Error::TooFewElements`](crate::Error::TooFewElements) if the layout reaches beyond the
    /// slice.
    pub fn new(elements: &'a [T], layout: &'a Layout) -> Result<Self> {
        layout.check_slice(elements.len())?;
        Ok(Self {
            base: NonNull::from(elements).cast(),
            layout,
            gaps: Gaps::Readable,
            life: PhantomData,
        })
    }

    /// # Safety
    /// All three invariants of a view.
    pub(crate) unsafe fn from_raw(base: NonNull<T>, layout: &'a Layout, gaps: Gaps) -> Self {
        Self { base, layout, gaps, life: PhantomData }
    }

    /// A view of one value, without dimensions.
    pub fn of_value(value: &'a T) -> Self {
        static SCALAR: Layout = Layout::SCALAR;
        Self {
            base: NonNull::from(value),
            layout: &SCALAR,
            gaps: Gaps::Readable,
            life: PhantomData,
        }
    }

    /// Sizes, strides and offset.
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// A pointer to offset 0. Only the offsets of the layout may be read through it.
    #[inline]
    pub fn base_ptr(&self) -> *const T {
        self.base.as_ptr()
    }

    /// See [`TensorView::gaps_readable`].
    #[inline]
    pub fn gaps_readable(&self) -> bool {
        matches!(self.gaps, Gaps::Readable)
    }

    /// Broadcast to a shape. If that changes the layout, the new one is stored in `buffer`.
    ///
    /// # Errors
    /// [`Error::Expand`](crate::Error::Expand) if the sizes do not broadcast.
    #[inline]
    pub fn broadcast_to<'r>(
        self,
        shape: &[usize],
        buffer: &'r mut Option<Layout>,
    ) -> Result<ViewRef<'r, T>>
    where
        'a: 'r,
    {
        if self.layout.shape() == shape {
            return Ok(self);
        }
        // The invariants hold: a broadcast layout reaches the same elements.
        Ok(ViewRef { layout: buffer.insert(self.layout.broadcast_to(shape)?), ..self })
    }

    /// The same view with a clone of the layout.
    pub fn to_view<K>(self) -> TensorViewBase<'a, T, K> {
        // SAFETY: `self` has the same invariants.
        unsafe { TensorViewBase::from_raw(self.base, self.layout.clone(), self.gaps_readable()) }
    }
}

impl<'a, T: Copy> ViewRefMut<'a, T> {
    /// A mutable view of a slice.
    ///
    /// # Errors
    /// [`Error::TooFewElements`](crate::Error::TooFewElements) if the layout reaches beyond the
    /// slice, [`Error::WriteOverlap`](crate::Error::WriteOverlap).
    pub(crate) fn of_slice(elements: &'a mut [T], layout: &'a Layout) -> Result<Self> {
        layout.check_slice(elements.len())?;
        check_injective(layout)?;
        Ok(Self { base: NonNull::from(elements).cast(), layout, life: PhantomData })
    }

    /// # Safety
    /// All three invariants of a mutable view.
    pub(crate) unsafe fn from_raw(base: NonNull<T>, layout: &'a Layout) -> Self {
        Self { base, layout, life: PhantomData }
    }

    /// Sizes, strides and offset.
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// A pointer to offset 0. Only the offsets of the layout may be accessed through it.
    #[inline]
    pub fn base_mut_ptr(&mut self) -> *mut T {
        self.base.as_ptr()
    }

    /// The same view with a shorter lifetime.
    #[inline]
    pub fn reborrow(&mut self) -> ViewRefMut<'_, T> {
        ViewRefMut { base: self.base, layout: self.layout, life: PhantomData }
    }

    /// The same view with a clone of the layout.
    pub fn into_view<K>(self) -> TensorViewMutBase<'a, T, K> {
        // SAFETY: `self` has the same invariants, and is consumed.
        unsafe { TensorViewMutBase::from_raw(self.base, self.layout.clone()) }
    }
}

impl<'a, T: Copy, K> From<&'a TensorViewBase<'_, T, K>> for ViewRef<'a, T> {
    #[inline]
    fn from(view: &'a TensorViewBase<'_, T, K>) -> Self {
        Self {
            base: view.base(),
            layout: view.layout(),
            gaps: Gaps::new(view.gaps_readable()),
            life: PhantomData,
        }
    }
}

impl<'a, T: Copy, K> From<&'a TensorViewMutBase<'_, T, K>> for ViewRef<'a, T> {
    #[inline]
    fn from(view: &'a TensorViewMutBase<'_, T, K>) -> Self {
        // The invariants hold: the view is borrowed, so nobody writes its elements meanwhile.
        let (base, layout) = (view.shared_base(), view.layout());
        Self { base, layout, gaps: Gaps::Unreadable, life: PhantomData }
    }
}

impl<'a, T: Copy, K> From<&'a mut TensorViewMutBase<'_, T, K>> for ViewRefMut<'a, T> {
    #[inline]
    fn from(view: &'a mut TensorViewMutBase<'_, T, K>) -> Self {
        Self { base: view.base(), layout: view.layout(), life: PhantomData }
    }
}

impl<T> fmt::Debug for ViewRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe::<T>(&mut f.debug_struct("ViewRef"), self.layout).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ViewRefMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe::<T>(&mut f.debug_struct("ViewRefMut"), self.layout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_makes_a_layout_only_for_another_shape() {
        let numbers = [1, 2, 3];
        let row = Layout::contiguous([3]).unwrap();
        let elements = ViewRef::new(&numbers, &row).unwrap();
        let mut buffer = None;
        elements.broadcast_to(&[3], &mut buffer).unwrap();
        assert!(buffer.is_none());
        let broadcast = elements.broadcast_to(&[2, 3], &mut buffer).unwrap();
        assert_eq!(broadcast.layout().strides(), [0, 1]);
        assert_eq!(broadcast.to_view::<crate::Bare>().to_vec(), [1, 2, 3, 1, 2, 3]);
        assert!(elements.broadcast_to(&[2], &mut buffer).is_err());
    }

    #[test]
    fn a_layout_beyond_its_slice_is_refused() {
        assert!(ViewRef::new(&[1, 2], &Layout::contiguous([3]).unwrap()).is_err());
    }

    #[test]
    fn a_value_has_no_dimensions() {
        assert_eq!(ViewRef::of_value(&2.5).to_view::<crate::Bare>().to_vec(), [2.5]);
        assert_eq!(Layout::SCALAR, Layout::contiguous(()).unwrap());
    }
}
