//! What kind of view a layout is: what its cost depends on, beside its size and the width of an element.
//!
//! A copy and an elementwise operation both read the view in the order of a row-major result. So what counts is how the view steps while the
//! result moves to its next place, how far that goes on, and what comes then. Kinds are coarse on purpose: each is measured by a probe that stands
//! for all of its layouts (`probe`), and a finer table would take longer than measuring the view itself.

use serde::{Deserialize, Serialize};
use tensor_kernels::Layout;

/// How a view is read in row-major order. Contiguous views are of no kind: there is nothing to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Adjacent elements in rows, of so many bytes …
    Rows(Length),
    /// … that lie in another order than they are read.
    RowsOutOfOrder(Length),
    /// Rows that lie in reverse order.
    RowsUpsideDown,
    /// Rows that are read again and again: an expanded dimension around adjacent elements.
    RowsRepeated,
    /// One element, read again and again.
    Same,
    /// Adjacent elements, backwards.
    Backwards,
    /// Every so-manyth element.
    Thinned(Step),
    /// Adjacent along another dimension than the result, both long …
    Turned,
    /// … with rows whose distance is a multiple of 4096 bytes, so that they meet in few sets of a cache.
    TurnedInStep,
    /// Many of such with a short side, one after the other.
    TurnedBatches,
    /// Pieces of such, in another order than they lie.
    TurnedPieces,
    /// A few elements at a time from each of a few places: planes to pixels.
    Woven,
    /// Every third or fourth element from the place where the last ones were: pixels to planes.
    Unwoven,
    /// Not adjacent along any dimension, and nearest along another than the result.
    TurnedAndThinned,
}

/// How long rows are.
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

/// How far elements are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Two elements.
    Two,
    /// Three or four.
    Four,
    /// Up to a line of a cache.
    Line,
    /// More.
    Far,
}

/// The bytes of a line of a cache.
const LINE: usize = 64;

/// Rows this far apart, or a multiple of it, meet in the same sets of a cache.
const PAGE: usize = 4096;

/// A side of this many elements or fewer is short: few lines serve many elements.
const WEAVE: usize = 8;

/// A side of this many elements or fewer is short for a batch.
const PIECE: usize = 256;

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 23] = {
        use Length::{Long, Middle, Short, VeryLong};
        [
            Kind::Rows(Short),
            Kind::Rows(Middle),
            Kind::Rows(Long),
            Kind::Rows(VeryLong),
            Kind::RowsOutOfOrder(Short),
            Kind::RowsOutOfOrder(Middle),
            Kind::RowsOutOfOrder(Long),
            Kind::RowsOutOfOrder(VeryLong),
            Kind::RowsUpsideDown,
            Kind::RowsRepeated,
            Kind::Same,
            Kind::Backwards,
            Kind::Thinned(Step::Two),
            Kind::Thinned(Step::Four),
            Kind::Thinned(Step::Line),
            Kind::Thinned(Step::Far),
            Kind::Turned,
            Kind::TurnedInStep,
            Kind::TurnedBatches,
            Kind::TurnedPieces,
            Kind::Woven,
            Kind::Unwoven,
            Kind::TurnedAndThinned,
        ]
    };

    /// The kind of a view of elements of so many bytes; `None` for a contiguous one.
    pub fn of(layout: &Layout, width: usize) -> Option<Kind> {
        if layout.is_contiguous() {
            return None;
        }
        let dims = fused(layout);
        let (last, outer) = dims.split_last()?;
        Some(match last.stride {
            1 => rows(last.size * width, outer),
            0 => Kind::Same,
            -1 => Kind::Backwards,
            _ => match outer.iter().find(|dim| dim.stride.unsigned_abs() == 1) {
                Some(adjacent) => turned(last, adjacent, outer, width),
                None => thinned(last, outer, width),
            },
        })
    }
}

/// Dimensions that can be walked as one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim {
    size: usize,
    stride: isize,
}

/// What a layout is once dimensions are joined that continue each other: what the order of a row-major result leaves of it.
fn fused(layout: &Layout) -> Vec<Dim> {
    let mut dims: Vec<Dim> = Vec::new();
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        match dims.last_mut() {
            _ if size == 1 => {}
            // A product beyond the largest stride is no stride.
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
        _ if outer.iter().any(|dim| dim.stride == 0) => Kind::RowsRepeated,
        _ if outer.iter().any(|dim| dim.stride < 0) => Kind::RowsUpsideDown,
        true => Kind::Rows(length),
        false => Kind::RowsOutOfOrder(length),
    }
}

fn turned(last: &Dim, adjacent: &Dim, outer: &[Dim], width: usize) -> Kind {
    let around = outer.iter().filter(|dim| *dim != adjacent).chain([last]);
    let batches = in_order(&around.collect::<Vec<_>>());
    let apart = last.stride.unsigned_abs() * width;
    match (last.size, adjacent.size) {
        (inner, _) if inner <= WEAVE => Kind::Woven,
        (_, side) if side <= WEAVE => Kind::Unwoven,
        _ if !batches => Kind::TurnedPieces,
        (inner, side) if outer.len() > 1 && inner.min(side) <= PIECE => Kind::TurnedBatches,
        _ if apart.is_multiple_of(PAGE) => Kind::TurnedInStep,
        _ => Kind::Turned,
    }
}

fn thinned(last: &Dim, outer: &[Dim], width: usize) -> Kind {
    let step = last.stride.unsigned_abs();
    let nearer = |dim: &Dim| dim.stride != 0 && dim.stride.unsigned_abs() < step;
    match step {
        _ if outer.iter().any(nearer) => Kind::TurnedAndThinned,
        2 => Kind::Thinned(Step::Two),
        3 | 4 => Kind::Thinned(Step::Four),
        _ if step * width <= LINE => Kind::Thinned(Step::Line),
        _ => Kind::Thinned(Step::Far),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::LAYOUTS;

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
            Some(Kind::Unwoven),
            Some(Kind::Woven),
            Some(Kind::TurnedBatches),
            Some(Kind::RowsOutOfOrder(Length::Long)),
            Some(Kind::TurnedInStep),
            Some(Kind::Rows(Length::VeryLong)),
            Some(Kind::Thinned(Step::Two)),
            Some(Kind::Backwards),
            Some(Kind::Same),
            Some(Kind::TurnedPieces),
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
        assert_eq!(Kind::of(&layout, 1), Some(Kind::Woven));
    }

    #[test]
    fn steps_and_lengths_have_limits() {
        let thinned = |step| kind(&[8, 100], &[100 * step, step]);
        let kinds = [2, 3, 4, 5, 16, 17].map(|step| thinned(step).unwrap());
        let expected = [Step::Two, Step::Four, Step::Four, Step::Line, Step::Line, Step::Far];
        assert_eq!(kinds, expected.map(Kind::Thinned));
        let rows = |len: usize| kind(&[3, len], &[2 * len as isize, 1]).unwrap();
        let kinds = [16, 17, 40, 41, 256, 257].map(rows);
        let (short, middle, long) = (Length::Short, Length::Middle, Length::Long);
        let expected = [short, middle, middle, long, long, Length::VeryLong];
        assert_eq!(kinds, expected.map(Kind::Rows));
    }

    #[test]
    fn turned_views_differ_in_what_meets_in_a_cache() {
        assert_eq!(kind(&[1000, 1000], &[1, 1000]), Some(Kind::Turned));
        assert_eq!(kind(&[1024, 1000], &[1, 1024]), Some(Kind::TurnedInStep));
        assert_eq!(kind(&[3, 1000], &[1, 3]), Some(Kind::Unwoven));
        assert_eq!(kind(&[1000, 3], &[1, 1000]), Some(Kind::Woven));
        assert_eq!(kind(&[500, 100], &[2, 1000]), Some(Kind::TurnedAndThinned));
        assert_eq!(kind(&[5, 4, 3], &[0, 3, 1]), Some(Kind::RowsRepeated));
        assert_eq!(kind(&[5, 4, 3], &[12, -3, 1]), Some(Kind::RowsUpsideDown));
    }
}
