//! History: the figures of each case through many records, and the records at which they changed.
//!
//! A step is a record that differs from the records since the last step: another path, counts
//! beyond the limits of a comparison, or a time beyond the noise of both records. A time must also
//! differ in the record after it, because one slow run is not a step; in the last record it is not
//! confirmed yet. Another machine (times) or SIMD level (counts) starts anew. Records without the
//! figure are skipped.

use clap::ValueEnum;
use serde::Serialize;

use super::{
    Entry, Record,
    compare::{Change, ChangeKind, Limits, rules},
};

/// The figure that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Instructions of a run
    Instructions,
    /// Callgrind's estimate of cycles
    Cycles,
    /// Misses of the first-level caches
    L1Misses,
    /// Misses of all caches
    LlMisses,
    /// The median time, in nanoseconds
    Time,
}

/// A record and its file.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// The name of the file.
    pub file: String,
    /// The record.
    pub record: Record,
}

/// One case through all records.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub case: String,
    /// The figure in each record; `None` where a record does not have it.
    pub values: Vec<Option<f64>>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A record at which a case changed.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The index of the record.
    pub at: usize,
    /// Its file.
    pub file: String,
    /// The commit.
    pub commit: String,
    /// What has changed.
    pub changes: Vec<Change>,
    /// Whether a later record confirms it, or it is a count and needs no confirmation.
    pub confirmed: bool,
}

impl Figure {
    /// Instructions if any record has counts, otherwise times.
    pub fn best_of(records: &[StoredRecord]) -> Figure {
        let counted = records.iter().any(|stored| stored.record.is_counted());
        if counted { Figure::Instructions } else { Figure::Time }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Figure::Instructions => "instructions",
            Figure::Cycles => "estimated cycles",
            Figure::L1Misses => "L1 misses",
            Figure::LlMisses => "LL misses",
            Figure::Time => "time in ns",
        }
    }

    fn of(self, entry: &Entry) -> Option<f64> {
        let run = entry.counts.as_ref().map(|counts| counts.run);
        match self {
            Figure::Instructions => run.map(|cost| cost.instructions as f64),
            Figure::Cycles => run.map(|cost| cost.cycles as f64),
            Figure::L1Misses => run.map(|cost| cost.l1_misses as f64),
            Figure::LlMisses => run.map(|cost| cost.ll_misses as f64),
            Figure::Time => Some(entry.times.run.median_ns),
        }
    }

    /// Whether the change is one of this figure. Paths belong to every figure.
    fn concerns(self, change: &Change) -> bool {
        match change.kind {
            ChangeKind::Path => true,
            ChangeKind::Time => self == Figure::Time,
            ChangeKind::L1Misses => matches!(self, Figure::L1Misses | Figure::Cycles),
            ChangeKind::LlMisses => matches!(self, Figure::LlMisses | Figure::Cycles),
            ChangeKind::Instructions => matches!(self, Figure::Instructions | Figure::Cycles),
            ChangeKind::Allocator => self == Figure::Instructions,
            ChangeKind::Missing | ChangeKind::Simd | ChangeKind::Share | ChangeKind::Regret => {
                false
            }
        }
    }
}

/// Follows every case through records in order of time. The case with the most recent step comes
/// first.
pub fn follow(records: &[StoredRecord], figure: Figure) -> Vec<Line> {
    let mut names: Vec<&str> = Vec::new();
    for entry in records.iter().flat_map(|stored| &stored.record.cases) {
        if !names.contains(&entry.name.as_str()) {
            names.push(&entry.name);
        }
    }
    let mut lines: Vec<Line> = names.iter().map(|name| line(records, figure, name)).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.steps.last().map(|step| step.at)));
    lines
}

fn line(records: &[StoredRecord], figure: Figure, case: &str) -> Line {
    let value = |stored: &StoredRecord| figure.of(stored.record.entry(case)?);
    let values: Vec<Option<f64>> = records.iter().map(value).collect();
    let mut known = (0..records.len()).filter(|at| values[*at].is_some());
    let (mut steps, mut since) = (Vec::new(), known.next().unwrap_or(0));
    let known: Vec<usize> = known.collect();
    for (place, &at) in known.iter().enumerate() {
        let course = Course { records, figure, case, from: since };
        let step = course.step(at, &known[place + 1..]);
        if step.is_some() || !course.goes_on(at) {
            since = at;
        }
        steps.extend(step);
    }
    Line { case: case.to_owned(), values, steps }
}

/// A case since its last step.
struct Course<'a> {
    records: &'a [StoredRecord],
    figure: Figure,
    case: &'a str,
    from: usize,
}

impl Course<'_> {
    fn pair(&self, to: usize) -> (&Record, &Record) {
        (&self.records[self.from].record, &self.records[to].record)
    }

    /// Whether the figure of that record is comparable with the ones before.
    fn goes_on(&self, to: usize) -> bool {
        let (a, b) = self.pair(to);
        if self.figure == Figure::Time {
            rules::alike(a, b)
        } else {
            rules::counts_comparable(a, b)
        }
    }

    /// The changes against the last step.
    fn changes(&self, to: usize) -> Vec<Change> {
        let (a, b) = self.pair(to);
        let entries = a.entry(self.case).zip(b.entry(self.case));
        let all = entries.map(|(x, y)| rules::case((a, b), &Limits::default(), x, y));
        let mut all = all.unwrap_or_default();
        all.retain(|change| self.figure.concerns(change));
        all
    }

    /// The step at a record, if there is one. A time must also differ in the next comparable
    /// record.
    fn step(&self, at: usize, later: &[usize]) -> Option<Step> {
        let mut changes = self.changes(at);
        let next = later.iter().find(|next| self.goes_on(**next)).map(|next| self.changes(*next));
        if let Some(next) = &next {
            changes.retain(|a| a.kind != ChangeKind::Time || next.iter().any(|b| a.is_like(b)));
        }
        let confirmed =
            next.is_some() || changes.iter().any(|change| change.kind != ChangeKind::Time);
        let StoredRecord { file, record } = &self.records[at];
        let (file, commit) = (file.clone(), record.build.short());
        (!changes.is_empty()).then_some(Step { at, file, commit, changes, confirmed })
    }
}

/// The last `width` values as blocks of eight heights, from smallest to largest; a dot for a
/// missing value.
pub fn sparkline(values: &[Option<f64>], width: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = &values[values.len().saturating_sub(width)..];
    let known = || shown.iter().flatten().copied();
    let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
    // Changes of less than a hundredth are drawn flat.
    let range = (high - low).max(high * 0.01);
    let block = |value: f64| BLOCKS[(((value - low) / range) * 7.0).round() as usize];
    shown.iter().map(|value| value.map_or('·', block)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::track::record::tests::record;

    fn stored(changes: &[fn(&mut Entry)]) -> Vec<StoredRecord> {
        let one = |(at, change): (usize, &fn(&mut Entry))| {
            let mut record = record();
            record.build.commit = Some(format!("c{at}"));
            change(&mut record.cases[0]);
            StoredRecord { file: format!("{at}.json"), record }
        };
        changes.iter().enumerate().map(one).collect()
    }

    fn steps(records: &[StoredRecord], figure: Figure) -> Vec<(String, String)> {
        let lines = follow(records, figure);
        let line = lines.iter().find(|line| line.case == "g/a").unwrap();
        let said = |step: &Step| (step.commit.clone(), step.changes[0].to_string());
        line.steps.iter().map(said).collect()
    }

    const SAME: fn(&mut Entry) = |_| ();
    const MORE: fn(&mut Entry) = |entry| entry.counts.as_mut().unwrap().run.instructions = 12_000;
    const SLOW: fn(&mut Entry) = |entry| {
        let run = &mut entry.times.run;
        (run.best_ns, run.median_ns) = (200.0, 206.0);
        run.passes.iter_mut().for_each(|pass| *pass *= 2.0);
    };
    const UNCOUNTED: fn(&mut Entry) = |entry| entry.counts = None;

    #[test]
    fn a_step_is_found_at_its_record_and_only_there() {
        let records = stored(&[SAME, SAME, MORE, MORE, SAME]);
        let said = [("c2", "12000, +20.0 %"), ("c4", "10000, -16.7 %")];
        for (found, (commit, text)) in steps(&records, Figure::Instructions).iter().zip(said) {
            assert!(found.0 == commit && found.1.ends_with(text), "{found:?}");
        }
        assert_eq!(steps(&records, Figure::Instructions).len(), 2);
        assert!(steps(&records, Figure::Time).is_empty());
    }

    #[test]
    fn records_without_the_figure_are_passed_over() {
        for records in [[UNCOUNTED, SAME, SAME, MORE], [SAME, UNCOUNTED, UNCOUNTED, MORE]] {
            let found = steps(&stored(&records), Figure::Instructions);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, "c3");
        }
    }

    #[test]
    fn one_slow_run_is_not_a_step() {
        assert!(steps(&stored(&[SAME, SLOW, SAME, SAME]), Figure::Time).is_empty());
        let found = steps(&stored(&[SAME, SAME, SLOW, SLOW]), Figure::Time);
        let said = "time (run) 103 ns -> 206 ns, 2.0 times".to_owned();
        assert_eq!(found, [("c2".to_owned(), said)]);
        let confirmed = |records: &[fn(&mut Entry)]| {
            let lines = follow(&stored(records), Figure::Time);
            lines[0].steps.iter().map(|step| step.confirmed).collect::<Vec<_>>()
        };
        assert_eq!(confirmed(&[SAME, SAME, SLOW, SLOW]), [true]);
        assert_eq!(confirmed(&[SAME, SAME, SLOW]), [false]);
    }

    #[test]
    fn a_step_is_confirmed_on_the_machine_it_was_found_on() {
        let mut records = stored(&[SAME, SAME, SLOW, SLOW, SLOW]);
        records[3].record.machine.cores = 64;
        assert_eq!(steps(&records, Figure::Time).len(), 1);
    }

    #[test]
    fn a_path_is_a_step_whatever_is_followed() {
        let records = stored(&[SAME, |entry| entry.path = "blocked".to_owned()]);
        let expected = [("c1".to_owned(), "path transpose -> blocked".to_owned())];
        assert_eq!(steps(&records, Figure::Time), expected);
        assert_eq!(steps(&records, Figure::Instructions), expected);
    }

    #[test]
    fn times_of_another_machine_begin_anew() {
        let mut records = stored(&[SAME, SLOW, SLOW]);
        for stored in &mut records[1..] {
            stored.record.machine.cores = 64;
        }
        assert!(steps(&records, Figure::Time).is_empty());
    }

    #[test]
    fn values_are_drawn_between_the_smallest_and_the_largest() {
        let values = [Some(1.0), None, Some(8.0), Some(4.5)];
        assert_eq!(sparkline(&values, 10), "▁·█▅");
        assert_eq!(sparkline(&values, 2), "█▁");
        assert_eq!(sparkline(&[Some(1000.0), Some(1001.0)], 9), "▁▂");
        assert_eq!(sparkline(&[None], 9), "·");
    }
}
