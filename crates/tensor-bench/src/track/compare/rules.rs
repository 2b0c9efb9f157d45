//! The rules for what is a change.

use super::{Change, ChangeKind, Limits, change::part_words, counted_at};
use crate::{
    output::render::{percent, time},
    track::{
        Entry, Record,
        counting::Counting,
        profile::{Cost, Counts},
        regret::Regret,
        timing::{Span, Times, median},
    },
};

/// Smaller differences come from register allocation.
const MIN_INSTRUCTIONS_CHANGE: u64 = 10;

/// The instructions of the allocator vary; one more allocation adds more than this.
const ALLOCATOR_LIMIT: f64 = 0.25;

/// Smaller differences come from the addresses of code and data.
const MIN_MISSES_CHANGE: u64 = 32;

/// Smaller differences are below the resolution of the clock.
const MIN_TIME_CHANGE_NS: f64 = 2.0;

/// A smaller rise of the regret may come from the addresses of arrays.
const REGRET_LIMIT: f64 = 0.25;

/// From this many passes on, one pass of each record may be an outlier.
const MIN_PASSES_FOR_OUTLIER: usize = 7;

/// Whether both records have the same kind of machine and of run.
pub(in crate::track) fn alike(base: &Record, new: &Record) -> bool {
    same_machine(base, new) && same_run(base, new)
}

fn same_machine(base: &Record, new: &Record) -> bool {
    base.machine.is_same_hardware(&new.machine)
}

fn same_run(base: &Record, new: &Record) -> bool {
    let what = |record: &Record| (record.run.threads, record.run.quick, record.run.simd.clone());
    what(base) == what(new)
}

/// Whether counts have the same SIMD level, or the same machine, on which a change of the level is
/// a change of the build.
pub(in crate::track) fn counts_comparable(base: &Record, new: &Record) -> bool {
    match (counted_at(base), counted_at(new)) {
        (Some(a), Some(b)) => a == b || alike(base, new),
        _ => false,
    }
}

/// Whether callgrind simulated the same caches for both.
fn same_caches(base: &Record, new: &Record) -> bool {
    match (&base.counting, &new.counting) {
        (Counting::By { caches: a, .. }, Counting::By { caches: b, .. }) => a == b,
        _ => false,
    }
}

/// Notes on what limits the comparison.
pub(super) fn notes(base: &Record, new: &Record) -> Vec<String> {
    let (a, b) = (&base.machine, &new.machine);
    let mut notes = Vec::new();
    if !alike(base, new) {
        let how = if same_machine(base, new) { "different runs" } else { "different machines" };
        let [a, b] = [(a, &base.run), (b, &new.run)].map(|(card, run)| {
            let cpu = card.processor();
            format!("{cpu}, {} cores, {}, threads {}", card.cores, card.simd, run.threads)
        });
        notes.push(format!(
            "{how} ({a}; {b}): counts and shares of copy bandwidth are compared, times are not"
        ));
    }
    if base.build.rustc != new.build.rustc {
        let (a, b) = (&base.build.rustc, &new.build.rustc);
        notes.push(format!("different compilers ({a}; {b}): counts may differ for that reason"));
    }
    notes.extend(counting_note(base, new));
    notes
}

fn counting_note(base: &Record, new: &Record) -> Option<String> {
    match (&base.counting, &new.counting) {
        (Counting::Missing { because: a }, Counting::Missing { because: b }) => {
            Some(format!("neither record has counts ({a}; {b}): only paths and times are compared"))
        }
        (Counting::Missing { because }, _) => {
            Some(format!("the base record has no counts: {because}"))
        }
        (Counting::By { simd: a, .. }, Counting::By { simd: b, .. }) if a != b => {
            let skipped = if counts_comparable(base, new) { "" } else { ": they are not compared" };
            Some(format!("counts of SIMD level {a} and of level {b}{skipped}"))
        }
        (Counting::By { caches: a, .. }, Counting::By { caches: b, .. }) if a != b => Some(
            format!("cache lines were counted with other caches ({a}; {b}): they are not compared"),
        ),
        (Counting::By { valgrind: a, .. }, Counting::By { valgrind: b, .. }) if a != b => {
            Some(format!("counts by {a} and by {b}"))
        }
        _ => None,
    }
}

/// The change of the planner's regret, for records of one machine: both the figure and the passes
/// must differ.
fn regret(base: &Record, new: &Record) -> Option<Change> {
    let (a, b) = base.regret.as_ref().zip(new.regret.as_ref())?;
    if !alike(base, new) || a.cases != b.cases {
        return None;
    }
    let text = |regret: f64| format!("{regret:.2}");
    let change = Change::new(ChangeKind::Regret, &text(a.p95), &text(b.p95)).by(b.p95 / a.p95);
    let above = |x: &Regret, y: &Regret| {
        y.p95 > x.p95 * (1.0 + REGRET_LIMIT) && beyond(&x.passes, &y.passes, REGRET_LIMIT)
    };
    changed(change, above(a, b), above(b, a))
}

/// The changes of whole records.
pub(super) fn whole(base: &Record, new: &Record, counts_needed: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    match (&base.counting, &new.counting) {
        (Counting::By { .. }, Counting::Missing { because }) => {
            changes.push(Change::missing(&format!("the counts are missing: {because}")));
        }
        _ if counts_needed && !counts_comparable(base, new) => {
            changes.push(Change::missing("counts were asked for, and there are none to compare"));
        }
        _ => {}
    }
    // Also of runs with other settings: who set a lower level for one of them should know.
    if same_machine(base, new) {
        let counted = counted_at(base).zip(counted_at(new));
        let levels = [Some((base.machine.simd.as_str(), new.machine.simd.as_str())), counted];
        let changed = levels.into_iter().flatten().find(|(a, b)| a != b);
        changes.extend(changed.map(|(a, b)| simd(a, b)));
    }
    changes.extend(regret(base, new));
    changes
}

/// Any level is better than `scalar`; the other names sort by width.
fn simd(base: &str, new: &str) -> Change {
    let rank = |level: &str| (level != "scalar", level.to_owned());
    let change = Change::new(ChangeKind::Simd, &base, &new);
    if rank(new) > rank(base) { change.better() } else { change }
}

/// The changes of a case between two records.
pub(in crate::track) fn case(
    (before, after): (&Record, &Record),
    limits: &Limits,
    base: &Entry,
    new: &Entry,
) -> Vec<Change> {
    let mut changes = Vec::new();
    if base.path != new.path {
        changes.push(Change::new(ChangeKind::Path, &base.path, &new.path));
    }
    if counts_comparable(before, after) {
        match (&base.counts, &new.counts) {
            (Some(base), Some(new)) => {
                let lines = same_caches(before, after);
                let mut counts = counts(limits, base, new);
                counts.retain(|c| {
                    lines || !matches!(c.kind, ChangeKind::L1Misses | ChangeKind::LlMisses)
                });
                changes.extend(counts);
            }
            (Some(_), None) => changes.push(Change::missing("its counts are missing")),
            (None, _) => {}
        }
    }
    changes.extend(match alike(before, after) {
        true => times(limits, &base.times, &new.times),
        false => shares(limits, &base.times, &new.times),
    });
    changes
}

fn counts(limits: &Limits, base: &Counts, new: &Counts) -> Vec<Change> {
    let (a, b) = (base.allocator, new.allocator);
    let mut changes = Vec::new();
    changes.extend(number(ChangeKind::Allocator, a, b, ALLOCATOR_LIMIT, MIN_INSTRUCTIONS_CHANGE));
    for (part, base) in base.parts() {
        match new.parts().find(|(name, _)| *name == part) {
            Some((_, new)) => changes
                .extend(costs(limits, base, new).into_iter().map(|change| change.in_part(part))),
            None => changes
                .push(Change::missing(&format!("the counts of {} are missing", part_words(part)))),
        }
    }
    changes
}

fn costs(limits: &Limits, base: Cost, new: Cost) -> Vec<Change> {
    let kinds = [
        (ChangeKind::Instructions, base.instructions, new.instructions, limits.instructions),
        (ChangeKind::L1Misses, base.l1_misses, new.l1_misses, limits.misses),
        (ChangeKind::LlMisses, base.ll_misses, new.ll_misses, limits.misses),
    ];
    let least = |kind| {
        if kind == ChangeKind::Instructions { MIN_INSTRUCTIONS_CHANGE } else { MIN_MISSES_CHANGE }
    };
    let changes = kinds.map(|(kind, base, new, limit)| number(kind, base, new, limit, least(kind)));
    changes.into_iter().flatten().collect()
}

/// A change if the numbers differ by more than the fraction `limit` and by at least `least`.
fn number(kind: ChangeKind, base: u64, new: u64, limit: f64, least: u64) -> Option<Change> {
    let apart = base.abs_diff(new);
    let (smaller, larger) = (base.min(new) as f64, base.max(new) as f64);
    if apart < least || larger <= smaller * (1.0 + limit) {
        return None;
    }
    let change = Change::new(kind, &base, &new).by(new as f64 / base as f64);
    Some(if new > base { change } else { change.better() })
}

/// The times that have changed, for records of one machine.
fn times(limits: &Limits, base: &Times, new: &Times) -> Vec<Change> {
    parts(base, new, |part, a, b| {
        let relative = base.plain_copy.as_deref().zip(new.plain_copy.as_deref());
        let relative = relative.map(|(x, y)| (over(&a.passes, x), over(&b.passes, y)));
        let beyond = |a: &[f64], b: &[f64]| beyond(a, b, limits.time);
        let longer =
            |a: &[f64], b: &[f64]| beyond(a, b) && typical(b) - typical(a) > MIN_TIME_CHANGE_NS;
        let worse =
            longer(&a.passes, &b.passes) && relative.as_ref().is_none_or(|(a, b)| beyond(a, b));
        let better =
            longer(&b.passes, &a.passes) && relative.as_ref().is_none_or(|(a, b)| beyond(b, a));
        let (a, b) = (typical(&a.passes), typical(&b.passes));
        let change = Change::new(ChangeKind::Time, &time(a), &time(b)).by(b / a).in_part(part);
        changed(change, worse, better)
    })
}

/// The shares of copy bandwidth that have changed.
fn shares(limits: &Limits, base: &Times, new: &Times) -> Vec<Change> {
    let Some((x, y)) = base.plain_copy.as_deref().zip(new.plain_copy.as_deref()) else {
        return Vec::new();
    };
    parts(base, new, |part, a, b| {
        let (a, b) = (over(&a.passes, x), over(&b.passes, y));
        let (was, is) = (typical(&a), typical(&b));
        let change = Change::new(ChangeKind::Share, &share(1.0 / was), &share(1.0 / is));
        let (worse, better) = (beyond(&a, &b, limits.time), beyond(&b, &a, limits.time));
        changed(change.by(is / was).in_part(part), worse, better)
    })
}

/// Applies a rule to every part that the base has.
fn parts(
    base: &Times,
    new: &Times,
    rule: impl Fn(&'static str, &Span, &Span) -> Option<Change>,
) -> Vec<Change> {
    let part = |(part, span)| match new.parts().find(|(name, _)| *name == part) {
        Some((_, other)) => rule(part, span, other),
        None => Some(Change::missing(&format!("the times of {} are missing", part_words(part)))),
    };
    base.parts().filter_map(part).collect()
}

fn changed(change: Change, worse: bool, better: bool) -> Option<Change> {
    match (worse, better) {
        (true, _) => Some(change),
        (_, true) => Some(change.better()),
        _ => None,
    }
}

/// Times relative to the plain copy of their pass.
fn over(passes: &[f64], plain_copy: &[f64]) -> Vec<f64> {
    passes.iter().zip(plain_copy).map(|(time, plain_copy)| time / plain_copy).collect()
}

fn typical(passes: &[f64]) -> f64 {
    median(passes.iter().copied())
}

/// Whether the passes of `new` are beyond those of `base` by more than a limit. One pass of each
/// may be an outlier, if there are at least [`MIN_PASSES_FOR_OUTLIER`].
///
/// If nothing changed, this happens by chance in one of six hundred comparisons of nine passes.
fn beyond(base: &[f64], new: &[f64], limit: f64) -> bool {
    let sorted = |passes: &[f64]| {
        let mut sorted = passes.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (base, new) = (sorted(base), sorted(new));
    let spare = usize::from(base.len().min(new.len()) >= MIN_PASSES_FOR_OUTLIER);
    let slowest = base.len().checked_sub(1 + spare).and_then(|at| base.get(at));
    slowest.zip(new.get(spare)).is_some_and(|(slowest, fastest)| *fastest > slowest * (1.0 + limit))
}

/// A share of copy bandwidth; small ones have a decimal.
fn share(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", share * 100.0) } else { percent(share) }
}
