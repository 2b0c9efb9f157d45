//! The figures of a population: median, 5th percentile and worst of each class of cases, who was
//! faster in how many of them, and the slowest cases.

use serde::Serialize;

use crate::{
    measure::stats::quantile,
    suite::{ElementClass, NAIVE, Row, SizeClass},
};

/// The slowest cases of a size that are listed.
const SLOWEST: usize = 10;

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
    /// The size of elements: `4 bytes and more`, `1 or 2 bytes`; `all` for a family.
    pub elements: &'static str,
    /// How many cases.
    pub cases: usize,
    /// The fraction of copy bandwidth of copies; the efficiency of other work.
    pub score: Quantiles,
    /// The speed as a multiple of that of the naive loop.
    pub naive_speedup: Quantiles,
    /// The naive loop, and each library that ran any of the cases.
    pub slower_than: Vec<SlowerThan>,
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
        slower_than: slower_than(rows),
    }
}

impl Quantiles {
    /// Zeros without values.
    pub fn of(mut values: Vec<f64>) -> Quantiles {
        values.sort_by(f64::total_cmp);
        let at = |share| quantile(&values, share).unwrap_or(0.0);
        Quantiles { median: at(0.5), fifth_percentile: at(0.05), worst: at(0.0) }
    }
}

fn slower_than(rows: &[&Row]) -> Vec<SlowerThan> {
    let mut names = vec![NAIVE];
    for peer in rows.iter().flat_map(|row| &row.peers) {
        if peer.preallocated_ns.is_some() && !names.contains(&peer.name.as_str()) {
            names.push(&peer.name);
        }
    }
    let count = |name: &str| SlowerThan {
        name: name.to_owned(),
        cases: rows.iter().filter(|row| row.slower_than.iter().any(|other| other == name)).count(),
        of: rows.iter().filter(|row| row.is_raced_by(name)).count(),
    };
    names.into_iter().map(count).collect()
}

/// Below 32 kB a plain copy takes a few nanoseconds, which nothing else does: there, copies are
/// ranked by their speedup over the naive loop.
fn rank(row: &Row) -> f64 {
    match SizeClass::named(&row.group) {
        Some(SizeClass::Small) if row.is_copy() => row.naive_speedup(),
        _ => row.score(),
    }
}

fn slowest(rows: &[&Row]) -> Slowest {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let ids = rows.iter().take(SLOWEST).map(|row| row.id.clone()).collect();
    Slowest { group: rows[0].group.clone(), ids }
}
