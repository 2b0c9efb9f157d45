//! Copies whose source repeats along a loop around others, such as the transposes of a batch that
//! has been broadcast.
//!
//! The results of one iteration of that loop are copied as by any other plan. Each block of them,
//! which is adjacent in the destination, is then copied to the places behind it. So what takes
//! shuffles, or reads short runs, is done once: 44 times the same transpose of 19 by 9 floats takes
//! 0.4 µs, and 1.3 µs without (Zen 5).
//!
//! Of 39 random layouts that are copied in this way 38 take 0.21 to 0.99 of the time, one 1.02; it
//! is 0.55 in the mean (1.6 kB to 13 MB, Zen 5).

use super::{Inner, Work, strategies};
use crate::{
    exec::Machine,
    memory::Stores,
    nest::{Loop, Loops},
    plan::group::iterations,
    tuning::{MIN_REPEATED_BLOCK_BYTES, NARROW_RUNS_IN_L1},
};

/// The path of a copy whose results are repeated.
pub(super) const REPEATED: &str = "repeated_blocks";

/// Blocks of adjacent results, each of which is copied to the places behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Repeats {
    /// How far the first block lies behind the element of the destination at which the plan starts,
    /// in bytes.
    first: isize,
    blocks: usize,
    /// How many times the destination has a block.
    times: usize,
    /// The units of a block.
    len: usize,
    stores: Stores,
}

/// The loop along which results are repeated: of those that do not move the source, the longest.
/// `None` if there is none around other work than adjacent rows, if blocks are short, or if the
/// destination, by which the loops are sorted, has gaps.
pub(super) fn repeated(loops: &[Loop<2>], unit: usize) -> Option<usize> {
    let mut len = 1;
    for l in loops.iter().rev() {
        if l.strides[0].abs() != len {
            return None;
        }
        len = len.checked_mul(l.len.try_into().ok()?)?;
    }
    let is_repeated = |at: &usize| {
        let Loop { strides: [block, from], .. } = loops[*at];
        let block = block.unsigned_abs();
        let is_row = matches!(&loops[at + 1..], [row] if matches!(row.strides[1], 0 | 1));
        from == 0 && block.saturating_mul(unit) >= MIN_REPEATED_BLOCK_BYTES && !is_row
    };
    (0..loops.len()).filter(is_repeated).max_by_key(|&at| loops[at].len)
}

impl Repeats {
    /// The repetitions along a loop that [`repeated`] has found, of a plan that starts where the
    /// loops do.
    pub(super) fn new(loops: &[Loop<2>], at: usize, unit: usize, machine: &Machine) -> Self {
        let Loop { len: times, strides: [len, _] } = loops[at];
        let (blocks, len) = (iterations(&loops[..at]), len.unsigned_abs());
        // Where the source descends, loops may start from their other end.
        let descends = |l: &Loop<2>| l.strides[0].min(0) * (l.len as isize - 1);
        let first = loops.iter().map(descends).sum::<isize>() * unit as isize;
        let bytes = |units: usize| units.saturating_mul(unit);
        let all = bytes(len.saturating_mul(times).saturating_mul(blocks));
        let is_narrow = all >= machine.stream && bytes(len) <= machine.l1 / NARROW_RUNS_IN_L1;
        let stores = if is_narrow { Stores::Narrow } else { Stores::Plain };
        Self { first, blocks, times, len, stores }
    }

    /// The same for a plan whose start lies this many bytes behind.
    pub(super) fn started(self, behind: isize) -> Self {
        Self { first: self.first - behind, ..self }
    }

    /// How many times the destination has a block, and the units of it.
    pub(super) fn times_of(self) -> (usize, usize) {
        (self.times, self.len)
    }

    /// All units of the destination.
    pub(super) fn units(self) -> usize {
        self.blocks.saturating_mul(self.times).saturating_mul(self.len)
    }

    /// The copies from each block to the places behind it, of a plan that starts at the offset
    /// `start` of the destination: this is both operands.
    fn work(self, start: isize, unit: usize) -> Work {
        let start = start + self.first;
        let (len, all) = (self.len as isize, (self.len * self.times) as isize);
        let mut outer = Loops::new();
        if self.blocks > 1 {
            outer.push(Loop { len: self.blocks, strides: [all; 2] });
        }
        if self.times > 2 {
            outer.push(Loop { len: self.times - 1, strides: [len, 0] });
        }
        let starts = [start + len * unit as isize, start];
        let (inner, path) = (Inner::Run { len: self.len }, strategies::ROWS);
        Work { unit, starts, outer, inner, stores: self.stores, path, ..Work::nothing() }
    }
}

impl Work {
    /// The copies within the destination that follow the plan, if its results are repeated.
    pub(crate) fn repetitions(&self) -> Option<Self> {
        self.repeats.map(|repeats| repeats.work(self.starts[0], self.unit))
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;

    fn repeating(shape: [usize; 3], strides: [isize; 3]) -> Option<Work> {
        let from = Layout::new(shape, strides, 10_000).unwrap();
        let to = Layout::contiguous(shape).unwrap();
        let found = Work::candidates(&from, &to, 4, &Machine::REFERENCE);
        found.into_iter().map(|(work, _)| work).find(|work| work.repeats.is_some())
    }

    type Copies = (Vec<(usize, [isize; 2])>, [isize; 2], usize);

    /// The loops of the repetitions, where they read and write first, and the units of a run.
    fn copies(work: &Work) -> Copies {
        let repetitions = work.repetitions().unwrap();
        let loops = repetitions.outer.iter().map(|l| (l.len, l.strides)).collect();
        (loops, repetitions.starts, repetitions.inner.len())
    }

    #[test]
    fn blocks_are_copied_to_the_places_behind_them() {
        let batch = repeating([7, 19, 30], [0, 1, 19]).unwrap();
        assert_eq!(copies(&batch), (vec![(6, [570, 0])], [570 * 4, 0], 570));
        let rows = repeating([19, 7, 30], [1, 0, 19]).unwrap();
        assert_eq!(copies(&rows), (vec![(19, [210, 210]), (6, [30, 0])], [120, 0], 30));
        let twice = repeating([2, 19, 30], [0, 1, 19]).unwrap();
        assert_eq!(copies(&twice), (vec![], [570 * 4, 0], 570));
    }

    #[test]
    fn blocks_of_a_plan_that_starts_elsewhere_are_found() {
        let flipped = repeating([19, 7, 30], [-1, 0, 19]).unwrap();
        assert_ne!(flipped.starts[0], 0, "it follows the source");
        assert_eq!(copies(&flipped).1, [120, 0]);
        assert_eq!(copies(&flipped.moved([8, 0])).1, [128, 8]);
    }

    #[test]
    fn what_is_repeated_is_part_of_the_prediction() {
        let batch = repeating([7, 19, 30], [0, 1, 19]).unwrap();
        let once = Work { repeats: None, ..batch.clone() };
        let ns = |work: &Work| work.predicted_ns(&Machine::REFERENCE);
        let both = ns(&once) + ns(&batch.repetitions().unwrap());
        assert!((ns(&batch) - both).abs() < 1e-6, "{} and {both}", ns(&batch));
        assert_eq!(batch.cache_lines()[0].round(), (7 * 19 * 30_usize).div_ceil(16) as f64);
    }
}
