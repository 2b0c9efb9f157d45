//! Vector norms.

use tensor_core::{AsOperand, Operand, Output, ReduceDims, ReductionShape, Result, TensorBase};

use super::{
    kernels::{extreme_magnitude, sum_of},
    long::{Reduced, Statistic},
};
use crate::{
    api::{call::Call, movement::assembled, tensor::Simd},
    element::Real,
    exec::Exec,
    math::{Baseline, FmaMode},
};

/// The norm of order `p` over dimensions (PyTorch: `torch.linalg.vector_norm`): `(Σ |a|^p)^(1/p)`,
/// the largest magnitude for ∞, the smallest for −∞, the number of elements that are not 0 for 0.
/// No dimensions means all. Of complex numbers: `norm` of [`abs`](crate::ops::abs).
///
/// The relative error of the sum of n powers is at most `(130 + log2 n) · u`, where `u` is 2⁻²⁴ for
/// f32 and the halves, which are computed in f32, and 2⁻⁵³ for f64. As in PyTorch, squares of very
/// large numbers overflow, and those of very small ones vanish.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::from_vec(vec![3.0f32, -4.0, 0.0, 2.0], [2, 2])?;
/// assert_eq!(ops::norm(exec, &x, 1, 2.0)?.to_vec()?, [5.0, 2.0]);
/// assert_eq!(ops::norm(exec, &x, .., f64::INFINITY)?.item()?, 4.0);
/// assert_eq!(ops::norm(exec, &x, .., 0.0)?.item()?, 3.0);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range or named twice; [`Error::ReduceEmpty`](crate::Error::ReduceEmpty) if
/// there are no elements and the order is negative or infinite.
#[track_caller]
pub fn norm<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    over: impl Into<ReduceDims>,
    p: f64,
) -> Result<TensorBase<T, Simd>> {
    norm_eval(Call::new(exec, "norm"), &a.as_operand(), over.into(), p)
}

/// [`norm`] into a given result.
///
/// # Errors
/// Those of [`norm`]; a result of another shape, or that shares elements with the operand or with
/// itself.
#[track_caller]
pub fn norm_into<'o, T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    over: impl Into<ReduceDims>,
    p: f64,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    norm_write(Call::new(exec, "norm"), &a.as_operand(), over.into(), p, out.into())
}

assembled! {
    norm_eval, norm_write, T: Real; a: T, "a";
    |call, over: ReduceDims, p: f64| {
        let reduced = a.layout().reduced(call.op, over)?;
        Reduced::new(&a, &reduced, Norm::new(call, p, &reduced)?)?
    }
}

#[derive(Clone, Copy)]
struct Norm {
    p: f64,
}

impl Norm {
    fn new(call: Call<'_>, p: f64, reduced: &ReductionShape) -> Result<Self> {
        if p < 0.0 || p == f64::INFINITY {
            reduced.check_not_empty(call.op)?;
        }
        Ok(Self { p })
    }
}

impl<F: Real> Statistic<F> for Norm {
    type Partial = F;

    #[inline(always)]
    fn of<M: FmaMode>(&self, elements: &[F], scratch: &mut [F]) -> F {
        let p = F::from_f64(self.p);
        if self.p.is_infinite() {
            return extreme_magnitude(elements, self.p > 0.0);
        }
        if self.p == 0.0 {
            let one_or_zero = |x: F| F::from_f64(if x.is_nonzero() { 1.0 } else { 0.0 });
            return sum_of(elements, one_or_zero);
        }
        if self.p == 1.0 {
            return sum_of(elements, F::magnitude);
        }
        if self.p == 2.0 {
            return sum_of(elements, |x| x.times(x));
        }
        for (power, x) in scratch.iter_mut().zip(elements) {
            *power = x.magnitude().power::<M>(p);
        }
        sum_of(scratch, |power| power)
    }

    #[inline(always)]
    fn combine(&self, a: F, b: F) -> F {
        if self.p == f64::INFINITY {
            a.maximum(b)
        } else if self.p == f64::NEG_INFINITY {
            a.minimum(b)
        } else {
            a.plus(b)
        }
    }

    fn finish(&self, sum: F) -> F {
        if self.p.is_infinite() || self.p == 0.0 || self.p == 1.0 {
            return sum;
        }
        if self.p == 2.0 {
            return sum.square_root();
        }
        sum.power::<Baseline>(F::from_f64(1.0 / self.p))
    }

    fn of_empty(&self) -> F {
        F::from_f64(0.0)
    }
}
