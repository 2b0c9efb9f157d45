//! The plans of copies to and from scratch that a thread has made last.
//!
//! Tiles of an operation are copied by plans, which take 5 to 10 µs each (Zen 3): as long as the
//! copies of 30 to 100 kB. Programs repeat operations, so a thread keeps these plans as it keeps
//! those of [copies](super::plan_cache): in slots that are found by a hash.

use std::cell::RefCell;

use super::{
    plan_cache::HASH_FACTORS,
    plan_slot::{Slot, empty_slot, make_first},
};
use crate::{
    nest::Loop,
    plan::{Comparison, Work},
};

/// Slots for the plans that a thread keeps.
const SLOTS: usize = 16;

/// Copies by more loops are planned each time.
const MAX_LOOPS: usize = 8;

/// What a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TileCopy {
    /// Of each loop the length, and the strides of destination and source.
    loops: [[isize; 3]; MAX_LOOPS],
    len: usize,
    /// The bytes of an element.
    width: usize,
    comparison: Comparison,
    /// The bytes of a vector register.
    vector: usize,
}

/// A plan, and what it was made for.
struct Entry {
    copy: TileCopy,
    work: Work,
}

thread_local! {
    /// No slots until a plan is kept: what is in a thread's own memory is taken from its stack.
    static PLANS: RefCell<Vec<Slot<Entry>>> = const { RefCell::new(Vec::new()) };
}

/// The plan of a copy to or from scratch, of elements of `width` bytes by loops sorted by the
/// stride of the destination, on a machine with vector registers of `vector` bytes.
pub(super) fn plan(
    loops: impl Iterator<Item = Loop<2>> + Clone,
    width: usize,
    comparison: Comparison,
    vector: usize,
) -> Work {
    let copy = TileCopy::new(loops.clone(), width, comparison, vector);
    if let Some(work) = copy.and_then(TileCopy::kept) {
        return work;
    }
    let work = Work::of_loops(loops, width, &comparison.machine(vector));
    if let Some(copy) = copy {
        copy.keep(&work);
    }
    work
}

impl TileCopy {
    /// `None` if there are more loops than are compared.
    fn new(
        loops: impl Iterator<Item = Loop<2>>,
        width: usize,
        comparison: Comparison,
        vector: usize,
    ) -> Option<Self> {
        let mut copy = Self { loops: [[0; 3]; MAX_LOOPS], len: 0, width, comparison, vector };
        for Loop { len, strides: [to, from] } in loops.filter(|l| l.len > 1) {
            *copy.loops.get_mut(copy.len)? = [len as isize, to, from];
            copy.len += 1;
        }
        Some(copy)
    }

    /// The plan, if the thread has kept it.
    fn kept(self) -> Option<Work> {
        let found = PLANS.try_with(|plans| {
            let mut plans = plans.try_borrow_mut().ok()?;
            let slot = plans.get_mut(self.slot())?;
            let is_it = |place: &Vec<Entry>| place.first().is_some_and(|kept| kept.copy == self);
            let at = slot.iter().position(is_it)?;
            slot[..=at].rotate_right(1);
            slot[0].first().map(|entry| entry.work.clone())
        });
        found.ok().flatten()
    }

    /// Keeps a plan. Without memory, or where the thread ends, it is made again next time.
    fn keep(self, work: &Work) {
        let _kept = PLANS.try_with(|plans| {
            let mut plans = plans.try_borrow_mut().ok()?;
            if plans.is_empty() {
                plans.try_reserve_exact(SLOTS).ok()?;
                plans.resize_with(SLOTS, empty_slot);
            }
            make_first(
                &mut plans[self.slot()],
                |_| false,
                |place| {
                    place.push(Entry { copy: self, work: work.clone() });
                    Some(())
                },
            )
        });
    }

    fn slot(&self) -> usize {
        let words = self.loops[..self.len].as_flattened().iter();
        let hash = words.fold(self.width as u64, |hash, &word| {
            hash.rotate_left(7).wrapping_add((word as u64).wrapping_mul(HASH_FACTORS[1]))
        });
        (hash.wrapping_mul(HASH_FACTORS[0]) >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(len: usize, from: isize, width: usize, comparison: Comparison, vector: usize) {
        let loops = [(9, [len as isize, 1]), (1, [5, 5]), (len, [1, from])]
            .map(|(len, strides)| Loop { len, strides });
        let expected = Work::of_loops(loops.into_iter(), width, &comparison.machine(vector));
        assert!(plan(loops.into_iter(), width, comparison, vector) == expected);
    }

    #[test]
    fn a_kept_plan_is_that_of_its_loops_width_and_vectors() {
        for _ in 0..2 {
            for vector in [16, 32, 64] {
                for width in [1, 2, 4, 8, 16] {
                    for from in [9, 18, -9] {
                        check(700, from, width, Comparison::Full, vector);
                        #[cfg(feature = "elementwise")]
                        check(700, from, width, Comparison::Brief, vector);
                    }
                }
            }
        }
    }

    #[test]
    fn more_copies_than_a_thread_keeps() {
        for _ in 0..2 {
            for len in 2..8 * SLOTS {
                check(len, 9, 4, Comparison::Full, 32);
            }
        }
    }

    #[test]
    fn copies_by_many_loops_are_planned_each_time() {
        let loops = (0..10).map(|at| Loop { len: 2, strides: [1 << (9 - at), 1 << at] });
        assert!(TileCopy::new(loops.clone(), 4, Comparison::Full, 32).is_none());
        let expected = Work::of_loops(loops.clone(), 4, &Comparison::Full.machine(32));
        assert!(plan(loops, 4, Comparison::Full, 32) == expected);
    }
}
