//! Borrowed views: a pointer and a layout whose offsets are valid for it.
//!
//! Only this module and `elements` combine a pointer with a layout. Constructors check that every
//! element lies in the buffer, and for mutable views that no two indices share an element. Derived
//! views keep these invariants. Users build views over buffers of their own; kernels take the
//! borrowed forms of `elements`.
//!
//! | file | |
//! |---|---|
//! | `mutable` | views through which elements can be written |
//! | `access` | reading through mutable views, indexing, loops |
//! | `equal` | comparison, by the kernels of a view or in rows |
//! | `debug` | the text for debugging |

mod access;
mod debug;
mod equal;
mod mutable;

use std::{convert::Infallible, marker::PhantomData, ops::ControlFlow, ptr::NonNull};

pub(crate) use debug::{FirstElements, describe};
pub(crate) use equal::equal_by_rows;
pub(crate) use mutable::check_injective;
pub use mutable::{TensorViewMut, TensorViewMutBase};

use crate::{
    Bare, Element, Error, Iter, Layout, ReadKernel, Result,
    buffer::vec_with_capacity,
    layout::pairs::for_each_row,
    methods::{split_methods, view_methods},
    operators::or_panic,
};

/// A [`TensorViewBase`] of this crate alone: without operators.
pub type TensorView<'a, T> = TensorViewBase<'a, T, Bare>;

/// A read-only view of elements that lie at the offsets of a layout.
///
/// The last type parameter names the kernels of its operators, as that of
/// [`TensorBase`](crate::TensorBase) does.
///
/// # Invariants
/// 1. For every offset of the layout, `base + offset` is valid for reads of an initialised `T`
///    during `'a`.
/// 2. Those elements are not written during `'a`.
/// 3. If `gaps_readable`, both hold for every offset between the lowest and the highest element.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Layout, TensorView};
///
/// let pixels = [1u8, 2, 3, 4, 5, 6];
/// let columns = TensorView::new(&pixels, Layout::contiguous(&[2, 3])?)?.t()?;
/// assert_eq!(columns.iter().collect::<Vec<_>>(), [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub struct TensorViewBase<'a, T, K> {
    base: NonNull<T>,
    layout: Layout,
    gaps_readable: bool,
    life: PhantomData<&'a T>,
    kernels: PhantomData<fn() -> K>,
}
// SAFETY: a read-only view is a shared reference to its elements.
unsafe impl<T: Sync, K> Send for TensorViewBase<'_, T, K> {}
// SAFETY: as above.
unsafe impl<T: Sync, K> Sync for TensorViewBase<'_, T, K> {}

impl<T, K> Clone for TensorViewBase<'_, T, K> {
    fn clone(&self) -> Self {
        let Self { base, gaps_readable, .. } = *self;
        let layout = self.layout.clone();
        Self { base, layout, gaps_readable, life: PhantomData, kernels: PhantomData }
    }
}

impl<'a, T: Copy, K> TensorViewBase<'a, T, K> {
    /// A view of a slice, without copying.
    ///
    /// # Errors
    /// [`Error::TooFewElements`] if the layout reaches beyond the slice.
    pub fn new(elements: &'a [T], layout: Layout) -> Result<Self> {
        layout.check_slice(elements.len())?;
        let base = NonNull::from(elements).cast();
        // SAFETY: invariants. 1 and 3: checked against the slice. 2: the slice is borrowed for
        // `'a`.
        Ok(unsafe { Self::from_raw(base, layout, true) })
    }

    /// A view of memory that no slice describes: of another library, or a part of which someone
    /// writes meanwhile. `base` points to offset 0, which need not be an element.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::ptr::NonNull;
    /// use tensor_kernels::{Layout, TensorView};
    ///
    /// let pixels = [1u8, 2, 3, 4, 5, 6];
    /// let base = NonNull::from(&pixels).cast::<u8>();
    /// let layout = Layout::from_byte_strides(&[3, 2], &[1, 3], 0, 1)?;
    /// // SAFETY: the offsets 0 to 5 lie in the array, which outlives the view and is not written.
    /// let columns = unsafe { TensorView::from_raw_parts(base, layout) };
    /// assert_eq!(columns.to_vec(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Safety
    /// During `'a`, for every offset of the layout `base + offset` is in bounds of one allocation,
    /// aligned, and valid for reads of an initialised `T`, and nobody writes these elements.
    pub unsafe fn from_raw_parts(base: NonNull<T>, layout: Layout) -> Self {
        let has_no_gaps = layout.is_dense_signed();
        // SAFETY: invariants 1 and 2 are the caller's. 3: there are no gaps, or they are declared
        // unreadable.
        unsafe { Self::from_raw(base, layout, has_no_gaps) }
    }

    /// # Safety
    /// All three invariants.
    pub(crate) unsafe fn from_raw(base: NonNull<T>, layout: Layout, gaps_readable: bool) -> Self {
        Self { base, layout, gaps_readable, life: PhantomData, kernels: PhantomData }
    }

    /// # Safety
    /// The layout reaches only elements that this view's layout reaches.
    unsafe fn derive(&self, layout: Layout) -> Result<Self> {
        debug_assert!(within(&self.layout, &layout));
        // SAFETY: the invariants hold for all elements of this view.
        Ok(unsafe { Self::from_raw(self.base, layout, self.gaps_readable) })
    }

    view_methods!(self, &self);
    split_methods!();

    /// The same bytes as elements of another type (PyTorch: `view(dtype)`).
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, TensorView};
    ///
    /// let pixels = [[1u8, 2, 3, 4], [5, 6, 7, 8]];
    /// let bytes = TensorView::new(pixels.as_flattened(), Layout::contiguous(&[2, 4])?)?;
    /// assert_eq!(bytes.view_dtype::<[u8; 4]>()?.to_vec(), [[1, 2, 3, 4], [5, 6, 7, 8]]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ViewDType`] where the layout does not allow another width, [`Error::Misaligned`]
    /// for memory that does not suit the new type.
    pub fn view_dtype<U: Element + bytemuck::Pod>(&self) -> Result<TensorViewBase<'a, U, K>>
    where
        T: bytemuck::Pod,
    {
        let layout = self.layout.view_as_width(size_of::<T>(), size_of::<U>())?;
        let address = self.base.addr().get();
        if !address.is_multiple_of(align_of::<U>()) {
            return Err(Error::Misaligned { address, align: align_of::<U>() });
        }
        // SAFETY: view invariants. 1: the new layout covers the same bytes, which are initialised
        // and aligned for `U` as checked, and every bit pattern is a valid `U: Pod`. 2 and 3: as of
        // this view.
        Ok(unsafe { TensorViewBase::from_raw(self.base.cast(), layout, self.gaps_readable) })
    }

    pub(crate) fn base(&self) -> NonNull<T> {
        self.base
    }

    /// A pointer to offset 0. Only the offsets of the layout may be read through it.
    #[inline]
    pub fn base_ptr(&self) -> *const T {
        self.base.as_ptr()
    }

    /// Whether the gaps between the elements can be read too. This is so for views of a slice and
    /// of a tensor's read guard. It is not if other elements of the storage may be written
    /// meanwhile.
    #[inline]
    pub fn gaps_readable(&self) -> bool {
        self.gaps_readable
    }

    /// The elements as a slice, if the view is contiguous.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.numel() == 0 {
            return Some(&[]);
        }
        if !self.layout.is_contiguous() {
            return None;
        }
        // SAFETY: the offset is one of the layout's (invariant 1).
        let start = unsafe { self.base.add(self.layout.offset()) };
        // SAFETY: the offsets of a contiguous layout are the `numel` ones from its offset on, each
        // valid (invariant 1) and without conflicting access (invariant 2).
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), self.numel()) })
    }

    /// The memory from the lowest element to the highest, with all that lies between them, and the
    /// layout of the elements in it. `None` if the gaps [cannot be read](Self::gaps_readable).
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, TensorView};
    ///
    /// let numbers = [0, 1, 2, 3, 4, 5, 6, 7];
    /// let view = TensorView::new(&numbers, Layout::new(&[2], &[-3], 5)?)?;
    /// let (span, layout) = view.as_span().expect("a view of a slice");
    /// assert_eq!((span, layout.offset()), (&[2, 3, 4, 5][..], 3));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn as_span(&self) -> Option<(&'a [T], Layout)> {
        let Some((lowest, highest)) = self.layout.bounds() else {
            return Some((&[], self.layout.clone()));
        };
        let offset = self.layout.offset() - lowest;
        let within = Layout::new(self.shape(), self.strides(), offset).ok()?;
        if !self.gaps_readable {
            return None;
        }
        // SAFETY: the lowest offset is one of the layout's (invariant 1).
        let start = unsafe { self.base.add(lowest) };
        // SAFETY: every element from the lowest to the highest can be read (invariants 1 to 3).
        let span = unsafe { std::slice::from_raw_parts(start.as_ptr(), highest - lowest + 1) };
        Some((span, within))
    }

    /// The element at `index`.
    ///
    /// # Errors
    /// An index of another length than the rank, or beyond a size.
    pub fn get(&self, index: &[usize]) -> Result<T> {
        self.get_ref(index).copied()
    }

    fn get_ref(&self, index: &[usize]) -> Result<&'a T> {
        let offset = self.layout.offset_of(index)?;
        // SAFETY: the offset is one of the layout's (invariant 1).
        let element = unsafe { self.base.add(offset) };
        // SAFETY: invariants 1 and 2.
        Ok(unsafe { element.as_ref() })
    }

    /// The elements in logical order.
    pub fn iter(&self) -> Iter<'a, T> {
        Iter::of(self)
    }

    /// The elements in logical order, as a vector, without kernels.
    pub(crate) fn rows_to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec_with_capacity(self.numel())?;
        match self.as_slice() {
            Some(slice) => values.extend_from_slice(slice),
            None => self.append_to(&mut values)?,
        }
        Ok(values)
    }

    /// Appends the elements in logical order. They are written in an order that suits the memory of
    /// both.
    #[expect(clippy::disallowed_methods, reason = "the result is a vector, not a tensor")]
    fn append_to(&self, values: &mut Vec<T>) -> Result<()> {
        let (before, dense) = (values.len(), Layout::contiguous(self.shape())?);
        let spare = &mut values.spare_capacity_mut()[..self.numel()];
        let ControlFlow::Continue(()) = for_each_row([&dense, &self.layout], |row| {
            let elements = (0..row.len).map(|i| {
                // SAFETY: the rows visit offsets of the layout (invariant 1).
                let element = unsafe { self.base.add(row.offset(1, i)) };
                // SAFETY: invariants 1 and 2.
                unsafe { element.read() }
            });
            // The innermost dimension of the dense layout has stride 1.
            let written = &mut spare[row.starts[0]..][..row.len];
            written.iter_mut().zip(elements).for_each(|(to, element)| _ = to.write(element));
            ControlFlow::<Infallible>::Continue(())
        });
        // SAFETY: the rows visit each index of the dense layout, so `numel` elements from the first
        // spare one on have been written.
        unsafe { values.set_len(before + self.numel()) };
        Ok(())
    }

    /// The contiguous runs of the view, in logical order (see [`Layout::runs`]).
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &'a [T]> + use<'a, T, K> {
        let base = self.base;
        self.layout.runs().map(move |(offset, len)| {
            // SAFETY: the offset is one of the layout's (invariant 1).
            let start = unsafe { base.add(offset) };
            // SAFETY: the `len` offsets of a run belong to the layout (invariants 1 and 2).
            unsafe { std::slice::from_raw_parts(start.as_ptr(), len) }
        })
    }
}

impl<T: Element, K: ReadKernel> TensorViewBase<'_, T, K> {
    /// The elements in logical order, as a vector, copied by the kernels of the view.
    ///
    /// Elements that are `Copy` only, no [`Element`]s, are collected by [`iter`](Self::iter).
    ///
    /// # Panics
    /// Where [`try_to_vec`](Self::try_to_vec) returns an error: if memory is short, or where copies
    /// are forbidden.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T> {
        or_panic(self.try_to_vec())
    }

    /// The elements in logical order, as a vector, copied by the kernels of the view.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: an expanded view can have more elements than fit in memory. What
    /// [`ReadKernel::will_copy`] refuses.
    #[track_caller]
    pub fn try_to_vec(&self) -> Result<Vec<T>> {
        K::will_copy("to_vec", self.into())?;
        K::to_vec(self.into())
    }
}

/// Do the bounds of `part` lie within those of `whole`? Necessary for a derived layout.
fn within(whole: &Layout, part: &Layout) -> bool {
    match (whole.bounds(), part.bounds()) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(outer), Some(inner)) => outer.0 <= inner.0 && inner.1 <= outer.1,
    }
}
