//! Walks nested loops: the offsets of every iteration, the last loop fastest.

use crate::nest::Loop;

/// Calls `visit` with the offsets of every iteration of the loops, the last loop fastest.
///
/// It counts like an odometer and does not recurse: a recursive function cannot be inlined, and a
/// function that is not inlined is compiled for the baseline CPU.
#[inline(always)]
pub(super) fn walk<const N: usize>(loops: &[Loop<N>], mut visit: impl FnMut([isize; N])) {
    let (mut inline, mut heap) = ([0; INLINE_LOOPS], Vec::new());
    let counters: &mut [usize] = if loops.len() <= INLINE_LOOPS {
        &mut inline[..loops.len()]
    } else {
        heap.resize(loops.len(), 0);
        &mut heap
    };
    let mut at = [0isize; N];
    loop {
        visit(at);
        if !advance(loops, counters, &mut at) {
            return;
        }
    }
}

/// Up to this many loops a walk does not allocate.
const INLINE_LOOPS: usize = 8;

/// Advances to the next iteration; returns `false` after the last one.
#[inline(always)]
fn advance<const N: usize>(loops: &[Loop<N>], counters: &mut [usize], at: &mut [isize; N]) -> bool {
    for (l, counter) in loops.iter().zip(counters).rev() {
        *counter += 1;
        let steps = if *counter < l.len { 1 } else { 1 - l.len as isize };
        for (offset, stride) in at.iter_mut().zip(l.strides) {
            *offset += steps * stride;
        }
        if *counter < l.len {
            return true;
        }
        *counter = 0;
    }
    false
}

/// The starts of parts of `step`. Not `Iterator::step_by`, which begins with a division that takes
/// as long as a hundred additions.
pub(super) fn starts(len: usize, step: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        next += step;
        (start < len).then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_iteration_once_the_last_loop_fastest() {
        let loops = [Loop { len: 2, strides: [10, -1] }, Loop { len: 3, strides: [1, 100] }];
        let mut seen = Vec::new();
        walk(&loops, |at| seen.push(at));
        assert_eq!(seen, [[0, 0], [1, 100], [2, 200], [10, -1], [11, 99], [12, 199]]);
    }

    #[test]
    fn no_loops_are_one_iteration() {
        let mut counters = 0;
        walk::<1>(&[], |at| {
            assert_eq!(at, [0]);
            counters += 1;
        });
        assert_eq!(counters, 1);
    }
}
