//! Random patterns, compared with the interpreter.
//!
//! Inputs are contiguous, permuted, flipped, or have steps. That a copy is made only where strides
//! cannot express the result is decided anew, from the offsets of all elements.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use tensor_kernels::{
    Error, Exec, RearrangePattern, ReducePattern, Reduction, RepeatPattern, Reshaped, Tensor,
    TensorExt, rearrange, reduce, repeat_axes,
};

use crate::{
    generator::{Case, Operation, Random, damaged},
    interpreter::sources,
};

/// The number of random patterns, unless `TENSOR_DIFFERENTIAL_CASES` says otherwise.
const CASES: u64 = 4000;

#[test]
fn random_patterns_agree_with_the_interpreter() {
    for number in cases() {
        let case = Case::drawn(&mut Random::new(number));
        reported(number, &case.pattern, || case.check());
    }
}

#[test]
fn damaged_patterns_are_refused_in_place_or_taken() {
    for number in cases() {
        let mut random = Random::new(number);
        let case = Case::drawn(&mut random);
        let pattern = damaged(&mut random, &case.pattern);
        let check = || {
            check_refusal(&pattern, RearrangePattern::new(&pattern).err());
            check_refusal(&pattern, RepeatPattern::new(&pattern).err());
            check_refusal(&pattern, ReducePattern::new(&pattern).err());
            let (x, sizes) = (case.input(), case.given());
            check_refusal(&pattern, x.rearrange(&pattern, &sizes).err());
            check_refusal(&pattern, x.repeat_axes(&pattern, &sizes).err());
            check_refusal(&pattern, x.reduce(&pattern, Reduction::Sum, &sizes).err());
        };
        reported(number, &pattern, check);
    }
}

fn cases() -> std::ops::Range<u64> {
    let number = |variable| env::var(variable).ok().map(|n| n.parse().expect("a number"));
    let first = number("TENSOR_DIFFERENTIAL_SEED").unwrap_or(0) << 32;
    first..first + number("TENSOR_DIFFERENTIAL_CASES").unwrap_or(CASES)
}

fn reported(number: u64, pattern: &str, check: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
        eprintln!("case {number}: {pattern:?}");
        resume_unwind(panic);
    }
}

fn check_refusal(pattern: &str, error: Option<Error>) {
    if let Some(Error::Pattern(error)) = error {
        assert_eq!(error.pattern, pattern);
        assert!(pattern.get(error.at.clone()).is_some(), "{error:?}");
        assert_eq!(error.to_string().lines().count(), 3, "{error}");
    }
}

impl Case {
    fn check(&self) {
        let (shape, sources) = sources(&self.pattern, &self.sizes, &self.ellipsis);
        let x = self.input();
        match self.operation {
            Operation::Reduce(reduction) => self.check_reduced(&x, reduction, &shape, &sources),
            _ => self.check_rearranged(&x, &shape, &sources),
        }
    }

    fn check_rearranged(&self, x: &Tensor<f64>, shape: &[usize], sources: &[Vec<usize>]) {
        let (exec, guard) = (Exec::current().unwrap(), x.read().unwrap());
        let view = guard.as_view();
        let (y, of_view) = match self.operation {
            Operation::Repeat => (
                x.repeat_axes(&self.pattern, &self.given()),
                repeat_axes(exec, &view, &self.pattern, &self.given()),
            ),
            _ => (
                x.rearrange(&self.pattern, &self.given()),
                rearrange(exec, &view, &self.pattern, &self.given()),
            ),
        };
        let (y, of_view) = (y.unwrap(), of_view.unwrap());
        let expected: Vec<f64> = sources.iter().map(|from| self.value(from[0])).collect();
        assert_eq!((y.shape(), y.to_vec().unwrap()), (shape, expected));
        self.check_copied(x, &y, sources);
        assert_eq!((of_view.layout(), of_view.copied()), (y.layout(), y.copied()));
        assert_eq!(of_view.to_vec(), y.to_vec());
    }

    /// It is a view if and only if the offsets of its elements are those of some strides.
    fn check_copied(&self, x: &Tensor<f64>, y: &Reshaped<f64>, sources: &[Vec<usize>]) {
        assert_eq!(y.copied(), !y.same_storage(x));
        let offsets: Vec<usize> = x.layout().offsets().collect();
        let wanted: Vec<usize> = sources.iter().map(|from| offsets[from[0]]).collect();
        assert_eq!(y.copied(), !is_strided(y.shape(), &wanted), "{:?} -> {:?}", x, y.shape());
        if y.copied() {
            assert!(y.is_contiguous());
        } else {
            assert_eq!(y.layout().offsets().collect::<Vec<_>>(), wanted);
        }
    }

    fn check_reduced(
        &self,
        x: &Tensor<f64>,
        reduction: Reduction,
        shape: &[usize],
        sources: &[Vec<usize>],
    ) {
        let y = x.reduce(&self.pattern, reduction, &self.given());
        let view = x.read().unwrap();
        let exec = Exec::current().unwrap();
        let of_view = reduce(exec, &view.as_view(), &self.pattern, reduction, &self.given());
        let ordered = matches!(reduction, Reduction::Min | Reduction::Max);
        if ordered && self.reduces_nothing() {
            assert!(matches!(y, Err(Error::ReduceEmpty { .. })));
            assert!(matches!(of_view, Err(Error::ReduceEmpty { .. })));
            return;
        }
        let expected: Vec<u64> = sources.iter().map(|from| self.reduced(reduction, from)).collect();
        for y in [y.unwrap(), of_view.unwrap()] {
            let bits: Vec<u64> = y.to_vec().unwrap().into_iter().map(bits).collect();
            assert_eq!((y.shape(), &bits), (shape, &expected));
            assert!(y.is_contiguous());
        }
    }

    /// Has a reduced axis size 0? PyTorch refuses this, even if the result has no elements either.
    fn reduces_nothing(&self) -> bool {
        let right = self.pattern.split("->").nth(1).unwrap();
        let words: Vec<&str> = right.split([' ', '(', ')']).collect();
        let of_ellipsis = self.pattern.contains("...") && !words.contains(&"...");
        (of_ellipsis && self.ellipsis.contains(&0))
            || self.sizes.iter().any(|(name, &size)| size == 0 && !words.contains(&&name[..]))
    }

    fn reduced(&self, reduction: Reduction, from: &[usize]) -> u64 {
        let values = from.iter().map(|&position| self.value(position));
        bits(match reduction {
            Reduction::Min => values.fold(f64::INFINITY, f64::min),
            Reduction::Max => values.fold(f64::NEG_INFINITY, f64::max),
            Reduction::Sum => values.sum::<f64>() + 0.0,
            Reduction::Mean => (values.sum::<f64>() + 0.0) / from.len() as f64,
            Reduction::Prod => values.product(),
        })
    }
}

/// The bits, the same for every NaN.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

/// Are these offsets, in row-major order of a shape, those of some strides?
fn is_strided(shape: &[usize], offsets: &[usize]) -> bool {
    if offsets.is_empty() {
        return true;
    }
    let steps = |d: usize| shape[d + 1..].iter().product::<usize>();
    let start = offsets[0] as isize;
    let stride = |d: usize| match shape[d] {
        1 => 0,
        _ => offsets[steps(d)] as isize - start,
    };
    let strides: Vec<isize> = (0..shape.len()).map(stride).collect();
    offsets.iter().enumerate().all(|(at, &offset)| {
        let reached = (0..shape.len()).map(|d| (at / steps(d) % shape[d]) as isize * strides[d]);
        offset as isize == start + reached.sum::<isize>()
    })
}
