//! Counts loops in units that the kernels copy: 1, 2, 4, 8 or 16 bytes.
//!
//! An element of any other width is a short run of units: twelve bytes are three units of four.
//! Conversely a short run of elements that stays together in every loop becomes one larger unit: a
//! pair of floats is copied as eight bytes.

use crate::nest::{Loop, NestBuilder};

/// The widest unit, in bytes.
const MAX_UNIT_BYTES: usize = 16;

/// Counts loops over elements of `width` bytes in units, and returns the bytes of a unit.
#[inline(always)]
pub(super) fn count_in_units(builder: &mut NestBuilder<'_, 2>, width: usize) -> usize {
    let unit = lowest_bit(width).min(MAX_UNIT_BYTES);
    if unit < width {
        split_elements(builder, width / unit);
    }
    match builder.loops() {
        [rest @ .., run] if run.strides == [1, 1] && !rest.is_empty() => widen_unit(builder, unit),
        _ => unit,
    }
}

/// Splits each element into a run of `parts` units.
#[inline(never)]
fn split_elements(builder: &mut NestBuilder<'_, 2>, parts: usize) {
    if builder.loops().first().is_some_and(|l| l.len == 0) {
        return;
    }
    for l in builder.loops_mut() {
        l.strides = l.strides.map(|stride| stride.wrapping_mul(parts as isize));
    }
    builder.push(Loop { len: parts, strides: [1, 1] });
    builder.fuse();
}

/// Makes one unit of the innermost loop, a run, if its length is that of a unit and all other
/// strides are multiples of it. Returns the bytes of a unit.
#[inline(never)]
fn widen_unit(builder: &mut NestBuilder<'_, 2>, unit: usize) -> usize {
    let Some((&Loop { len, .. }, rest)) = builder.loops().split_last() else { return unit };
    let divides = |stride: isize| stride % len as isize == 0;
    let fits = len.is_power_of_two() && unit * len <= MAX_UNIT_BYTES;
    if !fits || !rest.iter().all(|l| l.strides.into_iter().all(divides)) {
        return unit;
    }
    builder.pop();
    for l in builder.loops_mut() {
        l.strides = l.strides.map(|stride| stride / len as isize);
    }
    unit * len
}

fn lowest_bit(width: usize) -> usize {
    1 << width.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(loops: &[(usize, [isize; 2])], width: usize) -> (usize, Vec<(usize, [isize; 2])>) {
        let mut buffer = [Loop::ONCE; 8];
        let mut builder = NestBuilder::new(&mut buffer);
        loops.iter().for_each(|&(len, strides)| builder.push(Loop { len, strides }));
        let unit = count_in_units(&mut builder, width);
        (unit, builder.loops().iter().map(|l| (l.len, l.strides)).collect())
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
