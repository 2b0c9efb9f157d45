//! What the kernels are held to: an oracle of a few lines, memory that notices every stray write,
//! and all the ways to run an operation.
#![allow(dead_code, unused_imports, reason = "every test file uses its part")]

pub(crate) mod child;
mod memory;
mod ways;

use tensor_kernels::Layout;

pub(crate) use memory::{Memory, Sample};
pub(crate) use ways::{Way, levels, on_threads, ways};

/// Where the elements of a layout lie, in logical order: `offset + Σ index · stride`. This is the
/// oracle; all else follows from it.
pub(crate) fn places(layout: &Layout) -> Vec<usize> {
    places_as(layout, layout.shape())
}

/// The same for a layout that is broadcast to a shape: dimensions are aligned at the end, and one
/// of size 1 stays where it is.
pub(crate) fn places_as(layout: &Layout, shape: &[usize]) -> Vec<usize> {
    let lead = shape.len() - layout.ndim();
    let stride = |d: usize| match d.checked_sub(lead) {
        Some(own) if layout.shape()[own] == shape[d] => layout.strides()[own],
        _ => 0,
    };
    let mut places = vec![layout.offset() as isize];
    for (d, &size) in shape.iter().enumerate() {
        let along = |place| (0..size as isize).map(move |i| place + i * stride(d));
        places = places.into_iter().flat_map(along).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

/// The layout of these sizes and strides whose lowest element lies at `lead`.
pub(crate) fn strided(shape: &[usize], strides: &[isize], lead: usize) -> Layout {
    let reach = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) as isize * stride.min(0);
    let below: isize = shape.iter().zip(strides).map(reach).sum();
    Layout::new(shape, strides, lead + below.unsigned_abs()).expect("a small layout")
}

/// How many elements a buffer needs for a layout.
pub(crate) fn extent(layout: &Layout) -> usize {
    layout.bounds().map_or(0, |(_, highest)| highest + 1)
}
