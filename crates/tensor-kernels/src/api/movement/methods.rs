//! The operations of this folder as methods of tensors.

/// The methods, for the trait of the extension methods.
macro_rules! movement_methods {
    () => {
        /// The tensors one after the other along a dimension (PyTorch: `torch.cat`).
        ///
        /// ```
        /// use tensor_kernels::{Tensor, TensorExt};
        ///
        /// let x = Tensor::arange(0i32, 4, 1)?.view([2, 2])?;
        /// let joined = Tensor::cat(&[&x, &x.t()?], 0)?;
        /// assert_eq!(joined.to_vec()?, [0, 1, 2, 3, 0, 2, 1, 3]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// Those of [`ops::cat`].
        #[track_caller]
        fn cat(tensors: &[&Self], dim: impl Int) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            let operands = tensors.iter().map(|tensor| tensor.operand());
            movement::JoinOf::existing(operands, dim).eval(Call::current("cat")?)
        }

        /// The tensors along a new dimension (PyTorch: `torch.stack`).
        ///
        /// # Errors
        /// Those of [`ops::stack`].
        #[track_caller]
        fn stack(tensors: &[&Self], dim: impl Int) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            let operands = tensors.iter().map(|tensor| tensor.operand());
            movement::JoinOf::new_dim(operands, dim).eval(Call::current("stack")?)
        }

        /// With borders added (PyTorch: `torch.nn.functional.pad`). As [`ops::pad`].
        ///
        /// # Errors
        /// Those of [`ops::pad`].
        #[track_caller]
        fn pad(&self, padding: impl Sizes, mode: PadMode<T>) -> Result<TensorBase<T, K>> {
            let padding = &padding.into_sizes()?;
            movement::pad_eval(Call::current("pad")?, &self.operand(), padding, mode)
        }

        /// Shifted along dimensions (PyTorch: `torch.roll`). As [`ops::roll`].
        ///
        /// # Errors
        /// Those of [`ops::roll`].
        #[track_caller]
        fn roll(&self, shifts: impl Sizes, dims: impl Sizes) -> Result<TensorBase<T, K>> {
            let shifts = &shifts.into_sizes()?;
            let dims = &dims.into_sizes()?;
            movement::roll_eval(Call::current("roll")?, &self.operand(), shifts, dims)
        }

        /// Each index of a dimension `times` times (PyTorch: `torch.repeat_interleave`). As
        /// [`ops::repeat_interleave`].
        ///
        /// # Errors
        /// Those of [`ops::repeat_interleave`].
        #[track_caller]
        fn repeat_interleave(
            &self,
            times: usize,
            dim: impl OptionalDim,
        ) -> Result<TensorBase<T, K>> {
            let call = Call::current("repeat_interleave")?;
            movement::interleave_eval(call, &self.operand(), times, dim.optional())
        }

        /// Each index of a dimension as often as `repeats` says (PyTorch:
        /// `torch.repeat_interleave`). As [`ops::repeat_interleave_each`].
        ///
        /// # Errors
        /// Those of [`ops::repeat_interleave_each`].
        #[track_caller]
        fn repeat_interleave_each(
            &self,
            repeats: impl AsOperand<i64>,
            dim: impl OptionalDim,
        ) -> Result<TensorBase<T, K>> {
            let call = Call::current("repeat_interleave")?;
            movement::interleave_each_eval(
                call,
                &self.operand(),
                &repeats.as_operand(),
                dim.optional(),
            )
        }

        /// The given indices of a dimension (PyTorch: `torch.index_select`). As
        /// [`ops::index_select`].
        ///
        /// # Errors
        /// Those of [`ops::index_select`].
        #[track_caller]
        fn index_select(
            &self,
            dim: impl Int,
            index: impl AsOperand<i64>,
        ) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            let call = Call::current("index_select")?;
            movement::select_eval(call, &self.operand(), &index.as_operand(), dim)
        }

        /// The elements at given positions in row-major order (PyTorch: `torch.take`). As
        /// [`ops::take`].
        ///
        /// # Errors
        /// Those of [`ops::take`].
        #[track_caller]
        fn take(&self, index: impl AsOperand<i64>) -> Result<TensorBase<T, K>> {
            movement::take_eval(Call::current("take")?, &self.operand(), &index.as_operand())
        }

        /// Elements chosen along a dimension, one for each index (PyTorch: `torch.gather`). As
        /// [`ops::gather`].
        ///
        /// # Errors
        /// Those of [`ops::gather`].
        #[track_caller]
        fn gather(&self, dim: impl Int, index: impl AsOperand<i64>) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            movement::gather_eval(
                Call::current("gather")?,
                &self.operand(),
                &index.as_operand(),
                dim,
            )
        }

        /// [`gather`](Self::gather), broadcast (PyTorch: `torch.take_along_dim`). As
        /// [`ops::take_along_dim`].
        ///
        /// # Errors
        /// Those of [`ops::take_along_dim`].
        #[track_caller]
        fn take_along_dim(
            &self,
            index: impl AsOperand<i64>,
            dim: impl Int,
        ) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            let call = Call::current("take_along_dim")?;
            movement::along_eval(call, &self.operand(), &index.as_operand(), dim)
        }

        /// A copy with elements of `src` at the places that indices choose (PyTorch:
        /// `torch.scatter`). As [`ops::scatter`].
        ///
        /// # Errors
        /// Those of [`ops::scatter`].
        #[track_caller]
        fn scatter(
            &self,
            dim: impl Int,
            index: impl AsOperand<i64>,
            src: impl AsOperand<T>,
        ) -> Result<TensorBase<T, K>> {
            let dim = dim.saturated();
            let (index, src) = (index.as_operand(), src.as_operand());
            movement::scatter_eval(Call::current("scatter")?, &self.operand(), dim, &index, &src)
        }

        /// A value where the mask is true (PyTorch: `torch.masked_fill`). As [`ops::masked_fill`].
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn masked_fill(&self, mask: impl AsOperand<bool>, value: T) -> Result<TensorBase<T, K>> {
            let call = Call::current("masked_fill")?;
            movement::masked_fill_eval(call, &self.operand(), &mask.as_operand(), value)
        }

        /// The elements at which the mask is true (PyTorch: `torch.masked_select`). As
        /// [`ops::masked_select`].
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn masked_select(&self, mask: impl AsOperand<bool>) -> Result<TensorBase<T, K>> {
            let call = Call::current("masked_select")?;
            movement::masked_select_eval(call, &self.operand(), &mask.as_operand())
        }

        /// The lower triangles of matrices (PyTorch: `torch.tril`). As [`ops::tril`].
        ///
        /// # Errors
        /// Those of [`ops::tril`].
        #[track_caller]
        fn tril(&self, diagonal: impl Int) -> Result<TensorBase<T, K>>
        where
            T: Scalar,
        {
            let diagonal = diagonal.saturated();
            movement::tril_eval(Call::current("tril")?, &self.operand(), diagonal)
        }

        /// The upper triangles of matrices (PyTorch: `torch.triu`). As [`ops::triu`].
        ///
        /// # Errors
        /// Those of [`ops::triu`].
        #[track_caller]
        fn triu(&self, diagonal: impl Int) -> Result<TensorBase<T, K>>
        where
            T: Scalar,
        {
            let diagonal = diagonal.saturated();
            movement::triu_eval(Call::current("triu")?, &self.operand(), diagonal)
        }

        /// [`cat`](Self::cat) into a given result (PyTorch: `out=`). As [`ops::cat_into`].
        ///
        /// ```
        /// use tensor_kernels::{Tensor, TensorExt, tensor};
        ///
        /// let (x, mut joined) = (tensor![1, 2, 3], [0; 6]);
        /// Tensor::cat_into(&[&x, &x.flip([0])?], 0, &mut joined)?;
        /// assert_eq!(joined, [1, 2, 3, 3, 2, 1]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// Those of [`ops::cat_into`].
        #[track_caller]
        fn cat_into<'o>(
            tensors: &[&Self],
            dim: impl Int,
            out: impl Into<Output<'o, T>>,
        ) -> Result<()> {
            ops::cat_into(Exec::current()?, tensors.iter().map(|x| x.operand()), dim, out)
        }

        /// [`stack`](Self::stack) into a given result (PyTorch: `out=`). As [`ops::stack_into`].
        ///
        /// # Errors
        /// Those of [`ops::stack_into`].
        #[track_caller]
        fn stack_into<'o>(
            tensors: &[&Self],
            dim: impl Int,
            out: impl Into<Output<'o, T>>,
        ) -> Result<()> {
            ops::stack_into(Exec::current()?, tensors.iter().map(|x| x.operand()), dim, out)
        }

        into_methods! {
            pad pad_into(padding: impl Sizes, mode: PadMode<T>) -> T;
            roll roll_into(shifts: impl Sizes, dims: impl Sizes) -> T;
            index_select index_select_into(dim: impl Int, index: impl AsOperand<i64>) -> T;
            take take_into(index: impl AsOperand<i64>) -> T;
            gather gather_into(dim: impl Int, index: impl AsOperand<i64>) -> T;
            take_along_dim take_along_dim_into(index: impl AsOperand<i64>, dim: impl Int) -> T;
            masked_fill masked_fill_into(mask: impl AsOperand<bool>, value: T) -> T;
            repeat repeat_into(times: impl Sizes) -> T;
            repeat_interleave repeat_interleave_into(times: usize, dim: impl OptionalDim) -> T;
            repeat_interleave_each repeat_interleave_each_into(
                repeats: impl AsOperand<i64>,
                dim: impl OptionalDim
            ) -> T;
            scatter scatter_into(
                dim: impl Int,
                index: impl AsOperand<i64>,
                src: impl AsOperand<T>
            ) -> T;
            masked_select masked_select_into(mask: impl AsOperand<bool>) -> T;
            tril tril_into(diagonal: impl Int) -> T, T: Scalar;
            triu triu_into(diagonal: impl Int) -> T, T: Scalar;
        }
    };
}

pub(in crate::api) use movement_methods;
