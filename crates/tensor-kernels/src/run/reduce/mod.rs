//! Runs a reduction: cuts it for threads and for the first-level cache, visits blocks, and combines
//! partial results in the order of the plan's tree.
//!
//! The accumulators of the current results are adjacent in scratch memory, with one more set of
//! them for each halving in progress. If a task has more results than fit, it is cut along a loop
//! that is kept.
//!
//! Threads receive halves: different results, or the two halves of a loop that is reduced. The
//! latter are combined when both are done, exactly as one thread would combine them.

mod plan_cache;
mod second_stage;
mod task;

use std::ops::Range;

use plan_cache::Reduced;
use task::Task;
use tensor_core::{Element, Error, Layout, ReductionShape, Result, ViewRefMut};

use super::{
    copy,
    levels::{Level, Levels},
    listed,
    operands::{Erased, OperandPtr, OperandPtrs},
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    exec::{Exec, SimdLevel, pool},
    kernel::{ListedElements, Reduction, ReductionOf},
    memory::CACHE_LINE,
    partition::Axis,
    plan::{
        CopiedReduce, ListedReduce, PlacedPart, PlannedReduce, ReduceWork, SecondStage,
        TwoStagePiece,
    },
    reduction_order::{COPIED_BYTES, MAX_PARTIAL_RESULTS_BYTES, Widths},
    tuning::{FAR_INPUT_BYTES, REDUCE_WORKSPACE_BYTES},
};

/// Bytes of accumulators in the reserve, which is used if no memory is available. A block's scratch
/// takes at most 18 KiB of the reserve. The rest suffices for a cache line of accumulators for the
/// results and one for each halving: at most 63 halvings for 2⁶³ elements, and three tenths more
/// for loops of five leaves, which are halved three times.
const RESERVE_ACCUMULATORS: usize = 82 * CACHE_LINE;

// Of the halves' partial results each set is rounded up to whole cache lines.
const _: () = assert!(MAX_PARTIAL_RESULTS_BYTES + RESERVE_ACCUMULATORS <= RESERVE_BYTES);

/// Reduces elements whose type is known only at run time to a single value.
///
/// # Errors
/// [`Error::OutOfMemory`] if much of the input has to be copied first. No other, if the input has
/// the shape that `reduced` says.
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
    plan_and_run(exec, kernels.any(), layouts, reduced, operands)
}

/// Plans the reduction for the layouts of input and result, and runs it.
pub(super) fn plan_and_run(
    exec: &Exec,
    operation: &dyn Reduction,
    [input, result]: [&Layout; 2],
    reduced: &ReductionShape,
    operands: OperandPtrs<'_, 2>,
) -> Result<()> {
    assert_eq!(*input.shape(), *reduced.input_shape(), "the input has the shape that is reduced");
    let run = Run {
        simd: exec.simd(),
        operation,
        operands,
        cached: exec.machine.l1 / 2,
        memory: ScratchSource::Thread,
        second: None,
        is_far: false,
        is_in_memory: false,
    };
    let reduced = Reduced { input, result, shape: reduced, operation };
    let done = plan_cache::with_plan(reduced, |plan, behind| {
        let run = Run { operands: operands.moved(behind), ..run };
        match plan {
            PlannedReduce::Direct(work) => {
                run.of_input(exec, work.distinct_bytes()).tasks(work, exec.tasks(work.bytes()));
            }
            PlannedReduce::Copied(copied) => return run.copied(exec, copied),
            PlannedReduce::Listed(listed) => run.listed(listed),
            PlannedReduce::TwoStage(two) => {
                let run = run.of_input(exec, two.distinct_bytes());
                for TwoStagePiece { first, second } in two.pieces() {
                    Run { second: Some(second), ..run }.tasks(first, exec.tasks(first.bytes()));
                }
            }
        }
        Ok(())
    })?;
    if done.is_err() && operation.takes_any_order() {
        let work = reduced.direct()?;
        run.tasks(&work, exec.tasks(work.bytes()));
        return Ok(());
    }
    done
}

/// Where scratch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScratchSource {
    /// The memory that the thread keeps.
    Thread,
    /// The reserve on the stack, if no memory is available.
    Reserve,
}

/// What all tasks of a reduction share.
///
/// Invariant R1: the work was planned for the layouts of the views that the operands were made of,
/// so O1 to O4 hold for every offset that its loops visit.
#[derive(Clone, Copy)]
struct Run<'a> {
    simd: SimdLevel,
    operation: &'a dyn Reduction,
    operands: OperandPtrs<'a, 2>,
    /// The bytes of accumulators that fit half of the first-level cache.
    cached: usize,
    memory: ScratchSource,
    /// What follows if the results of the loops are partial ones. A row's columns stay together.
    second: Option<&'a SecondStage>,
    /// Is the input larger than the caches near a core? Its rows are prefetched.
    is_far: bool,
    /// Is it larger than the last-level cache? Blocks that are transposed are prefetched, too.
    is_in_memory: bool,
}

impl<'a> Run<'a> {
    /// Sets what depends on where an input of `bytes` different bytes is read from.
    fn of_input(self, exec: &Exec, bytes: usize) -> Self {
        let is_in_memory = exec.machine.is_far_larger(bytes);
        Self { is_far: bytes >= FAR_INPUT_BYTES, is_in_memory, ..self }
    }

    /// Reduces elements by the list of their offsets.
    fn listed(self, listed: &ListedReduce) {
        let ListedReduce { starts, elements, results, repetitions } = listed;
        let widths = self.operation.widths();
        let OperandPtrs([result, input]) = self.moved(*starts, widths);
        let (src, out) = (input.base.cast_const(), result.base);
        let (elements, results) = (elements.offsets(), results.offsets());
        let listed = ListedElements { elements, results, repetitions: *repetitions, src, out };
        // SAFETY: R1: the lists are the offsets of the elements and of the results.
        unsafe { self.operation.reduce_listed(listed) };
    }

    /// The second stage, if rows have gaps that cannot be read.
    fn gaps_to_skip(self) -> Option<&'a SecondStage> {
        let gaps_readable = self.operands.0[1].gaps_readable;
        self.second.filter(|second| !gaps_readable && second.has_gaps())
    }

    /// The operands, from offsets of result and input on.
    fn moved(self, [result, input]: [isize; 2], widths: Widths) -> OperandPtrs<'a, 2> {
        let bytes = [result * widths.output as isize, input * widths.input as isize];
        self.operands.moved(bytes)
    }

    /// Copies the input to scratch, part by part, and reduces each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], if a part does not fit the scratch that is always there.
    fn copied(self, exec: &Exec, copied: &CopiedReduce) -> Result<()> {
        let (parts, part_bytes) = (copied.parts(), copied.part_bytes());
        let tasks = exec.tasks(parts.saturating_mul(part_bytes)).min(parts);
        let in_part = if tasks > 1 { 1 } else { exec.tasks(part_bytes) };
        let enough = self.copied_parts(copied, 0..parts, tasks, in_part);
        if enough { Ok(()) } else { Err(Error::OutOfMemory { bytes: part_bytes }) }
    }

    /// Runs some parts, with `tasks` tasks, or with `in_part` tasks for each part. Returns `false`
    /// if no memory is available for scratch.
    fn copied_parts(
        self,
        copied: &CopiedReduce,
        parts: Range<usize>,
        tasks: usize,
        in_part: usize,
    ) -> bool {
        if tasks > 1 && parts.len() > 1 {
            let middle = parts.start + parts.len() / 2;
            let (here, there) = (tasks / 2, tasks - tasks / 2);
            let (mut first, mut second) = (false, false);
            pool::join(
                || first = self.copied_parts(copied, parts.start..middle, here, in_part),
                || second = self.copied_parts(copied, middle..parts.end, there, in_part),
            );
            return first && second;
        }
        let hold = if in_part > 1 { Hold::AcrossJoin } else { Hold::Leaf };
        let bytes = copied.part_bytes();
        let all = |mut scratch: Scratch<'_>, in_part: usize| {
            for number in parts.clone() {
                self.copied_part(copied.part(number), &mut scratch, in_part);
            }
        };
        if with_scratch(bytes, hold, |scratch| all(scratch, in_part)).is_some() {
            return true;
        }
        if bytes <= COPIED_BYTES {
            // The reserve is for work that does not wait for other work.
            with_reserve(bytes, |scratch| all(scratch, 1));
        }
        bytes <= COPIED_BYTES
    }

    fn copied_part(
        self,
        PlacedPart { part, starts }: PlacedPart<'_>,
        scratch: &mut Scratch<'_>,
        tasks: usize,
    ) {
        let widths = part.reduce.widths;
        let OperandPtrs([result, input]) = self.moved(starts, widths);
        let to = scratch.start(part.elements * widths.input);
        let from = input.base.cast_const();
        match &part.listing {
            // SAFETY: R1 for the part's elements of the input; the scratch holds as many.
            Some(listing) => unsafe { listed::run_listed(widths.input, listing, to, from) },
            // SAFETY: as above.
            None => unsafe { copy::run_at(self.simd, &part.copy, to, from, input.gaps_readable) },
        }
        let operands = OperandPtrs::new([result, OperandPtr::at(to, true)]);
        Run { operands, is_far: false, is_in_memory: false, ..self }.tasks(&part.reduce, tasks);
    }

    /// The sets of accumulators next to those of the results: of the halves in progress, or of
    /// partial results that are arranged.
    fn other_sets(self, levels: &Levels) -> usize {
        let halvings = levels.halvings();
        self.second.map_or(halvings, |second| second.sets(halvings))
    }

    fn tasks(self, work: &ReduceWork, tasks: usize) {
        let levels = Levels::of(work);
        let workspace_bytes = match self.memory {
            ScratchSource::Thread => REDUCE_WORKSPACE_BYTES - work.block.scratch_bytes(),
            ScratchSource::Reserve => RESERVE_ACCUMULATORS,
        };
        let sets = 1 + self.other_sets(&levels);
        let set_bytes = (workspace_bytes / sets / CACHE_LINE * CACHE_LINE).min(self.cached);
        let capacity = set_bytes.max(CACHE_LINE) / work.widths.accumulator;
        let too_many = work.results() > capacity;
        let loops = levels.0.len() - usize::from(self.second.is_some());
        match if too_many { levels.kept(loops) } else { levels.to_cut(loops, tasks) } {
            None => Task { run: self, work, levels: &levels }.reduce(tasks),
            Some(which) if tasks > 1 => self.halves(work, which, levels.0[which].l.len, tasks),
            Some(which) => self.strips(work, which, &levels.0[which], capacity),
        }
    }

    /// Runs the halves of a loop that is kept, of `len` iterations, at the same time.
    fn halves(self, work: &ReduceWork, which: usize, len: usize, tasks: usize) {
        let Some(middle) = Axis::of_results(len).middle() else { return self.tasks(work, 1) };
        let (first, second) = (work.part(which, 0, middle), work.part(which, middle, len - middle));
        let (here, there) = (tasks / 2, tasks - tasks / 2);
        pool::join(|| self.tasks(&first, here), || self.tasks(&second, there));
    }

    /// Runs a loop that is kept in strips, each of at most `accumulators` accumulators.
    fn strips(self, work: &ReduceWork, which: usize, level: &Level, accumulators: usize) {
        let step = ReduceWork::whole_lines((accumulators / level.accumulators).max(1));
        for at in (0..level.l.len).step_by(step) {
            self.tasks(&work.part(which, at, step.min(level.l.len - at)), 1);
        }
    }
}
