//! The permutations that a thread has prepared last, and its scratch.
//!
//! To find the steps of a permutation and to plan their copies takes as long as to move 100 kB to
//! 1 MB (Zen 5). Programs repeat permutations, so a thread keeps a few.

use std::cell::Cell;

use super::prepared::Prepared;
use crate::plan::in_place::{MIN_SCRATCH_BYTES, Sizes};

/// The most permutations that a thread keeps.
const MOST_KEPT: usize = 8;

/// What a permutation was prepared for.
#[derive(PartialEq)]
struct Permutation {
    shape: Sizes,
    dims: Sizes,
    item: usize,
}

/// What a thread keeps.
struct Kept {
    /// The last used first.
    permutations: Vec<(Permutation, Box<Prepared>)>,
    scratch: Vec<u8>,
}

impl Kept {
    const NOTHING: Self = Self { permutations: Vec::new(), scratch: Vec::new() };
}

thread_local! {
    /// Nothing while a permutation runs: what it waits for may be another one.
    static KEPT: Cell<Kept> = const { Cell::new(Kept::NOTHING) };
}

/// Calls `f` with the prepared permutation, and with scratch of any length.
pub(super) fn with<R>(
    shape: &[usize],
    dims: &[usize],
    item: usize,
    f: impl FnOnce(&Prepared, &mut Vec<u8>) -> R,
) -> R {
    let [shape, dims] = [shape, dims].map(Sizes::from_slice);
    // A thread that ends keeps nothing.
    let mut kept = KEPT.try_with(|kept| kept.replace(Kept::NOTHING)).unwrap_or(Kept::NOTHING);
    let result = kept.with(Permutation { shape, dims, item }, f);
    let _kept = KEPT.try_with(|cell| cell.set(kept));
    result
}

impl Kept {
    fn with<R>(&mut self, wanted: Permutation, f: impl FnOnce(&Prepared, &mut Vec<u8>) -> R) -> R {
        let result = if let Some(at) = self.permutations.iter().position(|kept| kept.0 == wanted) {
            self.permutations[..=at].rotate_right(1);
            f(&self.permutations[0].1, &mut self.scratch)
        } else {
            self.with_new(wanted, f)
        };
        // No more is kept than any permutation may use.
        if self.scratch.len() > MIN_SCRATCH_BYTES {
            self.scratch = Vec::new();
        }
        result
    }

    /// Prepares a permutation, and keeps it in place of the one that has not been used for the
    /// longest time, if it has plans.
    fn with_new<R>(
        &mut self,
        wanted: Permutation,
        f: impl FnOnce(&Prepared, &mut Vec<u8>) -> R,
    ) -> R {
        let prepared = Prepared::new(&wanted.shape, &wanted.dims, wanted.item);
        if !prepared.has_plans() {
            return f(&prepared, &mut self.scratch);
        }
        self.permutations.truncate(MOST_KEPT - 1);
        if self.permutations.try_reserve(1).is_err() {
            return f(&prepared, &mut self.scratch);
        }
        self.permutations.insert(0, (wanted, Box::new(prepared)));
        f(&self.permutations[0].1, &mut self.scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_is_prepared_once_while_it_is_used() {
        let addresses = |sizes: &[usize]| -> Vec<usize> {
            let address =
                |prepared: &Prepared, _: &mut Vec<u8>| std::ptr::from_ref(prepared).addr();
            sizes.iter().map(|&n| with(&[700, n], &[1, 0], 4, address)).collect()
        };
        let first = addresses(&[701]);
        assert_eq!(addresses(&[701, 702, 703, 701])[3], first[0]);
        let others: Vec<usize> = (710..710 + MOST_KEPT).collect();
        assert_eq!(addresses(&others), addresses(&others), "as many as are kept");
        let all = KEPT.replace(Kept::NOTHING);
        assert_eq!(all.permutations.len(), MOST_KEPT);
        assert!(all.permutations.iter().all(|kept| kept.0.shape[1] >= 710));
    }

    #[test]
    fn a_permutation_within_another_has_scratch_of_its_own() {
        with(&[700, 701], &[1, 0], 4, |outer, scratch| {
            scratch.push(1);
            with(&[700, 701], &[1, 0], 4, |inner, scratch| {
                assert!(scratch.is_empty() && !std::ptr::eq(outer, inner));
            });
        });
        with(&[700, 701], &[1, 0], 4, |_, scratch| assert_eq!(*scratch, [1]));
        with(&[700, 701], &[1, 0], 4, |_, scratch| scratch.resize(MIN_SCRATCH_BYTES + 1, 0));
        with(&[700, 701], &[1, 0], 4, |_, scratch| assert!(scratch.is_empty(), "too much to keep"));
    }

    #[test]
    fn swaps_are_not_kept() {
        with(&[300, 300], &[1, 0], 4, |_, _| {});
        assert!(KEPT.replace(Kept::NOTHING).permutations.is_empty());
    }
}
