//! What counts as a change, as a table: a record, what is done to it, what must be said.

use super::*;
use crate::track::record::tests::{entry, record};

fn compare(base: &Record, new: &Record, fail_on: FailOn, accepted: &str) -> Comparison {
    let accepted = Accepted::read(accepted).unwrap();
    let limits = Limits::default();
    Question { base, new, limits, fail_on, accepted: &accepted }.answer().unwrap()
}

/// The same record after something was done to its first case.
fn with(change: impl FnOnce(&mut Entry)) -> Record {
    let mut record = record();
    change(&mut record.cases[0]);
    record
}

fn slower(by: f64) -> impl FnOnce(&mut Entry) {
    move |entry| {
        let run = &mut entry.times.run;
        for ns in [&mut run.best_ns, &mut run.median_ns, &mut run.worst_ns] {
            *ns *= by;
        }
        let share = entry.times.share.as_mut().unwrap();
        (share.best, share.worst) = (share.best / by, share.worst / by);
    }
}

fn found(comparison: &Comparison) -> Vec<String> {
    comparison.changed.iter().map(ToString::to_string).collect()
}

#[test]
fn a_record_does_not_differ_from_itself() {
    for fail_on in [FailOn::Counts, FailOn::Time, FailOn::All] {
        let comparison = compare(&record(), &record(), fail_on, "");
        assert!(comparison.changed.is_empty() && comparison.notes.is_empty(), "{comparison:?}");
        assert_eq!((comparison.unchanged, comparison.alike), (2, true));
        comparison.check().unwrap();
    }
}

#[test]
fn what_is_worse_is_named_and_fails() {
    let counts = |change: fn(&mut crate::track::profile::Counts)| {
        with(|entry| change(entry.counts.as_mut().unwrap()))
    };
    let table = [
        (with(|entry| entry.path = "grid".to_owned()), "g/a: path tile -> grid"),
        (counts(|c| c.run.instructions = 10_101), "g/a: instructions (run) 10000 -> 10101, +1.0 %"),
        (
            counts(|c| c.plan.as_mut().unwrap().instructions = 600),
            "g/a: instructions (plan) 500 -> 600, +20.0 %",
        ),
        (counts(|c| c.run.l1_misses = 3000), "g/a: L1 misses (run) 1000 -> 3000, 3.0 times"),
        (counts(|c| c.run.ll_misses = 140), "g/a: LL misses (run) 100 -> 140, +40.0 %"),
        (counts(|c| c.allocator = 200), "g/a: allocator instructions 100 -> 200, 2.0 times"),
        (with(|entry| entry.counts = None), "g/a: its counts are gone"),
        (counts(|c| c.plan = None), "g/a: the counts of plan are gone"),
    ];
    for (new, said) in table {
        let comparison = compare(&record(), &new, FailOn::Counts, "");
        assert_eq!(found(&comparison), [said]);
        let error = comparison.check().unwrap_err();
        assert_eq!((error.exit_code(), comparison.unchanged), (1, 1), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        let missing = comparison.changed[0].changes[0].kind == Kind::Missing;
        assert_eq!(compare(&record(), &new, FailOn::Time, "").check().is_err(), missing, "{said}");
    }
}

#[test]
fn what_is_small_is_not_a_change() {
    let new = with(|entry| {
        let counts = entry.counts.as_mut().unwrap();
        counts.run.instructions = 10_100;
        counts.plan.as_mut().unwrap().instructions = 509;
        counts.run.l1_misses = 1050;
        counts.run.ll_misses = 131;
        counts.allocator = 125;
        entry.plan = "the same in other words".to_owned();
    });
    assert_eq!(found(&compare(&record(), &new, FailOn::All, "")), [""; 0]);
}

#[test]
fn what_is_better_is_said_and_does_not_fail() {
    let new = with(|entry| entry.counts.as_mut().unwrap().run.instructions = 5_000);
    let comparison = compare(&record(), &new, FailOn::All, "");
    assert_eq!(found(&comparison), ["g/a: instructions (run) 10000 -> 5000, -50.0 %"]);
    assert_eq!(comparison.changed[0].changes[0].verdict, Verdict::Better);
    comparison.check().unwrap();
}

#[test]
fn a_time_must_leave_the_noise_of_both_and_so_must_its_share_of_the_roof() {
    let times = |change: Record, on| {
        let comparison = compare(&record(), &change, on, "");
        (found(&comparison), comparison.check().is_err())
    };
    let (said, fails) = times(with(slower(1.3)), FailOn::All);
    assert_eq!((said, fails), (vec!["g/a: time 103 ns -> 134 ns, +30.0 %".to_owned()], true));
    assert!(times(with(slower(1.3)), FailOn::Time).1);
    assert_eq!(
        times(with(slower(1.3)), FailOn::Counts),
        (times(with(slower(1.3)), FailOn::All).0, false)
    );
    // 110 ns are beyond the slowest pass of the base, 106 ns, but by less than the limit.
    assert_eq!(times(with(slower(1.1)), FailOn::All), (vec![], false));
    // The whole machine was slower: the share is what it was.
    let share = entry("g/a").times.share;
    let machine = |entry: &mut Entry| {
        slower(1.3)(entry);
        entry.times.share = share;
    };
    assert_eq!(times(with(machine), FailOn::All), (vec![], false));
}

#[test]
fn a_case_that_is_gone_fails_and_a_new_one_is_listed() {
    let mut other = record();
    other.cases[0].name = "g/c".to_owned();
    let comparison = compare(&record(), &other, FailOn::Time, "");
    assert_eq!(found(&comparison), ["g/a: the case is gone"]);
    assert_eq!(comparison.added, ["g/c"]);
    assert!(comparison.check().is_err());
    other.cases.truncate(1);
    let accepted = Accepted::default();
    let (base, limits) = (record(), Limits::default());
    let question =
        Question { base: &base, new: &other, limits, fail_on: FailOn::All, accepted: &accepted };
    let error = question.answer().unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
}

#[test]
fn unlike_machines_are_compared_by_counts_and_shares() {
    let mut other = with(slower(1.3));
    other.machine.cpu = Some("another CPU".to_owned());
    other.machine.simd = "v3".to_owned();
    other.cases[1].counts.as_mut().unwrap().run.instructions = 20_000;
    let comparison = compare(&record(), &other, FailOn::All, "");
    assert!(!comparison.alike && comparison.notes[0].starts_with("unlike machines (some CPU, 2 "));
    assert_eq!(
        found(&comparison),
        [
            "g/b: instructions (run) 10000 -> 20000, 2.0 times",
            "g/a: share of the roof 90 % -> 69 %, +30.0 %"
        ]
    );
}

#[test]
fn a_level_that_has_fallen_on_the_same_machine_is_a_regression() {
    let mut other = record();
    other.machine.simd = "scalar".to_owned();
    let comparison = compare(&record(), &other, FailOn::Counts, "");
    assert_eq!(found(&comparison), ["(all cases): SIMD level v4 -> scalar"]);
    assert_eq!(comparison.unchanged, 2);
    assert!(comparison.check().is_err());
    assert!(compare(&other, &record(), FailOn::All, "").check().is_ok());
    // Asked for, it is another way of running.
    other.run.simd = Some("scalar".to_owned());
    let comparison = compare(&record(), &other, FailOn::Counts, "");
    assert_eq!(found(&comparison), [""; 0]);
    assert!(comparison.notes[0].starts_with("unlike runs"), "{comparison:?}");
}

#[test]
fn counts_that_are_gone_fail_and_counts_that_never_were_are_said() {
    let mut uncounted = record();
    uncounted.counting = Counting::Missing { because: "no valgrind".to_owned() };
    uncounted.cases.iter_mut().for_each(|entry| entry.counts = None);
    let comparison = compare(&record(), &uncounted, FailOn::Counts, "");
    assert_eq!(found(&comparison), ["(all cases): the counts are gone: no valgrind"]);
    assert!(comparison.check().is_err());
    for (base, new) in [(&uncounted, &uncounted), (&uncounted, &record())] {
        let comparison = compare(base, new, FailOn::Counts, "");
        assert!(comparison.notes[0].contains("no valgrind"), "{comparison:?}");
        comparison.check().unwrap();
    }
}

#[test]
fn what_was_accepted_does_not_fail_and_what_was_not_met_is_said() {
    let new = with(|entry| entry.path = "grid".to_owned());
    let list = "g/* path grids are enough here\ng/b time once upon a time\n";
    let comparison = compare(&record(), &new, FailOn::All, list);
    let reason = Verdict::Accepted("grids are enough here".to_owned());
    assert_eq!(comparison.changed[0].changes[0].verdict, reason);
    assert_eq!(comparison.notes, ["accepted, but not met: g/b time"]);
    comparison.check().unwrap();
}

#[test]
fn the_worst_comes_first() {
    let mut new = record();
    new.cases.push(entry("g/c"));
    let mut base = new.clone();
    base.cases.push(entry("g/d"));
    new.cases[0].counts.as_mut().unwrap().run.instructions = 20_000;
    new.cases[1].counts.as_mut().unwrap().run.l1_misses = 9_000;
    new.cases[2].path = "grid".to_owned();
    let order: Vec<String> =
        compare(&base, &new, FailOn::Counts, "").changed.into_iter().map(|j| j.case).collect();
    assert_eq!(order, ["g/d", "g/c", "g/b", "g/a"]);
}

#[test]
fn tables_and_markdown_have_every_change_once() {
    let mut new = with(|entry| entry.path = "grid|<b>".to_owned());
    new.cases[1].counts.as_mut().unwrap().run.instructions = 5_000;
    let comparison = compare(&record(), &new, FailOn::Counts, "g/z any never\n");
    let text = table(&comparison);
    assert!(text.contains("REGRESSION  g/a\n            path tile -> grid|<b>\n"), "{text}");
    assert!(text.ends_with("\n1 regression, 1 better\n"), "{text}");
    assert!(text.contains("note: accepted, but not met: g/z any\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let text = markdown(&comparison);
    assert!(text.starts_with("### Performance: 1 regression, 1 better\n"), "{text}");
    assert!(text.contains("| REGRESSION | g/a | path tile -&gt; grid\\|&lt;b&gt; |\n"), "{text}");
    assert!(text.contains("<details><summary>1 better</summary>"), "{text}");
}

#[test]
fn public_formats_have_a_number_for_every_measure() {
    let bmf = bencher(&record());
    assert_eq!(bmf["g/a/run"]["instructions"]["value"], 10_000.0);
    assert_eq!(bmf["g/a/plan"]["instructions"]["value"], 500.0);
    assert_eq!(bmf["g/a/run"]["latency"]["lower_value"], 100.0);
    assert_eq!(bmf["g/a/run"]["latency"]["upper_value"], 106.0);
    let list = github_action_benchmark(&record());
    let list = list.as_array().unwrap();
    let first = &list[0];
    assert_eq!((&first["name"], &first["unit"]), (&"g/a/run latency".into(), &"ns".into()));
    assert_eq!((&first["value"], &first["range"]), (&103.0.into(), &"± 3.0".into()));
    assert_eq!(list.len(), 2 * (1 + 3 * 4));
}
