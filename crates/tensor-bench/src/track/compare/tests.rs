//! What is a change: a record, an edit, and the expected words.

use super::*;
use crate::{
    system::machine::Identity,
    track::{
        record::tests::{entry, record},
        timing::Span,
    },
};

pub(super) fn compare(base: &Record, new: &Record, fail_on: FailOn, accepted: &str) -> Comparison {
    let accepted = Accepted::read(accepted).unwrap();
    let limits = Limits::default();
    let counts_needed = false;
    Question { base, new, again: None, limits, fail_on, counts_needed, accepted: &accepted }
        .answer()
        .unwrap()
}

/// The record with its first case changed.
fn with(change: impl FnOnce(&mut Entry)) -> Record {
    let mut record = record();
    change(&mut record.cases[0]);
    record
}

/// Every pass slower, and so its share of copy bandwidth smaller.
fn slower(by: f64) -> impl FnOnce(&mut Entry) {
    move |entry| stretch(&mut entry.times.run, by)
}

fn stretch(span: &mut Span, by: f64) {
    span.best_ns *= by;
    span.median_ns *= by;
    span.passes.iter_mut().for_each(|pass| *pass *= by);
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
        (with(|entry| entry.path = "blocked".to_owned()), "g/a: path transpose -> blocked"),
        (counts(|c| c.run.instructions = 10_101), "g/a: instructions (run) 10000 -> 10101, +1.0 %"),
        (
            counts(|c| c.plan.as_mut().unwrap().instructions = 600),
            "g/a: instructions (plan) 500 -> 600, +20.0 %",
        ),
        (counts(|c| c.run.l1_misses = 3000), "g/a: L1 misses (run) 1000 -> 3000, 3.0 times"),
        (counts(|c| c.run.ll_misses = 140), "g/a: LL misses (run) 100 -> 140, +40.0 %"),
        (counts(|c| c.allocator = 200), "g/a: allocator instructions 100 -> 200, 2.0 times"),
        (with(|entry| entry.counts = None), "g/a: its counts are missing"),
        (counts(|c| c.plan = None), "g/a: the counts of plan are missing"),
    ];
    for (new, said) in table {
        let comparison = compare(&record(), &new, FailOn::Counts, "");
        assert_eq!(found(&comparison), [said]);
        let error = comparison.check().unwrap_err();
        assert_eq!((error.exit_code(), comparison.unchanged), (1, 1), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        let missing = comparison.changed[0].changes[0].kind == ChangeKind::Missing;
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

pub(super) fn times(change: &Record, on: FailOn) -> (Vec<String>, bool) {
    let comparison = compare(&record(), change, on, "");
    (found(&comparison), comparison.check().is_err())
}

#[test]
fn a_time_must_leave_the_noise_of_both_and_so_must_its_share_of_copy_bandwidth() {
    let said = "g/a: time (run) 103 ns -> 134 ns, +30.0 %".to_owned();
    assert_eq!(times(&with(slower(1.3)), FailOn::All), (vec![said.clone()], true));
    assert_eq!(times(&with(slower(1.3)), FailOn::Time), (vec![said.clone()], true));
    assert_eq!(times(&with(slower(1.3)), FailOn::Counts), (vec![said], false));
    // 110 ns are beyond the slowest pass of the base, 106 ns, but by less than the limit.
    assert_eq!(times(&with(slower(1.1)), FailOn::All), (vec![], false));
    // The whole machine was slower: the share is what it was.
    let machine = |entry: &mut Entry| {
        slower(1.3)(entry);
        entry.times.plain_copy.iter_mut().flatten().for_each(|pass| *pass *= 1.3);
    };
    assert_eq!(times(&with(machine), FailOn::All), (vec![], false));
}

#[test]
fn what_is_slower_without_gating_is_counted_by_itself() {
    let text = table(&compare(&record(), &with(slower(1.3)), FailOn::Counts, ""));
    let slower =
        "\nslower      g/a\n            time (run) 103 ns -> 134 ns, +30.0 % (not gating)\n";
    assert!(text.contains(slower), "{text}");
    assert!(text.ends_with("\nno regression, 1 slower (not gating), 1 unchanged\n"), "{text}");
    let path = with(|entry| entry.path = "blocked".to_owned());
    let text = table(&compare(&record(), &path, FailOn::Time, ""));
    assert!(text.ends_with("\nno regression, 1 worse (not gating), 1 unchanged\n"), "{text}");
    let text = table(&compare(&record(), &path, FailOn::All, "g/a path why not"));
    assert!(text.ends_with("\nno regression, 1 accepted, 1 unchanged\n"), "{text}");
}

#[test]
fn allocating_runs_and_contiguous_operands_have_times_of_their_own() {
    let allocating = with(|entry| stretch(entry.times.allocating.as_mut().unwrap(), 10.0));
    let said = "g/a: time (allocating) 103 ns -> 1.0 us, 10.0 times".to_owned();
    assert_eq!(times(&allocating, FailOn::All), (vec![said], true));
    let gone = with(|entry| entry.times.allocating = None);
    assert_eq!(
        times(&gone, FailOn::All),
        (vec!["g/a: the times of allocating are missing".into()], true)
    );
}

#[test]
fn one_disturbed_pass_of_many_hides_nothing_and_finds_nothing() {
    let many = |passes: [f64; 9]| {
        with(|entry| {
            let times = &mut entry.times;
            (times.plain_copy, times.allocating) = (Some(vec![90.0; 9]), None);
            times.run.passes = passes.to_vec();
        })
    };
    let calm = [100.0, 101.0, 102.0, 103.0, 104.0, 103.0, 102.0, 101.0, 100.0];
    let disturbed = |mut passes: [f64; 9], pass| {
        passes[4] = pass;
        passes
    };
    let found = |base, new| {
        let comparison = compare(&many(base), &many(new), FailOn::All, "");
        comparison.check().is_err()
    };
    let slow = calm.map(|pass| pass * 1.2);
    assert!(found(calm, slow));
    assert!(found(disturbed(calm, 220.0), slow));
    assert!(found(calm, disturbed(slow, 90.0)));
    assert!(!found(calm, disturbed(calm, 220.0)));
    assert!(!found(calm, slow.map(|pass| if pass > 121.0 { pass } else { 100.0 })));
}

#[test]
fn a_time_counts_if_it_is_found_again() {
    let (base, slow, accepted) = (record(), with(slower(1.3)), Accepted::default());
    let (paths, slow_too) = (with(|entry| entry.path = "blocked".to_owned()), with(slower(1.2)));
    let fails = |new, again| {
        let (limits, fail_on, counts_needed) = (Limits::default(), FailOn::All, false);
        let (base, accepted) = (&base, &accepted);
        let question = Question { base, new, again, limits, fail_on, counts_needed, accepted };
        question.answer().unwrap().check().is_err()
    };
    assert!(fails(&slow, Some((&base, &slow_too))));
    assert!(!fails(&slow, Some((&base, &base))));
    assert!(!fails(&slow, Some((&slow, &base))));
    assert!(fails(&paths, Some((&base, &base))));

    // A second pair that is not like the first one clears nothing.
    let mut elsewhere = record();
    elsewhere.machine.cpu = Some("other CPU".to_owned());
    assert!(fails(&slow, Some((&elsewhere, &elsewhere))));
    let mut quick = record();
    quick.run.quick = !quick.run.quick;
    assert!(fails(&slow, Some((&quick, &quick))));
    let mut without = record();
    without.cases.clear();
    assert!(fails(&slow, Some((&base, &without))));
}

#[test]
fn another_case_under_the_same_name_is_not_compared() {
    let other = with(|entry| {
        (entry.op, entry.bytes) = ("add".to_owned(), 99);
        entry.counts.as_mut().unwrap().run.instructions = 5;
    });
    let said = "g/a: the case is not the same: it was copy of f32, 1024 bytes, it is add of f32, \
                99 bytes";
    assert_eq!(times(&other, FailOn::Counts), (vec![said.to_owned()], true));
}

#[test]
fn a_case_that_is_gone_fails_and_a_new_one_is_listed() {
    let mut other = record();
    other.cases[0].name = "g/c".to_owned();
    let comparison = compare(&record(), &other, FailOn::Time, "");
    assert_eq!(found(&comparison), ["g/a: the case is missing"]);
    assert_eq!(comparison.added, ["g/c"]);
    assert!(comparison.check().is_err());
    other.cases.truncate(1);
    let accepted = Accepted::default();
    let (base, limits) = (record(), Limits::default());
    let (base, new, fail_on, counts_needed) = (&base, &other, FailOn::All, false);
    let accepted = &accepted;
    let question = Question { base, new, again: None, limits, fail_on, counts_needed, accepted };
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
    assert!(
        !comparison.alike && comparison.notes[0].starts_with("different machines (some CPU, 2 ")
    );
    assert_eq!(
        found(&comparison),
        [
            "g/b: instructions (run) 10000 -> 20000, 2.0 times",
            "g/a: share of copy bandwidth (run) 89 % -> 68 %, -23.1 %"
        ]
    );
}

#[test]
fn a_level_that_has_fallen_on_the_same_machine_is_a_regression() {
    let mut other = record();
    other.machine.simd = "scalar".to_owned();
    let comparison = compare(&record(), &other, FailOn::Counts, "");
    assert_eq!(found(&comparison), ["all: SIMD level v4 -> scalar"]);
    assert_eq!(comparison.unchanged, 2);
    assert!(comparison.check().is_err());
    assert!(compare(&other, &record(), FailOn::All, "").check().is_ok());
    // Also if it was set with `TENSOR_SIMD`, which is another run besides.
    other.run.simd = Some("scalar".to_owned());
    let comparison = compare(&record(), &other, FailOn::Counts, "");
    assert_eq!(found(&comparison), ["all: SIMD level v4 -> scalar"]);
    assert!(comparison.notes[0].starts_with("different runs"), "{comparison:?}");
    assert!(comparison.check().is_err());
    let accepted = compare(&record(), &other, FailOn::Counts, "all simd for once");
    accepted.check().unwrap();
    // On another machine it is no change of the build.
    other.machine.identity = Some(Identity { family: 6, model: 1, stepping: 1 });
    let mut base = record();
    base.machine.identity = Some(Identity { family: 6, model: 2, stepping: 1 });
    let comparison = compare(&base, &other, FailOn::Counts, "");
    assert_eq!(found(&comparison), [""; 0]);
    assert!(comparison.notes[0].starts_with("different machines (some CPU (family 6 model 2 "));
}

#[test]
fn counts_that_are_gone_fail_and_counts_that_never_were_are_said() {
    let mut uncounted = record();
    uncounted.counting = Counting::Missing { because: "no valgrind".to_owned() };
    uncounted.cases.iter_mut().for_each(|entry| entry.counts = None);
    let comparison = compare(&record(), &uncounted, FailOn::Counts, "");
    assert_eq!(found(&comparison), ["all: the counts are missing: no valgrind"]);
    assert!(comparison.check().is_err());
    for (base, new) in [(&uncounted, &uncounted), (&uncounted, &record())] {
        let comparison = compare(base, new, FailOn::Counts, "");
        assert!(comparison.notes[0].contains("no valgrind"), "{comparison:?}");
        assert!(table(&comparison).ends_with("; counts were not compared\n"), "{comparison:?}");
        comparison.check().unwrap();
        let (limits, fail_on, accepted) = (Limits::default(), FailOn::Counts, Accepted::default());
        let (again, accepted, counts_needed) = (None, &accepted, true);
        let question = Question { base, new, again, limits, fail_on, counts_needed, accepted };
        let error = question.answer().unwrap().check().unwrap_err().to_string();
        assert!(error.ends_with("all: counts were asked for, and there are none to compare"));
    }
}

#[test]
fn lines_are_compared_if_the_same_caches_were_imitated() {
    let mut other = with(|entry| entry.counts.as_mut().unwrap().run.l1_misses = 9000);
    let Counting::By { caches, .. } = &mut other.counting else { panic!() };
    *caches = "--D1=49152,12,64".to_owned();
    let comparison = compare(&record(), &other, FailOn::All, "");
    assert_eq!(found(&comparison), [""; 0]);
    assert!(comparison.notes[0].starts_with("cache lines were counted with other caches"));
}

#[test]
fn cpus_without_a_name_are_unlike() {
    let mut nameless = record();
    nameless.machine.cpu = None;
    assert!(!compare(&nameless, &nameless.clone(), FailOn::All, "").alike);
}

#[test]
fn what_was_accepted_does_not_fail_and_what_was_not_met_is_said() {
    let new = with(|entry| entry.path = "blocked".to_owned());
    let list = "g/* path grids are enough here\ng/b time once upon a time\n";
    let comparison = compare(&record(), &new, FailOn::All, list);
    let reason = Verdict::Accepted("grids are enough here".to_owned());
    assert_eq!(comparison.changed[0].changes[0].verdict, reason);
    assert_eq!(comparison.notes, ["accepted, but not found: g/b time"]);
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
    new.cases[2].path = "blocked".to_owned();
    let order: Vec<String> =
        compare(&base, &new, FailOn::Counts, "").changed.into_iter().map(|j| j.case).collect();
    assert_eq!(order, ["g/d", "g/c", "g/b", "g/a"]);
}

#[test]
fn tables_and_markdown_have_every_change_once() {
    let mut new = with(|entry| entry.path = "blocked|<b>".to_owned());
    new.cases[1].counts.as_mut().unwrap().run.instructions = 5_000;
    let comparison = compare(&record(), &new, FailOn::Counts, "g/z any never\n");
    let text = table(&comparison);
    assert!(
        text.contains("REGRESSION  g/a\n            path transpose -> blocked|<b>\n"),
        "{text}"
    );
    assert!(text.ends_with("\n1 regression, 1 better\n"), "{text}");
    assert!(text.contains("note: accepted, but not found: g/z any\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let text = markdown(&comparison);
    assert!(text.starts_with("### Performance: 1 regression, 1 better\n"), "{text}");
    let row = "| REGRESSION | g/a | path transpose -&gt; blocked\\|&lt;b&gt; |\n";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("<details><summary>1 better</summary>"), "{text}");
}

#[test]
fn a_long_name_is_shown_whole() {
    let name = format!("g/{}end", "of_many_parts_".repeat(12));
    let renamed = |mut record: Record| {
        record.cases[0].name.clone_from(&name);
        record
    };
    let new = renamed(with(|entry| entry.path = "blocked".to_owned()));
    let text = table(&compare(&renamed(record()), &new, FailOn::Counts, ""));
    assert!(text.split_whitespace().collect::<String>().contains(&name), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn public_formats_have_a_number_for_every_measure() {
    let bmf = bencher(&record());
    assert_eq!(bmf["g/a/run"]["instructions"]["value"], 10_000.0);
    assert_eq!(bmf["g/a/plan"]["instructions"]["value"], 500.0);
    assert_eq!(bmf["g/a/fresh"]["latency"]["lower_value"], 100.0);
    assert_eq!(bmf["g/a/run"]["latency"]["upper_value"], 106.0);
    let list = github_action_benchmark(&record());
    let list = list.as_array().unwrap();
    let first = &list[0];
    assert_eq!((&first["name"], &first["unit"]), (&"g/a/run latency".into(), &"ns".into()));
    assert_eq!((&first["value"], &first["range"]), (&104.0.into(), &"± 3.0".into()));
    assert_eq!(list.len(), 2 * (2 + 3 * 4));
}
