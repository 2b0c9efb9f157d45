//! The naive reduction: for each element of the result, nested loops over the reduced dimensions in
//! their order. No tiles, threads or fused dimensions; dimensions are not reordered.

use tensor_kernels::{DimVec, Layout, Result};

use crate::cases::strided::Strided;

/// A reduction of the elements of one result: the state before them, what each adds, and the
/// result. Elements come with their index among the reduced ones.
#[derive(Clone, Copy)]
pub struct Steps<S, F, G> {
    /// The state before the first element.
    pub start: S,
    /// The state after an element.
    pub step: F,
    /// The result of the last state.
    pub finish: G,
}

/// Writes the reduction over `dims` to `out`, in row-major order of the other dimensions.
///
/// # Errors
/// Dimensions that the layout does not have.
pub fn reduce<T: Copy, S: Copy, R>(
    operand: Strided<'_, T>,
    dims: &[isize],
    out: &mut [R],
    steps: Steps<S, impl Fn(S, T, usize) -> S, impl Fn(S) -> R>,
) -> Result<()> {
    let Steps { start, step, finish } = steps;
    let (kept, reduced) = split(operand.layout(), dims)?;
    let (outer, len, stride) = match (reduced.shape(), reduced.strides()) {
        ([.., len], [.., stride]) => (reduced.select(-1, 0)?, *len, *stride),
        _ => (reduced.clone(), 1, 1),
    };
    for (result, first) in out.iter_mut().zip(kept.offsets()) {
        let (mut state, mut index) = (start, 0);
        for row in outer.offsets() {
            let row = Row { first: first + row - outer.offset(), len, stride };
            state = row.fold(operand.elements(), state, |state, x, at| step(state, x, index + at));
            index += len;
        }
        *result = finish(state);
    }
    Ok(())
}

/// The elements along the last reduced dimension.
struct Row {
    first: usize,
    len: usize,
    stride: isize,
}

impl Row {
    fn fold<T: Copy, S>(&self, elements: &[T], start: S, step: impl Fn(S, T, usize) -> S) -> S {
        if self.stride == 1 {
            let row = elements[self.first..][..self.len].iter().enumerate();
            return row.fold(start, |state, (at, &element)| step(state, element, at));
        }
        let (mut state, mut offset) = (start, self.first as isize);
        for at in 0..self.len {
            state = step(state, elements[offset as usize], at);
            offset += self.stride;
        }
        state
    }
}

/// The layout of the first reduced element of each result, and that of the elements of one result.
fn split(layout: &Layout, dims: &[isize]) -> Result<(Layout, Layout)> {
    let reduced = |dim: usize| dims.contains(&(dim as isize));
    let part = |wanted: bool| {
        let chosen = (0..layout.ndim()).filter(|&dim| reduced(dim) == wanted);
        let (shape, strides): (DimVec<usize>, DimVec<isize>) =
            chosen.map(|dim| (layout.shape()[dim], layout.strides()[dim])).unzip();
        Layout::new(&shape, &strides, layout.offset())
    };
    Ok((part(false)?, part(true)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(base: &[i64], layout: &Layout, dims: &[isize], results: usize) -> Vec<i64> {
        let mut out = vec![-1; results];
        let steps = Steps { start: 0, step: |sum, x: i64, _| sum + x, finish: |sum| sum };
        reduce(Strided::new(base, layout).unwrap(), dims, &mut out, steps).unwrap();
        out
    }

    #[test]
    fn any_dimensions_of_any_layout_are_reduced() {
        let base: Vec<i64> = (0..6).collect();
        let dense = Layout::contiguous([2, 3]).unwrap();
        assert_eq!(sums(&base, &dense, &[1], 2), [3, 12]);
        assert_eq!(sums(&base, &dense, &[0], 3), [3, 5, 7]);
        assert_eq!(sums(&base, &dense, &[0, 1], 1), [15]);
        let mirrored = dense.t().unwrap().flip([0]).unwrap();
        assert_eq!(sums(&base, &mirrored, &[1], 3), [7, 5, 3]);
        assert_eq!(sums(&base, &mirrored, &[0], 2), [3, 12]);
        let repeated = Layout::new([2, 2], [0, 1], 4).unwrap();
        assert_eq!(sums(&base, &repeated, &[0], 2), [8, 10]);
    }

    #[test]
    fn an_index_counts_the_reduced_elements_in_row_major_order() {
        let base = [1, 9, 2, 3, 4, 9];
        let layout = Layout::contiguous([3, 2]).unwrap();
        let mut out = [0; 2];
        let step = |best: (i32, usize), x: i32, at| if x > best.0 { (x, at) } else { best };
        let steps = Steps { start: (0, 0), step, finish: |best: (i32, usize)| best.1 };
        reduce(Strided::new(&base, &layout).unwrap(), &[0], &mut out, steps).unwrap();
        assert_eq!(out, [2, 0]);
        reduce(Strided::new(&base, &layout).unwrap(), &[0, 1], &mut out[..1], steps).unwrap();
        assert_eq!(out[0], 1);
    }
}
