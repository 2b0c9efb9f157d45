//! One record held against another: what has changed, and whether it counts as worse.
//!
//! Paths, instructions and cache lines are the same in every run of a build, so any change beyond a small limit is a change of the
//! build. A time has changed only if the passes of one record are beyond those of the other, all but one of each, and by more than a limit; and where
//! the roof was measured beside it, the same is true of the share of the roof, for then it was not the machine. Records of unlike machines are held
//! against each other by counts and shares alone.

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
pub use change::{Change, Kind, Verdict};
pub use formats::{bencher, github_action_benchmark, json};
pub use text::{markdown, table};

/// How much is too much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Instructions, as a share of what they were.
    pub instructions: f64,
    /// Lines that missed a cache.
    pub misses: f64,
    /// Time, and the share of the roof, beyond what the records scatter.
    pub time: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { instructions: 0.01, misses: 0.05, time: 0.1 }
    }
}

/// What makes a comparison fail. Cases that are gone always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Paths, SIMD levels, instructions, cache lines
    Counts,
    /// Times
    Time,
    /// Both
    All,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The commits.
    pub base: String,
    /// The commits.
    pub new: String,
    /// Were both recorded in one way on machines of one kind? Otherwise times were not compared.
    pub alike: bool,
    /// Were counts compared?
    pub counted: bool,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Cases with a change, the worst first.
    pub changed: Vec<Judged>,
    /// Cases that only the new record has.
    pub added: Vec<String>,
    /// How many cases did not change.
    pub unchanged: usize,
}

/// A case with its changes, the worst first.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Its name.
    pub case: String,
    /// What has changed.
    pub changes: Vec<Change>,
}

/// What is done with what.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// What was.
    pub base: &'a Record,
    /// What is.
    pub new: &'a Record,
    /// Two more of them: what a clock finds must be found there, too.
    pub again: Option<(&'a Record, &'a Record)>,
    /// How much is too much.
    pub limits: Limits,
    /// What makes it fail.
    pub fail_on: FailOn,
    /// Does it fail without counts, too?
    pub counts_needed: bool,
    /// What was accepted beforehand.
    pub accepted: &'a Accepted,
}

/// The name that changes of whole records are listed under.
const WHOLE: &str = "all";

impl Question<'_> {
    /// Holds one record against the other.
    ///
    /// # Errors
    /// Records that have no case in common.
    pub fn answer(&self) -> Result<Comparison> {
        let Question { base, new, .. } = *self;
        let common = base.cases.iter().filter(|entry| new.entry(&entry.name).is_some()).count();
        if common == 0 {
            return Err(Failure::input("the two records have no case in common"));
        }
        let mut changed: Vec<Judged> = base.cases.iter().map(|entry| self.case(entry)).collect();
        changed.push(self.judged(WHOLE, rules::whole(base, new, self.counts_needed)));
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
                self.confirmed(base, rules::case((self.base, self.new), &self.limits, base, new))
            }
        };
        self.judged(&base.name, changes)
    }

    /// Without the times that are not as much otherwise in the second two records.
    fn confirmed(&self, base: &Entry, mut changes: Vec<Change>) -> Vec<Change> {
        if let Some((x, y)) = self.again {
            let entries = x.entry(&base.name).zip(y.entry(&base.name));
            let again = entries.map(|(a, b)| rules::case((x, y), &self.limits, a, b));
            let again = again.unwrap_or_default();
            changes.retain(|a| !a.kind.is_timed() || again.iter().any(|b| a.is_like(b)));
        }
        changes
    }

    /// Decides which of the changes count.
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
    /// The cases that make it fail.
    pub fn regressions(&self) -> impl Iterator<Item = &Judged> {
        self.changed.iter().filter(|judged| judged.is(&Verdict::Regression))
    }

    /// Makes a failure of it.
    ///
    /// # Errors
    /// [`Failure::Work`] that counts the regressions and names the worst.
    pub fn check(&self) -> Result<()> {
        let regressions: Vec<&Judged> = self.regressions().collect();
        let Some(worst) = regressions.first() else { return Ok(()) };
        let s = if regressions.len() == 1 { "" } else { "s" };
        Err(Failure::work(format!("{} regression{s}; the worst: {worst}", regressions.len())))
    }
}

impl Judged {
    /// Has one of the changes this verdict?
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
mod tests;
