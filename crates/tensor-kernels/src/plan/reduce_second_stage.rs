//! The second stage of a reduction in two: the partial results of a row become results.
//!
//! The loops of a row that are reduced are halved until one iteration is left, the outermost first.
//! Where loops that are kept lie around them, a call would combine the few partial results of one
//! iteration of these. So many such calls are avoided: the partial results are copied to where
//! those of one index of the reduced loops are adjacent, and all results are combined at once, in
//! the same order. Of 105 random reductions in two stages, 13 take 0.56 to 0.9 of the time so (Zen
//! 4).

use crate::{
    nest::{Loop, Loops},
    reduction_order::MAX_PARTIAL_RESULTS_BYTES,
};

/// The time of a call that combines or writes partial results, of the rest of a row, and of each
/// partial result.
const CALL_NS: f64 = 6.0;
const REST_NS: f64 = 25.0;
const PARTIAL_RESULT_NS: f64 = 0.7;

/// The time to arrange the partial results of some rows, and that of each of them.
const ARRANGE_NS: f64 = 300.0;
const ARRANGED_PARTIAL_RESULT_NS: f64 = 0.3;

/// The time that a call takes in each row where partial results are combined where they lie.
const CALL_IN_ROW_NS: f64 = 4.0;

/// About as many partial results, those of some rows, are combined at a time.
const COMBINED_AT_ONCE: usize = 1 << 11;

/// The second stage's strides of the results, and of the partial results.
pub(crate) const OF_RESULT: usize = 0;
pub(crate) const OF_PARTIAL: usize = 1;

/// The reduction of partial results, of which each row of the first stage has as many as columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecondStage {
    /// The loops of a row, outermost first. Partial results lie as the elements of a row do, with
    /// unused ones for its gaps. A loop that is reduced has no stride in the results.
    pub(crate) loops: Loops<2>,
    /// The elements behind the last whole row.
    pub(crate) rest: Option<RestOfRow>,
    /// Are partial results copied first, so that those of one index of the reduced loops are
    /// adjacent? Then all results are combined at the same time. It takes one more set of partial
    /// results, unless there are halves, which are no longer in progress.
    pub(crate) is_arranged: bool,
}

/// What is left of the input behind rows of equal length: the beginning of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RestOfRow {
    pub(crate) columns: usize,
    /// Elements from the first row to this one.
    pub(crate) input: isize,
}

/// From the first element of a row to its last, with the gaps.
pub(crate) fn columns_of(row: &[Loop<2>]) -> usize {
    1 + row.iter().map(|l| (l.len - 1) * l.strides[OF_PARTIAL] as usize).sum::<usize>()
}

/// How often partial results are combined where they lie: for each iteration of the loops that are
/// kept, which are not the innermost ones, and each halving inside.
fn combining_calls(row: &[Loop<2>]) -> usize {
    let (mut calls, mut kept) = (0_usize, 1_usize);
    for l in row {
        if l.strides[OF_RESULT] == 0 {
            calls += kept * l.len.next_power_of_two().ilog2() as usize;
        } else {
            kept *= l.len;
        }
    }
    calls
}

/// How many of these rows are combined at a time.
fn rows_at_once(rows: usize, columns: usize) -> usize {
    rows.min(COMBINED_AT_ONCE / columns).max(1)
}

/// Do partial results take less time if they are arranged than where they lie?
fn pays_to_arrange(row: &[Loop<2>], rows: usize, columns: usize) -> bool {
    let reduced: Loops<2> = row.iter().filter(|l| l.strides[OF_RESULT] == 0).copied().collect();
    let saved = combining_calls(row) - combining_calls(&reduced);
    let arranging = ARRANGE_NS + (rows * columns) as f64 * ARRANGED_PARTIAL_RESULT_NS;
    (saved * rows) as f64 * CALL_IN_ROW_NS > arranging
}

impl SecondStage {
    /// The second stage of some rows with these loops and `len` columns, with partial results of
    /// `width` bytes and as many `halvings` in progress; `None` if these are too many.
    pub(super) fn of(
        loops: Loops<2>,
        rest: Option<RestOfRow>,
        (rows, len): (usize, usize),
        width: usize,
        halvings: usize,
    ) -> Option<Self> {
        let fits = |sets: usize| (1 + sets) * len * width <= MAX_PARTIAL_RESULTS_BYTES;
        let is_arranged = fits(halvings.max(1))
            && matches!(width, 1 | 2 | 4 | 8 | 16)
            && pays_to_arrange(&loops, rows_at_once(rows, len), len);
        fits(halvings).then_some(Self { loops, rest, is_arranged })
    }

    /// The sets of partial results in scratch next to those of the rows.
    pub(crate) fn sets(&self, halvings: usize) -> usize {
        halvings.max(usize::from(self.is_arranged))
    }

    /// Has a row gaps between its elements?
    pub(crate) fn has_gaps(&self) -> bool {
        columns_of(&self.loops) > self.loops.iter().map(|l| l.len).product()
    }

    /// The predicted time in nanoseconds, for some rows of partial results. The rest of a row is
    /// visited once in each iteration of the loops `around` the rows.
    pub(super) fn predicted_ns(&self, rows: usize, around: f64) -> f64 {
        let is_reduced = |l: &&Loop<2>| l.strides[OF_RESULT] == 0;
        let kept = self.loops.iter().filter(|l| !is_reduced(l)).map(|l| l.len as f64);
        let (calls, writes) = if self.is_arranged {
            let reduced: Loops<2> = self.loops.iter().filter(is_reduced).copied().collect();
            let at_once = rows_at_once(rows, columns_of(&self.loops));
            let calls = combining_calls(&reduced) as f64 + ARRANGE_NS / CALL_NS;
            (calls * rows.div_ceil(at_once) as f64, rows as f64)
        } else {
            let last_is_kept = self.loops.last().is_some_and(|l| l.strides[OF_RESULT] != 0);
            let calls = combining_calls(&self.loops) as f64;
            (calls, rows as f64 * if last_is_kept { 1.0 } else { kept.product() })
        };
        let rests = if self.rest.is_some() { around } else { 0.0 };
        let partial_results = columns_of(&self.loops);
        (calls + writes) * CALL_NS
            + rests * REST_NS
            + (rows * partial_results) as f64 * PARTIAL_RESULT_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_within_the_loops_that_are_kept() {
        let row = [(13, [1, 60]), (4, [0, 15]), (5, [4, 3]), (3, [0, 1])]
            .map(|(len, strides)| Loop { len, strides });
        assert_eq!(combining_calls(&row), 13 * 2 + 13 * 5 * 2);
        assert!(pays_to_arrange(&row, 1, 780) && pays_to_arrange(&row, 2, 780));
        let few = [(13, [1, 16]), (16, [0, 1])].map(|(len, strides)| Loop { len, strides });
        assert!(!pays_to_arrange(&few, 1, 208) && pays_to_arrange(&few, 9, 208));
    }
}
