//! Whether a condition holds for all parts of two operands: asked for several parts at a time, and
//! not again once it does not hold for one.
//!
//! Two threads compare 4 to 64 MiB of floats in half of the time of one, in any order (Zen 5, best
//! of many: 226 and 116 µs within tolerances, 354 and 181 µs if one operand is transposed). Only
//! where equality of contiguous operands waits for memory do they gain less: 3.1 and 2.6 ms for
//! 64 MiB.

use std::{
    cmp::Reverse,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tensor_core::{DimVec, Element, Error, Layout, Result, TensorView};

use crate::{
    exec::{Exec, pool},
    memory::CACHE_LINE,
};

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

/// Two operands of one shape.
#[derive(Clone, Copy)]
pub(super) struct Pair<'l> {
    pub(super) layouts: [&'l Layout; 2],
    pub(super) item_bytes: [usize; 2],
}

impl Pair<'_> {
    /// The bytes of both operands.
    fn bytes(self) -> usize {
        let [a, b] = self.item_bytes;
        self.layouts[0].numel().saturating_mul(a.saturating_add(b))
    }

    /// The bytes of a block of the wider operand.
    fn bytes_of(self, block: &Block) -> usize {
        let numel = block.sizes.iter().fold(1_usize, |numel, &size| numel.saturating_mul(size));
        numel.saturating_mul(self.item_bytes[0].max(self.item_bytes[1]))
    }

    /// The dimension to cut a block along.
    fn cut(self, block: &Block) -> Option<usize> {
        dim_to_cut(&block.sizes, self.layouts, self.item_bytes[0].max(self.item_bytes[1]))
    }
}

/// The dimension along which both operands are cut: the one whose steps are long in both, so that
/// the parts have whole cache lines of either. Where all steps are short in one of them, as in a
/// transpose, that with the longest steps in the first operand, until the parts have one cache line
/// of the second along it.
///
/// By the first operand alone, equality of two transposed 64 MiB takes 33 ms instead of 16 (Zen 5).
pub(super) fn dim_to_cut(
    sizes: &[usize],
    layouts: [&Layout; 2],
    item_bytes: usize,
) -> Option<usize> {
    let bytes =
        |layout: &Layout, d: usize| layout.strides()[d].unsigned_abs().saturating_mul(item_bytes);
    let steps = |d: usize| layouts.map(|layout| bytes(layout, d)).into_iter();
    let lines = |d: usize| steps(d).filter(|&step| step > 0).min().unwrap_or(0) / CACHE_LINE;
    let is_long = |d: usize| sizes[d].saturating_mul(item_bytes) > CACHE_LINE;
    let longer = (0..sizes.len()).filter(|&d| sizes[d] > 1);
    longer.max_by_key(|&d| (lines(d), is_long(d), bytes(layouts[0], d), Reverse(d)))
}

/// The indices of a part: in each dimension `sizes` of them, from `starts` on.
#[derive(Clone, Debug)]
pub(super) struct Block {
    starts: DimVec<usize>,
    sizes: DimVec<usize>,
}

impl Block {
    fn whole(shape: &[usize]) -> Self {
        Self { starts: shape.iter().map(|_| 0).collect(), sizes: shape.iter().copied().collect() }
    }

    /// The elements at these indices.
    ///
    /// # Errors
    /// Indices that the operand does not have.
    pub(super) fn of<'a, T: Element>(
        &self,
        whole: &TensorView<'a, T>,
    ) -> Result<TensorView<'a, T>> {
        let mut part = whole.clone();
        for (dim, (&start, &size)) in self.starts.iter().zip(&self.sizes).enumerate() {
            if size != part.shape()[dim] {
                part = part.narrow(dim, start, size)?;
            }
        }
        Ok(part)
    }

    fn halves(&self, dim: usize) -> [Self; 2] {
        let half = self.sizes[dim] / 2;
        let (mut first, mut rest) = (self.clone(), self.clone());
        first.sizes[dim] = half;
        rest.sizes[dim] -= half;
        rest.starts[dim] += half;
        [first, rest]
    }
}

/// A condition on a part of both operands.
type Holds<'h> = &'h (dyn Fn(&Block) -> Result<bool> + Sync);

/// Does `holds` return true for all parts of two operands of one shape? What is asked after it
/// returned false somewhere is not determined.
///
/// # Errors
/// Those of `holds`, unless it returned false first.
pub(super) fn all_parts(exec: &Exec, pair: Pair<'_>, holds: Holds<'_>) -> Result<bool> {
    let (whole, tasks) = (Block::whole(pair.layouts[0].shape()), tasks(exec, pair.bytes()));
    if tasks > 1 && !holds(&first(pair, whole.clone()))? {
        return Ok(false);
    }
    let search = Search { pair, holds, ended: AtomicBool::new(false), error: Mutex::default() };
    search.run(&whole, tasks);
    let error = search.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or_else(|| Ok(!search.ended.into_inner()), Err)
}

/// The first elements of a block.
fn first(pair: Pair<'_>, mut block: Block) -> Block {
    while let Some(dim) = pair.cut(&block).filter(|_| pair.bytes_of(&block) > FIRST_BYTES) {
        [block, _] = block.halves(dim);
    }
    block
}

struct Search<'s> {
    pair: Pair<'s>,
    holds: Holds<'s>,
    /// Has `holds` returned something else than true?
    ended: AtomicBool,
    /// What it has returned first, if that was an error.
    error: Mutex<Option<Error>>,
}

impl Search<'_> {
    fn run(&self, block: &Block, tasks: usize) {
        // Elements are not published by it: they are only read.
        if self.ended.load(Ordering::Relaxed) {
            return;
        }
        let is_cut = tasks > 1 || self.pair.bytes_of(block) > PART_BYTES;
        let Some(dim) = self.pair.cut(block).filter(|_| is_cut) else {
            return self.end_unless((self.holds)(block));
        };
        let [first, rest] = block.halves(dim);
        let (first, rest) = (|| self.run(&first, tasks / 2), || self.run(&rest, tasks - tasks / 2));
        if tasks > 1 {
            pool::join(first, rest);
        } else {
            first();
            rest();
        }
    }

    fn end_unless(&self, holds: Result<bool>) {
        if matches!(holds, Ok(true)) || self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(error) = holds {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}
