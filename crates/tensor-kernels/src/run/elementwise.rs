//! Runs an elementwise operation: packs each operand into rows of adjacent elements where needed,
//! computes, and stores.
//!
//! Nothing here depends on the operation, which is called through the [`Operation`] trait object.
//! So this code is compiled once, however many operations a program has.

use std::any::TypeId;

use tensor_core::{Element, Layout, ViewRef, ViewRefMut};

use super::{
    bounce, copy, finished,
    operands::{Destination, Input, OperandPtr, OperandPtrs},
    pack::{self, StridedBlock},
    plan_cache::Planned,
    small,
    walk::{iterations, starts},
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    exec::{Exec, Machine, SimdLevel},
    kernel::{FenceOnDrop, Operation, OperationOf, RowBlock},
    memory::CACHE_LINE,
    nest::same_shape,
    partition::par_run,
    plan::{Access, ElementwiseWork, EqualResults, Extent, machine_for},
};

/// For each number of inputs: `out = f(inputs)`, index by index.
macro_rules! compute {
    ($($name:ident $views:ident $compute:ident($($arg:ident: $type:ident),*), $n:literal;)*) => {$(
        /// # Panics
        /// If an input has another shape than the result.
        pub(crate) fn $name<$($type: Element,)* R: Element, W: Destination<R>>(
            exec: &Exec,
            operation: OperationOf<'_, $n, ($($type,)* R)>,
            out: &mut ViewRefMut<'_, W>,
            $($arg: Input<'_, $type>,)*
        ) {
            let layout = out.layout();
            let widths = [size_of::<R>(), $(size_of::<$type>()),*];
            let result = OperandPtr::from(out);
            let operands = OperandPtrs::new([result, $($arg.ptr(result, size_of::<R>())),*]);
            let layouts: [&Layout; $n] = [layout, $($arg.layout(layout)),*];
            let result = TypeId::of::<R>();
            let has_result_type = [true, $(TypeId::of::<$type>() == result),*];
            let operands = Operands { layouts, widths, has_result_type, ptrs: operands };
            $compute(exec, operation.any(), &operands);
        }

        /// Of views that share no element with the result, passed by reference: see [`Operands`].
        ///
        /// # Panics
        /// As above.
        pub(crate) fn $views<$($type: Element,)* R: Element>(
            exec: &Exec,
            operation: OperationOf<'_, $n, ($($type,)* R)>,
            out: &mut ViewRefMut<'_, R>,
            $($arg: &ViewRef<'_, $type>,)*
        ) {
            let result = TypeId::of::<R>();
            let operands = Operands {
                layouts: [out.layout(), $($arg.layout()),*],
                widths: [size_of::<R>(), $(size_of::<$type>()),*],
                has_result_type: [true, $(TypeId::of::<$type>() == result),*],
                ptrs: OperandPtrs::new([OperandPtr::from(out), $(OperandPtr::from(*$arg)),*]),
            };
            $compute(exec, operation.any(), &operands);
        }

        /// Of a fixed number of operands, so that this crate compiles it.
        #[cfg(tensor_compiled)]
        #[inline(never)]
        fn $compute(
            exec: &Exec,
            operation: &dyn Operation<$n>,
            operands: &Operands<'_, '_, $n>,
        ) {
            compute(exec, operation, operands);
        }

        #[cfg(not(tensor_compiled))]
        use compute as $compute;
    )*};
}

compute! {
    compute1 compute_views1 compute_2(a: A), 2;
    compute2 compute_views2 compute_3(a: A, b: B), 3;
    compute3 compute_views3 compute_4(a: A, b: B, c: C), 4;
}

/// The operands of an operation, without their types.
///
/// They are passed by reference, as is all that a small call fills field by field. A copy moves
/// several fields at a time, and a load of several recent stores cannot be forwarded from them: it
/// waits until they are in the cache. Five such copies took half the time of a call (Zen 5).
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, 'l, const N: usize> {
    pub(super) layouts: [&'l Layout; N],
    /// The bytes of an element.
    pub(super) widths: [usize; N],
    /// Does the operand have the element type of the result?
    has_result_type: [bool; N],
    pub(super) ptrs: OperandPtrs<'a, N>,
}

impl<const N: usize> Operands<'_, '_, N> {
    /// The first element of each operand.
    pub(super) fn first(&self) -> [*mut u8; N] {
        std::array::from_fn(|k| {
            let start = self.layouts[k].offset().wrapping_mul(self.widths[k]);
            self.ptrs.0[k].base.wrapping_add(start)
        })
    }

    /// The input that is copied into the result first.
    fn input_to_copy(&self, work: &ElementwiseWork<N>, machine: &Machine) -> Option<usize> {
        // Another input that is the result would be overwritten.
        let first = self.first();
        let overwrites_none = !first[1..].contains(&first[0]);
        let can_be_copied = self.has_result_type.map(|same| same && overwrites_none);
        work.input_to_copy(can_be_copied, machine)
    }

    /// The same operands with the result in place of an input.
    fn with_result_as(&self, input: usize) -> Self {
        let mut operands = *self;
        operands.layouts[input] = self.layouts[0];
        operands.ptrs.0[input] = self.ptrs.0[0];
        operands
    }
}

/// Computes few elements at once, and others by a plan.
#[inline(always)]
fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
) {
    let shape = operands.layouts[0].shape();
    let inputs = &operands.layouts[1..];
    assert!(inputs.iter().all(|layout| same_shape(layout.shape(), shape)), "operands of one shape");
    if !small::compute(exec, operation, operands) {
        compute_by_plan(exec, operation, operands);
    }
}

/// Plans the operation for the layouts of the operands, and runs it. A function of its own: its
/// stack frame is large.
#[inline(never)]
fn compute_by_plan<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
) {
    let Operands { layouts, widths, ptrs, .. } = *operands;
    let machine = &machine_for(layouts, widths, &exec.machine);
    if finished::compute(exec, operation, operands, machine) {
        return;
    }
    let equal = if operation.is_counted() { EqualResults::Computed } else { EqualResults::Copied };
    let work = ElementwiseWork::plan(layouts, widths, equal, machine);
    if let Some(input) = operands.input_to_copy(&work, machine) {
        let (from, to, width) = (layouts[input], layouts[0], widths[0]);
        let copy = Planned { from, to, width, machine };
        copy::by_plan(exec, &copy, OperandPtrs::new([ptrs.0[0], ptrs.0[input]]));
        return compute(exec, operation, &operands.with_result_as(input));
    }
    let work = work.for_operation(operation.computes_much());
    // A result larger than the caches is stored by 256-bit stores, unless it is streamed: of 16 MiB
    // of floats `relu` takes 10 % longer with 512-bit stores, a sum with a column 12 %. Functions
    // that compute much take up to twice as long with 256-bit registers (Zen 5).
    let halves = work.large && !work.stream && work.tile.is_none() && !operation.computes_much();
    let simd = if halves { at_most_256_bits(exec.simd()) } else { exec.simd() };
    par_run(exec, &work, move |work| {
        let task = Task { simd, work, operation, operands: ptrs };
        if let Some(tile) = &work.tile {
            return task.by_tiles(tile);
        }
        match (work.columns.len, work.block.uses_scratch()) {
            (0, _) => {}
            (_, false) => task.directly(),
            (_, true) => task.by_blocks(),
        }
    });
}

/// This level, but without 512-bit registers. The results of both are the same.
fn at_most_256_bits(level: SimdLevel) -> SimdLevel {
    match level {
        SimdLevel::V4 if SimdLevel::V3.is_available() => SimdLevel::V3,
        level => level,
    }
}

/// The work of one thread.
///
/// Invariant E1: the work was planned for the layouts of the views that the operands were made of,
/// so O1 to O4 hold for every offset that its loops visit.
#[derive(Clone, Copy)]
pub(super) struct Task<'a, const N: usize> {
    pub(super) simd: SimdLevel,
    pub(super) work: &'a ElementwiseWork<N>,
    pub(super) operation: &'a dyn Operation<N>,
    pub(super) operands: OperandPtrs<'a, N>,
}

impl<const N: usize> Task<'_, N> {
    /// Every operand has rows of adjacent elements or of a scalar: nothing goes through scratch.
    fn directly(self) {
        let work = self.work;
        let (base, row_strides) = (self.start(), self.bytes(work.rows.strides));
        let (is_scalar, rows, len) = (self.scalars(), work.rows.len, work.columns.len);
        for at in iterations(&work.outer) {
            let mut row_block =
                RowBlock { ptrs: advance(base, self.bytes(at)), row_strides, is_scalar, rows, len };
            // SAFETY: E1: the rows are the operands' own, adjacent or scalar as the plan's access
            // says. The elements of views are aligned.
            unsafe { bounce::compute(self.operation, self.simd, &work.widths, &mut row_block) };
        }
    }

    /// Some operand goes through scratch, block by block.
    fn by_blocks(self) {
        let bytes = self.work.block.scratch_bytes();
        if with_scratch(bytes, Hold::Leaf, |scratch| self.all_blocks(scratch)).is_none() {
            let work = &self.work.within_scratch(RESERVE_BYTES);
            let bytes = work.block.scratch_bytes();
            with_reserve(bytes, |scratch| Task { work, ..self }.all_blocks(scratch));
        }
    }

    fn all_blocks(self, mut scratch: Scratch<'_>) {
        let work = self.work;
        let _fence = work.stream.then(|| FenceOnDrop(self.simd));
        let (row_strides, column_strides) =
            (self.bytes(work.rows.strides), self.bytes(work.columns.strides));
        let Extent { rows, columns } = work.block.extent();
        let mut packed = [std::ptr::null_mut(); N];
        for at in iterations(&work.outer) {
            let base = advance(self.start(), self.bytes(at));
            let first = self.first_columns(base[0]);
            for j in starts(work.rows.len, rows) {
                let (mut i, mut next) = (0, first);
                while i < work.columns.len {
                    next = next.min(work.columns.len);
                    let extent = Extent { rows: rows.min(work.rows.len - j), columns: next - i };
                    let corner =
                        advance(advance(base, times(row_strides, j)), times(column_strides, i));
                    // SAFETY: E1 holds for the elements of a block: `extent` ends where the loops
                    // do.
                    unsafe { self.block(corner, &mut scratch, extent, &mut packed) };
                    (i, next) = (next, next + columns);
                }
            }
        }
    }

    /// The columns of the first block of a row. If the result is streamed, those before its first
    /// whole cache line; else as many as in other blocks.
    fn first_columns(self, result: *mut u8) -> usize {
        let columns = self.work.block.columns();
        if !self.work.stream {
            return columns;
        }
        match result.addr().wrapping_neg() % CACHE_LINE / self.work.widths[0].max(1) {
            0 => columns,
            // Less than a line of the result. A block's columns are a multiple of a line (see the
            // plan), so this is less than `columns`.
            before => before,
        }
    }

    /// One block: packs inputs, computes rows, unpacks the result.
    ///
    /// # Safety
    /// `corner` points to the first element of each operand's block. The elements of `extent` from
    /// there on can be read, and those of operand 0 be written.
    unsafe fn block(
        self,
        corner: [*mut u8; N],
        scratch: &mut Scratch<'_>,
        extent: Extent,
        packed: &mut [*mut u8; N],
    ) {
        for k in 1..N {
            // SAFETY: the block's elements of operand `k` can be read, by this function's contract.
            unsafe { self.pack(k, corner[k], scratch, extent, &mut packed[k]) };
        }
        let rows_at_once = self.work.block.area(0).map_or(extent.rows, |area| area.rows);
        for j in starts(extent.rows, rows_at_once) {
            let part = Extent { rows: rows_at_once.min(extent.rows - j), ..extent };
            // SAFETY: rows from `j` on of the block, whose inputs have just been packed.
            unsafe { self.some_rows(corner, scratch, j, part) };
        }
    }

    /// Packs an operand's block, if it goes through scratch. A broadcast row that was `packed` last
    /// is not packed again: no block has more rows than the first, so the copies in scratch
    /// suffice.
    ///
    /// # Safety
    /// M1 for the block's elements.
    unsafe fn pack(
        self,
        k: usize,
        corner: *mut u8,
        scratch: &mut Scratch<'_>,
        extent: Extent,
        packed: &mut *mut u8,
    ) {
        let Some(area) = self.work.block.area(k) else { return };
        let before = std::mem::replace(packed, corner);
        if self.work.block.access()[k] == Access::BroadcastRow && before == corner {
            return;
        }
        let gaps_readable = self.operands.0[k].gaps_readable;
        // SAFETY: M1 holds for the block's elements, and O4 says whether the gaps can be read.
        unsafe {
            pack::pack(
                self.simd,
                self.strided(k, extent),
                corner,
                gaps_readable,
                scratch.area(area),
            );
        };
    }

    /// Computes `part.rows` rows of a block from row `j` on, and writes them to the result.
    ///
    /// # Safety
    /// That of [`block`](Self::block), and the inputs that go through scratch have been packed.
    unsafe fn some_rows(
        self,
        corner: [*mut u8; N],
        scratch: &mut Scratch<'_>,
        j: usize,
        part: Extent,
    ) {
        let (mut ptrs, mut row_strides) = (corner, self.bytes(self.work.rows.strides));
        for k in 0..N {
            match self.work.block.area(k) {
                None => ptrs[k] = ptrs[k].wrapping_offset(row_strides[k] * j as isize),
                Some(area) => {
                    // The result's area holds the rows that are computed at once; the other areas
                    // hold all rows of the block.
                    let row = if k == 0 { 0 } else { j };
                    let (rows, bytes) = (row + part.rows, part.columns * self.work.widths[k]);
                    let start = scratch.area(area).start(rows, bytes);
                    ptrs[k] = start.wrapping_add(row * area.pitch);
                    row_strides[k] = area.pitch as isize;
                }
            }
        }
        let (is_scalar, rows, len) = (self.scalars(), part.rows, part.columns);
        let mut row_block = RowBlock { ptrs, row_strides, is_scalar, rows, len };
        // SAFETY: rows lie in the operands (this function's contract), or in areas of scratch that
        // hold them (`start` has checked it) and that have been packed. Both are aligned: areas
        // start at cache lines, and their pitch is a multiple of the element's width.
        unsafe { bounce::compute(self.operation, self.simd, &self.work.widths, &mut row_block) };
        if let Some(area) = self.work.block.area(0) {
            let step = self.work.rows.strides[0] * self.work.widths[0] as isize;
            let to = corner[0].wrapping_offset(step * j as isize);
            let (block, stream) = (self.strided(0, part), self.work.stream);
            // SAFETY: every element of these rows of scratch has just been computed; M2 holds for
            // the block's elements of operand 0. A streamed result has adjacent columns.
            unsafe { pack::unpack(self.simd, block, scratch.area(area), to, stream) };
        }
    }

    /// The strides of operand `k`'s block.
    fn strided(&self, k: usize, extent: Extent) -> StridedBlock {
        StridedBlock {
            width: self.work.widths[k],
            row_stride: self.work.rows.strides[k],
            column_stride: self.work.columns.strides[k],
            extent,
            // Larger results are computed by tiles or streamed; prefetching has not been measured.
            is_far: false,
        }
    }

    pub(super) fn start(&self) -> [*mut u8; N] {
        advance(self.operands.0.map(|operand| operand.base), self.bytes(self.work.starts))
    }

    /// Distances of each operand, converted from elements to bytes.
    pub(super) fn bytes(&self, elements: [isize; N]) -> [isize; N] {
        std::array::from_fn(|k| elements[k] * self.work.widths[k] as isize)
    }

    /// Which operands are scalars along a row.
    pub(super) fn scalars(&self) -> [bool; N] {
        self.work.block.access().map(|access| access == Access::Scalar)
    }
}

pub(super) fn advance<const N: usize>(ptrs: [*mut u8; N], by: [isize; N]) -> [*mut u8; N] {
    std::array::from_fn(|k| ptrs[k].wrapping_offset(by[k]))
}

fn times<const N: usize>(steps: [isize; N], count: usize) -> [isize; N] {
    steps.map(|step| step * count as isize)
}
