//! Every plan that is considered for a copy, timed: was the one that is chosen the best?
//!
//! The planner takes the candidate of the least predicted time. Its *regret* is the time of that
//! candidate over the time of the fastest one: 1 if the choice was right. The fastest of many by
//! one race is partly luck, so the two are raced once more, and the second race counts.

use serde::{Deserialize, Serialize};
use tensor_kernels::CopyPlan;

use super::{Case, Ready, Row, Setup, with_ready};
use crate::{
    Result,
    cases::operand::Operand,
    measure::{
        engine::{Contender, Race, Ticket},
        setting::Setting,
    },
    output::render::join,
};

/// The candidates of a copy: the chosen one and the fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// How many there are.
    pub count: usize,
    /// The time of the chosen one, without planning.
    pub chosen_ns: f64,
    /// The time of the fastest one, in the same race.
    pub best_ns: f64,
    /// The one over the other, at least 1.
    pub regret: f64,
    /// The chosen plan in words.
    pub chosen: String,
    /// The fastest one.
    pub best: String,
    /// The view that is copied, as a chain that `explain` reads.
    pub view: String,
}

/// The row of a copy with its candidates; rows of other work as they are.
///
/// # Errors
/// Those of the plans and of [`with_ready`].
pub fn with_candidates(setting: &Setting, case: &Case, row: Row) -> Result<Row> {
    let mut candidates = None;
    if row.is_copy() {
        with_ready(setting, case, Setup::SkipVerify, &mut |ready| {
            candidates = Some(judged(setting, case, ready)?);
            Ok(())
        })?;
    }
    Ok(Row { candidates, ..row })
}

fn judged(setting: &Setting, case: &Case, ready: &dyn Ready) -> Result<Candidates> {
    let plans = ready.candidates()?;
    let times = times(setting, ready, &plans)?;
    let by_time = |a: &usize, b: &usize| times[*a].total_cmp(&times[*b]);
    let fastest = (0..plans.len()).min_by(by_time).unwrap_or(0);
    let (chosen_ns, best_ns) = match fastest {
        0 => (times[0], times[0]),
        _ => {
            let again = self::times(setting, ready, &[plans[0].clone(), plans[fastest].clone()])?;
            (again[0], again[1])
        }
    };
    // In the second race the chosen plan may be as fast.
    let best = if best_ns < chosen_ns { fastest } else { 0 };
    let best_ns = best_ns.min(chosen_ns);
    Ok(Candidates {
        count: plans.len(),
        chosen_ns,
        best_ns,
        regret: chosen_ns / best_ns,
        chosen: plans[0].to_string(),
        best: plans[best].to_string(),
        view: join(case.operands.iter().map(Operand::notation), ", "),
    })
}

/// The best time of each plan, all in one race.
///
/// # Errors
/// Those of the plans.
pub fn times(setting: &Setting, ready: &dyn Ready, plans: &[CopyPlan]) -> Result<Vec<f64>> {
    let mut race = Race::new(setting.budget);
    let entered: Vec<Ticket> = plans
        .iter()
        .map(|plan| race.enter(Contender::new(move || ready.run_candidate(plan))))
        .collect();
    let timings = race.run()?;
    Ok(entered.into_iter().map(|ticket| timings[ticket].best_ns).collect())
}
