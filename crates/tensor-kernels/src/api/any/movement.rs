//! The operations that move elements as methods of tensors of run-time dtypes.

use tensor_core::{
    AnyOperand, AnyTensorBase, AnyValue, BuiltIn, DType, Error, Operand, Result, TensorBase,
    result_type,
};

use super::convert::{CastAny, Converted, typed_operand};
use crate::api::{
    call::Call,
    movement::{JoinOf, PadMode},
    types::match_dtype,
};

/// The methods, for the trait of the extension methods.
macro_rules! movement_methods {
    () => {
        /// The tensors, promoted, one after the other along a dimension (PyTorch: `torch.cat`).
        ///
        /// ```
        /// use tensor_kernels::{AnyTensor, AnyTensorExt, DType};
        ///
        /// let (bytes, halves) =
        ///     (AnyTensor::zeros([1, 2], DType::U8)?, AnyTensor::full([2, 2], 0.5, DType::F32)?);
        /// let joined = AnyTensor::cat(&[&bytes, &halves], 0)?;
        /// assert_eq!((joined.dtype(), joined.shape()), (DType::F32, &[3, 2][..]));
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// Those of [`ops::cat`]; [`DTypeError::Promotion`].
        #[track_caller]
        fn cat(tensors: &[&AnyTensorBase<K>], dim: impl Int) -> Result<AnyTensorBase<K>> {
            movement::join(Call::current("cat")?, tensors, dim.saturated(), false)
        }

        /// The tensors, promoted, along a new dimension (PyTorch: `torch.stack`).
        ///
        /// # Errors
        /// Those of [`ops::stack`]; [`DTypeError::Promotion`].
        #[track_caller]
        fn stack(tensors: &[&AnyTensorBase<K>], dim: impl Int) -> Result<AnyTensorBase<K>> {
            movement::join(Call::current("stack")?, tensors, dim.saturated(), true)
        }

        /// With borders added (PyTorch: `torch.nn.functional.pad`). As [`ops::pad`]; the value of
        /// [`PadMode::Constant`] is converted.
        ///
        /// # Errors
        /// Those of [`ops::pad`].
        #[track_caller]
        fn pad(&self, padding: impl Sizes, mode: PadMode<AnyValue>) -> Result<AnyTensorBase<K>> {
            let padding = &padding.into_sizes()?;
            forward!(self.as_any(), "pad", x => {
                TensorExt::pad(x, padding, movement::pad_mode(mode)?)
            })
        }

        /// Shifted along dimensions (PyTorch: `torch.roll`). As [`ops::roll`].
        ///
        /// # Errors
        /// Those of [`ops::roll`].
        #[track_caller]
        fn roll(&self, shifts: impl Sizes, dims: impl Sizes) -> Result<AnyTensorBase<K>> {
            let (shifts, dims) = (&shifts.into_sizes()?, &dims.into_sizes()?);
            forward!(self.as_any(), "roll", x => TensorExt::roll(x, shifts, dims))
        }

        /// Each index of a dimension `times` times (PyTorch: `torch.repeat_interleave`).
        ///
        /// # Errors
        /// Those of [`ops::repeat_interleave`].
        #[track_caller]
        fn repeat_interleave(
            &self,
            times: usize,
            dim: impl OptionalDim,
        ) -> Result<AnyTensorBase<K>> {
            let dim = dim.optional();
            forward!(self.as_any(), "repeat_interleave", x => {
                TensorExt::repeat_interleave(x, times, dim)
            })
        }

        /// Each index of a dimension as often as `times` says, i64 or i32 numbers of that dimension
        /// (PyTorch: `torch.repeat_interleave` with a tensor).
        ///
        /// # Errors
        /// Those of [`ops::repeat_interleave_each`]; [`Error::DTypeMismatch`].
        #[track_caller]
        fn repeat_interleave_each<'i>(
            &self,
            times: impl Into<AnyOperand<'i, K>>,
            dim: impl OptionalDim,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'i,
        {
            let (times, dim) = (times.into(), dim.optional());
            let times = movement::indices(Call::current("repeat_interleave_each")?, &times)?;
            forward!(self.as_any(), "repeat_interleave_each", x => {
                TensorExt::repeat_interleave_each(x, times.operand(), dim)
            })
        }

        /// The given indices, i64 or i32, of a dimension (PyTorch: `torch.index_select`).
        ///
        /// # Errors
        /// Those of [`ops::index_select`]; [`Error::DTypeMismatch`] for other indices.
        #[track_caller]
        fn index_select<'i>(
            &self,
            dim: impl Int,
            index: impl Into<AnyOperand<'i, K>>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'i,
        {
            let index = index.into();
            let index = movement::indices(Call::current("index_select")?, &index)?;
            forward!(self.as_any(), "index_select", x => {
                TensorExt::index_select(x, dim, index.operand())
            })
        }

        /// The elements at given positions in row-major order (PyTorch: `torch.take`).
        ///
        /// # Errors
        /// Those of [`ops::take`]; [`Error::DTypeMismatch`] for indices that are not i64 or i32.
        #[track_caller]
        fn take<'i>(&self, index: impl Into<AnyOperand<'i, K>>) -> Result<AnyTensorBase<K>>
        where
            K: 'i,
        {
            let index = index.into();
            let index = movement::indices(Call::current("take")?, &index)?;
            forward!(self.as_any(), "take", x => TensorExt::take(x, index.operand()))
        }

        /// Elements chosen along a dimension, one for each index (PyTorch: `torch.gather`).
        ///
        /// # Errors
        /// Those of [`ops::gather`]; [`Error::DTypeMismatch`] for indices that are not i64 or i32.
        #[track_caller]
        fn gather<'i>(
            &self,
            dim: impl Int,
            index: impl Into<AnyOperand<'i, K>>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'i,
        {
            let index = index.into();
            let index = movement::indices(Call::current("gather")?, &index)?;
            forward!(self.as_any(), "gather", x => TensorExt::gather(x, dim, index.operand()))
        }

        /// Elements chosen along a dimension; the other dimensions are broadcast (PyTorch:
        /// `torch.take_along_dim`).
        ///
        /// # Errors
        /// Those of [`ops::take_along_dim`]; [`Error::DTypeMismatch`] for indices that are not i64
        /// or i32.
        #[track_caller]
        fn take_along_dim<'i>(
            &self,
            index: impl Into<AnyOperand<'i, K>>,
            dim: impl Int,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'i,
        {
            let index = index.into();
            let index = movement::indices(Call::current("take_along_dim")?, &index)?;
            forward!(self.as_any(), "take_along_dim", x => {
                TensorExt::take_along_dim(x, index.operand(), dim)
            })
        }

        /// A copy with elements of `src`, a tensor of the same dtype or a value, at the places that
        /// indices choose (PyTorch: `torch.scatter`).
        ///
        /// # Errors
        /// Those of [`ops::scatter`]; [`Error::DTypeMismatch`].
        #[track_caller]
        fn scatter<'i, 's>(
            &self,
            dim: impl Int,
            index: impl Into<AnyOperand<'i, K>>,
            src: impl Into<AnyOperand<'s, K>>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'i + 's,
        {
            let (index, src) = (index.into(), src.into());
            let index = movement::indices(Call::current("scatter")?, &index)?;
            forward!(self.as_any(), "scatter", x => {
                TensorExt::scatter(x, dim, index.operand(), movement::same_type(x, &src)?)
            })
        }

        /// A value, converted, where the mask is true (PyTorch: `torch.masked_fill`).
        ///
        /// # Errors
        /// [`Error::Broadcast`]; [`Error::DTypeMismatch`] for a mask that is no bool.
        #[track_caller]
        fn masked_fill<'m>(
            &self,
            mask: impl Into<AnyOperand<'m, K>>,
            value: impl Into<AnyValue>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'm,
        {
            let (mask, value) = (mask.into(), value.into());
            let mask = &movement::mask(&mask)?;
            forward!(self.as_any(), "masked_fill", x => {
                TensorExt::masked_fill(x, mask.clone(), value.checked_to()?)
            })
        }

        /// The elements at which the mask is true (PyTorch: `torch.masked_select`).
        ///
        /// # Errors
        /// [`Error::Broadcast`]; [`Error::DTypeMismatch`] for a mask that is no bool.
        #[track_caller]
        fn masked_select<'m>(&self, mask: impl Into<AnyOperand<'m, K>>) -> Result<AnyTensorBase<K>>
        where
            K: 'm,
        {
            let mask = mask.into();
            let mask = &movement::mask(&mask)?;
            forward!(self.as_any(), "masked_select", x => TensorExt::masked_select(x, mask.clone()))
        }

        /// [`scatter`](Self::scatter) in place (PyTorch: `scatter_`).
        ///
        /// # Errors
        /// Those of [`ops::scatter_inplace`]; [`Error::DTypeMismatch`].
        #[track_caller]
        fn scatter_inplace<'i, 's>(
            &self,
            dim: impl Int,
            index: impl Into<AnyOperand<'i, K>>,
            src: impl Into<AnyOperand<'s, K>>,
        ) -> Result<()>
        where
            K: 'i + 's,
        {
            let (index, src) = (index.into(), src.into());
            let index = movement::indices(Call::current("scatter")?, &index)?;
            match_tensor!(Equality, self.as_any(), "scatter", x => {
                let src = movement::same_type(x, &src)?;
                crate::TensorMutExt::scatter_inplace(x, dim, index.operand(), src)
            })
        }

        /// [`masked_fill`](Self::masked_fill) in place (PyTorch: `masked_fill_`).
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`];
        /// [`Error::DTypeMismatch`] for a mask that is no bool.
        #[track_caller]
        fn masked_fill_inplace<'m>(
            &self,
            mask: impl Into<AnyOperand<'m, K>>,
            value: impl Into<AnyValue>,
        ) -> Result<()>
        where
            K: 'm,
        {
            let (mask, value) = (mask.into(), value.into());
            let mask = &movement::mask(&mask)?;
            match_tensor!(Equality, self.as_any(), "masked_fill", x => {
                crate::TensorMutExt::masked_fill_inplace(x, mask.clone(), value.checked_to()?)
            })
        }

        /// The lower triangles of matrices (PyTorch: `torch.tril`). As [`ops::tril`].
        ///
        /// # Errors
        /// Those of [`ops::tril`].
        #[track_caller]
        fn tril(&self, diagonal: impl Int) -> Result<AnyTensorBase<K>> {
            forward!(self.as_any(), "tril", x => TensorExt::tril(x, diagonal))
        }

        /// The upper triangles of matrices (PyTorch: `torch.triu`). As [`ops::triu`].
        ///
        /// # Errors
        /// Those of [`ops::triu`].
        #[track_caller]
        fn triu(&self, diagonal: impl Int) -> Result<AnyTensorBase<K>> {
            forward!(self.as_any(), "triu", x => TensorExt::triu(x, diagonal))
        }
    };
}

#[track_caller]
pub(super) fn join<K>(
    call: Call<'_>,
    tensors: &[&AnyTensorBase<K>],
    dim: isize,
    stacks: bool,
) -> Result<AnyTensorBase<K>> {
    let operands: Vec<_> = tensors.iter().map(|&tensor| AnyOperand::from(tensor)).collect();
    match_dtype!(Equality, result_type(&operands)?, call.op, T => {
        joined::<T, K>(call, &operands, dim, stacks)
    })
}

/// The operands, converted to one type and joined. A function of its own, for all dtypes of the
/// match: what is inlined there is compiled for each.
#[inline(never)]
#[track_caller]
fn joined<T: CastAny, K>(
    call: Call<'_>,
    operands: &[AnyOperand<'_, K>],
    dim: isize,
    stacks: bool,
) -> Result<AnyTensorBase<K>>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    let typed = operands.iter().map(|operand| Converted::of(call, operand));
    let typed: Vec<Converted<'_, T, K>> = typed.collect::<Result<_>>()?;
    let typed = typed.iter().map(Converted::operand);
    let join = if stacks { JoinOf::new_dim(typed, dim) } else { JoinOf::existing(typed, dim) };
    join.eval(call).map(Into::into)
}

/// The mode for elements `T`.
pub(super) fn pad_mode<T: BuiltIn>(mode: PadMode<AnyValue>) -> Result<PadMode<T>> {
    Ok(match mode {
        PadMode::Constant(value) => PadMode::Constant(value.checked_to()?),
        PadMode::Reflect => PadMode::Reflect,
        PadMode::Replicate => PadMode::Replicate,
        PadMode::Circular => PadMode::Circular,
    })
}

/// Indices, which are i64 or i32, as i64.
#[track_caller]
pub(super) fn indices<'x, K>(
    call: Call<'_>,
    index: &'x AnyOperand<'_, K>,
) -> Result<Converted<'x, i64, K>> {
    match index.dtype() {
        DType::I32 | DType::I64 => Converted::of(call, index),
        found => Err(Error::DTypeMismatch { expected: DType::I64, found }),
    }
}

/// A mask, which must be bool.
pub(super) fn mask<'x, K>(mask: &'x AnyOperand<'_, K>) -> Result<Operand<'x, bool>> {
    match (mask.input(), mask) {
        (Some(input), _) => typed_operand(input),
        (None, AnyOperand::Value(AnyValue::Bool(value))) => Ok(Operand::Value(*value)),
        (None, other) => {
            let (expected, found) = (DType::Bool, other.dtype());
            Err(Error::DTypeMismatch { expected, found })
        }
    }
}

/// An operand of the type of a tensor, or a value converted to it.
pub(super) fn same_type<'s, T: BuiltIn, K>(
    _: &TensorBase<T, K>,
    operand: &'s AnyOperand<'_, K>,
) -> Result<Operand<'s, T>> {
    match operand {
        AnyOperand::Value(value) => value.checked_to().map(Operand::Value),
        AnyOperand::Tensor(any) => typed_operand(any.input()),
        AnyOperand::Handle(any) => typed_operand(any.input()),
        AnyOperand::View(view) => typed_operand(view.clone()),
    }
}

pub(super) use movement_methods;
