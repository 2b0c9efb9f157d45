//! The predicted time of a plan, by which candidates are compared.
//!
//! The time is a sum of products: how often a thing happens, times what it takes.
//!
//! - *Kernel*: calls, and the bytes or units that a [`Kernel`] moves.
//! - *Walk*: iterations of the loops around, and entries of tables of offsets.
//! - *Memory*: cache lines fetched at each level, and the runs of adjacent bytes in which they lie:
//!   each run may begin in another page, and hardware prefetches along runs only.
//!
//! What each of them takes is in `rates`.

use super::{
    GroupedStep, Inner, Side, Work,
    footprint::{Cache, USABLE, coverage, fetched, lines, run_bytes, run_in_order},
    kernel::{Kernel, KernelWork},
    packed_source,
    rates::Rates,
    traversal::Traversal,
};
use crate::{
    exec::Machine,
    memory::{CACHE_LINE, FIRST_LEVEL_WAY, Stores, most_lines_in_a_set},
    nest::Loop,
    plan::group::{iterations, split},
    tuning::STREAMED_CROWDED_TRANSPOSES,
};

/// How often the things happen that take time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    rates: &'static Rates,
    unit: usize,
    kernel: Kernel,
    /// Calls of the kernel.
    calls: f64,
    /// Bytes or units that the kernel moves.
    amount: f64,
    /// Iterations of the loops around.
    iterations: f64,
    /// Entries of tables of offsets.
    entries: f64,
    memory: MemoryTerms,
}

/// Lines that are fetched into the caches, or written past them.
#[derive(Clone, Copy, Debug, Default)]
struct MemoryTerms {
    /// Lines of destination and source that are fetched into the first level, the second, and the
    /// last.
    lines: [[f64; 2]; 3],
    /// Those of them that had been fetched before.
    fetched_again: [[f64; 2]; 3],
    /// The runs of adjacent bytes in which these lines lie.
    runs: [[f64; 2]; 3],
    /// Lines of the destination, times the part of them that displaces others from the first level,
    /// because the lines of a sweep share few sets of it.
    displacing: f64,
    /// Lines written by non-temporal stores.
    streamed: f64,
    /// Lines that are written in part by non-temporal stores and in part by others.
    partial_lines: f64,
    /// The lines written by non-temporal stores, times how often those of a sweep share a set of
    /// the second-level cache beyond what evenly spread lines do.
    streamed_clashes: f64,
}

/// The ways of a second-level cache.
const SECOND_LEVEL_WAYS: usize = 16;

/// A copy whose lines take less than this part of a cache is not looked at more closely: planning
/// would take as long as copying.
const CLEARLY_FITS: f64 = 4.0;

/// The last level keeps a source and a result up to [`Machine::stream`].
fn last_level(machine: &Machine) -> usize {
    (2.0 * machine.stream as f64 / USABLE) as usize
}

impl Work {
    /// The predicted time in nanoseconds, on a CPU of about 4 GHz.
    pub(in crate::plan) fn predicted_ns(&self, machine: &Machine) -> f64 {
        self.costs(machine).iter().sum()
    }

    /// The predicted time as its terms, in the order of `CostTerm::ALL`, in nanoseconds.
    pub(crate) fn costs(&self, machine: &Machine) -> [f64; COST_TERMS] {
        if let Inner::Nothing = self.inner {
            return [0.0; COST_TERMS];
        }
        let mut costs = self.terms(machine).costs();
        if let Some(repetitions) = self.repetitions() {
            let more = repetitions.terms(machine).costs();
            costs.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        costs
    }

    pub(super) fn terms(&self, machine: &Machine) -> Terms {
        let KernelWork { kernel, calls, amount } = self.kernel_work(machine.vector);
        let iterations = iterations(self.around(kernel)) as f64;
        Terms {
            rates: Rates::of(machine),
            unit: self.unit,
            kernel,
            calls: calls * iterations,
            amount: amount * iterations,
            iterations: iterations * (1.0 + self.inner_iterations()),
            entries: self.table_entries() as f64,
            memory: self.memory_terms(machine),
        }
    }

    /// The iterations that a streamed transpose makes itself: for each index along `u2` and `v2` it
    /// stages a block of `u` by `v`, which takes about as long as three.
    fn inner_iterations(&self) -> f64 {
        match self.inner {
            Inner::Streamed(plan) => 3.0 * (plan.u2.len as f64 * plan.v2.len as f64 - 1.0),
            _ => 0.0,
        }
    }

    /// The loops around the innermost step, or around the rows of it that the kernel runs itself.
    fn around(&self, kernel: Kernel) -> &[Loop<2>] {
        match self.inner {
            Inner::Grouped(groups) => split(&self.outer, [groups.u, groups.v])[0],
            Inner::Shuffled(plan) => plan.around(&self.outer),
            Inner::PackedSource { .. } => &[],
            Inner::Fill { .. } => self.rows_of_calls().1,
            Inner::Gather { .. } if kernel == Kernel::Gather => self.rows_of_calls().1,
            _ => &self.outer,
        }
    }

    fn table_entries(&self) -> usize {
        match self.inner {
            Inner::Shuffled(plan) => plan.entries(&self.outer),
            Inner::PackedSource { elements } => {
                packed_source::entries(&self.outer, elements, self.unit)
            }
            Inner::Grouped(groups) => {
                let [_, v, u] = split(&self.outer, [groups.u, groups.v]);
                groups.u.iterations_in_block(u) + groups.v.iterations_in_block(v)
            }
            _ => 0,
        }
    }

    fn memory_terms(&self, machine: &Machine) -> MemoryTerms {
        let units = iterations(&self.outer).saturating_mul(self.inner.len());
        let bytes = units.saturating_mul(self.unit);
        if bytes <= machine.l1 && bytes < machine.stream / STREAMED_CROWDED_TRANSPOSES {
            return MemoryTerms::default();
        }
        let traversal = Traversal::of(self, machine.vector);
        let mut terms = self.fetches(&traversal, machine);
        if self.stores == Stores::NonTemporal {
            terms.streamed = bytes as f64 / CACHE_LINE as f64;
            terms.partial_lines = self.partial_lines();
        }
        match self.inner {
            Inner::Streamed(plan) if plan.rows_at_once.is_none() && !plan.is_buffered() => {
                terms.streamed_clashes = terms.streamed * self.clashes(&traversal, machine);
            }
            Inner::Grouped(groups) if groups.step == GroupedStep::Stitched => {
                terms.streamed_clashes = terms.streamed * self.clashes(&traversal, machine);
            }
            Inner::Tile { v, .. } if self.unit > 1 || crowds(v, machine) => {
                let lines = bytes as f64 / CACHE_LINE as f64;
                terms.displacing = lines * self.displaced_part(&traversal, machine);
            }
            _ => {}
        }
        terms
    }

    /// The part of a sweep's lines that the sets do not hold in which they lie: none if they need
    /// less than the cache, all from [`ALL_DISPLACED`] times that on.
    fn displaced_part(&self, traversal: &Traversal, machine: &Machine) -> f64 {
        let sweep = &traversal.path[..traversal.sweep];
        let bytes = lines(sweep, 0, self.unit) * CACHE_LINE as f64;
        let needed = bytes / coverage(sweep, 0, self.unit, FIRST_LEVEL_WAY);
        let excess = needed / (machine.l1.max(1) as f64 * USABLE) - 1.0;
        (excess / (ALL_DISPLACED - 1.0)).clamp(0.0, 1.0)
    }

    /// What is fetched into the caches.
    fn fetches(&self, traversal: &Traversal, machine: &Machine) -> MemoryTerms {
        let (path, unit) = (&traversal.path, self.unit);
        let cached = [self.stores != Stores::NonTemporal, true];
        // The last block of a loop may be shorter, which a traversal does not say.
        let units = iterations(&self.outer).saturating_mul(self.inner.len()) as f64;
        let part = units / iterations(path) as f64;
        let distinct = [0, 1].map(|k| lines(path, k, unit) * part);
        let lines_of_run =
            self.runs(&path[..traversal.block]).map(|bytes| bytes as f64 / CACHE_LINE as f64);
        let mut terms = MemoryTerms::default();
        let footprint = (distinct[0] + distinct[1]) * CACHE_LINE as f64;
        for (level, cache) in caches(machine).into_iter().enumerate() {
            if footprint * CLEARLY_FITS <= cache.size as f64 {
                break;
            }
            let mut all = fetched(path, unit, cache, cached).map(|lines| lines * part);
            if let Some(lines) = self.lines_of_tiles(traversal) {
                all[0] = lines.max(distinct[0]);
            }
            for k in (0..2).filter(|&k| cached[k]) {
                terms.lines[level][k] = all[k];
                terms.fetched_again[level][k] = (all[k] - distinct[k]).max(0.0);
                terms.runs[level][k] = all[k] / lines_of_run[k];
            }
        }
        terms
    }

    /// The lines of the destination that tiles write, if these are packed first: each is fetched
    /// once for a tile, in whatever order the source is read.
    fn lines_of_tiles(&self, traversal: &Traversal) -> Option<f64> {
        let Inner::PackedSource { .. } = self.inner else { return None };
        let (tile, around) = traversal.path.split_at(traversal.block);
        Some(lines(tile, 0, self.unit) * iterations(around) as f64)
    }

    /// The adjacent bytes of each operand that a block touches one after the other.
    fn runs(&self, block: &[Loop<2>]) -> [usize; 2] {
        let reads_side_by_side = match self.inner {
            Inner::Tile { .. } | Inner::Streamed(_) | Inner::Shuffled(_) => true,
            Inner::Grouped(groups) => groups.is_transpose(),
            _ => false,
        };
        let of_source = match reads_side_by_side {
            true => run_bytes(block, 1, self.unit),
            false => run_in_order(block, 1, self.unit),
        };
        [run_bytes(block, 0, self.unit), of_source].map(|run| run.max(CACHE_LINE))
    }

    /// How many other lines of a sweep share the set of a line, beyond what evenly spread lines do.
    fn clashes(&self, traversal: &Traversal, machine: &Machine) -> f64 {
        let sweep = &traversal.path[..traversal.sweep];
        let way = machine.l2 / SECOND_LEVEL_WAYS;
        let spread = coverage(sweep, 0, self.unit, way);
        let fair = lines(sweep, 0, self.unit) * CACHE_LINE as f64 / way.max(1) as f64;
        (fair.min(1.0) / spread - 1.0).clamp(0.0, MAX_CLASHES)
    }

    /// The lines at the ends of streamed rows, unless all rows start and end at lines. Of gathered
    /// rows they are written one unit at a time.
    fn partial_lines(&self) -> f64 {
        let (len, of_row) = match self.inner {
            Inner::Run { len } => (len, 2.0),
            Inner::Gather { len, .. } => (len, 2.0 * GATHERED_PARTIAL_LINE),
            Inner::Grouped(groups) => return groups.partial_lines(&self.outer),
            _ => return 0.0,
        };
        let whole = |units: usize| (units * self.unit).is_multiple_of(CACHE_LINE);
        let strides = self.outer.iter().map(|l| l.strides[0].unsigned_abs());
        match whole(len) && strides.into_iter().all(whole) {
            true => 0.0,
            false => of_row * iterations(&self.outer) as f64,
        }
    }
}

/// Do rows of bytes that follow each other take more than half of some set of the first level? If
/// not, their lines do not displace each other, because a tile has the rows of a whole line:
/// squares of 423 to 1408 bytes take 1.05 to 1.4 times as long in blocks, of 1025, which crowd,
/// 0.8 times (Zen 4).
fn crowds(v: Side, machine: &Machine) -> bool {
    let (rows, ways) = (v.len.min(CACHE_LINE), machine.l1 / FIRST_LEVEL_WAY);
    most_lines_in_a_set(v.stride.unsigned_abs(), rows, 1) > ways / 2
}

/// The caches that the model knows.
fn caches(machine: &Machine) -> [Cache; 3] {
    [
        Cache { size: machine.l1, way: FIRST_LEVEL_WAY },
        Cache { size: machine.l2, way: machine.l2 / SECOND_LEVEL_WAYS },
        Cache { size: last_level(machine), way: 0 },
    ]
}

impl Terms {
    /// The products, in the order of `CostTerm`.
    pub(super) fn costs(&self) -> [f64; COST_TERMS] {
        let (rates, memory) = (self.rates, &self.memory);
        let [call, amount] = rates.of_kernel(self.kernel, self.unit);
        let tables = if self.entries > 0.0 { rates.tables } else { 0.0 };
        let [first, second, last] = [0, 1, 2].map(|level| memory.fetch_ns(level, rates));
        [
            rates.setup + tables + self.entries * rates.entry,
            self.calls * call,
            self.amount * amount,
            self.iterations * rates.iteration,
            first,
            second,
            last,
            memory.displacing * rates.displaced_line,
            memory.streamed * rates.streamed_line,
            memory.partial_lines * rates.partial_line,
            memory.streamed_clashes * rates.streamed_clash,
        ]
    }
}

impl MemoryTerms {
    /// The time of what is fetched into a level.
    fn fetch_ns(&self, level: usize, rates: &Rates) -> f64 {
        let of_operand = |k: usize| {
            self.lines[level][k] * rates.line[level][k]
                + self.fetched_again[level][k] * rates.again[level]
                + self.runs[level][k] * rates.run[level][k]
        };
        of_operand(0) + of_operand(1)
    }
}

/// A partial line of gathered units takes as long as this many of a run. With the cost of one, five
/// of 19 large results of reversed rows took 1.3 to 2.5 times as long as by plain stores (Zen 5).
const GATHERED_PARTIAL_LINE: f64 = 5.5;

/// A predicted time is the sum of as many terms.
pub(super) const COST_TERMS: usize = 11;

/// The multiple of the cache that a sweep needs from which on all its lines are displaced.
const ALL_DISPLACED: f64 = 7.0;

/// The most other lines in the cache set of a streamed line that count.
const MAX_CLASHES: f64 = 7.0;

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;

    fn chosen(from: &Layout, width: usize) -> Work {
        let to = Layout::contiguous(from.shape()).unwrap();
        Work::new(from, &to, width, &Machine::REFERENCE)
    }

    fn square(side: usize) -> Layout {
        Layout::contiguous([side, side]).unwrap().t().unwrap()
    }

    #[test]
    fn what_stays_in_the_second_level_costs_no_fetches() {
        let terms = chosen(&square(200), 4).terms(&Machine::REFERENCE);
        assert_eq!(terms.memory.lines[1..], [[0.0; 2]; 2]);
    }

    #[test]
    fn bytes_are_transposed_in_blocks_only_if_rows_crowd() {
        let blocks =
            [423, 604, 782, 900, 513, 1025].map(|side| match chosen(&square(side), 1).inner {
                Inner::Tile { block, .. } => block < side,
                inner => panic!("{side}: {inner}"),
            });
        assert_eq!(blocks, [false, false, false, false, true, true]);
    }

    #[test]
    fn a_large_copy_fetches_and_streams_each_line_once() {
        let terms = chosen(&square(4000), 4).terms(&Machine::REFERENCE);
        let lines = 4000.0 * 4000.0 * 4.0 / CACHE_LINE as f64;
        assert_eq!(terms.memory.streamed, lines);
        assert!((1.0..1.1).contains(&(terms.memory.lines[2][1] / lines)), "{terms:?}");
    }

    #[test]
    fn rows_that_share_cache_sets_clash() {
        let clashes = |side| chosen(&square(side), 4).terms(&Machine::REFERENCE);
        assert_eq!(clashes(4000).memory.streamed_clashes, 0.0);
        assert!(clashes(4096).memory.streamed_clashes > 0.0);
        let machine = Machine { channel: 512, ..Machine::REFERENCE };
        let to = Layout::contiguous([4096, 4096]).unwrap();
        let by_channel = Work::new(&square(4096), &to, 4, &machine).terms(&machine);
        assert_eq!(by_channel.memory.streamed_clashes, 0.0, "few rows are written at once");
    }

    #[test]
    fn rows_that_share_cache_sets_are_transposed_by_lanes() {
        let rows = Layout::new([2048, 10, 13, 2], [1, 106_496, 8192, 2048], 0).unwrap();
        let work = chosen(&rows, 1);
        let is_transposed = match work.inner {
            Inner::Grouped(groups) => groups.is_transpose(),
            _ => matches!(work.inner, Inner::Tile { .. }),
        };
        assert!(is_transposed, "{work}");
    }

    #[test]
    fn short_rows_are_not_counted_twice() {
        let pixels = Layout::contiguous([1000, 5]).unwrap().t().unwrap();
        let side = |len, stride| Side { len, stride };
        let inner = Inner::Tile { u: side(1000, 5), v: side(5, 1000), block: 1000 };
        let tile = Work { inner, stores: Stores::Plain, ..chosen(&pixels, 4) };
        let visited: usize = Traversal::of(&tile, 64).path.iter().map(|l| l.len).product();
        assert!(visited < 5 * 1010, "{visited}");
    }

    #[test]
    fn reversed_rows_that_end_within_lines_are_not_streamed() {
        let reversed = |columns: usize| {
            let rows = Layout::contiguous([300, 100, columns]).unwrap();
            chosen(&rows.permute([1, 0, 2]).unwrap().flip([2]).unwrap(), 8).stores
        };
        assert_eq!(reversed(130), Stores::Plain);
        assert_eq!(reversed(1024), Stores::NonTemporal, "whole lines");
    }

    #[test]
    fn rows_of_a_register_are_gathered_by_rows() {
        let path = |columns: usize, step: isize, width: usize| {
            let row = columns as isize * step.abs();
            let from = Layout::new([500, columns], [row, step], 100).unwrap();
            chosen(&from, width).path
        };
        assert_eq!([path(16, -1, 4), path(20, -1, 4), path(16, -1, 8)], ["reverse"; 3]);
        assert_eq!([path(20, 2, 4), path(16, 2, 8)], ["strided_rows"; 2]);
        assert_eq!(path(8, -1, 4), "shuffled_blocks", "shorter than a register");
    }

    #[test]
    fn long_rows_are_streamed_without_wide_vectors() {
        let machine = Machine { vector: 32, ..Machine::REFERENCE };
        let stores = |rows: usize, columns: usize| {
            let from = Layout::new([rows, columns], [columns as isize + 13, 1], 0).unwrap();
            let to = Layout::contiguous([rows, columns]).unwrap();
            Work::new(&from, &to, 4, &machine).stores
        };
        assert_eq!(stores(4000, 1000), Stores::NonTemporal);
        assert_eq!(stores(60_000, 67), Stores::Plain, "many lines are written in two parts");
        assert_eq!(stores(1000, 1000), Stores::Plain, "it fits the caches");
    }

    #[test]
    fn of_equal_plans_the_one_with_fewer_fetches_is_faster() {
        let work = chosen(&square(1000), 4);
        let by = |block| {
            let side = Side { len: 1000, stride: 1000 };
            let inner = Inner::Tile { u: side, v: side, block };
            Work { inner, stores: Stores::Plain, ..work.clone() }.predicted_ns(&Machine::REFERENCE)
        };
        assert!(by(128) < by(16), "blocks of a line's width fetch lines twice");
    }
}
