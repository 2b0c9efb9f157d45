//! The naive loop: nested loops over the view, without tiles, threads, SIMD intrinsics or fused
//! dimensions. It is the lower limit of speed: no plan may be slower.
//!
//! A counter goes through all outer dimensions in the order of the result; the inner loop runs over
//! the strides of the last dimension, and the compiler may vectorise it if all strides are 1.

use std::array::from_fn;

use tensor_kernels::{DimVec, Layout};

use crate::cases::strided::Strided;

// Compiled for every operation and element type. Where that is no slower, plain loops run over the
// operands: without inlining, `array::map` and `array::from_fn` become three times as much code.

/// Writes `f` of the operands' elements to `out`, in row-major order. The operands have one shape,
/// and `out` has as many elements.
pub fn compute<T: Copy, R, const N: usize>(
    operands: [Strided<'_, T>; N],
    out: &mut [R],
    f: impl Fn([T; N]) -> R,
) {
    const { assert!(N > 0, "an operation has an operand") };
    let (mut sources, mut layouts) = ([operands[0].elements(); N], [operands[0].layout(); N]);
    for k in 1..N {
        (sources[k], layouts[k]) = (operands[k].elements(), operands[k].layout());
    }
    let (outer, len) = match layouts[0].shape() {
        [outer @ .., len] => (outer, *len),
        [] => (&[][..], 1),
    };
    let (mut offsets, strides, step) = row_offsets(layouts);
    let mut index: DimVec<usize> = outer.iter().map(|_| 0).collect();
    for row in out.chunks_exact_mut(len.max(1)) {
        fill_row(row, sources, offsets, step, &f);
        advance(&mut index, outer, &mut offsets, strides);
    }
}

/// Of each operand: the offset of the first row, all strides, and the stride within a row.
fn row_offsets<const N: usize>(layouts: [&Layout; N]) -> ([isize; N], [&[isize]; N], [isize; N]) {
    let strides = layouts.map(Layout::strides);
    let step = strides.map(|strides| strides.last().copied().unwrap_or(1));
    (layouts.map(|layout| layout.offset() as isize), strides, step)
}

/// Computes one row of the result.
fn fill_row<T: Copy, R, const N: usize>(
    row: &mut [R],
    mut sources: [&[T]; N],
    mut offsets: [isize; N],
    step: [isize; N],
    f: &impl Fn([T; N]) -> R,
) {
    if step == [1; N] {
        for (source, offset) in sources.iter_mut().zip(offsets) {
            *source = &source[offset as usize..][..row.len()];
        }
        for (i, result) in row.iter_mut().enumerate() {
            // Vectorised: the bounds are those of the row.
            *result = f(from_fn(|k| sources[k][i]));
        }
    } else {
        for result in row {
            *result = f(from_fn(|k| sources[k][offsets[k] as usize]));
            for (offset, step) in offsets.iter_mut().zip(step) {
                *offset += step;
            }
        }
    }
}

/// The next index of the outer dimensions, and the offsets of its row.
fn advance<const N: usize>(
    index: &mut [usize],
    shape: &[usize],
    offsets: &mut [isize; N],
    strides: [&[isize]; N],
) {
    for dim in (0..index.len()).rev() {
        index[dim] += 1;
        *offsets = from_fn(|k| offsets[k] + strides[k][dim]);
        if index[dim] < shape[dim] {
            return;
        }
        *offsets = from_fn(|k| offsets[k] - strides[k][dim] * shape[dim] as isize);
        index[dim] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::reference;

    #[test]
    fn a_copy_is_in_logical_order_whatever_the_layout() {
        let base: Vec<u32> = (0..120).collect();
        let dense = Layout::contiguous([2, 3, 4, 5]).unwrap();
        let layouts = [
            dense.clone(),
            dense.permute([3, 1, 0, 2]).unwrap(),
            dense.flip([0, 2, 3]).unwrap(),
            dense.narrow(1, 1, 2).unwrap(),
            dense.select(3, 4).unwrap(),
            Layout::new([4, 3, 2], [0, 1, 0], 7).unwrap(),
            Layout::new((), (), 5).unwrap(),
            Layout::new([0, 3], [3, 1], 0).unwrap(),
        ];
        for layout in layouts {
            let mut out = vec![u32::MAX; layout.numel()];
            compute([Strided::new(&base, &layout).unwrap()], &mut out, |[x]| x);
            assert_eq!(out, reference::elements(&base, &layout).collect::<Vec<_>>(), "{layout:?}");
        }
    }

    #[test]
    fn operands_of_different_strides_meet_index_by_index() {
        let (a, b) = ([1, 2, 3, 4, 5, 6], [10, 20, 30]);
        let transposed = Layout::contiguous([2, 3]).unwrap().t().unwrap();
        let column = Layout::new([3, 2], [-1, 0], 2).unwrap();
        let operands = [Strided::new(&a, &transposed).unwrap(), Strided::new(&b, &column).unwrap()];
        let mut out = [0; 6];
        compute(operands, &mut out, |[x, y]| x + y);
        assert_eq!(out, [31, 34, 22, 25, 13, 16]);
    }
}
