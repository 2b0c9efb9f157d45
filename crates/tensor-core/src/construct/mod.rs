//! Constructors of tensors: from vectors and slices, of one value, of an arithmetic progression.

mod nested;
mod special;

pub use nested::NestedArray;

#[cfg(doc)]
use crate::TensorView;
use crate::{
    Element, Error, Int, Layout, Result, Sizes, Storage, TensorBase, Uninit,
    element::assert_occupies_memory,
};

/// Made of vectors, slices, functions, single values, and memory of other owners.
impl<T: Element, K> TensorBase<T, K> {
    /// A tensor that takes over a vector's memory, in row-major order (PyTorch: `torch.tensor`).
    ///
    /// # Errors
    /// [`Error::ElementCount`] if the vector's length is not the shape's number of elements.
    pub fn from_vec(values: Vec<T>, shape: impl Sizes) -> Result<Self> {
        let layout = row_major(&shape.into_shape()?, values.len())?;
        // SAFETY: tensor invariants. 1: a vector's elements are aligned and initialised. 2: the
        // row-major layout has as many elements as the vector, as `row_major` has checked.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A tensor of any layout over a vector's memory: NumPy's Fortran-order arrays, rows with
    /// padding.
    ///
    /// # Errors
    /// [`Error::TooFewElements`] if the layout reaches beyond the vector.
    pub fn from_vec_with_layout(values: Vec<T>, layout: Layout) -> Result<Self> {
        layout.check_slice(values.len())?;
        // SAFETY: tensor invariants. 1: a vector's elements are aligned and initialised. 2: checked
        // by `check_slice`.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A tensor over memory that another value owns, such as an `Arc<[T]>` or a memory map, without
    /// copying. It can be read only. The owner is dropped with the last tensor that shares it.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::sync::Arc;
    /// use tensor_kernels::{Error, Layout, Tensor};
    ///
    /// let weights: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// let tensor = Tensor::from_owner(Arc::clone(&weights), Layout::contiguous(&[2, 3])?)?;
    /// assert_eq!(tensor.data_ptr(), weights.as_ptr());
    /// assert_eq!(tensor.t()?.get(&[2, 1])?, 6.0);
    /// assert!(matches!(tensor.write(), Err(Error::ReadOnly)));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooFewElements`] if the layout reaches beyond the owner's slice.
    pub fn from_owner<O>(owner: O, layout: Layout) -> Result<Self>
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        Self::over(Storage::from_owner(owner), layout)
    }

    /// As [`from_owner`](Self::from_owner), over memory that can be written, too.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, Tensor};
    ///
    /// let pixels: Box<[u8]> = Box::new([0; 6]);
    /// let image = Tensor::from_owner_mut(pixels, Layout::contiguous(&[2, 3])?)?;
    /// image.set(&[1, 2], 255)?;
    /// assert_eq!(image.to_vec()?, [0, 0, 0, 0, 0, 255]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooFewElements`] if the layout reaches beyond the owner's slice.
    pub fn from_owner_mut<O>(owner: O, layout: Layout) -> Result<Self>
    where
        O: AsMut<[T]> + Send + Sync + 'static,
    {
        Self::over(Storage::from_owner_mut(owner), layout)
    }

    /// A tensor of a storage of initialised elements `T`.
    fn over(storage: Storage, layout: Layout) -> Result<Self> {
        const { assert_occupies_memory::<T>() };
        layout.check_slice(storage.len::<T>())?;
        // SAFETY: tensor invariants. 1: the elements of a slice are aligned and initialised. 2:
        // checked by `check_slice`.
        Ok(unsafe { Self::from_storage(storage, layout) })
    }

    /// A copy of a slice in row-major order. [`TensorView::new`] views it without copying.
    ///
    /// # Errors
    /// [`Error::ElementCount`], or no memory.
    pub fn from_slice(values: &[T], shape: impl Sizes) -> Result<Self> {
        let layout = row_major(&shape.into_shape()?, values.len())?;
        let mut values = values.iter();
        Self::filled(layout, || *values.next().expect("as many values as elements"))
    }

    /// A row-major tensor of one value (PyTorch: `full`).
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn full(shape: impl Sizes, value: T) -> Result<Self> {
        Self::full_of(Layout::contiguous(&shape.into_shape()?)?, value)
    }

    /// A row-major tensor of zeros (PyTorch: `zeros`). The system provides zeroed pages on first
    /// use.
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn zeros(shape: impl Sizes) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        Self::zeroed(Layout::contiguous(&shape.into_shape()?)?)
    }

    /// A row-major tensor of zeros with padding: dimension `dim` has the stride `stride`, in
    /// elements (PyTorch: `torch.empty_strided`, then `zero_()`).
    ///
    /// Rows that are an odd number of cache lines apart do not share the sets of caches;
    /// [`lints`](Self::lints) proposes such a stride.
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let padded = Tensor::<f32>::zeros_padded(&[3, 1000, 1024], -2, 1040)?;
    /// assert_eq!(padded.strides(), [1_040_000, 1040, 1]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Layout::padded`]: a dimension out of range, a stride that is too small; no
    /// memory.
    pub fn zeros_padded(shape: impl Sizes, dim: impl Int, stride: usize) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        Self::zeroed(Layout::padded(&shape.into_shape()?, dim.saturated(), stride)?)
    }

    /// Zeros for a layout, up to its last element.
    fn zeroed(layout: Layout) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        let len = layout.bounds().map_or(0, |(_, highest)| highest + 1);
        let bytes = Layout::contiguous([len])?.dense_bytes(size_of::<T>())?;
        let storage = Storage::zeroed(bytes, align_of::<T>())?;
        // SAFETY: tensor invariants. 1: the storage is aligned for `T`, and zero bytes are a valid
        // `T: Zeroable`. 2: it reaches to the highest offset of the layout.
        Ok(unsafe { Self::from_storage(storage, layout) })
    }

    /// A row-major tensor whose elements are computed from their indices (NumPy: `fromfunction`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let table = Tensor::from_fn([3, 3], |i| i[0] * 10 + i[1])?;
    /// assert_eq!(table.get(&[2, 1])?, 21);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn from_fn(shape: impl Sizes, mut value: impl FnMut(&[usize]) -> T) -> Result<Self> {
        let shape = shape.into_shape()?;
        let mut index = vec![0; shape.len()];
        Self::filled(Layout::contiguous(&shape)?, || {
            let now = value(&index);
            for (i, &size) in index.iter_mut().zip(&shape).rev() {
                *i = (*i + 1) % size;
                if *i != 0 {
                    break;
                }
            }
            now
        })
    }

    /// Fills a dense layout in logical order.
    fn filled(layout: Layout, mut next: impl FnMut() -> T) -> Result<Self> {
        let mut uninit = Uninit::new(layout)?;
        for element in uninit.as_view_mut().iter_mut() {
            element.write(next());
        }
        // SAFETY: the loop wrote every element. If `next` panics this line is not reached.
        Ok(unsafe { uninit.assume_init() })
    }

    /// The values from `start` to `end`, `end` excluded, `step` apart (PyTorch: `arange`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::arange(1i32, 8, 3)?.to_vec()?, [1, 4, 7]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0 or one that leads away from the end; bounds that are not finite; no memory.
    pub fn arange(start: T, end: T, step: T) -> Result<Self>
    where
        T: Progression,
    {
        Self::of_terms(T::count(start, end, step)?, |at| T::term(start, step, at))
    }

    /// A vector of terms, of which each has an index.
    pub(crate) fn of_terms(len: usize, term: impl Fn(usize) -> T) -> Result<Self> {
        let mut at = 0..len;
        Self::filled(Layout::contiguous([len])?, || term(at.next().unwrap_or(0)))
    }
}

/// The row-major layout of a shape, which must have `given` elements.
fn row_major(shape: &[usize], given: usize) -> Result<Layout> {
    let layout = Layout::contiguous(shape)?;
    match layout.numel() {
        needed if needed == given => Ok(layout),
        needed => Err(Error::ElementCount { shape: shape.to_vec(), needed, given }),
    }
}

/// Numbers of which [`arange`](TensorBase::arange) makes arithmetic progressions: every built-in
/// integer and float type.
pub trait Progression: Element {
    /// The number of terms before `end`.
    ///
    /// # Errors
    /// A step of 0 or one that leads away from the end; bounds that are not finite.
    fn count(start: Self, end: Self, step: Self) -> Result<usize>;

    /// The term with index `at`.
    fn term(start: Self, step: Self, at: usize) -> Self;

    /// The value with index `at` of `steps` values at equal distances from `start` to `end`.
    fn between(start: Self, end: Self, steps: usize, at: usize) -> Self;
}

const ZERO_STEP: Error = Error::Arange { why: "step must be nonzero" };
const WRONG_SIGN: Error =
    Error::Arange { why: "upper bound and lower bound inconsistent with step sign" };
const TOO_MANY: Error = Error::Arange { why: "too many values" };

macro_rules! integer_progression {
    ($($type:ty),*) => {$(
        impl Progression for $type {
            fn count(start: Self, end: Self, step: Self) -> Result<usize> {
                integer_count(start as i128, end as i128, step as i128)
            }

            fn term(start: Self, step: Self, at: usize) -> Self {
                start.wrapping_add(step.wrapping_mul(at as $type))
            }

            fn between(start: Self, end: Self, steps: usize, at: usize) -> Self {
                between(start as f64, end as f64, steps, at) as $type
            }
        }
    )*};
}

integer_progression!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

macro_rules! float_progression {
    ($($(#[$gate:meta])* $type:ty, $to:expr, $from:expr;)*) => {$(
        $(#[$gate])*
        impl Progression for $type {
            fn count(start: Self, end: Self, step: Self) -> Result<usize> {
                float_count($to(start), $to(end), $to(step))
            }

            fn term(start: Self, step: Self, at: usize) -> Self {
                $from($to(start) + $to(step) * at as f64)
            }

            fn between(start: Self, end: Self, steps: usize, at: usize) -> Self {
                $from(between($to(start), $to(end), steps, at))
            }
        }
    )*};
}

float_progression! {
    f32, f64::from, |x: f64| x as f32;
    f64, f64::from, |x: f64| x;
    #[cfg(feature = "half")] half::f16, half::f16::to_f64, half::f16::from_f64;
    #[cfg(feature = "half")] half::bf16, half::bf16::to_f64, half::bf16::from_f64;
}

/// From the nearer end, as in PyTorch, so that both ends are exact.
fn between(start: f64, end: f64, steps: usize, at: usize) -> f64 {
    let last = steps.saturating_sub(1);
    if last == 0 {
        return start;
    }
    let step = (end - start) / last as f64;
    if at < steps / 2 { start + step * at as f64 } else { end - step * (last - at) as f64 }
}

/// The number of terms before `end`; see [`Progression::count`].
pub(crate) fn integer_count(start: i128, end: i128, step: i128) -> Result<usize> {
    let distance = end.checked_sub(start).ok_or(TOO_MANY)?;
    if step == 0 {
        return Err(ZERO_STEP);
    }
    if distance.signum() * step.signum() < 0 {
        return Err(WRONG_SIGN);
    }
    let count = distance.unsigned_abs().div_ceil(step.unsigned_abs());
    usize::try_from(count).map_err(|_| TOO_MANY)
}

/// The same in double precision.
pub(crate) fn float_count(start: f64, end: f64, step: f64) -> Result<usize> {
    if !start.is_finite() || !end.is_finite() || !step.is_finite() {
        return Err(Error::Arange { why: "start, end and step must be finite" });
    }
    if step == 0.0 {
        return Err(ZERO_STEP);
    }
    if (end - start) * step.signum() < 0.0 {
        return Err(WRONG_SIGN);
    }
    let count = ((end - start) / step).ceil();
    if count < isize::MAX as f64 { Ok(count as usize) } else { Err(TOO_MANY) }
}
