//! Copy bandwidth: the speed of the fastest plain copy of the same bytes, in the same run, with the
//! same threads.
//!
//! Two copies are raced, `memcpy` and one with non-temporal stores, and the faster one counts:
//! which one is faster depends on size and machine. Both use memory of their own that has been
//! written before, and that tensors have allocated: large ones ask for huge pages, without which a
//! copy takes up to a fifth longer. Each thread copies an equal part.

use std::{cell::RefCell, rc::Rc};

use rayon::prelude::*;
use tensor_kernels::{Tensor, TensorRef, TensorRefMut, TensorView, TensorViewMut, stream_copy};

use crate::{
    Failure, Result,
    measure::{engine::Contender, stats::Timing},
};

/// The smallest part of a thread: waking a thread takes longer than copying less than this.
const MIN_BYTES_PER_THREAD: usize = 128 << 10;

/// A cache line. Parts of threads end on line boundaries.
const CACHE_LINE: usize = 64;

/// Source and target of the plain copies.
pub struct PlainCopy {
    source: Tensor<u8>,
    target: Tensor<u8>,
    chunk_bytes: usize,
}

impl PlainCopy {
    /// Allocates source and target. Both are written: pages that were never written are all mapped
    /// to one page of zeros, which stays in the cache.
    ///
    /// # Errors
    /// No memory.
    pub fn new(bytes: u64, threads: usize) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| Failure::work("too many bytes to copy"))?;
        let chunks = threads.min(bytes / MIN_BYTES_PER_THREAD).max(1);
        let chunk_bytes = bytes.div_ceil(chunks).next_multiple_of(CACHE_LINE);
        let (source, target) = (Tensor::full([bytes], 1)?, Tensor::full([bytes], 2)?);
        Ok(PlainCopy { source, target, chunk_bytes })
    }

    /// Borrows both.
    ///
    /// # Errors
    /// They are borrowed already.
    pub fn open(&self) -> Result<OpenCopy<'_>> {
        let (source, target) = (self.source.read()?, self.target.write()?);
        Ok(OpenCopy { source, target, chunk_bytes: self.chunk_bytes })
    }
}

/// Source and target, borrowed.
pub struct OpenCopy<'a> {
    source: TensorRef<'a, u8>,
    target: TensorRefMut<'a, u8>,
    chunk_bytes: usize,
}

impl OpenCopy<'_> {
    /// The bytes that are copied.
    ///
    /// # Errors
    /// None.
    pub fn views(&mut self) -> Result<PlainViews<'_>> {
        let (source, target) = (self.source.as_view(), self.target.as_view_mut()?);
        Ok(PlainViews { source, target, chunk_bytes: self.chunk_bytes })
    }
}

/// Source and target as views.
pub struct PlainViews<'a> {
    source: TensorView<'a, u8>,
    target: TensorViewMut<'a, u8>,
    chunk_bytes: usize,
}

impl PlainViews<'_> {
    /// `memcpy` and the copy with non-temporal stores.
    ///
    /// # Errors
    /// None: both are contiguous.
    pub fn contenders(&mut self) -> Result<[Contender<'_>; 2]> {
        let chunk_bytes = self.chunk_bytes;
        let (source, target) = (self.source.as_slice(), self.target.as_slice_mut());
        let (Some(source), Some(target)) = (source, target) else {
            return Err(Failure::work("the memory of a plain copy is contiguous"));
        };
        let target = Rc::new(RefCell::new(target));
        let memcpy = |target: &mut [u8], source: &[u8]| target.copy_from_slice(source);
        let other = Rc::clone(&target);
        Ok([
            contender(source, target, chunk_bytes, memcpy),
            contender(source, other, chunk_bytes, stream_copy),
        ])
    }
}

fn contender<'a>(
    source: &'a [u8],
    target: Rc<RefCell<&'a mut [u8]>>,
    chunk_bytes: usize,
    copy: impl Fn(&mut [u8], &[u8]) + Sync + 'a,
) -> Contender<'a> {
    Contender::new(move || {
        let mut target = target.borrow_mut();
        if chunk_bytes >= source.len() {
            copy(&mut target, source);
        } else {
            let chunks = target.par_chunks_mut(chunk_bytes).zip(source.par_chunks(chunk_bytes));
            chunks.for_each(|(target, source)| copy(target, source));
        }
        std::hint::black_box(&mut target);
        Ok::<_, Failure>(())
    })
}

/// The best time of the faster copy, in nanoseconds.
pub fn faster(memcpy: Timing, stream: Timing) -> f64 {
    memcpy.best_ns.min(stream.best_ns)
}

#[cfg(test)]
mod tests {
    use tensor_kernels::TensorMutExt;

    use super::*;
    use crate::measure::engine::{Budget, race};

    #[test]
    fn both_copies_are_complete_on_one_thread_and_on_several() {
        for (bytes, threads) in [(1, 1), (100, 2), (1 << 20, 1), ((1 << 20) + 17, 3)] {
            let plain_copy = PlainCopy::new(bytes, threads).unwrap();
            for at in 0..2 {
                plain_copy.target.fill(2).unwrap();
                let mut memory = plain_copy.open().unwrap();
                let mut views = memory.views().unwrap();
                let contender = views.contenders().unwrap().into_iter().nth(at).unwrap();
                race(&Budget { max_rounds: 1, min_rounds: 1, ..Budget::QUICK }, [contender])
                    .unwrap();
                drop(memory);
                let written = plain_copy.target.iter().unwrap().all(|byte| byte == 1);
                assert!(written, "{bytes} bytes, {threads} threads");
            }
        }
    }

    #[test]
    fn small_copies_are_not_handed_to_threads() {
        assert!(PlainCopy::new(200 << 10, 8).unwrap().chunk_bytes >= 200 << 10);
        assert_eq!(PlainCopy::new(1 << 20, 2).unwrap().chunk_bytes, 512 << 10);
    }
}
