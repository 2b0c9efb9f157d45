//! The reductions as methods of tensors of run-time dtypes.
//!
//! The macro is expanded beside the trait. What its methods name is exported with it.

use tensor_core::{AnyOutput, AnyTensorBase, BuiltIn, DType, Operand, Output, Result, TensorBase};
#[cfg(doc)]
use tensor_core::{DTypeError, Error};

pub(super) use super::rows::{real, rows_methods};
use super::{
    convert,
    output::{check_store, store},
};
pub(super) use crate::{
    ReduceDims, ReducePattern, Reduction,
    api::{ops::reduction_table::reduction_operations, rearrange, reductions, rows::Tolerance},
};
use crate::{api::call::Call, exec::Exec};

/// Reductions: over some dimensions, and over all of them.
macro_rules! each_reduction {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident, $into:ident, $all:ident;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DTypeError::Unsupported`]; [`Error::DimOutOfRange`], [`Error::ReduceTwice`];
        /// [`Error::ReduceEmpty`] if there are no elements and the reduction has no value for that.
        #[track_caller]
        fn $name(&self, over: impl Into<ReduceDims>) -> Result<AnyTensorBase<K>> {
            let call = Call::current(stringify!($name))?;
            let result = match_tensor!($bound, self.as_any(), call.op, a => {
                reductions::$op::eval(call.exec, &a.into(), over.into()).map(AnyTensorBase::from)
            });
            as_torch(call.op, self.as_any().dtype(), result?)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        /// into a given result (PyTorch: `out=`).
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`](Self::", stringify!($name), ");")]
        /// [`DTypeError::ResultCast`] for a result of a higher category; [`Error::OutputShape`],
        /// [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $into<'o>(
            &self,
            over: impl Into<ReduceDims>,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()> {
            let (call, over, out) = (Call::current(stringify!($name))?, over.into(), out.into());
            match_tensor!($bound, self.as_any(), call.op, a => {
                reduce::into_output(call, a, over, out, (
                    reductions::$op::eval, reductions::$op::write
                ))
            })
        }

        #[doc = concat!(
            "[`", stringify!($name), "`](Self::", stringify!($name), ")",
            " of all elements, as a value."
        )]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`](Self::", stringify!($name), ").")]
        #[track_caller]
        fn $all(&self) -> Result<AnyValue> {
            self.$name(ReduceDims::ALL)?.item()
        }
    )*};
}

/// The methods, for the trait of the extension methods.
macro_rules! reduction_methods {
    () => {
        reduction_operations! { each_reduction }
        rows_methods! {}

        /// As [`reduce`](Self::reduce), by any function of a tensor and the dimensions to reduce,
        /// which are its last ones. As [`TensorExt::reduce_with`].
        ///
        /// ```
        /// use tensor_kernels::{AnyTensor, AnyTensorExt, AnyValue, DType};
        ///
        /// let image = AnyTensor::arange(0, 16, 1, DType::U8)?.view([4, 4])?;
        /// let sums = image.reduce_with("(h 2) w -> h w", &[], |x, over| x.sum(over))?;
        /// assert_eq!((sums.dtype(), sums.get(&[1, 0])?), (DType::I64, AnyValue::Int(20)));
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::Pattern`], and those of the function; [`Error::OutputShape`] if its result has
        /// other dimensions than the axes that are not reduced.
        #[track_caller]
        fn reduce_with<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, ReducePattern>>,
            sizes: &[(&str, usize)],
            reduction: impl FnOnce(&AnyTensorBase<K>, ReduceDims) -> Result<AnyTensorBase<K>>,
        ) -> Result<AnyTensorBase<K>> {
            let pattern = &*pattern.into().parsed()?;
            let exec = Exec::current()?;
            rearrange::reduced_any(exec, self.as_any(), pattern.pattern(), sizes, reduction)
        }

        /// A reduction by a pattern, of a float dtype. As [`TensorExt::reduce`].
        ///
        /// # Errors
        /// [`Error::Pattern`]; [`DTypeError::Unsupported`]; [`Error::ReduceEmpty`].
        #[track_caller]
        fn reduce<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, ReducePattern>>,
            reduction: Reduction,
            sizes: &[(&str, usize)],
        ) -> Result<AnyTensorBase<K>> {
            let pattern = &*pattern.into().parsed()?;
            match_tensor!(Real, self.as_any(), "reduce", x => {
                TensorExt::reduce(x, pattern, reduction, sizes).map(AnyTensorBase::from)
            })
        }
    };
}

pub(super) use {each_reduction, reduction_methods};

/// A reduction to a new tensor, and to a given result.
type Forms<T, R, K> = (
    fn(&Exec, &Operand<'_, T>, ReduceDims) -> Result<TensorBase<R, K>>,
    fn(Call<'_>, Operand<'_, T>, ReduceDims, Output<'_, R>) -> Result<()>,
);

/// A reduction into a result of any dtype that can store it.
#[inline(never)]
#[track_caller]
pub(super) fn into_output<T: BuiltIn, R: BuiltIn, K>(
    call: Call<'_>,
    a: &TensorBase<T, K>,
    over: ReduceDims,
    out: AnyOutput<'_>,
    (eval, write): Forms<T, R, K>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<R, K>>,
{
    match out.typed::<R>() {
        Ok(out) => write(call, a.into(), over, out),
        Err(other) => {
            let result = as_torch(call.op, T::DTYPE, eval(call.exec, &a.into(), over)?.into())?;
            check_store(call.op, result.dtype(), other.dtype())?;
            store(call, &result, other)
        }
    }
}

/// A result in PyTorch's dtype, where the typed operation has another one.
pub(super) fn as_torch<K>(
    op: &'static str,
    from: DType,
    result: AnyTensorBase<K>,
) -> Result<AnyTensorBase<K>> {
    match (op, from) {
        ("sum" | "prod" | "cumsum", DType::U64) => convert::to_dtype(&result, DType::I64),
        ("any" | "all", DType::U8) => convert::to_dtype(&result, DType::U8),
        _ => Ok(result),
    }
}
