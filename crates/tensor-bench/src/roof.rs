//! The roof: the fastest this machine moves that many bytes, in the same run, with the same threads.
//!
//! Two ways are raced, `memcpy` and a copy that writes past the caches, and the faster one counts: which one that is changes with the size and
//! the machine. Both copy from and to memory of their own that has been written before, in equal pieces, one a thread.

use std::cell::RefCell;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use tensor_kernels::stream_copy;

use crate::{Failure, Result, engine::Contender, stats::Timing};

/// A thread is not woken for less than this: handing a piece over costs more than copying it.
const PIECE: usize = 128 << 10;

/// A cache line; pieces end on one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Memory to copy from and to.
pub struct Roof {
    source: Vec<Line>,
    target: RefCell<Vec<Line>>,
    bytes: usize,
    piece: usize,
}

impl Roof {
    /// The roof for that many bytes and threads.
    ///
    /// # Errors
    /// No memory.
    pub fn new(bytes: u64, threads: usize) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| Failure::work("too many bytes to copy"))?;
        let pieces = threads.min(bytes / PIECE).max(1);
        let piece = bytes.div_ceil(pieces).next_multiple_of(size_of::<Line>());
        let (source, target) = (lines(bytes, 1)?, RefCell::new(lines(bytes, 2)?));
        Ok(Roof { source, target, bytes, piece })
    }

    /// The two ways to copy.
    pub fn contenders(&self) -> [Contender<'_>; 2] {
        let memcpy = |target: &mut [u8], source: &[u8]| target.copy_from_slice(source);
        [self.contender(memcpy), self.contender(stream_copy)]
    }

    fn contender<'a>(&'a self, copy: impl Fn(&mut [u8], &[u8]) + Sync + 'a) -> Contender<'a> {
        let source = &bytemuck::cast_slice::<Line, u8>(&self.source)[..self.bytes];
        Contender::new(move || {
            let mut target = self.target.borrow_mut();
            let target = &mut bytemuck::cast_slice_mut::<Line, u8>(&mut target)[..self.bytes];
            if self.piece >= self.bytes {
                copy(target, source);
            } else {
                let pieces = target.par_chunks_mut(self.piece).zip(source.par_chunks(self.piece));
                pieces.for_each(|(target, source)| copy(target, source));
            }
            std::hint::black_box(target);
            Ok::<_, Failure>(())
        })
    }
}

/// The time of the faster of the two.
pub fn faster(memcpy: Timing, stream: Timing) -> f64 {
    memcpy.best_ns.min(stream.best_ns)
}

/// Written memory: pages of zeros that were never written all lie in one page of the cache.
fn lines(bytes: usize, value: u8) -> Result<Vec<Line>> {
    let count = bytes.div_ceil(size_of::<Line>());
    let mut lines = Vec::new();
    lines
        .try_reserve_exact(count)
        .map_err(|_| Failure::work(format!("no memory for {bytes} bytes")))?;
    lines.resize(count, Line([value; 64]));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Budget, race};

    #[test]
    fn both_ways_copy_everything_whole_or_in_pieces() {
        for (bytes, threads) in [(1, 1), (100, 2), (1 << 20, 1), ((1 << 20) + 17, 3)] {
            let roof = Roof::new(bytes, threads).unwrap();
            for contender in roof.contenders() {
                roof.target.borrow_mut().fill(Line([2; 64]));
                race(&Budget { most_rounds: 1, fewest_rounds: 1, ..Budget::QUICK }, [contender])
                    .unwrap();
                let target = roof.target.borrow();
                let written = bytemuck::cast_slice::<Line, u8>(&target)[..bytes as usize]
                    .iter()
                    .all(|&b| b == 1);
                assert!(written, "{bytes} bytes, {threads} threads");
            }
        }
    }

    #[test]
    fn small_copies_are_not_handed_to_threads() {
        assert!(Roof::new(200 << 10, 8).unwrap().piece >= 200 << 10);
        assert_eq!(Roof::new(1 << 20, 2).unwrap().piece, 512 << 10);
    }
}
