//! Elementwise operations on few elements, without a plan of their own: planning would take longer
//! than the work.
//!
//! Rows that all operands have, and very few elements, are computed by [`few`]. Otherwise each
//! operand in another order is copied into scratch, in the order of the result, by a kept plan of a
//! copy; all elements are one row then, and the operation runs once. If several inputs have the
//! same other strides, the row is computed in their order, and only its results are copied.
//!
//! # Tried and dropped
//! Transposes, runs and tables chosen here for each operand instead of a kept plan (f32, Zen 5):
//! as fast for 512 elements, and up to six times slower from 1,024 elements on.

use tensor_core::Layout;

use super::{
    bounce, copy,
    elementwise::{Operands, advance},
    few,
    few_loops::{FewLoops, Row, copy_few},
    finished,
    operands::{OperandPtr, OperandPtrs},
    plan_cache::{self, Planned},
    tiny::has_few_rows,
    workspace::{Hold, Scratch, with_scratch},
};
use crate::{
    exec::{Exec, Machine},
    kernel::{Operation, RowBlock},
    memory::CACHE_LINE,
    tuning::{LONG_ROW_ELEMENTS, MANY_ROW_ELEMENTS, SMALL_OPERATIONS_IN_L1},
};

/// Computes few elements. Returns `false`, and computes nothing, if there are many, if the result
/// has gaps, or if an element width has no kernels.
#[inline]
pub(super) fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    all: &Operands<'_, '_, N>,
) -> bool {
    // By reference: see `Operands`.
    let Operands { layouts, widths, .. } = all;
    let result = layouts[0];
    if !is_small(exec, result, widths) {
        return false;
    }
    if result.numel() == 0 {
        return true;
    }
    if result.is_contiguous() && few::compute(exec, operation, all) {
        return true;
    }
    compute_in_one_row(exec, operation, all)
}

/// Are there few elements, for one thread, and has the result no gaps?
#[inline(always)]
fn is_small<const N: usize>(exec: &Exec, result: &Layout, widths: &[usize; N]) -> bool {
    let (len, mut bytes) = (result.numel(), 0usize);
    for &width in widths {
        bytes = bytes.saturating_add(len.saturating_mul(width));
    }
    bytes <= exec.machine.l1.saturating_mul(SMALL_OPERATIONS_IN_L1)
        && exec.tasks(bytes) == 1
        && result.is_dense()
}

/// Are few elements computed in the order of several inputs, unless there is a better way?
pub(super) fn has_order_of_inputs<const N: usize>(
    exec: &Exec,
    layouts: &[&Layout; N],
    widths: &[usize; N],
) -> bool {
    let rows = layouts.map(|layout| row(layouts[0], layout));
    is_small(exec, layouts[0], widths) && order_of_inputs(layouts, &rows, widths[0]).is_some()
}

/// Computes few elements as one row, those in another order copied into scratch. A function of its
/// own: its stack frame is large.
#[inline(never)]
fn compute_in_one_row<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    all: &Operands<'_, '_, N>,
) -> bool {
    let Operands { layouts, widths, ptrs: ref operands, .. } = *all;
    let (result, len) = (layouts[0], layouts[0].numel());
    let rows = layouts.map(|layout| row(result, layout));
    let one = OneRow { exec, operation, layouts, widths, rows, len };
    let is_packed = |k: usize| rows[k] == Row::Packed;
    if !(1..N).any(is_packed) {
        // SAFETY: O1 to O3: the operands have `len` elements in one order from their first ones on.
        unsafe { one.compute(one.first(operands)) };
        return true;
    }
    if len > MANY_ROW_ELEMENTS && has_long_rows(layouts) {
        return false;
    }
    if !(1..N).filter(|&k| is_packed(k)).all(|k| matches!(widths[k], 1 | 2 | 4 | 8 | 16)) {
        return false;
    }
    let order_of_inputs = order_of_inputs(&layouts, &rows, widths[0]);
    let in_order = order_of_inputs
        .is_some_and(|input| !finished::pays_small::<N>(result, layouts[input], widths[0]));
    if finished::has_enough_elements::<N>(result)
        && !in_order
        && finished::compute(exec, operation, all, &in_cache(&exec.machine))
    {
        return true;
    }
    if let Some(input) = order_of_inputs {
        let run = |scratch: Scratch<'_>| one.compute_and_unpack(input, operands, scratch);
        return with_scratch(one.row_bytes(0), Hold::Leaf, run).is_some();
    }
    let scratch_bytes = (1..N).filter(|&k| is_packed(k)).map(|k| one.row_bytes(k)).sum();
    let run = |scratch: Scratch<'_>| one.pack_and_compute(operands, scratch);
    with_scratch(scratch_bytes, Hold::Leaf, run).is_some()
}

/// How an operand becomes a row in the order of a result without gaps.
#[inline]
fn row(result: &Layout, operand: &Layout) -> Row {
    if result.is_contiguous() && operand.is_contiguous() {
        return Row::Adjacent;
    }
    let strides = result.strides().iter().zip(operand.strides());
    let mut dims = result.shape().iter().zip(strides).filter(|&(&len, _)| len > 1);
    if dims.clone().all(|(_, (result, operand))| result == operand) {
        Row::Adjacent
    } else if dims.all(|(_, (_, operand))| *operand == 0) {
        Row::Scalar
    } else {
        Row::Packed
    }
}

/// An input in whose order all elements are computed: several inputs have its layout, without gaps,
/// and the others are single elements. Results have `width` bytes.
fn order_of_inputs<const N: usize>(
    layouts: &[&Layout; N],
    rows: &[Row; N],
    width: usize,
) -> Option<usize> {
    let mut packed = (1..N).filter(|&k| rows[k] == Row::Packed);
    let first = packed.next()?;
    let layout = layouts[first];
    let alike = |k: usize| row(layout, layouts[k]) == Row::Adjacent;
    let others_are_scalars = (1..N).all(|k| rows[k] != Row::Adjacent);
    let several = packed.clone().next().is_some();
    let fits = matches!(width, 1 | 2 | 4 | 8 | 16) && layout.is_dense();
    (several && fits && others_are_scalars && packed.all(alike)).then_some(first)
}

/// Do all operands consist of long rows? They are computed where they lie.
fn has_long_rows<const N: usize>(layouts: [&Layout; N]) -> bool {
    let is_row = |layout: &&Layout| layout.strides().last().is_some_and(|s| matches!(s, 0 | 1));
    layouts[0].shape().last().is_some_and(|&len| len >= LONG_ROW_ELEMENTS)
        && layouts.iter().all(is_row)
}

/// Elements that are computed as one row.
#[derive(Clone, Copy)]
struct OneRow<'a, const N: usize> {
    exec: &'a Exec,
    operation: &'a dyn Operation<N>,
    layouts: [&'a Layout; N],
    widths: [usize; N],
    rows: [Row; N],
    len: usize,
}

impl<const N: usize> OneRow<'_, N> {
    /// The first element of each operand.
    fn first(&self, operands: &OperandPtrs<'_, N>) -> [*mut u8; N] {
        let bytes = std::array::from_fn(|k| {
            (self.layouts[k].offset() as isize).wrapping_mul(self.widths[k] as isize)
        });
        advance(operands.0.map(|operand| operand.base), bytes)
    }

    /// # Safety
    /// `len` elements can be read from `ptrs` on, or one of an operand that is a scalar, and those
    /// of operand 0 be written. All are aligned. An input shares no element with operand 0, or is
    /// operand 0.
    #[inline]
    unsafe fn compute(&self, ptrs: [*mut u8; N]) {
        let is_scalar = self.rows.map(|row| row == Row::Scalar);
        let mut row = RowBlock { ptrs, row_strides: [0; N], is_scalar, rows: 1, len: self.len };
        // SAFETY: this function's contract.
        unsafe { bounce::compute(self.operation, self.exec.simd(), &self.widths, &mut row) };
    }

    /// Computes the elements in the order of an input, and copies the results.
    fn compute_and_unpack(
        &self,
        input: usize,
        operands: &OperandPtrs<'_, N>,
        mut scratch: Scratch<'_>,
    ) {
        let bytes = self.row_bytes(0);
        let row = scratch.rows(0, (1, bytes), bytes).start(1, bytes);
        let mut ptrs = self.first(operands);
        ptrs[0] = row;
        // SAFETY: O1 to O3; scratch has `bytes` bytes from `row` on, the elements of a dense
        // layout, and starts at a cache line.
        unsafe { self.compute(ptrs) };
        let (layout, width) = (self.layouts[input], self.widths[0]);
        let copy =
            Planned { from: layout, to: self.layouts[0], width, machine: &self.exec.machine };
        let base = row.wrapping_sub(layout.offset().wrapping_mul(width));
        plan_cache::with_plan(&copy, |kept| {
            let from = OperandPtr::at(base, true);
            // SAFETY: the plan was made for these layouts apart from the offsets, which `kept`
            // makes up for. The results have been written to scratch, in the order of the input's
            // layout and without gaps; O1 and O2 hold for operand 0.
            unsafe {
                copy::run_kept(self.exec.simd(), &copy, kept, (operands.0[0].base, from));
            };
        });
    }

    /// The bytes of a row in scratch, rounded up to whole cache lines.
    fn row_bytes(&self, k: usize) -> usize {
        (self.len * self.widths[k]).next_multiple_of(CACHE_LINE)
    }

    /// Computes the elements after copying operands into scratch, which holds their rows.
    fn pack_and_compute(&self, operands: &OperandPtrs<'_, N>, mut scratch: Scratch<'_>) {
        let (mut ptrs, mut start) = (self.first(operands), 0);
        for k in (1..N).filter(|&k| self.rows[k] == Row::Packed) {
            let bytes = self.row_bytes(k);
            let to = scratch.rows(start, (1, bytes), bytes).start(1, bytes);
            // SAFETY: O1 holds for operand `k`, O4 says whether its gaps can be read. The scratch
            // has `bytes` bytes from `to` on: the elements of the result's layout, which is dense.
            unsafe { self.pack(k, operands, to) };
            (ptrs[k], start) = (to, start + bytes);
        }
        // SAFETY: O1 to O3; rows in scratch have been written, and start at cache lines.
        unsafe { self.compute(ptrs) };
    }

    /// Copies operand `k` into the order of the result, from `to` on.
    ///
    /// # Safety
    /// The elements of operand `k` can be read, and all bytes between them if the operand says so.
    /// The bytes of all elements of the result can be written from `to` on, which nothing overlaps.
    unsafe fn pack(&self, k: usize, operands: &OperandPtrs<'_, N>, to: *mut u8) {
        let (width, operand) = (self.widths[k], operands.0[k]);
        let layouts = [self.layouts[0], self.layouts[k]];
        let mut loops = FewLoops::default();
        if layouts[0].is_contiguous() && has_few_rows(layouts, width) && loops.fill(&layouts) {
            let from = self.first(operands)[k].cast_const();
            // SAFETY: this function's contract: the offsets that the loops visit in operand `k`
            // can be read, and the elements of the result, which are adjacent, be written.
            return unsafe { copy_few(width, (from, 1), to, &loops) };
        }
        let machine = &in_cache(&self.exec.machine);
        let copy = Planned { from: self.layouts[k], to: self.layouts[0], width, machine };
        let result = to.wrapping_sub(self.layouts[0].offset().wrapping_mul(width));
        plan_cache::with_plan(&copy, |kept| {
            // SAFETY: the plan was made for these layouts apart from the offsets, which `kept`
            // makes up for; this function's contract says that their elements can be read and
            // written.
            unsafe { copy::run_kept(self.exec.simd(), &copy, kept, (result, operand)) };
        });
    }
}

/// The machine without stores past the caches: scratch is read next, and so are few results. All
/// copies of few elements are planned for it, so that they share a kept plan.
fn in_cache(machine: &Machine) -> Machine {
    Machine { stream: usize::MAX, ..*machine }
}
