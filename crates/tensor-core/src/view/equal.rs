//! Equality of views: elements are compared in an order that suits the memory of both.

use std::ops::{ControlFlow, Range};

use super::{TensorViewBase, TensorViewMutBase};
use crate::layout::pairs::for_each_row;

/// The elements that are compared before the result is looked at.
const PART: usize = 64;

impl<T: Copy + PartialEq, U: Copy, K, L> PartialEq<TensorViewBase<'_, U, L>>
    for TensorViewBase<'_, T, K>
where
    T: PartialEq<U>,
{
    fn eq(&self, other: &TensorViewBase<'_, U, L>) -> bool {
        if self.shape() != other.shape() {
            return false;
        }
        let rows = for_each_row([&self.layout, &other.layout], |row| {
            let equal = |i| {
                // SAFETY: the rows visit offsets of both layouts (invariant 1).
                let a = unsafe { self.base.add(row.offset(0, i)) };
                // SAFETY: as above.
                let b = unsafe { other.base.add(row.offset(1, i)) };
                // SAFETY: invariants 1 and 2.
                let a = unsafe { a.as_ref() };
                // SAFETY: as above.
                let b = unsafe { b.as_ref() };
                a == b
            };
            // Without a branch for each element, several are compared at a time.
            let all = |part: Range<usize>| part.fold(true, |all, i| all & equal(i));
            let mut parts = (0..row.len).step_by(PART).map(|i| i..row.len.min(i + PART));
            if parts.all(all) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        rows.is_continue()
    }
}

impl<T, U, K, L> PartialEq<TensorViewBase<'_, U, L>> for TensorViewMutBase<'_, T, K>
where
    T: Copy + PartialEq<U> + PartialEq,
    U: Copy,
{
    fn eq(&self, other: &TensorViewBase<'_, U, L>) -> bool {
        self.as_view() == *other
    }
}

impl<T, U, K, L> PartialEq<TensorViewMutBase<'_, U, L>> for TensorViewBase<'_, T, K>
where
    T: Copy + PartialEq<U> + PartialEq,
    U: Copy,
{
    fn eq(&self, other: &TensorViewMutBase<'_, U, L>) -> bool {
        *self == other.as_view()
    }
}

impl<T, U, K, L> PartialEq<TensorViewMutBase<'_, U, L>> for TensorViewMutBase<'_, T, K>
where
    T: Copy + PartialEq<U> + PartialEq,
    U: Copy,
{
    fn eq(&self, other: &TensorViewMutBase<'_, U, L>) -> bool {
        self.as_view() == other.as_view()
    }
}
