//! The naive loop: nested loops over the view, without tiles, threads, SIMD intrinsics or fused
//! dimensions. It is the lower limit of speed: no plan may be slower.
//!
//! A counter goes through all outer dimensions in the order of the result; the inner loop runs over
//! the strides of the last dimension, and the compiler may vectorise it if all strides are 1.

use tensor_kernels::{DimVec, Layout};

use crate::cases::strided::Strided;

// Compiled for every operation and element type. Plain loops over the operands are a third of the
// code that `array::map` and `array::from_fn` become where nothing is inlined.

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
    let mut counter = Odometer::new(layouts);
    for row in out.chunks_exact_mut(counter.row_len()) {
        fill_row(row, sources, counter.offsets, counter.step, &f);
        counter.advance();
    }
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
            *result = f(gather(sources, [i as isize; N]));
        }
    } else {
        for result in row {
            *result = f(gather(sources, offsets));
            for (offset, step) in offsets.iter_mut().zip(step) {
                *offset += step;
            }
        }
    }
}

/// One element of each source.
#[inline(always)]
fn gather<T: Copy, const N: usize>(sources: [&[T]; N], offsets: [isize; N]) -> [T; N] {
    let mut elements = [sources[0][offsets[0] as usize]; N];
    for k in 1..N {
        elements[k] = sources[k][offsets[k] as usize];
    }
    elements
}

/// Counts through all dimensions but the last one.
struct Odometer<'a, const N: usize> {
    layouts: [&'a Layout; N],
    index: DimVec<usize>,
    /// For each operand, the offset of the row and the stride within it.
    offsets: [isize; N],
    step: [isize; N],
}

impl<'a, const N: usize> Odometer<'a, N> {
    fn new(layouts: [&'a Layout; N]) -> Self {
        let outer = layouts[0].ndim().saturating_sub(1);
        Odometer {
            layouts,
            index: (0..outer).map(|_| 0).collect(),
            offsets: layouts.map(|layout| layout.offset() as isize),
            step: layouts.map(|layout| layout.strides().last().copied().unwrap_or(1)),
        }
    }

    /// The length of a row; at least 1, because `chunks_exact_mut` panics for 0.
    fn row_len(&self) -> usize {
        self.layouts[0].shape().last().copied().unwrap_or(1).max(1)
    }

    /// The next row.
    fn advance(&mut self) {
        for dim in (0..self.index.len()).rev() {
            self.index[dim] += 1;
            let size = self.layouts[0].shape()[dim];
            let transposed = self.index[dim] == size;
            for (offset, layout) in self.offsets.iter_mut().zip(self.layouts) {
                let stride = layout.strides()[dim];
                *offset += if transposed { stride - stride * size as isize } else { stride };
            }
            if !transposed {
                return;
            }
            self.index[dim] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::reference;

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
        let transposed = Layout::contiguous(&[2, 3]).unwrap().t().unwrap();
        let column = Layout::new(&[3, 2], &[-1, 0], 2).unwrap();
        let operands = [Strided::new(&a, &transposed).unwrap(), Strided::new(&b, &column).unwrap()];
        let mut out = [0; 6];
        compute(operands, &mut out, |[x, y]| x + y);
        assert_eq!(out, [31, 34, 22, 25, 13, 16]);
    }
}
