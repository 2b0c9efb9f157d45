//! The kind of a view: its access pattern. Size, element width and kind determine the costs.
//!
//! A copy and an elementwise operation read the view in the order of the row-major result. The kind
//! says with which stride, for how many elements, and what the outer dimensions do. Kinds are
//! coarse on purpose: a probe is measured for each (`probe`), and a finer table would take longer
//! than measuring the view itself.

use serde::{Deserialize, Serialize};
use tensor_kernels::Layout;

/// How a view is read in row-major order. Contiguous views have no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    /// Unit stride within rows, rows in memory order.
    Rows(Length),
    /// Unit stride within rows, outer dimensions permuted.
    PermutedRows(Length),
    /// Unit stride within rows, an outer dimension reversed.
    ReversedRows,
    /// Unit stride within rows, an outer dimension expanded.
    BroadcastRows,
    /// The last dimension expanded.
    BroadcastElement,
    /// Stride -1 within rows.
    Reversed,
    /// A larger stride within rows.
    Strided(Step),
    /// Unit stride along another dimension than the last, both long.
    Transposed,
    /// The same with a stride of a multiple of 4096 bytes, so that rows map to few sets of a cache.
    TransposedPageStride,
    /// Many transposes with a short side, in memory order.
    BatchedTranspose,
    /// Many transposes, outer dimensions permuted.
    PermutedTranspose,
    /// Up to 8 elements in the last dimension, far apart: planes to pixels.
    Interleaved,
    /// Up to 8 elements in the unit-stride dimension: pixels to planes.
    Deinterleaved,
    /// No unit stride, and the smallest stride is not in the last dimension.
    StridedTranspose,
}

/// The length of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Up to 64 bytes.
    Short,
    /// Up to 160 bytes.
    Middle,
    /// Up to 1024 bytes.
    Long,
    /// More.
    VeryLong,
}

/// The stride of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Two elements.
    Two,
    /// Three or four.
    Four,
    /// Up to a cache line.
    Line,
    /// More.
    Far,
}

/// The bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// Rows at a multiple of this distance map to the same sets of a cache.
const PAGE_BYTES: usize = 4096;

/// The longest short side of an interleave, in elements.
const SHORT_SIDE: usize = 8;

/// The longest short side of a batched transpose, in elements.
const SHORT_BATCH_SIDE: usize = 256;

impl ViewKind {
    /// Every kind.
    pub const ALL: [ViewKind; 23] = {
        use Length::{Long, Middle, Short, VeryLong};
        [
            ViewKind::Rows(Short),
            ViewKind::Rows(Middle),
            ViewKind::Rows(Long),
            ViewKind::Rows(VeryLong),
            ViewKind::PermutedRows(Short),
            ViewKind::PermutedRows(Middle),
            ViewKind::PermutedRows(Long),
            ViewKind::PermutedRows(VeryLong),
            ViewKind::ReversedRows,
            ViewKind::BroadcastRows,
            ViewKind::BroadcastElement,
            ViewKind::Reversed,
            ViewKind::Strided(Step::Two),
            ViewKind::Strided(Step::Four),
            ViewKind::Strided(Step::Line),
            ViewKind::Strided(Step::Far),
            ViewKind::Transposed,
            ViewKind::TransposedPageStride,
            ViewKind::BatchedTranspose,
            ViewKind::PermutedTranspose,
            ViewKind::Interleaved,
            ViewKind::Deinterleaved,
            ViewKind::StridedTranspose,
        ]
    };

    /// The kind of a view of elements of `width` bytes; `None` for a contiguous one.
    pub fn of(layout: &Layout, width: usize) -> Option<ViewKind> {
        if layout.is_contiguous() {
            return None;
        }
        let dims = fused(layout);
        let (last, outer) = dims.split_last()?;
        Some(match last.stride {
            1 => rows(last.size * width, outer),
            0 => ViewKind::BroadcastElement,
            -1 => ViewKind::Reversed,
            _ => match outer.iter().find(|dim| dim.stride.unsigned_abs() == 1) {
                Some(adjacent) => transposed(last, adjacent, outer, width),
                None => strided(last, outer, width),
            },
        })
    }
}

/// One dimension, or several fused ones.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim {
    size: usize,
    stride: isize,
}

/// The dimensions of a layout in row-major order, fused where possible, without those of size 1.
fn fused(layout: &Layout) -> Vec<Dim> {
    let mut dims: Vec<Dim> = Vec::new();
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        match dims.last_mut() {
            _ if size == 1 => {}
            // If the product overflows, the dimensions cannot be fused.
            Some(before) if Some(before.stride) == stride.checked_mul(size as isize) => {
                *before = Dim { size: before.size * size, stride };
            }
            _ => dims.push(Dim { size, stride }),
        }
    }
    dims
}

fn in_order(dims: &[&Dim]) -> bool {
    dims.windows(2).all(|pair| pair[0].stride.unsigned_abs() >= pair[1].stride.unsigned_abs())
}

fn rows(bytes: usize, outer: &[Dim]) -> ViewKind {
    let length = match bytes {
        0..=64 => Length::Short,
        65..=160 => Length::Middle,
        161..=1024 => Length::Long,
        _ => Length::VeryLong,
    };
    match in_order(&outer.iter().collect::<Vec<_>>()) {
        _ if outer.iter().any(|dim| dim.stride == 0) => ViewKind::BroadcastRows,
        _ if outer.iter().any(|dim| dim.stride < 0) => ViewKind::ReversedRows,
        true => ViewKind::Rows(length),
        false => ViewKind::PermutedRows(length),
    }
}

fn transposed(last: &Dim, adjacent: &Dim, outer: &[Dim], width: usize) -> ViewKind {
    let around = outer.iter().filter(|dim| *dim != adjacent).chain([last]);
    let batches = in_order(&around.collect::<Vec<_>>());
    let apart = last.stride.unsigned_abs() * width;
    match (last.size, adjacent.size) {
        (inner, _) if inner <= SHORT_SIDE => ViewKind::Interleaved,
        (_, side) if side <= SHORT_SIDE => ViewKind::Deinterleaved,
        _ if !batches => ViewKind::PermutedTranspose,
        (inner, side) if outer.len() > 1 && inner.min(side) <= SHORT_BATCH_SIDE => {
            ViewKind::BatchedTranspose
        }
        _ if apart.is_multiple_of(PAGE_BYTES) => ViewKind::TransposedPageStride,
        _ => ViewKind::Transposed,
    }
}

fn strided(last: &Dim, outer: &[Dim], width: usize) -> ViewKind {
    let step = last.stride.unsigned_abs();
    let nearer = |dim: &Dim| dim.stride != 0 && dim.stride.unsigned_abs() < step;
    match step {
        _ if outer.iter().any(nearer) => ViewKind::StridedTranspose,
        2 => ViewKind::Strided(Step::Two),
        3 | 4 => ViewKind::Strided(Step::Four),
        _ if step * width <= CACHE_LINE_BYTES => ViewKind::Strided(Step::Line),
        _ => ViewKind::Strided(Step::Far),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::layouts::LAYOUTS;

    fn kind(shape: &[usize], strides: &[isize]) -> Option<ViewKind> {
        let backwards = |(&size, &stride): (&usize, &isize)| {
            if stride < 0 { (size - 1) * stride.unsigned_abs() } else { 0 }
        };
        let offset = shape.iter().zip(strides).map(backwards).sum();
        ViewKind::of(&Layout::new(shape, strides, offset).unwrap(), 4)
    }

    #[test]
    fn the_layouts_people_meet_have_their_kinds() {
        let kinds = LAYOUTS.iter().map(|case| {
            let operand = case.operand(false).unwrap();
            ViewKind::of(&operand.layout, case.dtype.size())
        });
        let expected = [
            Some(ViewKind::Deinterleaved),
            Some(ViewKind::Interleaved),
            Some(ViewKind::BatchedTranspose),
            Some(ViewKind::PermutedRows(Length::Long)),
            Some(ViewKind::TransposedPageStride),
            Some(ViewKind::Rows(Length::VeryLong)),
            Some(ViewKind::Strided(Step::Two)),
            Some(ViewKind::Reversed),
            Some(ViewKind::BroadcastElement),
            Some(ViewKind::PermutedTranspose),
            None,
        ];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn dimensions_that_continue_each_other_are_one() {
        assert_eq!(kind(&[4, 8, 16], &[128, 16, 1]), None);
        assert_eq!(kind(&[9, 1, 2, 8], &[32, 7, 8, 1]), Some(ViewKind::Rows(Length::Short)));
        assert_eq!(kind(&[16, 3, 5], &[1, 80, 16]), kind(&[16, 15], &[1, 16]));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn rows_as_far_apart_as_addresses_reach_are_still_two() {
        let rows = 3_037_000_499_isize;
        let apart = (rows - 1) * rows;
        let layout = Layout::new([rows, 2], [1, apart], 0).unwrap();
        assert_eq!(ViewKind::of(&layout, 1), Some(ViewKind::Interleaved));
    }

    #[test]
    fn steps_and_lengths_have_limits() {
        let strided = |step| kind(&[8, 100], &[100 * step, step]);
        let kinds = [2, 3, 4, 5, 16, 17].map(|step| strided(step).unwrap());
        let expected = [Step::Two, Step::Four, Step::Four, Step::Line, Step::Line, Step::Far];
        assert_eq!(kinds, expected.map(ViewKind::Strided));
        let rows = |len: usize| kind(&[3, len], &[2 * len as isize, 1]).unwrap();
        let kinds = [16, 17, 40, 41, 256, 257].map(rows);
        let (short, middle, long) = (Length::Short, Length::Middle, Length::Long);
        let expected = [short, middle, middle, long, long, Length::VeryLong];
        assert_eq!(kinds, expected.map(ViewKind::Rows));
    }

    #[test]
    fn transposed_views_differ_in_cache_behaviour() {
        assert_eq!(kind(&[1000, 1000], &[1, 1000]), Some(ViewKind::Transposed));
        assert_eq!(kind(&[1024, 1000], &[1, 1024]), Some(ViewKind::TransposedPageStride));
        assert_eq!(kind(&[3, 1000], &[1, 3]), Some(ViewKind::Deinterleaved));
        assert_eq!(kind(&[1000, 3], &[1, 1000]), Some(ViewKind::Interleaved));
        assert_eq!(kind(&[500, 100], &[2, 1000]), Some(ViewKind::StridedTranspose));
        assert_eq!(kind(&[5, 4, 3], &[0, 3, 1]), Some(ViewKind::BroadcastRows));
        assert_eq!(kind(&[5, 4, 3], &[12, -3, 1]), Some(ViewKind::ReversedRows));
    }
}
