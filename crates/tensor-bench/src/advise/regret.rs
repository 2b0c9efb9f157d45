//! Checking predictions: a grid of views, none of them a probe, is predicted and measured.
//!
//! The regret of a prediction is the extra measured time of its choice over the better choice, 0 if
//! it chose the better one. Regret is checked instead of times because near the break-even a wrong
//! choice costs little.

use std::time::Duration;

use serde::Serialize;
use tensor_kernels::{DType, Slice};

use super::{Calibration, Choice, Costs, Question, measure};
use crate::{
    Failure, Result,
    cases::{operand::Operand, view_op::ViewOp},
    measure::{engine::Budget, setting::Setting},
    output::progress::Progress,
    suite::{Op, Setup},
};

/// The largest regret of a good prediction.
pub const FINE_REGRET: f64 = 0.1;

/// The fraction of predictions that must be good.
pub const MIN_FINE_SHARE: f64 = 0.95;

/// How often each view is used.
const USES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 256];

/// The approximate bytes of results.
const SIZES: [usize; 3] = [48 << 10, 1536 << 10, 24 << 20];

const WORK: [(Op, DType); 4] =
    [(Op::Add, DType::F32), (Op::Exp, DType::F32), (Op::Mul, DType::F64), (Op::Sub, DType::I16)];

/// One view, predicted and measured.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// The operation, the elements and the view.
    pub name: String,
    /// The prediction.
    pub predicted: Costs,
    /// The measurement.
    pub measured: Costs,
    /// One for each number of uses.
    pub outcomes: Vec<Outcome>,
}

/// The result of one prediction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Outcome {
    /// How often the view is used.
    pub uses: u64,
    /// The predicted choice.
    pub choice: Choice,
    /// Its extra time over the better choice, as measured.
    pub regret: f64,
}

impl Trial {
    fn new(name: String, predicted: Costs, measured: Costs) -> Trial {
        let outcome = |uses| {
            let choice = predicted.advise(uses);
            Outcome { uses, choice, regret: measured.regret(choice, uses) }
        };
        Trial { name, predicted, measured, outcomes: USES.map(outcome).to_vec() }
    }
}

/// The fraction of good predictions.
pub fn share_fine(trials: &[Trial]) -> f64 {
    let outcomes = || trials.iter().flat_map(|trial| &trial.outcomes);
    let fine = outcomes().filter(|outcome| outcome.regret <= FINE_REGRET).count();
    fine as f64 / outcomes().count().max(1) as f64
}

/// Checks that enough predictions are good.
///
/// # Errors
/// [`Failure::Work`] if fewer than [`MIN_FINE_SHARE`] are.
pub fn check(trials: &[Trial]) -> Result<()> {
    let share = share_fine(trials);
    if share >= MIN_FINE_SHARE {
        return Ok(());
    }
    let [share, enough] = [share, MIN_FINE_SHARE].map(|share| share * 100.0);
    Err(Failure::work(format!(
        "{share:.1} % of the predictions have little regret, {enough:.0} % are needed: run \
         `calibrate` again on an idle machine"
    )))
}

/// Predicts and measures every view of the grid, in the pool it is called from.
///
/// # Errors
/// Too little memory, a calibration that lacks something.
pub fn try_all(setting: &Setting, calibration: &Calibration) -> Result<Vec<Trial>> {
    let questions = grid()?;
    let progress = Progress::new(questions.len());
    let trial = |question: &Question| {
        let name = name(question);
        progress.begin(&name);
        let measured = measure::costs(setting, question, Setup::SkipVerify)?;
        progress.end();
        Ok(Trial::new(name, calibration.predict(question)?, measured))
    };
    questions.iter().map(trial).collect()
}

/// The time budget of a view.
pub const BUDGET: Budget = Budget {
    sample: Duration::from_micros(100),
    time: Duration::from_millis(60),
    min_rounds: 4,
    max_rounds: 100,
};

fn name(question: &Question) -> String {
    let Question { op, operand, .. } = question;
    let calls: String = operand.ops.iter().map(ToString::to_string).collect();
    format!("{} {} {:?}{calls}", op.name(), operand.dtype, operand.base)
}

fn grid() -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    for bytes in SIZES {
        for (op, dtype) in WORK {
            for (base, ops) in views(bytes / dtype.size()) {
                questions.push(Question::new(op, Operand::new(dtype, base, ops)?, 1)?);
            }
        }
    }
    Ok(questions)
}

/// Views of about `count` elements, of sizes that no probe has.
fn views(count: usize) -> Vec<(Vec<usize>, Vec<ViewOp>)> {
    let side = count.isqrt();
    let third = (count / 3).isqrt();
    let of = |size: usize| (count / size).max(1);
    let every = |step| ViewOp::Slice(1, Slice::new(None, None, step));
    let cube = (count as f64).cbrt() as usize;
    vec![
        (vec![third, 3 * third], vec![ViewOp::T]),
        (vec![3 * third, third], vec![ViewOp::T]),
        (vec![side / 128 * 128 + 128, side], vec![ViewOp::T]),
        (vec![third, third, 3], vec![ViewOp::Permute(vec![2, 0, 1])]),
        (vec![side / 2, side / 2, 4], vec![ViewOp::Permute(vec![2, 0, 1])]),
        (vec![3, third, third], vec![ViewOp::Permute(vec![1, 2, 0])]),
        (vec![of(3 * 112 * 112), 3, 112, 112], vec![ViewOp::Permute(vec![0, 2, 3, 1])]),
        (vec![of(48 * 28 * 28), 48, 28, 28], vec![ViewOp::Permute(vec![0, 2, 3, 1])]),
        (vec![of(48 * 28 * 28), 28, 28, 48], vec![ViewOp::Permute(vec![0, 3, 1, 2])]),
        (vec![2, of(2 * 8 * 80), 8, 80], vec![ViewOp::Transpose(1, 2)]),
        (vec![of(96 * 80), 96, 80], vec![ViewOp::Transpose(1, 2)]),
        (vec![cube / 2, cube, 2 * cube], vec![ViewOp::Reverse]),
        (vec![of(300), 900], vec![ViewOp::Narrow(1, 300, 300)]),
        (vec![of(12), 20], vec![ViewOp::Narrow(1, 3, 12)]),
        (vec![of(100), 200], vec![every(2)]),
        (vec![of(700), 2100], vec![every(3)]),
        (vec![of(100), 600], vec![every(6)]),
        (vec![of(60 * 8), 2400], vec![every(40)]),
        (vec![of(640), 640], vec![ViewOp::Flip(vec![1])]),
        (vec![of(640), 640], vec![ViewOp::Flip(vec![0])]),
        (vec![of(96), 1], vec![ViewOp::Expand(vec![of(96) as isize, 96])]),
        (vec![1, 500], vec![ViewOp::Expand(vec![of(500) as isize, 500])]),
        (vec![side, 2 * side], vec![every(2), ViewOp::T]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_views_that_can_be_asked_about() {
        let questions = grid().unwrap();
        assert_eq!(questions.len(), SIZES.len() * WORK.len() * views(1 << 20).len());
        let first = &questions[0];
        assert_eq!(name(first), "add f32 [64, 192].t()");
    }

    #[test]
    fn advice_is_weighed_by_what_was_measured() {
        let costs = |strided_ns| Costs { strided_ns, contiguous_ns: 10.0, copy_ns: 100.0 };
        let trial = Trial::new(String::new(), costs(20.0), costs(10.5));
        let regrets: Vec<f64> = trial.outcomes.iter().map(|outcome| outcome.regret).collect();
        // The copy is chosen from ten uses on; at sixteen it takes 260, and the view would take
        // 168.
        assert_eq!(regrets[..4], [0.0; 4]);
        assert!((regrets[4] - (260.0 / 168.0 - 1.0)).abs() < 1e-12);
        assert_eq!(share_fine(&[trial]), 5.0 / 8.0);
    }

    #[test]
    fn advice_can_be_trusted_if_nineteen_of_twenty_are_fine() {
        let trial = |regrets: &[f64]| {
            let costs = Costs { strided_ns: 1.0, contiguous_ns: 1.0, copy_ns: 1.0 };
            let outcome = |&regret| Outcome { uses: 1, choice: Choice::Keep, regret };
            let outcomes = regrets.iter().map(outcome).collect();
            Trial { name: String::new(), predicted: costs, measured: costs, outcomes }
        };
        assert!(check(&[trial(&[FINE_REGRET; 19]), trial(&[0.2])]).is_ok());
        let refused = check(&[trial(&[0.0; 18]), trial(&[0.2; 2])]).unwrap_err();
        assert_eq!(refused.exit_code(), 1);
        assert!(
            refused
                .to_string()
                .starts_with("90.0 % of the predictions have little regret, 95 % are")
        );
    }
}
