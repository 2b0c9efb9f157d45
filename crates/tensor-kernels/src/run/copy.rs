//! Runs a copy: plans it, or takes a plan, and walks the plan's loops on each thread.

use pulp::NullaryFnOnce;
use tensor_core::{Element, Result, ViewRef, ViewRefMut};

use super::{
    blocked,
    grouped::{Blocks, Table},
    listed::{can_pick, run_listed, run_picked},
    operands::{CopyTarget, OperandPtr, OperandPtrs},
    packed_source,
    plan_cache::{self, Kept, Planned},
    shuffled::ShuffledTask,
    stream,
    streamed_groups::StreamedGroupsTask,
    tiny::{copy_tiny, has_few_rows, is_tiny},
    walk::iterations,
    workspace::{Hold, Scratch, with_scratch},
};
use crate::{
    exec::{Exec, SimdLevel},
    kernel::{self, FenceOnDrop, Isa, Kernel, Residency, Unit, Units, short_fills, short_runs},
    memory::Stores,
    nest::{Loop, check_shapes},
    partition::par_run,
    plan::{Grouped, Inner, Work},
    tuning::MAX_SHORT_FILL,
};

/// The source and the destination of a copy, of one shape. The shapes are compared here, once:
/// comparing them twice takes a fifth of the time of a copy of 16 elements.
pub(crate) struct CopyOperands<'f, 'o, 't, T, W> {
    pub(super) from: ViewRef<'f, T>,
    pub(super) to: &'o mut ViewRefMut<'t, W>,
}

impl<'f, 'o, 't, T: Element, W: CopyTarget<T>> CopyOperands<'f, 'o, 't, T, W> {
    /// # Errors
    /// [`OutputShape`](tensor_core::Error::OutputShape) if the shapes differ.
    #[inline]
    pub(crate) fn new(from: ViewRef<'f, T>, to: &'o mut ViewRefMut<'t, W>) -> Result<Self> {
        check_shapes(from.layout(), to.layout())?;
        Ok(Self { from, to })
    }
}

/// Copies every element.
#[inline]
pub(crate) fn copy<T: Element, W: CopyTarget<T>>(
    exec: &Exec,
    operands: CopyOperands<'_, '_, '_, T, W>,
) {
    let (to, from) = (operands.to.layout(), operands.from.layout());
    if is_tiny(to) || has_few_rows([to, from], size_of::<T>()) {
        return copy_tiny(operands);
    }
    copy_by_plan(exec, operands);
}

/// A function of its own: its plan would make the stack frame of a tiny copy large, which takes a
/// third of the time of such a copy.
#[inline(never)]
fn copy_by_plan<T: Element, W: CopyTarget<T>>(
    exec: &Exec,
    operands: CopyOperands<'_, '_, '_, T, W>,
) {
    let CopyOperands { from, to } = operands;
    let (width, machine) = (size_of::<T>(), &exec.machine);
    let copy = Planned { from: from.layout(), to: to.layout(), width, machine };
    by_plan(exec, &copy, OperandPtrs::new([to.into(), from.into()]));
}

/// Copies between operands of the layouts of `copy`.
#[inline(always)]
pub(super) fn by_plan(exec: &Exec, copy: &Planned<'_>, operands: OperandPtrs<'_, 2>) {
    if exec.tasks(copy.from.numel() * copy.width) > 1 {
        // A thread that waits for others may run another copy meanwhile, which borrows the plans.
        return execute(exec, &planned(copy), &operands);
    }
    let OperandPtrs([result, operand]) = operands;
    plan_cache::with_plan(copy, |kept| {
        // SAFETY: the plan was made for the layouts of these operands apart from the offsets, which
        // `kept` makes up for. By O1 to O4 their elements can be read and written, and do not
        // overlap.
        unsafe { run_kept(exec.simd(), copy, kept, (result.base, operand)) };
    });
}

/// The plan of a copy, on its own.
pub(super) fn planned(copy: &Planned<'_>) -> Work {
    plan_cache::with_plan(copy, |kept| kept.work.clone().moved(kept.behind))
}

/// Copies by a kept plan, from one operand to another: each is the address of offset 0 of its
/// layout.
///
/// # Safety
/// `kept` is the plan for `copy`. M1, M2 and M3 hold for the elements of its layouts; the gaps
/// between those of the source can be read if the operand says so.
#[inline]
pub(super) unsafe fn run_kept(
    simd: SimdLevel,
    copy: &Planned<'_>,
    kept: Kept<'_>,
    (result, operand): (*mut u8, OperandPtr<'_>),
) {
    let [dst, src] = copy.starts();
    let (dst, src) = (result.wrapping_add(dst), operand.base.cast_const().wrapping_add(src));
    if let Some(picks) = kept.picks
        && can_pick(simd, operand)
    {
        // SAFETY: the picks are those of the source's elements, and the gaps between them can be
        // read; the destination is contiguous. This function's contract says that they can be used.
        return unsafe { run_picked(simd, copy.width, picks, (dst, src)) };
    }
    let Some(listing) = kept.listing else {
        let operands = OperandPtrs::new([OperandPtr::at(result, false), operand]);
        return run(simd, kept.work, &operands.moved(kept.behind));
    };
    // SAFETY: the list has the offsets of the source's elements from its first one on; the
    // destination is contiguous. This function's contract says that they can be used.
    unsafe { run_listed(copy.width, listing, dst, src) };
}

/// Runs `work`, which the callers have planned for the layouts of the views behind `operands` (C1).
pub(super) fn execute(exec: &Exec, work: &Work, operands: &OperandPtrs<'_, 2>) {
    let simd = exec.simd();
    par_run(exec, work, |work| run_once(simd, work, operands));
    repeat_in_parallel(exec, work, operands);
}

/// Repeats the results of a plan that has been run, if it says so.
pub(super) fn repeat_in_parallel(exec: &Exec, work: &Work, operands: &OperandPtrs<'_, 2>) {
    if let Some(repetitions) = work.repetitions() {
        let (simd, within) = (exec.simd(), &within_destination(operands));
        par_run(exec, &repetitions, |work| run_once(simd, work, within));
    }
}

/// The same on this thread.
pub(super) fn repeat(simd: SimdLevel, work: &Work, operands: &OperandPtrs<'_, 2>) {
    if let Some(repetitions) = work.repetitions() {
        run_once(simd, &repetitions, &within_destination(operands));
    }
}

fn run(simd: SimdLevel, work: &Work, operands: &OperandPtrs<'_, 2>) {
    run_once(simd, work, operands);
    repeat(simd, work, operands);
}

/// The destination as both operands of a copy.
fn within_destination<'a>(OperandPtrs([to, _]): &OperandPtrs<'a, 2>) -> OperandPtrs<'a, 2> {
    OperandPtrs([*to, *to])
}

/// Runs a plan, or a part of one, apart from its [repetitions](Work::repetitions).
fn run_once(simd: SimdLevel, work: &Work, operands: &OperandPtrs<'_, 2>) {
    if let Inner::PackedSource { elements } = work.inner {
        return packed_source::copy(simd, work, elements, *operands);
    }
    let _fence = (work.stores == Stores::NonTemporal).then(|| FenceOnDrop(simd));
    let bytes = work.scratch_bytes();
    if bytes == 0 {
        return run_with(simd, work, operands, None);
    }
    let with = |mut scratch: Scratch<'_>| run_with(simd, work, operands, Some(&mut scratch));
    if with_scratch(bytes, Hold::Leaf, with).is_none() {
        run_with(simd, work, operands, None);
    }
}

fn run_with(
    simd: SimdLevel,
    work: &Work,
    operands: &OperandPtrs<'_, 2>,
    scratch: Option<&mut Scratch<'_>>,
) {
    // The portable kernels read no gaps; the others may.
    let able = operands.0[1].gaps_readable || !work.inner.reads_gaps(work.unit);
    let simd = if able { simd } else { SimdLevel::Scalar };
    let (dst, src) = starts(work, operands);
    let outer = &work.outer[..];
    match (&work.inner, work.unit) {
        (&Inner::Run { len }, unit) => {
            kernel::dispatch(
                simd,
                &Runs {
                    dst,
                    src,
                    unit,
                    len,
                    stores: work.stores,
                    residency: work.residency,
                    outer,
                },
            );
        }
        (&Inner::Fill { len }, 1) => fill::<u8>(simd, work, (dst, src), len),
        (&Inner::Fill { len }, 2) => fill::<u16>(simd, work, (dst, src), len),
        (&Inner::Fill { len }, 4) => fill::<u32>(simd, work, (dst, src), len),
        (&Inner::Fill { len }, 8) => fill::<u64>(simd, work, (dst, src), len),
        (&Inner::Fill { len }, _) => fill::<u128>(simd, work, (dst, src), len),
        // By reference: a copy would wait for the stores of its fields. So are those above.
        _ => kernel::dispatch(simd, &mut Task { work, dst, src, scratch }),
    }
}

/// Copies as planned from one address to another.
///
/// # Safety
/// M1, M2 and M3 hold for the elements that the work's loops visit from these addresses on. The
/// gaps between those of the source can be read, or `gaps_readable` is not set.
pub(super) unsafe fn run_at(
    simd: SimdLevel,
    work: &Work,
    dst: *mut u8,
    src: *const u8,
    gaps_readable: bool,
) {
    let src = OperandPtr::at(src.cast_mut(), gaps_readable);
    run(simd, work, &OperandPtrs::new([OperandPtr::at(dst, false), src]));
}

/// The addresses in destination and source at which the work's loops start. If there are no
/// elements they may lie anywhere. `wrapping_offset` makes that sound as long as the address is not
/// used.
fn starts(work: &Work, OperandPtrs([dst, src]): &OperandPtrs<'_, 2>) -> (*mut u8, *const u8) {
    let dst = dst.base.wrapping_offset(work.starts[0]);
    (dst, src.base.wrapping_offset(work.starts[1]).cast_const())
}

/// Adjacent units in each iteration of some loops. A task of its own, as [`Fills`]: in one function
/// with all other steps a copy of 1.6 kB took 41 ns in place of 35, and 1242 rows of 39 floats were
/// filled in 1.9 µs in place of 1.2 (Zen 5).
///
/// Invariant: that of [`Task`].
struct Runs<'a> {
    dst: *mut u8,
    src: *const u8,
    unit: usize,
    len: usize,
    stores: Stores,
    residency: Residency,
    outer: &'a [Loop<2>],
}

impl Kernel for &Runs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Runs { dst, src, unit, len, stores, residency, outer } = *self;
        let bytes = |units: isize| units * unit as isize;
        if stores == Stores::Plain && short_runs::are_by_lines(len * unit, residency) {
            for [to, from] in iterations(outer) {
                let (dst, src) = (dst.wrapping_offset(bytes(to)), src.wrapping_offset(bytes(from)));
                // SAFETY: C1 for the elements of a run.
                unsafe { isa.run_by_lines(src, dst, len * unit) };
            }
            return;
        }
        for [to, from] in iterations(outer) {
            let (dst, src) = (dst.wrapping_offset(bytes(to)), src.wrapping_offset(bytes(from)));
            // SAFETY: C1 for the elements of a run.
            unsafe { isa.run(src, dst, len * unit, stores) };
        }
    }
}

/// Writes one unit to `len` adjacent ones in each iteration of the work's loops.
fn fill<L: Unit>(simd: SimdLevel, work: &Work, (dst, src): (*mut u8, *const u8), len: usize) {
    let (around, rows) = match &work.outer[..] {
        [around @ .., rows] => (around, *rows),
        [] => (&[][..], Loop::ONCE),
    };
    let (dst, src) = (dst.cast::<L>(), src.cast());
    kernel::dispatch(simd, &Fills { dst, src, len, stores: work.stores, rows, around });
}

/// Rows of one unit each, in each iteration of the loops around them.
///
/// Invariant: that of [`Task`].
struct Fills<'a, L> {
    dst: *mut L,
    src: *const L,
    len: usize,
    stores: Stores,
    rows: Loop<2>,
    around: &'a [Loop<2>],
}

impl<L: Unit> Kernel for &Fills<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Fills { dst, src, len, stores, rows, around } = *self;
        for [to, from] in iterations(around) {
            let (mut dst, mut src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            if len <= MAX_SHORT_FILL {
                // SAFETY: C1 for the elements of these rows.
                unsafe { short_fills::fill_runs(src, dst, len, rows) };
                continue;
            }
            for _ in 0..rows.len {
                // SAFETY: C1 for the one element of this row that is read.
                let value = unsafe { src.read_unaligned() };
                // SAFETY: C1 for the `len` elements of this row.
                unsafe { isa.fill(value, dst, len, stores) };
                dst = dst.wrapping_offset(rows.strides[0]);
                src = src.wrapping_offset(rows.strides[1]);
            }
        }
    }
}

/// The work of one thread, other than runs and fills.
///
/// Invariant C1: the work was planned for the layouts of the views that the operands were made of,
/// so O1 to O4 hold for every offset that its loops visit; M1 to M3 follow from O1 to O3. Or it is
/// the repetitions of such a plan, which has been run: these read elements of the destination that
/// the plan has written, and write others.
///
/// Invariant C2: the level is the portable one, whose kernels read no gaps, or the gaps between the
/// source's elements can be read (O4), or [the step](crate::plan::Inner::reads_gaps) reads none.
struct Task<'a, 's> {
    work: &'a Work,
    dst: *mut u8,
    src: *const u8,
    scratch: Option<&'a mut Scratch<'s>>,
}

impl Kernel for &mut Task<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Task { work, dst, src, ref mut scratch } = *self;
        let units = Units { isa, width: work.unit };
        let at = |[to, from]: [isize; 2]| {
            (dst.wrapping_offset(units.bytes(to)), src.wrapping_offset(units.bytes(from)))
        };
        match (&work.inner, work.stores, &work.outer[..]) {
            (Inner::Nothing, ..) => {}
            (&Inner::Grouped(groups), ..) => {
                let task = GroupedTask { units, work, groups, src, dst };
                if groups.is_streamed() {
                    isa.vectorize(StreamedGroupsTask { task, scratch: scratch.as_deref_mut() });
                } else {
                    isa.vectorize(task);
                }
            }
            (&Inner::Shuffled(plan), ..) => {
                isa.vectorize(ShuffledTask { isa, work, plan, src, dst });
            }
            (&Inner::Gather { len, step }, Stores::Plain, [around @ .., rows]) => {
                for offsets in iterations(around) {
                    let (dst, src) = at(offsets);
                    // SAFETY: C1 for the elements of these rows, C2 for the gaps.
                    unsafe { units.gather_rows((src, step), dst, len, *rows) };
                }
            }
            _ => {
                for offsets in iterations(&work.outer) {
                    let (dst, src) = at(offsets);
                    // SAFETY: C1 for the elements of this step, C2 for the gaps.
                    unsafe { step(units, work, src, dst, scratch.as_deref_mut()) };
                }
            }
        }
    }
}

/// All blocks of a plan whose sides are groups of loops. A function of its own: its tables would
/// make the stack frame of every copy larger than a page.
///
/// Invariant: C1 and C2 hold where it is made.
pub(super) struct GroupedTask<'a, I> {
    pub(super) units: Units<I>,
    pub(super) work: &'a Work,
    pub(super) groups: Grouped,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
}

impl<I: Isa> NullaryFnOnce for GroupedTask<'_, I> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { units, work, groups, src, dst } = self;
        let (mut u, mut v) = (Table::new(), Table::new());
        let (around, blocks) = Blocks::new(groups, &work.outer, units.width, [&mut u, &mut v]);
        for [to, from] in iterations(around) {
            let (to, from) = (units.bytes(to), units.bytes(from));
            let (dst, src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            // SAFETY: the invariant: M1 to M3 hold for the elements of one iteration.
            unsafe { blocks.copy(units, (src, dst), work.residency) };
        }
    }
}

/// One iteration of the innermost step.
///
/// # Safety
/// M1, M2 and M3 for the elements of the step.
#[inline(always)]
unsafe fn step<I: Isa>(
    units: Units<I>,
    work: &Work,
    src: *const u8,
    dst: *mut u8,
    scratch: Option<&mut Scratch<'_>>,
) {
    let stores = work.stores;
    match work.inner {
        Inner::Nothing => {}
        Inner::Grouped(_) => unreachable!("a `GroupedTask` runs groups"),
        Inner::Shuffled(_) => unreachable!("a `ShuffledTask` runs all blocks"),
        Inner::PackedSource { .. } => unreachable!("`packed_source` runs its own copies"),
        Inner::Run { .. } => unreachable!("`Runs` are a task of their own"),
        Inner::Fill { .. } => unreachable!("`Fills` are a task of their own"),
        // SAFETY: M1 to M3 hold for the elements of the step, `step` apart in the source.
        Inner::Gather { len, step } => unsafe { units.gather_run((src, step), dst, len, stores) },
        // SAFETY: M1 to M3 hold for the elements of the step, `step` apart in the destination.
        Inner::Scatter { len, step } => unsafe { units.scatter_run(src, (dst, step), len) },
        // SAFETY: M1 to M3 hold for the elements of the step, which `u` and `v` describe.
        Inner::Tile { u, v, block } => unsafe {
            blocked::tile(units, src, dst, (u, v), block, work.residency);
        },
        // SAFETY: M1 to M3 hold for the elements of the step, which the plan describes.
        Inner::Streamed(ref plan) => unsafe { stream::transpose(units, src, dst, plan, scratch) },
        // SAFETY: M1 to M3 hold for the elements of the step, which the two loops describe.
        Inner::Blocked2d { outer, inner, run, block } => unsafe {
            blocked::blocked2d(units, (src, dst), (outer, inner), run, block, work.residency);
        },
    }
}
