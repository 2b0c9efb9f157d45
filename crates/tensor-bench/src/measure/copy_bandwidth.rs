//! Copy bandwidth: the speed of the fastest plain copy of the same bytes, in the same run, with the
//! same threads.
//!
//! Two copies are raced, `memcpy` and one with non-temporal stores, and the faster one counts:
//! which one is faster depends on size and machine. Both use memory of their own that has been
//! written before. Each thread copies an equal part.

use std::cell::RefCell;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use tensor_kernels::stream_copy;

use crate::{
    Failure, Result,
    measure::{engine::Contender, stats::Timing},
};

/// The smallest part of a thread: waking a thread takes longer than copying less than this.
const MIN_BYTES_PER_THREAD: usize = 128 << 10;

/// A cache line. Parts of threads end on line boundaries.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// Source and target of the plain copies.
pub struct PlainCopy {
    source: Vec<CacheLine>,
    target: RefCell<Vec<CacheLine>>,
    bytes: usize,
    chunk_bytes: usize,
}

impl PlainCopy {
    /// Allocates source and target.
    ///
    /// # Errors
    /// No memory.
    pub fn new(bytes: u64, threads: usize) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| Failure::work("too many bytes to copy"))?;
        let chunks = threads.min(bytes / MIN_BYTES_PER_THREAD).max(1);
        let chunk_bytes = bytes.div_ceil(chunks).next_multiple_of(size_of::<CacheLine>());
        let (source, target) = (lines(bytes, 1)?, RefCell::new(lines(bytes, 2)?));
        Ok(PlainCopy { source, target, bytes, chunk_bytes })
    }

    /// `memcpy` and the copy with non-temporal stores.
    pub fn contenders(&self) -> [Contender<'_>; 2] {
        let memcpy = |target: &mut [u8], source: &[u8]| target.copy_from_slice(source);
        [self.contender(memcpy), self.contender(stream_copy)]
    }

    fn contender<'a>(&'a self, copy: impl Fn(&mut [u8], &[u8]) + Sync + 'a) -> Contender<'a> {
        let source = &bytemuck::cast_slice::<CacheLine, u8>(&self.source)[..self.bytes];
        Contender::new(move || {
            let mut target = self.target.borrow_mut();
            let target = &mut bytemuck::cast_slice_mut::<CacheLine, u8>(&mut target)[..self.bytes];
            if self.chunk_bytes >= self.bytes {
                copy(target, source);
            } else {
                let chunks = target
                    .par_chunks_mut(self.chunk_bytes)
                    .zip(source.par_chunks(self.chunk_bytes));
                chunks.for_each(|(target, source)| copy(target, source));
            }
            std::hint::black_box(target);
            Ok::<_, Failure>(())
        })
    }
}

/// The best time of the faster copy, in nanoseconds.
pub fn faster(memcpy: Timing, stream: Timing) -> f64 {
    memcpy.best_ns.min(stream.best_ns)
}

/// Memory that has been written: pages that were never written are all mapped to one page of zeros,
/// which stays in the cache.
fn lines(bytes: usize, value: u8) -> Result<Vec<CacheLine>> {
    let count = bytes.div_ceil(size_of::<CacheLine>());
    let mut lines = Vec::new();
    lines
        .try_reserve_exact(count)
        .map_err(|_| Failure::work(format!("no memory for {bytes} bytes")))?;
    lines.resize(count, CacheLine([value; 64]));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::engine::{Budget, race};

    #[test]
    fn both_copies_are_complete_on_one_thread_and_on_several() {
        for (bytes, threads) in [(1, 1), (100, 2), (1 << 20, 1), ((1 << 20) + 17, 3)] {
            let plain_copy = PlainCopy::new(bytes, threads).unwrap();
            for contender in plain_copy.contenders() {
                plain_copy.target.borrow_mut().fill(CacheLine([2; 64]));
                race(&Budget { max_rounds: 1, min_rounds: 1, ..Budget::QUICK }, [contender])
                    .unwrap();
                let target = plain_copy.target.borrow();
                let written = bytemuck::cast_slice::<CacheLine, u8>(&target)[..bytes as usize]
                    .iter()
                    .all(|&b| b == 1);
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
