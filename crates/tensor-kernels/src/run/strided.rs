//! Elementwise operations on few elements, computed one by one where they lie.

use super::{elementwise::Operands, few_loops::FewLoops};
use crate::{
    exec::SimdLevel,
    kernel::{Operation, StridedRows},
    nest::Loop,
};

/// Computes elements one by one: the two longest loops in a call, whichever they are.
// What a call is given is filled in place: see `Operands`.
#[inline(never)]
pub(super) fn compute<const N: usize>(
    simd: SimdLevel,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
    loops: &FewLoops<N>,
) {
    let [outer, inner, rows, columns] = loops.longest_last();
    let (widths, first) = (&operands.widths, operands.first());
    let mut block = StridedRows { ptrs: first, rows: Loop::ONCE, columns: Loop::ONCE };
    (block.rows.len, block.columns.len) = (rows.len, columns.len);
    for (k, &width) in widths.iter().enumerate() {
        block.rows.strides[k] = rows.strides[k] * width as isize;
        block.columns.strides[k] = columns.strides[k] * width as isize;
    }
    for i in 0..outer.len as isize {
        for j in 0..inner.len as isize {
            for k in 0..N {
                let at = i * outer.strides[k] + j * inner.strides[k];
                block.ptrs[k] = first[k].wrapping_offset(at * widths[k] as isize);
            }
            // SAFETY: O1 to O3 for the offsets that the loops visit. Views are aligned.
            unsafe { operation.compute_strided(simd, &block) };
        }
    }
}
