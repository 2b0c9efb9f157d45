//! Times, in passes.
//!
//! A pass is a process of its own that goes over the whole table. What disturbs the machine for a second hits a case in one pass and not in the
//! others, and where memory happens to lie, which moves some times by a third, is another place in each. So what lies between the passes is what
//! lies between two runs, and a comparison can tell a change from it.

use serde::{Deserialize, Serialize};

use super::Subject;
use crate::{
    Result,
    engine::{Budget, Contender, Race},
    roof::{self, Roof},
    setting::Setting,
    stats::Timing,
    suite::{Care, Case, Ready, with_ready},
};

/// How many passes, and how much time each gives to a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// How many.
    pub count: usize,
    quick: bool,
}

impl Passes {
    /// For figures to keep, or for a first look.
    pub fn choose(quick: bool) -> Passes {
        Passes { count: if quick { 5 } else { 7 }, quick }
    }

    /// The time of one pass.
    pub fn budget(&self) -> Budget {
        let whole = Budget::choose(self.quick);
        Budget { time: whole.time / self.count as u32, ..whole }
    }
}

/// What one pass has shown of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    run: Timing,
    fresh: Option<Timing>,
    contiguous: Option<Timing>,
    roof: Option<f64>,
}

/// The times of a subject, over all passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Into a result that is there already, planning included.
    pub run: Span,
    /// Into a fresh result each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Span>,
    /// The same work on contiguous operands of full size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contiguous: Option<Span>,
    /// The part of the roof that `run` reaches: the fastest plain copy of the result's bytes, in the same race, over `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// A time and how far it scatters, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The smallest sample.
    pub best_ns: f64,
    /// The median of the passes' medians.
    pub median_ns: f64,
    /// The median of the slowest pass.
    pub worst_ns: f64,
    /// The largest distance between the quartiles of a pass, as a share of its median.
    pub spread: f64,
    /// Samples of all passes.
    pub samples: usize,
}

/// A part of the roof, in the best pass and in the worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// 1 is as fast as the roof.
    pub best: f64,
    /// In the pass where it was smallest.
    pub worst: f64,
}

/// The command of this program that makes a pass.
pub const COMMAND: &str = "pass";

/// One subject of a pass, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory.
pub fn pass(setting: &Setting, subject: &Subject, care: Care) -> Result<Pass> {
    match subject {
        Subject::Work(case) => work(setting, case, care),
        Subject::Metadata(operation) => {
            let mut race = Race::new(setting.budget);
            let run = race.enter(Contender::new(|| operation.run()));
            Ok(Pass { run: race.run()?[run], fresh: None, contiguous: None, roof: None })
        }
    }
}

fn work(setting: &Setting, case: &Case, care: Care) -> Result<Pass> {
    let roof = Roof::new(case.result_bytes(), setting.threads)?;
    let mut pass = None;
    with_ready(setting, case, care, &mut |ready| {
        pass = Some(race(setting, ready, &roof)?);
        Ok(())
    })?;
    pass.ok_or_else(|| crate::Failure::work("the case was not measured"))
}

fn race(setting: &Setting, ready: &dyn Ready, roof: &Roof) -> Result<Pass> {
    let mut race = Race::new(setting.budget);
    let run = race.enter(Contender::new(|| ready.strided()));
    let fresh = race.enter(Contender::new(|| ready.fresh()));
    let contiguous = ready.contiguous().transpose()?;
    let again = || ready.contiguous().unwrap_or(Ok(()));
    let contiguous = contiguous.map(|()| race.enter(Contender::new(again)));
    let [memcpy, stream] = roof.contenders().map(|copy| race.enter(copy));
    let timings = race.run()?;
    Ok(Pass {
        run: timings[run],
        fresh: Some(timings[fresh]),
        contiguous: contiguous.map(|ticket| timings[ticket]),
        roof: Some(roof::faster(timings[memcpy], timings[stream])),
    })
}

impl Times {
    /// Condenses the passes over one subject; `None` if there are none.
    pub fn of(passes: &[Pass]) -> Option<Times> {
        let spans = |of: fn(&Pass) -> Option<Timing>| Span::of(passes.iter().filter_map(of));
        Some(Times {
            run: spans(|pass| Some(pass.run))?,
            fresh: spans(|pass| pass.fresh),
            contiguous: spans(|pass| pass.contiguous),
            share: Share::of(passes.iter().filter_map(|p| Some(p.roof? / p.run.best_ns))),
        })
    }
}

impl Span {
    fn of(timings: impl Iterator<Item = Timing>) -> Option<Span> {
        let timings: Vec<Timing> = timings.collect();
        let mut medians: Vec<f64> = timings.iter().map(|timing| timing.median_ns).collect();
        medians.sort_by(f64::total_cmp);
        Some(Span {
            best_ns: timings.iter().map(|timing| timing.best_ns).min_by(f64::total_cmp)?,
            median_ns: *medians.get(medians.len() / 2)?,
            worst_ns: *medians.last()?,
            spread: timings.iter().map(|timing| timing.spread).max_by(f64::total_cmp)?,
            samples: timings.iter().map(|timing| timing.samples).sum(),
        })
    }
}

impl Share {
    fn of(shares: impl Iterator<Item = f64>) -> Option<Share> {
        let mut shares: Vec<f64> = shares.collect();
        shares.sort_by(f64::total_cmp);
        Some(Share { best: *shares.last()?, worst: *shares.first()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{setting, track::table};

    fn timing(best_ns: f64, median_ns: f64) -> Timing {
        Timing { best_ns, median_ns, spread: 0.1, samples: 4, batch: 1 }
    }

    #[test]
    fn a_span_reaches_from_the_best_sample_to_the_slowest_pass() {
        let pass = |best, median, roof| Pass {
            run: timing(best, median),
            fresh: None,
            contiguous: None,
            roof: Some(roof),
        };
        let times = Times::of(&[pass(9.0, 12.0, 9.0), pass(10.0, 11.0, 8.0), pass(9.5, 15.0, 9.5)]);
        let Times { run, fresh, share, .. } = times.unwrap();
        assert_eq!((run.best_ns, run.median_ns, run.worst_ns), (9.0, 12.0, 15.0));
        assert_eq!((run.samples, run.spread, fresh), (12, 0.1, None));
        assert_eq!(share, Some(Share { best: 1.0, worst: 0.8 }));
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
        let copy = pass(&setting, find("small/t2d_4"), Care::Checked).unwrap();
        assert!(copy.fresh.is_some() && copy.contiguous.is_none() && copy.roof.is_some());
        assert!(pass(&setting, find("small/add_ct"), Care::Trusted).unwrap().contiguous.is_some());
        let view = pass(&setting, find("layout/transpose"), Care::Trusted).unwrap();
        assert!(view.run.best_ns > 0.0 && view.fresh.is_none() && view.roof.is_none());
    }
}
