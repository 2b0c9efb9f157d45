//! Elementwise operations on few elements, computed one by one where they lie.

use super::{
    elementwise::{Operands, advance},
    few_loops::continues,
    walk::iterations,
};
use crate::{
    exec::SimdLevel,
    kernel::{Operation, StridedRows},
    nest::Loop,
};

/// The most loops.
const MAX_LOOPS: usize = 8;

/// Computes elements one by one. Returns `false`, and computes nothing, if there are more loops
/// than [`MAX_LOOPS`].
// Loops are filled in place: see `Operands`.
#[inline(never)]
pub(super) fn compute<const N: usize>(
    simd: SimdLevel,
    operation: &dyn Operation<N>,
    operands: &Operands<'_, '_, N>,
) -> bool {
    let first = operands.first();
    let mut block = StridedRows { ptrs: first, rows: Loop::ONCE, columns: Loop::ONCE };
    let shape = operands.layouts[0].shape();
    if let &[rows, columns] = shape {
        (block.rows.len, block.columns.len) = (rows, columns);
        for k in 0..N {
            if let &[row, column] = operands.layouts[k].strides() {
                let width = operands.widths[k] as isize;
                block.rows.strides[k] = row * width;
                block.columns.strides[k] = column * width;
            }
        }
        if rows > columns {
            std::mem::swap(&mut block.rows, &mut block.columns);
        }
        // SAFETY: O1 to O3 for the offsets of the layouts. Views are aligned.
        unsafe { operation.compute_strided(simd, &block) };
        return true;
    }
    let (mut loops, mut count) = ([Loop::ONCE; MAX_LOOPS], 0);
    for (d, &len) in shape.iter().enumerate().rev().filter(|(_, len)| **len > 1) {
        let strides: [isize; N] = std::array::from_fn(|k| {
            operands.layouts[k].strides().get(d).map_or(0, |s| s * operands.widths[k] as isize)
        });
        match loops[..count].last_mut() {
            Some(inner) if continues(inner, &strides) => inner.len *= len,
            _ if count == MAX_LOOPS => return false,
            _ => {
                loops[count] = Loop { len, strides };
                count += 1;
            }
        }
    }
    for to in 0..2.min(count) {
        let longest = (to..count).max_by_key(|&at| loops[at].len).unwrap_or(to);
        loops.swap(to, longest);
    }
    (block.columns, block.rows) = (loops[0], loops[1]);
    for at in iterations(&loops[2.min(count)..count]) {
        block.ptrs = advance(first, at);
        // SAFETY: O1 to O3 for the offsets of the layouts, those of an iteration of the other
        // loops. Views are aligned.
        unsafe { operation.compute_strided(simd, &block) };
    }
    true
}
