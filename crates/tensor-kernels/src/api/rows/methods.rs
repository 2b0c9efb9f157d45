//! The operations of this folder as methods of tensors.

/// The methods, for the trait of the extension methods.
macro_rules! rows_methods {
    () => {
        /// `e^a / Σ e^a` along a dimension (PyTorch: `torch.softmax`). As [`ops::softmax`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`].
        #[track_caller]
        fn softmax(&self, dim: impl Int) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            let dim = dim.saturated();
            rows::softmax_eval(Call::current("softmax")?, &self.operand(), dim, false)
        }

        /// The logarithm of [`softmax`](Self::softmax) (PyTorch: `torch.log_softmax`). As
        /// [`ops::log_softmax`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`].
        #[track_caller]
        fn log_softmax(&self, dim: impl Int) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            let dim = dim.saturated();
            rows::softmax_eval(Call::current("log_softmax")?, &self.operand(), dim, true)
        }

        /// `ln Σ e^a` over dimensions (PyTorch: `torch.logsumexp`). As [`ops::logsumexp`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`].
        #[track_caller]
        fn logsumexp(&self, over: impl Into<ReduceDims>) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            rows::logsumexp_eval(Call::current("logsumexp")?, &self.operand(), over.into())
        }

        /// The variance over dimensions (PyTorch: `torch.var`; its default is a correction of 1).
        /// As [`ops::var`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`].
        #[track_caller]
        fn var(&self, over: impl Into<ReduceDims>, correction: f64) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            rows::var_eval(Call::current("var")?, &self.operand(), over.into(), correction)
        }

        /// The standard deviation over dimensions (PyTorch: `torch.std`; its default is a
        /// correction of 1). As [`ops::std`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`].
        #[track_caller]
        fn std(&self, over: impl Into<ReduceDims>, correction: f64) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            rows::std_eval(Call::current("std")?, &self.operand(), over.into(), correction)
        }

        /// The norm of order `p` over dimensions (PyTorch: `torch.linalg.vector_norm`). As
        /// [`ops::norm`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`], [`Error::ReduceEmpty`].
        #[track_caller]
        fn norm(&self, over: impl Into<ReduceDims>, p: f64) -> Result<TensorBase<T, K>>
        where
            T: Real,
        {
            rows::norm_eval(Call::current("norm")?, &self.operand(), over.into(), p)
        }

        /// The sums of all elements up to each along a dimension (PyTorch: `torch.cumsum`). As
        /// [`ops::cumsum`].
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`].
        #[track_caller]
        fn cumsum(&self, dim: impl Int) -> Result<TensorBase<T::Sum, K>>
        where
            T: Accumulate,
        {
            let dim = dim.saturated();
            rows::cumsum_eval(Call::current("cumsum")?, &self.operand(), dim)
        }

        /// Whether elements are equal within tolerances (PyTorch: `torch.isclose`). As
        /// [`ops::isclose`].
        ///
        /// # Errors
        /// [`Error::Broadcast`]; a negative tolerance.
        #[track_caller]
        fn isclose(&self, b: impl AsOperand<T>, tolerance: Tolerance) -> Result<TensorBase<bool, K>>
        where
            T: Real,
        {
            rows::isclose_eval(Call::current("isclose")?, self.operand(), b.as_operand(), tolerance)
        }

        /// Whether all elements are equal within tolerances (PyTorch: `torch.allclose`). As
        /// [`ops::allclose`].
        ///
        /// ```
        /// use tensor_kernels::{TensorExt, Tolerance, tensor};
        ///
        /// let x = tensor![1.0f32, 2.0];
        /// assert!(x.exp()?.ln()?.allclose(&x, Tolerance::default())?);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::Broadcast`]; a negative tolerance.
        #[track_caller]
        fn allclose(&self, b: impl AsOperand<T>, tolerance: Tolerance) -> Result<bool>
        where
            T: Real,
        {
            ops::allclose(Exec::current()?, self.operand(), b, tolerance)
        }

        into_methods! {
            softmax softmax_into(dim: impl Int) -> T, T: Real;
            log_softmax log_softmax_into(dim: impl Int) -> T, T: Real;
            logsumexp logsumexp_into(over: impl Into<ReduceDims>) -> T, T: Real;
            var var_into(over: impl Into<ReduceDims>, correction: f64) -> T, T: Real;
            std std_into(over: impl Into<ReduceDims>, correction: f64) -> T, T: Real;
            norm norm_into(over: impl Into<ReduceDims>, p: f64) -> T, T: Real;
            cumsum cumsum_into(dim: impl Int) -> T::Sum, T: Accumulate;
            isclose isclose_into(b: impl AsOperand<T>, tolerance: Tolerance) -> bool, T: Real;
        }
    };
}

pub(in crate::api) use rows_methods;
