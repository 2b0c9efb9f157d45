//! One task of a reduction: results whose accumulators fit its scratch.

use super::{Run, ScratchSource};
use crate::{
    exec::pool,
    kernel::{AccumulatorRows, FoldBlock},
    memory::CACHE_LINE,
    nest::{Loop, Loops, fuse},
    partition::Axis,
    plan::{Extent, INDEX, INPUT, OF_PARTIAL, OF_RESULT, RESULT, ReduceWork, is_reduced},
    run::{
        levels::{Level, Levels},
        pack::{self, StridedBlock},
        reduce_part::{Origin, Workspaces},
        walk::iterations,
        workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
    },
    tuning::MIN_RESULT_RUN,
};

/// Results whose accumulators fit the scratch of a task.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) run: Run<'a>,
    pub(super) work: &'a ReduceWork,
    pub(super) levels: &'a Levels,
}

/// Runs some iterations of a loop: their number, their first element, scratch, and the number of
/// tasks to use.
type Iterations<'f> = &'f (dyn Fn(usize, Origin, Workspaces<'_>, usize) + Sync);

impl Task<'_> {
    /// The bytes of `accumulators` accumulators, rounded up to whole cache lines.
    fn bytes(&self, accumulators: usize) -> usize {
        (accumulators * self.work.widths.accumulator).next_multiple_of(CACHE_LINE)
    }

    /// The bytes of the accumulators of all halves in progress, or of those that are arranged.
    fn halves_bytes(&self) -> usize {
        self.run.other_sets(self.levels) * self.bytes(self.work.results())
    }

    /// The bytes of all scratch.
    fn scratch_bytes(&self) -> usize {
        let accumulators = self.halves_bytes() + self.bytes(self.work.results());
        self.work.block.scratch_bytes() + accumulators
    }

    /// The scratch, divided by use.
    fn workspaces<'s>(&self, scratch: Scratch<'s>) -> Workspaces<'s> {
        let (block, accumulators) = scratch.split_at(self.work.block.scratch_bytes());
        let (halves, accumulators) = accumulators.split_at(self.halves_bytes());
        Workspaces { accumulators, halves, block }
    }

    pub(super) fn reduce(self, tasks: usize) {
        let bytes = self.scratch_bytes();
        let hold = if tasks > 1 { Hold::AcrossJoin } else { Hold::Leaf };
        if self.run.memory == ScratchSource::Reserve {
            debug_assert!(bytes <= RESERVE_BYTES);
            with_reserve(bytes, |scratch| self.within(scratch, 1));
        } else if with_scratch(bytes, hold, |scratch| self.within(scratch, tasks)).is_none() {
            Run { memory: ScratchSource::Reserve, ..self.run }.tasks(self.work, 1);
        }
    }

    fn within(self, scratch: Scratch<'_>, tasks: usize) {
        let mut workspaces = self.workspaces(scratch);
        let input = self.run.operands.0[1].base.cast_const();
        let start = self.work.starts[INPUT] * self.work.widths.input as isize;
        let origin = Origin { input: input.wrapping_offset(start), index: self.work.starts[INDEX] };
        self.init(&mut workspaces.accumulators, self.work.results());
        self.nested_loops(0, origin, workspaces.reborrow(), tasks);
        if let Some(second) = self.run.second {
            return self.second_stage(second, origin, workspaces);
        }
        let levels = self.levels.0.iter();
        let kept = levels.map(Level::as_kept).collect();
        self.finalize(&mut workspaces.accumulators, self.work.results(), kept);
    }

    /// Sets accumulators to those of no elements.
    fn init(&self, accumulators: &mut Scratch<'_>, len: usize) {
        let start = accumulators.start(len * self.work.widths.accumulator);
        // SAFETY: `start` has checked that `len` accumulators fit; scratch starts at a cache line.
        unsafe { self.run.operation.init(start, len) };
    }

    /// The first element of iteration `at` of a loop.
    fn step(&self, level: usize, at: usize, origin: Origin) -> Origin {
        let l = self.levels.0[level].l;
        let input = l.strides[INPUT] * at as isize * self.work.widths.input as isize;
        Origin {
            input: origin.input.wrapping_offset(input),
            index: origin.index + l.strides[INDEX] * at as isize,
        }
    }

    /// The offset of the accumulators of iteration `at` of a loop, in bytes.
    fn accumulator_step(&self, level: usize, at: usize) -> usize {
        self.levels.0[level].accumulator_stride * at * self.work.widths.accumulator
    }

    /// All iterations of the loops from `level` on.
    pub(super) fn nested_loops(
        self,
        level: usize,
        origin: Origin,
        workspaces: Workspaces<'_>,
        tasks: usize,
    ) {
        let len = self.levels.0[level].l.len;
        if level + 3 == self.levels.0.len() && self.folds_whole_blocks() {
            let some_blocks: Iterations<'_> = &|blocks, origin, mut workspaces, _| {
                self.whole_blocks(level, blocks, origin, &mut workspaces.accumulators);
            };
            return self.halved_loop(level, len, origin, workspaces, tasks, some_blocks);
        }
        if level + 2 == self.levels.0.len() {
            let some_rows: Iterations<'_> = &|rows, origin, workspaces, tasks| {
                self.some_rows(rows, origin, workspaces, tasks);
            };
            return self.halved_loop(level, len, origin, workspaces, tasks, some_rows);
        }
        self.halved_loop(
            level,
            len,
            origin,
            workspaces,
            tasks,
            &|len, origin, mut workspaces, tasks| {
                let tasks = if len == 1 { tasks } else { 1 };
                for at in 0..len {
                    let workspaces = workspaces.accumulators_from(self.accumulator_step(level, at));
                    self.nested_loops(level + 1, self.step(level, at, origin), workspaces, tasks);
                }
            },
        );
    }

    fn some_rows(self, rows: usize, origin: Origin, workspaces: Workspaces<'_>, tasks: usize) {
        let level = self.levels.0.len() - 1;
        let len = self.levels.0[level].l.len;
        self.halved_loop(
            level,
            len,
            origin,
            workspaces,
            tasks,
            &|columns, origin, mut workspaces, _| {
                self.blocks(Extent { rows, columns }, origin, &mut workspaces);
            },
        );
    }

    /// Runs `len` iterations of a loop. If they are to be combined in sequence, all at once. Else
    /// its halves, the second into accumulators of its own, which are then combined with those of
    /// the first. The second half runs after the first if no memory is available to run both at the
    /// same time.
    fn halved_loop(
        self,
        level: usize,
        len: usize,
        origin: Origin,
        workspaces: Workspaces<'_>,
        tasks: usize,
        run: Iterations<'_>,
    ) {
        let Level { l, leaf, accumulators: count, .. } = self.levels.0[level];
        let axis = Axis::at_multiples(len, leaf);
        let is_halved = is_reduced(&l) && len > leaf && (tasks > 1 || self.must_be_halved());
        let middle = if is_halved { axis.middle() } else { None };
        let Some(middle) = middle else { return run(len, origin, workspaces, tasks) };
        let Workspaces { mut accumulators, halves, mut block } = workspaces;
        let (mut others, mut halves) = halves.split_at(self.bytes(count));
        self.init(&mut others, count);
        let (here, there) = (tasks / 2, tasks - tasks / 2);
        let rest = self.step(level, middle, origin);
        let mut is_left = true;
        if tasks > 1 {
            let (mine, theirs) = (accumulators.reborrow(), others.reborrow());
            let first = Workspaces {
                accumulators: mine,
                halves: halves.reborrow(),
                block: block.reborrow(),
            };
            let is_left = &mut is_left;
            pool::join(
                move || self.halved_loop(level, middle, origin, first, here, run),
                move || {
                    *is_left =
                        !self.half_on_other_thread(level, len - middle, rest, theirs, there, run);
                },
            );
        } else {
            let (accumulators, halves) = (accumulators.reborrow(), halves.reborrow());
            let first = Workspaces { accumulators, halves, block: block.reborrow() };
            self.halved_loop(level, middle, origin, first, 1, run);
        }
        if is_left {
            let second = Workspaces { accumulators: others.reborrow(), halves, block };
            self.halved_loop(level, len - middle, rest, second, 1, run);
        }
        self.combine(&mut accumulators, &mut others, count);
    }

    /// Runs a half on another thread, with scratch of its own but for the accumulators. Returns
    /// `false` if no memory is available for that.
    fn half_on_other_thread(
        self,
        level: usize,
        len: usize,
        origin: Origin,
        accumulators: Scratch<'_>,
        tasks: usize,
        run: Iterations<'_>,
    ) -> bool {
        let hold = if tasks > 1 { Hold::AcrossJoin } else { Hold::Leaf };
        let half = |scratch: Scratch<'_>| {
            let Workspaces { halves, block, .. } = self.workspaces(scratch);
            let workspaces = Workspaces { accumulators, halves, block };
            self.halved_loop(level, len, origin, workspaces, tasks, run);
        };
        with_scratch(self.scratch_bytes(), hold, half).is_some()
    }

    /// Combines `others` into `accumulators`.
    fn combine(&self, accumulators: &mut Scratch<'_>, others: &mut Scratch<'_>, len: usize) {
        let bytes = len * self.work.widths.accumulator;
        let (ours, theirs) = (accumulators.start(bytes), others.start(bytes));
        // SAFETY: `start` has checked that both hold `len` accumulators. Both were initialised, and
        // they are two separate parts of scratch.
        unsafe { self.run.operation.combine(ours, theirs, AccumulatorRows::one(len)) };
    }

    /// Does the result depend on how a loop is halved? An index does not. Elements that do not win
    /// over the accumulator are not searched, so one thread keeps one accumulator for all of them.
    fn must_be_halved(&self) -> bool {
        !self.run.operation.returns_indices()
    }

    /// Are blocks read where they lie, as a whole? Then a kernel gets many of them at a time.
    fn folds_whole_blocks(&self) -> bool {
        let [rows, columns] = self.levels.block();
        let is_whole = |level: &Level| {
            !is_reduced(&level.l) || level.l.len <= level.leaf || !self.must_be_halved()
        };
        !self.work.block.uses_scratch()
            && self.run.gaps_to_skip().is_none()
            && is_whole(rows)
            && is_whole(columns)
    }

    /// Combines some blocks with their accumulators, along the loop `level`.
    fn whole_blocks(
        self,
        level: usize,
        blocks: usize,
        origin: Origin,
        accumulators: &mut Scratch<'_>,
    ) {
        let [rows, columns] = self.levels.block();
        let extent = Extent { rows: rows.l.len, columns: columns.l.len };
        let row_step = rows.l.strides[INPUT] * self.work.widths.input as isize;
        let one = self.fold_block(extent, origin, origin.input, row_step);
        let strides = self.levels.0[level].l.strides;
        let block = FoldBlock {
            blocks,
            block_step: strides[INPUT] * self.work.widths.input as isize,
            block_accumulator_step: self.accumulator_step(level, 1),
            block_index_stride: strides[INDEX],
            ..one
        };
        // SAFETY: the elements are the input's (R1): those of `blocks` iterations of the loop.
        unsafe { self.run_fold(block, accumulators) };
    }

    /// Combines the elements of some rows and columns with their accumulators; block by block if
    /// they go through scratch.
    fn blocks(self, extent: Extent, origin: Origin, workspaces: &mut Workspaces<'_>) {
        if let Some(second) = self.run.gaps_to_skip() {
            return self.fold_runs(second, extent, origin, &mut workspaces.accumulators);
        }
        if !self.work.block.uses_scratch() {
            let row_step = self.work.rows.strides[INPUT] * self.work.widths.input as isize;
            return self.fold(extent, origin, &mut workspaces.accumulators, origin.input, row_step);
        }
        let rows = self.levels.0.len() - 2;
        let Extent { rows: block_rows, columns: block_columns } = self.work.block.extent();
        for j in (0..extent.rows).step_by(block_rows) {
            for i in (0..extent.columns).step_by(block_columns) {
                let part = Extent {
                    rows: block_rows.min(extent.rows - j),
                    columns: block_columns.min(extent.columns - i),
                };
                let start = self.accumulator_step(rows, j) + self.accumulator_step(rows + 1, i);
                let origin = self.step(rows + 1, i, self.step(rows, j, origin));
                self.through_scratch(part, origin, &mut workspaces.accumulators_from(start));
            }
        }
    }

    fn through_scratch(self, extent: Extent, origin: Origin, workspaces: &mut Workspaces<'_>) {
        let Task { work, run, .. } = self;
        let Some(area) = work.block.area(INPUT) else { return };
        let block = StridedBlock {
            width: work.widths.input,
            row_stride: work.rows.strides[INPUT],
            column_stride: work.columns.strides[INPUT],
            extent,
            is_far: run.is_in_memory,
        };
        let (gaps_readable, scratch) =
            (run.operands.0[1].gaps_readable, workspaces.block.area(area));
        // SAFETY: R1: the elements are a part of the loops.
        unsafe { pack::pack(run.simd, block, origin.input, gaps_readable, scratch) };
        let packed = workspaces.block.area(area).start(extent.rows, extent.columns * block.width);
        let pitch = area.pitch as isize;
        let packed_task = Task { run: Run { is_far: false, ..run }, ..self };
        packed_task.fold(extent, origin, &mut workspaces.accumulators, packed.cast_const(), pitch);
    }

    /// Combines rows of adjacent elements at `src` with their accumulators. The rows are those of
    /// the input, or have been packed.
    pub(super) fn fold(
        self,
        extent: Extent,
        origin: Origin,
        accumulators: &mut Scratch<'_>,
        src: *const u8,
        row_step: isize,
    ) {
        let block = self.fold_block(extent, origin, src, row_step);
        // SAFETY: the elements are the input's (R1), with the gaps between them only where these
        // are elements that can be read (O4, `gaps_to_skip`); or they are in scratch that has just
        // been packed.
        unsafe { self.run_fold(block, accumulators) };
    }

    /// One block of rows at `src`, without its accumulators.
    fn fold_block(
        &self,
        Extent { rows, columns }: Extent,
        origin: Origin,
        src: *const u8,
        row_step: isize,
    ) -> FoldBlock {
        let [row_level, column_level] = self.levels.block();
        FoldBlock {
            blocks: 1,
            block_step: 0,
            block_accumulator_step: 0,
            block_index_stride: 0,
            src,
            row_step,
            rows,
            columns,
            accumulators: std::ptr::null_mut(),
            accumulator_row_stride: row_level.accumulator_stride,
            columns_kept: !is_reduced(&column_level.l),
            index: origin.index,
            index_row_stride: row_level.l.strides[INDEX],
            index_column_stride: column_level.l.strides[INDEX],
            is_far: self.run.is_far,
        }
    }

    /// Combines the elements of blocks with `accumulators`, which have been initialised.
    ///
    /// # Safety
    /// The elements can be read, and are aligned as elements of the input are.
    unsafe fn run_fold(self, block: FoldBlock, accumulators: &mut Scratch<'_>) {
        let width = self.work.widths.accumulator;
        let last_row = (block.rows - 1) * block.accumulator_row_stride;
        let count = last_row + if block.columns_kept { block.columns } else { 1 };
        let bytes = (block.blocks - 1) * block.block_accumulator_step + count * width;
        let block = FoldBlock { accumulators: accumulators.start(bytes), ..block };
        // SAFETY: this function's contract. `start` has checked that the accumulators fit.
        unsafe { self.run.operation.fold(self.run.simd, block) };
    }

    /// Writes the results of `count` accumulators; the loops have the strides of results and of
    /// accumulators.
    pub(super) fn finalize(
        &self,
        accumulators: &mut Scratch<'_>,
        count: usize,
        mut kept: Loops<2>,
    ) {
        let Task { run: Run { operation, operands, .. }, work, .. } = self;
        let widths = work.widths;
        let start = work.starts[RESULT] * widths.output as isize;
        let results = operands.0[0].base.wrapping_offset(start);
        let accumulators = accumulators.start(count * widths.accumulator);
        if work.repetitions != 1 {
            // SAFETY: `start` has checked that the accumulators fit; `init` has initialised them.
            unsafe { operation.repeat(accumulators, count, work.repetitions) };
        }
        kept.retain(|l| l.strides[OF_RESULT] != 0);
        for l in &mut kept {
            l.strides[OF_RESULT] *= widths.output as isize;
            l.strides[OF_PARTIAL] *= widths.accumulator as isize;
        }
        let fused = fuse(&mut kept);
        kept.truncate(fused);
        let run = longest_run(&mut kept);
        for [result, accumulator] in iterations(&kept) {
            let (accumulators, out) = (
                accumulators.wrapping_offset(accumulator).cast_const(),
                results.wrapping_offset(result),
            );
            // SAFETY: R1 and O1 for the results. The loops that are kept have as many accumulators
            // as results (`start` has checked it), and all are initialised.
            unsafe { operation.finalize(accumulators, out, run.strides, run.len) };
        }
    }
}

/// Removes the loop whose results one call writes: the innermost one, or the longest one if the
/// innermost is short.
fn longest_run(kept: &mut Loops<2>) -> Loop<2> {
    let Some(innermost) = kept.len().checked_sub(1) else { return Loop::ONCE };
    let longest = (0..kept.len()).max_by_key(|&at| kept[at].len).unwrap_or(innermost);
    let is_longer = kept[innermost].len < MIN_RESULT_RUN && kept[longest].len > kept[innermost].len;
    kept.remove(if is_longer { longest } else { innermost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_with_few_in_a_row_are_written_along_the_longest_loop() {
        let longest = |lens: &[usize]| {
            let mut kept = lens.iter().map(|&len| Loop { len, strides: [1, 1] }).collect();
            let run = longest_run(&mut kept);
            (run.len, kept.iter().map(|l| l.len).collect::<Vec<_>>())
        };
        assert_eq!(longest(&[104, 88, 3]), (104, vec![88, 3]));
        assert_eq!(longest(&[5, 88, 3]), (88, vec![5, 3]));
        assert_eq!(longest(&[500, MIN_RESULT_RUN]), (MIN_RESULT_RUN, vec![500]));
        assert_eq!(longest(&[2, 3]), (3, vec![2]));
        assert_eq!(longest(&[]), (1, vec![]));
    }
}
