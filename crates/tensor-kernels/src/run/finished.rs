//! Elementwise operations on transposed operands, computed on their way to the result.
//!
//! The plan is that of a copy of one of these operands to the result. Where it is a transpose, and
//! the operation is one that [registers](crate::kernel::RegisterOp) compute, its results are stored
//! instead of the elements: the operation takes as long as the copy, in one pass. A copy that
//! stages rows in scratch computes when it writes them.
//!
//! Operands whose elements lie as those of the copied one do are transposed with it, tile by tile:
//! a sum of two takes as many passes as a copy, and reads each once. The others lie as the result
//! does, or are single values; those that lie otherwise are copied into scratch first, as long as
//! that fits the second-level cache.
//!
//! Over 120 random transposes of 2 to 40 MB of floats, which nothing was fitted to, the sum of two
//! operands that lie alike takes 0.79 of the time in the mean that it takes by tiles that pack
//! both, `mul_add` of three 0.73 (Zen 5).

mod machine;
mod planned;
mod roles;
mod values;

use machine::machine_in_registers;
pub(crate) use planned::{PlannedInRegisters, planned_in_registers};
pub(crate) use roles::Role;
use roles::roles;
use tensor_core::Layout;
use values::Values;

use super::{
    blocked,
    copy::{self, GroupedTask, planned},
    elementwise::Operands,
    operands::{OperandPtr, OperandPtrs},
    plan_cache::{self, Planned},
    small, stream,
    streamed_groups::StreamedGroupsTask,
    walk::iterations,
    workspace::{Hold, Scratch, with_scratch},
};
use crate::{
    exec::{Exec, Machine, SimdLevel},
    kernel::{
        self, FenceOnDrop, Finish, Finished, Finishing, Isa, Kernel, Operation, OtherOperand,
        RegisterOp, Residency, Units, Vectorize,
    },
    memory::{CACHE_LINE, LANE_BYTES, Stores},
    partition::par_run,
    plan::{GroupedStep, Inner, Work},
    tuning::{
        MIN_FINISHED_TILE, MIN_FINISHED_TILE_OF_SEVERAL, MIN_GROUPED_FINISHED_ELEMENTS,
        MIN_PACKED_AND_FINISHED_ELEMENTS, MIN_PACKED_AND_FINISHED_TILE,
        MIN_SEVERAL_TRANSPOSED_BYTES, MIN_SEVERAL_TRANSPOSED_SIDE, PACKED_IN_L2,
    },
};

/// The bytes of the widest register.
const REGISTER_BYTES: usize = CACHE_LINE;

/// Computes the operation, if it is of this kind. Returns `false`, and computes nothing, if not.
/// The copies are planned for `machine`.
#[inline]
pub(super) fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
    machine: &Machine,
) -> bool {
    let Some(op) = operation.register_op() else { return false };
    let machine = &machine_in_registers(&operands.layouts, operands.widths[0], machine);
    let Some(way) = Way::new(exec, op, &operands.layouts, operands.widths[0], machine) else {
        return false;
    };
    let first = operands.first();
    // An element is computed again where tiles overlap: not from a result that was an operand.
    if first[1..].contains(&first[0]) {
        return false;
    }
    let task = OnTheWay { exec, operands, way };
    if !way.roles.contains(&Role::Packed) {
        return task.run(&task.others(&mut Values::default(), [first[0]; N]));
    }
    way.may_pack()
        && way.is_run()
        && with_scratch(way.packed_bytes(), Hold::AcrossJoin, |scratch| task.pack_and_run(scratch))
            .unwrap_or(false)
}

/// Can it pay to transpose in registers several of few inputs that lie as `input` does, and could
/// be computed in its order? With three inputs it takes up to 1.4 times as long (Zen 5).
pub(super) fn pays_small<const N: usize>(result: &Layout, input: &Layout, width: usize) -> bool {
    let has_side = |layout: &Layout| {
        let mut dims = layout.shape().iter().zip(layout.strides());
        dims.any(|(&len, &stride)| stride == 1 && len >= MIN_SEVERAL_TRANSPOSED_SIDE)
    };
    let bytes = result.numel().saturating_mul(width);
    N == 3 && bytes >= MIN_SEVERAL_TRANSPOSED_BYTES && has_side(result) && has_side(input)
}

/// Fewer results without gaps are computed in one row (`small`).
#[inline]
pub(super) fn has_enough_elements<const N: usize>(result: &Layout) -> bool {
    let by = if N == 2 { MIN_FINISHED_TILE } else { MIN_FINISHED_TILE_OF_SEVERAL };
    result.numel() >= by.elements || !result.is_dense()
}

/// An operation whose transposed operand is copied by some plan: what is decided without the
/// operands' memory.
#[derive(Clone, Copy)]
struct Way<'o, 'l, const N: usize> {
    machine: &'o Machine,
    layouts: &'o [&'l Layout; N],
    /// The bytes of an element of each operand.
    width: usize,
    roles: [Role; N],
    transposed: usize,
    finish: Finish,
    /// Are there few elements, which could be computed in the order of several inputs?
    has_order_of_inputs: bool,
}

impl<'o, 'l, const N: usize> Way<'o, 'l, N> {
    #[inline]
    fn new(
        exec: &Exec,
        op: RegisterOp,
        layouts: &'o [&'l Layout; N],
        width: usize,
        machine: &'o Machine,
    ) -> Option<Self> {
        // The portable kernels of a copy would stage what others stitch. Without elements there is
        // no value to read.
        if exec.simd() == SimdLevel::Scalar || layouts[0].numel() == 0 {
            return None;
        }
        let (roles, transposed) = roles(layouts)?;
        let finish = op.with_transposed(transposed - 1);
        let has_order_of_inputs = roles.contains(&Role::TransposedToo)
            && small::has_order_of_inputs(exec, layouts, &[width; N]);
        if has_order_of_inputs && !pays_small::<N>(layouts[0], layouts[transposed], width) {
            return None;
        }
        Some(Self { machine, layouts, width, roles, transposed, finish, has_order_of_inputs })
    }

    /// The bytes of the result, as it is packed.
    fn row_bytes(&self) -> usize {
        let bytes = self.layouts[0].numel().saturating_mul(self.width);
        bytes.checked_next_multiple_of(CACHE_LINE).unwrap_or(usize::MAX)
    }

    fn packed(&self) -> impl Iterator<Item = usize> {
        (1..N).filter(|&k| self.roles[k] == Role::Packed)
    }

    fn packed_bytes(&self) -> usize {
        self.packed().fold(0, |bytes, _| bytes.saturating_add(self.row_bytes()))
    }

    /// Where the result and the inputs lie that are not single values.
    fn residency(&self) -> Residency {
        let operands = 1 + self.roles[1..].iter().filter(|role| **role != Role::Value).count();
        Residency::of(self.row_bytes().saturating_mul(operands), self.machine)
    }

    /// The copy from an input to the result, or to scratch that lies as the result does.
    fn copy_of<'p>(&'p self, k: usize, machine: &'p Machine) -> Planned<'p> {
        Planned { from: self.layouts[k], to: self.layouts[0], width: self.width, machine }
    }

    /// Are there enough elements for packed operands to pay, and few enough for the caches?
    fn may_pack(&self) -> bool {
        self.layouts[0].numel() >= MIN_PACKED_AND_FINISHED_ELEMENTS
            && self.packed_bytes() <= self.machine.l2 / PACKED_IN_L2
            && self.layouts[0].is_dense()
    }

    /// Is the plan for the transposed operand one that computes?
    fn is_run(&self) -> bool {
        plan_cache::with_plan(&self.copy_of(self.transposed, self.machine), |kept| {
            kept.listing.is_none() && self.runs(kept.work)
        })
    }

    fn transposes_several(&self) -> bool {
        self.roles.contains(&Role::TransposedToo)
    }

    /// Are there other operands that are not single values?
    fn reads_others(&self) -> bool {
        self.roles[1..].iter().any(|role| matches!(role, Role::Alike | Role::Packed))
    }

    /// Does the plan transpose, by kernels that compute, and is that faster than two passes?
    ///
    /// Results larger than the caches are written along columns, or column by column, and so would
    /// other operands be read: sums of 9 MB and more took 1.2 to 1.3 times as long (Zen 5). Those
    /// of few rows or columns [have a machine](machine_in_registers) for which no result is that
    /// large.
    ///
    /// A plan that repeats its results is not run if another operand lies as the result does: it
    /// has other elements for each repetition.
    ///
    /// The units that a plan copies are the elements: what is computed of several elements that are
    /// moved as one unit would be another number.
    fn runs(&self, work: &Work) -> bool {
        if work.unit != self.width || work.repeats.is_some() && self.reads_others() {
            return false;
        }
        if self.reads_others() && self.row_bytes() >= self.machine.stream {
            return false;
        }
        let [lane, register] = [LANE_BYTES, REGISTER_BYTES].map(|bytes| bytes / work.unit.max(1));
        if let Inner::Streamed(ref plan) = work.inner {
            let pays = match self.transposes_several() {
                true => stream::transposes_tiles(plan, work.unit),
                false => stream::has_long_rows(plan, work.unit, self.machine),
            };
            return !self.reads_others() && pays;
        }
        let is_packed =
            matches!(work.inner, Inner::Grouped(groups) if groups.step == GroupedStep::Packed);
        if is_packed && self.transposes_several() {
            return false;
        }
        let Some([u, v]) = sides(work) else { return false };
        // Few results a time are computed as fast as many only if that takes little. Few rows are
        // read a register at a time.
        let columns = if self.finish.is_slow() { register } else { lane };
        let is_tile = matches!(work.inner, Inner::Tile { .. });
        if self.has_order_of_inputs {
            return is_tile;
        }
        // Tiles of several operands overlap those before less if blocks are large.
        if self.transposes_several() {
            let run = if is_tile { v } else { adjacent_in_source(work) };
            return u.min(v).min(run) >= register;
        }
        (u >= columns && v >= lane || is_tile && u >= lane && v >= register)
            && self.is_large(is_tile.then_some([u, v]))
    }

    /// Are transposes that compute faster than copies, after which all elements are computed as one
    /// row? In the caches this row takes little time. A transpose that computes takes longer than
    /// one that copies to start, and for the tiles at its edges. `tile` is the sides of each
    /// transpose, unless these are groups of loops.
    fn is_large(&self, tile: Option<[usize; 2]>) -> bool {
        let Some([u, v]) = tile else {
            let has_others = self.roles[1..].iter().any(|role| *role != Role::Transposed);
            return self.layouts[0].numel()
                >= MIN_GROUPED_FINISHED_ELEMENTS[usize::from(has_others)];
        };
        let area = u.saturating_mul(v);
        if self.roles.contains(&Role::Packed) {
            return area >= MIN_PACKED_AND_FINISHED_TILE;
        }
        let by = if self.reads_others() { MIN_FINISHED_TILE_OF_SEVERAL } else { MIN_FINISHED_TILE };
        let side = u.min(v);
        area >= by.narrow_area || area >= by.area && side >= by.side
    }
}

/// The iterations of the loop along which the source is adjacent.
fn adjacent_in_source(work: &Work) -> usize {
    work.outer.iter().find(|l| l.strides[1].unsigned_abs() == 1).map_or(1, |l| l.len)
}

/// The columns and rows of a copy that transposes blocks in registers; `None` if it does not.
fn sides(work: &Work) -> Option<[usize; 2]> {
    match work.inner {
        Inner::Tile { u, v, .. } => Some([u.len, v.len]),
        Inner::Grouped(groups) => groups.is_transpose().then(|| groups.extent(&work.outer)),
        _ => None,
    }
}

/// The same with the operands' memory.
#[derive(Clone, Copy)]
struct OnTheWay<'o, 'a, 'l, const N: usize> {
    exec: &'o Exec,
    operands: &'o Operands<'a, 'l, N>,
    way: Way<'o, 'l, N>,
}

impl<const N: usize> OnTheWay<'_, '_, '_, N> {
    /// The other operands: where they are, the value they are, or where they have been packed.
    fn others(&self, values: &mut Values, packed: [*mut u8; N]) -> [OtherOperand; 2] {
        let first = self.operands.first();
        let nothing = OtherOperand { base: first[0].cast_const(), is_transposed: false, mask: 0 };
        let mut others = [nothing; 2];
        let inputs = (1..N).filter(|&k| k != self.way.transposed);
        for ((k, other), value) in inputs.zip(&mut others).zip(&mut values.0) {
            let base = first[k].cast_const();
            *other = match self.way.roles[k] {
                Role::Packed => OtherOperand { base: packed[k].cast_const(), mask: -1, ..nothing },
                Role::Value => {
                    // SAFETY: O1: the value can be read.
                    unsafe { value.fill(first[k], self.way.width) };
                    OtherOperand { base: value.0.as_ptr(), ..nothing }
                }
                Role::TransposedToo => OtherOperand { base, is_transposed: true, ..nothing },
                Role::Alike | Role::Transposed => OtherOperand { base, mask: -1, ..nothing },
            };
        }
        others
    }

    /// Copies the packed operands into scratch, which holds them, and computes.
    fn pack_and_run(&self, mut scratch: Scratch<'_>) -> bool {
        let (mut packed, mut start) = ([std::ptr::null_mut(); N], 0);
        let bytes = self.way.row_bytes();
        // Scratch is read next: it is not stored past the caches.
        let in_cache = Machine { stream: usize::MAX, ..*self.way.machine };
        for k in self.way.packed() {
            let row = scratch.rows(start, (1, bytes), bytes).start(1, bytes);
            let offset = self.operands.layouts[0].offset().wrapping_mul(self.way.width);
            let to = OperandPtr::at(row.wrapping_sub(offset), false);
            let operands = OperandPtrs::new([to, self.operands.ptrs.0[k]]);
            copy::by_plan(self.exec, &self.way.copy_of(k, &in_cache), operands);
            (packed[k], start) = (row, start + bytes);
        }
        self.run(&self.others(&mut Values::default(), packed))
    }

    /// Is the plan one that computes, from this memory? Streamed rows are staged by kernels of
    /// plain copies, which read the gaps between elements.
    fn runs(&self, work: &Work) -> bool {
        let gaps_readable = self.operands.ptrs.0[self.way.transposed].gaps_readable;
        let is_streamed = matches!(work.inner, Inner::Streamed(_));
        let may_read = gaps_readable || !is_streamed || !work.inner.reads_gaps(work.unit);
        may_read && self.way.runs(work)
    }

    /// Computes, if the plan is one that does.
    fn run(&self, others: &[OtherOperand; 2]) -> bool {
        let operands = self.operands;
        let ptrs = OperandPtrs::new([operands.ptrs.0[0], operands.ptrs.0[self.way.transposed]]);
        let copy = self.way.copy_of(self.way.transposed, self.way.machine);
        let first = operands.first();
        let (result, source) = (first[0], first[self.way.transposed].cast_const());
        let (finish, residency) = (self.way.finish, self.way.residency());
        let finishing = &Finishing { finish, result, source, others: *others, residency };
        let simd = self.exec.simd();
        if self.exec.tasks(copy.to.numel().saturating_mul(copy.width)) > 1 {
            // A thread that waits for others may run another copy meanwhile, which borrows the
            // plans.
            let work = planned(&copy);
            if !self.runs(&work) {
                return false;
            }
            par_run(self.exec, &work, move |work| run(simd, work, ptrs, finishing));
            copy::repeat_in_parallel(self.exec, &work, &ptrs);
            return true;
        }
        plan_cache::with_plan(&copy, |kept| {
            let runs = kept.listing.is_none() && self.runs(kept.work);
            if runs {
                let ptrs = ptrs.moved(kept.behind);
                run(simd, kept.work, ptrs, finishing);
                copy::repeat(simd, kept.work, &ptrs);
            }
            runs
        })
    }
}

/// Runs a plan for which [`Way::runs`] is true.
fn run(simd: SimdLevel, work: &Work, operands: OperandPtrs<'_, 2>, finishing: &Finishing) {
    let _fence = (work.stores == Stores::NonTemporal).then(|| FenceOnDrop(simd));
    let with = |scratch: Option<Scratch<'_>>| {
        kernel::dispatch(simd, Task::new(work, operands, scratch, finishing));
    };
    let bytes = work.scratch_bytes();
    if bytes == 0 {
        return with(None);
    }
    if with_scratch(bytes, Hold::Leaf, |scratch| with(Some(scratch))).is_none() {
        with(None);
    }
}

/// The work of one thread.
///
/// Invariant: C1 of [`run::copy`](mod@super::copy): the work was planned for the layouts of the
/// operands; F1 for the elements that its loops visit.
struct Task<'a> {
    work: &'a Work,
    dst: *mut u8,
    src: *const u8,
    scratch: Option<Scratch<'a>>,
    finishing: &'a Finishing,
}

impl<'a> Task<'a> {
    fn new(
        work: &'a Work,
        OperandPtrs([dst, src]): OperandPtrs<'a, 2>,
        scratch: Option<Scratch<'a>>,
        finishing: &'a Finishing,
    ) -> Self {
        Self {
            work,
            dst: dst.base.wrapping_offset(work.starts[0]),
            src: src.base.wrapping_offset(work.starts[1]).cast_const(),
            scratch,
            finishing,
        }
    }
}

impl Kernel for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { work, dst, src, mut scratch, finishing } = self;
        let isa = Finished::new(isa, finishing);
        let units = Units { isa, width: work.unit };
        if let Inner::Grouped(groups) = work.inner {
            let task = GroupedTask { units, work, groups, src, dst };
            return match groups.is_streamed() {
                true => isa.vectorize(StreamedGroupsTask { task, scratch: scratch.as_mut() }),
                false => isa.vectorize(task),
            };
        }
        for [to, from] in iterations(&work.outer) {
            let dst = dst.wrapping_offset(units.bytes(to));
            let src = src.wrapping_offset(units.bytes(from));
            match work.inner {
                // SAFETY: the invariant, for the elements of this step.
                Inner::Tile { u, v, block } => unsafe {
                    blocked::tile(units, src, dst, (u, v), block, work.residency);
                },
                // SAFETY: the invariant, for the elements of this step.
                Inner::Streamed(ref plan) => unsafe {
                    stream::transpose(units, src, dst, plan, scratch.as_mut());
                },
                _ => unreachable!("`runs` takes no other plans"),
            }
        }
    }
}
