//! Views that borrow their layout, too: what an operation is handed.
//!
//! A view carries its layout, some 180 bytes, so that it can be kept and derived from. An operation
//! only looks, and to move layouts between the steps of a call takes longer than to add a thousand
//! numbers.

use std::{fmt, marker::PhantomData, ptr::NonNull};

use crate::{Layout, Result, TensorView, TensorViewMut, view::describe};

/// The elements that a [`TensorView`] views. The same invariants hold.
#[derive(Clone, Copy)]
pub struct ViewRef<'a, T> {
    base: NonNull<T>,
    layout: &'a Layout,
    solid: bool,
    life: PhantomData<&'a T>,
}

/// The elements that a [`TensorViewMut`] views. The same invariants hold.
pub struct ViewRefMut<'a, T> {
    base: NonNull<T>,
    layout: &'a Layout,
    life: PhantomData<&'a mut T>,
}

// SAFETY: as of a view: a shared reference to the elements.
unsafe impl<T: Sync> Send for ViewRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for ViewRef<'_, T> {}
// SAFETY: as of a mutable view: a unique reference to the elements.
unsafe impl<T: Send> Send for ViewRefMut<'_, T> {}
// SAFETY: through `&ViewRefMut` no element can be reached.
unsafe impl<T: Sync> Sync for ViewRefMut<'_, T> {}

impl<'a, T: Copy> ViewRef<'a, T> {
    /// Elements of a slice.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) if the layout reaches beyond the slice.
    pub fn new(elements: &'a [T], layout: &'a Layout) -> Result<Self> {
        layout.check_within(elements.len(), size_of::<T>())?;
        Ok(Self { base: NonNull::from(elements).cast(), layout, solid: true, life: PhantomData })
    }

    /// # Safety
    /// All three invariants of a view.
    pub(crate) unsafe fn from_raw(base: NonNull<T>, layout: &'a Layout, solid: bool) -> Self {
        Self { base, layout, solid, life: PhantomData }
    }

    /// One value, as an array without dimensions.
    pub fn of_value(value: &'a T) -> Self {
        static SCALAR: Layout = Layout::SCALAR;
        Self { base: NonNull::from(value), layout: &SCALAR, solid: true, life: PhantomData }
    }

    /// Sizes, strides and offset.
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// A pointer to the place of offset 0. Only the offsets of the layout may be read through it.
    #[inline]
    pub fn base_ptr(&self) -> *const T {
        self.base.as_ptr()
    }

    /// See [`TensorView::is_solid`].
    #[inline]
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// Stretched to a shape; the layout is kept in `room` if it is another one.
    ///
    /// # Errors
    /// [`Error::Expand`](crate::Error::Expand) if the sizes do not broadcast.
    #[inline]
    pub fn broadcast_to<'r>(
        self,
        shape: &[usize],
        room: &'r mut Option<Layout>,
    ) -> Result<ViewRef<'r, T>>
    where
        'a: 'r,
    {
        if self.layout.shape() == shape {
            return Ok(self);
        }
        // A broadcast layout reaches the elements that it is made from, and no others.
        Ok(ViewRef { layout: room.insert(self.layout.broadcast_to(shape)?), ..self })
    }

    /// The same, with a layout of its own.
    pub fn to_view(self) -> TensorView<'a, T> {
        // SAFETY: the same invariants.
        unsafe { TensorView::from_raw(self.base, self.layout.clone(), self.solid) }
    }
}

impl<'a, T: Copy> ViewRefMut<'a, T> {
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

    /// A pointer to the place of offset 0. Only the offsets of the layout may be accessed through
    /// it.
    #[inline]
    pub fn base_mut_ptr(&mut self) -> *mut T {
        self.base.as_ptr()
    }

    /// The same elements for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> ViewRefMut<'_, T> {
        ViewRefMut { base: self.base, layout: self.layout, life: PhantomData }
    }

    /// The same, with a layout of its own.
    pub fn into_view(self) -> TensorViewMut<'a, T> {
        // SAFETY: the same invariants; `self` is gone.
        unsafe { TensorViewMut::from_raw(self.base, self.layout.clone()) }
    }
}

impl<'a, T: Copy> From<&'a TensorView<'_, T>> for ViewRef<'a, T> {
    #[inline]
    fn from(view: &'a TensorView<'_, T>) -> Self {
        Self { base: view.base(), layout: view.layout(), solid: view.is_solid(), life: PhantomData }
    }
}

impl<'a, T: Copy> From<&'a mut TensorViewMut<'_, T>> for ViewRefMut<'a, T> {
    #[inline]
    fn from(view: &'a mut TensorViewMut<'_, T>) -> Self {
        Self { base: view.base(), layout: view.layout(), life: PhantomData }
    }
}

impl<T> fmt::Debug for ViewRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "ViewRef", self.layout)
    }
}

impl<T> fmt::Debug for ViewRefMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "ViewRefMut", self.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_made_only_where_a_shape_is_another() {
        let numbers = [1, 2, 3];
        let row = Layout::contiguous(&[3]).unwrap();
        let elements = ViewRef::new(&numbers, &row).unwrap();
        let mut room = None;
        elements.broadcast_to(&[3], &mut room).unwrap();
        assert!(room.is_none());
        let stretched = elements.broadcast_to(&[2, 3], &mut room).unwrap();
        assert_eq!(stretched.layout().strides(), [0, 1]);
        assert_eq!(stretched.to_view().to_vec(), [1, 2, 3, 1, 2, 3]);
        assert!(elements.broadcast_to(&[2], &mut room).is_err());
    }

    #[test]
    fn a_layout_beyond_its_slice_is_refused() {
        assert!(ViewRef::new(&[1, 2], &Layout::contiguous(&[3]).unwrap()).is_err());
    }

    #[test]
    fn a_value_has_no_dimensions() {
        assert_eq!(ViewRef::of_value(&2.5).to_view().to_vec(), [2.5]);
        assert_eq!(Layout::SCALAR, Layout::contiguous(&[]).unwrap());
    }
}
