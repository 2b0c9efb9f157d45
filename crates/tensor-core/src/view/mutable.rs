//! Views through which elements can be written.

use std::{marker::PhantomData, mem::MaybeUninit, ptr::NonNull};

use super::{TensorViewBase, within};
use crate::{
    Bare, Error, Int, IterMut, Layout, Overlap, Result,
    methods::view_methods,
    shape::{reserved, wrap_dim},
};

/// A [`TensorViewMutBase`] of this crate alone: without operators.
pub type TensorViewMut<'a, T> = TensorViewMutBase<'a, T, Bare>;

/// A view through which elements can be written; no two of its indices share one.
///
/// The last type parameter names the kernels of its operators, as that of
/// [`TensorBase`](crate::TensorBase) does.
///
/// # Invariants
/// 1. For every offset of the layout, `base + offset` is valid for reads and writes of an
///    initialised `T` during `'a`.
/// 2. During `'a` those elements are read and written through this view only.
/// 3. Different indices have different offsets.
///
/// Transforms consume the view; [`reborrow`](Self::reborrow) first to keep it. The buffer is
/// mutably borrowed while the view lives:
///
/// ```compile_fail,E0506
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Layout, TensorViewMut};
///
/// let mut grid = [0; 6];
/// let mut view = TensorViewMut::new(&mut grid, Layout::contiguous(&[2, 3])?)?;
/// grid[0] = 1;
/// *view.get_mut(&[0, 0])? = 2;
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub struct TensorViewMutBase<'a, T, K> {
    base: NonNull<T>,
    layout: Layout,
    life: PhantomData<&'a mut T>,
    kernels: PhantomData<fn() -> K>,
}
// SAFETY: a mutable view is a unique reference to its elements (invariant 2).
unsafe impl<T: Send, K> Send for TensorViewMutBase<'_, T, K> {}
// SAFETY: a `&TensorViewMut` gives read access only.
unsafe impl<T: Sync, K> Sync for TensorViewMutBase<'_, T, K> {}

impl<'a, T: Copy, K> TensorViewMutBase<'a, T, K> {
    /// A mutable view of a slice, without copying.
    ///
    /// # Errors
    /// [`Error::TooFewElements`] if the layout reaches beyond the slice, [`Error::WriteOverlap`] if
    /// two of its indices share an element.
    pub fn new(elements: &'a mut [T], layout: Layout) -> Result<Self> {
        layout.check_slice(elements.len())?;
        check_injective(&layout)?;
        let base = NonNull::from(elements).cast();
        // SAFETY: invariants. 1: checked against the slice. 2: the slice is borrowed for `'a`.
        // 3: checked above.
        Ok(unsafe { Self::from_raw(base, layout) })
    }

    /// A mutable view of memory that no slice describes. `base` points to offset 0, which need not
    /// be an element.
    ///
    /// # Safety
    /// During `'a`, for every offset of the layout `base + offset` is in bounds of one allocation,
    /// aligned, and valid for reads and writes of an initialised `T`, and nobody else reads or
    /// writes these elements.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`] if two indices of the layout share an element.
    pub unsafe fn from_raw_parts(base: NonNull<T>, layout: Layout) -> Result<Self> {
        check_injective(&layout)?;
        // SAFETY: invariants 1 and 2 are the caller's. 3: checked above.
        Ok(unsafe { Self::from_raw(base, layout) })
    }

    /// # Safety
    /// All three invariants.
    pub(crate) unsafe fn from_raw(base: NonNull<T>, layout: Layout) -> Self {
        Self { base, layout, life: PhantomData, kernels: PhantomData }
    }

    /// # Safety
    /// The layout reaches only elements that this view's layout reaches.
    unsafe fn derive(self, layout: Layout) -> Result<Self> {
        debug_assert!(within(&self.layout, &layout));
        check_injective(&layout)?;
        // SAFETY: 1 and 2 hold for all elements of this view. 3: checked above.
        Ok(unsafe { Self::from_raw(self.base, layout) })
    }

    view_methods!(self, self);

    pub(crate) fn base(&mut self) -> NonNull<T> {
        self.base
    }

    /// Nobody may write through it while it is used.
    pub(crate) fn shared_base(&self) -> NonNull<T> {
        self.base
    }

    /// A pointer to offset 0. Only the offsets of the layout may be accessed through it.
    #[inline]
    pub fn base_mut_ptr(&mut self) -> *mut T {
        self.base.as_ptr()
    }

    /// The same view with a shorter lifetime.
    pub fn reborrow(&mut self) -> TensorViewMutBase<'_, T, K> {
        // SAFETY: the invariants are those of this view, which is borrowed meanwhile.
        unsafe { TensorViewMutBase::from_raw(self.base, self.layout.clone()) }
    }

    /// The same view, read-only, with a shorter lifetime.
    pub fn as_view(&self) -> TensorViewBase<'_, T, K> {
        // SAFETY: view invariants. 1 and 2: those of this view, which is borrowed meanwhile. 3:
        // gaps are declared unreadable.
        unsafe { TensorViewBase::from_raw(self.base, self.layout.clone(), false) }
    }

    /// The elements as a slice, if the view is contiguous.
    pub fn as_slice_mut(&mut self) -> Option<&mut [T]> {
        if self.numel() == 0 {
            return Some(&mut []);
        }
        if !self.layout.is_contiguous() {
            return None;
        }
        // SAFETY: the offset is one of the layout's (invariant 1).
        let start = unsafe { self.base.add(self.layout.offset()) };
        // SAFETY: the offsets of a contiguous layout are the `numel` ones from its offset on, each
        // valid (invariant 1) and without conflicting access (invariant 2).
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.numel()) })
    }

    /// The element at `index`.
    ///
    /// # Errors
    /// An index of another length than the rank, or beyond a size.
    pub fn get(&self, index: &[usize]) -> Result<T> {
        self.get_ref(index).copied()
    }

    pub(super) fn get_ref(&self, index: &[usize]) -> Result<&T> {
        let offset = self.layout.offset_of(index)?;
        // SAFETY: the offset is one of the layout's (invariant 1).
        let element = unsafe { self.base.add(offset) };
        // SAFETY: invariants 1 and 2; `&self` excludes writes.
        Ok(unsafe { element.as_ref() })
    }

    /// A reference to the element at `index`.
    ///
    /// # Errors
    /// An index of another length than the rank, or beyond a size.
    pub fn get_mut(&mut self, index: &[usize]) -> Result<&mut T> {
        let offset = self.layout.offset_of(index)?;
        // SAFETY: the offset is one of the layout's (invariant 1).
        let mut element = unsafe { self.base.add(offset) };
        // SAFETY: invariants 1 and 2; `&mut self` makes the reference unique.
        Ok(unsafe { element.as_mut() })
    }

    /// References to the elements, in logical order.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::of(self)
    }

    /// Splits the view in two along a dimension: the first `at` indices, and the rest. Both can be
    /// written at the same time.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, TensorViewMut};
    ///
    /// let mut grid = [0; 6];
    /// let view = TensorViewMut::new(&mut grid, Layout::contiguous(&[2, 3])?)?;
    /// let (mut left, mut right) = view.split_at_mut(1, 1)?;
    /// *left.get_mut(&[1, 0])? = 1;
    /// *right.get_mut(&[1, 0])? = 2;
    /// assert_eq!(grid, [0, 0, 0, 1, 2, 0]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension out of range, `at` beyond its size.
    pub fn split_at_mut(self, dim: impl Int, at: usize) -> Result<(Self, Self)> {
        let dim = dim.saturated();
        let axis = wrap_dim("split_at_mut", dim, self.ndim())?;
        let rest = self.shape()[axis].saturating_sub(at);
        let first = self.layout.narrow(dim, 0, at)?;
        let second = self.layout.narrow(dim, at as isize, rest)?;
        // Both parts reach only elements of the view (invariant 1), which is consumed (invariant
        // 2). They have no index in common, hence no element (invariant 3).
        let kernels = PhantomData;
        let part = |layout| Self { base: self.base, layout, life: PhantomData, kernels };
        Ok((part(first), part(second)))
    }

    /// Cuts the view into consecutive parts of `size` indices of a dimension; the last may have
    /// fewer. All of them can be written at the same time (PyTorch: `split`).
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::Tensor;
    ///
    /// let table = Tensor::<u32>::zeros([7, 3])?;
    /// let mut guard = table.write()?;
    /// let parts = guard.as_view_mut()?.split_mut(2, 0)?;
    /// std::thread::scope(|scope| {
    ///     for (number, mut part) in (0..).zip(parts) {
    ///         scope.spawn(move || part.iter_mut().for_each(|element| *element = number));
    ///     }
    /// });
    /// drop(guard);
    /// assert_eq!(table.select(1, 0)?.to_vec()?, [0, 0, 1, 1, 2, 2, 3]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// Several tensors of one storage, with a guard each, can also be
    /// [written at the same time](crate::TensorBase::write). The parts of one view are disjoint by
    /// construction, so nothing has to be compared, and one part can be read while another is
    /// written, wherever they lie.
    ///
    /// # Errors
    /// A dimension out of range, a size of 0.
    pub fn split_mut(self, size: usize, dim: impl Int) -> Result<Vec<Self>> {
        let layouts = self.layout.split(size, dim.saturated())?;
        self.parts(layouts)
    }

    /// One view for every index of a dimension. All of them can be written at the same time
    /// (PyTorch: `unbind`).
    ///
    /// # Errors
    /// A dimension out of range.
    pub fn unbind_mut(self, dim: impl Int) -> Result<Vec<Self>> {
        let layouts = self.layout.unbind(dim.saturated())?;
        self.parts(layouts)
    }

    /// Views of parts of this layout that have no index in common.
    fn parts(self, layouts: Vec<Layout>) -> Result<Vec<Self>> {
        // The invariants hold as in `split_at_mut`.
        let (mut parts, kernels) = (reserved(layouts.len())?, PhantomData);
        let part = |layout| Self { base: self.base, layout, life: PhantomData, kernels };
        parts.extend(layouts.into_iter().map(part));
        Ok(parts)
    }
}

impl<'a, T: Copy, K> TensorViewMutBase<'a, MaybeUninit<T>, K> {
    /// The same view, of initialised elements.
    ///
    /// # Safety
    /// Every element has been written.
    pub unsafe fn assume_init(self) -> TensorViewMutBase<'a, T, K> {
        // SAFETY: invariants 2 and 3 are those of this view. 1: its elements are valid for reads
        // and writes, and the caller has written them.
        unsafe { TensorViewMutBase::from_raw(self.base.cast(), self.layout) }
    }
}
/// Checks invariant 3 of mutable views.
pub(crate) fn check_injective(layout: &Layout) -> Result<()> {
    match layout.self_overlap() {
        Overlap::No => Ok(()),
        overlap => {
            let (shape, strides) = (layout.shape().to_vec(), layout.strides().to_vec());
            Err(Error::WriteOverlap { shape, strides, overlap: Box::new(overlap) })
        }
    }
}
