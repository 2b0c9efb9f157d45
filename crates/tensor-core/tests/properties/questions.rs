//! The queries of a layout, compared with an enumeration of its offsets.

use proptest::prelude::*;
use tensor_core::{Layout, MemoryFormat, broadcast_shapes};

use crate::naive::{Naive, layouts, usual_layouts};

pub(crate) fn any_layout() -> impl Strategy<Value = Layout> {
    prop_oneof![layouts(), usual_layouts()]
}

/// Is each offset one more than the previous one?
pub(crate) fn is_consecutive(offsets: &[i128]) -> bool {
    offsets.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// Does every offset between the lowest and the highest belong to exactly one element?
fn is_dense(naive: &Naive) -> bool {
    let mut sorted = naive.offsets.clone();
    sorted.sort_unstable();
    is_consecutive(&sorted)
}

fn has_negative_stride(layout: &Layout) -> bool {
    layout.shape().iter().zip(layout.strides()).any(|(&size, &stride)| size > 1 && stride < 0)
}

/// The strides that a view of this shape needs, found by enumeration of the offsets.
pub(crate) fn strides_for(offsets: &[i128], shape: &[usize]) -> Option<Vec<i128>> {
    let mut step = 1;
    let mut strides = vec![0; shape.len()];
    for (d, &size) in shape.iter().enumerate().rev() {
        strides[d] = if size > 1 { offsets[step] - offsets[0] } else { 0 };
        step *= size;
    }
    let steps: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
    let from_zero: Vec<i128> = offsets.iter().map(|offset| offset - offsets[0]).collect();
    (Naive::new(shape, &steps, 0).offsets == from_zero).then_some(strides)
}

/// A shape with this number of elements, of factors up to `cuts`.
pub(crate) fn reshaped(numel: usize, cuts: &[usize]) -> Vec<usize> {
    let mut remaining = numel;
    let mut shape: Vec<usize> = cuts
        .iter()
        .map(|&cut| {
            let size = (1..=cut).rev().find(|size| remaining.is_multiple_of(*size)).unwrap_or(1);
            remaining /= size;
            size
        })
        .collect();
    shape.push(remaining);
    shape
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn contiguous_means_that_logical_order_is_memory_order(layout in any_layout()) {
        prop_assert_eq!(layout.is_contiguous(), is_consecutive(&Naive::of(&layout).offsets));
        prop_assert_eq!(layout.contiguity_break().is_none(), layout.is_contiguous());
        let last_line = if layout.is_contiguous() { "\nTrue" } else { "\nFalse" };
        prop_assert!(layout.contiguity_trace().to_string().ends_with(last_line));
    }

    #[test]
    fn fortran_means_that_the_reversed_order_is_memory_order(layout in any_layout()) {
        let reversed: Vec<usize> = (0..layout.ndim()).rev().collect();
        let naive = Naive::of(&layout).reordered(&reversed);
        prop_assert_eq!(layout.is_fortran(), is_consecutive(&naive.offsets));
    }

    #[test]
    fn channels_last_means_that_the_channels_are_the_fastest(layout in any_layout()) {
        let naive = Naive::of(&layout);
        let expected = layout.ndim() == 4 && is_consecutive(&match layout.ndim() {
            4 => naive.reordered(&[0, 2, 3, 1]).offsets,
            _ => vec![],
        });
        if layout.numel() == 0 {
            return Ok(());
        }
        prop_assert_eq!(layout.is_channels_last(), expected);
    }

    #[test]
    fn dense_means_that_the_offsets_are_consecutive(layout in any_layout()) {
        let fills = is_dense(&Naive::of(&layout));
        prop_assert_eq!(layout.is_dense_signed(), fills);
        let is_reversed = layout.numel() > 0 && has_negative_stride(&layout);
        prop_assert_eq!(layout.is_dense(), fills && !is_reversed);
    }

    #[test]
    fn bounds_are_the_lowest_and_the_highest_offset(layout in any_layout()) {
        let offsets = Naive::of(&layout).offsets;
        let ends = offsets.iter().min().zip(offsets.iter().max());
        let bounds = layout.bounds().map(|(lowest, highest)| (lowest as i128, highest as i128));
        prop_assert_eq!(bounds, ends.map(|(&lowest, &highest)| (lowest, highest)));
        for len in 0..layout.bounds().map_or(3, |(_, highest)| highest + 3) {
            let fits = offsets.iter().all(|&offset| offset < len as i128);
            prop_assert_eq!(layout.check_within(len, 4).is_ok(), fits);
        }
    }

    #[test]
    fn runs_cover_the_offsets_in_order(layout in any_layout()) {
        let runs: Vec<(usize, usize)> = layout.runs().collect();
        prop_assert_eq!(layout.runs().len(), runs.len());
        let offsets = runs.iter().flat_map(|&(start, len)| start..start + len);
        let offsets: Vec<usize> = offsets.collect();
        prop_assert_eq!(offsets, layout.offsets().collect::<Vec<_>>());
        prop_assert!(runs.windows(2).all(|pair| pair[0].1 == pair[1].1));
        prop_assert!(!layout.is_contiguous() || runs.len() <= 1);
    }

    #[test]
    fn a_view_exists_exactly_if_strides_can_express_it(
        layout in any_layout(),
        cuts in prop::collection::vec(1usize..7, 0..5),
    ) {
        if layout.numel() == 0 {
            return Ok(());
        }
        let naive = Naive::of(&layout);
        let shape = reshaped(layout.numel(), &cuts);
        let sizes: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
        let view = layout.view(&sizes).ok();
        prop_assert_eq!(view.is_some(), strides_for(&naive.offsets, &shape).is_some());
        if let Some(view) = view {
            prop_assert_eq!(Naive::of(&view), Naive { shape, ..naive });
        }
    }

    #[test]
    fn a_preserved_layout_is_dense_and_keeps_the_order_in_memory(layout in any_layout()) {
        let preserved = layout.preserved().unwrap();
        prop_assert_eq!((preserved.shape(), preserved.offset()), (layout.shape(), 0));
        prop_assert!(preserved.is_dense());
        if layout.is_dense() {
            prop_assert_eq!(preserved.strides(), layout.strides());
        }
        for (a, b) in pairs_of_wide_dims(&layout) {
            let (own, new) = (layout.strides(), preserved.strides());
            if layout.numel() > 0 && own[a] != 0 && own[b] != 0 && own[a].abs() < own[b].abs() {
                prop_assert!(new[a] < new[b], "{:?} of {:?}", preserved, layout);
            }
        }
    }

    #[test]
    fn the_result_of_an_operation_is_dense_in_the_common_shape(
        a in any_layout(),
        keep in prop::collection::vec(any::<bool>(), 4),
        lead in 0usize..5,
    ) {
        let b = broadcastable_operand(&a, &keep, lead);
        let shape = broadcast_shapes(&[a.shape(), b.shape()]).unwrap();
        for result in [Layout::elementwise(&[&a, &b]), Layout::elementwise(&[&b, &a])] {
            let result = result.unwrap();
            prop_assert_eq!((result.shape(), result.offset()), (shape.as_slice(), 0));
            prop_assert!(result.is_dense());
        }
    }

    #[test]
    fn a_memory_format_is_dense_and_recognised(sizes in prop::collection::vec(1usize..5, 4..6)) {
        let format = match sizes.len() {
            4 => MemoryFormat::ChannelsLast,
            _ => MemoryFormat::ChannelsLast3d,
        };
        let layout = Layout::with_format(&sizes, format).unwrap();
        prop_assert!(layout.is_dense() && layout.is_contiguous_as(format));
        prop_assert!(is_dense(&Naive::of(&layout)));
    }
}

fn pairs_of_wide_dims(layout: &Layout) -> Vec<(usize, usize)> {
    let wide: Vec<usize> = (0..layout.ndim()).filter(|&d| layout.shape()[d] > 1).collect();
    wide.iter().flat_map(|&a| wide.iter().map(move |&b| (a, b))).collect()
}

/// A row-major operand that broadcasts with `a`: its trailing dimensions, some with size 1.
fn broadcastable_operand(a: &Layout, keep: &[bool], lead: usize) -> Layout {
    let trailing = a.shape().iter().zip(keep).skip(lead);
    let shape: Vec<usize> = trailing.map(|(&size, &keep)| if keep { size } else { 1 }).collect();
    Layout::contiguous(&shape).expect("a small shape")
}

/// As in PyTorch, flipping a dimension of size 1 does not negate its stride.
#[test]
fn flips_keep_strides_of_dimensions_of_size_one() {
    let layout = Layout::new([1, 3], [7, 1], 4).unwrap();
    assert_eq!(layout.flip([0]).unwrap(), layout);
    assert_eq!(layout.flip([0, 1]).unwrap(), Layout::new([1, 3], [7, -1], 6).unwrap());
}

#[test]
fn suggested_memory_formats() {
    use MemoryFormat::{ChannelsLast, ChannelsLast3d, Contiguous};
    for (shape, strides, expected) in [
        (vec![2, 3, 4, 5], vec![60, 20, 5, 1], Contiguous),
        (vec![2, 3, 4, 5], vec![60, 1, 15, 3], ChannelsLast),
        (vec![1, 3, 4, 5], vec![60, 1, 15, 3], ChannelsLast),
        (vec![2, 3, 4, 5, 6], vec![360, 1, 90, 18, 3], ChannelsLast3d),
        (vec![2, 3, 4, 5], vec![99, 1, 20, 4], ChannelsLast),
        (vec![4, 1, 1, 1], vec![1, 1, 1, 1], Contiguous),
        (vec![2, 3, 4, 5], vec![0, 0, 0, 0], Contiguous),
    ] {
        let layout = Layout::new(&shape, &strides, 0).unwrap();
        assert_eq!(layout.suggest_memory_format(), expected, "{shape:?} {strides:?}");
    }
}

#[test]
fn strides_in_bytes_or_overflow() {
    let rows = Layout::new([2, 3], [-4, 1], 4).unwrap();
    assert_eq!(rows.strides_in_bytes(8).unwrap().as_slice(), [-32, 8]);
    let unused = Layout::new([1], [isize::MAX / 2], 0).unwrap();
    assert!(unused.strides_in_bytes(1).is_ok() && unused.strides_in_bytes(4).is_err());
}
