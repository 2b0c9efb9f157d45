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
    let mut costs = None;
    let mut keep = |found| costs = Some(found);
    match question.op.is_elementwise() {
        true => elementwise(setting, question, setup, &mut keep)?,
        false => beside_copy(setting, question, setup, &mut keep)?,
    }
    let costs = costs.ok_or_else(|| Failure::work("the view was not measured"))?;
    match question.operand.layout.is_contiguous() {
        true => Ok(Costs { strided_ns: costs.contiguous_ns, copy_ns: 0.0, ..costs }),
        false => Ok(costs),
    }
}

fn elementwise(
    setting: &Setting,
    question: &Question,
    setup: Setup,
    keep: &mut dyn FnMut(Costs),
) -> Result<()> {
    let case = question.case()?;
    memory::preflight(case.memory(Against::NAIVE))?;
    with_ready(setting, &case, setup, &mut |work| {
        let missing = || Err(Failure::work("no contiguous operands"));
        let contiguous = || work.contiguous().unwrap_or_else(missing);
        keep(race(setting, work, &contiguous)?);
        Ok(())
    })
}

/// A copy has no contiguous operands, and those of a reduction are in the order that suits it best,
/// not in that of a copy. So the use of a copy is a case of its own.
fn beside_copy(
    setting: &Setting,
    question: &Question,
    setup: Setup,
    keep: &mut dyn FnMut(Costs),
) -> Result<()> {
    let (case, copied) = (question.case()?, question.copied_case()?);
    memory::preflight(case.memory(Against::NAIVE) + copied.memory(Against::NAIVE))?;
    with_ready(setting, &case, setup, &mut |work| {
        with_ready(setting, &copied, Setup::SkipVerify, &mut |copied| {
            keep(race(setting, work, &|| copied.preallocated())?);
            Ok(())
        })
    })
}

/// `copies` copies the view only: the other operands are contiguous.
fn race(
    setting: &Setting,
    work: &dyn Ready,
    use_of_copy: &dyn Fn() -> Result<()>,
) -> Result<Costs> {
    let mut race = Race::new(setting.budget);
    let strided = race.enter(Contender::new(|| work.preallocated()));
    let contiguous = race.enter(Contender::new(use_of_copy));
    let copy = race.enter(Contender::new(|| work.copies()));
    let timings = race.run()?;
    Ok(Costs {
        strided_ns: timings[strided].best_ns,
        contiguous_ns: timings[contiguous].best_ns,
        copy_ns: timings[copy].best_ns,
    })
}
