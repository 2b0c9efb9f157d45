//! Constructors of tensors: from vectors and slices, of one value, of an arithmetic progression.

#[cfg(doc)]
use crate::TensorView;
use crate::{Element, Error, Layout, Result, Storage, TensorBase, Uninit};

impl<T: Element, K> TensorBase<T, K> {
    /// A tensor that takes over a vector's memory, in row-major order (PyTorch: `torch.tensor`).
    ///
    /// # Errors
    /// [`Error::ElementCount`] if the vector's length is not the shape's number of elements.
    pub fn from_vec(values: Vec<T>, shape: &[usize]) -> Result<Self> {
        let layout = row_major(shape, values.len())?;
        // SAFETY: tensor invariants. 1: a vector's elements are aligned and initialised. 2: the
        // row-major layout has as many elements as the vector, as `row_major` has checked.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A tensor of any layout over a vector's memory: NumPy's Fortran-order arrays, rows with
    /// padding.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches beyond the vector.
    pub fn from_vec_with_layout(values: Vec<T>, layout: Layout) -> Result<Self> {
        layout.check_within(values.len(), size_of::<T>())?;
        // SAFETY: tensor invariants. 1: a vector's elements are aligned and initialised. 2: checked
        // by `check_within`.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A copy of a slice in row-major order. [`TensorView::new`] views it without copying.
    ///
    /// # Errors
    /// [`Error::ElementCount`], or no memory.
    pub fn from_slice(values: &[T], shape: &[usize]) -> Result<Self> {
        let layout = row_major(shape, values.len())?;
        let mut values = values.iter();
        Self::filled(layout, || *values.next().expect("as many values as elements"))
    }

    /// A row-major tensor of one value (PyTorch: `full`).
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn full(shape: &[usize], value: T) -> Result<Self> {
        Self::filled(Layout::contiguous(shape)?, || value)
    }

    /// A row-major tensor of zeros (PyTorch: `zeros`). The system provides zeroed pages on first
    /// use.
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn zeros(shape: &[usize]) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        Self::zeroed(Layout::contiguous(shape)?)
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
    pub fn zeros_padded(shape: &[usize], dim: isize, stride: usize) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        Self::zeroed(Layout::padded(shape, dim, stride)?)
    }

    /// Zeros for a layout, up to its last element.
    fn zeroed(layout: Layout) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        let len = layout.bounds().map_or(0, |(_, highest)| highest + 1);
        let bytes = Layout::contiguous(&[len])?.dense_bytes(size_of::<T>())?;
        let storage = Storage::zeroed(bytes, align_of::<T>())?;
        // SAFETY: tensor invariants. 1: the storage is aligned for `T`, and zero bytes are a valid
        // `T: Zeroable`. 2: it reaches to the highest offset of the layout.
        Ok(unsafe { Self::from_storage(storage, layout) })
    }

    /// A row-major tensor whose elements are computed from their indices (NumPy: `fromfunction`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let table = Tensor::from_fn(&[3, 3], |i| i[0] * 10 + i[1])?;
    /// assert_eq!(table.get(&[2, 1])?, 21);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn from_fn(shape: &[usize], mut value: impl FnMut(&[usize]) -> T) -> Result<Self> {
        let mut index = vec![0; shape.len()];
        Self::filled(Layout::contiguous(shape)?, || {
            let now = value(&index);
            for (i, &size) in index.iter_mut().zip(shape).rev() {
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
        let len = T::count(start, end, step)?;
        let mut at = 0..len;
        Self::filled(Layout::contiguous(&[len])?, || T::term(start, step, at.next().unwrap_or(0)))
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
}

const ZERO_STEP: Error = Error::Arange { why: "step must be nonzero" };
const WRONG_SIGN: Error =
    Error::Arange { why: "upper bound and lower bound inconsistent with step sign" };
const TOO_MANY: Error = Error::Arange { why: "too many values" };

macro_rules! integer_progression {
    ($($type:ty),*) => {$(
        impl Progression for $type {
            fn count(start: Self, end: Self, step: Self) -> Result<usize> {
                let (distance, step) = (end as i128 - start as i128, step as i128);
                if step == 0 {
                    return Err(ZERO_STEP);
                }
                if distance * step.signum() < 0 {
                    return Err(WRONG_SIGN);
                }
                let count = distance.unsigned_abs().div_ceil(step.unsigned_abs());
                usize::try_from(count).map_err(|_| TOO_MANY)
            }

            fn term(start: Self, step: Self, at: usize) -> Self {
                start.wrapping_add(step.wrapping_mul(at as $type))
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
        }
    )*};
}

float_progression! {
    f32, f64::from, |x: f64| x as f32;
    f64, f64::from, |x: f64| x;
    #[cfg(feature = "half")] half::f16, half::f16::to_f64, half::f16::from_f64;
    #[cfg(feature = "half")] half::bf16, half::bf16::to_f64, half::bf16::from_f64;
}

fn float_count(start: f64, end: f64, step: f64) -> Result<usize> {
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
