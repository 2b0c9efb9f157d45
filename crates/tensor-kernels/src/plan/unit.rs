//! Counting loops in units that the kernels move: 1, 2, 4, 8 or 16 bytes.
//!
//! An element of any other width is a short run of units: twelve bytes are three times four. The other way round, a short run of elements that
//! keeps together everywhere is one larger unit: a pair of floats moves as eight bytes.

use super::Work;
use crate::{Loop, nest::fuse};

/// The widest unit, in bytes.
const WIDEST: usize = 16;

/// Counts work whose unit is an element of any width in units that kernels move.
pub(super) fn count_in_units(work: &mut Work) {
    let width = work.unit;
    work.unit = lowest_bit(width).min(WIDEST);
    if work.unit < width && !work.is_empty() {
        split_elements(work, width / work.unit);
    }
    join_runs(work);
}

/// Makes a run of `parts` units of each element.
fn split_elements(work: &mut Work, parts: usize) {
    for l in &mut work.outer {
        l.strides = l.strides.map(|stride| stride.wrapping_mul(parts as isize));
    }
    work.outer.push(Loop { len: parts, strides: [1, 1] });
    fuse(&mut work.outer);
}

/// Makes one unit of the innermost run, if it is as long as one and all else is a multiple of it.
fn join_runs(work: &mut Work) {
    let loops = &mut work.outer;
    let Some((&Loop { len, strides: [1, 1] }, rest)) = loops.split_last() else { return };
    let fits = len > 1 && len.is_power_of_two() && work.unit * len <= WIDEST && !rest.is_empty();
    let divides = |stride: isize| stride % len as isize == 0;
    if !fits || !rest.iter().all(|l| l.strides.into_iter().all(divides)) {
        return;
    }
    loops.pop();
    for l in loops {
        l.strides = l.strides.map(|stride| stride / len as isize);
    }
    work.unit *= len;
}

fn lowest_bit(width: usize) -> usize {
    1 << width.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::Nest;

    fn units(loops: &[(usize, [isize; 2])], width: usize) -> (usize, Vec<(usize, [isize; 2])>) {
        let loops = loops.iter().map(|&(len, strides)| Loop { len, strides }).collect();
        let mut work = Work::of(Nest { loops, starts: [0, 0] }, width);
        count_in_units(&mut work);
        (work.unit, work.outer.iter().map(|l| (l.len, l.strides)).collect())
    }

    #[test]
    fn widths() {
        for (what, loops, width, expected) in [
            (
                "a known width stays",
                vec![(5, [3, 1]), (3, [1, 5])],
                4,
                (4, vec![(5, [3, 1]), (3, [1, 5])]),
            ),
            ("three bytes", vec![(5, [1, 2])], 3, (1, vec![(5, [3, 6]), (3, [1, 1])])),
            ("twelve bytes", vec![(5, [1, 2])], 12, (4, vec![(5, [3, 6]), (3, [1, 1])])),
            ("forty-eight bytes, adjacent", vec![(5, [1, 1])], 48, (16, vec![(15, [1, 1])])),
            ("a pair is one unit", vec![(7, [2, 8]), (2, [1, 1])], 4, (8, vec![(7, [1, 4])])),
            (
                "unless something cuts through it",
                vec![(7, [2, 3]), (2, [1, 1])],
                4,
                (4, vec![(7, [2, 3]), (2, [1, 1])]),
            ),
            (
                "nor if it is too wide",
                vec![(7, [8, 16]), (8, [1, 1])],
                4,
                (4, vec![(7, [8, 16]), (8, [1, 1])]),
            ),
            ("nor if it is all there is", vec![(4, [1, 1])], 4, (4, vec![(4, [1, 1])])),
        ] {
            assert_eq!(units(&loops, width), expected, "{what}");
        }
    }
}
