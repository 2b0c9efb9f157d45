//! Walking loops: the offsets of every iteration, the last loop fastest.

use crate::nest::Loop;

/// Calls `visit` with the offsets of every turn of the loops, the last loop fastest.
///
/// An odometer rather than a recursion: a recursive function cannot be inlined, and what is not
/// inlined is compiled for the baseline CPU.
#[inline(always)]
pub(super) fn walk<const N: usize>(loops: &[Loop<N>], mut visit: impl FnMut([isize; N])) {
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let turns: &mut [usize] = if loops.len() <= FEW {
        &mut few[..loops.len()]
    } else {
        many.resize(loops.len(), 0);
        &mut many
    };
    let mut at = [0isize; N];
    loop {
        visit(at);
        if !advance(loops, turns, &mut at) {
            return;
        }
    }
}

/// Up to this many loops a walk allocates nothing.
const FEW: usize = 8;

/// To the next turn; `false` after the last one.
#[inline(always)]
fn advance<const N: usize>(loops: &[Loop<N>], turns: &mut [usize], at: &mut [isize; N]) -> bool {
    for (l, turn) in loops.iter().zip(turns).rev() {
        *turn += 1;
        let steps = if *turn < l.len { 1 } else { 1 - l.len as isize };
        for (place, stride) in at.iter_mut().zip(l.strides) {
            *place += steps * stride;
        }
        if *turn < l.len {
            return true;
        }
        *turn = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_once_the_last_loop_fastest() {
        let loops = [Loop { len: 2, strides: [10, -1] }, Loop { len: 3, strides: [1, 100] }];
        let mut seen = Vec::new();
        walk(&loops, |at| seen.push(at));
        assert_eq!(seen, [[0, 0], [1, 100], [2, 200], [10, -1], [11, 99], [12, 199]]);
    }

    #[test]
    fn no_loops_are_one_turn() {
        let mut turns = 0;
        walk::<1>(&[], |at| {
            assert_eq!(at, [0]);
            turns += 1;
        });
        assert_eq!(turns, 1);
    }
}
