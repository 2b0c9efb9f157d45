//! Elementwise operations on few elements, without a plan: planning would take longer than the
//! work.
//!
//! If all elements are adjacent in all operands they are one row. Otherwise each operand in another
//! order is copied into scratch, in the order of the result, and the copies are one row. In both
//! cases the operation runs once.
//!
//! # Tried and dropped
//! (f32, Zen 5.) Gathers and transposes by kernels for runs of fewer than 16 elements and blocks of
//! fewer than 32: 512 elements of [2, 2, 2, 2, 8, 4] in another order took 2,200 ns instead of 340
//! by tables. Nested loops for all elements: the innermost ones are too short if there are many
//! dimensions.

use std::mem::MaybeUninit;

use smallvec::SmallVec;
use tensor_core::Layout;

use super::{
    bounce,
    elementwise::advance,
    offsets,
    operands::OperandPtrs,
    pack::of_width,
    tiny::{self, MAX_TINY_DIMS},
    walk::walk,
    workspace::{Hold, Scratch, with_scratch},
};
use crate::{
    exec::{Exec, SimdLevel},
    kernel::{Isa, Kernel, Operation, RowBlock, Unit, short_runs},
    memory::{CACHE_LINE, Stores},
    nest::{Loop, with_nest},
    tuning::{
        MIN_SMALL_RUNS, MIN_SMALL_TRANSPOSE, SMALL_OPERATION_ELEMENTS, SMALL_OPERATIONS_IN_L1,
        SMALL_TABLE_ENTRIES, TINY_OPERATION_ELEMENTS,
    },
};

/// Computes few elements. Returns `false`, and computes nothing, if there are many, if the result
/// has gaps, or if an element width has no kernels.
#[inline]
pub(super) fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    layouts: [&Layout; N],
    widths: [usize; N],
    operands: &OperandPtrs<'_, N>,
) -> bool {
    let len = layouts[0].numel();
    if len > SMALL_OPERATION_ELEMENTS || len * widths[0] > exec.machine.l1 / SMALL_OPERATIONS_IN_L1
    {
        return false;
    }
    let one = OneRow { simd: exec.simd(), operation, widths, len };
    if layouts.iter().all(|layout| layout.is_contiguous()) {
        if len > 0 {
            let offsets = std::array::from_fn(|k| layouts[k].offset() as isize);
            // SAFETY: O1 to O3: the operands have `len` adjacent elements from these offsets on.
            unsafe { one.compute(one.ptrs(operands, offsets), [false; N]) };
        }
        return true;
    }
    if !widths.iter().all(|width| matches!(width, 1 | 2 | 4 | 8 | 16)) {
        return false;
    }
    if len <= TINY_OPERATION_ELEMENTS
        && layouts[0].is_contiguous()
        && layouts[0].ndim() <= MAX_TINY_DIMS
    {
        one.tiny(layouts, operands);
        return true;
    }
    one.in_order(layouts, operands)
}

/// The elements of an operand, in the order of the result.
type TinyRow = [MaybeUninit<u128>; TINY_OPERATION_ELEMENTS];

/// Elements that are computed as one row.
#[derive(Clone, Copy)]
struct OneRow<'a, const N: usize> {
    simd: SimdLevel,
    operation: &'a dyn Operation<N>,
    widths: [usize; N],
    len: usize,
}

/// How an operand becomes a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Adjacent,
    Scalar,
    Packed,
}

impl<const N: usize> OneRow<'_, N> {
    fn ptrs(&self, operands: &OperandPtrs<'_, N>, offsets: [isize; N]) -> [*mut u8; N] {
        let bytes = std::array::from_fn(|k| offsets[k].wrapping_mul(self.widths[k] as isize));
        advance(operands.0.map(|operand| operand.base), bytes)
    }

    /// # Safety
    /// `len` elements can be read from `ptrs` on, or one where `is_scalar` is set, and those of
    /// operand 0 be written. All are aligned. An input shares no element with operand 0, or is
    /// operand 0.
    #[inline]
    unsafe fn compute(&self, ptrs: [*mut u8; N], is_scalar: [bool; N]) {
        let row = RowBlock { ptrs, row_strides: [0; N], is_scalar, rows: 1, len: self.len };
        // SAFETY: this function's contract.
        unsafe { bounce::compute(self.operation, self.simd, self.widths, row) };
    }

    /// Computes very few elements of a contiguous result. The copies are nested loops.
    fn tiny(&self, layouts: [&Layout; N], operands: &OperandPtrs<'_, N>) {
        let mut rows: [TinyRow; N] = [const { [MaybeUninit::uninit(); _] }; N];
        let mut ptrs = self.ptrs(operands, layouts.map(|layout| layout.offset() as isize));
        for k in 1..N {
            if self.len == 0 || layouts[k].is_contiguous() {
                continue;
            }
            let (from, to) = (ptrs[k].cast_const(), rows[k].as_mut_ptr().cast::<u8>());
            let loops = tiny::loops([layouts[0], layouts[k]]);
            // SAFETY: O1 holds for the offsets that the loops visit in operand `k`. The row has 16
            // bytes for each of the result's elements, which are adjacent.
            unsafe { copy_tiny(self.widths[k], from, to, loops) };
            ptrs[k] = to;
        }
        if self.len > 0 {
            // SAFETY: O1 to O3; the rows have been written, and are aligned for 16 bytes.
            unsafe { self.compute(ptrs, [false; N]) };
        }
    }

    /// Computes the elements in the order of the result, if that has no gaps.
    fn in_order(&self, layouts: [&Layout; N], operands: &OperandPtrs<'_, N>) -> bool {
        with_nest(layouts, |builder| {
            let loops = builder.loops();
            let rows = std::array::from_fn(|k| row(loops, k));
            if self.len == 0 || rows[0] != Row::Adjacent {
                return self.len == 0;
            }
            let first = self.ptrs(operands, builder.starts);
            let packed = (0..N).filter(|&k| rows[k] == Row::Packed);
            let bytes = packed.map(|k| self.row_bytes(k)).sum();
            let run = |scratch: Scratch<'_>| {
                // SAFETY: O1 to O3 hold for the offsets that the loops visit from `first` on.
                unsafe { self.pack_and_compute(loops, (operands, first), rows, scratch) };
            };
            with_scratch(bytes, Hold::Leaf, run).is_some()
        })
    }

    /// The bytes of a row in scratch, rounded up to whole cache lines.
    fn row_bytes(&self, k: usize) -> usize {
        (self.len * self.widths[k]).next_multiple_of(CACHE_LINE)
    }

    /// # Safety
    /// The elements that the loops visit from `first` on can be read, and those of operand 0 be
    /// written; `rows` says how they lie. An input shares no element with operand 0, or is operand
    /// 0. The scratch holds the rows that are packed.
    unsafe fn pack_and_compute(
        &self,
        loops: &[Loop<N>],
        (operands, first): (&OperandPtrs<'_, N>, [*mut u8; N]),
        rows: [Row; N],
        mut scratch: Scratch<'_>,
    ) {
        let (mut ptrs, mut start) = (first, 0);
        for k in (1..N).filter(|&k| rows[k] == Row::Packed) {
            let bytes = self.row_bytes(k);
            let to = scratch.rows(start, (1, bytes), bytes).start(1, bytes);
            let (from, width) = (first[k].cast_const(), self.widths[k]);
            (ptrs[k], start) = (to, start + bytes);
            let mut loops = dense_from(loops, k);
            let loops = &mut loops[..];
            // The portable kernels read no gaps between elements.
            let able = if operands.0[k].gaps_readable { self.simd } else { SimdLevel::Scalar };
            of_width!(
                able, width,
                L => Pack::<L> { loops, from: from.cast(), to: to.cast() },
                else unreachable!("`compute` takes widths with kernels only")
            );
        }
        let is_scalar = rows.map(|row| row == Row::Scalar);
        // SAFETY: this function's contract; rows in scratch have been packed, and start at cache
        // lines.
        unsafe { self.compute(ptrs, is_scalar) };
    }
}

/// # Safety
/// M1 to M3 for the elements of `width` bytes that the loops visit.
#[inline]
unsafe fn copy_tiny(width: usize, from: *const u8, to: *mut u8, loops: [Loop<2>; MAX_TINY_DIMS]) {
    match width {
        // SAFETY: this function's contract.
        1 => unsafe { tiny::walk::<u8>(from, to, loops) },
        // SAFETY: this function's contract.
        2 => unsafe { tiny::walk::<u16>(from.cast(), to.cast(), loops) },
        // SAFETY: this function's contract.
        4 => unsafe { tiny::walk::<u32>(from.cast(), to.cast(), loops) },
        // SAFETY: this function's contract.
        8 => unsafe { tiny::walk::<u64>(from.cast(), to.cast(), loops) },
        // SAFETY: this function's contract; `compute` takes no other widths.
        _ => unsafe { tiny::walk::<u128>(from.cast(), to.cast(), loops) },
    }
}

/// How the elements of operand `k` lie in the order of the loops.
fn row<const N: usize>(loops: &[Loop<N>], k: usize) -> Row {
    let mut next = 1;
    let is_adjacent = loops.iter().rev().all(|l| {
        let continues = l.strides[k] == next;
        next *= l.len as isize;
        continues
    });
    match is_adjacent {
        true => Row::Adjacent,
        false if loops.iter().all(|l| l.strides[k] == 0) => Row::Scalar,
        false => Row::Packed,
    }
}

/// The loops of a copy of operand `k` to adjacent elements.
fn dense_from<const N: usize>(loops: &[Loop<N>], k: usize) -> SmallVec<[Loop<2>; 8]> {
    let mut copy: SmallVec<[Loop<2>; 8]> = SmallVec::new();
    let mut next = 1;
    for l in loops.iter().rev() {
        let strides = [next, l.strides[k]];
        next *= l.len as isize;
        match copy.last_mut() {
            // Loops that continue each other are one.
            Some(inner) if strides[1] == inner.strides[1] * inner.len as isize => {
                inner.len *= l.len;
            }
            _ => copy.push(Loop { len: l.len, strides }),
        }
    }
    copy
}

/// Copies the elements of some loops, whose strides are the destination's and the source's, in any
/// order. The innermost loop, along which the destination is adjacent, comes first.
///
/// Invariant: only [`OneRow::pack_and_compute`] makes it. M1 to M3 for the elements of the loops.
struct Pack<'l, L> {
    loops: &'l mut [Loop<2>],
    from: *const L,
    to: *mut L,
}

impl<L: Unit> Kernel for Pack<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { loops, from, to } = self;
        let Some(&first) = loops.first() else { return };
        let is_row = |l: &Loop<2>| l.strides[1] == 1 && is_worth_a_transpose(first.len, l.len);
        let row = loops.iter().skip(1).position(is_row);
        match (&mut *loops, row) {
            (_, Some(at)) => {
                loops.swap(1, at + 1);
                // SAFETY: the invariant; the source is adjacent along the second loop.
                unsafe { transposes(isa, from, to, loops) };
            }
            ([_, around @ ..], _) if is_worth_runs(first, around.first()) => {
                // SAFETY: the invariant; the destination is adjacent along the first loop.
                unsafe { runs(isa, from, to, first, around) };
            }
            // SAFETY: the invariant.
            _ => unsafe { by_table(from, to, loops) },
        }
    }
}

/// Is a block of this extent worth a call of the transpose kernel?
#[inline(always)]
fn is_worth_a_transpose(columns: usize, rows: usize) -> bool {
    let shorter = columns.min(rows);
    shorter >= MIN_SMALL_TRANSPOSE || shorter >= 2 && columns * rows >= MIN_SMALL_RUNS
}

/// Are the runs long enough for a kernel, or are there enough of them?
#[inline(always)]
fn is_worth_runs(run: Loop<2>, rows: Option<&Loop<2>>) -> bool {
    match run.strides {
        [1, 0 | 1] => run.len * rows.map_or(1, |l| l.len) >= MIN_SMALL_RUNS / 2,
        [1, -4..=4] => run.len >= MIN_SMALL_RUNS / 2,
        _ => false,
    }
}

/// # Safety
/// M1 to M3 for the elements of the loops; the destination is adjacent along the first loop, the
/// source along the second.
#[inline(always)]
unsafe fn transposes<I: Isa, L: Unit>(isa: I, from: *const L, to: *mut L, loops: &[Loop<2>]) {
    let (columns, rows) = (loops[0], loops[1]);
    walk(&loops[2..], |[at_to, at_from]| {
        let (to, from) = (to.wrapping_offset(at_to), from.wrapping_offset(at_from));
        let (steps, counts) = ([columns.strides[1], rows.strides[0]], [columns.len, rows.len]);
        // SAFETY: this function's contract, for the elements of two loops.
        unsafe { isa.transpose(from, steps[0], to, steps[1], counts[0], counts[1]) };
    });
}

/// Copies runs of adjacent elements, of one element that is repeated, or of elements a few apart.
///
/// # Safety
/// M1 to M3 for the elements of the run and of the loops around it. The destination is adjacent
/// along the run.
#[inline(always)]
unsafe fn runs<I: Isa, L: Unit>(
    isa: I,
    from: *const L,
    to: *mut L,
    run: Loop<2>,
    around: &[Loop<2>],
) {
    let (rows, around) = match around {
        [rows, around @ ..] => (*rows, around),
        [] => (Loop::ONCE, around),
    };
    walk(around, |[at_to, at_from]| {
        let (mut to, mut from) = (to.wrapping_offset(at_to), from.wrapping_offset(at_from));
        match run.strides[1] {
            // SAFETY: this function's contract, for the runs of one loop.
            1 => unsafe { short_runs::copy_runs(isa, from, to, run.len, rows) },
            // SAFETY: this function's contract, for the runs of one loop.
            0 => unsafe { short_runs::fill_runs(from, to, run.len, rows) },
            step => {
                for _ in 0..rows.len {
                    // SAFETY: this function's contract, for one run.
                    unsafe { isa.gather_run(from, step, to, run.len, Stores::Plain) };
                    to = to.wrapping_offset(rows.strides[0]);
                    from = from.wrapping_offset(rows.strides[1]);
                }
            }
        }
    });
}

/// Copies element by element. The longest loops are the inner ones; the offsets of their iterations
/// are in a table, and those of the others in another.
///
/// # Safety
/// M1 to M3 for the elements of the loops.
#[inline(always)]
unsafe fn by_table<L: Unit>(from: *const L, to: *mut L, loops: &mut [Loop<2>]) {
    loops.sort_unstable_by_key(|l| l.len);
    let (mut at, mut count) = (loops.len(), 1);
    while at > 0 && count < SMALL_TABLE_ENTRIES {
        at -= 1;
        count *= loops[at].len;
    }
    let (outer, inner) = loops.split_at(at);
    let (mut rows, mut columns) = (Table::new(), Table::new());
    offsets::fill(&mut rows, outer, outer.first().map_or(1, |l| l.len), |strides| strides);
    if let [inner] = inner {
        for &[at_to, at_from] in &rows {
            let (to, from) = (to.wrapping_offset(at_to), from.wrapping_offset(at_from));
            for i in 0..inner.len as isize {
                // SAFETY: readable by M1.
                let value = unsafe { from.wrapping_offset(i * inner.strides[1]).read_unaligned() };
                // SAFETY: writable by M2.
                unsafe { to.wrapping_offset(i * inner.strides[0]).write_unaligned(value) };
            }
        }
        return;
    }
    offsets::fill(&mut columns, inner, inner.first().map_or(1, |l| l.len), |strides| strides);
    for &[at_to, at_from] in &rows {
        let (to, from) = (to.wrapping_offset(at_to), from.wrapping_offset(at_from));
        for &[at_to, at_from] in &columns {
            // SAFETY: readable by M1.
            let value = unsafe { from.wrapping_offset(at_from).read_unaligned() };
            // SAFETY: writable by M2.
            unsafe { to.wrapping_offset(at_to).write_unaligned(value) };
        }
    }
}

/// Offsets in destination and source.
type Table = SmallVec<[[isize; 2]; 64]>;
