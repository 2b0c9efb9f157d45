//! The bound of a copy: what the hardware allows for its layout.
//!
//! Copy bandwidth is the speed of a plain copy, which a copy that rearranges cannot always reach:
//! short runs need more loads and stores for the same bytes, and more cache lines and pages. The
//! bound is the time of the loads and stores that any copy of this layout must do, in a good order,
//! without moving bytes between the lanes of registers:
//!
//! 1. After fusing, source and result consist of runs of adjacent bytes. Work goes block by block.
//!    A block is made of the innermost loops of the result and of the loops along which the source
//!    is adjacent, until both sides have a given length.
//! 2. In a block every run of the source is loaded by the widest registers that fit, then every run
//!    of the result is stored in the same way. A load may cover the gap between two runs. The last
//!    load or store of a run may overlap the one before: 60 bytes are two accesses of 32.
//! 3. What is stored depends on everything that was loaded in the block. It is not the right
//!    result, so it goes to memory of its own.
//! 4. The sides and the order of blocks are found by trying a list of them. Plain copies of single
//!    rows are tried, too, and non-temporal stores, for runs that are long enough for
//!    [`stream_copy`](tensor_kernels::stream_copy).
//! 5. The fastest passes take part in the race of the copy. [`bound_ns`] makes the bound of them.
//!
//! An elementwise operation does at least the loads and stores of a copy of each of its inputs to
//! the result, and what it does on contiguous operands. Its bound is the longest of these times.
//!
//! The offsets of a block stand in a table that is made once for the layout; blocks of other
//! lengths, at the ends of dimensions, have tables of their own.
//!
//! A copy takes longer than these passes because it also plans, shuffles and handles edges. But
//! they are no proof: another order, prefetching, or non-temporal stores of short runs, which safe
//! code does not have, may be faster. A copy that is faster shows itself what the hardware allows.
//!
//! # Tried and dropped
//!
//! - Loads of a block interleaved with the stores of the one before: 4 % faster in the first-level
//!   cache (64 by 64 floats, Zen 5), no difference elsewhere.
//! - A check of bounds for each access: 2 to 4 % slower there. It remains for blocks that span more
//!   than 64 KiB.

mod block;
mod kernel;
mod loops;
#[cfg(test)]
mod tests;
mod walk;

use std::{
    cell::RefCell,
    hint::black_box,
    time::{Duration, Instant},
};

use tensor_kernels::{Layout, SimdLevel, Tensor};

use crate::{Failure, Result, measure::engine::Contender};
use block::WINDOW;
use kernel::{Run, Widest, dispatch};
use loops::Loops;
use walk::{Pass, ways};

/// The passes that are raced: the fastest of a few samples is partly luck.
const RACED: usize = 3;

/// A pass that takes longer than this many times the fastest is not tried again.
const HOPELESS: f64 = 2.0;

/// The samples of a pass that is tried …
const SAMPLES: usize = 3;

/// … and about how long one lasts.
const SAMPLE: Duration = Duration::from_micros(20);

/// The source lies in its buffer as it does in memory, relative to pages of this size.
const PAGE: usize = 4096;

/// The passes of a copy that are raced, and the memory that they read and write.
pub(crate) struct Bound<'a> {
    level: SimdLevel,
    passes: Vec<Pass>,
    source: &'a [u8],
    target: RefCell<Target<'a>>,
}

struct Target<'a> {
    bytes: &'a mut [u8],
    /// For non-temporal stores.
    scratch: Vec<u8>,
}

/// Tries all ways of a copy to a row-major result, and calls `act` with the fastest. `elements` has
/// all elements of the source, of `width` bytes each.
///
/// # Errors
/// No memory, a layout too large, and what `act` returns.
pub(crate) fn with_bound<A>(
    level: SimdLevel,
    (elements, layout, width): (&[u8], &Layout, usize),
    act: impl FnOnce(&Bound<'_>) -> Result<A>,
) -> Result<A> {
    let mut loops = Loops::of(layout, width)?;
    let no_slice = || Failure::work("a buffer is not in one piece");
    let source = source(elements, &mut loops)?;
    let source = source.read()?;
    let source = source.as_view().as_slice().ok_or_else(no_slice)?;
    let target = Tensor::full([loops.bytes() + WINDOW], 1)?;
    let (mut target, scratch) = (target.write()?, Vec::new());
    let mut target = target.as_view_mut()?;
    let bytes = target.as_slice_mut().ok_or_else(no_slice)?;
    let target = RefCell::new(Target { bytes, scratch });
    let mut bound = Bound { level, passes: Vec::new(), source, target };
    bound.choose(&loops);
    act(&bound)
}

impl Bound<'_> {
    /// The fastest passes.
    pub(crate) fn contenders(&self) -> impl Iterator<Item = Contender<'_>> {
        self.passes.iter().map(|pass| {
            Contender::new(|| {
                self.run(pass);
                Ok::<_, Failure>(())
            })
        })
    }

    fn choose(&mut self, loops: &Loops) {
        let widest = dispatch(self.level, Widest);
        let mut found: Vec<(f64, Pass)> = Vec::new();
        for way in ways(loops) {
            let Some(pass) = Pass::new(loops, way, widest) else { continue };
            let best = found.first().map_or(f64::INFINITY, |(ns, _)| *ns);
            let ns = self.time(&pass, best);
            let place = found.partition_point(|(other, _)| *other < ns);
            found.insert(place, (ns, pass));
            found.truncate(RACED);
        }
        self.passes = found.into_iter().map(|(_, pass)| pass).collect();
    }

    /// The best of a few samples, in nanoseconds; of one if that is far from the best so far.
    fn time(&self, pass: &Pass, best: f64) -> f64 {
        let sample = |times: u32| {
            let start = Instant::now();
            (0..times).for_each(|_| self.run(pass));
            start.elapsed().as_nanos() as f64 / f64::from(times)
        };
        self.run(pass);
        let first = sample(1);
        let length = SAMPLE.as_nanos() as f64;
        if first > HOPELESS * best.max(length) {
            return first;
        }
        let times = (length / first.max(1.0)).ceil() as u32;
        (0..SAMPLES).fold(first, |best, _| best.min(sample(times)))
    }

    fn run(&self, pass: &Pass) {
        let Target { bytes, scratch } = &mut *self.target.borrow_mut();
        scratch.resize(scratch.len().max(pass.longest_run), 0);
        dispatch(self.level, Run { pass, from: self.source, to: bytes, scratch });
        black_box(bytes);
    }
}

/// A copy of what the view has, with a window behind it; the loops are made to start in it.
fn source(elements: &[u8], loops: &mut Loops) -> Result<Tensor<u8>> {
    let (start, end) = loops.span();
    let before = start % PAGE;
    loops.start -= (start - before) as isize;
    let source = Tensor::<u8>::full([before + (end - start) + WINDOW], 2)?;
    {
        let mut bytes = source.write()?;
        let mut view = bytes.as_view_mut()?;
        if let Some(bytes) = view.as_slice_mut() {
            bytes[before..][..end - start].copy_from_slice(&elements[start..end]);
        }
    }
    Ok(source)
}

/// The bound: the longest of the times of the inputs' fastest passes and of the same work on
/// contiguous operands, which for a copy is a plain copy. But no longer than the shortest of the
/// times in which the work itself was done in the same race, by this library or any other.
pub(crate) fn bound_ns(
    inputs: impl IntoIterator<Item = f64>,
    contiguous: f64,
    works: impl IntoIterator<Item = f64>,
) -> f64 {
    let least = inputs.into_iter().fold(contiguous, f64::max);
    works.into_iter().fold(least, f64::min)
}
