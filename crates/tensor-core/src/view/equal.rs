//! Equality of views: by the kernels of the view on the left, and what is done without kernels,
//! elements in an order that suits the memory of both.

use std::ops::{ControlFlow, Range};

use super::{TensorViewBase, TensorViewMutBase};
use crate::{Element, ReadKernel, layout::pairs::for_each_row, operators::or_panic};

/// The elements that are compared before the result is looked at.
const PART: usize = 64;

/// Same shape and equal elements? Compared here, without kernels.
pub(crate) fn equal_by_rows<T: Copy + PartialEq, K>(
    a: &TensorViewBase<'_, T, K>,
    b: &TensorViewBase<'_, T, K>,
) -> bool {
    if a.shape() != b.shape() {
        return false;
    }
    let rows = for_each_row([&a.layout, &b.layout], |row| {
        let equal = |i| {
            // SAFETY: the rows visit offsets of both layouts (invariant 1).
            let x = unsafe { a.base.add(row.offset(0, i)) };
            // SAFETY: as above.
            let y = unsafe { b.base.add(row.offset(1, i)) };
            // SAFETY: invariants 1 and 2.
            let x = unsafe { x.as_ref() };
            // SAFETY: as above.
            let y = unsafe { y.as_ref() };
            x == y
        };
        // Without a branch for each element, several are compared at a time.
        let all = |part: Range<usize>| part.fold(true, |all, i| all & equal(i));
        let mut parts = (0..row.len).step_by(PART).map(|i| i..row.len.min(i + PART));
        if parts.all(all) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    rows.is_continue()
}

/// Comparisons of views with views: same shape and equal elements?
macro_rules! comparisons {
    ($($left:ident, $right:ident;)*) => {$(
        impl<T: Element + PartialEq, K: ReadKernel, L> PartialEq<$right<'_, T, L>>
            for $left<'_, T, K>
        {
            /// # Panics
            /// If the kernels want memory that cannot be allocated.
            #[track_caller]
            fn eq(&self, other: &$right<'_, T, L>) -> bool {
                or_panic(K::equal(self.into(), other.into()))
            }
        }
    )*};
}

comparisons! {
    TensorViewBase, TensorViewBase;
    TensorViewBase, TensorViewMutBase;
    TensorViewMutBase, TensorViewBase;
    TensorViewMutBase, TensorViewMutBase;
}
