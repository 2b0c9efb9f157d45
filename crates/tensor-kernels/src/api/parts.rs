//! Whether a condition holds for all parts of two operands: asked for several parts at a time, and
//! not again once it does not hold for one.

use std::{
    cmp::Reverse,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tensor_core::{Element, Error, Layout, Result, TensorView};

use crate::exec::{Exec, pool};

/// The bytes of a part: so much is compared after another part was found to differ. It takes some
/// ten microseconds, and cutting a part off a tenth of one.
pub(super) const PART_BYTES: usize = 256 << 10;

/// Does `holds` return true for all parts of two operands of one shape? What is asked after it
/// returned false somewhere is not determined.
///
/// # Errors
/// Those of `holds`, unless it returned false first.
pub(super) fn all_parts<A: Element, B: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    holds: impl Fn(&TensorView<'_, A>, &TensorView<'_, B>) -> Result<bool> + Sync,
) -> Result<bool> {
    let bytes = a.numel().saturating_mul(size_of::<A>().saturating_add(size_of::<B>()));
    let search = Search { holds, ended: AtomicBool::new(false), error: Mutex::default() };
    search.run(a, b, exec.tasks(bytes));
    let error = search.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or_else(|| Ok(!search.ended.into_inner()), Err)
}

struct Search<F> {
    holds: F,
    /// Has `holds` returned something else than true?
    ended: AtomicBool,
    /// What it has returned first, if that was an error.
    error: Mutex<Option<Error>>,
}

impl<F> Search<F> {
    fn run<A: Element, B: Element>(
        &self,
        a: &TensorView<'_, A>,
        b: &TensorView<'_, B>,
        tasks: usize,
    ) where
        F: Fn(&TensorView<'_, A>, &TensorView<'_, B>) -> Result<bool> + Sync,
    {
        // Elements are not published by it: they are only read.
        if self.ended.load(Ordering::Relaxed) {
            return;
        }
        let bytes = a.numel().saturating_mul(size_of::<A>().max(size_of::<B>()));
        let Some(dim) = farthest(a.layout()).filter(|_| bytes > PART_BYTES || tasks > 1) else {
            return self.end_unless((self.holds)(a, b));
        };
        let (half, size) = (a.shape()[dim] / 2, a.shape()[dim]);
        let part = |start: usize, len: usize, tasks: usize| match (
            a.narrow(dim, start, len),
            b.narrow(dim, start, len),
        ) {
            (Ok(a), Ok(b)) => self.run(&a, &b, tasks),
            (Err(error), _) | (_, Err(error)) => self.end_unless(Err(error)),
        };
        let (first, rest) =
            (|| part(0, half, tasks / 2), || part(half, size - half, tasks - tasks / 2));
        if tasks > 1 {
            pool::join(first, rest);
        } else {
            first();
            rest();
        }
    }

    fn end_unless(&self, holds: Result<bool>) {
        if holds == Ok(true) || self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(error) = holds {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

/// The dimension with the largest stride.
pub(super) fn farthest(layout: &Layout) -> Option<usize> {
    longer_dims(layout).max_by_key(|&d| (layout.strides()[d].unsigned_abs(), Reverse(d)))
}

/// The dimensions of more than one index.
pub(super) fn longer_dims(layout: &Layout) -> impl Iterator<Item = usize> {
    (0..layout.ndim()).filter(|&d| layout.shape()[d] > 1)
}
