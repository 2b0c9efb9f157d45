//! Statistics of a group of cases: the geometric mean of a ratio, and the worst case.

use super::Row;
use crate::{
    measure::stats::{geometric_mean, worst},
    output::render::{LONGEST_NAME, cut, fold},
};

/// Mean and worst of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GroupStats<'a> {
    /// The geometric mean.
    pub(super) mean: f64,
    /// The smallest ratio.
    pub(super) worst: f64,
    case: &'a str,
}

impl<'a> GroupStats<'a> {
    /// Over the rows that have the ratio; `None` if none has it.
    pub(super) fn of(rows: &[&'a Row], ratio: impl Fn(&Row) -> Option<f64>) -> Option<Self> {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| ratio(row)).collect();
        let (mean, worst) = (geometric_mean(&ratios)?, worst(&ratios)?);
        let row = rows.iter().find(|row| ratio(row) == Some(worst))?;
        Some(GroupStats { mean, worst, case: &row.id })
    }

    /// The name of the worst case, in lines of at most `width` columns.
    pub(super) fn folded_case(&self, width: usize) -> String {
        fold(self.case, width)
    }

    /// The name of the worst case.
    pub(super) fn case(&self) -> String {
        cut(self.case, LONGEST_NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::row, *};

    #[test]
    fn mean_and_worst_are_of_the_rows_that_have_the_ratio() {
        let rows = [row("a"), Row { preallocated_ns: 25.0, ..row("b") }, row("without")];
        let rows: Vec<&Row> = rows.iter().collect();
        let ratio = |row: &Row| (row.id != "without").then(|| 50.0 / row.preallocated_ns);
        let stats = GroupStats::of(&rows, ratio).unwrap();
        assert_eq!((stats.mean, stats.worst, stats.case()), (1.0, 0.5, "a".to_owned()));
        assert_eq!(GroupStats::of(&rows, |_| None), None);
    }
}
