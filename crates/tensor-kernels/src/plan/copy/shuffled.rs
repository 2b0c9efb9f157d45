//! Plans copies that move bytes by less than a cache line: short rows that are mirrored, repeated
//! or have gaps between them, and transposes of a few elements.
//!
//! The innermost loops make a block of adjacent bytes of the result. If the source of each register
//! of the block lies in few registers, the block is assembled by [picks](crate::register_picks) on
//! CPUs that have them. Else, if the source of each lane lies in few lanes, it is assembled by
//! [shuffles](crate::lane_shuffles).
//!
//! Reversed rows of 32 to 128 bytes, of some thousand floats and more, take 0.27 to 0.6 of the time
//! that they take row by row, each reversed in registers; 120 random layouts of rows of 3 to 40
//! floats in 2 kB to 1.6 MB, most of them reversed, 0.86 in the mean (Zen 3). Batches of small
//! transposes, of 32 to 256 bytes each, take 0.41 to 0.8 of the time if they are assembled as a
//! whole: 100 random ones of two or three dimensions of 2 to 12 floats 0.94 in the mean (Zen 3).
//!
//! # Tried and dropped
//! Shuffles of single elements that lie far apart, two of eight bytes to a lane: they visit the
//! source in the order of the result, and took up to 1.5 times as long as blocks (transposes of
//! every second column, Zen 3).

use std::fmt;

use smallvec::{SmallVec, smallvec};

use super::{Inner, Work, kernel::has_windows, rates::WIDEST_VECTOR};
use crate::{
    exec::Machine,
    lane_shuffles::LaneShuffles,
    memory::{CACHE_LINE, LANE_BYTES},
    nest::{Loop, NestBuilder},
    plan::group::{Group, ascend, iterations},
    register_picks::RegisterPicks,
    tuning::{
        MAX_PICKED_ROW_BYTES, MAX_SHUFFLED_UNIT, PICKED_BLOCK_BYTES, SHORT_GATHERED_ROW_BYTES,
        SHUFFLED_BLOCK_BYTES, WHOLE_SHUFFLED_BLOCK_BYTES,
    },
};

/// The path of a copy by shuffles.
pub(super) const SHUFFLED: &str = "shuffled_blocks";

/// The farthest that the source of a block may reach, in bytes: its offsets have 32 bits.
const MAX_REACH: usize = 1 << 30;

/// The most loops of a block, each of at least two iterations.
const MAX_LOOPS: usize = PICKED_BLOCK_BYTES.ilog2() as usize;

/// The bytes of the source that lie close to each other.
const MAX_NEAR_BYTES: u32 = 2 * WHOLE_SHUFFLED_BLOCK_BYTES as u32;

/// A source of a lane takes as long to list as this many entries of a table (Zen 3).
const ENTRIES_OF_SOURCE: usize = 36;

/// A list of picks takes as long to start as this many entries, and each window as this many (Zen
/// 5).
const ENTRIES_OF_PICKS: usize = 90;
const ENTRIES_OF_WINDOW: usize = 14;

/// Listing a register, and a unit of it, takes as long as assembling this many registers (Zen 5).
const LISTED_REGISTER: usize = 25;
const LISTED_UNIT: usize = 2;

/// A loop that fits into a block as a whole is cut into at least this many blocks, or not at all.
const MIN_BLOCKS: usize = 8;

/// The blocks of a copy by shuffles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shuffled {
    /// The loops of a block: the last of the outer ones. The destination is adjacent along them.
    pub(crate) block: Group,
    pub(crate) by: ShuffledBy,
    /// The lanes or windows of the source that a block is assembled from. One counts for each lane
    /// or register of the result that it contributes to.
    pub(super) sources: usize,
    /// The lanes or registers of the result in a block.
    pub(super) results: usize,
}

/// What a block is assembled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ShuffledBy {
    /// Shuffles within lanes.
    Lanes,
    /// Picks out of whole registers.
    Registers,
}

impl Shuffled {
    /// What listing the shuffles takes, in entries of a table: an offset of every unit, and the
    /// bytes of a lane for each of its sources, or the units of a register.
    pub(super) fn entries(self, outer: &[Loop<2>]) -> usize {
        let units = self.block.iterations_in_block(self.split(outer).1);
        match self.by {
            ShuffledBy::Lanes => units + self.sources * ENTRIES_OF_SOURCE,
            ShuffledBy::Registers => {
                ENTRIES_OF_PICKS + 3 * units + self.sources * ENTRIES_OF_WINDOW
            }
        }
    }

    /// The loops around the blocks, and those of a block.
    pub(crate) fn split(self, loops: &[Loop<2>]) -> (&[Loop<2>], &[Loop<2>]) {
        loops.split_at(loops.len() - self.block.loops)
    }
}

/// `shuffled, 9 lanes to 5, blocks of 2 loops by 5`: what a block is assembled from and to, the
/// number of loops, and the iterations of the outermost one in a block.
impl fmt::Display for Shuffled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block: Group { loops, block }, by, sources, results } = *self;
        let parts = match by {
            ShuffledBy::Lanes => "lanes",
            ShuffledBy::Registers => "registers",
        };
        write!(f, "shuffled, {sources} {parts} to {results}, blocks of {loops} loops by {block}")
    }
}

/// Plans a copy by shuffles; `false` if that does not suit the loops.
pub(super) fn plan(work: &mut Work, builder: &mut NestBuilder<'_, 2>, machine: &Machine) -> bool {
    let unit = work.unit;
    let Some(&row) = builder.loops().last() else { return false };
    if unit > MAX_SHUFFLED_UNIT {
        return false;
    }
    let is_short = |row_bytes| !is_long_row(&row, unit, row_bytes);
    let most =
        if interleaves(builder.loops()) { MAX_PICKED_ROW_BYTES } else { SHORT_GATHERED_ROW_BYTES };
    let picks = machine.vector == WIDEST_VECTOR && is_short([CACHE_LINE, most]);
    let by_registers = if picks { by_registers(builder, unit) } else { None };
    let Some(plan) = by_registers.or_else(|| {
        // Rows that can be gathered, if they fit into a block. Wide registers gather more at once.
        let wide = machine.vector == WIDEST_VECTOR;
        let gathered = if wide { 2 * LANE_BYTES } else { SHUFFLED_BLOCK_BYTES + 1 };
        if is_short([LANE_BYTES, gathered]) { by_lanes(builder, unit, !wide) } else { None }
    }) else {
        return false;
    };
    work.starts = builder.starts;
    work.outer = builder.loops().iter().copied().collect();
    work.inner = Inner::Shuffled(plan);
    work.path = SHUFFLED;
    true
}

/// Does the row lie in the gaps of the next one? Windows of the source serve several rows then.
fn interleaves(loops: &[Loop<2>]) -> bool {
    match loops {
        [.., rows, row] => {
            (1..row.strides[1].unsigned_abs()).contains(&rows.strides[1].unsigned_abs())
        }
        _ => false,
    }
}

fn by_registers(builder: &mut NestBuilder<'_, 2>, unit: usize) -> Option<Shuffled> {
    let target = (PICKED_BLOCK_BYTES / unit).min(SHUFFLED_BLOCK_BYTES);
    let block = innermost_block(builder, target, unit, register_part)?;
    let loops = builder.loops();
    let from = sources(&loops[loops.len() - block.loops..], block.block, unit)?;
    let (sources, results) = match unit {
        1 => counts::<2>(&from, unit)?,
        _ => counts::<1>(&from, unit)?,
    };
    Some(Shuffled { block, by: ShuffledBy::Registers, sources, results })
}

/// The windows and registers of a block. A function of its own, as its list would make the stack
/// frames of all planning larger.
#[inline(never)]
fn counts<const P: usize>(from: &[i32], unit: usize) -> Option<(usize, usize)> {
    RegisterPicks::<P>::new(from, unit).map(|picks| picks.counts())
}

/// With `also_whole`, also small blocks of which lanes of the source have one unit each. CPUs with
/// wide registers pick those instead.
fn by_lanes(builder: &mut NestBuilder<'_, 2>, unit: usize, also_whole: bool) -> Option<Shuffled> {
    let part = |builder: &mut NestBuilder<'_, 2>, bytes: usize| {
        innermost_block(builder, (bytes / unit).min(SHUFFLED_BLOCK_BYTES), unit, equal_part)
    };
    let block = part(builder, SHUFFLED_BLOCK_BYTES)?;
    let cut = of_lanes(builder.loops(), block, unit, share_lanes);
    if cut.is_some() || !also_whole {
        return cut;
    }
    let whole = whole_loops(part(builder, WHOLE_SHUFFLED_BLOCK_BYTES)?, builder.loops())?;
    of_lanes(builder.loops(), whole, unit, |from, _| is_near(from))
}

/// The shuffles of a block, if they pay by the offsets of its units and the number of sources. A
/// function of its own, as its lists would make the stack frames of all planning larger.
#[inline(never)]
fn of_lanes(
    loops: &[Loop<2>],
    block: Group,
    unit: usize,
    pays: fn(&[i32], usize) -> bool,
) -> Option<Shuffled> {
    let from = sources(split(loops, block), block.block, unit)?;
    let shuffles = LaneShuffles::new(&from, unit)?;
    let (sources, results) = (shuffles.sources(), shuffles.lanes().count());
    let plan = Shuffled { block, by: ShuffledBy::Lanes, sources, results };
    pays(&from, sources).then_some(plan)
}

/// Have lanes of the source more than one unit? If they have little more, single loads and stores
/// do the same.
fn share_lanes(from: &[i32], sources: usize) -> bool {
    sources * 3 <= from.len() * 2
}

/// The loops of a block.
fn split(loops: &[Loop<2>], block: Group) -> &[Loop<2>] {
    &loops[loops.len() - block.loops..]
}

/// A block of the same loops without the one that is cut.
fn whole_loops(block: Group, loops: &[Loop<2>]) -> Option<Group> {
    let is_cut = split(loops, block).first()?.len > block.block;
    let whole = if is_cut { block.loops - 1 } else { block.loops };
    let outermost = loops[loops.len() - whole..].first()?;
    Some(Group { loops: whole, block: outermost.len })
}

/// Do all units of a block lie in few cache lines of the source?
fn is_near(from: &[i32]) -> bool {
    let range = from.iter().max().zip(from.iter().min());
    range.is_some_and(|(highest, lowest)| highest.abs_diff(*lowest) < MAX_NEAR_BYTES)
}

/// Does another kernel copy rows like this one? It does if they have at least `min_run` adjacent
/// bytes, or `min_gathered` bytes in units that can be gathered.
fn is_long_row(row: &Loop<2>, unit: usize, [min_run, min_gathered]: [usize; 2]) -> bool {
    let [to, step] = row.strides;
    let bytes = row.len * unit;
    let is_gathered = has_windows(unit, row.len, step);
    to == 1 && (step == 1 && bytes >= min_run || is_gathered && bytes >= min_gathered)
}

/// The innermost loops along which the destination is adjacent, as many as a block of up to
/// `target` units needs. `part` says how many iterations of a loop a block has.
fn innermost_block(
    builder: &mut NestBuilder<'_, 2>,
    target: usize,
    unit: usize,
    part: fn(Cut) -> usize,
) -> Option<Group> {
    let (mut len, mut read, mut block) = (1, 1, None);
    for (loops, at) in (1..).zip((0..builder.loops().len()).rev()) {
        let l = builder.loops()[at];
        if l.strides[0].unsigned_abs() != len || target / len < 2 {
            break;
        }
        ascend(builder, at, 0, unit);
        let most = (target / len).min(l.len);
        let times = iterations(&builder.loops()[..at]);
        let in_block = part(Cut { len: l.len, units: len, read, unit, most, times });
        block = Some(Group { loops, block: in_block });
        if in_block < l.len {
            break;
        }
        len *= l.len;
        read *= if l.strides[1] == 0 { 1 } else { l.len };
    }
    block
}

/// A loop that is to be cut into blocks.
struct Cut {
    len: usize,
    /// Units in an iteration, how many of the source these are, and the bytes of each.
    units: usize,
    read: usize,
    unit: usize,
    /// The most iterations in a block.
    most: usize,
    /// How often the loop runs.
    times: usize,
}

/// Blocks of about the same length.
fn equal_part(Cut { len, most, .. }: Cut) -> usize {
    len.div_ceil(len.div_ceil(most))
}

/// Large blocks have few registers that overlap the one before them, and small blocks are listed
/// sooner. All iterations, if few blocks would follow each other.
fn register_part(Cut { len, units, read, unit, most, times }: Cut) -> usize {
    let bytes = units * unit;
    let work = |part: usize| {
        let registers = (part * bytes).div_ceil(CACHE_LINE);
        let blocks = len.div_ceil(part).saturating_mul(times);
        let listed = registers * LISTED_REGISTER + part * units * LISTED_UNIT;
        blocks.saturating_mul(registers).saturating_add(listed)
    };
    let least = CACHE_LINE.div_ceil(read * unit).min(most);
    let part = (least..=most).min_by_key(|&part| work(part)).unwrap_or(most);
    if most == len && part * MIN_BLOCKS > len { len } else { part }
}

/// The shuffles of a block: of `block` iterations of the outermost of these loops. Inlined into the
/// copy, which is compiled for wide registers.
#[inline(always)]
pub(crate) fn shuffles(loops: &[Loop<2>], block: usize, unit: usize) -> Option<LaneShuffles> {
    LaneShuffles::new(&sources(loops, block, unit)?, unit)
}

/// The picks of such a block.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
pub(crate) fn picks<const P: usize>(
    loops: &[Loop<2>],
    block: usize,
    unit: usize,
) -> Option<RegisterPicks<P>> {
    RegisterPicks::new(&sources(loops, block, unit)?, unit)
}

/// The offset of each unit of a block in the source, in bytes.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
fn sources(loops: &[Loop<2>], block: usize, unit: usize) -> Option<Sources> {
    let mut from: Sources = smallvec![0];
    for (at, l) in loops.iter().enumerate().rev() {
        let len = if at == 0 { block } else { l.len };
        let step = i32::try_from(l.strides[1].checked_mul(unit as isize)?).ok()?;
        if (step.unsigned_abs() as usize).saturating_mul(len) > MAX_REACH / MAX_LOOPS {
            return None;
        }
        let inner = from.len();
        from.resize(inner * len, 0);
        let (first, others) = from.split_at_mut(inner);
        for (k, iteration) in (1..).zip(others.chunks_exact_mut(inner)) {
            iteration.iter_mut().zip(&*first).for_each(|(to, at)| *to = at + k * step);
        }
    }
    Some(from)
}

/// One offset for each unit of a block, which has at most this many, whatever their width.
type Sources = SmallVec<[i32; SHUFFLED_BLOCK_BYTES]>;

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;
    use crate::exec::Machine;

    fn path(from: &Layout, width: usize) -> &'static str {
        let to = Layout::contiguous(from.shape()).unwrap();
        Work::new(from, &to, width, &Machine::REFERENCE).path
    }

    #[test]
    fn short_moves_of_narrow_elements_are_shuffled() {
        let pairs = Layout::contiguous([184, 189, 13, 2]).unwrap().permute([0, 1, 3, 2]).unwrap();
        assert_eq!(path(&pairs, 1), SHUFFLED);
        assert_eq!(path(&pairs, 2), SHUFFLED);
        let mirrored = Layout::contiguous([400, 41, 5]).unwrap().flip([2]).unwrap();
        assert_eq!(path(&mirrored, 1), SHUFFLED);
    }

    #[test]
    fn short_rows_larger_than_the_caches_are_picked() {
        for (shape, strides, offset, width) in
            [([87_004, 10, 7], [70, -7, 1], 63, 1), ([385_665, 2, 4], [8, 1, -2], 6, 8)]
        {
            let from = Layout::new(shape, strides, offset).unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            let work = Work::new(&from, &to, width, &Machine::REFERENCE);
            let by = ShuffledBy::Registers;
            assert!(matches!(work.inner, Inner::Shuffled(plan) if plan.by == by), "{work}");
            let narrow = Machine { vector: 32, ..Machine::REFERENCE };
            let work = Work::new(&from, &to, width, &narrow);
            assert!(!matches!(work.inner, Inner::Shuffled(plan) if plan.by == by), "{work}");
        }
    }

    #[test]
    fn reversed_rows_that_fit_into_a_block_are_shuffled() {
        let narrow = Machine { vector: 32, ..Machine::REFERENCE };
        let path = |rows: usize, row: usize, gap: usize, width: usize| {
            let strides = [(row + gap) as isize, -1];
            let from = Layout::new([rows, row], strides, row - 1).unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            Work::new(&from, &to, width, &narrow).path
        };
        for (row, width) in [(8, 4), (20, 4), (32, 4), (5, 8), (16, 8), (40, 2), (100, 1)] {
            for gap in [0, 3] {
                assert_eq!(path(3000, row, gap, width), SHUFFLED, "{row} of {width} bytes");
            }
        }
        for (row, width) in [(33, 4), (17, 8), (65, 2), (129, 1)] {
            assert_eq!(path(3000, row, 0, width), "reverse", "{row} of {width} bytes");
        }
        assert_eq!(path(20, 20, 0, 4), "reverse", "the list takes longer");
    }

    #[test]
    fn batches_of_small_transposes_are_shuffled_as_a_whole() {
        let narrow = Machine { vector: 32, ..Machine::REFERENCE };
        for [rows, columns] in [[4_usize, 4], [6, 4], [5, 4], [3, 10], [3, 11]] {
            let batch = Layout::contiguous([4000, rows, columns]).unwrap();
            let from = batch.permute([0, 2, 1]).unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            let work = Work::new(&from, &to, 4, &narrow);
            let Inner::Shuffled(plan) = work.inner else { panic!("{rows} x {columns}: {work}") };
            assert_eq!(split(&work.outer, plan.block).len(), 2, "{work}");
            assert_eq!(plan.results, (4 * rows * columns).div_ceil(LANE_BYTES), "{work}");
        }
        let far = Layout::new([4000, 4, 4], [1, 4000, 16_000], 0).unwrap();
        let to = Layout::contiguous(far.shape()).unwrap();
        assert_ne!(Work::new(&far, &to, 4, &narrow).path, SHUFFLED);
    }

    #[test]
    fn distant_or_wide_elements_are_not_shuffled() {
        let square = Layout::contiguous([400, 400]).unwrap().t().unwrap();
        assert_ne!(path(&square, 1), SHUFFLED);
        let mirrored = Layout::contiguous([400, 41, 5]).unwrap().flip([2]).unwrap();
        assert_ne!(path(&mirrored, 16), SHUFFLED);
    }
}
