//! Use a view as it is, or copy it once? The answer depends on the number of uses.
//!
//! A [`Question`] has a view, an operation and a number of uses. [`Costs`] are three times: a use
//! of the view, a use of a contiguous copy, and the copy. [`Costs::break_even`] compares them, here
//! and in the [report](crate::report). They come from one of two sources:
//!
//! - [`measure()`] measures them now, on arrays of that size;
//! - [`Calibration::predict`] computes them from rates of this machine, measured before for each
//!   [`kind`] of view and several sizes, without allocating an array. [`calibrate`] measures those
//!   rates, [`calibration`] stores them in a file, [`regret`] checks the predictions.
//!
//! ```
//! use tensor_bench::advise::{Choice, Costs};
//!
//! // 10 ms a use as it is, 4 ms a use of the copy, 15 ms for the copy.
//! let costs = Costs { strided_ns: 10e6, contiguous_ns: 4e6, copy_ns: 15e6 };
//! assert_eq!(costs.break_even(), Some(3));
//! assert_eq!(costs.advise(2), Choice::Keep);
//! assert_eq!(costs.advise(3), Choice::CopyOnce);
//! ```

pub mod calibration;
pub mod kind;
mod measure;
mod predict;
pub mod probe;
pub mod regret;

use serde::Serialize;

pub use calibration::Calibration;
pub use measure::measure;
pub use probe::calibrate;

use tensor_kernels::DType;

use crate::{
    Failure, Result,
    cases::operand::Operand,
    suite::{self, Case, Op},
};

/// A view and its uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The operation of each use, with a preallocated result. Its other operands are contiguous.
    pub op: Op,
    /// The view.
    pub operand: Operand,
    /// The number of uses.
    pub uses: u64,
    /// The element type of the result.
    pub out: DType,
    /// The dimensions that a reduction reduces, from 0; none for other operations.
    pub dims: Vec<usize>,
}

impl Question {
    /// Checks that the question has an answer. A reduction is over all dimensions; a cast is to
    /// f32, of f32 to f64.
    ///
    /// # Errors
    /// [`Failure::Input`] for an operation that cannot be measured on the dtype, a view without
    /// elements, no uses.
    pub fn new(op: Op, operand: Operand, uses: u64) -> Result<Question> {
        let dtype = operand.dtype;
        let refused = |why: String| Err(Failure::input(why));
        let out = match op {
            Op::Cast if dtype == DType::F32 => DType::F64,
            Op::Cast => DType::F32,
            _ => op.usual_result(dtype),
        };
        let dims = 0..if op.is_reduction() { operand.layout.ndim() } else { 0 };
        match op.refusal(dtype) {
            Some(why) => refused(why),
            _ if operand.layout.numel() == 0 => refused(format!(
                "shape {:?} has no elements: there is nothing to advise on",
                operand.layout.shape()
            )),
            _ if uses == 0 => refused("0 uses: give at least 1".to_owned()),
            _ => Ok(Question { op, operand, uses, out, dims: dims.collect() }),
        }
    }

    /// The same cast to another element type.
    ///
    /// # Errors
    /// [`Failure::Input`] for an operation that is no cast, and a cast that is not measured.
    pub fn cast_to(self, out: DType) -> Result<Question> {
        let from = self.operand.dtype;
        match self.op {
            Op::Cast if Op::casts(from, out) => Ok(Question { out, ..self }),
            Op::Cast => {
                let why = format!("cast from {from} to {out}: one of the two must be f32 or f64");
                Err(Failure::input(why))
            }
            op => Err(Failure::input(format!("{} has no choice of a result type", op.name()))),
        }
    }

    /// The same reduction over some dimensions; negative ones count from the end.
    ///
    /// # Errors
    /// [`Failure::Input`] for an operation that is no reduction, and dimensions that the view does
    /// not have or that are repeated.
    pub fn over(self, dims: &[isize]) -> Result<Question> {
        let found = suite::reduced_dims(self.op, self.operand.layout.ndim(), dims);
        let dims = found.map_err(Failure::input)?;
        Ok(Question { dims, ..self })
    }

    /// The operations that can be predicted: the rates of a calibration are of work that writes as
    /// many elements as it reads.
    pub fn predicted_ops() -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(|op| !op.is_reduction())
    }

    /// One use of the view, as a case.
    ///
    /// # Errors
    /// None for a question that was made by [`Question::new`].
    pub fn case(&self) -> Result<Case> {
        self.case_of(self.operand.clone())
    }

    /// One use of a contiguous copy of the view, as a case.
    ///
    /// # Errors
    /// None for a question that was made by [`Question::new`].
    pub fn copied_case(&self) -> Result<Case> {
        self.case_of(self.operand.to_contiguous()?)
    }

    fn case_of(&self, operand: Operand) -> Result<Case> {
        let others = (1..self.op.arity()).map(|_| self.operand.to_contiguous());
        let operands = std::iter::once(Ok(operand)).chain(others);
        Ok(Case {
            group: "advise".to_owned(),
            id: self.op.name().to_owned(),
            op: self.op,
            out: self.out,
            operands: operands.collect::<std::result::Result<_, _>>()?,
            dims: self.dims.clone(),
        })
    }
}

/// Times that differ by less are equal: noise is no reason to copy.
const NOISE: f64 = 0.03;

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// A use of the view as it is.
    pub strided_ns: f64,
    /// A use of a contiguous copy.
    pub contiguous_ns: f64,
    /// `contiguous()`, which allocates its result. 0 if the view is contiguous.
    pub copy_ns: f64,
}

/// What to do with a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Use it as it is.
    Keep,
    /// Make a contiguous copy once and use that.
    CopyOnce,
}

impl Costs {
    /// All uses of the view as it is.
    pub fn kept_ns(&self, uses: u64) -> f64 {
        uses as f64 * self.strided_ns
    }

    /// The copy and all uses of it.
    pub fn copied_ns(&self, uses: u64) -> f64 {
        self.copy_ns + uses as f64 * self.contiguous_ns
    }

    /// The number of uses from which copying takes no longer; `None` if never. A use of the copy
    /// must be faster by more than noise.
    pub fn break_even(&self) -> Option<u64> {
        let saved = self.strided_ns - self.contiguous_ns;
        let pays = saved > NOISE * self.contiguous_ns;
        pays.then(|| (self.copy_ns / saved).ceil().max(1.0) as u64)
    }

    /// The choice: a copy from the break-even on.
    pub fn advise(&self, uses: u64) -> Choice {
        let pays = self.break_even().is_some_and(|fewest| uses >= fewest);
        if pays { Choice::CopyOnce } else { Choice::Keep }
    }

    /// The time of a choice.
    pub fn of(&self, choice: Choice, uses: u64) -> f64 {
        match choice {
            Choice::Keep => self.kept_ns(uses),
            Choice::CopyOnce => self.copied_ns(uses),
        }
    }

    /// The extra time of a choice over the better one: 0.1 is ten percent.
    pub fn regret(&self, choice: Choice, uses: u64) -> f64 {
        self.of(choice, uses) / self.kept_ns(uses).min(self.copied_ns(uses)) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::DType;

    use super::*;
    use crate::cases::view_op::ViewOp;

    const COSTS: Costs = Costs { strided_ns: 10.0, contiguous_ns: 4.0, copy_ns: 15.0 };

    #[test]
    fn a_copy_is_advised_from_where_it_costs_less() {
        assert_eq!(
            [1, 2, 3, 100].map(|uses| COSTS.advise(uses)),
            [Choice::Keep, Choice::Keep, Choice::CopyOnce, Choice::CopyOnce]
        );
        assert_eq!(COSTS.break_even(), Some(3));
        assert_eq!((COSTS.kept_ns(2), COSTS.copied_ns(2)), (20.0, 23.0));
    }

    #[test]
    fn a_copy_that_costs_the_same_is_advised_as_the_break_even_says() {
        let costs = Costs { copy_ns: 12.0, ..COSTS };
        assert_eq!((costs.kept_ns(2), costs.copied_ns(2)), (20.0, 20.0));
        assert_eq!(costs.break_even(), Some(2));
        assert_eq!([1, 2].map(|uses| costs.advise(uses)), [Choice::Keep, Choice::CopyOnce]);
    }

    #[test]
    fn a_copy_that_saves_nothing_is_never_advised() {
        for strided_ns in [3.0, 4.0, 4.1] {
            let costs = Costs { strided_ns, ..COSTS };
            assert_eq!((costs.break_even(), costs.advise(u64::MAX)), (None, Choice::Keep));
        }
    }

    #[test]
    fn regret_is_what_the_wrong_choice_adds() {
        assert_eq!(COSTS.regret(Choice::Keep, 1), 0.0);
        assert!((COSTS.regret(Choice::CopyOnce, 1) - 0.9).abs() < 1e-12);
        assert!((COSTS.regret(Choice::Keep, 10) - (100.0 / 55.0 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn questions_without_an_answer_are_refused_with_the_rule() {
        let view =
            |dtype, base: &[usize]| Operand::new(dtype, base.to_vec(), vec![ViewOp::T]).unwrap();
        let refusals = [
            (Op::Sqrt, view(DType::I16, &[2, 3]), 1, "sqrt of i16 is not measured"),
            (Op::Add, view(DType::Bool, &[2, 3]), 1, "add is not defined for dtype bool"),
            (Op::Add, view(DType::F32, &[0, 3]), 1, "shape [3, 0] has no elements"),
            (Op::Add, view(DType::F32, &[2, 3]), 0, "0 uses"),
        ];
        for (op, operand, uses, reason) in refusals {
            let refused = Question::new(op, operand, uses).unwrap_err();
            assert_eq!(refused.exit_code(), 2);
            assert!(refused.to_string().contains(reason), "{refused}");
        }
    }

    #[test]
    fn casts_have_a_result_type_and_reductions_have_dimensions() {
        let view = Operand::new(DType::F32, vec![4, 3], vec![ViewOp::T]).unwrap();
        let question = |op| Question::new(op, view.clone(), 1).unwrap();
        let cast = question(Op::Cast);
        assert_eq!((cast.out, cast.cast_to(DType::U8).unwrap().out), (DType::F64, DType::U8));
        let sum = question(Op::Sum);
        assert_eq!(
            (&sum.dims[..], &sum.clone().over(&[-1]).unwrap().dims[..]),
            (&[0, 1][..], &[1][..])
        );
        let refused = |question: Result<Question>| question.unwrap_err().to_string();
        assert_eq!(refused(sum.clone().over(&[2])), "dims: there is no dimension 2 of 2");
        assert_eq!(refused(sum.cast_to(DType::U8)), "sum has no choice of a result type");
        assert_eq!(refused(question(Op::Neg).over(&[0])), "neg takes no dims");
    }

    #[test]
    fn other_operands_are_contiguous() {
        let view = Operand::new(DType::F32, vec![4, 3], vec![ViewOp::T]).unwrap();
        let case = Question::new(Op::MulAdd, view, 1).unwrap().case().unwrap();
        let strides: Vec<_> = case.operands.iter().map(|o| o.layout.strides().to_vec()).collect();
        assert_eq!(strides, [[1, 3], [4, 1], [4, 1]]);
    }
}
