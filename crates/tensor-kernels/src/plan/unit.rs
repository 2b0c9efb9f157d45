//! Counting loops in units that the kernels move: 1, 2, 4, 8 or 16 bytes.
//!
//! An element of any other width is a short run of units: twelve bytes are three times four. The other way round, a short run of elements that
//! keeps together everywhere is one larger unit: a pair of floats moves as eight bytes.

use crate::{
    Loop,
    nest::{Loops, Nest},
};

/// The widest unit, in bytes.
const WIDEST: usize = 16;

/// The same loops, in units, and the unit's bytes.
pub(super) fn in_units(mut loops: Loops<2>, width: usize) -> (usize, Loops<2>) {
    let unit = lowest_bit(width).min(WIDEST);
    let per_element = width / unit;
    if per_element > 1 {
        for l in &mut loops {
            l.strides = l.strides.map(|stride| stride.wrapping_mul(per_element as isize));
        }
        loops.push(Loop { len: per_element, strides: [1, 1] });
        loops = Nest::normalise(loops, [0, 0]).into_parts().0;
    }
    widened(loops, unit)
}

/// Makes the innermost run one unit, if it is as long as one and all else is a multiple of it.
fn widened(mut loops: Loops<2>, unit: usize) -> (usize, Loops<2>) {
    let Some((&Loop { len, strides: [1, 1] }, rest)) = loops.split_last() else {
        return (unit, loops);
    };
    let fits = len > 1 && len.is_power_of_two() && unit * len <= WIDEST && !rest.is_empty();
    let divides = |stride: isize| stride % len as isize == 0;
    if !fits || !rest.iter().all(|l| l.strides.into_iter().all(divides)) {
        return (unit, loops);
    }
    loops.pop();
    for l in &mut loops {
        l.strides = l.strides.map(|stride| stride / len as isize);
    }
    (unit * len, loops)
}

fn lowest_bit(width: usize) -> usize {
    1 << width.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(loops: &[(usize, [isize; 2])], width: usize) -> (usize, Vec<(usize, [isize; 2])>) {
        let loops = loops.iter().map(|&(len, strides)| Loop { len, strides }).collect();
        let (unit, loops) = in_units(loops, width);
        (unit, loops.iter().map(|l| (l.len, l.strides)).collect())
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
