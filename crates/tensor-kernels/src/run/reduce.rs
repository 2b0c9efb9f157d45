//! Running a reduction: cut it for threads and for the first-level cache, visit blocks, join what was found as the plan's tree says.
//!
//! Slots of the results at hand lie side by side in a [`room`], beside one set more for each halving that is under way. A piece with more
//! results than that has room for is cut along a loop that is kept.
//!
//! Threads get the halves: other results, or the two halves of a loop that is reduced, which are joined when both are done, as they would be by one
//! thread.

use smallvec::SmallVec;

use super::{
    Ends,
    levels::{Level, Levels},
    pack::{self, Extent, Plane},
    reduce_workspace::{self as room, Rooms},
    walk::walk,
};
use crate::{
    exec::{Exec, SimdLevel, pool},
    kernel::{FoldBlock, Reduction},
    memory::CACHE_LINE,
    nest::Loop,
    plan::{INPUT, LanesBlock, PLACE, RESULT, Reach, ReduceWork, is_reduced},
};

/// Reduces what `work` describes for the views that `ends` came from, the result first.
///
/// `work` must have been planned for the layouts of those views and the operation's widths.
pub(crate) fn reduce(exec: &Exec, work: &ReduceWork, operation: &dyn Reduction, ends: Ends<'_, 2>) {
    let run =
        Run { simd: exec.simd(), operation, ends, slots: exec.machine.l1 / 2, rooms: Rooms::Kept };
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
    rooms: Rooms,
}

impl Run<'_> {
    fn pieces(self, work: &ReduceWork, pieces: usize) {
        let levels = Levels::of(work);
        let room = self.rooms.slots(work.scratch().0);
        let capacity = levels.capacity(room, self.slots, work.widths.slot);
        let too_many = work.results() > capacity;
        match if too_many { levels.kept() } else { levels.to_cut(pieces) } {
            None => Piece { run: self, work, levels: &levels }.reduce(pieces),
            Some(which) if pieces > 1 => self.halves(work, which, levels.0[which].l.len, pieces),
            Some(which) => self.strips(work, which, &levels.0[which], capacity),
        }
    }

    /// The halves of a loop that is kept, of so many turns, at the same time.
    fn halves(self, work: &ReduceWork, which: usize, len: usize, pieces: usize) {
        let middle = ReduceWork::whole_lines(len.div_ceil(2));
        let (first, second) = (work.part(which, 0, middle), work.part(which, middle, len - middle));
        let (here, there) = (pieces / 2, pieces - pieces / 2);
        pool::join(|| self.pieces(&first, here), || self.pieces(&second, there));
    }

    /// As many turns of a loop that is kept at a time as have no more slots than that.
    fn strips(self, work: &ReduceWork, which: usize, level: &Level, slots: usize) {
        let turns = ReduceWork::whole_lines((slots / level.slots).max(1));
        for at in (0..level.l.len).step_by(turns) {
            self.pieces(&work.part(which, at, turns.min(level.l.len - at)), 1);
        }
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
        (slots * self.work.widths.slot).next_multiple_of(CACHE_LINE)
    }

    /// The bytes of slots for halves.
    fn halves(&self) -> usize {
        self.levels.halvings() * self.bytes(self.work.results())
    }

    /// The bytes of a room: scratch, slots for halves, those of the results.
    fn room_bytes(&self) -> usize {
        self.work.scratch().0 + self.halves() + self.bytes(self.work.results())
    }

    fn spare(&self, room: *mut u8) -> Spare {
        Spare { scratch: room, slots: room.wrapping_add(self.work.scratch().0) }
    }

    fn reduce(self, pieces: usize) {
        let bytes = self.room_bytes();
        if self.run.rooms == Rooms::Stack {
            room::with_stack(bytes, |room| self.within(room, 1));
        } else if !room::with_kept(bytes, pieces > 1, |room| self.within(room, pieces)) {
            Run { rooms: Rooms::Stack, ..self.run }.pieces(self.work, 1);
        }
    }

    fn within(self, room: *mut u8, pieces: usize) {
        let spare = self.spare(room);
        let slots = spare.slots.wrapping_add(self.halves());
        let input = self.run.ends.0[1].base.cast_const();
        let start = self.work.starts[INPUT] * self.work.widths.input as isize;
        let place = self.work.starts[PLACE];
        let at = At { input: input.wrapping_offset(start), place, slots };
        // SAFETY: the room has as many slots.
        unsafe { self.run.operation.clear(slots, self.work.results()) };
        self.nested(0, at, spare, pieces);
        self.finish(slots);
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
    /// to those of the first. The second half waits for the first if there is no memory to run both at the same time.
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
        let mut is_left = true;
        if pieces > 1 {
            let (bytes, is_left) = (self.room_bytes(), &mut is_left);
            let elsewhere = move |start| second(self.spare(start), there);
            pool::join(
                move || first(here),
                move || *is_left = !room::with_kept(bytes, there > 1, elsewhere),
            );
        } else {
            first(1);
        }
        if is_left {
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
