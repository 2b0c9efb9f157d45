//! Making tensors.

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
        // SAFETY: a vector's elements are aligned and initialised, and there are as many as the
        // layout has.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A tensor of any layout over a vector's memory: NumPy's Fortran-order arrays, rows with
    /// padding.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches beyond the vector.
    pub fn from_vec_with_layout(values: Vec<T>, layout: Layout) -> Result<Self> {
        layout.check_within(values.len(), size_of::<T>())?;
        // SAFETY: a vector's elements are aligned and initialised, and the layout's lie among them
        // as just checked.
        Ok(unsafe { Self::from_storage(Storage::from_vec(values), layout) })
    }

    /// A copy of a slice in row-major order. [`TensorView::new`] views it without copying.
    ///
    /// # Errors
    /// [`Error::ElementCount`], or no memory.
    pub fn from_slice(values: &[T], shape: &[usize]) -> Result<Self> {
        let layout = row_major(shape, values.len())?;
        let mut left = values.iter();
        Self::filled(layout, || *left.next().expect("as many values as elements"))
    }

    /// A row-major tensor of one value (PyTorch: `full`).
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn full(shape: &[usize], value: T) -> Result<Self> {
        Self::filled(Layout::contiguous(shape)?, || value)
    }

    /// A row-major tensor of zeros (PyTorch: `zeros`). The pages are not touched before they are
    /// used.
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn zeros(shape: &[usize]) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        let layout = Layout::contiguous(shape)?;
        let storage = Storage::zeroed(layout.dense_bytes(size_of::<T>())?, align_of::<T>())?;
        // SAFETY: the storage is aligned for `T` and as large as the layout needs; all zeros are a
        // `T`.
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
        let mut fresh = Uninit::new(layout)?;
        for place in fresh.as_view_mut().iter_mut() {
            place.write(next());
        }
        // SAFETY: the loop wrote every element; had `next` panicked, we would not be here.
        Ok(unsafe { fresh.assume_init() })
    }

    /// The values from `start` up to but without `end`, `step` apart (PyTorch: `arange`).
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

/// The row-major layout of so many elements.
fn row_major(shape: &[usize], given: usize) -> Result<Layout> {
    let layout = Layout::contiguous(shape)?;
    match layout.numel() {
        needed if needed == given => Ok(layout),
        needed => Err(Error::ElementCount { shape: shape.to_vec(), needed, given }),
    }
}

/// Numbers that arithmetic progressions are made of: every built-in integer and float type.
pub trait Progression: Element {
    /// How many terms lie before `end`.
    ///
    /// # Errors
    /// A step of 0 or one that leads away from the end; bounds that are not finite.
    fn count(start: Self, end: Self, step: Self) -> Result<usize>;

    /// The term number `at`.
    fn term(start: Self, step: Self, at: usize) -> Self;
}

const ZERO_STEP: Error = Error::Arange { why: "step must be nonzero" };
const WRONG_WAY: Error =
    Error::Arange { why: "upper bound and lower bound inconsistent with step sign" };
const TOO_MANY: Error = Error::Arange { why: "too many values" };

macro_rules! integer_progression {
    ($($type:ty),*) => {$(
        impl Progression for $type {
            fn count(start: Self, end: Self, step: Self) -> Result<usize> {
                let (way, step) = (end as i128 - start as i128, step as i128);
                if step == 0 {
                    return Err(ZERO_STEP);
                }
                if way * step.signum() < 0 {
                    return Err(WRONG_WAY);
                }
                usize::try_from(way.unsigned_abs().div_ceil(step.unsigned_abs())).map_err(|_| TOO_MANY)
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
        return Err(WRONG_WAY);
    }
    let count = ((end - start) / step).ceil();
    if count < isize::MAX as f64 { Ok(count as usize) } else { Err(TOO_MANY) }
}
