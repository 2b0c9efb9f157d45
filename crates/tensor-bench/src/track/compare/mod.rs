//! Comparison of two records: what changed, and what is a regression.
//!
//! Paths, instructions and cache misses are the same in every run of a build, so a change beyond a
//! small limit is a change of the build. A time has changed only if the passes of one record are
//! beyond those of the other, all but one of each, by more than a limit. The same must be true of
//! the share of copy bandwidth, if it was measured; otherwise the machine was slower. Records of
//! different machines are compared by counts and shares only.

mod accept;
mod change;
mod formats;
pub(super) mod rules;
mod text;

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use super::{Entry, Record, counting::Counting};
use crate::{Failure, Result};
pub use accept::Accepted;
pub use change::{Change, ChangeKind, Verdict};
pub use formats::{bencher, github_action_benchmark, json};
pub use text::{markdown, table};

/// The limits of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Instructions, as a fraction of the base.
    pub instructions: f64,
    /// Cache misses.
    pub misses: f64,
    /// Time and share of copy bandwidth, beyond the noise of the records.
    pub time: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { instructions: 0.01, misses: 0.05, time: 0.1 }
    }
}

/// Which changes are gating. Missing cases always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Paths, SIMD levels, instructions, cache misses
    Counts,
    /// Times
    Time,
    /// Both
    All,
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The base commit.
    pub base: String,
    /// The new commit.
    pub new: String,
    /// Whether both records have the same kind of machine and run. Otherwise times are not
    /// compared.
    pub alike: bool,
    /// Whether counts were compared.
    pub counted: bool,
    /// Notes on what limits the comparison.
    pub notes: Vec<String>,
    /// Cases with a change, the worst first.
    pub changed: Vec<Judged>,
    /// Cases that only the new record has.
    pub added: Vec<String>,
    /// The number of cases that did not change.
    pub unchanged: usize,
}

/// A case with its changes, the worst first.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The name of the case.
    pub case: String,
    /// The changes.
    pub changes: Vec<Change>,
}

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The base record.
    pub base: &'a Record,
    /// The new record.
    pub new: &'a Record,
    /// A second pair of records: changes of time must be in both pairs.
    pub again: Option<(&'a Record, &'a Record)>,
    /// The limits.
    pub limits: Limits,
    /// What is gating.
    pub fail_on: FailOn,
    /// Whether missing counts are gating.
    pub counts_needed: bool,
    /// The accepted changes.
    pub accepted: &'a Accepted,
}

/// The name for changes of whole records.
const WHOLE: &str = "all";

impl Question<'_> {
    /// Compares the records.
    ///
    /// # Errors
    /// Records without a common case.
    pub fn answer(&self) -> Result<Comparison> {
        let Question { base, new, .. } = *self;
        let common = base.cases.iter().filter(|entry| new.entry(&entry.name).is_some()).count();
        if common == 0 {
            return Err(Failure::input("the two records have no case in common"));
        }
        let mut changed: Vec<Judged> = base.cases.iter().map(|entry| self.case(entry)).collect();
        changed.push(self.whole());
        let all = changed.len() - 1;
        changed.retain(|judged| !judged.changes.is_empty());
        let unchanged = all - changed.iter().filter(|judged| judged.case != WHOLE).count();
        changed.sort_by(|a, b| a.changes[0].order(&b.changes[0]));
        let added = new.cases.iter().filter(|entry| base.entry(&entry.name).is_none());
        let added = added.map(|entry| entry.name.clone()).collect();
        let notes = self.notes(&changed);
        let (alike, counted) = (rules::alike(base, new), rules::counts_comparable(base, new));
        let (base, new) = (base.build.short(), new.build.short());
        Ok(Comparison { base, new, alike, counted, notes, changed, added, unchanged })
    }

    fn case(&self, base: &Entry) -> Judged {
        let changes = match self.new.entry(&base.name) {
            None => vec![Change::missing("the case is missing")],
            Some(new) if new.work() != base.work() => {
                let (was, is) = (base.work(), new.work());
                vec![Change::missing(&format!(
                    "the case is not the same: it was {was}, it is {is}"
                ))]
            }
            Some(new) => {
                let changes = rules::case((self.base, self.new), &self.limits, base, new);
                self.confirmed(changes, |(x, y)| {
                    let (a, b) = x.entry(&base.name).zip(y.entry(&base.name))?;
                    Some(rules::case((x, y), &self.limits, a, b))
                })
            }
        };
        self.judged(&base.name, changes)
    }

    /// What concerns no single case.
    fn whole(&self) -> Judged {
        let changes = rules::whole(self.base, self.new, self.counts_needed);
        let again = |(x, y): (&Record, &Record)| Some(rules::whole(x, y, self.counts_needed));
        self.judged(WHOLE, self.confirmed(changes, again))
    }

    /// Drops the changes of time that the second pair does not have. A pair that is of other
    /// machines or runs, or lacks the case, says nothing.
    fn confirmed(
        &self,
        mut changes: Vec<Change>,
        of: impl Fn((&Record, &Record)) -> Option<Vec<Change>>,
    ) -> Vec<Change> {
        let pair = self
            .again
            .filter(|(base, new)| rules::alike(base, new) && rules::alike(self.base, base));
        if let Some(again) = pair.and_then(of) {
            changes.retain(|a| !a.kind.is_timed() || again.iter().any(|b| a.is_like(b)));
        }
        changes
    }

    /// Sets the verdict of each change.
    fn judged(&self, case: &str, mut changes: Vec<Change>) -> Judged {
        for change in changes.iter_mut().filter(|change| change.verdict == Verdict::Worse) {
            change.verdict = match self.accepted.reason(case, change.kind) {
                Some(reason) => Verdict::Accepted(reason.to_owned()),
                None if change.kind.fails(self.fail_on) => Verdict::Regression,
                None => Verdict::Worse,
            };
        }
        changes.sort_by(Change::order);
        Judged { case: case.to_owned(), changes }
    }

    fn notes(&self, changed: &[Judged]) -> Vec<String> {
        let mut notes = rules::notes(self.base, self.new);
        notes.extend(self.accepted.unused(changed));
        notes
    }
}

impl Comparison {
    /// The cases with a regression.
    pub fn regressions(&self) -> impl Iterator<Item = &Judged> {
        self.changed.iter().filter(|judged| judged.is(&Verdict::Regression))
    }

    /// Fails if there is a regression.
    ///
    /// # Errors
    /// [`Failure::Work`] with the number of regressions and the worst one.
    pub fn check(&self) -> Result<()> {
        let regressions: Vec<&Judged> = self.regressions().collect();
        let Some(worst) = regressions.first() else { return Ok(()) };
        let s = if regressions.len() == 1 { "" } else { "s" };
        Err(Failure::work(format!("{} regression{s}; the worst: {worst}", regressions.len())))
    }
}

impl Judged {
    /// Whether one of the changes has this verdict.
    pub fn is(&self, verdict: &Verdict) -> bool {
        self.changes.iter().any(|change| change.verdict == *verdict)
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.changes[0])
    }
}

fn counted_at(record: &Record) -> Option<&str> {
    match &record.counting {
        Counting::By { simd, .. } => Some(simd),
        Counting::Missing { .. } => None,
    }
}

#[cfg(test)]
mod regret_tests;
#[cfg(test)]
mod tests;
