//! The naive sum: nested loops over a view in logical order, a part of the view for each thread.
//!
//! Dimensions are neither reordered nor fused. The time is what strides cost code that ignores
//! them.

use rayon::prelude::*;
use tensor_kernels::{Layout, Result};

use crate::cases::sample::Sample;

/// Independent partial sums, so that additions do not depend on each other.
const ACCUMULATORS: usize = 16;

/// The sum of the view of `base`, on up to `threads` threads.
///
/// # Errors
/// None for a layout that lies within `base`.
pub fn sum<T: Sample>(base: &[T], layout: &Layout, threads: usize) -> Result<T::Sum> {
    if layout.numel() == 0 {
        return Ok(T::Sum::default());
    }
    let parts = parts(layout, threads)?;
    match parts.as_slice() {
        [whole] => sum_serial(base, whole),
        parts => {
            let sums = parts.par_iter().map(|part| sum_serial(base, part));
            sums.try_reduce(T::Sum::default, |a, b| Ok(a + b))
        }
    }
}

/// Splits a view along its first dimension of at least `threads` elements. A contiguous view is
/// split as one dimension.
fn parts(layout: &Layout, threads: usize) -> Result<Vec<Layout>> {
    let layout = if layout.is_contiguous() { layout.view([-1])? } else { layout.clone() };
    let long = layout.shape().iter().position(|&size| size >= threads);
    match long {
        Some(dim) if threads > 1 => {
            let size = layout.shape()[dim];
            let part = size.div_ceil(threads);
            let starts = (0..size).step_by(part);
            starts
                .map(|start| layout.narrow(dim as isize, start as isize, part.min(size - start)))
                .collect()
        }
        _ => Ok(vec![layout]),
    }
}

/// Sums row by row.
fn sum_serial<T: Sample>(base: &[T], layout: &Layout) -> Result<T::Sum> {
    if layout.is_contiguous() {
        return Ok(sum_slice(&base[layout.offset()..][..layout.numel()]));
    }
    let (Some(&len), Some(&stride)) = (layout.shape().last(), layout.strides().last()) else {
        return Ok(base[layout.offset()].term());
    };
    let row = |start: usize| match stride {
        1 => sum_slice(&base[start..start + len]),
        _ => sum_terms(len, |i| base[start.wrapping_add_signed(i as isize * stride)].term()),
    };
    let starts = layout.select(-1, 0)?.offsets();
    Ok(starts.map(row).fold(T::Sum::default(), |a, b| a + b))
}

fn sum_slice<T: Sample>(slice: &[T]) -> T::Sum {
    let (blocks, tail) = slice.as_chunks::<ACCUMULATORS>();
    let mut sums = [T::Sum::default(); ACCUMULATORS];
    for block in blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum = *sum + value.term();
        }
    }
    let tail = tail.iter().map(|value| value.term());
    sums.into_iter().chain(tail).fold(T::Sum::default(), |a, b| a + b)
}

fn sum_terms<S: Copy + Default + std::ops::Add<Output = S>>(
    len: usize,
    term: impl Fn(usize) -> S,
) -> S {
    let whole = len / ACCUMULATORS * ACCUMULATORS;
    let mut sums = [S::default(); ACCUMULATORS];
    for block in (0..whole).step_by(ACCUMULATORS) {
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = *sum + term(block + i);
        }
    }
    sums.into_iter().chain((whole..len).map(term)).fold(S::default(), |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use std::num::Wrapping;

    use super::*;
    use crate::measure::reference::elements;

    #[test]
    fn the_sum_is_that_of_the_elements_whatever_the_layout() {
        let base: Vec<i64> = (0..4000).map(i64::sample).collect();
        let dense = Layout::contiguous([40, 100]).unwrap();
        let layouts = [
            dense.clone(),
            dense.t().unwrap(),
            dense.narrow(1, 3, 50).unwrap(),
            dense.flip([0, 1]).unwrap(),
            dense.slice(1, tensor_kernels::Slice::new(None, None, 3)).unwrap(),
            Layout::new([40, 3, 7], [100, 0, 2], 5).unwrap(),
            Layout::new((), (), 17).unwrap(),
            Layout::new([3, 0], [1, 1], 9999).unwrap(),
        ];
        for layout in layouts {
            let expected: Wrapping<i64> = elements(&base, &layout).map(Wrapping).sum();
            for threads in [1, 2, 3] {
                assert_eq!(
                    sum(&base, &layout, threads).unwrap(),
                    expected,
                    "{layout:?}, {threads} threads"
                );
            }
        }
    }
}
