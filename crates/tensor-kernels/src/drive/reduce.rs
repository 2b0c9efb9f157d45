//! Running a reduction: cut it for threads and for the first-level cache, visit blocks, join what was found as the plan's tree says.
//!
//! Slots of the results at hand lie side by side in a room on the stack, beside one set more for each halving that is under way. A piece with more
//! results than that has room for is cut along a loop that is kept. So nothing is ever allocated.
//!
//! Threads get the halves: other results, or the two halves of a loop that is reduced, which are joined when both are done, as they would be by one
//! thread.

use std::mem::MaybeUninit;

use smallvec::SmallVec;

use super::{
    Ends,
    cursor::walk,
    pack::{self, Extent, Plane},
};
use crate::{
    Exec, Loop, SimdLevel,
    exec::pool,
    micro::{FoldBlock, LINE, Reduction},
    plan::{INPUT, LanesBlock, PLACE, RESULT, Reach, ReduceWork, is_reduced},
};

/// Reduces what `work` describes for the views that `ends` came from, the result first.
///
/// `work` must have been planned for the layouts of those views and the operation's widths.
pub(crate) fn reduce(exec: &Exec, work: &ReduceWork, operation: &dyn Reduction, ends: Ends<'_, 2>) {
    let run = Run { simd: exec.simd(), operation, ends, slots: exec.machine.l1 / 2 };
    run.pieces(work, exec.pieces(work.bytes()));
}

/// What all pieces have in common.
#[derive(Clone, Copy)]
struct Run<'a> {
    simd: SimdLevel,
    operation: &'a dyn Reduction,
    ends: Ends<'a, 2>,
    /// The bytes of slots that stay in the first-level cache.
    slots: usize,
}

impl Run<'_> {
    fn pieces(self, work: &ReduceWork, pieces: usize) {
        let levels = Levels::of(work);
        let too_many = work.results() > levels.capacity(self.slots, work);
        let cut = if too_many { levels.kept() } else { levels.outermost(pieces) };
        let Some(which) = cut else {
            return Piece { run: self, work, levels: &levels }.reduce(pieces);
        };
        let (first, second) = work.cut(which, ReduceWork::middle(&levels.0[which].l));
        let (here, there) = (pieces / 2, pieces - pieces / 2);
        if pieces > 1 {
            pool::join(|| self.pieces(&first, here), || self.pieces(&second, there));
        } else {
            self.pieces(&first, 1);
            self.pieces(&second, 1);
        }
    }
}

/// A loop, and what is under it.
#[derive(Clone, Copy, Debug)]
struct Level {
    l: Loop<3>,
    /// The turns that are joined one after the other.
    leaf: usize,
    /// From turn to turn, in slots; 0 if it is reduced.
    slot_step: usize,
    /// The slots of one turn.
    slots: usize,
}

impl Level {
    fn is_halved(&self) -> bool {
        is_reduced(&self.l) && self.l.len > self.leaf
    }

    /// How often, one half inside the other.
    fn halvings(&self) -> usize {
        if self.is_halved() {
            self.l.len.div_ceil(self.leaf).next_power_of_two().ilog2() as usize
        } else {
            0
        }
    }
}

/// The loops of a piece, outermost first; the last two are a block's rows and lanes.
struct Levels(SmallVec<[Level; 6]>);

/// A loop is cut for threads if it has at least so many turns of lanes.
const LANES_WORTH_CUTTING: usize = 2 * LINE;

impl Levels {
    fn of(work: &ReduceWork) -> Self {
        let (leaves, mut slots) = (work.leaves(), 1);
        let mut levels: SmallVec<[Level; 6]> = SmallVec::new();
        for (l, leaf) in work.loops().zip(&leaves) {
            levels.push(Level { l: *l, leaf: leaf.len, slot_step: 0, slots: 1 });
        }
        for level in levels.iter_mut().rev() {
            level.slots = slots;
            if !is_reduced(&level.l) {
                level.slot_step = slots;
                slots = slots.saturating_mul(level.l.len);
            }
        }
        // The lanes of a block are halved for all its rows at once.
        let [rows, lanes] = [levels.len() - 2, levels.len() - 1];
        if is_reduced(&levels[lanes].l) && !is_reduced(&levels[rows].l) {
            levels[lanes].slots = levels[rows].l.len;
        }
        Self(levels)
    }

    /// Rows and lanes of a block.
    fn block(&self) -> [&Level; 2] {
        let rows = self.0.len() - 2;
        [&self.0[rows], &self.0[rows + 1]]
    }

    fn halvings(&self) -> usize {
        self.0.iter().map(Level::halvings).sum()
    }

    /// How many slots there is room for, with those of each halving.
    fn capacity(&self, bytes: usize, work: &ReduceWork) -> usize {
        let sets = 1 + self.halvings();
        let room = (ROOM - work.scratch().0) / sets / LINE * LINE;
        (room.min(bytes) / work.widths.slot).max(LINE / work.widths.slot)
    }

    /// The outermost loop that leads to other results.
    fn kept(&self) -> Option<usize> {
        self.0.iter().position(|level| !is_reduced(&level.l) && level.l.len > 1)
    }

    /// The loop to cut for so many pieces: the outermost one that can be, if it is kept.
    fn outermost(&self, pieces: usize) -> Option<usize> {
        let lanes = self.0.len() - 1;
        let few = |at: usize| if at == lanes { LANES_WORTH_CUTTING } else { 2 };
        let can_be = |(at, level): (usize, &Level)| match is_reduced(&level.l) {
            true => level.is_halved(),
            false => level.l.len >= few(at),
        };
        let at = (0..self.0.len()).find(|&at| can_be((at, &self.0[at])))?;
        (pieces > 1 && !is_reduced(&self.0[at].l)).then_some(at)
    }
}

/// Results whose slots fit into a room.
#[derive(Clone, Copy)]
struct Piece<'a> {
    run: Run<'a>,
    work: &'a ReduceWork,
    levels: &'a Levels,
}

/// Where a part of the loops starts: its first element and that one's place, and the slot that it goes to.
#[derive(Clone, Copy)]
struct At {
    input: *const u8,
    place: isize,
    slots: *mut u8,
}

// SAFETY: the elements are `Sync`, and slots are used by the one part of the loops that they were given to.
unsafe impl Send for At {}

/// Memory that nothing uses: a block's scratch, and slots for halves.
#[derive(Clone, Copy)]
struct Spare {
    scratch: *mut u8,
    slots: *mut u8,
}

// SAFETY: it is used by the one part of the loops that it was given to.
unsafe impl Send for Spare {}

/// What is done with some turns of a loop, from where on, with what spare memory and in how many pieces.
type Turns<'f> = &'f (dyn Fn(usize, At, Spare, usize) + Sync);

impl Piece<'_> {
    /// Bytes of so many slots.
    fn bytes(&self, slots: usize) -> usize {
        (slots * self.work.widths.slot).next_multiple_of(LINE)
    }

    /// Calls `f` with spare memory and the slots of the results.
    fn with_room(&self, f: impl FnOnce(Spare, *mut u8)) {
        let (scratch, results) = (self.work.scratch().0, self.bytes(self.work.results()));
        let halves = self.levels.halvings() * results;
        with_room(scratch + halves + results, |scratch_room| {
            let slots = scratch_room.wrapping_add(scratch);
            f(Spare { scratch: scratch_room, slots }, slots.wrapping_add(halves));
        });
    }

    fn reduce(self, pieces: usize) {
        let input = self.run.ends.0[1].base.cast_const();
        let start = self.work.starts[INPUT] * self.work.widths.input as isize;
        let place = self.work.starts[PLACE];
        self.with_room(|spare, slots| {
            let at = At { input: input.wrapping_offset(start), place, slots };
            // SAFETY: the room has as many slots.
            unsafe { self.run.operation.clear(slots, self.work.results()) };
            self.nested(0, at, spare, pieces);
            self.finish(slots);
        });
    }

    /// Turn `turn` of a loop.
    fn step(&self, level: usize, turn: usize, at: At) -> At {
        let Level { l, slot_step, .. } = self.levels.0[level];
        let input = l.strides[INPUT] * turn as isize * self.work.widths.input as isize;
        At {
            input: at.input.wrapping_offset(input),
            place: at.place + l.strides[PLACE] * turn as isize,
            slots: at.slots.wrapping_add(slot_step * turn * self.work.widths.slot),
        }
    }

    /// All turns of the loops from `level` on.
    fn nested(self, level: usize, at: At, spare: Spare, pieces: usize) {
        let len = self.levels.0[level].l.len;
        if level + 2 == self.levels.0.len() {
            return self.halved(level, len, at, spare, pieces, &|rows, at, spare, pieces| {
                self.some_rows(rows, at, spare, pieces);
            });
        }
        self.halved(level, len, at, spare, pieces, &|turns, at, spare, pieces| {
            let pieces = if turns == 1 { pieces } else { 1 };
            for turn in 0..turns {
                self.nested(level + 1, self.step(level, turn, at), spare, pieces);
            }
        });
    }

    fn some_rows(self, rows: usize, at: At, spare: Spare, pieces: usize) {
        let level = self.levels.0.len() - 1;
        let len = self.levels.0[level].l.len;
        self.halved(level, len, at, spare, pieces, &|lanes, at, spare, _| {
            self.blocks(Extent { rows, lanes }, at, spare.scratch);
        });
    }

    /// `turns` of a loop: at once if they may be joined one after the other; else its halves, the second into slots of its own, which are then joined
    /// to those of the first.
    fn halved(
        self,
        level: usize,
        turns: usize,
        at: At,
        spare: Spare,
        pieces: usize,
        run: Turns<'_>,
    ) {
        let Level { l, leaf, slots, .. } = self.levels.0[level];
        if !is_reduced(&l) || turns <= leaf {
            return run(turns, at, spare, pieces);
        }
        let middle = (turns / 2).next_multiple_of(leaf);
        let other = At { slots: spare.slots, ..self.step(level, middle, at) };
        let rest = Spare { slots: spare.slots.wrapping_add(self.bytes(slots)), ..spare };
        // SAFETY: there are spare slots for every halving.
        unsafe { self.run.operation.clear(other.slots, slots) };
        let (here, there) = (pieces / 2, pieces - pieces / 2);
        let first = move |pieces| self.halved(level, middle, at, rest, pieces, run);
        let second = move |spare, pieces| {
            self.halved(level, turns - middle, other, spare, pieces, run);
        };
        if pieces > 1 {
            pool::join(
                move || first(here),
                move || self.with_room(|spare, _| second(spare, there)),
            );
        } else {
            first(1);
            second(rest, 1);
        }
        // SAFETY: both halves are done.
        unsafe { self.run.operation.join(at.slots, other.slots, slots) };
    }

    /// Joins the elements of some rows and lanes to their slots, one block after the other if they go through scratch.
    fn blocks(self, extent: Extent, at: At, scratch: *mut u8) {
        if self.work.reach == Reach::Lanes {
            let row_step = self.work.rows.strides[INPUT] * self.work.widths.input as isize;
            return self.fold(extent, at, at.input, row_step);
        }
        let rows = self.levels.0.len() - 2;
        let LanesBlock { rows: tall, lanes: long } = self.work.block;
        for j in (0..extent.rows).step_by(tall) {
            for i in (0..extent.lanes).step_by(long) {
                let at = self.step(rows + 1, i, self.step(rows, j, at));
                let part =
                    Extent { rows: tall.min(extent.rows - j), lanes: long.min(extent.lanes - i) };
                self.through_scratch(part, at, scratch);
            }
        }
    }

    fn through_scratch(self, extent: Extent, at: At, scratch: *mut u8) {
        let Piece { work, run, .. } = self;
        let (rows, lanes) = (work.rows.strides[INPUT], work.lanes.strides[INPUT]);
        let plane = Plane { width: work.widths.input, rows, lanes, extent };
        let pitch = work.scratch().1;
        // SAFETY: the ends' invariants, for offsets that the plan visits; scratch has room for a block.
        unsafe { pack::bring_in(run.simd, plane, at.input, (scratch, pitch), run.ends.0[1].solid) };
        self.fold(extent, at, scratch, (pitch * work.widths.input) as isize);
    }

    fn fold(self, Extent { rows, lanes }: Extent, at: At, src: *const u8, row_step: isize) {
        let [rows_level, lanes_level] = self.levels.block();
        let block = FoldBlock {
            src,
            row_step,
            rows,
            lanes,
            slots: at.slots,
            slot_row: rows_level.slot_step,
            lanes_kept: !is_reduced(&lanes_level.l),
            place: at.place,
            place_row: rows_level.l.strides[PLACE],
            place_lane: lanes_level.l.strides[PLACE],
        };
        // SAFETY: the ends' invariants, for offsets that the plan visits, or scratch that has just been filled; elements of views are aligned, and so
        // is scratch. Slots are cleared before they are given to a part of the loops.
        unsafe { self.run.operation.fold(self.run.simd, block) };
    }

    /// Writes the results.
    fn finish(self, slots: *const u8) {
        let Piece { run: Run { operation, ends, .. }, work, levels } = self;
        let widths = work.widths;
        let results = ends.0[0].base.wrapping_offset(work.starts[RESULT] * widths.output as isize);
        let kept = levels.0.iter().filter(|level| !is_reduced(&level.l));
        let mut loops: SmallVec<[Loop<2>; 8]> = kept
            .map(|&Level { l, slot_step, .. }| {
                let step = l.strides[RESULT] * widths.output as isize;
                Loop { len: l.len, strides: [step, (slot_step * widths.slot) as isize] }
            })
            .collect();
        // The slots of the innermost loop lie side by side.
        let run = loops.pop().unwrap_or(Loop::ONCE);
        walk(&loops, |[result, slot]| {
            let (slots, out) = (slots.wrapping_offset(slot), results.wrapping_offset(result));
            // SAFETY: the ends' invariants, for offsets that the plan visits; the slots are those of the results.
            unsafe { operation.finish(slots, out, run.strides[0], run.len) };
        });
    }
}

/// The largest room: a frame of this size fits any thread's stack some dozen times.
const ROOM: usize = 96 << 10;

/// Most reductions do with this.
const SMALL_ROOM: usize = 4 << 10;

#[repr(align(64))]
struct Bytes<const N: usize>([MaybeUninit<u8>; N]);

/// Calls `f` with aligned memory, on the stack. A large frame costs its probing, a page at a time.
fn with_room(bytes: usize, f: impl FnOnce(*mut u8)) {
    assert!(bytes <= ROOM, "results were cut to fit");
    if bytes <= SMALL_ROOM { in_room::<SMALL_ROOM>(f) } else { in_room::<ROOM>(f) }
}

#[inline(never)]
fn in_room<const N: usize>(f: impl FnOnce(*mut u8)) {
    let mut room = Bytes([const { MaybeUninit::uninit() }; N]);
    f(room.0.as_mut_ptr().cast());
}
