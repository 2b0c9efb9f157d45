//! Operations on all elements, or those along some dimensions.

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
            pub(crate) fn fresh<$t: $bound, K>(exec: &Exec, a: &Operand<'_, $t>, over: ReduceDims<'_>) -> Result<TensorBase<$output, K>> {
                Call::new(exec, stringify!($name)).reduce_fresh::<$t, Self, K>(a, over)
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
            $op::fresh(exec, &a.into(), over.into())
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
            Call::new(exec, stringify!($name)).reduce_into::<$t, $op>(a.into(), over.into(), out.into())
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
    /// The sum over dimensions (PyTorch: `torch.sum`); 0 of no elements.
    ///
    /// Of bool and integers as i64, of u64 as u64, wrapping around; f16 and bf16 are summed in f32
    /// and rounded once. The sum of n floats is off by at most `(128 + log2 n) · u` times the sum
    /// of their magnitudes, `u` being 2⁻²⁴ for f32 and 2⁻⁵³ for f64.
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
    /// The product over dimensions (PyTorch: `torch.prod`); 1 of no elements. Types are those of
    /// [`sum`].
    Prod prod prod_into prod_all: Accumulate -> T::Sum, |T|;
    /// The mean over dimensions, of real and complex floats (PyTorch: `torch.mean`): the [`sum`]
    /// through the number of elements; NaN of none.
    Mean mean mean_into mean_all: Inexact -> T, |T|;
    /// The least element over dimensions; NaN if one is (PyTorch: `torch.amin`). No elements have
    /// none: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). Which of two zeros it is is not
    /// said.
    Min min min_into min_all: Compare -> T, |T|;
    /// The greatest element over dimensions; NaN if one is (PyTorch: `torch.amax`). No elements
    /// have none: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). Which of two zeros it is is
    /// not said.
    Max max max_into max_all: Compare -> T, |T|;
    /// Where the least element is, over dimensions; the first NaN if there is one, else the first
    /// of equals (PyTorch: `torch.argmin`).
    ///
    /// That is the index along the dimension; over several dimensions, the number of the element
    /// among them in row-major order. No elements have none:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMin argmin argmin_into argmin_all: Compare -> i64, |T|;
    /// Where the greatest element is, over dimensions; the first NaN if there is one, else the
    /// first of equals (PyTorch: `torch.argmax`).
    ///
    /// Indices are those of [`argmin`]. No elements have none:
    /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
    ArgMax argmax argmax_into argmax_all: Compare -> i64, |T|;
}
