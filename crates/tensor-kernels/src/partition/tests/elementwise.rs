//! Parts of elementwise operations.

use tensor_core::Layout;

use super::{CUT_ALIGNMENT_ELEMENTS, Divisible, PAIRS, Split, Visits, layout, leaf_parts, walk};
use crate::{
    exec::Machine,
    plan::{ElementwiseWork, EqualResults},
};

impl<const N: usize> Visits<N> for ElementwiseWork<N> {
    fn visits(&self) -> Vec<[isize; N]> {
        let all = [&self.outer[..], &[self.rows, self.columns]].concat();
        walk(self.starts, &all)
    }
}

#[test]
fn parts_of_an_elementwise_operation_are_the_operation() {
    for &(shape, from, to) in PAIRS {
        let (a, out) = (layout(shape, from), layout(shape, to));
        let b = Layout::contiguous(shape).unwrap();
        let whole = ElementwiseWork::plan(
            [&out, &a, &b],
            [4, 1, 8],
            EqualResults::Copied,
            &Machine::REFERENCE,
        );
        for part in leaf_parts(&whole) {
            assert!(
                part.columns.len <= CUT_ALIGNMENT_ELEMENTS,
                "{whole} leaves a large part: {part}"
            );
            assert!(part.rows.len <= CUT_ALIGNMENT_ELEMENTS, "{whole} leaves a large part: {part}");
            let is_one_tile = match &part.tile {
                Some(tile) => part.outer.iter().zip(&tile.counts).all(|(l, &count)| l.len <= count),
                None => part.outer.iter().all(|l| l.len == 1),
            };
            assert!(is_one_tile, "{whole} leaves {part}");
        }
    }
}

/// A few long rows are cut into as many parts as many short ones.
#[test]
fn a_few_rows_are_cut_too() {
    for shape in [[2, 100_000], [3, 70_000], [64, 4_000], [70_000, 3]] {
        let out = Layout::contiguous(shape).unwrap();
        let row = layout(&shape, &[0, 1]);
        let whole = ElementwiseWork::plan(
            [&out, &out, &row],
            [4; 3],
            EqualResults::Copied,
            &Machine::REFERENCE,
        );
        let mut leaf_parts = vec![whole];
        for _ in 0..4 {
            leaf_parts = leaf_parts
                .iter()
                .flat_map(|part| Split::of(part).expect("large").apply(part))
                .collect();
        }
        let (least, most) = (
            leaf_parts.iter().map(Divisible::bytes).min(),
            leaf_parts.iter().map(Divisible::bytes).max(),
        );
        assert!(most < least.map(|bytes| 4 * bytes), "{shape:?}: {least:?} to {most:?} bytes");
    }
}

/// A tile may be all of an operation that several threads are worth.
#[test]
fn a_single_tile_is_cut_too() {
    let shape = [13, 11, 7, 6, 5];
    let (out, input) = (Layout::contiguous(shape).unwrap(), layout(&shape, &[4, 2, 0, 3, 1]));
    let whole =
        ElementwiseWork::plan([&out, &input], [4; 2], EqualResults::Copied, &Machine::REFERENCE);
    let tile = whole.tile.clone().expect("computed by tiles");
    assert!(whole.outer.iter().zip(&tile.counts).all(|(l, &count)| l.len <= count), "{whole}");
    let halves = Split::of(&whole).expect("120 KB").apply(&whole);
    assert!(halves.iter().all(|half| Split::of(half).is_some()), "{whole}");
}
