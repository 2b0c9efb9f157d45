//! Constructors of tensors of run-time dtypes. What is not here is made typed, and converted:
//! `AnyTensor::from(Tensor::from_vec(…)?)`.

use super::{AnyTensorBase, AnyValue, views::on_variant};
use crate::{
    DType, DTypeError, Int, Progression, Result, Sizes, TensorBase,
    construct::{float_count, integer_count},
    dtype::{Category, for_each_dtype},
};

/// An expression with `$t` for the element type; [`DTypeError::NotInBuild`] if there is none.
macro_rules! of_dtype {
    ([$dtype:expr, $t:ident => $value:expr]
     $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        match $dtype {
            $(
                $(#[$gate])*
                DType::$variant => {
                    type $t = $type;
                    $value
                }
            )*
            #[allow(unreachable_patterns, reason = "a build with all features")]
            dtype => Err(DTypeError::NotInBuild { dtype }.into()),
        }
    };
}

/// The same for the types that have progressions: integers and floats.
macro_rules! of_progression {
    ($op:literal, $dtype:expr, $t:ident => $value:expr) => {
        match $dtype {
            DType::Bool | DType::C64 | DType::C128 => {
                Err(DTypeError::Unsupported { op: $op, dtype: $dtype }.into())
            }
            dtype => of_progression!(@arms dtype, $t => $value;
                U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64,
                F32 f32, F64 f64,
                #[cfg(feature = "half")] F16 half::f16, #[cfg(feature = "half")] Bf16 half::bf16),
        }
    };
    (@arms $dtype:ident, $t:ident => $value:expr;
     $($(#[$gate:meta])* $variant:ident $type:ty),*) => {
        match $dtype {
            $(
                $(#[$gate])*
                DType::$variant => {
                    type $t = $type;
                    $value
                }
            )*
            dtype => Err(DTypeError::NotInBuild { dtype }.into()),
        }
    };
}

impl<K> AnyTensorBase<K> {
    /// A row-major tensor of zeros (PyTorch: `zeros(…, dtype=…)`).
    ///
    /// # Errors
    /// A shape too large, no memory, [`DTypeError::NotInBuild`].
    pub fn zeros(shape: impl Sizes, dtype: DType) -> Result<Self> {
        for_each_dtype!(of_dtype, dtype, T => TensorBase::<T, K>::zeros(shape).map(Self::from))
    }

    /// A row-major tensor of ones (PyTorch: `ones(…, dtype=…)`).
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros).
    pub fn ones(shape: impl Sizes, dtype: DType) -> Result<Self> {
        Self::full(shape, 1, dtype)
    }

    /// A row-major tensor of one value, converted to the dtype (PyTorch: `full`). See
    /// [`AnyValue::checked_to`].
    ///
    /// # Errors
    /// [`DTypeError::ValueOverflow`]; those of [`zeros`](Self::zeros).
    pub fn full(shape: impl Sizes, value: impl Into<AnyValue>, dtype: DType) -> Result<Self> {
        let value = value.into();
        for_each_dtype!(of_dtype, dtype, T => {
            TensorBase::<T, K>::full(shape, value.checked_to()?).map(Self::from)
        })
    }

    /// A row-major tensor of zeros with padding: dimension `dim` has the stride `stride`, in
    /// elements. See [`TensorBase::zeros_padded`].
    ///
    /// # Errors
    /// Those of [`TensorBase::zeros_padded`]; [`DTypeError::NotInBuild`].
    pub fn zeros_padded(
        shape: impl Sizes,
        dim: impl Int,
        stride: usize,
        dtype: DType,
    ) -> Result<Self> {
        for_each_dtype!(of_dtype, dtype, T => {
            TensorBase::<T, K>::zeros_padded(shape, dim, stride).map(Self::from)
        })
    }

    /// A matrix with ones on its main diagonal and zeros elsewhere (PyTorch: `eye(…, dtype=…)`).
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros).
    pub fn eye(rows: usize, columns: usize, dtype: DType) -> Result<Self> {
        for_each_dtype!(of_dtype, dtype, T => {
            TensorBase::<T, K>::eye(rows, columns).map(Self::from)
        })
    }

    /// The values from `start` to `end`, `end` excluded, `step` apart (PyTorch:
    /// `arange(…, dtype=…)`).
    ///
    /// The three are not converted to the dtype before the values are counted: three integers are
    /// counted exactly, others in double precision. Floats are computed in double precision, too,
    /// and rounded; integers from `start` and `step` as integers.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, AnyValue, DType};
    ///
    /// let halves = AnyTensor::arange(0, 2, 0.5, DType::F32)?;
    /// assert_eq!((halves.shape(), halves.get(&[3])?), (&[4][..], AnyValue::Float(1.5)));
    /// let tenths = AnyTensor::arange(0.0, 0.3, 0.1, DType::F32)?;
    /// assert_eq!(tenths.shape(), [3]); // as f32 0.3 is more than three times 0.1
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`TensorBase::arange`]; [`DTypeError::Unsupported`] for bool and complex numbers;
    /// [`DTypeError::NotInBuild`].
    pub fn arange(
        start: impl Into<AnyValue>,
        end: impl Into<AnyValue>,
        step: impl Into<AnyValue>,
        dtype: DType,
    ) -> Result<Self> {
        let (start, end, step) = (start.into(), end.into(), step.into());
        let [first, end_at, by] = [start, end, step].map(AnyValue::to::<f64>);
        let count = || match (start, end, step) {
            (AnyValue::Int(start), AnyValue::Int(end), AnyValue::Int(step)) => {
                integer_count(start, end, step)
            }
            _ => float_count(first, end_at, by),
        };
        of_progression!("arange", dtype, T => {
            let tensor = match dtype.category() {
                Category::Float => {
                    let term = |at: usize| AnyValue::Float(first + by * at as f64).to();
                    TensorBase::<T, K>::of_terms(count()?, term)
                }
                _ => {
                    let term = |at| T::term(start.to(), step.to(), at);
                    TensorBase::<T, K>::of_terms(count()?, term)
                }
            };
            tensor.map(Self::from)
        })
    }

    /// `steps` values from `start` to `end`, both included, at equal distances (PyTorch:
    /// `linspace(…, dtype=…)`). See [`TensorBase::linspace`].
    ///
    /// # Errors
    /// [`DTypeError::Unsupported`] for bool and complex numbers; those of [`zeros`](Self::zeros).
    pub fn linspace(
        start: impl Into<AnyValue>,
        end: impl Into<AnyValue>,
        steps: usize,
        dtype: DType,
    ) -> Result<Self> {
        let (start, end) = (start.into(), end.into());
        of_progression!("linspace", dtype, T => {
            TensorBase::<T, K>::linspace(start.to(), end.to(), steps).map(Self::from)
        })
    }

    /// A tensor of zeros in the shape of this one and of its dtype (PyTorch: `zeros_like`). If this
    /// one is dense, the order of its dimensions in memory is kept.
    ///
    /// # Errors
    /// No memory.
    pub fn zeros_like(&self) -> Result<Self> {
        for_each_dtype!(on_variant, self, tensor => tensor.zeros_like().map(Self::from))
    }

    /// A tensor of ones in the shape of this one and of its dtype (PyTorch: `ones_like`).
    ///
    /// # Errors
    /// No memory.
    pub fn ones_like(&self) -> Result<Self> {
        self.full_like(1)
    }

    /// A tensor of one value, converted, in the shape of this one and of its dtype (PyTorch:
    /// `full_like`).
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, AnyValue, DType};
    ///
    /// let x = AnyTensor::zeros([2, 3], DType::I16)?.t()?;
    /// let same = x.full_like(7.5)?;
    /// assert_eq!((same.strides(), same.get(&[2, 1])?), (&[1, 3][..], AnyValue::Int(7)));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DTypeError::ValueOverflow`], no memory.
    pub fn full_like(&self, value: impl Into<AnyValue>) -> Result<Self> {
        let value = value.into();
        for_each_dtype!(on_variant, self, tensor => {
            tensor.full_like(value.checked_to()?).map(Self::from)
        })
    }
}
