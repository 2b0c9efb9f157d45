//! The methods that take a pattern in einops' notation.

macro_rules! pattern_methods {
    () => {
        /// The same elements under other dimensions and in another order, by a pattern (einops:
        /// `rearrange`): a view if strides can express it, else one copy. The result says which.
        ///
        /// The left side names the dimensions of the input, the right side those of the result:
        ///
        /// | written | on the left | on the right |
        /// |---|---|---|
        /// | `h` | a dimension | a dimension |
        /// | `(h w)` | a dimension that is split | dimensions merged to one, the last one fastest |
        /// | `...` | any number of dimensions | the same; in parentheses, merged to one |
        /// | `1` or `()` | a dimension of size 1 | a dimension of size 1 |
        ///
        /// Names are separated by spaces. A name is a letter, then letters, digits and underscores,
        /// not ending in an underscore. `sizes` gives the sizes of axes that do not follow from the
        /// shape: of each dimension that is split all but one. A pattern that is used often can be
        /// kept as a [`RearrangePattern`], without parsing it again.
        ///
        /// ```
        /// use tensor_kernels::{Tensor, TensorExt};
        ///
        /// let x = Tensor::arange(0i64, 24, 1)?.view([2, 6, 2])?;
        /// let y = x.rearrange("b (h w) c -> b c h w", &[("h", 3)])?;
        /// assert_eq!((y.shape(), y.copied()), (&[2, 2, 3, 2][..], false));
        ///
        /// let z = x.rearrange("b hw c -> b (c hw)", &[])?;
        /// assert_eq!((z.shape(), z.copied()), (&[2, 12][..], true));
        ///
        /// let refused = x.rearrange("b (h w) c -> b h w", &[("h", 3)]).unwrap_err();
        /// assert_eq!(
        ///     refused.to_string(),
        ///     "rearrange: axis 'c' is on the left side only; it must be on both
        ///   b (h w) c -> b h w
        ///           ^"
        /// );
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::Pattern`] with the rule that the pattern, the sizes or the shape break, and the
        /// place in the pattern; [`Error::TooLarge`].
        #[track_caller]
        fn rearrange<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, RearrangePattern>>,
            sizes: &[(&str, usize)],
        ) -> Result<Self::Arranged<'_>>;

        /// As [`rearrange`](Self::rearrange), but the right side can have more axes than the left
        /// one: elements are repeated along them (einops: `repeat`).
        ///
        /// A new axis is a number or a name with a size. It is a view, of stride 0, unless it is
        /// merged with another one.
        ///
        /// ```
        /// use tensor_kernels::{Tensor, TensorExt};
        ///
        /// let gray = Tensor::arange(0u8, 4, 1)?.view([2, 2])?;
        /// let rgb = gray.repeat_axes("h w -> h w c", &[("c", 3)])?;
        /// assert_eq!((rgb.strides(), rgb.copied()), (&[2, 1, 0][..], false));
        ///
        /// let wide = gray.repeat_axes("h w -> h (w 2)", &[])?;
        /// assert_eq!(wide.to_vec()?, [0, 0, 1, 1, 2, 2, 3, 3]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`rearrange`](Self::rearrange), and a new axis without a size.
        #[track_caller]
        fn repeat_axes<'p>(
            &self,
            pattern: impl Into<PatternArg<'p, RepeatPattern>>,
            sizes: &[(&str, usize)],
        ) -> Result<Self::Arranged<'_>>;
    };
}

pub(super) use pattern_methods;
