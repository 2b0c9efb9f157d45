//! The second stage of a reduction in two: the partial results of a row become results.
//!
//! Each loop of a row that is reduced is halved until one iteration is left: its second half is
//! combined with its first. The outermost loop comes first. Where a loop that is kept lies around a
//! reduced one, each of its iterations needs calls of its own, for a few partial results each. If
//! there are many, the partial results are first copied to another order, the reduced loops
//! outermost. Then one call combines those of all results, in the same pairs as before. Of 105
//! random reductions in two stages, 12 take 0.56 to 0.9 of the time this way (Zen 4).

use crate::{
    nest::{Loop, Loops},
    reduction_order::MAX_PARTIAL_RESULTS_BYTES,
};

/// The predicted time of a call that combines or writes partial results, of the rest of a row, and
/// of each partial result.
const CALL_NS: f64 = 6.0;
const REST_NS: f64 = 25.0;
const PARTIAL_RESULT_NS: f64 = 0.7;

/// The time to arrange partial results, for each copy and for each partial result.
const ARRANGE_NS: f64 = 300.0;
const ARRANGED_PARTIAL_RESULT_NS: f64 = 0.3;

/// The time of a call that combines partial results where they lie, for each row.
const CALL_IN_ROW_NS: f64 = 4.0;

/// The partial results that are combined at a time, of one row or more, are at most about as many.
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
    /// Are partial results copied first, the reduced loops outermost? The copy takes the scratch of
    /// the halves in progress in the first stage, or that of one half if there are none.
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

/// Is this loop of a row reduced?
pub(crate) fn reduces(l: &Loop<2>) -> bool {
    l.strides[OF_RESULT] == 0
}

/// How often a loop is halved until one iteration is left.
fn halvings(l: &Loop<2>) -> usize {
    l.len.next_power_of_two().ilog2() as usize
}

/// The calls that combine partial results where they lie: those for each halving of a reduced loop,
/// for each iteration of the loops around it that are kept.
fn calls_in_place(row: &[Loop<2>]) -> usize {
    let (mut calls, mut kept) = (0, 1);
    for l in row {
        if reduces(l) {
            calls += kept * halvings(l);
        } else {
            kept *= l.len;
        }
    }
    calls
}

/// The calls that combine arranged partial results.
fn calls_if_arranged(row: &[Loop<2>]) -> usize {
    row.iter().filter(|l| reduces(l)).map(halvings).sum()
}

/// How many of these rows are combined at a time.
fn rows_at_once(rows: usize, columns: usize) -> usize {
    rows.min(COMBINED_AT_ONCE / columns).max(1)
}

/// Is it faster to arrange partial results than to combine them where they lie?
fn pays_to_arrange(row: &[Loop<2>], rows: usize, columns: usize) -> bool {
    let saved = calls_in_place(row) - calls_if_arranged(row);
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
        let (calls, writes) = if self.is_arranged {
            let copies = rows.div_ceil(rows_at_once(rows, columns_of(&self.loops))) as f64;
            let calls = calls_if_arranged(&self.loops) as f64 + ARRANGE_NS / CALL_NS;
            (calls * copies, rows as f64)
        } else {
            let kept = self.loops.iter().filter(|l| !reduces(l)).map(|l| l.len as f64);
            let last_is_kept = self.loops.last().is_some_and(|l| !reduces(l));
            let writes = if last_is_kept { 1.0 } else { kept.product() };
            (calls_in_place(&self.loops) as f64, rows as f64 * writes)
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
        assert_eq!(calls_in_place(&row), 13 * 2 + 13 * 5 * 2);
        assert_eq!(calls_if_arranged(&row), 2 + 2);
        assert!(pays_to_arrange(&row, 1, 780) && pays_to_arrange(&row, 2, 780));
        let few = [(13, [1, 16]), (16, [0, 1])].map(|(len, strides)| Loop { len, strides });
        assert!(!pays_to_arrange(&few, 1, 208) && pays_to_arrange(&few, 9, 208));
    }
}
