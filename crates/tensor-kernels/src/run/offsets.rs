//! Tables of the offsets of nested loops, which groups of loops are looked up in.

use smallvec::{Array, SmallVec};

use crate::nest::Loop;

/// Fills an empty table with the offsets of all iterations of some loops, the outermost first, of
/// which `block` iterations of the outermost are used. `unit` converts the strides of each operand.
///
/// A table is filled in place, because moving one takes as long as copying a few hundred elements.
#[inline]
pub(super) fn fill<const N: usize, A: Array<Item = [isize; N]>>(
    table: &mut SmallVec<A>,
    loops: &[Loop<N>],
    block: usize,
    unit: impl Fn([isize; N]) -> [isize; N],
) {
    table.push([0; N]);
    for (at, l) in loops.iter().enumerate().rev() {
        let len = if at == 0 { block } else { l.len };
        repeat(table, len, unit(l.strides));
    }
}

/// Repeats the entries of a table for each iteration of a loop around them.
#[inline]
fn repeat<const N: usize, A: Array<Item = [isize; N]>>(
    table: &mut SmallVec<A>,
    len: usize,
    strides: [isize; N],
) {
    let inner = table.len();
    table.resize(inner * len, [0; N]);
    let (first, rest) = table.split_at_mut(inner);
    let mut by = [0; N];
    for copies in rest.chunks_exact_mut(inner) {
        by = std::array::from_fn(|k| by[k] + strides[k]);
        for (copy, entry) in copies.iter_mut().zip(&*first) {
            *copy = std::array::from_fn(|k| entry[k] + by[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_every_iteration_the_innermost_loop_fastest() {
        let loops = [Loop { len: 9, strides: [10, -1] }, Loop { len: 3, strides: [1, 100] }];
        let mut table = SmallVec::<[[isize; 2]; 8]>::new();
        fill(&mut table, &loops, 2, |strides| strides.map(|stride| 4 * stride));
        let expected = [[0, 0], [4, 400], [8, 800], [40, -4], [44, 396], [48, 796]];
        assert_eq!(table[..], expected);
    }

    #[test]
    fn no_loops_are_one_iteration() {
        let mut table = SmallVec::<[[isize; 1]; 8]>::new();
        fill(&mut table, &[], 1, |strides| strides);
        assert_eq!(table[..], [[0]]);
    }
}
