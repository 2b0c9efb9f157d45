//! Depth-first search for a sum of terms in `target − slack ..= target`, largest coefficient first.
//!
//! Input: terms in ascending order, a target, a slack and a budget. Output: one value per term.
//!
//! Two conditions prune the tree. With `rest` the terms below the current one, and `remainder` the
//! target minus the terms above it:
//!
//! - **Range.** The remainder must be in reach of the rest, so the value lies between
//!   `(remainder − slack − reach of rest) / c` and `remainder / c`.
//! - **Divisor.** Sums of the rest are multiples of its greatest common divisor `g`, so
//!   `(remainder − c·x) mod g` must not exceed the slack. [`first_multiple_within`] finds the next
//!   such `x` in logarithmic time.
//!
//! At the second to last term `g` is the last coefficient, larger than the slack, and the two
//! conditions together are exact: the first value that fulfils them leads to a solution. So two
//! terms and a slack are decided in logarithmic time for any bounds; values are tried from the
//! third term on.

use smallvec::smallvec;

use super::equation::{Term, TermVec, gcd};

/// The number of values that may still be tried.
pub(super) struct Budget {
    nodes: u64,
}

/// The budget ran out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfBudget;

impl Budget {
    pub(super) fn new(nodes: u64) -> Self {
        Budget { nodes }
    }

    fn spend(&mut self) -> Result<(), OutOfBudget> {
        self.nodes = self.nodes.checked_sub(1).ok_or(OutOfBudget)?;
        Ok(())
    }
}

/// A term, with the reach and the divisor of the smaller ones.
#[derive(Clone, Copy)]
struct Level {
    term: Term,
    rest_reach: u64,
    /// 0 if there is no smaller term.
    rest_divisor: u64,
}

/// A search tree, one level per term.
pub(super) struct Search {
    /// Smallest coefficient first; the search goes from the last to the first.
    levels: TermVec<Level>,
    slack: u64,
}

impl Search {
    /// `terms` ascend in coefficient, the smallest being larger than `slack`.
    pub(super) fn new(terms: &[Term], slack: u64) -> Self {
        let mut level_below =
            Level { term: Term { coefficient: 0, bound: 0 }, rest_reach: 0, rest_divisor: 0 };
        let levels = terms.iter().map(|&term| {
            let Level { term: below, rest_reach, rest_divisor } = level_below;
            level_below = Level {
                term,
                rest_reach: rest_reach + below.reach(),
                rest_divisor: gcd(below.coefficient, rest_divisor),
            };
            level_below
        });
        Search { levels: levels.collect(), slack }
    }

    /// One value per term such that the sum lies in `target − slack ..= target`.
    pub(super) fn run(
        &self,
        target: u64,
        budget: &mut Budget,
    ) -> Result<Option<TermVec<u64>>, OutOfBudget> {
        let mut values = smallvec![0; self.levels.len()];
        let found = self.descend(&mut values, target, budget)?;
        Ok(found.then_some(values))
    }

    /// Finds values for the first `values.len()` terms whose sum lies in
    /// `remainder − slack ..= remainder`. The depth of the recursion is the number of terms.
    fn descend(
        &self,
        values: &mut [u64],
        remainder: u64,
        budget: &mut Budget,
    ) -> Result<bool, OutOfBudget> {
        let Some((value, rest)) = values.split_last_mut() else {
            return Ok(remainder <= self.slack);
        };
        let level = self.levels[rest.len()];
        let mut from = level.lowest(remainder, self.slack);
        while let Some(x) = level.candidate(from, remainder, self.slack) {
            budget.spend()?;
            *value = x;
            if self.descend(rest, remainder - level.term.coefficient * x, budget)? {
                return Ok(true);
            }
            from = x + 1;
        }
        Ok(false)
    }
}

impl Level {
    /// The smallest value after which the rest can reach the remainder.
    fn lowest(&self, remainder: u64, slack: u64) -> u64 {
        let excess = remainder.saturating_sub(slack).saturating_sub(self.rest_reach);
        excess.div_ceil(self.term.coefficient)
    }

    /// The smallest value not below `from` after which the remainder is not negative and lies at
    /// most the slack above a multiple of the rest's divisor.
    fn candidate(&self, from: u64, remainder: u64, slack: u64) -> Option<u64> {
        let Term { coefficient, bound } = self.term;
        let steps = bound.min(remainder / coefficient).checked_sub(from)?;
        if self.rest_divisor <= slack + 1 {
            return Some(from);
        }
        let residue = (remainder - coefficient * from) % self.rest_divisor;
        let window = (residue.saturating_sub(slack), residue);
        let skip = first_multiple_within(coefficient, self.rest_divisor, window, steps)?;
        Some(from + skip)
    }
}

/// The smallest `k` in `0..=limit` with `low <= step·k mod modulus <= high`, where
/// `low <= high < modulus` and `step·limit < 2^64`. The number of rounds is logarithmic in the
/// smaller of modulus and limit.
///
/// If no multiple of `step` below `modulus` lies in the window, the window is narrower than a step.
/// Each lap around the modulus shifts the multiples by `modulus mod step`, so the number of laps is
/// the answer to the same question modulo `step`.
pub(super) fn first_multiple_within(
    step: u64,
    modulus: u64,
    (low, high): (u64, u64),
    limit: u64,
) -> Option<u64> {
    let step = step % modulus;
    if low == 0 {
        return Some(0);
    }
    if step == 0 || limit == 0 {
        return None;
    }
    // Counting downwards makes the step at most half of the modulus, so each round halves it.
    if step > modulus / 2 {
        let mirrored = (modulus - high, modulus - low);
        return first_multiple_within(modulus - step, modulus, mirrored, limit);
    }
    let k = low.div_ceil(step);
    if k <= high / step {
        return (k <= limit).then_some(k);
    }
    let most_laps = (step * limit).checked_sub(low)? / modulus;
    let window = (low % step, high % step);
    let laps = first_multiple_within(step - modulus % step, step, window, most_laps)?;
    let k = (modulus * laps + low).div_ceil(step);
    (k <= limit).then_some(k)
}
