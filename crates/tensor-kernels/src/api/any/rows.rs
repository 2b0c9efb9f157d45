//! The operations on rows as methods of tensors of run-time dtypes.

use tensor_core::{
    AnyOperand, AnyOutput, AnyTensorBase, BuiltIn, Category, DType, Operand, Result, Scalar,
    TensorBase, result_type,
};

use super::{
    convert::Converted,
    output::{check_store, store},
    reduce::as_torch,
};
use crate::{
    api::{
        call::Call,
        rows::{self, Tolerance, cumsum_eval},
    },
    element::Accumulate,
};

/// The methods, for the trait of the extension methods.
macro_rules! rows_methods {
    () => {
        /// `e^a / Σ e^a` along a dimension (PyTorch: `torch.softmax`). As [`ops::softmax`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`]; see the trait.
        #[track_caller]
        fn softmax(&self, dim: impl Int) -> Result<AnyTensorBase<K>> {
            real!(self, "softmax", x => TensorExt::softmax(x, dim))
        }

        /// The logarithm of [`softmax`](Self::softmax) (PyTorch: `torch.log_softmax`).
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`]; see the trait.
        #[track_caller]
        fn log_softmax(&self, dim: impl Int) -> Result<AnyTensorBase<K>> {
            real!(self, "log_softmax", x => TensorExt::log_softmax(x, dim))
        }

        /// `ln Σ e^a` over dimensions, of integers as f32 (PyTorch: `torch.logsumexp`).
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; see the trait.
        #[track_caller]
        fn logsumexp(&self, over: impl Into<ReduceDims>) -> Result<AnyTensorBase<K>> {
            let call = Call::current("logsumexp")?;
            let a = elementwise::prepared(call, self.as_any(), true)?;
            match_tensor!(Real, &*a, call.op, x => {
                TensorExt::logsumexp(x, over).map(AnyTensorBase::from)
            })
        }

        /// The variance over dimensions (PyTorch: `torch.var`). As [`ops::var`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; see the trait.
        #[track_caller]
        fn var(&self, over: impl Into<ReduceDims>, correction: f64) -> Result<AnyTensorBase<K>> {
            real!(self, "var", x => TensorExt::var(x, over, correction))
        }

        /// The standard deviation over dimensions (PyTorch: `torch.std`). As
        /// [`ops::std`](fn@ops::std).
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; see the trait.
        #[track_caller]
        fn std(&self, over: impl Into<ReduceDims>, correction: f64) -> Result<AnyTensorBase<K>> {
            real!(self, "std", x => TensorExt::std(x, over, correction))
        }

        /// The norm of order `p` over dimensions (PyTorch: `torch.linalg.vector_norm`).
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`], [`Error::ReduceEmpty`]; see the trait.
        #[track_caller]
        fn norm(&self, over: impl Into<ReduceDims>, p: f64) -> Result<AnyTensorBase<K>> {
            real!(self, "norm", x => TensorExt::norm(x, over, p))
        }

        /// The sums of all elements up to each along a dimension, of integers as i64 (PyTorch:
        /// `torch.cumsum`).
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`]; see the trait.
        #[track_caller]
        fn cumsum(&self, dim: impl Int) -> Result<AnyTensorBase<K>> {
            let result = forward!(self.as_any(), "cumsum", x => TensorExt::cumsum(x, dim))?;
            as_torch("cumsum", self.as_any().dtype(), result)
        }

        /// Whether elements are equal within tolerances, after promotion (PyTorch:
        /// `torch.isclose`). Integers are compared in double precision, so those beyond 2⁵³ are
        /// rounded first.
        ///
        /// # Errors
        /// [`Error::Broadcast`]; a negative tolerance; see the trait.
        #[track_caller]
        fn isclose<'b>(
            &self,
            b: impl Into<AnyOperand<'b, K>>,
            tolerance: Tolerance,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'b,
        {
            rows::isclose(Call::current("isclose")?, &self.as_any().into(), &b.into(), tolerance)
        }

        /// Whether all elements are equal within tolerances, after promotion (PyTorch:
        /// `torch.allclose`). Operands of another dtype than the common one are converted part by
        /// part, up to the first difference, so the ledger has no copy of them.
        ///
        /// # Errors
        /// Those of [`isclose`](Self::isclose).
        #[track_caller]
        fn allclose<'b>(
            &self,
            b: impl Into<AnyOperand<'b, K>>,
            tolerance: Tolerance,
        ) -> Result<bool>
        where
            K: 'b,
        {
            allclose::allclose(&self.as_any().into(), &b.into(), tolerance)
        }

        any_into_methods! {
            softmax softmax_into(dim: impl Int) |call| {} Real, x => (dim);
            log_softmax log_softmax_into(dim: impl Int) |call| {} Real, x => (dim);
            var var_into(over: impl Into<ReduceDims>, correction: f64)
                |call| {} Real, x => (over, correction);
            std std_into(over: impl Into<ReduceDims>, correction: f64)
                |call| {} Real, x => (over, correction);
            norm norm_into(over: impl Into<ReduceDims>, p: f64)
                |call| {} Real, x => (over, p);
        }

        /// [`logsumexp`](Self::logsumexp) into a given result, converted to its dtype (PyTorch:
        /// `out=`).
        ///
        /// # Errors
        /// Those of [`logsumexp`](Self::logsumexp); [`DTypeError::ResultCast`] for a result of a
        /// higher category; [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn logsumexp_into<'o>(
            &self,
            over: impl Into<ReduceDims>,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()> {
            let (call, over, out) = (Call::current("logsumexp")?, over.into(), out.into());
            let a = elementwise::prepared(call, self.as_any(), true)?;
            match_tensor!(Real, &*a, call.op, x => match output::typed_as(x, out) {
                Ok(out) => TensorExt::logsumexp_into(x, over, out),
                Err(other) => {
                    output::check_store(call.op, a.dtype(), other.dtype())?;
                    output::store(call, &TensorExt::logsumexp(x, over)?.into(), other)
                }
            })
        }

        /// [`cumsum`](Self::cumsum) into a given result, converted to its dtype (PyTorch: `out=`).
        ///
        /// # Errors
        /// Those of [`cumsum`](Self::cumsum); [`DTypeError::ResultCast`] for a result of a higher
        /// category; [`Error::OutputShape`], [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn cumsum_into<'o>(&self, dim: impl Int, out: impl Into<AnyOutput<'o>>) -> Result<()> {
            let (call, out) = (Call::current("cumsum")?, out.into());
            match_tensor!(Accumulate, self.as_any(), call.op, x => {
                rows::cumsum_into(call, x, dim.saturated(), out)
            })
        }

        /// [`isclose`](Self::isclose) into a given result, converted to its dtype (PyTorch:
        /// `out=`).
        ///
        /// # Errors
        /// Those of [`isclose`](Self::isclose); [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn isclose_into<'b, 'o>(
            &self,
            b: impl Into<AnyOperand<'b, K>>,
            tolerance: Tolerance,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()>
        where
            K: 'b,
        {
            let call = Call::current("isclose")?;
            rows::isclose_into(call, &self.as_any().into(), &b.into(), tolerance, out.into())
        }
    };
}

/// An operation on real floats.
macro_rules! real {
    ($self:ident, $op:literal, $x:ident => $result:expr) => {
        match_tensor!(Real, $self.as_any(), $op, $x => $result.map(AnyTensorBase::from))
    };
}

#[track_caller]
pub(super) fn isclose<K>(
    call: Call<'_>,
    a: &AnyOperand<'_, K>,
    b: &AnyOperand<'_, K>,
    tolerance: Tolerance,
) -> Result<AnyTensorBase<K>> {
    crate::api::types::match_dtype!(Real, compared_type(a, b)?, call.op, T => {
        let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
        let close = crate::api::rows::isclose_eval(call, a.operand(), b.operand(), tolerance);
        close.map(|close: tensor_core::TensorBase<bool, K>| close.into())
    })
}

#[track_caller]
pub(super) fn isclose_into<K>(
    call: Call<'_>,
    a: &AnyOperand<'_, K>,
    b: &AnyOperand<'_, K>,
    tolerance: Tolerance,
    out: AnyOutput<'_>,
) -> Result<()> {
    let out = match out.typed::<bool>() {
        Ok(out) => out,
        // Every dtype can store a bool.
        Err(other) => return store(call, &isclose(call, a, b, tolerance)?, other),
    };
    crate::api::types::match_dtype!(Real, compared_type(a, b)?, call.op, T => {
        let (a, b) = (Converted::<T, K>::of(call, a)?, Converted::<T, K>::of(call, b)?);
        crate::api::rows::isclose_write(call, a.operand(), b.operand(), tolerance, out)
    })
}

/// The dtype that operands are compared in: integers are compared in double precision.
pub(super) fn compared_type<K>(a: &AnyOperand<'_, K>, b: &AnyOperand<'_, K>) -> Result<DType> {
    let common = result_type(&[a.reborrow(), b.reborrow()])?;
    Ok(if common.category() <= Category::Integer { DType::F64 } else { common })
}

/// Running sums into a result of any dtype that can store them.
#[inline(never)]
#[track_caller]
pub(super) fn cumsum_into<T: BuiltIn + Accumulate<Sum: BuiltIn>, K>(
    call: Call<'_>,
    a: &TensorBase<T, K>,
    dim: isize,
    out: AnyOutput<'_>,
) -> Result<()>
where
    AnyTensorBase<K>: From<TensorBase<T::Sum, K>>,
{
    match out.typed::<T::Sum>() {
        Ok(out) => rows::cumsum_into(call.exec, a, dim, out),
        Err(other) => {
            let sums = cumsum_eval::<T, K>(call, &Operand::from(a), dim)?;
            let result = as_torch(call.op, <T as Scalar>::DTYPE, sums.into())?;
            check_store(call.op, result.dtype(), other.dtype())?;
            store(call, &result, other)
        }
    }
}

pub(super) use {real, rows_methods};
