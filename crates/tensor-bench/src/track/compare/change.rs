//! One change of a case.

use std::{cmp::Ordering, fmt};

use serde::Serialize;

use super::FailOn;

/// The kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A case, or counts, are missing in the new record.
    Missing,
    /// The SIMD level.
    Simd,
    /// The path.
    Path,
    /// Instructions of the allocator.
    Allocator,
    /// Instructions executed.
    Instructions,
    /// Misses of the first-level caches.
    L1Misses,
    /// Misses of all caches.
    LlMisses,
    /// The time.
    Time,
    /// The share of copy bandwidth, if times cannot be compared.
    Share,
    /// The regret of the planner over the random copies.
    Regret,
}

/// The verdict on a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse, and gating.
    Regression,
    /// Worse, but not gating.
    Worse,
    /// Worse, but accepted, with the reason.
    Accepted(String),
    /// Better.
    Better,
}

/// One change in one part of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The kind.
    pub kind: ChangeKind,
    /// The part: `plan`, `run` (preallocated) or `fresh` (allocating).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
    /// The old value.
    pub base: String,
    /// The new value.
    pub new: String,
    /// New over old; more is worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [ChangeKind; 10] = [
        ChangeKind::Missing,
        ChangeKind::Simd,
        ChangeKind::Path,
        ChangeKind::Allocator,
        ChangeKind::Instructions,
        ChangeKind::L1Misses,
        ChangeKind::LlMisses,
        ChangeKind::Time,
        ChangeKind::Share,
        ChangeKind::Regret,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            ChangeKind::Missing => "missing",
            ChangeKind::Simd => "SIMD level",
            ChangeKind::Path => "path",
            ChangeKind::Allocator => "allocator instructions",
            ChangeKind::Instructions => "instructions",
            ChangeKind::L1Misses => "L1 misses",
            ChangeKind::LlMisses => "LL misses",
            ChangeKind::Time => "time",
            ChangeKind::Share => "share of copy bandwidth",
            ChangeKind::Regret => "regret of the plans (95th percentile)",
        }
    }

    /// The name in a list of accepted changes.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Simd => "simd",
            ChangeKind::Allocator => "allocator",
            ChangeKind::L1Misses => "l1-misses",
            ChangeKind::LlMisses => "ll-misses",
            ChangeKind::Share => "share",
            ChangeKind::Regret => "regret",
            other => other.words(),
        }
    }

    /// Whether it is measured by a clock.
    pub(super) fn is_timed(self) -> bool {
        matches!(self, ChangeKind::Time | ChangeKind::Share | ChangeKind::Regret)
    }

    pub(super) fn fails(self, on: FailOn) -> bool {
        let timed = self.is_timed();
        match (self, on) {
            (ChangeKind::Missing, _) | (_, FailOn::All) => true,
            (_, FailOn::Counts) => !timed,
            (_, FailOn::Time) => timed,
        }
    }
}

impl Change {
    pub(super) fn new(kind: ChangeKind, base: &impl ToString, new: &impl ToString) -> Change {
        let (base, new) = (base.to_string(), new.to_string());
        Change { kind, part: None, base, new, ratio: None, verdict: Verdict::Worse }
    }

    pub(super) fn missing(what: &str) -> Change {
        Change::new(ChangeKind::Missing, &"", &what)
    }

    #[must_use]
    pub(super) fn by(self, ratio: f64) -> Change {
        Change { ratio: Some(ratio), ..self }
    }

    #[must_use]
    pub(super) fn better(self) -> Change {
        Change { verdict: Verdict::Better, ..self }
    }

    #[must_use]
    pub(super) fn in_part(self, part: &'static str) -> Change {
        Change { part: Some(part), ..self }
    }

    /// Whether it is the same change, possibly by another amount.
    pub(in crate::track) fn is_like(&self, other: &Change) -> bool {
        let better = |change: &Change| change.verdict == Verdict::Better;
        (self.kind, self.part, better(self)) == (other.kind, other.part, better(other))
    }

    /// Orders the worst first: by verdict, then by kind, then by amount.
    pub(super) fn order(&self, other: &Change) -> Ordering {
        let rank = |change: &Change| match change.verdict {
            Verdict::Regression => 0,
            Verdict::Worse => 1,
            Verdict::Accepted(_) => 2,
            Verdict::Better => 3,
        };
        let group = |change: &Change| change.kind.min(ChangeKind::Allocator);
        let ratio = |change: &Change| change.ratio.unwrap_or(f64::INFINITY);
        (rank(self), group(self))
            .cmp(&(rank(other), group(other)))
            .then_with(|| ratio(other).total_cmp(&ratio(self)))
            .then_with(|| self.kind.cmp(&other.kind))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == ChangeKind::Missing {
            return f.write_str(&self.new);
        }
        write!(f, "{}", self.kind.words())?;
        if let Some(part) = self.part {
            write!(f, " ({})", part_words(part))?;
        }
        write!(f, " {} -> {}", self.base, self.new)?;
        // A smaller share is worse.
        match self
            .ratio
            .map(|ratio| if self.kind == ChangeKind::Share { 1.0 / ratio } else { ratio })
        {
            Some(ratio) if ratio.is_finite() => write!(f, ", {}", Relative(ratio)),
            _ => Ok(()),
        }
    }
}

/// A part of a case in words. Documents call the allocating run `fresh`.
pub(super) fn part_words(part: &str) -> &str {
    if part == "fresh" { "allocating" } else { part }
}

/// A ratio in words: `+12.3 %`, `3.4 times`.
struct Relative(f64);

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ratio if ratio >= 2.0 => write!(f, "{ratio:.1} times"),
            ratio => write!(f, "{:+.1} %", (ratio - 1.0) * 100.0),
        }
    }
}
