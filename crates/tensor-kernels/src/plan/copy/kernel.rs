//! The kernels as the cost model sees them: which one a step takes, how often it is called, and how
//! much it moves. The cases are those that `kernel` distinguishes; a case that is wrong here makes
//! a prediction wrong, and no copy.

use super::{
    Grouped, GroupedStep, Inner, Lines, Runs, Shuffled, ShuffledBy, Side, Streamed, Work,
    packed_source::{adjacent, gathered, source_order},
    rates::WIDEST_VECTOR,
};
use crate::{
    kernel::{
        narrow_runs::{self, MAX_NARROW_RUN_BYTES},
        short_runs::MAX_SHORT_RUN_BYTES,
    },
    memory::{CACHE_LINE, LANE_BYTES, Stores},
    nest::Loop,
    plan::group::{iterations, split},
    tuning::{MAX_NARROW_UNIT, MAX_SHORT_FILL, lanes_together, pays_by_lanes},
};

/// A kernel, or one of its methods if they differ in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Adjacent bytes to adjacent bytes. The amount is bytes.
    Run,
    /// One unit repeated. A call is a row, the amount is bytes.
    Fill,
    /// One unit repeated a few times. The amount is bytes.
    ShortFills,
    /// Units a small step apart, by shuffles of whole lanes or registers. A call is a row, the
    /// amount is units.
    Gather,
    /// Units of a row any distance apart, or few of them, one by one. The amount is units.
    Units,
    /// Units of a tile that is too narrow for registers, one by one. A call is a row or a column,
    /// the amount is units.
    UnitsOfTile,
    /// Runs of up to 128 bytes. A call is a block of them; the amount is runs, of which wide ones
    /// count more than once.
    ShortRuns,
    /// The same at offsets of tables. A call is a row of them.
    IndexedRuns,
    /// Runs of up to 8 bytes, transposed as words of 2, 4 or 8. A call is a block, the amount is
    /// bytes of words.
    NarrowRuns,
    /// Single units at offsets of tables. A call is a row of them, the amount is units.
    IndexedUnits,
    /// Tiles of whole registers. The amount is bytes of whole tiles.
    Tiles,
    /// Tiles of half registers or of lanes. The amount is bytes of whole tiles.
    NarrowTiles,
    /// Tiles of whole registers, rows at offsets of tables. The amount is bytes of whole tiles.
    IndexedTiles,
    /// Tiles of lanes, rows at offsets of tables. The amount is bytes of whole tiles.
    IndexedNarrowTiles,
    /// Two to four channels, by shuffles. The amount is bytes.
    Pixels,
    /// Short rows, of which a lane each is read. The amount is rows.
    LanePerRow,
    /// Short rows, written as lanes in ascending order. The amount is lanes.
    Overwriting,
    /// Short source rows at offsets of tables. The amount is rows.
    IndexedShortSource,
    /// Short destination rows at offsets of tables. The amount is rows.
    IndexedShortDestination,
    /// Lanes assembled from lanes of the source. A call is a row of blocks, or the last block of
    /// one. The amount is the lanes of both.
    Shuffles,
    /// Registers assembled by picks from windows of the source. A call is a register of a row of
    /// blocks. The amount is windows and, for each register stored, [`STORE_AS_WINDOWS`] more.
    Picks,
    /// Units packed in the order of the source, and copied on. A call is a short run that is packed
    /// by itself. The amount is units, or words of 4 bytes if units are wider.
    PackedSource,
    /// Whole lines straight from tiles. The amount is bytes.
    AlignedLines,
    /// Lines stitched from tiles. The amount is bytes.
    StitchedLines,
    /// Lines staged in scratch. The amount is bytes.
    StagedLines,
    /// The same from source rows that are copied to a buffer first. The amount is bytes.
    BufferedLines,
    /// Short rows packed in scratch. The amount is bytes.
    PackedLines,
    /// Lines stitched from tiles whose rows lie at offsets of tables. The amount is bytes.
    IndexedStitchedLines,
    /// Short rows at offsets of tables, packed in scratch. The amount is bytes.
    IndexedPackedLines,
    /// Runs transposed in scratch, and written as whole lines. A call is a run; the amount is
    /// bytes.
    TransposedRuns,
}

/// What a step asks of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelWork {
    pub(super) kernel: Kernel,
    /// Calls in each iteration of the loops around.
    pub(super) calls: f64,
    /// Bytes, units or rows in each iteration of the loops around.
    pub(super) amount: f64,
}

/// Runs with fewer units, one step apart, are not gathered at full speed.
const SHORT_GATHER: usize = 16;

/// The runs of adjacent units that take as long to pack as one such run.
const SHORT_GATHER_CALLS: f64 = 3.5;

/// The runs of adjacent units that take as long to pack as one unit without a gather kernel.
const UNGATHERED_CALLS: f64 = 0.8;

/// The blocks that are assembled by shuffles at once, by registers of two lanes.
const SHUFFLED_AT_ONCE: usize = 2;

/// The windows that take as long to pick from as the store of a register.
const STORE_AS_WINDOWS: f64 = 0.6;

/// The short runs that take as long as starting a loop over them.
const LOOP_OF_RUNS: f64 = 2.5;

/// What a narrow run takes that is transposed in scratch, in wider runs.
const NARROW_RUN: f64 = 0.7;

/// What a short run takes, in runs whose words have at most 16 bytes: wider ones are in two lines
/// of the cache more often.
fn weight_of_run(bytes: usize) -> f64 {
    match bytes {
        0..=32 => 1.0,
        33..=64 => 1.6,
        _ => 2.9,
    }
}

impl Work {
    /// The kernel of the innermost step, on a machine with vectors of `vector` bytes.
    pub(super) fn kernel_work(&self, vector: usize) -> KernelWork {
        let unit = self.unit;
        match self.inner {
            Inner::Nothing => once(Kernel::Run, 0),
            Inner::PackedSource { .. } => self.packs(vector),
            Inner::Run { len } => once(Kernel::Run, len.saturating_mul(unit)),
            Inner::Fill { len } => self.fills(len),
            Inner::Gather { len, step } if is_gathered(unit, len, step, vector) => {
                let calls = self.rows_of_calls().0 as f64;
                KernelWork { kernel: Kernel::Gather, calls, amount: calls * len as f64 }
            }
            Inner::Gather { len, .. } | Inner::Scatter { len, .. } => once(Kernel::Units, len),
            Inner::Tile { u, v, block } => tile(u, v, block, unit, vector),
            Inner::Streamed(ref plan) => streamed(plan, unit),
            Inner::Grouped(groups) => grouped(&groups, &self.outer, unit),
            Inner::Shuffled(plan) => plan.kernel_work(&self.outer),
            Inner::Blocked2d { outer, inner, run, block } => {
                let [rows, columns] = [outer, inner].map(|l| l.len.div_ceil(block));
                let runs = outer.len as f64 * inner.len as f64;
                let in_block = [outer, inner].map(|l| Loop { len: l.len.min(block), ..l });
                if run > 1
                    && let Some([side, _]) = narrow_runs::transposed(in_block, run, unit)
                {
                    let amount = runs * bytes_of_word(run * unit, side.len);
                    let calls = rows as f64 * columns as f64;
                    return KernelWork { kernel: Kernel::NarrowRuns, calls, amount };
                }
                let started = outer.len as f64 * columns as f64 * LOOP_OF_RUNS;
                let blocks = rows as f64 * columns as f64;
                runs_of(run * unit, Kernel::ShortRuns, blocks, runs, started)
            }
        }
    }

    /// Both copies of all units. Runs of adjacent units are copied one by one, and short runs of
    /// units one step apart take longer still.
    fn packs(&self, vector: usize) -> KernelWork {
        let units = iterations(&self.outer) as f64;
        let step = source_order(&self.outer).first().map_or(0, |&at| self.outer[at].strides[1]);
        let calls = match (adjacent(&self.outer), gathered(&self.outer)) {
            (1, len @ SHORT_GATHER..) if is_gathered(self.unit, len, step, vector) => 0.0,
            (1, SHORT_GATHER..) => UNGATHERED_CALLS * units,
            (1, run) => SHORT_GATHER_CALLS * units / run as f64,
            (run, _) => units / run as f64,
        };
        let words = self.unit.div_ceil(MAX_NARROW_UNIT) as f64;
        KernelWork { kernel: Kernel::PackedSource, calls, amount: units * words }
    }

    /// The number of rows that the kernel runs itself, and the loops around these. It gathers one
    /// row at a time for non-temporal stores.
    pub(super) fn rows_of_calls(&self) -> (usize, &[Loop<2>]) {
        match (self.inner, self.outer.split_last()) {
            (Inner::Gather { .. }, _) if self.stores != Stores::Plain => (1, &self.outer),
            (_, None) => (1, &[]),
            (_, Some((rows, around))) => (rows.len, around),
        }
    }

    /// All rows of a call.
    fn fills(&self, len: usize) -> KernelWork {
        let rows = self.rows_of_calls().0 as f64;
        let kernel = if len <= MAX_SHORT_FILL { Kernel::ShortFills } else { Kernel::Fill };
        KernelWork { kernel, calls: rows, amount: rows * len as f64 * self.unit as f64 }
    }
}

fn once(kernel: Kernel, amount: usize) -> KernelWork {
    KernelWork { kernel, calls: 1.0, amount: amount as f64 }
}

/// The bytes of the word that holds a narrow run, and of those that tiles repeat: a tile of `side`
/// source rows is as wide as a register, or a lane, which takes twice as long.
fn bytes_of_word(bytes: usize, side: usize) -> f64 {
    let word = bytes.next_power_of_two();
    let (tile, takes) = match side * word {
        CACHE_LINE.. => (CACHE_LINE / word, 1.0),
        _ => (LANE_BYTES / word, 2.0),
    };
    takes * word as f64 * round_up(side, tile) / side as f64
}

/// Runs of `bytes` bytes, and what takes as long as some more: by `short` in a number of calls if
/// they are short, else each by itself.
fn runs_of(bytes: usize, short: Kernel, calls: f64, runs: f64, more: f64) -> KernelWork {
    match bytes {
        0..=MAX_SHORT_RUN_BYTES => {
            KernelWork { kernel: short, calls, amount: runs * weight_of_run(bytes) + more }
        }
        _ => KernelWork { kernel: Kernel::Run, calls: runs, amount: runs * bytes as f64 },
    }
}

/// Are units one step apart gathered by more than one at a time?
fn is_gathered(unit: usize, len: usize, step: isize, vector: usize) -> bool {
    has_windows(unit, len, step) || is_picked(unit, len, step, vector)
}

/// Does the gather kernel have windows for a step, and a lane of units?
pub(super) fn has_windows(unit: usize, len: usize, step: isize) -> bool {
    let has_step = match unit {
        16 => false,
        8 => matches!(step, -1 | 2),
        _ => step.unsigned_abs() <= 4,
    };
    has_step && len >= LANE_BYTES / unit
}

/// Does the gather kernel pick units out of whole registers? Only AVX-512 has instructions for it.
fn is_picked(unit: usize, len: usize, step: isize, vector: usize) -> bool {
    let most = match unit {
        2 | 4 => 8,
        8 => 3,
        _ => 0,
    };
    vector == WIDEST_VECTOR && (2..=most).contains(&step.unsigned_abs()) && len > vector / unit
}

fn tile(u: Side, v: Side, block: usize, unit: usize, vector: usize) -> KernelWork {
    let lane = LANE_BYTES / unit;
    let (nu, nv) = (u.len.min(block), v.len.min(block));
    let calls = u.len.div_ceil(nu) as f64 * v.len.div_ceil(nv) as f64;
    let units = u.len as f64 * v.len as f64;
    let work = |kernel, calls, amount| KernelWork { kernel, calls, amount };
    match (nu >= lane, nv >= lane) {
        (true, true) => {
            let (columns, rows) = tile_of(nu, nv, lane, vector / unit);
            let kernel = if columns == 4 * lane { Kernel::Tiles } else { Kernel::NarrowTiles };
            work(kernel, calls, calls * tile_bytes((nu, columns), (nv, rows), unit))
        }
        (true, false) if is_window(u, v) => work(Kernel::Pixels, calls, units * unit as f64),
        (true, false) if nv > 1 && lane > 2 => {
            work(Kernel::LanePerRow, calls, calls * round_up(nu, lane))
        }
        (false, true) if v.stride.unsigned_abs() == nu && (2..=4).contains(&nu) => {
            work(Kernel::Pixels, calls, units * unit as f64)
        }
        (false, true) if v.stride == nu as isize => {
            let in_pairs = unit == 1 && nu <= LANE_BYTES / 2;
            let lanes = if in_pairs { v.len.div_ceil(2) } else { v.len };
            work(Kernel::Overwriting, calls, lanes as f64)
        }
        _ => work(Kernel::UnitsOfTile, calls * nu.min(nv) as f64, units),
    }
}

/// Are the source rows two to four units apart, so that they are read as windows? Of descending
/// rows those of one unit, or without gaps.
fn is_window(u: Side, v: Side) -> bool {
    let step = u.stride.unsigned_abs();
    let is_whole = v.len == 1 || v.len == step;
    (2..=4).contains(&step) && v.len <= step && (u.stride > 0 || is_whole)
}

/// The destination columns and rows of the tiles that cover `nu` by `nv` units: lanes of columns of
/// as many rows as a register has units, or as many lanes as the columns fill.
pub(super) fn tile_of(nu: usize, nv: usize, lane: usize, register: usize) -> (usize, usize) {
    let may_go_along_rows = lane > 1 && register > lane && nv >= register;
    if may_go_along_rows && pays_by_lanes((nu, lane), (nv, register)) {
        (lane, register)
    } else {
        (lanes_together(nu, lane) * lane, lane)
    }
}

/// The bytes of tiles that cover a block; the last ones overlap those before.
fn tile_bytes(
    (columns, tile_columns): (usize, usize),
    (rows, tile_rows): (usize, usize),
    unit: usize,
) -> f64 {
    round_up(columns, tile_columns) * round_up(rows, tile_rows) * unit as f64
}

fn round_up(n: usize, to: usize) -> f64 {
    (n.div_ceil(to) * to) as f64
}

fn streamed(plan: &Streamed, unit: usize) -> KernelWork {
    let bytes = plan.len().saturating_mul(unit);
    if plan.runs != Runs::UNITS {
        let (runs, run) = ((plan.len() / plan.runs.len) as f64, plan.runs.len * unit);
        let is_narrow = run <= MAX_NARROW_RUN_BYTES && plan.u.len * run >= LANE_BYTES;
        let calls = if is_narrow { runs * NARROW_RUN } else { runs };
        return KernelWork { kernel: Kernel::TransposedRuns, calls, amount: bytes as f64 };
    }
    let holds_line = plan.u.len >= CACHE_LINE / unit;
    match plan.lines {
        Lines::Aligned if is_window(plan.u, plan.v) => once(Kernel::Pixels, bytes),
        Lines::Aligned => once(Kernel::AlignedLines, bytes),
        Lines::Stitched if holds_line && plan.v.len >= CACHE_LINE / unit => {
            once(Kernel::StitchedLines, bytes)
        }
        Lines::Stitched | Lines::Staged => once(Kernel::StagedLines, bytes),
        Lines::Buffered => once(Kernel::BufferedLines, bytes),
        Lines::Packed => once(Kernel::PackedLines, bytes),
    }
}

fn grouped(groups: &Grouped, outer: &[Loop<2>], unit: usize) -> KernelWork {
    let [_, v_loops, u_loops] = split(outer, [groups.u, groups.v]);
    let (nu, nv) = (groups.u.iterations_in_block(u_loops), groups.v.iterations_in_block(v_loops));
    let blocks = groups.u.blocks(u_loops) as f64 * groups.v.blocks(v_loops) as f64;
    let all = iterations(u_loops) as f64 * iterations(v_loops) as f64;
    let rows = blocks * nu.min(nv) as f64;
    match groups.step {
        GroupedStep::Runs { len: 1 } => {
            KernelWork { kernel: Kernel::IndexedUnits, calls: rows, amount: all }
        }
        GroupedStep::Runs { len } => runs_of(len * unit, Kernel::IndexedRuns, rows, all, 0.0),
        GroupedStep::Stitched => {
            let amount = all * unit as f64;
            KernelWork { kernel: Kernel::IndexedStitchedLines, calls: blocks, amount }
        }
        GroupedStep::Packed => {
            let amount = all * unit as f64;
            KernelWork { kernel: Kernel::IndexedPackedLines, calls: blocks, amount }
        }
        GroupedStep::Transpose => {
            let (kernel, in_block) = indexed_block((nu, nv), unit);
            let calls = if kernel == Kernel::IndexedUnits { rows } else { blocks };
            let amount = if kernel == Kernel::IndexedUnits { all } else { blocks * in_block };
            KernelWork { kernel, calls, amount }
        }
    }
}

impl Shuffled {
    fn kernel_work(self, outer: &[Loop<2>]) -> KernelWork {
        let (around, loops) = self.split(outer);
        let blocks = self.block.blocks(loops) * iterations(&around[self.around(outer).len()..]);
        let (sources, results) = (self.sources as f64, self.results as f64);
        match self.by {
            ShuffledBy::Lanes => {
                // The last block, which overlaps the one before it, is assembled by itself.
                let last = usize::from(
                    loops.first().is_some_and(|cut| !cut.len.is_multiple_of(self.block.block)),
                );
                let blocks = (blocks - last).next_multiple_of(SHUFFLED_AT_ONCE) + last;
                let amount = (sources + results) * blocks as f64;
                KernelWork { kernel: Kernel::Shuffles, calls: (1 + last) as f64, amount }
            }
            ShuffledBy::Registers => {
                let amount = (sources + results * STORE_AS_WINDOWS) * blocks as f64;
                KernelWork { kernel: Kernel::Picks, calls: results, amount }
            }
        }
    }

    /// The loops around the rows of blocks that a call of the kernel assembles. If a loop makes one
    /// block, the loop around it is the row.
    pub(super) fn around(self, outer: &[Loop<2>]) -> &[Loop<2>] {
        let (around, loops) = self.split(outer);
        match around {
            [around @ .., _] if self.block.blocks(loops) == 1 => around,
            _ => around,
        }
    }
}

/// The kernel of a block of a grouped transpose, and what it moves.
fn indexed_block((nu, nv): (usize, usize), unit: usize) -> (Kernel, f64) {
    let lane = LANE_BYTES / unit;
    match (nu >= lane, nv >= lane) {
        (true, true) if nu >= 4 * lane => {
            (Kernel::IndexedTiles, tile_bytes((nu, 4 * lane), (nv, lane), unit))
        }
        (true, true) => (Kernel::IndexedNarrowTiles, tile_bytes((nu, lane), (nv, lane), unit)),
        (true, false) if lane >= 8 && nv >= 4 => (Kernel::IndexedShortSource, round_up(nu, lane)),
        (false, true) if lane >= 8 && nu >= 4 => {
            (Kernel::IndexedShortDestination, round_up(nv, lane))
        }
        _ => (Kernel::IndexedUnits, (nu * nv) as f64),
    }
}

#[cfg(test)]
mod tests;
