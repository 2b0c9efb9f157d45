//! Views and arrays of the crate ndarray.
//!
//! Both libraries describe elements by sizes and signed strides. Here a layout has the offset of
//! the first element from a base pointer; there a pointer points to the first element. ndarray's
//! raw constructors take strides that are not negative, so a flipped view is made over its lowest
//! element, and its axes are inverted after that.
//!
//! Read-only views may have stride 0 on both sides. Mutable views have no two indices on one
//! element on either side; ndarray's sufficient test for it refuses some layouts that ours accepts.

use std::ptr::NonNull;

use ::ndarray::{
    Array, ArrayView, ArrayViewMut, Axis, Dimension, RawArrayView, RawArrayViewMut, RawData,
    ShapeBuilder, StrideShape,
};

use super::{InterchangeError, Result};
use crate::{Element, Layout, ReadKernel, TensorBase, TensorViewBase, TensorViewMutBase};

impl<'a, T: Copy, K> TensorViewBase<'a, T, K> {
    /// The elements of an ndarray view, without copying.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::{arr2, s};
    /// use tensor_kernels::TensorView;
    ///
    /// let array = arr2(&[[1, 2, 3], [4, 5, 6]]);
    /// let mirrored = TensorView::from_ndarray(array.slice(s![.., ..;-1]))?;
    /// assert_eq!(mirrored.strides(), [3, -1]);
    /// assert_eq!(mirrored.to_vec(), [3, 2, 1, 6, 5, 4]);
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Strides that no layout can have: `isize::MIN` for an axis of fewer than two elements.
    #[expect(clippy::needless_pass_by_value, reason = "`array.view()` is what callers write")]
    pub fn from_ndarray<D: Dimension>(array: ArrayView<'a, T, D>) -> Result<Self> {
        let (layout, lowest) = layout_of(array.shape(), array.strides())?;
        let base = at(array.as_ptr().cast_mut(), lowest);
        // SAFETY: `base` is the lowest element of the array, and the layout's offsets lead to its
        // elements, which the array borrows for `'a`. Without elements there are no offsets.
        Ok(unsafe { Self::from_raw_parts(base, layout) })
    }

    /// The same elements as an ndarray view, without copying. Its dimension type has the rank of
    /// this view, or is `IxDyn`.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::{Ix2, arr2};
    /// use tensor_kernels::{Layout, TensorView};
    ///
    /// let pixels = [1, 2, 3, 4, 5, 6];
    /// let view = TensorView::new(&pixels, Layout::contiguous(&[2, 3])?)?;
    /// let columns = view.t()?.to_ndarray::<Ix2>()?;
    /// assert_eq!(columns, arr2(&[[1, 4], [2, 5], [3, 6]]));
    /// assert!(view.to_ndarray::<ndarray::Ix1>().is_err());
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::Rank`].
    pub fn to_ndarray<D: Dimension>(&self) -> Result<ArrayView<'a, T, D>> {
        let parts = Parts::of(self.layout())?;
        let lowest = parts.lowest(self.base());
        // SAFETY: `lowest` and the strides lead to the view's elements and no others, all in one
        // allocation (view invariant 1); the strides are not negative. Without elements the strides
        // are ndarray's own.
        let raw = unsafe { RawArrayView::from_shape_ptr(parts.shape, lowest.as_ptr()) };
        // SAFETY: those elements are readable and not written during `'a` (view invariants 1 and
        // 2), and a view's elements are aligned.
        let mut array = unsafe { raw.deref_into_view() };
        invert(&mut array, self.layout());
        Ok(array)
    }
}

impl<'a, T: Copy, K> TensorViewMutBase<'a, T, K> {
    /// The elements of a mutable ndarray view, without copying.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::{Array2, arr2};
    /// use tensor_kernels::TensorViewMut;
    ///
    /// let mut array = Array2::<i32>::zeros((2, 2));
    /// TensorViewMut::from_ndarray_mut(array.view_mut())?.t()?[[0, 1]] = 7;
    /// assert_eq!(array, arr2(&[[0, 0], [7, 0]]));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WriteOverlap`](crate::Error::WriteOverlap) for strides of which it cannot be shown
    /// that no two indices share an element.
    pub fn from_ndarray_mut<D: Dimension>(mut array: ArrayViewMut<'a, T, D>) -> Result<Self> {
        let (layout, lowest) = layout_of(array.shape(), array.strides())?;
        let base = at(array.as_mut_ptr(), lowest);
        // SAFETY: as in `from_ndarray`; the array borrows its elements mutably for `'a`, and it is
        // consumed.
        Ok(unsafe { Self::from_raw_parts(base, layout) }?)
    }

    /// The same elements as a mutable ndarray view, without copying. `reborrow` first to keep this
    /// view.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::Ix1;
    /// use tensor_kernels::{Layout, Slice, TensorViewMut};
    ///
    /// let mut numbers = [1, 2, 3, 4];
    /// let view = TensorViewMut::new(&mut numbers, Layout::contiguous(&[4])?)?;
    /// let every_second = view.slice(0, Slice::from(..).step_by(2))?;
    /// let mut array = every_second.into_ndarray_mut::<Ix1>()?;
    /// array += 10;
    /// assert_eq!(numbers, [11, 2, 13, 4]);
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::Rank`], [`InterchangeError::Interleaved`].
    pub fn into_ndarray_mut<D: Dimension>(mut self) -> Result<ArrayViewMut<'a, T, D>> {
        check_nested(self.layout())?;
        let parts = Parts::of(self.layout())?;
        let lowest = parts.lowest(self.base());
        // SAFETY: as in `to_ndarray`, with the invariants of mutable views.
        let raw = unsafe { RawArrayViewMut::from_shape_ptr(parts.shape, lowest.as_ptr()) };
        // SAFETY: nobody else accesses the elements during `'a` (invariant 2), as this view is
        // consumed; no two indices share one (invariant 3).
        let mut array = unsafe { raw.deref_into_view_mut() };
        invert(&mut array, self.layout());
        Ok(array)
    }
}

impl<T: Element, K> TensorBase<T, K> {
    /// A tensor that takes over an array's memory, in the array's order, without copying.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::arr2;
    /// use tensor_kernels::Tensor;
    ///
    /// let columns = arr2(&[[1, 2, 3], [4, 5, 6]]).reversed_axes();
    /// let memory = columns.as_ptr();
    /// let tensor = Tensor::from_ndarray(columns)?;
    /// assert_eq!((tensor.strides(), tensor.data_ptr()), (&[1, 3][..], memory));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Strides that no layout can have, as in [`TensorViewBase::from_ndarray`].
    pub fn from_ndarray<D: Dimension>(array: Array<T, D>) -> Result<Self> {
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let (values, first) = array.into_raw_vec_and_offset();
        let layout = Layout::new(&shape, &strides, first.unwrap_or(0))?;
        Ok(Self::from_vec_with_layout(values, layout)?)
    }

    /// The elements as an array that owns them. The memory is not copied if the tensor was made
    /// from a vector or an array, is the only handle to it, and has all of its elements, in any
    /// order of dimensions; otherwise the elements are copied, in logical order, and the ledger of
    /// copies has an entry.
    ///
    /// A tensor that this crate has allocated is always copied: an array frees its memory as a
    /// vector, with the alignment of an element, and that of a tensor has 64 bytes; freeing memory
    /// with another alignment than it was allocated with is undefined behaviour. Three ways need no
    /// copy: a view, `tensor.read()?.as_view().to_ndarray()`; a result that is a vector from the
    /// start, `view.to_vec()` for `Array::from_shape_vec`; and a result in the memory of an array,
    /// [`TensorViewMut::from_ndarray_mut`](TensorViewMutBase::from_ndarray_mut) as the output.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use ndarray::{Ix2, arr2};
    /// use tensor_kernels::Tensor;
    ///
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], [2, 3])?.t()?;
    /// let memory = tensor.data_ptr();
    /// let array = tensor.into_ndarray::<Ix2>()?;
    /// assert_eq!((array.as_ptr(), &array), (memory, &arr2(&[[1, 4], [2, 5], [3, 6]])));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// `into_shared()` of the array makes an `ArcArray` of it.
    ///
    /// # Errors
    /// [`InterchangeError::Rank`], a storage that is being written, no memory.
    #[track_caller]
    pub fn into_ndarray<D: Dimension>(self) -> Result<Array<T, D>>
    where
        K: ReadKernel,
    {
        let parts = Parts::<D>::of(self.layout())?;
        let layout = self.layout().clone();
        match self.into_whole_vec() {
            Ok(values) => {
                let mut array = array(parts.shape, values)?;
                invert(&mut array, &layout);
                Ok(array)
            }
            Err(tensor) => {
                let dense = Layout::contiguous(layout.shape())?;
                array(Parts::of(&dense)?.shape, tensor.copied_to_vec("into_ndarray")?)
            }
        }
    }
}

fn array<T, D: Dimension>(shape: StrideShape<D>, values: Vec<T>) -> Result<Array<T, D>> {
    let refused = |error: ::ndarray::ShapeError| InterchangeError::Malformed {
        format: "ndarray",
        why: error.to_string(),
    };
    Array::from_shape_vec(shape, values).map_err(refused)
}

/// The layout of an array, over its lowest element, and how far that one lies below the first.
///
/// ndarray guarantees what the arithmetic needs: the bytes between any two elements fit an `isize`.
fn layout_of(shape: &[usize], strides: &[isize]) -> Result<(Layout, usize)> {
    let backwards = |(&size, &stride): (&usize, &isize)| match size {
        0 | 1 => 0,
        _ => stride.min(0).unsigned_abs() * (size - 1),
    };
    let lowest = match shape.contains(&0) {
        true => 0,
        false => shape.iter().zip(strides).map(backwards).sum(),
    };
    Ok((Layout::new(shape, strides, lowest)?, lowest))
}

/// The element `below` elements below the first of an array.
fn at<T>(first: *mut T, below: usize) -> NonNull<T> {
    NonNull::new(first.wrapping_sub(below)).expect("the elements of an array do not start at null")
}

/// A layout as ndarray's constructors take it: sizes, and strides without their signs.
struct Parts<D> {
    shape: StrideShape<D>,
    /// The offset of the lowest element; `None` without elements.
    lowest: Option<usize>,
}

impl<D: Dimension> Parts<D> {
    fn of(layout: &Layout) -> Result<Self> {
        let found = layout.ndim();
        if let Some(expected) = D::NDIM.filter(|&expected| expected != found) {
            return Err(InterchangeError::Rank { expected, found });
        }
        let (mut shape, mut strides) = (D::zeros(found), D::zeros(found));
        shape.slice_mut().copy_from_slice(layout.shape());
        let Some((lowest, _)) = layout.bounds() else {
            return Ok(Self { shape: shape.into(), lowest: None });
        };
        // The stride of a dimension of one element is arbitrary here.
        for dim in (0..found).filter(|&dim| layout.shape()[dim] > 1) {
            strides[dim] = layout.strides()[dim].unsigned_abs();
        }
        Ok(Self { shape: shape.strides(strides), lowest: Some(lowest) })
    }

    /// A pointer to the lowest element; without elements one that is only aligned.
    fn lowest<T>(&self, base: NonNull<T>) -> NonNull<T> {
        let Some(lowest) = self.lowest else { return NonNull::dangling() };
        // SAFETY: the lowest offset is one of the layout's, hence in bounds (view invariant 1).
        unsafe { base.add(lowest) }
    }
}

/// ndarray asserts this of mutable views in debug builds.
fn check_nested(layout: &Layout) -> Result<()> {
    let dims = layout.shape().iter().zip(layout.strides()).filter(|&(&size, _)| size > 1);
    let mut dims: Vec<_> = dims.map(|(&size, &stride)| (stride.unsigned_abs(), size)).collect();
    dims.sort_unstable();
    let mut span = 0;
    for (stride, size) in dims {
        if stride <= span && layout.numel() > 0 {
            let (shape, strides) = (layout.shape().to_vec(), layout.strides().to_vec());
            return Err(InterchangeError::Interleaved { shape, strides });
        }
        span += stride.saturating_mul(size - 1);
    }
    Ok(())
}

/// Inverts the axes of negative stride, which `Parts` has made without their signs.
fn invert<S, D>(array: &mut ::ndarray::ArrayBase<S, D>, layout: &Layout)
where
    S: RawData,
    D: Dimension,
{
    let dims = layout.shape().iter().zip(layout.strides()).enumerate();
    for (dim, _) in dims.filter(|&(_, (&size, &stride))| size > 1 && stride < 0) {
        array.invert_axis(Axis(dim));
    }
}

macro_rules! conversions {
    ($([$($generics:tt)*] $from:ty => $to:ty where $($kernel:ident)?, $method:ident;)*) => {$(
        impl<$($generics)*, K $(: $kernel)?, D: Dimension> TryFrom<$from> for $to {
            type Error = InterchangeError;

            fn try_from(from: $from) -> Result<Self> {
                conversions!(@ $method, from)
            }
        }
    )*};
    (@ to_ndarray, $from:ident) => { $from.to_ndarray() };
    (@ into_ndarray_mut, $from:ident) => { $from.into_ndarray_mut() };
    (@ into_ndarray, $from:ident) => { $from.into_ndarray() };
    (@ $method:ident, $from:ident) => { Self::$method($from) };
}

conversions! {
    ['a, T: Copy] ArrayView<'a, T, D> => TensorViewBase<'a, T, K> where, from_ndarray;
    ['a, T: Copy] TensorViewBase<'a, T, K> => ArrayView<'a, T, D> where, to_ndarray;
    ['a, T: Copy] ArrayViewMut<'a, T, D> => TensorViewMutBase<'a, T, K> where, from_ndarray_mut;
    ['a, T: Copy] TensorViewMutBase<'a, T, K> => ArrayViewMut<'a, T, D> where, into_ndarray_mut;
    [T: Element] Array<T, D> => TensorBase<T, K> where, from_ndarray;
    [T: Element] TensorBase<T, K> => Array<T, D> where ReadKernel, into_ndarray;
}
