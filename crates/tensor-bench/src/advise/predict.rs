//! Predicting costs from rates.
//!
//! 1. A contiguous use takes the larger of two times: the operation on cached elements, and the
//!    memory traffic, which is that of the probe with one or two operands. A third operand adds one
//!    stream.
//! 2. A use of the view takes as long as the probe of its kind. An expensive operation adds a
//!    fraction of what the exponential of the view added. The fraction is where the operation lies
//!    between the probe and the exponential on cached elements. How much of that time overlaps with
//!    memory traffic depends on the kind.
//! 3. A copy takes as long as the copy of the probe.
//!
//! Times are interpolated between the sizes of a probe, linearly in the logarithms of both. Above
//! the largest size they grow in proportion; below the smallest they are constant.

use tensor_kernels::DType;

use super::{
    Calibration, Costs, Question,
    calibration::{ProbeTimes, Use},
    kind::{Length, ViewKind},
    probe::{WIDTHS, exp_type},
};
use crate::{Failure, Result, suite::Op};

/// The kind whose contiguous times are used for contiguous views.
const PLAIN: ViewKind = ViewKind::Rows(Length::VeryLong);

impl Calibration {
    /// The costs of a view, without allocating an array.
    ///
    /// # Errors
    /// [`Failure::Input`] for a reduction, and if the calibration lacks the kind of view, or the
    /// operation on such elements.
    pub fn predict(&self, question: &Question) -> Result<Costs> {
        if question.op.is_reduction() {
            let why = format!("{} is not predicted: measure it", question.op.name());
            return Err(Failure::input(why));
        }
        let (layout, width) = (&question.operand.layout, question.operand.dtype.size());
        let kind = ViewKind::of(layout, width);
        let rates = self.rates_of(kind.unwrap_or(PLAIN), width)?;
        let bytes = question.operand.result_bytes() as f64;
        let time = |of: &dyn Fn(&ProbeTimes) -> f64| interpolate(&rates, of, bytes);
        let probe = NearestProbe::of(question);
        let moved = time(&|rate| probe.used(rate).contiguous_ns);
        let more = moved * probe.extra_traffic;
        let computed = self.speed(question.op, question.operand.dtype)? * layout.numel() as f64;
        let contiguous_ns = (moved + more).max(computed);
        if kind.is_none() {
            return Ok(Costs { strided_ns: contiguous_ns, contiguous_ns, copy_ns: 0.0 });
        }
        let extra = time(&|rate| rate.exp_ns.unwrap_or(0.0).max(rate.unary.strided_ns))
            - time(&|rate| rate.unary.strided_ns);
        let extra = extra * self.relative_cost(question, &probe)?;
        let strided_ns = time(&|rate| probe.used(rate).strided_ns) + more + extra;
        Ok(Costs { strided_ns, contiguous_ns, copy_ns: time(&|rate| rate.copy_ns) })
    }

    /// How expensive an operation is: 0 like the probe, 1 like the exponential, or more.
    fn relative_cost(&self, question: &Question, probe: &NearestProbe) -> Result<f64> {
        let dtype = question.operand.dtype;
        let width = dtype.size();
        let cheap = WIDTHS.into_iter().find(|cheap| cheap.size() == width);
        let (Some(cheap), Some(exp)) = (cheap, exp_type(width)) else { return Ok(0.0) };
        let (own, least) = (self.speed(question.op, dtype)?, self.speed(probe.op, cheap)?);
        let most = self.speed(Op::Exp, exp)?;
        Ok(if most > least { ((own - least) / (most - least)).max(0.0) } else { 0.0 })
    }

    fn rates_of(&self, kind: ViewKind, width: usize) -> Result<Vec<&ProbeTimes>> {
        let mut rates: Vec<&ProbeTimes> =
            self.rates.iter().filter(|rate| (rate.kind, rate.width) == (kind, width)).collect();
        rates.sort_by_key(|rate| rate.bytes);
        match rates.as_slice() {
            [] => Err(Failure::input(format!(
                "the calibration has no rate for views of kind {kind:?} with elements of {width} \
                 bytes"
            ))),
            _ => Ok(rates),
        }
    }

    /// Nanoseconds of an operation per cached element.
    fn speed(&self, op: Op, dtype: DType) -> Result<f64> {
        let (op, dtype) = (op.name(), dtype.name());
        let speed = self.speeds.iter().find(|speed| speed.op == op && speed.dtype == dtype);
        let missing = || {
            Failure::input(format!(
                "the calibration has no speed for {op} on elements of dtype {dtype}: run \
                 `calibrate` again"
            ))
        };
        Ok(speed.ok_or_else(missing)?.each_ns)
    }
}

/// The probe with the memory traffic nearest to that of an operation.
struct NearestProbe {
    op: Op,
    /// Traffic beyond the probe's, as a fraction of it.
    extra_traffic: f64,
}

impl NearestProbe {
    fn of(question: &Question) -> NearestProbe {
        // The unary probe reads as many bytes as it writes.
        let widths = [question.operand.dtype, question.out].map(|dtype| dtype.size() as f64);
        match question.op.arity() {
            1 => NearestProbe { op: Op::Neg, extra_traffic: (widths[1] / widths[0] - 1.0) / 2.0 },
            // The binary probe moves three streams: two operands and the result.
            arity => NearestProbe { op: Op::Add, extra_traffic: (arity - 2) as f64 / 3.0 },
        }
    }

    fn used(&self, rate: &ProbeTimes) -> Use {
        if self.op == Op::Neg { rate.unary } else { rate.binary }
    }
}

fn interpolate(rates: &[&ProbeTimes], of: &dyn Fn(&ProbeTimes) -> f64, bytes: f64) -> f64 {
    let size = |rate: &ProbeTimes| rate.bytes as f64;
    let above = rates.partition_point(|rate| size(rate) < bytes);
    match (above.checked_sub(1).map(|at| rates[at]), rates.get(above)) {
        (Some(low), Some(high)) => {
            let part = (bytes / size(low)).ln() / (size(high) / size(low)).ln();
            of(low) * (of(high) / of(low)).powf(part)
        }
        (None, Some(smallest)) => of(smallest),
        (Some(largest), None) => of(largest) * bytes / size(largest),
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::calibration::tests::calibration, *};
    use crate::cases::{operand::Operand, view_op::ViewOp};

    fn predict(op: Op, base: [usize; 2], ops: &[ViewOp]) -> Result<Costs> {
        let operand = Operand::new(DType::F32, base.to_vec(), ops.to_vec()).unwrap();
        calibration().predict(&Question::new(op, operand, 1).unwrap())
    }

    fn rounded(costs: Costs) -> [f64; 3] {
        [costs.strided_ns, costs.contiguous_ns, costs.copy_ns].map(f64::round)
    }

    #[test]
    fn at_the_size_of_a_probe_its_times_are_the_prediction() {
        assert_eq!(
            rounded(predict(Op::Neg, [32, 32], &[ViewOp::T]).unwrap()),
            [400.0, 100.0, 600.0]
        );
    }

    #[test]
    fn between_sizes_times_are_interpolated_by_powers() {
        // 40960 bytes are halfway from 4096 to 409600.
        let costs = predict(Op::Neg, [80, 128], &[ViewOp::T]).unwrap();
        assert_eq!(rounded(costs), [6000.0, 1732.0, 6000.0]);
    }

    #[test]
    fn beyond_the_sizes_times_grow_with_it_or_stay() {
        let large = predict(Op::Neg, [640, 320], &[ViewOp::T]).unwrap();
        assert_eq!(rounded(large), [180_000.0, 60_000.0, 120_000.0]);
        let small = predict(Op::Neg, [16, 16], &[ViewOp::T]).unwrap();
        assert_eq!(rounded(small), [400.0, 100.0, 600.0]);
    }

    #[test]
    fn other_operands_and_expensive_operations_cost_more() {
        let costs = |op| rounded(predict(op, [32, 32], &[ViewOp::T]).unwrap());
        assert_eq!(costs(Op::Add), [800.0, 150.0, 600.0]);
        assert_eq!(costs(Op::MulAdd), [850.0, 200.0, 600.0]);
        assert_eq!(costs(Op::Exp), [1200.0, 1024.0, 600.0]);
        // Twice the bytes are written: half as much traffic again.
        assert_eq!(costs(Op::Cast), [450.0, 150.0, 600.0]);
        assert_eq!(costs(Op::Copy), [400.0, 100.0, 600.0]);
        // Halfway between the probe and the exponential: (0.505 - 0.01) / (1 - 0.01).
        assert_eq!(costs(Op::Sqrt), [800.0, 517.0, 600.0]);
    }

    #[test]
    fn what_was_not_calibrated_is_an_error() {
        let kind = predict(Op::Neg, [32, 32], &[ViewOp::Flip(vec![1])]).unwrap_err();
        assert!(kind.to_string().contains("no rate for views of kind Reversed"), "{kind}");
        let op = predict(Op::Div, [32, 32], &[ViewOp::T]).unwrap_err();
        let text = op.to_string();
        assert!(text.starts_with("the calibration has no speed for div on elements of dtype f32"));
        let sum = predict(Op::Sum, [32, 32], &[ViewOp::T]).unwrap_err();
        assert_eq!(sum.to_string(), "sum is not predicted: measure it");
    }

    #[test]
    fn a_contiguous_view_costs_what_its_copy_costs() {
        let mut own = calibration();
        own.rates.iter_mut().for_each(|rate| rate.kind = PLAIN);
        let dense = Operand::new(DType::F32, vec![32, 32], Vec::new()).unwrap();
        let costs = own.predict(&Question::new(Op::Neg, dense, 1).unwrap()).unwrap();
        assert_eq!(rounded(costs), [100.0, 100.0, 0.0]);
    }
}
