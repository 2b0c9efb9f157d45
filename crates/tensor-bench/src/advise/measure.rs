//! Measuring the three costs.

use super::{Costs, Question};
use crate::{
    Failure, Result,
    measure::{
        engine::{Contender, Race},
        setting::Setting,
    },
    suite::{Against, Ready, Setup, with_ready},
    system::memory,
};

/// Measures the costs of a view, in the pool it is called from. The results are checked first.
///
/// # Errors
/// Too little memory, a wrong result.
pub fn measure(setting: &Setting, question: &Question) -> Result<Costs> {
    costs(setting, question, Setup::Verify)
}

pub(super) fn costs(setting: &Setting, question: &Question, setup: Setup) -> Result<Costs> {
    let case = question.case()?;
    memory::preflight(case.memory(Against::Naive))?;
    let mut costs = None;
    with_ready(setting, &case, setup, &mut |work| {
        costs = Some(race(setting, work)?);
        Ok(())
    })?;
    let costs = costs.ok_or_else(|| Failure::work("the view was not measured"))?;
    match question.operand.layout.is_contiguous() {
        true => Ok(Costs { strided_ns: costs.contiguous_ns, copy_ns: 0.0, ..costs }),
        false => Ok(costs),
    }
}

/// `copies` copies the view only: the other operands are contiguous.
fn race(setting: &Setting, work: &dyn Ready) -> Result<Costs> {
    let dense =
        || work.contiguous().unwrap_or_else(|| Err(Failure::work("no contiguous operands")));
    let mut race = Race::new(setting.budget);
    let strided = race.enter(Contender::new(|| work.preallocated()));
    let contiguous = race.enter(Contender::new(dense));
    let copy = race.enter(Contender::new(|| work.copies()));
    let timings = race.run()?;
    Ok(Costs {
        strided_ns: timings[strided].best_ns,
        contiguous_ns: timings[contiguous].best_ns,
        copy_ns: timings[copy].best_ns,
    })
}
