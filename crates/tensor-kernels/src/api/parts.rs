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

/// The bytes of both operands from which on several threads compare them. Fewer take as long as
/// waking another thread: 512 KiB of floats 6 µs, if they are in cache (Zen 5).
const MIN_SHARED_BYTES: usize = 2 << 20;

/// The bytes that are compared before other threads are asked to help: operands that differ mostly
/// do so from the start.
const FIRST_BYTES: usize = 16 << 10;

/// The number of tasks into which the comparison of two operands of `bytes` in all is cut.
pub(super) fn tasks(exec: &Exec, bytes: usize) -> usize {
    if bytes < MIN_SHARED_BYTES { 1 } else { exec.tasks(bytes) }
}

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
    let tasks = tasks(exec, bytes);
    if tasks > 1 && !first_holds(a, b, &holds)? {
        return Ok(false);
    }
    let search = Search { holds, ended: AtomicBool::new(false), error: Mutex::default() };
    search.run(a, b, tasks);
    let error = search.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or_else(|| Ok(!search.ended.into_inner()), Err)
}

/// Does it hold for the first elements?
fn first_holds<A: Element, B: Element>(
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    holds: impl Fn(&TensorView<'_, A>, &TensorView<'_, B>) -> Result<bool>,
) -> Result<bool> {
    let (mut a, mut b) = (a.clone(), b.clone());
    while let Some(dim) = farthest(a.layout()).filter(|_| bytes_of(&a, &b) > FIRST_BYTES) {
        let half = a.shape()[dim] / 2;
        (a, b) = (a.narrow(dim, 0, half)?, b.narrow(dim, 0, half)?);
    }
    holds(&a, &b)
}

/// The bytes of the wider operand.
fn bytes_of<A: Element, B: Element>(a: &TensorView<'_, A>, _b: &TensorView<'_, B>) -> usize {
    a.numel().saturating_mul(size_of::<A>().max(size_of::<B>()))
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
        let is_cut = tasks > 1 || bytes_of(a, b) > PART_BYTES;
        let Some(dim) = farthest(a.layout()).filter(|_| is_cut) else {
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
