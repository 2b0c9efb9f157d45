//! Running a reduction: cut it for threads and for the first-level cache, visit blocks, combine
//! partial results as the plan's tree says.
//!
//! The accumulators of the results at hand lie side by side in scratch memory, beside one set more
//! for each halving that is under way. A piece with more results than there is room for is cut
//! along a loop that is kept.
//!
//! Threads get halves: other results, or the two halves of a loop that is reduced, which are
//! combined when both are done, as they would be by one thread.

use smallvec::SmallVec;
use tensor_core::{Element, Layout, ReductionShape, Result, ViewRefMut};

use super::{
    levels::{Level, Levels},
    operands::{Destination, Erased, Input, OperandPtr, OperandPtrs},
    pack::{self, StridedBlock},
    reduce_part::{Memories, Origin},
    walk::walk,
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    exec::{Exec, SimdLevel, pool},
    kernel::{FoldBlock, Reduction, ReductionOf},
    memory::CACHE_LINE,
    nest::Loop,
    partition::Axis,
    plan::{Extent, INPUT, PLACE, RESULT, ReduceWork, is_reduced},
};

/// All of a piece's scratch, if there is memory for it.
const WORKSPACE_BYTES: usize = 96 << 10;

/// Accumulators without memory: what the reserve has beside a block's scratch, at most 18 KiB, is
/// enough for a cache line of them for the results and one for each halving. Iterations are halved
/// 63 times at most for 2⁶³ elements, and three tenths more for loops of five leaves, which are
/// halved three times.
const RESERVE_ACCUMULATORS: usize = 82 * CACHE_LINE;

/// `out = reduction(input)`, over the dimensions that are `reduced`.
///
/// # Errors
/// None for an input and a result of the shapes that `reduced` says.
///
/// # Panics
/// If the input has another shape.
pub(crate) fn reduce<T: Element, R: Element, W: Destination<R>>(
    exec: &Exec,
    kernels: &impl ReductionOf<T, R>,
    input: Input<'_, T>,
    out: &mut ViewRefMut<'_, W>,
    reduced: &ReductionShape,
) -> Result<()> {
    let layout = out.layout();
    let result = OperandPtr::from(out);
    let operands = OperandPtrs::new([result, input.ptr(result, size_of::<R>())]);
    let layouts = [input.layout(layout), layout];
    plan_and_run(exec, kernels, layouts, reduced, operands)
}

/// As [`reduce`], of elements whose type is known at run time only, to one value.
///
/// # Errors
/// None for an input of the shape that `reduced` says.
///
/// # Panics
/// If the elements are not `T`.
pub(crate) fn reduce_erased<T: Element, R: Element>(
    exec: &Exec,
    kernels: &impl ReductionOf<T, R>,
    input: Erased<'_>,
    value: &mut ViewRefMut<'_, R>,
    reduced: &ReductionShape,
) -> Result<()> {
    let layouts = [input.layout(), value.layout()];
    let operands = OperandPtrs::new([OperandPtr::from(value), input.ptr::<T>()]);
    plan_and_run(exec, kernels, layouts, reduced, operands)
}

/// Plans the reduction for the layouts of the operands, of the input first, and runs it.
fn plan_and_run(
    exec: &Exec,
    operation: &dyn Reduction,
    [input, result]: [&Layout; 2],
    reduced: &ReductionShape,
    operands: OperandPtrs<'_, 2>,
) -> Result<()> {
    assert_eq!(*input.shape(), *reduced.input_shape(), "the input has the shape that is reduced");
    let result = reduced.spread(result)?;
    let places = if operation.finds_places() { reduced.places()? } else { reduced.nowhere()? };
    let work = ReduceWork::plan([input, &result, &places], operation.widths());
    let simd = exec.simd();
    let run = Run { simd, operation, operands, cached: exec.machine.l1 / 2, memory: Memory::Kept };
    run.pieces(&work, exec.pieces(work.bytes()));
    Ok(())
}

/// Where scratch comes origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// Origin what the thread keeps.
    Kept,
    /// Origin the reserve, as there is no memory.
    Reserve,
}

/// What all pieces have in common.
///
/// Invariant R1: the work was planned for the layouts of the views that the operands were made of,
/// so O1 to O4 hold for every offset that its loops visit.
#[derive(Clone, Copy)]
struct Run<'a> {
    simd: SimdLevel,
    operation: &'a dyn Reduction,
    operands: OperandPtrs<'a, 2>,
    /// The bytes of accumulators that stay in the first-level cache.
    cached: usize,
    memory: Memory,
}

impl Run<'_> {
    fn pieces(self, work: &ReduceWork, pieces: usize) {
        let levels = Levels::of(work);
        let room = match self.memory {
            Memory::Kept => WORKSPACE_BYTES - work.block.scratch_bytes(),
            Memory::Reserve => RESERVE_ACCUMULATORS,
        };
        let capacity = levels.capacity(room, self.cached, work.widths.slot);
        let too_many = work.results() > capacity;
        match if too_many { levels.kept() } else { levels.to_cut(pieces) } {
            None => Piece { run: self, work, levels: &levels }.reduce(pieces),
            Some(which) if pieces > 1 => self.halves(work, which, levels.0[which].l.len, pieces),
            Some(which) => self.strips(work, which, &levels.0[which], capacity),
        }
    }

    /// The halves of a loop that is kept, of so many iterations, at the same time.
    fn halves(self, work: &ReduceWork, which: usize, len: usize, pieces: usize) {
        let Some(middle) = Axis::of_results(len).middle() else { return self.pieces(work, 1) };
        let (first, second) = (work.part(which, 0, middle), work.part(which, middle, len - middle));
        let (here, there) = (pieces / 2, pieces - pieces / 2);
        pool::join(|| self.pieces(&first, here), || self.pieces(&second, there));
    }

    /// As many iterations of a loop that is kept at a time as have no more than so many
    /// accumulators.
    fn strips(self, work: &ReduceWork, which: usize, level: &Level, accumulators: usize) {
        let step = ReduceWork::whole_lines((accumulators / level.slots).max(1));
        for at in (0..level.l.len).step_by(step) {
            self.pieces(&work.part(which, at, step.min(level.l.len - at)), 1);
        }
    }
}

/// Results whose accumulators fit into a piece's scratch.
#[derive(Clone, Copy)]
struct Piece<'a> {
    run: Run<'a>,
    work: &'a ReduceWork,
    levels: &'a Levels,
}

/// What is done with some iterations of a loop: from where on, with what memory and in how many
/// pieces.
type Iterations<'f> = &'f (dyn Fn(usize, Origin, Memories<'_>, usize) + Sync);

impl Piece<'_> {
    /// The bytes of so many accumulators, in whole cache lines.
    fn bytes(&self, accumulators: usize) -> usize {
        (accumulators * self.work.widths.slot).next_multiple_of(CACHE_LINE)
    }

    /// The bytes of the accumulators of halves.
    fn halves_bytes(&self) -> usize {
        self.levels.halvings() * self.bytes(self.work.results())
    }

    /// The bytes of all scratch.
    fn scratch_bytes(&self) -> usize {
        let accumulators = self.halves_bytes() + self.bytes(self.work.results());
        self.work.block.scratch_bytes() + accumulators
    }

    /// Scratch by what it is used for.
    fn memories<'s>(&self, scratch: Scratch<'s>) -> Memories<'s> {
        let (block, accumulators) = scratch.split_at(self.work.block.scratch_bytes());
        let (halves, accumulators) = accumulators.split_at(self.halves_bytes());
        Memories { accumulators, halves, block }
    }

    fn reduce(self, pieces: usize) {
        let bytes = self.scratch_bytes();
        let hold = if pieces > 1 { Hold::AcrossJoin } else { Hold::Leaf };
        if self.run.memory == Memory::Reserve {
            debug_assert!(bytes <= RESERVE_BYTES);
            with_reserve(bytes, |scratch| self.within(scratch, 1));
        } else if with_scratch(bytes, hold, |scratch| self.within(scratch, pieces)).is_none() {
            Run { memory: Memory::Reserve, ..self.run }.pieces(self.work, 1);
        }
    }

    fn within(self, scratch: Scratch<'_>, pieces: usize) {
        let mut memories = self.memories(scratch);
        let input = self.run.operands.0[1].base.cast_const();
        let start = self.work.starts[INPUT] * self.work.widths.input as isize;
        let origin = Origin { input: input.wrapping_offset(start), place: self.work.starts[PLACE] };
        self.clear(&mut memories.accumulators, self.work.results());
        self.nested(0, origin, memories.reborrow(), pieces);
        self.finish(&mut memories.accumulators);
    }

    /// Makes accumulators those of no elements.
    fn clear(&self, accumulators: &mut Scratch<'_>, len: usize) {
        let start = accumulators.start(len * self.work.widths.slot);
        // SAFETY: as many accumulators have room there (checked by `start`), at a cache line.
        unsafe { self.run.operation.clear(start, len) };
    }

    /// The elements from iteration `at` of a loop on.
    fn step(&self, level: usize, at: usize, origin: Origin) -> Origin {
        let l = self.levels.0[level].l;
        let input = l.strides[INPUT] * at as isize * self.work.widths.input as isize;
        Origin {
            input: origin.input.wrapping_offset(input),
            place: origin.place + l.strides[PLACE] * at as isize,
        }
    }

    /// Where the accumulators of iteration `at` of a loop start, in bytes.
    fn accumulator_step(&self, level: usize, at: usize) -> usize {
        self.levels.0[level].slot_step * at * self.work.widths.slot
    }

    /// All iterations of the loops from `level` on.
    fn nested(self, level: usize, origin: Origin, memories: Memories<'_>, pieces: usize) {
        let len = self.levels.0[level].l.len;
        if level + 2 == self.levels.0.len() {
            let some_rows: Iterations<'_> = &|rows, origin, memories, pieces| {
                self.some_rows(rows, origin, memories, pieces);
            };
            return self.halved(level, len, origin, memories, pieces, some_rows);
        }
        self.halved(level, len, origin, memories, pieces, &|len, origin, mut memories, pieces| {
            let pieces = if len == 1 { pieces } else { 1 };
            for at in 0..len {
                let memories = memories.accumulators_from(self.accumulator_step(level, at));
                self.nested(level + 1, self.step(level, at, origin), memories, pieces);
            }
        });
    }

    fn some_rows(self, rows: usize, origin: Origin, memories: Memories<'_>, pieces: usize) {
        let level = self.levels.0.len() - 1;
        let len = self.levels.0[level].l.len;
        self.halved(level, len, origin, memories, pieces, &|columns, origin, mut memories, _| {
            self.blocks(Extent { rows, columns }, origin, &mut memories);
        });
    }

    /// `len` iterations of a loop: at once if they may be combined one after the other; else its
    /// halves, the second into accumulators of its own, which are then combined with those of the
    /// first. The second half waits for the first if there is no memory to run both at the same
    /// time.
    fn halved(
        self,
        level: usize,
        len: usize,
        origin: Origin,
        memories: Memories<'_>,
        pieces: usize,
        run: Iterations<'_>,
    ) {
        let Level { l, leaf, slots, .. } = self.levels.0[level];
        let axis = Axis::at_multiples(len, leaf);
        let middle = if is_reduced(&l) && len > leaf { axis.middle() } else { None };
        let Some(middle) = middle else { return run(len, origin, memories, pieces) };
        let Memories { mut accumulators, halves, mut block } = memories;
        let (mut others, mut halves) = halves.split_at(self.bytes(slots));
        self.clear(&mut others, slots);
        let (here, there) = (pieces / 2, pieces - pieces / 2);
        let rest = self.step(level, middle, origin);
        let mut is_left = true;
        if pieces > 1 {
            let (mine, theirs) = (accumulators.reborrow(), others.reborrow());
            let first =
                Memories { accumulators: mine, halves: halves.reborrow(), block: block.reborrow() };
            let is_left = &mut is_left;
            pool::join(
                move || self.halved(level, middle, origin, first, here, run),
                move || *is_left = !self.elsewhere(level, len - middle, rest, theirs, there, run),
            );
        } else {
            let (accumulators, halves) = (accumulators.reborrow(), halves.reborrow());
            let first = Memories { accumulators, halves, block: block.reborrow() };
            self.halved(level, middle, origin, first, 1, run);
        }
        if is_left {
            let second = Memories { accumulators: others.reborrow(), halves, block };
            self.halved(level, len - middle, rest, second, 1, run);
        }
        self.combine(&mut accumulators, &mut others, slots);
    }

    /// A half on another thread, with scratch of its own but for the accumulators; `false` if there
    /// is no memory for it.
    fn elsewhere(
        self,
        level: usize,
        len: usize,
        origin: Origin,
        accumulators: Scratch<'_>,
        pieces: usize,
        run: Iterations<'_>,
    ) -> bool {
        let hold = if pieces > 1 { Hold::AcrossJoin } else { Hold::Leaf };
        let half = |scratch: Scratch<'_>| {
            let Memories { halves, block, .. } = self.memories(scratch);
            let memories = Memories { accumulators, halves, block };
            self.halved(level, len, origin, memories, pieces, run);
        };
        with_scratch(self.scratch_bytes(), hold, half).is_some()
    }

    /// Combines accumulators with others, which are used up.
    fn combine(&self, accumulators: &mut Scratch<'_>, others: &mut Scratch<'_>, len: usize) {
        let bytes = len * self.work.widths.slot;
        let (ours, theirs) = (accumulators.start(bytes), others.start(bytes));
        // SAFETY: both have as many accumulators (checked by `start`), cleared before they were
        // used; they are two scratches.
        unsafe { self.run.operation.join(ours, theirs, len) };
    }

    /// Combines the elements of some rows and columns with their accumulators, one block after the
    /// other if they go through scratch.
    fn blocks(self, extent: Extent, origin: Origin, memories: &mut Memories<'_>) {
        if !self.work.block.uses_scratch() {
            let row_step = self.work.rows.strides[INPUT] * self.work.widths.input as isize;
            return self.fold(extent, origin, &mut memories.accumulators, origin.input, row_step);
        }
        let rows = self.levels.0.len() - 2;
        let Extent { rows: tall, columns: long } = self.work.block.extent();
        for j in (0..extent.rows).step_by(tall) {
            for i in (0..extent.columns).step_by(long) {
                let part = Extent {
                    rows: tall.min(extent.rows - j),
                    columns: long.min(extent.columns - i),
                };
                let start = self.accumulator_step(rows, j) + self.accumulator_step(rows + 1, i);
                let origin = self.step(rows + 1, i, self.step(rows, j, origin));
                self.through_scratch(part, origin, &mut memories.accumulators_from(start));
            }
        }
    }

    fn through_scratch(self, extent: Extent, origin: Origin, memories: &mut Memories<'_>) {
        let Piece { work, run, .. } = self;
        let Some(area) = work.block.area(INPUT) else { return };
        let block = StridedBlock {
            width: work.widths.input,
            row_stride: work.rows.strides[INPUT],
            column_stride: work.columns.strides[INPUT],
            extent,
        };
        let (gaps_readable, scratch) = (run.operands.0[1].gaps_readable, memories.block.area(area));
        // SAFETY: R1: the elements of a part of the loops.
        unsafe { pack::pack(run.simd, block, origin.input, gaps_readable, scratch) };
        let packed = memories.block.area(area).start(extent.rows, extent.columns * block.width);
        let pitch = area.pitch as isize;
        self.fold(extent, origin, &mut memories.accumulators, packed.cast_const(), pitch);
    }

    /// Combines rows of adjacent elements at `src` with their accumulators. They are the input's,
    /// or have been packed.
    fn fold(
        self,
        Extent { rows, columns }: Extent,
        origin: Origin,
        accumulators: &mut Scratch<'_>,
        src: *const u8,
        row_step: isize,
    ) {
        let [row_level, column_level] = self.levels.block();
        let columns_kept = !is_reduced(&column_level.l);
        let last_row = (rows - 1) * row_level.slot_step;
        let count = last_row + if columns_kept { columns } else { 1 };
        let block = FoldBlock {
            src,
            row_step,
            rows,
            lanes: columns,
            slots: accumulators.start(count * self.work.widths.slot),
            slot_row: row_level.slot_step,
            lanes_kept: columns_kept,
            place: origin.place,
            place_row: row_level.l.strides[PLACE],
            place_lane: column_level.l.strides[PLACE],
        };
        // SAFETY: the elements are the input's (R1), or in scratch that has just been filled;
        // elements of views are aligned, and so is scratch. There are as many accumulators as are
        // touched (checked by `start`), and they have been cleared.
        unsafe { self.run.operation.fold(self.run.simd, block) };
    }

    /// Writes the results.
    fn finish(self, accumulators: &mut Scratch<'_>) {
        let Piece { run: Run { operation, operands, .. }, work, levels } = self;
        let widths = work.widths;
        let start = work.starts[RESULT] * widths.output as isize;
        let results = operands.0[0].base.wrapping_offset(start);
        let slots = accumulators.start(work.results() * widths.slot).cast_const();
        let kept = levels.0.iter().filter(|level| !is_reduced(&level.l));
        let mut loops: SmallVec<[Loop<2>; 8]> = kept
            .map(|&Level { l, slot_step, .. }| {
                let step = l.strides[RESULT] * widths.output as isize;
                Loop { len: l.len, strides: [step, (slot_step * widths.slot) as isize] }
            })
            .collect();
        // The accumulators of the innermost loop lie side by side.
        let run = loops.pop().unwrap_or(Loop::ONCE);
        walk(&loops, |[result, slot]| {
            let (slots, out) = (slots.wrapping_offset(slot), results.wrapping_offset(result));
            // SAFETY: R1 for the results, O1; the loops that are kept have as many accumulators as
            // results (checked by `start`), and all have been cleared.
            unsafe { operation.finish(slots, out, run.strides[0], run.len) };
        });
    }
}
