//! What is a change of the planner's regret.

use super::{
    tests::{compare, times},
    *,
};
use crate::track::record::tests::record;

/// The record with its regret multiplied.
fn regretted(by: f64) -> Record {
    let mut record = record();
    let regret = record.regret.as_mut().unwrap();
    regret.p95 *= by;
    regret.passes.iter_mut().for_each(|pass| *pass *= by);
    record
}

#[test]
fn regret_that_rises_beyond_the_noise_is_a_change_of_time() {
    let said = "all: regret of the plans (95th percentile) 1.05 -> 1.47, +40.0 %".to_owned();
    assert_eq!(times(&regretted(1.4), FailOn::All), (vec![said.clone()], true));
    assert_eq!(times(&regretted(1.4), FailOn::Time), (vec![said.clone()], true));
    assert_eq!(times(&regretted(1.4), FailOn::Counts), (vec![said], false));
    assert_eq!(times(&regretted(1.2), FailOn::All), (vec![], false));
    // Two passes of the new record were as good as those of the base.
    let mut disturbed = regretted(1.4);
    disturbed.regret.as_mut().unwrap().passes[..2].fill(1.06);
    assert_eq!(times(&disturbed, FailOn::All), (vec![], false));
    for mut other in [regretted(1.4), regretted(1.4)] {
        other.run.threads = 2;
        assert_eq!(times(&other, FailOn::All), (vec![], false));
    }
    assert_eq!(times(&Record { regret: None, ..record() }, FailOn::All), (vec![], false));
    let better = compare(&regretted(1.4), &record(), FailOn::All, "");
    assert_eq!(better.changed[0].changes[0].verdict, Verdict::Better);
    let accepted = compare(&record(), &regretted(1.4), FailOn::All, "all regret a new planner");
    accepted.check().unwrap();
}

#[test]
fn regret_counts_if_it_is_found_again() {
    let (base, new, accepted) = (record(), regretted(1.4), Accepted::default());
    let fails = |again: &Record| {
        let (limits, fail_on, counts_needed) = (Limits::default(), FailOn::All, false);
        let (base, new, accepted, again) = (&base, &new, &accepted, Some((&base, again)));
        let question = Question { base, new, again, limits, fail_on, counts_needed, accepted };
        question.answer().unwrap().check().is_err()
    };
    assert!(fails(&regretted(1.35)) && !fails(&base));
}
