//! `Σ c_i·x_i = target` in bounded integers `0 <= x_i <= bound_i`: the arithmetic that shrinks the
//! equation before any value is tried.
//!
//! Input: terms with positive coefficients, and a target. Output: one value per term, in the order
//! of the terms, or `None` if there is no solution.
//!
//! 1. **Merge.** If `c' = q·c` and the bound of `c` is at least `q − 1`, the two terms together
//!    make every multiple of `c` from 0 to `c·bound + c'·bound'`, so one term replaces them. Equal
//!    strides merge (`q = 1`), and so do contiguous dims.
//! 2. **Peel.** Divide by the greatest common divisor of the terms. A term whose coefficient is
//!    then 1 makes every sum from 0 to its bound: remove it, and let the sum of the others lie up
//!    to that much, the *slack*, below the target. Repeat, as the others may have a new divisor.
//!    This decides strides that divide one another.
//! 3. **Search** the remaining terms for a sum in `target − slack ..= target`.
//! 4. **Unfold** the values. Peeled and merged terms take as much of the remaining sum as they can,
//!    largest coefficient first; steps 1 and 2 guarantee that the smaller ones can make the rest.
//!
//! The sum of all terms at their bounds must be less than 2^64.

use smallvec::{SmallVec, smallvec};

use super::search::{Budget, OutOfBudget, Search};
use crate::sort::sort_by_key;

/// One entry per term; the terms of two layouts of rank 8 allocate nothing.
pub(super) type TermVec<T> = SmallVec<[T; 16]>;

/// `coefficient·x` with `0 <= x <= bound` and a coefficient that is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) coefficient: u64,
    pub(super) bound: u64,
}

impl Term {
    pub(super) fn reach(self) -> u64 {
        self.coefficient * self.bound
    }

    /// `other.coefficient / self.coefficient`, if the two terms can merge (step 1).
    fn quotient(self, other: Term) -> Option<u64> {
        let gapless = other.coefficient - self.coefficient <= self.reach();
        (gapless && other.coefficient.is_multiple_of(self.coefficient))
            .then(|| other.coefficient / self.coefficient)
    }

    /// Subtracts the largest possible multiple of the coefficient from `amount`; returns the
    /// factor.
    fn take(self, amount: &mut u64) -> u64 {
        let value = self.bound.min(*amount / self.coefficient);
        *amount -= self.coefficient * value;
        value
    }
}

/// One value per term such that the sum is `target`, or `None` if there is no solution.
pub(super) fn solve(
    terms: &[Term],
    target: u64,
    budget: &mut Budget,
) -> Result<Option<TermVec<u64>>, OutOfBudget> {
    let merged = Merged::new(terms);
    let values = solve_merged(&merged.groups, target, budget)?;
    Ok(values.map(|values| merged.unfold(terms, &values)))
}

/// The terms after step 1.
struct Merged {
    /// Ascending in coefficient, bounds not 0.
    groups: TermVec<Term>,
    /// `(term, its group)`, ascending in the term's coefficient.
    members: TermVec<(usize, usize)>,
}

impl Merged {
    fn new(terms: &[Term]) -> Self {
        let mut order: TermVec<usize> = (0..terms.len()).filter(|&i| terms[i].bound > 0).collect();
        sort_by_key(&mut order, |&i| terms[i].coefficient);
        let mut merged = Merged { groups: TermVec::new(), members: TermVec::new() };
        for i in order {
            let group = merged.join(terms[i]);
            merged.members.push((i, group));
        }
        merged
    }

    /// Merges a term into the first group that allows it, else starts a new group.
    fn join(&mut self, term: Term) -> usize {
        for (i, group) in self.groups.iter_mut().enumerate() {
            if let Some(quotient) = group.quotient(term) {
                group.bound += quotient * term.bound;
                return i;
            }
        }
        self.groups.push(term);
        self.groups.len() - 1
    }

    /// The values of the terms from those of the groups.
    fn unfold(&self, terms: &[Term], group_values: &[u64]) -> TermVec<u64> {
        let mut amounts: TermVec<u64> =
            self.groups.iter().zip(group_values).map(|(group, x)| group.coefficient * x).collect();
        let mut values: TermVec<u64> = smallvec![0; terms.len()];
        for &(i, group) in self.members.iter().rev() {
            values[i] = terms[i].take(&mut amounts[group]);
        }
        values
    }
}

/// Steps 2 to 4 on merged terms.
fn solve_merged(
    terms: &[Term],
    target: u64,
    budget: &mut Budget,
) -> Result<Option<TermVec<u64>>, OutOfBudget> {
    let Some(window) = Window::around(terms, target) else {
        return Ok(None);
    };
    let peeled = terms.len() - window.terms.len();
    let search = Search::new(&window.terms, window.slack);
    let Some(searched) = search.run(window.target, budget)? else {
        return Ok(None);
    };
    let made: u64 = terms[peeled..].iter().zip(&searched).map(|(t, x)| t.coefficient * x).sum();
    let mut values: TermVec<u64> = smallvec![0; peeled];
    let mut amount = target - made;
    for i in (0..peeled).rev() {
        values[i] = terms[i].take(&mut amount);
    }
    values.extend(searched);
    Ok(Some(values))
}

/// The equation after step 2: a sum of `terms`, ascending, in `target − slack ..= target`. Every
/// coefficient is at least `slack + 2`.
struct Window {
    terms: TermVec<Term>,
    target: u64,
    slack: u64,
}

impl Window {
    /// `None` if no multiple of a common divisor hits the target.
    fn around(terms: &[Term], target: u64) -> Option<Self> {
        let mut window = Window { terms: TermVec::from_slice(terms), target, slack: 0 };
        loop {
            window.divide()?;
            if !window.peel() {
                return Some(window);
            }
        }
    }

    /// Divides by the greatest common divisor of the terms; `None` if no multiple of it lies in
    /// `target − slack ..= target`.
    fn divide(&mut self) -> Option<()> {
        let divisor = self.terms.iter().fold(0, |acc, term| gcd(term.coefficient, acc));
        if divisor <= 1 {
            return Some(());
        }
        let lowest = self.target.saturating_sub(self.slack).div_ceil(divisor);
        self.target /= divisor;
        self.slack = self.target.checked_sub(lowest)?;
        for term in &mut self.terms {
            term.coefficient /= divisor;
        }
        Some(())
    }

    /// Converts terms to slack while they extend it without a gap; returns whether there were any.
    fn peel(&mut self) -> bool {
        let mut peeled = 0;
        for term in &self.terms {
            if term.coefficient > self.slack + 1 {
                break;
            }
            self.slack += term.reach();
            peeled += 1;
        }
        self.terms.drain(..peeled);
        peeled > 0
    }
}

/// The greatest common divisor; `gcd(a, 0) = a`.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
