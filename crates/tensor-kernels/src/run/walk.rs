//! Walks nested loops: the offsets of every iteration, the last loop fastest.

use smallvec::SmallVec;

use crate::nest::Loop;

/// The offsets of every iteration of some loops, the last loop fastest.
///
/// It counts like an odometer and does not recurse, and it is an iterator, not a function that
/// calls another: a function that is not inlined is compiled for the baseline CPU, and of a closure
/// nobody can say that it will be.
#[inline(always)]
pub(super) fn iterations<const N: usize>(loops: &[Loop<N>]) -> Iterations<'_, N> {
    let counters = SmallVec::from_elem(0, loops.len());
    Iterations { loops, counters, at: [0; N], has_next: true }
}

/// See [`iterations`].
pub(super) struct Iterations<'l, const N: usize> {
    loops: &'l [Loop<N>],
    /// Of each loop: up to this many are counted without an allocation.
    counters: SmallVec<[usize; 8]>,
    at: [isize; N],
    has_next: bool,
}

impl<const N: usize> Iterator for Iterations<'_, N> {
    type Item = [isize; N];

    #[inline(always)]
    fn next(&mut self) -> Option<[isize; N]> {
        if !self.has_next {
            return None;
        }
        let at = self.at;
        self.has_next = advance(self.loops, &mut self.counters, &mut self.at);
        Some(at)
    }
}

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
        let seen: Vec<_> = iterations(&loops).collect();
        assert_eq!(seen, [[0, 0], [1, 100], [2, 200], [10, -1], [11, 99], [12, 199]]);
    }

    #[test]
    fn no_loops_are_one_iteration() {
        assert_eq!(iterations::<1>(&[]).collect::<Vec<_>>(), [[0]]);
    }
}
