//! A witness that shows why an overlap does harm: two different indices.
//!
//! An operation that writes over its operand at the same index does no harm. Where an operand and
//! an output of one shape share elements, the witness should be an element that the output
//! overwrites at one index while the operand is read at another. Two indices differ in some
//! dimension, and there some cut has one of them on each side, so the pair is looked for in the
//! parts of the two layouts on opposite sides of a cut.

use super::{Lattice, Overlap, pair_overlap};
use crate::Layout;

/// The cuts that are tried, two searches each: this happens only for the text of an error.
const MOST_CUTS: usize = 64;

/// The search nodes of each search.
const BUDGET: u64 = 1 << 10;

impl Layout {
    /// The overlap that was found of this layout and another, with different indices if there are
    /// such.
    pub(crate) fn harmful(&self, other: &Layout, found: Overlap) -> Overlap {
        match &found {
            Overlap::Yes { first, second } if first == second => {
                self.differing_overlap(other).unwrap_or(found)
            }
            _ => found,
        }
    }

    /// An index of this layout and a different one of another layout of the same shape that reach
    /// the same element, if such a pair is found soon.
    fn differing_overlap(&self, other: &Layout) -> Option<Overlap> {
        if self.shape != other.shape {
            return None;
        }
        let cuts = (0..self.ndim()).flat_map(|dim| cuts(self.shape[dim]).map(move |at| (dim, at)));
        cuts.take(MOST_CUTS).find_map(|(dim, at)| {
            let across = |below, above| self.across(other, dim, at, (below, above));
            across(Side::Below, Side::Above).or_else(|| across(Side::Above, Side::Below))
        })
    }

    /// An overlap of the part of this layout on one side of a cut with the part of the other layout
    /// on another side.
    fn across(
        &self,
        other: &Layout,
        dim: usize,
        at: usize,
        sides: (Side, Side),
    ) -> Option<Overlap> {
        let (own, own_start) = self.part(dim, at, sides.0)?;
        let (other, other_start) = other.part(dim, at, sides.1)?;
        match pair_overlap(lattice(&own), lattice(&other), BUDGET) {
            Overlap::Yes { mut first, mut second } => {
                first[dim] += own_start;
                second[dim] += other_start;
                Some(Overlap::Yes { first, second })
            }
            Overlap::No | Overlap::TooHard => None,
        }
    }

    /// The part on one side of a cut, and the index at which it starts.
    fn part(&self, dim: usize, at: usize, side: Side) -> Option<(Layout, usize)> {
        let (start, len) = match side {
            Side::Below => (0, at),
            Side::Above => (at, self.shape[dim] - at),
        };
        let part = self.narrow(dim as isize, start as isize, len).ok()?;
        Some((part, start))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Below,
    Above,
}

/// Cuts of a dimension: behind the first index, which gives small indices, then ever finer ones.
fn cuts(size: usize) -> impl Iterator<Item = usize> {
    let halvings = (1..usize::BITS).map(move |level| (size >> level, level));
    let finer = halvings.take_while(|&(length, _)| length > 0).flat_map(move |(length, level)| {
        (0..1usize << (level - 1)).map(move |part| length * (2 * part + 1))
    });
    (size > 1).then_some(1).into_iter().chain(finer.filter(move |&at| at > 1 && at < size))
}

fn lattice(layout: &Layout) -> Lattice<'_> {
    Lattice { shape: layout.shape(), strides: layout.strides(), offset: layout.offset() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
        Layout::new(shape, strides, offset).unwrap()
    }

    #[test]
    fn the_two_indices_differ_and_reach_one_element() {
        let table = [
            (layout(&[3, 3], &[1, 3], 0), layout(&[3, 3], &[3, 1], 0)),
            (layout(&[300, 300], &[1, 300], 0), layout(&[300, 300], &[300, 1], 0)),
            (layout(&[5], &[-1], 4), layout(&[5], &[1], 0)),
            (layout(&[8], &[1], 0), layout(&[8], &[1], 1)),
            // Only the ends overlap.
            (layout(&[6], &[1], 0), layout(&[6], &[1], 5)),
            // A square beside its transpose, with one column in common.
            (layout(&[4, 4], &[1, 8], 3), layout(&[4, 4], &[8, 1], 0)),
        ];
        for (a, b) in table {
            let Some(Overlap::Yes { first, second }) = a.differing_overlap(&b) else {
                panic!("{a:?} {b:?}")
            };
            assert_ne!(first, second);
            assert_eq!(a.offset_of(&first).unwrap(), b.offset_of(&second).unwrap());
        }
    }

    #[test]
    fn what_is_shared_at_the_same_index_only_has_no_such_pair() {
        // 0 of both, and no other element: 3 and 4 do not meet below 12.
        assert_eq!(layout(&[3], &[3], 0).differing_overlap(&layout(&[3], &[4], 0)), None);
        assert_eq!(layout(&[3], &[1], 0).differing_overlap(&layout(&[1, 3], &[3, 1], 0)), None);
        let large = layout(&[1 << 40], &[2], 0);
        assert_eq!(large.differing_overlap(&layout(&[1 << 40], &[2], 1)), None);
    }

    #[test]
    fn every_small_dimension_is_cut_everywhere() {
        for size in 0..70 {
            let cut: BTreeSet<usize> = cuts(size).collect();
            assert!(cut.iter().all(|&at| 0 < at && at < size), "{size}: {cut:?}");
        }
        assert_eq!(cuts(8).take(3).collect::<Vec<_>>(), [1, 4, 2]);
        assert_eq!(cuts(8).collect::<BTreeSet<_>>().len(), 7);
    }
}
