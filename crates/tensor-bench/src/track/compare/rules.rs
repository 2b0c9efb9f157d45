//! When something has changed.

use super::{Change, Kind, Limits, counted_at};
use crate::{
    render::{percent, time},
    track::{
        Entry, Record,
        counting::Counting,
        profile::{Cost, Counts},
        timing::{Share, Span, Times},
    },
};

/// Fewer instructions than this are where a compiler happens to put a move.
const FEW_INSTRUCTIONS: u64 = 10;

/// The allocator takes shorter and longer ways; an allocation more is more than this.
const ALLOCATOR_LIMIT: f64 = 0.25;

/// Fewer lines than this are where code and data happen to lie.
const FEW_LINES: u64 = 32;

/// Less is the clock's grain.
const LITTLE_TIME_NS: f64 = 2.0;

/// Were both taken in one way, on machines of one kind?
pub(in crate::track) fn alike(base: &Record, new: &Record) -> bool {
    let (a, b) = (&base.machine, &new.machine);
    (&a.cpu, a.cores, &a.caches, &a.system) == (&b.cpu, b.cores, &b.caches, &b.system)
        && same_run(base, new)
}

fn same_run(base: &Record, new: &Record) -> bool {
    (base.run.threads, &base.run.simd) == (new.run.threads, &new.run.simd)
}

/// Are the counts of both of one SIMD level, or would they be if nothing had changed?
fn counts_comparable(base: &Record, new: &Record) -> bool {
    match (counted_at(base), counted_at(new)) {
        (Some(a), Some(b)) => a == b || alike(base, new),
        _ => false,
    }
}

/// What a reader should know of the two.
pub(super) fn notes(base: &Record, new: &Record) -> Vec<String> {
    let (a, b) = (&base.machine, &new.machine);
    let mut notes = Vec::new();
    if !alike(base, new) {
        let how = if same_run(base, new) { "unlike machines" } else { "unlike runs" };
        let [a, b] = [(a, &base.run), (b, &new.run)].map(|(card, run)| {
            let cpu = card.cpu.as_deref().unwrap_or("unknown CPU");
            format!("{cpu}, {} cores, {}, threads {}", card.cores, card.simd, run.threads)
        });
        notes.push(format!("{how} ({a}; {b}): only counts and shares are compared, not times"));
    }
    if base.build.rustc != new.build.rustc {
        let (a, b) = (&base.build.rustc, &new.build.rustc);
        notes.push(format!("different compilers ({a}; {b}): they change counts, too"));
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
        (Counting::By { valgrind: a, .. }, Counting::By { valgrind: b, .. }) if a != b => {
            Some(format!("counts by {a} and by {b}"))
        }
        _ => None,
    }
}

/// What has changed of everything at once.
pub(super) fn whole(base: &Record, new: &Record) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Counting::By { .. }, Counting::Missing { because }) = (&base.counting, &new.counting) {
        changes.push(Change::missing(&format!("the counts are gone: {because}")));
    }
    if alike(base, new) {
        let counted = counted_at(base).zip(counted_at(new));
        let levels = [Some((base.machine.simd.as_str(), new.machine.simd.as_str())), counted];
        let changed = levels.into_iter().flatten().find(|(a, b)| a != b);
        changes.extend(changed.map(|(a, b)| simd(a, b)));
    }
    changes
}

/// Any level is better than the portable one, and the names of the others sort by width.
fn simd(base: &str, new: &str) -> Change {
    let rank = |level: &str| (level != "scalar", level.to_owned());
    let change = Change::new(Kind::Simd, &base, &new);
    if rank(new) > rank(base) { change.better() } else { change }
}

/// What has changed of a case between two records.
pub(in crate::track) fn case(
    (before, after): (&Record, &Record),
    limits: &Limits,
    base: &Entry,
    new: &Entry,
) -> Vec<Change> {
    let mut changes = Vec::new();
    if base.path != new.path {
        changes.push(Change::new(Kind::Path, &base.path, &new.path));
    }
    if counts_comparable(before, after) {
        match (&base.counts, &new.counts) {
            (Some(base), Some(new)) => changes.extend(counts(limits, base, new)),
            (Some(_), None) => changes.push(Change::missing("its counts are gone")),
            (None, _) => {}
        }
    }
    changes.extend(match alike(before, after) {
        true => timing(limits, &base.times, &new.times),
        false => share(limits, &base.times, &new.times),
    });
    changes
}

fn counts(limits: &Limits, base: &Counts, new: &Counts) -> Vec<Change> {
    let (a, b) = (base.allocator, new.allocator);
    let mut changes = Vec::new();
    changes.extend(number(Kind::Allocator, a, b, ALLOCATOR_LIMIT, FEW_INSTRUCTIONS));
    for (part, base) in base.parts() {
        match new.parts().find(|(name, _)| *name == part) {
            Some((_, new)) => changes
                .extend(costs(limits, base, new).into_iter().map(|change| change.in_part(part))),
            None => changes.push(Change::missing(&format!("the counts of {part} are gone"))),
        }
    }
    changes
}

fn costs(limits: &Limits, base: Cost, new: Cost) -> Vec<Change> {
    let kinds = [
        (Kind::Instructions, base.instructions, new.instructions, limits.instructions),
        (Kind::L1Misses, base.l1_misses, new.l1_misses, limits.misses),
        (Kind::LlMisses, base.ll_misses, new.ll_misses, limits.misses),
    ];
    let least = |kind| if kind == Kind::Instructions { FEW_INSTRUCTIONS } else { FEW_LINES };
    let changes = kinds.map(|(kind, base, new, limit)| number(kind, base, new, limit, least(kind)));
    changes.into_iter().flatten().collect()
}

/// A number that differs by more than a share of itself, and by at least so much.
fn number(kind: Kind, base: u64, new: u64, limit: f64, least: u64) -> Option<Change> {
    let apart = base.abs_diff(new);
    let (smaller, larger) = (base.min(new) as f64, base.max(new) as f64);
    if apart < least || larger <= smaller * (1.0 + limit) {
        return None;
    }
    let change = Change::new(kind, &base, &new).by(new as f64 / base as f64);
    Some(if new > base { change } else { change.better() })
}

fn timing(limits: &Limits, base: &Times, new: &Times) -> Option<Change> {
    let shares = base.share.as_ref().zip(new.share.as_ref());
    let change = || {
        let (a, b) = (base.run.median_ns, new.run.median_ns);
        Change::new(Kind::Time, &time(a), &time(b)).by(b / a)
    };
    if longer(limits, &base.run, &new.run) && shares.is_none_or(|(a, b)| lower(limits, a, b)) {
        return Some(change());
    }
    let better =
        longer(limits, &new.run, &base.run) && shares.is_none_or(|(a, b)| lower(limits, b, a));
    better.then(|| change().better())
}

/// Is even the best of `new` beyond the slowest pass of `base`?
fn longer(limits: &Limits, base: &Span, new: &Span) -> bool {
    new.best_ns > base.worst_ns * (1.0 + limits.time)
        && new.best_ns - base.worst_ns > LITTLE_TIME_NS
}

fn share(limits: &Limits, base: &Times, new: &Times) -> Option<Change> {
    let (base, new) = base.share.as_ref().zip(new.share.as_ref())?;
    let change =
        Change::new(Kind::Share, &percent(base.best), &percent(new.best)).by(base.best / new.best);
    match (lower(limits, base, new), lower(limits, new, base)) {
        (true, _) => Some(change),
        (_, true) => Some(change.better()),
        _ => None,
    }
}

/// Is even the best share of `new` below the worst of `base`?
fn lower(limits: &Limits, base: &Share, new: &Share) -> bool {
    new.best * (1.0 + limits.time) < base.worst
}
