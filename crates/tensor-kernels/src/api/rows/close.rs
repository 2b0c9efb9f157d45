//! Equality within tolerances.

use tensor_core::{AsOperand, Bare, MovementError, Operand, Output, Result, TensorBase};

use crate::{
    api::{
        call::Call,
        ops::all_all,
        parts::{PART_BYTES, Pair, all_parts},
        tensor::Simd,
    },
    element::Real,
    exec::Exec,
    kernel::Function2,
    math::FmaMode,
};

/// The tolerances of a comparison.
///
/// ```
/// let default = tensor_kernels::Tolerance::default();
/// assert_eq!((default.rtol, default.atol, default.equal_nan), (1e-5, 1e-8, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The distance relative to the magnitude of the second operand.
    pub rtol: f64,
    /// The distance that is allowed in any case.
    pub atol: f64,
    /// Is NaN close to NaN?
    pub equal_nan: bool,
}

impl Default for Tolerance {
    /// PyTorch's defaults.
    fn default() -> Self {
        Self { rtol: 1e-5, atol: 1e-8, equal_nan: false }
    }
}

impl Tolerance {
    pub(crate) fn check(self) -> Result<Self> {
        for (name, value) in [("rtol", self.rtol), ("atol", self.atol)] {
            // NaN is refused, too.
            if value.is_nan() || value < 0.0 {
                return Err(MovementError::Tolerance { name, value: value.to_string() }.into());
            }
        }
        Ok(self)
    }
}

/// `|a − b| ≤ atol + rtol · |b|`, broadcast (PyTorch: `torch.isclose`). Infinities are close to
/// themselves alone. Computed in double precision.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, Tolerance, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::from_vec(vec![1.0f32, 2.0], [2])?;
/// let close = ops::isclose(exec, &x, 1.000001, Tolerance::default())?;
/// assert_eq!(close.to_vec()?, [true, false]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A negative tolerance ([`Error::Movement`](crate::Error::Movement)), shapes that do not
/// broadcast.
#[track_caller]
pub fn isclose<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    b: impl AsOperand<T>,
    tolerance: Tolerance,
) -> Result<TensorBase<bool, Simd>> {
    isclose_eval(Call::new(exec, "isclose"), a.as_operand(), b.as_operand(), tolerance)
}

/// [`isclose`] into a given result.
///
/// # Errors
/// Those of [`isclose`]; a result of another shape, or that overlaps itself or an operand; see
/// [`ops`](crate::ops).
#[track_caller]
pub fn isclose_into<'o, T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    b: impl AsOperand<T>,
    tolerance: Tolerance,
    out: impl Into<Output<'o, bool>>,
) -> Result<()> {
    let call = Call::new(exec, "isclose");
    isclose_write(call, a.as_operand(), b.as_operand(), tolerance, out.into())
}

/// Are all elements [close](isclose)? (PyTorch: `torch.allclose`)
///
/// ```
/// use tensor_kernels::{Exec, Tensor, Tolerance, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::linspace(0.0f32, 1.0, 7)?;
/// let y = ops::mul(exec, &ops::div(exec, &x, 3.0)?, 3.0)?;
/// assert!(ops::allclose(exec, &x, &y, Tolerance::default())?);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Those of [`isclose`].
#[track_caller]
pub fn allclose<T: Real>(
    exec: &Exec,
    a: impl AsOperand<T>,
    b: impl AsOperand<T>,
    tolerance: Tolerance,
) -> Result<bool> {
    let tolerance = tolerance.check()?;
    let (a, b) = (a.as_operand(), b.as_operand());
    let shape = Call::new(exec, "allclose").broadcast_pair(a.shape(), b.shape())?;
    let numel = shape.iter().fold(1_usize, |numel, &size| numel.saturating_mul(size));
    if numel.saturating_mul(size_of::<T>()) <= PART_BYTES {
        return all_close(&exec.serial(), a, b, tolerance);
    }
    let (reading_a, reading_b) = (a.read()?, b.read()?);
    let (a, b) = (reading_a.elements().to_view::<Bare>(), reading_b.elements().to_view::<Bare>());
    let (a, b) = (a.broadcast_to(&shape[..])?, b.broadcast_to(&shape[..])?);
    let serial = exec.serial();
    let pair = Pair { layouts: [a.layout(), b.layout()], item_bytes: [size_of::<T>(); 2] };
    all_parts(exec, pair, &|block| {
        let (a, b) = (block.of(&a)?, block.of(&b)?);
        all_close(&serial, a.as_operand(), b.as_operand(), tolerance)
    })
}

/// The same for operands that are small.
pub(crate) fn all_close<T: Real>(
    exec: &Exec,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    tolerance: Tolerance,
) -> Result<bool> {
    let close: TensorBase<bool, Bare> = isclose_eval(Call::new(exec, "allclose"), a, b, tolerance)?;
    all_all(exec, &close)
}

pub(crate) fn isclose_eval<T: Real, K>(
    call: Call<'_>,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    tolerance: Tolerance,
) -> Result<TensorBase<bool, K>> {
    call.eval2(IsClose(tolerance.check()?), a, b)
}

pub(crate) fn isclose_write<T: Real>(
    call: Call<'_>,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    tolerance: Tolerance,
    out: Output<'_, bool>,
) -> Result<()> {
    call.into2(IsClose(tolerance.check()?), Some(a), Some(b), out)
}

struct IsClose(Tolerance);

impl<T: Real> Function2<T, T> for IsClose {
    type Output = bool;

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T, b: T) -> bool {
        let Tolerance { rtol, atol, equal_nan } = self.0;
        let (a, b) = (a.to_f64(), b.to_f64());
        let distance = (a - b).abs();
        let is_near = distance.is_finite() & (distance <= atol + (rtol * b).abs());
        (a == b) | is_near | (equal_nan & a.is_nan() & b.is_nan())
    }
}
