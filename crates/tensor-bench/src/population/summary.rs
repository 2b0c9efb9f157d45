//! The figures of a population: median, 5th percentile and worst of each class of cases, who was
//! faster in how many of them, and the slowest cases.

use serde::Serialize;

use crate::{
    measure::stats::quantile,
    suite::{ElementClass, NAIVE, Row, SizeClass},
};

/// The slowest cases of a size that are listed.
pub(super) const SLOWEST: usize = 10;

/// The name under which cases are counted that any library was faster in.
pub(super) const ANY_LIBRARY: &str = "any library";

/// The figures of all cases with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The number of threads.
    pub threads: usize,
    /// One for each size of results and of elements.
    pub classes: Vec<Class>,
    /// One for each family, over all sizes.
    pub families: Vec<Class>,
    /// Of each size, the cases of the lowest score, lowest first; of copies below 32 kB, those of
    /// the lowest speedup over the naive loop.
    pub slowest: Vec<Slowest>,
}

/// The figures of some of the cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// The group of the cases, or their family.
    pub name: String,
    /// The size of elements: `4 B and more`, `1 or 2 B`; `all` for a family.
    pub elements: &'static str,
    /// How many cases.
    pub cases: usize,
    /// The fraction of copy bandwidth of copies; the efficiency of other work.
    pub score: Quantiles,
    /// The speed as a multiple of that of the naive loop.
    pub naive_speedup: Quantiles,
    /// The bounds; `None` without `--bound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundQuantiles>,
    /// The naive loop, each library that ran any of the cases, and any of these libraries.
    pub slower_than: Vec<SlowerThan>,
}

/// The bounds of copies, or of elementwise operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BoundQuantiles {
    /// The fraction of copy bandwidth, or of the contiguous speed, that they reach.
    pub score: Quantiles,
    /// The share of them that the cases reach.
    pub share: Quantiles,
}

/// Of ratios for which more is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Half of the cases lie below.
    pub median: f64,
    /// One case in twenty lies below.
    pub fifth_percentile: f64,
    /// The smallest.
    pub worst: f64,
}

/// In how many cases a contender was faster by over 5 %, measured twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlowerThan {
    /// The naive loop or a library.
    pub name: String,
    /// The cases in which it was faster …
    pub cases: usize,
    /// … of those that it can do.
    pub of: usize,
}

/// The slowest cases of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slowest {
    /// The size.
    pub group: String,
    /// The ids of the cases, slowest first.
    pub ids: Vec<String>,
}

/// Summaries for each number of threads, in the order of the rows.
pub fn summaries(rows: &[Row]) -> Vec<Summary> {
    let mut threads: Vec<usize> = Vec::new();
    for row in rows {
        if !threads.contains(&row.threads) {
            threads.push(row.threads);
        }
    }
    let of = |threads: usize| rows.iter().filter(move |row| row.threads == threads).collect();
    threads.into_iter().map(|threads| summary(threads, of(threads))).collect()
}

fn summary(threads: usize, mut rows: Vec<&Row>) -> Summary {
    let by_family = parts(&rows, |row| row.family.clone());
    rows.sort_by_key(|row| (SizeClass::named(&row.group), row.elements()));
    let by_class = parts(&rows, |row| (row.group.clone(), row.elements()));
    let classes = by_class.iter().map(|rows| {
        let elements = rows[0].elements().map_or("unknown", ElementClass::name);
        class(&rows[0].group, elements, rows)
    });
    let families = by_family.iter().filter_map(|rows| {
        let family = rows[0].family.as_deref()?;
        Some(class(family, "all", rows))
    });
    Summary {
        threads,
        classes: classes.collect(),
        families: families.collect(),
        slowest: parts(&rows, |row| row.group.clone()).iter().map(|rows| slowest(rows)).collect(),
    }
}

/// The rows of each key, in the order of the first of each.
fn parts<'a, K: PartialEq>(rows: &[&'a Row], key: impl Fn(&Row) -> K) -> Vec<Vec<&'a Row>> {
    let mut parts: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match parts.iter_mut().find(|part| key(part[0]) == key(row)) {
            Some(part) => part.push(row),
            None => parts.push(vec![row]),
        }
    }
    parts
}

fn class(name: &str, elements: &'static str, rows: &[&Row]) -> Class {
    Class {
        name: name.to_owned(),
        elements,
        cases: rows.len(),
        score: Quantiles::of(rows.iter().map(|row| row.score()).collect()),
        naive_speedup: Quantiles::of(rows.iter().map(|row| row.naive_speedup()).collect()),
        bound: bounds(rows),
        slower_than: slower_than(rows),
    }
}

fn bounds(rows: &[&Row]) -> Option<BoundQuantiles> {
    let all = |ratio: fn(&Row) -> Option<f64>| {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| ratio(row)).collect();
        (!ratios.is_empty()).then(|| Quantiles::of(ratios))
    };
    Some(BoundQuantiles { score: all(Row::bound_score)?, share: all(Row::share_of_bound)? })
}

impl Quantiles {
    /// Zeros without values.
    pub fn of(mut values: Vec<f64>) -> Quantiles {
        values.sort_by(f64::total_cmp);
        let at = |share| quantile(&values, share).unwrap_or(0.0);
        Quantiles { median: at(0.5), fifth_percentile: at(0.05), worst: at(0.0) }
    }
}

/// None if a row does not say: those of old records do not.
fn slower_than(rows: &[&Row]) -> Vec<SlowerThan> {
    if rows.iter().any(|row| row.slower_than.is_none()) {
        return Vec::new();
    }
    let mut names = vec![NAIVE];
    for peer in rows.iter().flat_map(|row| &row.peers) {
        if peer.preallocated_ns.is_some() && !names.contains(&peer.name.as_str()) {
            names.push(&peer.name);
        }
    }
    let count = |name: &str| SlowerThan {
        name: name.to_owned(),
        cases: rows
            .iter()
            .filter(|row| row.slower_than.iter().flatten().any(|other| other == name))
            .count(),
        of: rows.iter().filter(|row| row.is_raced_by(name)).count(),
    };
    let mut counts: Vec<_> = names.iter().map(|name| count(name)).collect();
    if let [_, libraries @ ..] = names.as_slice()
        && !libraries.is_empty()
    {
        counts.push(slower_than_any(rows, libraries));
    }
    counts
}

fn slower_than_any(rows: &[&Row], libraries: &[&str]) -> SlowerThan {
    let raced = |row: &&&Row| libraries.iter().any(|name| row.is_raced_by(name));
    let slower = |row: &&&Row| {
        row.slower_than.iter().flatten().any(|name| libraries.contains(&name.as_str()))
    };
    SlowerThan {
        name: ANY_LIBRARY.to_owned(),
        cases: rows.iter().filter(slower).count(),
        of: rows.iter().filter(raced).count(),
    }
}

/// Below 32 kB a plain copy takes a few nanoseconds, which nothing else does: there, copies are
/// ranked by their speedup over the naive loop.
pub(super) fn by_speedup(row: &Row) -> bool {
    row.is_copy() && SizeClass::named(&row.group) == Some(SizeClass::Small)
}

fn rank(row: &Row) -> f64 {
    if by_speedup(row) { row.naive_speedup() } else { row.score() }
}

fn slowest(rows: &[&Row]) -> Slowest {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let ids = rows.iter().take(SLOWEST).map(|row| row.id.clone()).collect();
    Slowest { group: rows[0].group.clone(), ids }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{PeerTimes, tests::row};

    fn copy(group: &str, dtype: &str, speed: f64) -> Row {
        let id = format!("{group}_{dtype}_{speed}");
        let preallocated_ns = 80.0 / speed;
        let (group, dtype) = (group.to_owned(), dtype.to_owned());
        Row { group, dtype, preallocated_ns, family: Some("flip".to_owned()), ..row(&id) }
    }

    #[test]
    fn classes_are_sizes_with_wide_elements_before_narrow_ones() {
        let rows = [
            copy("large", "u8", 0.5),
            copy("small", "f32", 0.4),
            copy("large", "f64", 0.9),
            copy("large", "u16", 0.1),
        ];
        let summary = &summaries(&rows)[0];
        let classes: Vec<_> =
            summary.classes.iter().map(|class| (class.name.as_str(), class.elements)).collect();
        let [wide, narrow] = [ElementClass::Wide, ElementClass::Narrow].map(ElementClass::name);
        assert_eq!(classes, [("small", wide), ("large", wide), ("large", narrow)]);
        let score = summary.classes[2].score;
        assert!((score.median - 0.3).abs() < 1e-9 && (score.worst - 0.1).abs() < 1e-9, "{score:?}");
        assert!((score.fifth_percentile - 0.12).abs() < 1e-9, "{score:?}");
        assert_eq!((summary.families.len(), summary.families[0].cases), (1, 4));
    }

    #[test]
    fn every_number_of_threads_has_a_summary() {
        let rows = [copy("large", "u8", 0.5), Row { threads: 2, ..copy("large", "u8", 0.5) }];
        let threads: Vec<_> = summaries(&rows).iter().map(|summary| summary.threads).collect();
        assert_eq!(threads, [1, 2]);
    }

    #[test]
    fn the_slowest_are_by_score_and_small_copies_by_their_speedup() {
        let mut rows: Vec<Row> =
            (1..=12).map(|tenths| copy("large", "f32", f64::from(tenths) / 10.0)).collect();
        let loses = Row { naive_ns: 60.0, ..copy("small", "f32", 0.9) };
        rows.extend([copy("small", "f32", 0.4), loses]);
        let slowest = &summaries(&rows)[0].slowest;
        assert_eq!(slowest[0].ids, ["small_f32_0.9", "small_f32_0.4"]);
        assert_eq!((slowest[1].ids.len(), slowest[1].ids[0].as_str()), (10, "large_f32_0.1"));
    }

    #[test]
    fn who_was_faster_is_counted_among_the_cases_it_can_do() {
        let peer = |name: &str, ns| PeerTimes {
            name: name.to_owned(),
            preallocated_ns: ns,
            allocating_ns: None,
        };
        let beside = |slower_than: &[&str], peers| Row {
            slower_than: Some(slower_than.iter().map(|name| (*name).to_owned()).collect()),
            peers,
            ..copy("large", "f32", 0.5)
        };
        let rows = [
            beside(&["a"], vec![peer("a", Some(1.0)), peer("b", None)]),
            beside(&["naive loop"], vec![peer("a", Some(300.0))]),
            beside(&[], vec![peer("c", None)]),
        ];
        let counts = &summaries(&rows)[0].classes[0].slower_than;
        let counts: Vec<_> = counts.iter().map(|c| (c.name.as_str(), c.cases, c.of)).collect();
        assert_eq!(counts, [("naive loop", 1, 3), ("a", 1, 2), ("any library", 1, 2)]);
    }
}
