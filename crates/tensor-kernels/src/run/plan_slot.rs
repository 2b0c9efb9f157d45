//! A slot of the plans that a thread keeps: a few plans that share a hash, the last used first.
//!
//! With one plan only, two inputs of an operation that happened to share a slot were planned anew
//! at each call: 2.6 µs instead of 0.5 µs for the sum of 320 floats (Zen 4).

/// The most plans of a slot.
const MOST_PLANS: usize = 4;

/// Each place is empty, or has one entry: a vector, because an allocation of it can fail without an
/// abort.
pub(super) type Slot<E> = [Vec<E>; MOST_PLANS];

/// A slot without entries.
pub(super) const fn empty_slot<E>() -> Slot<E> {
    [const { Vec::new() }; MOST_PLANS]
}

/// Makes the entry the first that `is_it`, or else the one that `make` makes, in place of the one
/// that has not been used for the longest time. `None` if it cannot be made, or there is no memory
/// for it.
///
/// `make` appends its entry to an empty vector that has room for it: entries are kilobytes, and to
/// return one would take its place on the stack several times.
///
/// Not inlined: callers look at the first entry themselves, and it nearly always is the one.
#[inline(never)]
pub(super) fn make_first<E>(
    slot: &mut Slot<E>,
    is_it: impl Fn(&E) -> bool,
    make: impl FnOnce(&mut Vec<E>) -> Option<()>,
) -> Option<()> {
    if let Some(at) = slot.iter().position(|place| place.first().is_some_and(&is_it)) {
        slot[..=at].rotate_right(1);
        return Some(());
    }
    let place = &mut slot[MOST_PLANS - 1];
    place.clear();
    place.try_reserve_exact(1).ok()?;
    make(place)?;
    slot.rotate_right(1);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_that_was_not_used_for_the_longest_time_is_replaced() {
        let mut slot = empty_slot();
        let mut used = |number: usize| {
            let mut made = false;
            let make = |place: &mut Vec<usize>| {
                made = true;
                place.push(number);
                Some(())
            };
            make_first(&mut slot, |&other| other == number, make).unwrap();
            assert_eq!(slot[0], [number]);
            made
        };
        assert!((0..MOST_PLANS).all(&mut used));
        assert!(!used(0) && !used(1));
        assert!(used(100));
        assert!(!(0..MOST_PLANS).filter(|&number| number != 2).any(&mut used));
        assert!(used(2));
    }

    #[test]
    fn what_cannot_be_made_is_not_kept() {
        let mut slot = empty_slot();
        let one = |place: &mut Vec<usize>| {
            place.push(1);
            Some(())
        };
        make_first(&mut slot, |_| false, one).unwrap();
        assert!(make_first(&mut slot, |_| false, |_| None).is_none());
        assert_eq!(slot[0], [1]);
    }
}
