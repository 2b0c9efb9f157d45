//! Methods of tensors of run-time dtypes that write into a given result of any dtype: the macro for
//! them, and those of operations that move elements.

use tensor_core::{AnyOperand, AnyOutput, AnyTensorBase, Result, TensorBase, result_type};

use super::{
    convert::{CastAny, Converted},
    output::{check_store, store},
};
use crate::api::{call::Call, movement::JoinOf, types::match_dtype};

/// `name into <'lives> (arguments) |call| { statements } Bound, x => (arguments of the typed one);`
///
/// The statements convert the arguments, once for all dtypes. The typed method then writes into the
/// output, or, if that has another dtype, makes a new tensor, which is converted.
macro_rules! any_into_methods {
    ($(
        $name:ident $into:ident $(<$($life:lifetime),+>)? ($($arg:ident: $type:ty),*)
            |$call:ident| { $($prepare:stmt;)* } $bound:ident, $x:ident => ($($typed:expr),*);
    )*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        /// into a given result, converted to its dtype (PyTorch: `out=`).
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`](Self::", stringify!($name), ");")]
        /// [`DTypeError::ResultCast`] for a result of a higher category; [`Error::OutputShape`],
        /// [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $into<$($($life,)+)? 'o>(
            &self,
            $($arg: $type,)*
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()>
        $(where $(K: $life),+)?
        {
            let ($call, out) = (Call::current(stringify!($name))?, out.into());
            $($prepare)*
            match_tensor!($bound, self.as_any(), $call.op, $x => {
                match output::typed_as($x, out) {
                    Ok(out) => TensorExt::$into($x, $($typed,)* out),
                    Err(other) => {
                        output::check_store($call.op, self.as_any().dtype(), other.dtype())?;
                        let result = TensorExt::$name($x, $($typed),*)?;
                        output::store($call, &AnyTensorBase::from(result), other)
                    }
                }
            })
        }
    )*};
}

/// The methods of operations that move elements, for the trait of the extension methods.
macro_rules! movement_into_methods {
    () => {
        /// [`cat`](Self::cat) into a given result, converted to its dtype (PyTorch: `out=`).
        ///
        /// ```
        /// use tensor_kernels::{AnyTensor, AnyTensorExt, DType};
        ///
        /// let (bytes, halves) =
        ///     (AnyTensor::ones([1, 2], DType::U8)?, AnyTensor::full([1, 2], 0.5, DType::F32)?);
        /// let mut joined = [0.0f64; 4];
        /// AnyTensor::cat_into(&[&bytes, &halves], 0, &mut joined)?;
        /// assert_eq!(joined, [1.0, 1.0, 0.5, 0.5]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// Those of [`cat`](Self::cat); [`DTypeError::ResultCast`] for a result of a higher
        /// category; [`Error::OutputShape`], [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn cat_into<'o>(
            tensors: &[&AnyTensorBase<K>],
            dim: impl Int,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()> {
            let (call, dim, out) = (Call::current("cat")?, dim.saturated(), out.into());
            into_result::join_into(call, tensors, dim, false, out)
        }

        /// [`stack`](Self::stack) into a given result, converted to its dtype (PyTorch: `out=`).
        ///
        /// # Errors
        /// As [`cat_into`](Self::cat_into).
        #[track_caller]
        fn stack_into<'o>(
            tensors: &[&AnyTensorBase<K>],
            dim: impl Int,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()> {
            let (call, dim, out) = (Call::current("stack")?, dim.saturated(), out.into());
            into_result::join_into(call, tensors, dim, true, out)
        }

        any_into_methods! {
            pad pad_into(padding: impl Sizes, mode: PadMode<AnyValue>)
                |call| { let padding = &padding.into_sizes()?; }
                Equality, x => (padding, movement::pad_mode(mode)?);
            roll roll_into(shifts: impl Sizes, dims: impl Sizes)
                |call| { let (shifts, dims) = (&shifts.into_sizes()?, &dims.into_sizes()?); }
                Equality, x => (shifts, dims);
            index_select index_select_into<'i>(dim: impl Int, index: impl Into<AnyOperand<'i, K>>)
                |call| { let index = index.into(); let index = movement::indices(call, &index)?; }
                Equality, x => (dim, index.operand());
            take take_into<'i>(index: impl Into<AnyOperand<'i, K>>)
                |call| { let index = index.into(); let index = movement::indices(call, &index)?; }
                Equality, x => (index.operand());
            gather gather_into<'i>(dim: impl Int, index: impl Into<AnyOperand<'i, K>>)
                |call| { let index = index.into(); let index = movement::indices(call, &index)?; }
                Equality, x => (dim, index.operand());
            take_along_dim take_along_dim_into<'i>(
                index: impl Into<AnyOperand<'i, K>>,
                dim: impl Int
            )
                |call| { let index = index.into(); let index = movement::indices(call, &index)?; }
                Equality, x => (index.operand(), dim);
            masked_fill masked_fill_into<'m>(
                mask: impl Into<AnyOperand<'m, K>>,
                value: impl Into<AnyValue>
            )
                |call| { let (mask, value) = (mask.into(), value.into());
                  let mask = &movement::mask(&mask)?; }
                Equality, x => (mask.clone(), value.checked_to()?);
            repeat repeat_into(times: impl Sizes)
                |call| { let times = &times.into_shape()?; }
                Equality, x => (times);
            repeat_interleave repeat_interleave_into(times: usize, dim: impl OptionalDim)
                |call| { let dim = dim.optional(); }
                Equality, x => (times, dim);
            repeat_interleave_each repeat_interleave_each_into<'i>(
                times: impl Into<AnyOperand<'i, K>>,
                dim: impl OptionalDim
            )
                |call| { let (times, dim) = (times.into(), dim.optional());
                  let times = movement::indices(call, &times)?; }
                Equality, x => (times.operand(), dim);
            scatter scatter_into<'i, 's>(
                dim: impl Int,
                index: impl Into<AnyOperand<'i, K>>,
                src: impl Into<AnyOperand<'s, K>>
            )
                |call| { let (index, src) = (index.into(), src.into());
                  let index = movement::indices(call, &index)?; }
                Equality, x => (dim, index.operand(), movement::same_type(x, &src)?);
            masked_select masked_select_into<'m>(mask: impl Into<AnyOperand<'m, K>>)
                |call| { let mask = mask.into(); let mask = &movement::mask(&mask)?; }
                Equality, x => (mask.clone());
            tril tril_into(diagonal: impl Int) |call| {} Equality, x => (diagonal);
            triu triu_into(diagonal: impl Int) |call| {} Equality, x => (diagonal);
        }
    };
}

/// Tensors, promoted and joined, into a result of any dtype that can store them.
#[track_caller]
pub(super) fn join_into<K>(
    call: Call<'_>,
    tensors: &[&AnyTensorBase<K>],
    dim: isize,
    stacks: bool,
    out: AnyOutput<'_>,
) -> Result<()> {
    let operands: Vec<_> = tensors.iter().map(|&tensor| AnyOperand::from(tensor)).collect();
    match_dtype!(Equality, result_type(&operands)?, call.op, T => {
        joined_into::<T, K>(call, &operands, dim, stacks, out)
    })
}

#[inline(never)]
#[track_caller]
fn joined_into<T: CastAny, K>(
    call: Call<'_>,
    operands: &[AnyOperand<'_, K>],
    dim: isize,
    stacks: bool,
    out: AnyOutput<'_>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<T, K>>,
{
    let typed = operands.iter().map(|operand| Converted::of(call, operand));
    let typed: Vec<Converted<'_, T, K>> = typed.collect::<Result<_>>()?;
    let typed = typed.iter().map(Converted::operand);
    let join = if stacks { JoinOf::new_dim(typed, dim) } else { JoinOf::existing(typed, dim) };
    match out.typed::<T>() {
        Ok(out) => join.into(call, out),
        Err(other) => {
            check_store(call.op, T::DTYPE, other.dtype())?;
            store(call, &join.eval(call)?.into(), other)
        }
    }
}

pub(super) use {any_into_methods, movement_into_methods};
