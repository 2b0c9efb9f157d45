//! The reductions as methods of tensors of run-time dtypes.
//!
//! The macro is expanded beside the trait. What its methods name is exported with it.

use tensor_core::{AnyTensorBase, DType, Result};
#[cfg(doc)]
use tensor_core::{DTypeError, Error};

use super::convert;
pub(super) use super::rows::{real, rows_methods};
pub(super) use crate::{
    ReduceDims, ReducePattern, Reduction,
    api::{ops::reduction_table::reduction_operations, reductions, rows::Tolerance},
};

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
