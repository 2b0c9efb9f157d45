//! Reductions, over all elements or along some dimensions.

use tensor_core::{Operand, Output, ReduceDims, Result, TensorBase};

use crate::{
    api::{call::Call, reductions::*, tensor::Simd},
    element::{Accumulate, Compare, Inexact},
    exec::Exec,
};

/// The forms of each reduction.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $op:ident $name:ident $into:ident $all:ident: $bound:ident -> $output:ty, |$t:ident|;
    )*) => {$(
        impl $op {
            pub(crate) fn eval<$t: $bound, K>(
                exec: &Exec,
                a: &Operand<'_, $t>,
                over: ReduceDims<'_>,
            ) -> Result<TensorBase<$output, K>> {
                Call::new(exec, stringify!($name)).reduce_new::<$t, Self, K>(a, over)
            }

            pub(crate) fn all<$t: $bound>(exec: &Exec, a: Operand<'_, $t>) -> Result<$output> {
                Call::new(exec, stringify!($name)).reduce_all::<$t, Self>(a)
            }
        }

        $(#[$doc])*
        ///
        /// # Errors
        /// A dimension out of range or named twice, a storage that is being written, no memory.
        pub fn $name<'a, 'd, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            over: impl Into<ReduceDims<'d>>,
        ) -> Result<TensorBase<$output, Simd>> {
            $op::eval(exec, &a.into(), over.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`];")]
        /// a result of another shape, or that shares elements with the operand without being it, or
        /// with itself; see [`ops`](crate::ops).
        pub fn $into<'a, 'd, 'o, $t: $bound>(
            exec: &Exec,
            a: impl Into<Operand<'a, $t>>,
            over: impl Into<ReduceDims<'d>>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()> {
            let call = Call::new(exec, stringify!($name));
            call.reduce_into::<$t, $op>(a.into(), over.into(), out.into())
        }

        #[doc = concat!("[`", stringify!($name), "`] of all elements, as a value.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`].")]
        pub fn $all<'a, $t: $bound>(exec: &Exec, a: impl Into<Operand<'a, $t>>) -> Result<$output> {
            $op::all(exec, a.into())
        }
    )*};
}

reductions! {
    /// The sum over dimensions (PyTorch: `torch.sum`); 0 if there are no elements.
    ///
    /// bool and integers are summed as i64, u64 as u64, wrapping around; f16 and bf16 are summed in
    /// f32 and rounded once. The error of the sum of n floats is at most `(128 + log2 n) · u` times
    /// the sum of their magnitudes, where `u` is 2⁻²⁴ for f32 and 2⁻⁵³ for f64.
    ///
    /// ```
    /// use tensor_kernels::{Exec, ReduceDims, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::arange(0i64, 6, 1)?.view(&[2, 3])?;
    /// assert_eq!(ops::sum(exec, &x, 0)?.to_vec()?, [3, 5, 7]);
    /// assert_eq!(ops::sum(exec, &x, ReduceDims::from(-1).keepdim())?.shape(), [2, 1]);
    /// assert_eq!(ops::sum(exec, &x, &[0, 1])?.get(&[])?, 15);
    /// assert_eq!(ops::sum_all(exec, &x.t()?)?, 15);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    Sum sum sum_into sum_all: Accumulate -> T::Sum, |T|;
    /// The product over dimensions (PyTorch: `torch.prod`); 1 if there are no elements. Types are
    /// those of [`sum`].
    Prod prod prod_into prod_all: Accumulate -> T::Sum, |T|;
    /// The mean over dimensions, of real and complex floats (PyTorch: `torch.mean`): the [`sum`]
    /// divided by the number of elements; NaN if there are none.
    Mean mean mean_into mean_all: Inexact -> T, |T|;
    /// The smallest element over dimensions; NaN if one is NaN (PyTorch: `torch.amin`). No
    /// elements: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). The sign of a zero result is
    /// unspecified.
    Min min min_into min_all: Compare -> T, |T|;
    /// The largest element over dimensions; NaN if one is NaN (PyTorch: `torch.amax`). No elements:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). The sign of a zero result is unspecified.
    Max max max_into max_all: Compare -> T, |T|;
    /// The index of the smallest element over dimensions: of the first NaN if there is one, else of
    /// the first of equal elements (PyTorch: `torch.argmin`).
    ///
    /// The index is that along the dimension. Over several dimensions it is the position among
    /// their elements in row-major order. No elements:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMin argmin argmin_into argmin_all: Compare -> i64, |T|;
    /// The index of the largest element over dimensions: of the first NaN if there is one, else of
    /// the first of equal elements (PyTorch: `torch.argmax`).
    ///
    /// Indices are those of [`argmin`]. No elements:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMax argmax argmax_into argmax_all: Compare -> i64, |T|;
}
