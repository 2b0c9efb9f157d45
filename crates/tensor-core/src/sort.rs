//! Sorting a few loops or dimensions, by insertion.
//!
//! The sort of the standard library takes as long for so few, which it sorts by insertion, too. But
//! it is compiled as two dozen functions for every order that is asked for: a tenth of the machine
//! code of this crate.

/// Sorts by a key. Items with equal keys keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a) < key(b));
}

/// Sorts by an order. Items of which neither comes before the other keep their order.
pub fn sort_by<T>(items: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_before(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(mut items in prop::collection::vec((0..6, 0..9), 0..40)) {
            let mut expected = items.clone();
            expected.sort_by_key(|&(key, _)| key);
            sort_by_key(&mut items, |&(key, _)| key);
            prop_assert_eq!(items, expected);
        }
    }
}
