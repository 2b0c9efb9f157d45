//! einops' patterns as methods of tensors whose dtype is known at run time.

/// The methods, for the trait of the extension methods.
macro_rules! pattern_methods {
    () => {
        /// The elements in another order and under other dimensions, by einops' notation. As
        /// [`TensorExt::rearrange`]: a view where strides can express it, else one copy, and
        /// [`copied`](AnyReshaped::copied) tells which.
        ///
        /// ```
        /// use tensor_kernels::{AnyTensor, AnyTensorExt, DType, Reduction};
        ///
        /// let image = AnyTensor::full([1, 4, 6, 3], 7, DType::U8)?;
        /// let planes = image.rearrange("b h w c -> b c h w", &[])?;
        /// assert!(!planes.copied());
        /// assert_eq!((planes.dtype(), planes.shape()), (DType::U8, &[1, 3, 4, 6][..]));
        /// let frames = planes.repeat_axes("b c h w -> b t c h w", &[("t", 2)])?;
        /// assert_eq!(frames.strides(), [72, 0, 1, 18, 3]);
        /// let floats = planes.to_dtype(DType::F32)?;
        /// let pooled = floats.reduce("b c (h 2) (w 2) -> b c h w", Reduction::Mean, &[])?;
        /// assert_eq!(pooled.shape(), [1, 3, 2, 3]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::Pattern`].
        #[track_caller]
        fn rearrange<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, RearrangePattern>>,
            sizes: &[(&str, usize)],
        ) -> Result<AnyReshaped<K>> {
            let pattern = &*pattern.into().parsed()?;
            forward_reshaped!(self.as_any(), "rearrange", x => {
                TensorExt::rearrange(x, pattern, sizes)
            })
        }

        /// As [`rearrange`](Self::rearrange), with elements repeated along new axes. As
        /// [`TensorExt::repeat_axes`].
        ///
        /// # Errors
        /// [`Error::Pattern`].
        #[track_caller]
        fn repeat_axes<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, RepeatPattern>>,
            sizes: &[(&str, usize)],
        ) -> Result<AnyReshaped<K>> {
            let pattern = &*pattern.into().parsed()?;
            forward_reshaped!(self.as_any(), "repeat_axes", x => {
                TensorExt::repeat_axes(x, pattern, sizes)
            })
        }
    };
}

pub(super) use pattern_methods;
