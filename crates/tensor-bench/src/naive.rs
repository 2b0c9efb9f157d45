//! The loop that a programmer writes by hand: the specification in speed of everything else, for no plan may be slower than having none.
//!
//! An odometer counts through the shape in the order of the result; its last wheel is a plain loop over strides, which the compiler is free to
//! vectorise where all strides are 1. No tiles, no threads, no SIMD by hand, no dimension fused with another.

use std::array::from_fn;

use tensor_kernels::DimVec;

use crate::strided::Strided;

/// Writes `f` of the operands' elements to `out`, in row-major order. The operands have one shape, and `out` has as many elements.
pub fn compute<T: Copy, R, const N: usize>(
    operands: [Strided<'_, T>; N],
    out: &mut [R],
    f: impl Fn([T; N]) -> R,
) {
    let [first, ..] = &operands[..] else { return };
    let (outer, len) = match first.layout().shape() {
        [outer @ .., len] => (outer, *len),
        [] => (&[][..], 1),
    };
    let sources = operands.map(|operand| operand.elements());
    let strides = operands.map(|operand| operand.layout().strides());
    let step = strides.map(|strides| strides.last().copied().unwrap_or(1));
    let mut places = operands.map(|operand| operand.layout().offset() as isize);
    let mut index: DimVec<usize> = outer.iter().map(|_| 0).collect();
    for row in out.chunks_exact_mut(len.max(1)) {
        fill_row(row, sources, places, step, &f);
        advance(&mut index, outer, &mut places, strides);
    }
}

/// One row of the result.
fn fill_row<T: Copy, R, const N: usize>(
    row: &mut [R],
    sources: [&[T]; N],
    mut places: [isize; N],
    step: [isize; N],
    f: impl Fn([T; N]) -> R,
) {
    if step == [1; N] {
        let sources: [&[T]; N] = from_fn(|k| &sources[k][places[k] as usize..][..row.len()]);
        for (i, slot) in row.iter_mut().enumerate() {
            *slot = f(from_fn(|k| sources[k][i]));
        }
    } else {
        for slot in row {
            *slot = f(from_fn(|k| sources[k][places[k] as usize]));
            places = from_fn(|k| places[k] + step[k]);
        }
    }
}

/// The next index, and the places it stands for.
fn advance<const N: usize>(
    index: &mut [usize],
    shape: &[usize],
    places: &mut [isize; N],
    strides: [&[isize]; N],
) {
    for dim in (0..index.len()).rev() {
        index[dim] += 1;
        *places = from_fn(|k| places[k] + strides[k][dim]);
        if index[dim] < shape[dim] {
            return;
        }
        *places = from_fn(|k| places[k] - strides[k][dim] * shape[dim] as isize);
        index[dim] = 0;
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::Layout;

    use super::*;
    use crate::reference;

    #[test]
    fn a_copy_is_in_logical_order_whatever_the_layout() {
        let base: Vec<u32> = (0..120).collect();
        let dense = Layout::contiguous(&[2, 3, 4, 5]).unwrap();
        let layouts = [
            dense.clone(),
            dense.permute(&[3, 1, 0, 2]).unwrap(),
            dense.flip(&[0, 2, 3]).unwrap(),
            dense.narrow(1, 1, 2).unwrap(),
            dense.select(3, 4).unwrap(),
            Layout::new(&[4, 3, 2], &[0, 1, 0], 7).unwrap(),
            Layout::new(&[], &[], 5).unwrap(),
            Layout::new(&[0, 3], &[3, 1], 0).unwrap(),
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
        let turned = Layout::contiguous(&[2, 3]).unwrap().t().unwrap();
        let column = Layout::new(&[3, 2], &[-1, 0], 2).unwrap();
        let operands = [Strided::new(&a, &turned).unwrap(), Strided::new(&b, &column).unwrap()];
        let mut out = [0; 6];
        compute(operands, &mut out, |[x, y]| x + y);
        assert_eq!(out, [31, 34, 22, 25, 13, 16]);
    }
}
