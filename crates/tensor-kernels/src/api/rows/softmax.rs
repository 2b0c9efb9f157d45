//! Softmax, its logarithm, and the logarithm of sums of powers of e.

use tensor_core::{
    AsOperand, Element, Int, Layout, Operand, Output, ReduceDims, Result, TensorBase, TensorView,
    wrap_dim,
};

use super::{
    blocks::{BlockBuffer, BlockWork, Rows, load, run_blocks, store},
    kernels::{divide, exp_in_place, max_of, subtract, sum_of},
    long::{Reduced, Statistic, partial_of},
};
use crate::{
    api::{
        call::Call,
        compiled::compiled_function,
        movement::{Assemble, assembled},
        tensor::Simd,
    },
    element::{Inexact, Number, Real},
    exec::{Exec, SimdLevel},
    kernel::{self, Function1, Isa, Kernel, Map},
    math::{Baseline, FmaMode},
    run::{Destination, Part},
};

/// `e^a / Σ e^a` along a dimension, in a new contiguous tensor (PyTorch: `torch.softmax`).
///
/// Each power is of the element minus the largest of its row, so none overflows. The elements are
/// read from memory once, unless a row has more than 262,144. f16 and bf16 are computed in f32 and
/// rounded once. A row with NaN, with +∞, or of −∞ alone is NaN, as in PyTorch.
///
/// The relative error of a result that is not subnormal is at most `(130 + d + log2 n) · u`, where
/// d is the distance of the element from the largest, n the number of elements of the row, and `u`
/// is 2⁻²⁴ for f32, 2⁻⁵³ for f64.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let scores = Tensor::from_vec(vec![1.0f64, 1.0, 1000.0, 1000.0], [2, 2])?;
/// assert_eq!(ops::softmax(exec, &scores, -1)?.to_vec()?, [0.5; 4]);
/// assert_eq!(ops::softmax(exec, &scores, 0)?.to_vec()?, [0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range.
#[track_caller]
pub fn softmax<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
) -> Result<TensorBase<T, Simd>> {
    softmax_eval(Call::new(exec, "softmax"), &a.as_operand(), dim.saturated(), false)
}

/// [`softmax`] into a given result.
///
/// # Errors
/// Those of [`softmax`]; a result of another shape, or that shares elements with the operand or
/// with itself.
#[track_caller]
pub fn softmax_into<'o, T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    softmax_write(Call::new(exec, "softmax"), &a.as_operand(), dim.saturated(), false, out.into())
}

/// The logarithm of [`softmax`], `a − ln Σ e^a`, more accurate than of its result (PyTorch:
/// `torch.log_softmax`).
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let scores = Tensor::from_vec(vec![0.0f64, -1000.0], [2])?;
/// assert_eq!(ops::log_softmax(exec, &scores, 0)?.to_vec()?, [0.0, -1000.0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range.
#[track_caller]
pub fn log_softmax<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
) -> Result<TensorBase<T, Simd>> {
    softmax_eval(Call::new(exec, "log_softmax"), &a.as_operand(), dim.saturated(), true)
}

/// [`log_softmax`] into a given result.
///
/// # Errors
/// Those of [`log_softmax`]; a result of another shape, or that shares elements with the operand or
/// with itself.
#[track_caller]
pub fn log_softmax_into<'o, T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    softmax_write(
        Call::new(exec, "log_softmax"),
        &a.as_operand(),
        dim.saturated(),
        true,
        out.into(),
    )
}

assembled! {
    softmax_eval, softmax_write, T: Real; a: T, "a";
    |call, dim: isize, log: bool| Softmax::new(call, &a, dim, log)?
}

/// `ln Σ e^a` over dimensions (PyTorch: `torch.logsumexp`), without overflow; −∞ for no elements.
/// No dimensions means all.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::full([3, 4], 1000.0f64)?;
/// let sums = ops::logsumexp(exec, &x, 1)?;
/// assert!((sums.get(&[0])? - (1000.0 + 4f64.ln())).abs() < 1e-12);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range or named twice.
#[track_caller]
pub fn logsumexp<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    over: impl Into<ReduceDims>,
) -> Result<TensorBase<T, Simd>> {
    logsumexp_eval(Call::new(exec, "logsumexp"), &a.as_operand(), over.into())
}

/// [`logsumexp`] into a given result.
///
/// # Errors
/// Those of [`logsumexp`]; a result of another shape, or that shares elements with the operand or
/// with itself.
#[track_caller]
pub fn logsumexp_into<'o, T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    over: impl Into<ReduceDims>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    logsumexp_write(Call::new(exec, "logsumexp"), &a.as_operand(), over.into(), out.into())
}

assembled! {
    logsumexp_eval, logsumexp_write, T: Real; a: T, "a";
    |call, over: ReduceDims|
        Reduced::new(&a, &a.layout().reduced(call.op, over)?, LogSumExp)?
}

/// Rows of more elements are read twice: for the sum, and for the results.
const MAX_ROW_ELEMENTS: usize = 256 << 10;

/// The largest element, and the sum of the powers of e of all others minus that one.
#[derive(Clone, Copy)]
struct LogSumExp;

impl<F: Real> Statistic<F> for LogSumExp {
    type Partial = (F, F);

    #[inline(always)]
    fn of<M: FmaMode>(&self, elements: &[F], scratch: &mut [F]) -> (F, F) {
        let largest = max_of(elements);
        subtract(elements, finite_or_zero(largest), scratch);
        exp_in_place::<M, F>(scratch);
        (largest, sum_of(scratch, |power| power))
    }

    fn combine(&self, (a, a_sum): (F, F), (b, b_sum): (F, F)) -> (F, F) {
        let largest = if a.is_less(b) { b } else { a };
        let base = finite_or_zero(largest);
        let scaled = |largest: F, sum: F| {
            let by = finite_or_zero(largest).minus(base).exp_with::<Baseline>();
            // The sum of no finite powers is not scaled: it may be infinite or NaN.
            if largest.to_f64().is_finite() { sum.times(by) } else { sum }
        };
        (largest, scaled(a, a_sum).plus(scaled(b, b_sum)))
    }

    fn finish(&self, (largest, sum): (F, F)) -> F {
        finite_or_zero(largest).plus(sum.ln_with::<Baseline>())
    }

    fn of_empty(&self) -> F {
        F::from_f64(f64::NEG_INFINITY)
    }
}

/// 0 in place of ±∞, from which nothing finite can be subtracted.
#[inline(always)]
fn finite_or_zero<F: Real>(largest: F) -> F {
    if largest.to_f64().is_finite() { largest } else { F::from_f64(0.0) }
}

struct Softmax<'v, T> {
    rows: Rows<'v, T>,
    layout: Layout,
    /// The logarithm?
    log: bool,
}

impl<'v, T: Element> Softmax<'v, T> {
    fn new(call: Call<'_>, view: &TensorView<'v, T>, dim: isize, log: bool) -> Result<Self> {
        let dim = wrap_dim(call.op, dim, view.ndim().max(1))?;
        let layout = Layout::contiguous(view.shape())?;
        Ok(Self { rows: Rows::new(view, |d| d == dim)?, layout, log })
    }
}

impl<T: Real> Assemble<T> for Softmax<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        let part = part.reshaped(|view| view.permute(&self.rows.order))?;
        let len = self.rows.len();
        let work = SoftmaxWork { kept: self.rows.kept, log: self.log, exec: call.exec };
        if self.layout.numel() == 0 {
            return part.copy_from(call.exec, &self.rows.view);
        }
        if len > MAX_ROW_ELEMENTS {
            let serial = Call { exec: &call.exec.serial(), ..call };
            return run_blocks(serial, &self.rows, 1, part, &work);
        }
        run_blocks(call, &self.rows, self.rows.rows_per_block(), part, &work)
    }
}

struct SoftmaxWork<'a> {
    kept: usize,
    log: bool,
    /// What the parts of a long row may use.
    exec: &'a Exec,
}

impl<T: Real, W: Destination<T>> BlockWork<T, Part<'_, T, W>> for SoftmaxWork<'_> {
    type Scratch = T::Wide;

    fn run(
        &self,
        exec: &Exec,
        rows: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<T::Wide>,
        part: Part<'_, T, W>,
    ) -> Result<()> {
        let len: usize = rows.shape()[self.kept..].iter().product();
        if len > MAX_ROW_ELEMENTS {
            return self.run_long(rows, buffer, part);
        }
        if self.log {
            let mut powers = BlockBuffer::new();
            let (elements, out) = load(exec, rows, buffer, rows.numel())?;
            let powers = powers.get(elements.len().min(rows_at_once(len) * len))?;
            find_log_softmax::<T::Wide>()(exec.simd(), elements, out, powers, len);
            return store(exec, out, part);
        }
        let (elements, out) = load(exec, rows, buffer, rows.numel())?;
        find_softmax::<T::Wide>()(exec.simd(), elements, out, len);
        store(exec, out, part)
    }
}

impl SoftmaxWork<'_> {
    /// One row that is read twice.
    fn run_long<T: Real, W: Destination<T>>(
        &self,
        row: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<T::Wide>,
        part: Part<'_, T, W>,
    ) -> Result<()> {
        let (largest, sum) = partial_of(self.exec, &LogSumExp, row, buffer)?;
        // ∞ minus itself is NaN, and so is the whole row, as it is where rows are short.
        let is_finite = largest.to_f64().is_finite();
        let sum = if is_finite { sum } else { T::Wide::from_f64(f64::NAN) };
        if self.log {
            let map = Map::new(LogShare { largest, log_sum: sum.ln_with::<Baseline>() });
            return part.compute_from(self.exec, map.of_types::<T>(), row.into());
        }
        let map = Map::new(Share { largest, sum });
        part.compute_from(self.exec, map.of_types::<T>(), row.into())
    }
}

/// The result of one element of a long row.
struct Share<F> {
    largest: F,
    sum: F,
}

impl<T: Real> Function1<T> for Share<T::Wide> {
    type Output = T;

    const COMPUTES_MUCH: bool = true;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> T {
        T::narrowed(a.widened().minus(self.largest).exp_with::<M>().divided_by(self.sum))
    }
}

/// The logarithm of the result of one element of a long row.
struct LogShare<F> {
    largest: F,
    log_sum: F,
}

impl<T: Real> Function1<T> for LogShare<T::Wide> {
    type Output = T;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> T {
        T::narrowed(a.widened().minus(self.largest).minus(self.log_sum))
    }
}

compiled_function! {
    find_softmax<F: Real>: fn(SimdLevel, &[F], &mut [F], usize) = softmax_rows for f32 f64
}
compiled_function! {
    find_log_softmax<F: Real>: fn(SimdLevel, &[F], &mut [F], &mut [F], usize)
        = log_softmax_rows for f32 f64
}

fn softmax_rows<F: Real>(simd: SimdLevel, elements: &[F], out: &mut [F], len: usize) {
    kernel::dispatch(simd, SoftmaxRows { elements, out, len });
}

fn log_softmax_rows<F: Real>(
    simd: SimdLevel,
    elements: &[F],
    out: &mut [F],
    powers: &mut [F],
    len: usize,
) {
    kernel::dispatch(simd, LogSoftmaxRows { elements, out, powers, len });
}

/// Powers of all rows of a block are one loop: it is vectorised even if rows are short.
struct SoftmaxRows<'a, F> {
    elements: &'a [F],
    out: &'a mut [F],
    len: usize,
}

impl<F: Real> Kernel for SoftmaxRows<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { elements, out, len } = self;
        for (row, out) in elements.chunks_exact(len).zip(out.chunks_exact_mut(len)) {
            subtract(row, max_of(row), out);
        }
        exp_in_place::<I::FmaMode, F>(out);
        for row in out.chunks_exact_mut(len) {
            let sum = sum_of(row, |power| power);
            divide(row, sum);
        }
    }
}

struct LogSoftmaxRows<'a, F> {
    elements: &'a [F],
    out: &'a mut [F],
    /// Scratch for the powers of [`rows_at_once`] rows.
    powers: &'a mut [F],
    len: usize,
}

/// The most rows whose powers are one loop, and whose logarithms are computed in registers: alone,
/// a logarithm is a chain of operations that each wait for the last.
const ROWS_AT_ONCE: usize = 16;

/// The elements of such rows, unless one row has more: they are read twice, from the first-level
/// cache.
const ELEMENTS_AT_ONCE: usize = 2048;

fn rows_at_once(len: usize) -> usize {
    (ELEMENTS_AT_ONCE / len).clamp(1, ROWS_AT_ONCE)
}

impl<F: Real> Kernel for LogSoftmaxRows<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { elements, out, powers, len } = self;
        let most = rows_at_once(len) * len;
        let mut largest = [F::from_f64(0.0); ROWS_AT_ONCE];
        let mut logs = [F::from_f64(1.0); ROWS_AT_ONCE];
        for (rows, out) in elements.chunks(most).zip(out.chunks_mut(most)) {
            let powers = &mut powers[..rows.len()];
            let each = rows.chunks_exact(len).zip(powers.chunks_exact_mut(len));
            for ((row, powers), largest) in each.zip(&mut largest) {
                *largest = max_of(row);
                subtract(row, *largest, powers);
            }
            exp_in_place::<I::FmaMode, F>(powers);
            for (powers, log) in powers.chunks_exact(len).zip(&mut logs) {
                *log = sum_of(powers, |power| power);
            }
            for log in &mut logs {
                *log = log.ln_with::<I::FmaMode>();
            }
            let each = rows.chunks_exact(len).zip(out.chunks_exact_mut(len));
            for ((row, out), (&largest, &log)) in each.zip(largest.iter().zip(&logs)) {
                for (out, &x) in out.iter_mut().zip(row) {
                    *out = x.minus(largest).minus(log);
                }
            }
        }
    }
}
