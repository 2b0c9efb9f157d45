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
pub enum Kind {
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

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 23] = {
        use Length::{Long, Middle, Short, VeryLong};
        [
            Kind::Rows(Short),
            Kind::Rows(Middle),
            Kind::Rows(Long),
            Kind::Rows(VeryLong),
            Kind::PermutedRows(Short),
            Kind::PermutedRows(Middle),
            Kind::PermutedRows(Long),
            Kind::PermutedRows(VeryLong),
            Kind::ReversedRows,
            Kind::BroadcastRows,
            Kind::BroadcastElement,
            Kind::Reversed,
            Kind::Strided(Step::Two),
            Kind::Strided(Step::Four),
            Kind::Strided(Step::Line),
            Kind::Strided(Step::Far),
            Kind::Transposed,
            Kind::TransposedPageStride,
            Kind::BatchedTranspose,
            Kind::PermutedTranspose,
            Kind::Interleaved,
            Kind::Deinterleaved,
            Kind::StridedTranspose,
        ]
    };

    /// The kind of a view of elements of `width` bytes; `None` for a contiguous one.
    pub fn of(layout: &Layout, width: usize) -> Option<Kind> {
        if layout.is_contiguous() {
            return None;
        }
        let dims = fused(layout);
        let (last, outer) = dims.split_last()?;
        Some(match last.stride {
            1 => rows(last.size * width, outer),
            0 => Kind::BroadcastElement,
            -1 => Kind::Reversed,
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

fn rows(bytes: usize, outer: &[Dim]) -> Kind {
    let length = match bytes {
        0..=64 => Length::Short,
        65..=160 => Length::Middle,
        161..=1024 => Length::Long,
        _ => Length::VeryLong,
    };
    match in_order(&outer.iter().collect::<Vec<_>>()) {
        _ if outer.iter().any(|dim| dim.stride == 0) => Kind::BroadcastRows,
        _ if outer.iter().any(|dim| dim.stride < 0) => Kind::ReversedRows,
        true => Kind::Rows(length),
        false => Kind::PermutedRows(length),
    }
}

fn transposed(last: &Dim, adjacent: &Dim, outer: &[Dim], width: usize) -> Kind {
    let around = outer.iter().filter(|dim| *dim != adjacent).chain([last]);
    let batches = in_order(&around.collect::<Vec<_>>());
    let apart = last.stride.unsigned_abs() * width;
    match (last.size, adjacent.size) {
        (inner, _) if inner <= SHORT_SIDE => Kind::Interleaved,
        (_, side) if side <= SHORT_SIDE => Kind::Deinterleaved,
        _ if !batches => Kind::PermutedTranspose,
        (inner, side) if outer.len() > 1 && inner.min(side) <= SHORT_BATCH_SIDE => {
            Kind::BatchedTranspose
        }
        _ if apart.is_multiple_of(PAGE_BYTES) => Kind::TransposedPageStride,
        _ => Kind::Transposed,
    }
}

fn strided(last: &Dim, outer: &[Dim], width: usize) -> Kind {
    let step = last.stride.unsigned_abs();
    let nearer = |dim: &Dim| dim.stride != 0 && dim.stride.unsigned_abs() < step;
    match step {
        _ if outer.iter().any(nearer) => Kind::StridedTranspose,
        2 => Kind::Strided(Step::Two),
        3 | 4 => Kind::Strided(Step::Four),
        _ if step * width <= CACHE_LINE_BYTES => Kind::Strided(Step::Line),
        _ => Kind::Strided(Step::Far),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::layouts::LAYOUTS;

    fn kind(shape: &[usize], strides: &[isize]) -> Option<Kind> {
        let backwards = |(&size, &stride): (&usize, &isize)| {
            if stride < 0 { (size - 1) * stride.unsigned_abs() } else { 0 }
        };
        let offset = shape.iter().zip(strides).map(backwards).sum();
        Kind::of(&Layout::new(shape, strides, offset).unwrap(), 4)
    }

    #[test]
    fn the_layouts_people_meet_have_their_kinds() {
        let kinds = LAYOUTS.iter().map(|case| {
            let operand = case.operand(false).unwrap();
            Kind::of(&operand.layout, case.dtype.size())
        });
        let expected = [
            Some(Kind::Deinterleaved),
            Some(Kind::Interleaved),
            Some(Kind::BatchedTranspose),
            Some(Kind::PermutedRows(Length::Long)),
            Some(Kind::TransposedPageStride),
            Some(Kind::Rows(Length::VeryLong)),
            Some(Kind::Strided(Step::Two)),
            Some(Kind::Reversed),
            Some(Kind::BroadcastElement),
            Some(Kind::PermutedTranspose),
            None,
        ];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn dimensions_that_continue_each_other_are_one() {
        assert_eq!(kind(&[4, 8, 16], &[128, 16, 1]), None);
        assert_eq!(kind(&[9, 1, 2, 8], &[32, 7, 8, 1]), Some(Kind::Rows(Length::Short)));
        assert_eq!(kind(&[16, 3, 5], &[1, 80, 16]), kind(&[16, 15], &[1, 16]));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn rows_as_far_apart_as_addresses_reach_are_still_two() {
        let (rows, apart) = (3_037_000_499, 3_037_000_498 * 3_037_000_499);
        let layout = Layout::new(&[rows, 2], &[1, apart], 0).unwrap();
        assert_eq!(Kind::of(&layout, 1), Some(Kind::Interleaved));
    }

    #[test]
    fn steps_and_lengths_have_limits() {
        let strided = |step| kind(&[8, 100], &[100 * step, step]);
        let kinds = [2, 3, 4, 5, 16, 17].map(|step| strided(step).unwrap());
        let expected = [Step::Two, Step::Four, Step::Four, Step::Line, Step::Line, Step::Far];
        assert_eq!(kinds, expected.map(Kind::Strided));
        let rows = |len: usize| kind(&[3, len], &[2 * len as isize, 1]).unwrap();
        let kinds = [16, 17, 40, 41, 256, 257].map(rows);
        let (short, middle, long) = (Length::Short, Length::Middle, Length::Long);
        let expected = [short, middle, middle, long, long, Length::VeryLong];
        assert_eq!(kinds, expected.map(Kind::Rows));
    }

    #[test]
    fn transposed_views_differ_in_cache_behaviour() {
        assert_eq!(kind(&[1000, 1000], &[1, 1000]), Some(Kind::Transposed));
        assert_eq!(kind(&[1024, 1000], &[1, 1024]), Some(Kind::TransposedPageStride));
        assert_eq!(kind(&[3, 1000], &[1, 3]), Some(Kind::Deinterleaved));
        assert_eq!(kind(&[1000, 3], &[1, 1000]), Some(Kind::Interleaved));
        assert_eq!(kind(&[500, 100], &[2, 1000]), Some(Kind::StridedTranspose));
        assert_eq!(kind(&[5, 4, 3], &[0, 3, 1]), Some(Kind::BroadcastRows));
        assert_eq!(kind(&[5, 4, 3], &[12, -3, 1]), Some(Kind::ReversedRows));
    }
}
