//! Elementwise operations whose loops are few: computed where the elements lie, or, if there are
//! few elements, from copies of them on the stack, by loops or by transposes.
//!
//! The result is contiguous. The loops over all operands are fused. If they end in rows, the
//! operation runs on these. Very few elements, and those of several inputs in several orders, are
//! computed [one by one](strided). Otherwise each operand in another order than the result's is
//! copied by the same loops, and the operation runs once. If several inputs lie alike, it runs in
//! their order, and its results are copied.

use std::mem::MaybeUninit;

use super::{
    bounce,
    elementwise::Operands,
    few_loops::{FewLoops, Row, copy_few},
    few_transposes::FewTransposes,
    strided,
};
use crate::{
    exec::{Exec, SimdLevel},
    kernel::{self, Operation, RowBlock},
    nest::Loop,
    tuning::{
        MAX_COPIED_ELEMENTS, MAX_MATRIX_ONE_BY_ONE, MAX_UNLIKE_ONE_BY_ONE,
        MIN_ROW_COMPUTED_IN_PLACE, MIN_ROW_IN_PLACE, MIN_ROWS_IN_PLACE,
        MIN_TRANSPOSED_WITHOUT_PLAN,
    },
};

/// Computes elements of a contiguous result that is not empty. Returns `false`, and computes
/// nothing, if there are more loops, or rows are short and there are more elements than a copy by
/// loops is worth.
#[inline]
pub(super) fn compute<const N: usize>(
    exec: &Exec,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
) -> bool {
    let few = Few { simd: exec.simd(), operation, operands };
    if operands.layouts.iter().all(|layout| layout.is_contiguous()) {
        few.one_row();
        return true;
    }
    let len = operands.layouts[0].numel();
    let mut loops = FewLoops::default();
    if !loops.fill(&operands.layouts) {
        return false;
    }
    if few.where_they_lie(&loops) {
        return true;
    }
    if few.is_one_by_one(&loops, len) {
        strided::compute(few.simd, operation, operands, &loops);
        return true;
    }
    let mut are_copied = true;
    for k in 1..N {
        are_copied &= few.is_copied(&loops, k, len);
    }
    if are_copied {
        match few.order_of_inputs(&loops, len) {
            Some(input) => few.computed_in_order(&loops, input, len),
            None => few.copied(&loops, len),
        }
    }
    are_copied
}

/// The elements of an operand, in the order of the result. Registers of them are loaded and stored
/// faster within a cache line.
#[repr(C, align(64))]
struct Copied([MaybeUninit<u128>; MAX_COPIED_ELEMENTS]);

impl Copied {
    const UNINIT: Self = Self([const { MaybeUninit::uninit() }; _]);

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// An operation and its operands.
struct Few<'a, 'o, 'l, const N: usize> {
    simd: SimdLevel,
    operation: &'a dyn Operation<N>,
    operands: &'a Operands<'o, 'l, N>,
}

impl<const N: usize> Few<'_, '_, '_, N> {
    /// Computes operands whose elements are adjacent in one order.
    #[inline]
    fn one_row(&self) {
        let mut block = RowBlock {
            ptrs: self.operands.first(),
            row_strides: [0; N],
            is_scalar: [false; N],
            rows: 1,
            len: self.operands.layouts[0].numel(),
        };
        // SAFETY: O1 to O3 for the elements of the layouts, which are adjacent. Views are aligned.
        unsafe { bounce::compute(self.operation, self.simd, &self.operands.widths, &mut block) };
    }

    /// Computes the elements where they lie, if all operands have rows of adjacent elements, or of
    /// one element. Returns `false`, and computes nothing, if not, or if rows are too short.
    #[inline]
    fn where_they_lie(&self, loops: &FewLoops<N>) -> bool {
        let [outer, inner, rows, columns] = loops.longest_as_rows();
        let mut is_row = columns.strides[0] == 1;
        for &stride in &columns.strides {
            is_row &= matches!(stride, 0 | 1);
        }
        if !is_row || !self.is_worth_it(loops) {
            return false;
        }
        let first = self.operands.first();
        for i in 0..outer.len {
            for j in 0..inner.len {
                let at = |k: usize| self.bytes(k, outer, i) + self.bytes(k, inner, j);
                let mut block = RowBlock {
                    ptrs: std::array::from_fn(|k| first[k].wrapping_offset(at(k))),
                    row_strides: std::array::from_fn(|k| self.bytes(k, rows, 1)),
                    is_scalar: std::array::from_fn(|k| columns.strides[k] == 0),
                    rows: rows.len,
                    len: columns.len,
                };
                let widths = &self.operands.widths;
                // SAFETY: O1 to O3 for the offsets that the loops visit; a row of operand 0 is
                // adjacent, those of others are adjacent or one element. Views are aligned.
                unsafe { bounce::compute(self.operation, self.simd, widths, &mut block) };
            }
        }
        true
    }

    /// Does it take less time to compute the elements one by one, where they lie, than to copy
    /// inputs into the order of the result?
    #[inline]
    fn is_one_by_one(&self, loops: &FewLoops<N>, len: usize) -> bool {
        let is_matrix = self.operands.layouts[0].ndim() == 2;
        let is_few = is_matrix && len <= MAX_MATRIX_ONE_BY_ONE
            || len <= MAX_UNLIKE_ONE_BY_ONE && self.copies_several_inputs(loops);
        is_few && self.operation.is_cheap(self.simd)
    }

    /// Do several inputs lie otherwise than the result, which cannot be computed in their order, as
    /// they do not lie alike or have gaps?
    #[inline]
    fn copies_several_inputs(&self, loops: &FewLoops<N>) -> bool {
        let mut packed = (1..N).filter(|&k| loops.row(k) == Row::Packed);
        let Some(first) = packed.next() else { return false };
        packed.any(|k| !loops.lie_alike(k, first) || !self.operands.layouts[first].is_dense())
    }

    /// Does an operation on rows take less time than copies of the inputs that lie otherwise than
    /// the result?
    #[inline]
    fn is_worth_it(&self, loops: &FewLoops<N>) -> bool {
        let [outer, inner, rows, columns] = loops.longest_as_rows();
        let is_nested = outer.len > 1 || inner.len > 1;
        if is_nested && rows.len * columns.len < MIN_ROWS_IN_PLACE {
            return false;
        }
        let copies = (1..N).filter(|&k| loops.row(k) == Row::Packed).count();
        let least = match copies {
            0 | 1 => kernel::chunk(self.operands.widths[0]),
            _ => MIN_ROW_IN_PLACE[usize::from(is_nested)],
        };
        let computes_much =
            || columns.len < MIN_ROW_COMPUTED_IN_PLACE && self.operation.computes_much();
        columns.len >= least && !computes_much()
    }

    /// Where iteration `i` of a loop has operand `k`, in bytes from the first.
    #[inline(always)]
    fn bytes(&self, k: usize, l: &Loop<N>, i: usize) -> isize {
        l.strides[k] * (i * self.operands.widths[k]) as isize
    }

    /// Is a copy of operand `k` by loops, or by transposes, worth it, and is there room for it?
    #[inline(always)]
    fn is_copied(&self, loops: &FewLoops<N>, k: usize, len: usize) -> bool {
        let width = self.operands.widths[k];
        let has_kernels = width <= 16 && width.is_power_of_two();
        let fits = || {
            len.saturating_mul(width) <= size_of::<Copied>()
                && (loops.row(k) != Row::Packed || self.transposes(loops, k, len).is_some())
        };
        has_kernels && (len <= MAX_COPIED_ELEMENTS || fits())
    }

    /// The transposes that bring operand `k` into the order of the result.
    #[inline(always)]
    fn transposes(&self, loops: &FewLoops<N>, k: usize, len: usize) -> Option<FewTransposes> {
        if len < MIN_TRANSPOSED_WITHOUT_PLAN || !self.operands.ptrs.0[k].gaps_readable {
            return None;
        }
        FewTransposes::of(self.operands.widths[k], loops.of_operand(k))
    }

    /// An input in whose order all elements are computed: several inputs lie as it does, without
    /// gaps, the others are single elements, and there is room for the results.
    #[inline(always)]
    fn order_of_inputs(&self, loops: &FewLoops<N>, len: usize) -> Option<usize> {
        let width = self.operands.widths[0];
        let has_kernels = width <= 16 && width.is_power_of_two();
        if N < 3 || !has_kernels || len.saturating_mul(width) > size_of::<Copied>() {
            return None;
        }
        let (mut first, mut several) = (None, false);
        for k in 1..N {
            match (loops.row(k), first) {
                (Row::Scalar, _) => {}
                (Row::Packed, None) if self.operands.layouts[k].is_dense() => first = Some(k),
                (Row::Packed, Some(first)) if loops.lie_alike(k, first) => several = true,
                _ => return None,
            }
        }
        first.filter(|_| several)
    }

    /// Computes one row in the order of `input`, and copies the results to their places.
    #[inline(never)]
    fn computed_in_order(&self, loops: &FewLoops<N>, input: usize, len: usize) {
        let mut results = Copied::UNINIT;
        let row = results.start();
        let (widths, ptrs) = (&self.operands.widths, self.operands.first());
        let is_scalar = std::array::from_fn(|k| k > 0 && loops.row(k) == Row::Scalar);
        let mut block = RowBlock { ptrs, row_strides: [0; N], is_scalar, rows: 1, len };
        block.ptrs[0] = row;
        // SAFETY: O1 and O3: the inputs have `len` elements in one order, from the first on, as
        // they are dense, or one element. There is room for as many results (`order_of_inputs`),
        // aligned for a cache line.
        unsafe { bounce::compute(self.operation, self.simd, widths, &mut block) };
        let (from, to, width) = (row.cast_const(), ptrs[0], widths[0]);
        let transposes = (len >= MIN_TRANSPOSED_WITHOUT_PLAN)
            .then(|| FewTransposes::of(width, loops.of_operand(input)))
            .flatten();
        if let Some(transposes) = transposes {
            // SAFETY: the results have been written in the order of the input, without gaps; O2
            // holds for operand 0.
            unsafe { transposes.copy(self.simd, width, from, to) };
        } else {
            // SAFETY: as above.
            unsafe { copy_few(width, (from, input), to, loops) };
        }
    }

    /// Copies operands in another order than the result's, which [are copied](Self::is_copied), and
    /// computes one row.
    #[inline(never)]
    fn copied(&self, loops: &FewLoops<N>, len: usize) {
        let mut copies = [const { Copied::UNINIT }; N];
        let (widths, ptrs) = (&self.operands.widths, self.operands.first());
        let mut block = RowBlock { ptrs, row_strides: [0; N], is_scalar: [false; N], rows: 1, len };
        for k in 1..N {
            let row = loops.row(k);
            block.is_scalar[k] = row == Row::Scalar;
            if row != Row::Packed {
                continue;
            }
            let (from, to) = (ptrs[k].cast_const(), copies[k].start());
            block.ptrs[k] = to;
            if let Some(transposes) = self.transposes(loops, k, len) {
                // SAFETY: O1 holds for the offsets that the loops visit in operand `k`, O4 for the
                // gaps between them. The copy has room for the result's elements (`is_copied`).
                unsafe { transposes.copy(self.simd, widths[k], from, to) };
            } else {
                // SAFETY: as above; the result's elements are adjacent.
                unsafe { copy_few(widths[k], (from, k), to, loops) };
            }
        }
        // SAFETY: O1 to O3 for operands whose elements are adjacent, or one element; the copies
        // have been written, and are aligned for a cache line.
        unsafe { bounce::compute(self.operation, self.simd, widths, &mut block) };
    }
}
