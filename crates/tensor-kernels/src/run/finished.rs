//! Elementwise operations on one transposed operand, computed in the registers that transpose it.
//!
//! The plan is that of a copy of this operand to the result. Where it is a transpose, and the
//! operation is one that [registers](crate::kernel::RegisterOp) compute, its results are stored
//! instead of the elements: the operation takes as long as the copy, in one pass, without scratch.
//! The other operands lie as the result does, or are single values.

use tensor_core::Layout;

use super::{
    blocked,
    copy::{GroupedTask, planned},
    elementwise::Operands,
    operands::OperandPtrs,
    plan_cache::{self, Planned},
    stream,
    walk::walk,
    workspace::{Hold, Scratch, with_scratch},
};
use crate::{
    exec::{Exec, Machine, SimdLevel},
    kernel::{
        self, FenceOnDrop, Finished, Finishing, Isa, Kernel, Operation, OtherOperand, Unit,
        Vectorize,
    },
    memory::{CACHE_LINE, LANE_BYTES, Stores},
    partition::par_run,
    plan::{GroupedStep, Inner, Work},
};

/// The bytes of the widest register.
const REGISTER_BYTES: usize = CACHE_LINE;

/// A value repeated for a register.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Repeated([u8; REGISTER_BYTES]);

/// Computes the operation, if it is of this kind. Returns `false`, and computes nothing, if not. The
/// copy is planned for `machine`.
#[inline]
pub(super) fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
    machine: &Machine,
) -> bool {
    // The portable kernels of a copy would stage what others stitch.
    if exec.simd() == SimdLevel::Scalar {
        return false;
    }
    let Some(op) = operation.register_op() else { return false };
    let Some(transposed) = only_moved(&operands.layouts) else { return false };
    if !may_be_transposed(operands.layouts[0], operands.layouts[transposed]) {
        return false;
    }
    let first = operands.first();
    // An element is computed again where tiles overlap: not from a result that was an operand.
    if first[1..].contains(&first[0]) {
        return false;
    }
    let width = operands.widths[0];
    let mut values = [Repeated([0; REGISTER_BYTES]); 2];
    let mut others = [OtherOperand { base: first[0].cast_const(), mask: 0 }; 2];
    let inputs = (1..N).filter(|&k| k != transposed);
    for ((k, other), value) in inputs.zip(&mut others).zip(&mut values) {
        let base = first[k].cast_const();
        *other = match is_one_value(operands.layouts[k]) {
            false => OtherOperand { base, mask: -1 },
            true => {
                // SAFETY: O1: the value can be read.
                unsafe { repeat(base, width, value) };
                OtherOperand { base: value.0.as_ptr(), mask: 0 }
            }
        };
    }
    let finish = op.with_transposed(transposed - 1);
    let reads_others = others.iter().any(|other| other.mask != 0);
    let finishing = Finishing { finish, result: first[0], others };
    let task = OnTheWay { finishing, reads_others, width };
    task.by_plan(exec, transposed, operands, machine)
}

/// The input that lies otherwise than the result, if there is one such input, and the others lie as
/// the result does or are single values.
fn only_moved<const N: usize>(layouts: &[&Layout; N]) -> Option<usize> {
    let is_moved = |&k: &usize| !lies_alike(layouts[0], layouts[k]) && !is_one_value(layouts[k]);
    let mut moved = (1..N).filter(is_moved);
    moved.next().filter(|_| moved.next().is_none())
}

/// Can a copy between these layouts be a transpose? Not if both are adjacent along one dimension, or
/// the operand along none. A plan is looked up only if it can.
fn may_be_transposed(result: &Layout, operand: &Layout) -> bool {
    let strides = result.strides().iter().zip(operand.strides());
    let mut dims = result.shape().iter().zip(strides).filter(|&(&len, _)| len > 1);
    let adjacent = dims.clone().any(|(_, (&result, &operand))| result != 1 && operand.abs() == 1);
    adjacent && dims.all(|(_, (&result, &operand))| result != 1 || !matches!(operand, -1..=1))
}

/// Have all dimensions of more than one index the same strides?
fn lies_alike(a: &Layout, b: &Layout) -> bool {
    let strides = a.strides().iter().zip(b.strides());
    a.shape().iter().zip(strides).all(|(&len, (a, b))| len == 1 || a == b)
}

fn is_one_value(layout: &Layout) -> bool {
    layout.shape().iter().zip(layout.strides()).all(|(&len, &stride)| len == 1 || stride == 0)
}

/// # Safety
/// `width` bytes can be read at `value`.
unsafe fn repeat(value: *const u8, width: usize, to: &mut Repeated) {
    let (first, rest) = to.0.split_at_mut(width);
    for (at, byte) in first.iter_mut().enumerate() {
        // SAFETY: readable by this function's contract.
        *byte = unsafe { value.wrapping_add(at).read() };
    }
    for copy in rest.chunks_exact_mut(width) {
        copy.copy_from_slice(first);
    }
}

/// An operation whose transposed operand is copied by some plan.
#[derive(Clone, Copy)]
struct OnTheWay {
    finishing: Finishing,
    /// Are there other operands that are not single values?
    reads_others: bool,
    /// The bytes of an element.
    width: usize,
}

impl OnTheWay {
    fn by_plan<const N: usize>(
        &self,
        exec: &Exec,
        transposed: usize,
        operands: &Operands<'_, '_, N>,
        machine: &Machine,
    ) -> bool {
        let (from, to) = (operands.layouts[transposed], operands.layouts[0]);
        let ptrs = OperandPtrs::new([operands.ptrs.0[0], operands.ptrs.0[transposed]]);
        let copy = Planned { from, to, width: self.width, machine };
        if exec.tasks(to.numel().saturating_mul(self.width)) > 1 {
            // A thread that waits for others may run another copy meanwhile, which borrows the
            // plans.
            let (work, simd) = (planned(copy), exec.simd());
            if !self.runs(&work) {
                return false;
            }
            par_run(exec, &work, move |work| self.run(simd, work, ptrs));
            return true;
        }
        plan_cache::with_plan(copy, |kept| {
            let runs = kept.listing.is_none() && self.runs(kept.work);
            if runs {
                self.run(exec.simd(), kept.work, ptrs.moved(kept.behind));
            }
            runs
        })
    }

    /// Does the plan transpose, by kernels that compute, and is that faster than two passes?
    ///
    /// Non-temporal stores go along columns, and so would the reads of other operands: sums of 9 MB
    /// took 1.2 times as long (Zen 5).
    fn runs(&self, work: &Work) -> bool {
        let [lane, register] = [LANE_BYTES, REGISTER_BYTES].map(|bytes| bytes / work.unit.max(1));
        // Few results a time are computed as fast as many only if that takes little.
        let columns = if self.finishing.finish.is_slow() { register } else { lane };
        match work.inner {
            Inner::Tile { u, v, .. } => u.len >= columns && v.len >= lane,
            Inner::Grouped(groups) => {
                let [u, v] = groups.extent(&work.outer);
                groups.step == GroupedStep::Transpose && u >= columns && v >= lane
            }
            Inner::Streamed(ref plan) => {
                !self.reads_others && stream::writes_tiles(plan, work.unit)
            }
            _ => false,
        }
    }

    fn run(&self, simd: SimdLevel, work: &Work, operands: OperandPtrs<'_, 2>) {
        let _fence = (work.stores == Stores::NonTemporal).then(|| FenceOnDrop(simd));
        let Inner::Streamed(plan) = work.inner else {
            return self.run_with(simd, work, operands, None);
        };
        let with = |scratch: Scratch<'_>| self.run_with(simd, work, operands, Some(scratch));
        if with_scratch(plan.scratch_bytes(work.unit), Hold::Leaf, with).is_none() {
            self.run_with(simd, work, operands, None);
        }
    }

    fn run_with(
        &self,
        simd: SimdLevel,
        work: &Work,
        operands: OperandPtrs<'_, 2>,
        scratch: Option<Scratch<'_>>,
    ) {
        let finishing = &self.finishing;
        match work.unit {
            4 => kernel::dispatch(simd, Task::<u32>::new(work, operands, scratch, finishing)),
            _ => kernel::dispatch(simd, Task::<u64>::new(work, operands, scratch, finishing)),
        }
    }
}

/// The work of one thread, in units of `L`.
///
/// Invariant: C1 of [`copy`](super::copy): the work was planned for the layouts of the operands; F1
/// for the elements that its loops visit.
struct Task<'a, L> {
    work: &'a Work,
    dst: *mut L,
    src: *const L,
    scratch: Option<Scratch<'a>>,
    finishing: &'a Finishing,
}

impl<'a, L: Unit> Task<'a, L> {
    fn new(
        work: &'a Work,
        OperandPtrs([dst, src]): OperandPtrs<'a, 2>,
        scratch: Option<Scratch<'a>>,
        finishing: &'a Finishing,
    ) -> Self {
        debug_assert_eq!(work.unit, L::WIDTH);
        Self {
            work,
            dst: dst.base.wrapping_offset(work.starts[0]).cast(),
            src: src.base.wrapping_offset(work.starts[1]).cast_const().cast(),
            scratch,
            finishing,
        }
    }
}

impl<L: Unit> Kernel for Task<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { work, dst, src, mut scratch, finishing } = self;
        let isa = Finished::new(isa, finishing);
        if let Inner::Grouped(groups) = work.inner {
            return isa.vectorize(GroupedTask { isa, work, groups, src, dst });
        }
        walk(&work.outer, |[to, from]| {
            let (dst, src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            match work.inner {
                // SAFETY: the invariant, for the elements of this step.
                Inner::Tile { u, v, block } => unsafe {
                    blocked::tile(isa, src, dst, (u, v), block);
                },
                // SAFETY: the invariant, for the elements of this step.
                Inner::Streamed(ref plan) => unsafe {
                    stream::transpose(isa, src, dst, plan, scratch.as_mut());
                },
                _ => unreachable!("`runs` takes no other plans"),
            }
        });
    }
}
