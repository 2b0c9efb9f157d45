//! Plans reductions of many short loops: the input is first copied to scratch, reduced loops on one
//! side and kept loops on the other.
//!
//! Rows and columns of one loop each would make blocks of a few elements, with accumulators to be
//! found for each: 8 by 53 by 8 by 5 floats, of which the dimensions of 8 are reduced, took 3.8 ns
//! an element. Copied first they are a matrix, and take 0.2 ns (Zen 5). The copy is planned like
//! any other. A large input is copied in parts along a loop that is kept.
//!
//! Whether an input is copied, and in which parts, depends on sizes and strides only, so results
//! are the same on every machine.
//!
//! # Tried and dropped
//! Measured on 110 random sums over any dimensions (f32, Zen 5, one thread). Copied first, the
//! slowest tenth rises from 0.14 to 0.19 of the best order of the same size. Inputs whose elements
//! are gathered gained nothing, and one of 5 million became 7 times slower: 0.6 to 4.4 ns an
//! element. 400 to 2000 elements took a third longer or twice as long.

use smallvec::SmallVec;

use super::{Comparison, INDEX, INPUT, RESULT, ReduceWork, Work, is_reduced};
use crate::{
    nest::{Loop, NestBuilder},
    reduction_order::{COPIED_BYTES, MIN_COPIED_ELEMENTS, SMALL_BLOCK_ELEMENTS},
};

type Loops3 = SmallVec<[Loop<3>; 9]>;

/// A reduction whose input is copied first.
pub(crate) struct CopiedReduce {
    /// The offsets of input and result, in elements.
    starts: [isize; 3],
    /// The loops that are reduced, in the order of the input's memory.
    reduced: Loops3,
    /// The loops that are kept, in the order of the result's memory. The first is cut.
    kept: Loops3,
    /// The iterations of the first kept loop in a part.
    step: usize,
}

/// One part: the copy to dense scratch, and the reduction of it.
pub(crate) struct CopiedPart {
    pub(crate) copy: Work,
    pub(crate) reduce: ReduceWork,
    /// The offset of the part's first input element, in elements.
    pub(crate) start: isize,
    /// The elements copied.
    pub(crate) elements: usize,
}

impl CopiedReduce {
    /// The plan, if rows and columns of one loop each would make small blocks.
    pub(crate) fn plan(work: &ReduceWork) -> Option<Self> {
        let in_block = work.rows.len.saturating_mul(work.columns.len);
        let elements = work.loops().fold(1_usize, |count, l| count.saturating_mul(l.len));
        if in_block >= SMALL_BLOCK_ELEMENTS || elements < MIN_COPIED_ELEMENTS {
            return None;
        }
        let (mut reduced, mut kept) = (Loops3::new(), Loops3::new());
        for l in work.loops().filter(|l| l.len != 1) {
            if l.strides[INDEX] != 0 || l.len == 0 {
                return None;
            }
            let side = if is_reduced(l) { &mut reduced } else { &mut kept };
            side.push(*l);
        }
        reduced.sort_by_key(|l| std::cmp::Reverse(l.strides[INPUT]));
        kept.sort_by_key(|l| std::cmp::Reverse(l.strides[RESULT].unsigned_abs()));
        let inner = kept.iter().skip(1).chain(&reduced);
        let bytes = inner.fold(work.widths.input, |bytes, l| bytes.saturating_mul(l.len));
        let first = kept.first().map_or(1, |l| l.len);
        let step = (COPIED_BYTES / bytes).min(first);
        (step > 0).then_some(Self { starts: work.starts, reduced, kept, step })
    }

    /// The parts, by the first iteration of the kept loop that is cut.
    pub(crate) fn parts(&self) -> impl Iterator<Item = usize> {
        (0..self.kept.first().map_or(1, |l| l.len)).step_by(self.step)
    }

    /// The most elements of a part.
    pub(crate) fn part_elements(&self) -> usize {
        let inner = self.kept.iter().skip(1).chain(&self.reduced);
        inner.map(|l| l.len).product::<usize>() * self.step
    }

    /// The part from an iteration of the kept loop that is cut.
    pub(crate) fn part(&self, at: usize, work: &ReduceWork) -> CopiedPart {
        let (mut kept, mut starts) = (self.kept.clone(), self.starts);
        if let Some(first) = kept.first_mut() {
            starts = std::array::from_fn(|k| starts[k] + first.strides[k] * at as isize);
            first.len = self.step.min(first.len - at);
        }
        let count: usize = kept.iter().map(|l| l.len).product();
        // Many results are columns. Few are rows, so that rows are long.
        let loops = match count >= MIN_KEPT_COLUMNS {
            true => [&self.reduced, &kept],
            false => [&kept, &self.reduced],
        };
        let mut elements = 1;
        let mut dense: Loops3 = loops[0].iter().chain(loops[1]).copied().collect();
        let mut copy: SmallVec<[Loop<2>; MAX_LOOPS]> = SmallVec::new();
        for l in dense.iter_mut().rev() {
            let from = l.strides[INPUT];
            l.strides[INPUT] = elements as isize;
            copy.push(Loop { len: l.len, strides: [elements as isize, from] });
            elements *= l.len;
        }
        copy.reverse();
        let start = std::mem::take(&mut starts[INPUT]);
        CopiedPart {
            copy: Self::copy(&copy, work.widths.input),
            reduce: Self::reduce(&dense, starts, work),
            start,
            elements,
        }
    }

    fn copy(loops: &[Loop<2>], width: usize) -> Work {
        let mut buffer: SmallVec<[Loop<2>; MAX_LOOPS]> = SmallVec::new();
        buffer.resize(loops.len() + 1, Loop::NONE);
        let mut builder = NestBuilder::new(&mut buffer);
        for l in loops.iter().filter(|l| l.len > 1) {
            builder.push(*l);
        }
        builder.fuse();
        Work::of_nest(&mut builder, width, Comparison::Full)
    }

    fn reduce(loops: &[Loop<3>], starts: [isize; 3], work: &ReduceWork) -> ReduceWork {
        let mut buffer: Loops3 = SmallVec::new();
        buffer.resize(loops.len() + 1, Loop::NONE);
        let mut builder = NestBuilder::new(&mut buffer);
        for l in loops.iter().filter(|l| l.len > 1) {
            builder.push(*l);
        }
        builder.fuse();
        ReduceWork::of(builder.loops(), starts, work.widths)
    }
}

/// With fewer results, the results are rows.
const MIN_KEPT_COLUMNS: usize = 16;

/// Up to this many loops nothing is allocated.
const MAX_LOOPS: usize = 10;
