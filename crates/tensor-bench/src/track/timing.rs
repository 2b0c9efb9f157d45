//! Times, taken in several passes.
//!
//! A pass is a process of its own that times the whole table once. A short disturbance of the
//! machine affects a case in one pass only, and memory has other addresses in each pass, which
//! alone changes some times by a third. So the passes of a record scatter as much as two runs do,
//! and a comparison can tell a change from noise.

use serde::{Deserialize, Serialize};

use super::Subject;
use crate::{
    Result,
    measure::{
        copy_bandwidth::{self, PlainCopy},
        engine::{Budget, Contender, Race},
        setting::Setting,
        stats::Timing,
    },
    suite::{Case, Ready, Setup, candidate_times, with_ready},
};

/// The number of passes, and the time of a subject in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// The number of passes.
    pub count: usize,
    quick: bool,
}

impl Passes {
    /// The quick passes or the full ones.
    pub fn choose(quick: bool) -> Passes {
        Passes { count: if quick { 9 } else { 11 }, quick }
    }

    /// The time budget of a subject in one pass.
    pub fn budget(&self) -> Budget {
        let whole = Budget::choose(self.quick);
        Budget { time: whole.time / self.count as u32, ..whole }
    }
}

/// The times of a subject in one pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    run: Timing,
    allocating: Option<Timing>,
    contiguous: Option<Timing>,
    plain_copy: Option<f64>,
    /// The best times of the plans that are considered for a copy, the chosen one first.
    candidates: Option<Vec<f64>>,
}

/// What is timed besides the operation itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Also {
    /// Nothing else.
    Nothing,
    /// Each plan that is considered for a copy.
    Candidates,
}

/// The times of a subject, over all passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// With a preallocated result, planning included.
    pub run: Span,
    /// With a newly allocated result each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "fresh")]
    pub allocating: Option<Span>,
    /// With contiguous operands of full size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contiguous: Option<Span>,
    /// The fastest plain copy of the bytes of the result, in each pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "roof")]
    pub plain_copy: Option<Vec<f64>>,
    /// The fraction of copy bandwidth that `run` reaches: the median over the passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// A time and its noise, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The smallest sample.
    pub best_ns: f64,
    /// The median of the passes' medians.
    pub median_ns: f64,
    /// The largest interquartile range of a pass, relative to its median.
    pub spread: f64,
    /// The number of samples in all passes.
    pub samples: usize,
    /// The smallest sample of each pass, in order.
    pub passes: Vec<f64>,
}

/// The command of this program that runs a pass.
pub const COMMAND: &str = "pass";

/// Times one subject, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory.
pub fn pass(setting: &Setting, subject: &Subject, setup: Setup, also: Also) -> Result<Pass> {
    match subject {
        Subject::Work(case) => work(setting, case, setup, also),
        Subject::Metadata(operation) => alone(setting, || operation.run()),
        Subject::Reading(reading) => alone(setting, || reading.run()),
    }
}

/// A call that is compared with nothing.
fn alone(setting: &Setting, call: impl FnMut() -> Result<()>) -> Result<Pass> {
    let mut race = Race::new(setting.budget);
    let run = race.enter(Contender::new(call));
    Ok(Pass::of(race.run()?[run]))
}

fn work(setting: &Setting, case: &Case, setup: Setup, also: Also) -> Result<Pass> {
    let plain_copy = PlainCopy::new(case.full_bytes(), setting.threads)?;
    let mut pass = None;
    with_ready(setting, case, setup, &mut |ready| {
        let raced = race(setting, ready, &plain_copy)?;
        let candidates = match also {
            Also::Candidates => candidates(setting, ready)?,
            Also::Nothing => None,
        };
        pass = Some(Pass { candidates, ..raced });
        Ok(())
    })?;
    pass.ok_or_else(|| crate::Failure::work("the case was not measured"))
}

/// `None` for work that is no copy. A single plan is not timed: there is nothing to compare.
fn candidates(setting: &Setting, ready: &dyn Ready) -> Result<Option<Vec<f64>>> {
    let plans = ready.candidates()?;
    Ok(match plans.len() {
        0 => None,
        1 => Some(vec![1.0]),
        _ => Some(candidate_times(setting, ready, &plans)?),
    })
}

impl Pass {
    fn of(run: Timing) -> Pass {
        Pass { run, allocating: None, contiguous: None, plain_copy: None, candidates: None }
    }

    /// The best times of the plans that are considered for a copy, the chosen one first.
    pub(super) fn candidates(&self) -> Option<&[f64]> {
        self.candidates.as_deref()
    }

    /// A pass of a copy with candidates of these times.
    #[cfg(test)]
    pub(super) fn of_candidates(times: Vec<f64>) -> Pass {
        let (best_ns, median_ns) = (times[0], times[0]);
        let run = Timing { best_ns, median_ns, spread: 0.0, samples: 1, batch: 1 };
        Pass { candidates: Some(times), ..Pass::of(run) }
    }
}

fn race(setting: &Setting, ready: &dyn Ready, plain_copy: &PlainCopy) -> Result<Pass> {
    let mut memory = plain_copy.open()?;
    let mut plain = memory.views()?;
    let mut race = Race::new(setting.budget);
    let run = race.enter(Contender::new(|| ready.preallocated()));
    let allocating = race.enter(Contender::new(|| ready.allocating()));
    let contiguous = ready.contiguous().transpose()?;
    let again = || ready.contiguous().unwrap_or(Ok(()));
    let contiguous = contiguous.map(|()| race.enter(Contender::new(again)));
    let [memcpy, stream] = plain.contenders()?.map(|copy| race.enter(copy));
    let timings = race.run()?;
    Ok(Pass {
        run: timings[run],
        allocating: Some(timings[allocating]),
        contiguous: contiguous.map(|ticket| timings[ticket]),
        plain_copy: Some(copy_bandwidth::faster(timings[memcpy], timings[stream])),
        candidates: None,
    })
}

impl Times {
    /// From the passes over one subject; `None` if there are none.
    pub fn of(passes: &[Pass]) -> Option<Times> {
        let spans = |of: fn(&Pass) -> Option<Timing>| Span::of(passes.iter().filter_map(of));
        let run = spans(|pass| Some(pass.run))?;
        let plain_copy = passes.iter().map(|pass| pass.plain_copy).collect::<Option<Vec<f64>>>();
        let share = plain_copy.as_deref().map(|plain_copy| median(shares(plain_copy, &run.passes)));
        Some(Times {
            run,
            allocating: spans(|pass| pass.allocating),
            contiguous: spans(|pass| pass.contiguous),
            plain_copy,
            share,
        })
    }

    /// Whether all times are positive, and each pass has a plain copy.
    pub fn are_times(&self) -> bool {
        let passes = self.run.passes.len();
        let spans = self.parts().all(|(_, span)| {
            span.best_ns > 0.0
                && span.passes.len() == passes
                && span.passes.iter().all(|t| *t > 0.0)
        });
        let plain_copy = self
            .plain_copy
            .iter()
            .all(|plain_copy| plain_copy.len() == passes && plain_copy.iter().all(|t| *t > 0.0));
        passes > 0 && spans && plain_copy
    }

    /// The spans, by name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Span)> {
        let parts = [
            ("run", Some(&self.run)),
            ("fresh", self.allocating.as_ref()),
            ("contiguous", self.contiguous.as_ref()),
        ];
        parts.into_iter().filter_map(|(name, span)| Some((name, span?)))
    }
}

impl Span {
    fn of(timings: impl Iterator<Item = Timing>) -> Option<Span> {
        let timings: Vec<Timing> = timings.collect();
        let passes: Vec<f64> = timings.iter().map(|timing| timing.best_ns).collect();
        Some(Span {
            best_ns: passes.iter().copied().min_by(f64::total_cmp)?,
            median_ns: median(timings.iter().map(|timing| timing.median_ns)),
            spread: timings.iter().map(|timing| timing.spread).max_by(f64::total_cmp)?,
            samples: timings.iter().map(|timing| timing.samples).sum(),
            passes,
        })
    }
}

/// The fraction of copy bandwidth in each pass.
pub fn shares<'a>(plain_copy: &'a [f64], passes: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    plain_copy.iter().zip(passes).map(|(plain_copy, time)| plain_copy / time)
}

/// The median; of an even count the larger of the two, of no numbers 0.
pub fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{measure::setting, track::table};

    fn timing(best_ns: f64, median_ns: f64) -> Timing {
        Timing { best_ns, median_ns, spread: 0.1, samples: 4, batch: 1 }
    }

    #[test]
    fn every_pass_is_kept_by_its_best_sample() {
        let pass = |best, median, plain_copy| Pass {
            run: timing(best, median),
            allocating: None,
            contiguous: None,
            plain_copy: Some(plain_copy),
            candidates: None,
        };
        let times = Times::of(&[pass(9.0, 12.0, 9.0), pass(10.0, 11.0, 8.0), pass(9.5, 15.0, 7.6)]);
        let Times { run, allocating, plain_copy, share, .. } = times.unwrap();
        assert_eq!((run.best_ns, run.median_ns, run.passes), (9.0, 12.0, vec![9.0, 10.0, 9.5]));
        assert_eq!((run.samples, run.spread, allocating), (12, 0.1, None));
        assert_eq!((plain_copy, share), (Some(vec![9.0, 8.0, 7.6]), Some(0.8)));
        assert_eq!(Times::of(&[]), None);
    }

    #[test]
    fn a_pass_times_what_a_subject_has() {
        let setting = Setting {
            exec: setting::exec().unwrap(),
            budget: Passes::choose(true).budget(),
            threads: 1,
        };
        let subjects = table::subjects().unwrap();
        let find = |name: &str| subjects.iter().find(|s| s.to_string() == name).unwrap();
        let pass = |name: &str, setup, also| pass(&setting, find(name), setup, also).unwrap();
        let copy = pass("small/t2d_4", Setup::Verify, Also::Nothing);
        assert_eq!(copy.candidates(), None);
        assert!(
            copy.allocating.is_some() && copy.contiguous.is_none() && copy.plain_copy.is_some()
        );
        let sum = pass("small/add_ct", Setup::SkipVerify, Also::Candidates);
        assert!(sum.contiguous.is_some() && sum.candidates().is_none());
        let several = pass("cache/rev4", Setup::SkipVerify, Also::Candidates);
        let times = several.candidates().unwrap();
        assert!(times.len() > 1 && times.iter().all(|ns| *ns > 0.0), "{times:?}");
        let view = pass("layout/transpose", Setup::SkipVerify, Also::Candidates);
        assert!(view.run.best_ns > 0.0 && view.allocating.is_none() && view.plain_copy.is_none());
    }
}
