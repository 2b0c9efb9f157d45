//! The table of named reductions; `table` has those of the other operations.

/// Reductions: over dimensions, into a given result, and of all elements to a value. How each
/// combines elements is in [`reductions`](crate::api::reductions).
macro_rules! reduction_operations {
    ($generate:ident) => {
        $generate! {
            /// The sum over dimensions (PyTorch: `torch.sum`); 0 if there are no elements.
            ///
            /// bool and integers are summed as i64, u64 as u64, wrapping around; f16 and bf16 are
            /// summed in f32 and rounded once. The error of the sum of n floats is at most `(128 +
            /// log2 n) · u` times the sum of their magnitudes, where `u` is 2⁻²⁴ for f32 and 2⁻⁵³
            /// for f64.
            Sum<T: Accumulate> -> T::Sum: sum, sum_into, sum_all;
            /// The product over dimensions (PyTorch: `torch.prod`); 1 if there are no elements.
            /// Types are those of [`ops::sum`](crate::ops::sum).
            Prod<T: Accumulate> -> T::Sum: prod, prod_into, prod_all;
            /// The mean over dimensions, of real and complex floats (PyTorch: `torch.mean`): the
            /// [`ops::sum`](crate::ops::sum) divided by the number of elements; NaN if there are
            /// none.
            Mean<T: Inexact> -> T: mean, mean_into, mean_all;
            /// The smallest element over dimensions; NaN if one is NaN (PyTorch: `torch.amin`). No
            /// elements: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). The sign of a zero
            /// result is unspecified.
            #[doc(alias = "amin")]
            Min<T: Compare> -> T: min, min_into, min_all;
            /// The largest element over dimensions; NaN if one is NaN (PyTorch: `torch.amax`). No
            /// elements: [`Error::ReduceEmpty`](crate::Error::ReduceEmpty). The sign of a zero
            /// result is unspecified.
            #[doc(alias = "amax")]
            Max<T: Compare> -> T: max, max_into, max_all;
            /// Is any element over dimensions not 0? NaN counts as not 0 (PyTorch: `torch.any`,
            /// whose result for uint8 is uint8). False if there are no elements.
            Any<T: Equality> -> bool: any, any_into, any_all;
            /// Are all elements over dimensions not 0? NaN counts as not 0 (PyTorch: `torch.all`,
            /// whose result for uint8 is uint8). True if there are no elements.
            All<T: Equality> -> bool: all, all_into, all_all;
            /// The index of the smallest element over dimensions: of the first NaN if there is one,
            /// else of the first of equal elements (PyTorch: `torch.argmin`).
            ///
            /// The index is that along the dimension. Over several dimensions it is the position
            /// among their elements in row-major order. No elements:
            /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
            ArgMin<T: Compare> -> i64: argmin, argmin_into, argmin_all;
            /// The index of the largest element over dimensions: of the first NaN if there is one,
            /// else of the first of equal elements (PyTorch: `torch.argmax`).
            ///
            /// Indices are those of [`ops::argmin`](crate::ops::argmin). No elements:
            /// [`Error::ReduceEmpty`](crate::Error::ReduceEmpty).
            ArgMax<T: Compare> -> i64: argmax, argmax_into, argmax_all;
        }
    };
}

pub(in crate::api) use reduction_operations;
