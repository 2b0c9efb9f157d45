//! One thing that has changed.

use std::{cmp::Ordering, fmt};

use serde::Serialize;

use super::FailOn;

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A case, or all counts, are not in the new record.
    Missing,
    /// The SIMD level.
    Simd,
    /// The path that a layout takes.
    Path,
    /// Instructions that go into memory given out and taken back.
    Allocator,
    /// Instructions executed.
    Instructions,
    /// Lines that missed the first-level caches.
    L1Misses,
    /// Lines that missed all caches.
    LlMisses,
    /// The time.
    Time,
    /// The share of the roof, where times cannot be compared.
    Share,
}

/// What a change means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse, and it counts.
    Regression,
    /// Worse, but it was not asked for.
    Worse,
    /// Worse, and accepted, for a reason.
    Accepted(String),
    /// Better.
    Better,
}

/// One thing that has changed, in one part of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What.
    pub kind: Kind,
    /// Planning, running, or running into a fresh result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
    /// What it was.
    pub base: String,
    /// What it is.
    pub new: String,
    /// New over old, more being worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// What it means.
    pub verdict: Verdict,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 9] = [
        Kind::Missing,
        Kind::Simd,
        Kind::Path,
        Kind::Allocator,
        Kind::Instructions,
        Kind::L1Misses,
        Kind::LlMisses,
        Kind::Time,
        Kind::Share,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Missing => "missing",
            Kind::Simd => "SIMD level",
            Kind::Path => "path",
            Kind::Allocator => "allocator instructions",
            Kind::Instructions => "instructions",
            Kind::L1Misses => "L1 misses",
            Kind::LlMisses => "LL misses",
            Kind::Time => "time",
            Kind::Share => "share of copy bandwidth",
        }
    }

    /// In a list of accepted changes.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Simd => "simd",
            Kind::Allocator => "allocator",
            Kind::L1Misses => "l1-misses",
            Kind::LlMisses => "ll-misses",
            Kind::Share => "share",
            other => other.words(),
        }
    }

    /// Is it found by a clock?
    pub(super) fn is_timed(self) -> bool {
        matches!(self, Kind::Time | Kind::Share)
    }

    pub(super) fn fails(self, on: FailOn) -> bool {
        let timed = self.is_timed();
        match (self, on) {
            (Kind::Missing, _) | (_, FailOn::All) => true,
            (_, FailOn::Counts) => !timed,
            (_, FailOn::Time) => timed,
        }
    }
}

impl Change {
    pub(super) fn new(kind: Kind, base: &impl ToString, new: &impl ToString) -> Change {
        let (base, new) = (base.to_string(), new.to_string());
        Change { kind, part: None, base, new, ratio: None, verdict: Verdict::Worse }
    }

    pub(super) fn missing(what: &str) -> Change {
        Change::new(Kind::Missing, &"", &what)
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

    /// Is it the same change, by another amount?
    pub(in crate::track) fn is_like(&self, other: &Change) -> bool {
        let better = |change: &Change| change.verdict == Verdict::Better;
        (self.kind, self.part, better(self)) == (other.kind, other.part, better(other))
    }

    /// The worst first: what counts before what does not, then by kind, then by how much.
    pub(super) fn order(&self, other: &Change) -> Ordering {
        let rank = |change: &Change| match change.verdict {
            Verdict::Regression => 0,
            Verdict::Worse => 1,
            Verdict::Accepted(_) => 2,
            Verdict::Better => 3,
        };
        let group = |change: &Change| change.kind.min(Kind::Allocator);
        let ratio = |change: &Change| change.ratio.unwrap_or(f64::INFINITY);
        (rank(self), group(self))
            .cmp(&(rank(other), group(other)))
            .then_with(|| ratio(other).total_cmp(&ratio(self)))
            .then_with(|| self.kind.cmp(&other.kind))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == Kind::Missing {
            return f.write_str(&self.new);
        }
        write!(f, "{}", self.kind.words())?;
        if let Some(part) = self.part {
            write!(f, " ({})", part_words(part))?;
        }
        write!(f, " {} -> {}", self.base, self.new)?;
        // A share is worse when it is less.
        match self.ratio.map(|ratio| if self.kind == Kind::Share { 1.0 / ratio } else { ratio }) {
            Some(ratio) if ratio.is_finite() => write!(f, ", {}", Relative(ratio)),
            _ => Ok(()),
        }
    }
}

/// A part of a case in words. Documents call the allocating run `fresh`.
pub(super) fn part_words(part: &str) -> &str {
    if part == "fresh" { "allocating" } else { part }
}

/// A ratio as people say it: `+12.3 %`, `3.4 times`.
struct Relative(f64);

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ratio if ratio >= 2.0 => write!(f, "{ratio:.1} times"),
            ratio => write!(f, "{:+.1} %", (ratio - 1.0) * 100.0),
        }
    }
}
