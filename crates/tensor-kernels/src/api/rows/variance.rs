//! Variance and standard deviation.

use tensor_core::{AsOperand, Operand, Output, ReduceDims, Result, TensorBase};

use super::{
    kernels::sum_of,
    long::{Reduced, Statistic},
};
use crate::{
    api::{call::Call, movement::assembled, tensor::Simd},
    element::Real,
    exec::Exec,
    math::FmaMode,
};

/// For each of the two: its functions.
macro_rules! spreads {
    ($(
        $(#[$doc:meta])* $name:ident, $into:ident, $eval:ident, $write:ident, root $root:literal;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// A dimension out of range or named twice.
        #[track_caller]
        pub fn $name<T: Real>(
            exec: &Exec,
            a: impl AsOperand<T>,
            over: impl Into<ReduceDims>,
            correction: f64,
        ) -> Result<TensorBase<T, Simd>> {
            $eval(Call::new(exec, stringify!($name)), &a.as_operand(), over.into(), correction)
        }

        #[doc = concat!(
            "[`", stringify!($name), "`](fn@", stringify!($name), ") into a given result."
        )]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`](fn@", stringify!($name), ");")]
        /// a result of another shape, or that shares elements with the operand or with itself.
        #[track_caller]
        pub fn $into<'o, T: Real>(
            exec: &Exec,
            a: impl AsOperand<T>,
            over: impl Into<ReduceDims>,
            correction: f64,
            out: impl Into<Output<'o, T>>,
        ) -> Result<()> {
            let call = Call::new(exec, stringify!($name));
            $write(call, &a.as_operand(), over.into(), correction, out.into())
        }

        assembled! {
            $eval, $write, T: Real; a: T, "a";
            |call, over: ReduceDims, correction: f64| Reduced::new(
                &a,
                &a.layout().reduced(call.op, over)?,
                Variance { correction, root: $root },
            )?
        }
    )*};
}

spreads! {
    /// The variance over dimensions (PyTorch: `torch.var`): the sum of squares of the distances
    /// from the mean, divided by the number of elements minus `correction`, or by 0 if that is
    /// negative. PyTorch's default is a correction of 1; 0 gives the variance of the elements
    /// themselves. No elements: NaN. No dimensions means all.
    ///
    /// Two passes over elements in cache, with the correction for the rounding of the mean. The
    /// relative error is at most `(200 + log2 n) · u`, where `u` is 2⁻²⁴ for f32 and the halves,
    /// and 2⁻⁵³ for f64, if the variance is not below `(200 · u)²` of the square of the mean.
    ///
    /// ```
    /// use tensor_kernels::{Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(ops::var(exec, &x, 0, 1.0)?.to_vec()?, [2.0, 2.0]);
    /// assert_eq!(ops::var(exec, &x, .., 0.0)?.item()?, 1.25);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    var, var_into, var_eval, var_write, root false;
    /// The standard deviation over dimensions (PyTorch: `torch.std`): the square root of
    /// [`var`].
    ///
    /// ```
    /// use tensor_kernels::{Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::from_vec(vec![1.0f64, 3.0], [2])?;
    /// assert_eq!(ops::std(exec, &x, .., 0.0)?.item()?, 1.0);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    std, std_into, std_eval, std_write, root true;
}

#[derive(Clone, Copy)]
struct Variance {
    correction: f64,
    /// The square root?
    root: bool,
}

/// The number of elements, their mean, and the sum of squares of the distances from it.
type Moments<F> = (usize, F, F);

impl<F: Real> Statistic<F> for Variance {
    type Partial = Moments<F>;

    #[inline(always)]
    fn of<M: FmaMode>(&self, elements: &[F], _: &mut [F]) -> Moments<F> {
        let count = F::from_f64(elements.len() as f64);
        let mean = sum_of(elements, |x| x).divided_by(count);
        // 0 but for the rounding of the mean.
        let rest = sum_of(elements, |x| x.minus(mean));
        let squares = sum_of(elements, |x| x.minus(mean).times(x.minus(mean)));
        (elements.len(), mean, squares.minus(rest.times(rest).divided_by(count)))
    }

    /// Chan, Golub and LeVeque's formula.
    fn combine(&self, a: Moments<F>, b: Moments<F>) -> Moments<F> {
        let (count, distance) = (a.0 + b.0, b.1.minus(a.1));
        let share = F::from_f64(b.0 as f64 / count as f64);
        let between = distance.times(distance).times(share).times(F::from_f64(a.0 as f64));
        (count, a.1.plus(distance.times(share)), a.2.plus(b.2).plus(between))
    }

    fn finish(&self, (count, _, squares): Moments<F>) -> F {
        let divisor = (count as f64 - self.correction).max(0.0);
        let variance = squares.divided_by(F::from_f64(divisor));
        if self.root { variance.square_root() } else { variance }
    }

    fn of_empty(&self) -> F {
        F::from_f64(f64::NAN)
    }
}
