//! Shared by the tests of kernels: an oracle of a few lines, memory that detects every stray write,
//! and the configurations to run an operation in.
#![allow(dead_code, unused_imports, reason = "every test program uses a part of this")]

pub(crate) mod child;
mod copy_cases;
mod every_candidate;
mod memory;
mod run_configs;

use tensor_kernels::Layout;

pub(crate) use copy_cases::{CASES, Case};
pub(crate) use every_candidate::check_candidates;
pub(crate) use memory::{Memory, Sample};
pub(crate) use run_configs::{RunConfig, levels, on_threads, run_configs};

/// The offsets of the elements of a layout, in logical order: `offset + Σ index · stride`. This is
/// the oracle; the expected results follow from it.
pub(crate) fn offsets_of(layout: &Layout) -> Vec<usize> {
    broadcast_offsets(layout, layout.shape())
}

/// The elements of a layout of a slice, in logical order.
pub(crate) fn values_of<T: Copy>(elements: &[T], layout: &Layout) -> Vec<T> {
    offsets_of(layout).into_iter().map(|offset| elements[offset]).collect()
}

/// [`offsets_of`] for a layout that is broadcast to a shape: dimensions are aligned at the end, and
/// those of size 1 get stride 0.
pub(crate) fn broadcast_offsets(layout: &Layout, shape: &[usize]) -> Vec<usize> {
    let lead = shape.len() - layout.ndim();
    let stride = |d: usize| match d.checked_sub(lead) {
        Some(own) if layout.shape()[own] == shape[d] => layout.strides()[own],
        _ => 0,
    };
    let mut offsets = vec![layout.offset() as isize];
    for (d, &size) in shape.iter().enumerate() {
        let (stride, mut along) = (stride(d), Vec::with_capacity(offsets.len() * size));
        for offset in offsets {
            for i in 0..size as isize {
                along.push(offset + i * stride);
            }
        }
        offsets = along;
    }
    offsets.into_iter().map(|offset| offset as usize).collect()
}

/// The layout of these sizes and strides whose lowest offset is `lead`.
pub(crate) fn strided(shape: &[usize], strides: &[isize], lead: usize) -> Layout {
    let reach = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) as isize * stride.min(0);
    let below: isize = shape.iter().zip(strides).map(reach).sum();
    Layout::new(shape, strides, lead + below.unsigned_abs()).expect("a small layout")
}

/// Sizes and strides of dimensions in any order of memory. Of each dimension these are given: its
/// size, where it comes in that order (the innermost first), and 0 if its indices descend, 1 if a
/// gap follows it.
pub(crate) fn ordered(dims: &[(usize, u8, u8)]) -> (Vec<usize>, Vec<isize>) {
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|&d| dims[d].1);
    let (mut shape, mut strides) = (vec![0; dims.len()], vec![0; dims.len()]);
    let mut stride = 1;
    for d in order {
        let (size, _, kind) = dims[d];
        shape[d] = size;
        strides[d] = if kind == 0 { -stride } else { stride };
        stride *= size as isize + isize::from(kind == 1);
    }
    (shape, strides)
}

/// The number of elements of the smallest buffer for a layout.
pub(crate) fn extent(layout: &Layout) -> usize {
    layout.bounds().map_or(0, |(_, highest)| highest + 1)
}
