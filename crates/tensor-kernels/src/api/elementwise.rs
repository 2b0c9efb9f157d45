//! Elementwise operations with any function of one, two or three inputs: into a given result, to a
//! new tensor, or in place.
//!
//! Inputs are broadcast to the shape of the result. The function is compiled into the innermost
//! loop, for each SIMD level, so it is vectorised where the compiler would vectorise it over a
//! slice. A panic of the function reaches the caller; a given result then holds new
//! elements, old ones, and elements of an input of its type.
//!
//! Operands and results are those of the named operations; [`call`](super::call) resolves them.

use tensor_core::{AsOperand, DimVec, Element, Layout, Operand, Output, Result, TensorBase};

use super::call::Call;
use crate::{
    exec::{Exec, Machine},
    kernel::Closure,
    plan::{ElementwiseWork, EqualResults},
};

/// `out = f(a)` (PyTorch: a unary operation with `out=`).
///
/// The function is called once for each element of the result, in any order.
///
/// # Errors
/// [`Error::OutputShape`](crate::Error::OutputShape) if `out` has another shape than `a`.
#[track_caller]
pub fn map_into<'o, A: Element, R: Element>(
    exec: &Exec,
    a: impl AsOperand<A>,
    out: impl Into<Output<'o, R>>,
    f: impl Fn(A) -> R + Sync,
) -> Result<()> {
    Call::new(exec, "map").into1(Closure(f), Some(a.as_operand()), out.into())
}

/// `out = f(a, b)`, inputs broadcast (PyTorch: a binary operation with `out=`, which is not
/// resized).
///
/// ```
/// use tensor_kernels::{Exec, Tensor, zip_into};
///
/// let a = Tensor::arange(0.0f32, 12.0, 1.0)?.view([3, 4])?;
/// let b = Tensor::arange(0.0f32, 4.0, 1.0)?;
/// let sum = Tensor::zeros([4, 3])?.t()?;
/// zip_into(Exec::current()?, &a, &b, &sum, |a, b| a + b)?;
/// assert_eq!(sum.get(&[2, 3])?, 14.0);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast); [`Error::OutputShape`](crate::Error::OutputShape)
/// if `out` does not have the broadcast shape.
#[track_caller]
pub fn zip_into<'o, A: Element, B: Element, R: Element>(
    exec: &Exec,
    a: impl AsOperand<A>,
    b: impl AsOperand<B>,
    out: impl Into<Output<'o, R>>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<()> {
    Call::new(exec, "zip").into2(Closure(f), Some(a.as_operand()), Some(b.as_operand()), out.into())
}

/// `out = f(a, b, c)`, inputs broadcast.
///
/// # Errors
/// As [`zip_into`].
#[track_caller]
pub fn zip3_into<'o, A: Element, B: Element, C: Element, R: Element>(
    exec: &Exec,
    a: impl AsOperand<A>,
    b: impl AsOperand<B>,
    c: impl AsOperand<C>,
    out: impl Into<Output<'o, R>>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip3");
    call.into3(
        Closure(f),
        Some(a.as_operand()),
        Some(b.as_operand()),
        Some(c.as_operand()),
        out.into(),
    )
}

/// `x = f(x)`, in place.
///
/// The function is called once for each element of the result, in any order.
///
/// # Errors
/// [`Error::WriteOverlap`](crate::Error::WriteOverlap).
#[track_caller]
pub fn map_inplace<'x, T: Element>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    f: impl Fn(T) -> T + Sync,
) -> Result<()> {
    Call::new(exec, "map_inplace").into1(Closure(f), None::<Operand<'_, T>>, x.into())
}

/// `x = f(x, b)`, in place; `b` is broadcast to the shape of `x`.
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast); [`Error::OutputShape`](crate::Error::OutputShape)
/// if `b` does not broadcast to the shape of `x`.
#[track_caller]
pub fn zip_inplace<'x, T: Element, B: Element>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    b: impl AsOperand<B>,
    f: impl Fn(T, B) -> T + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip_inplace");
    call.into2(Closure(f), None::<Operand<'_, T>>, Some(b.as_operand()), x.into())
}

/// `x = f(x, b, c)`, in place; `b` and `c` are broadcast to the shape of `x`.
///
/// # Errors
/// As [`zip_inplace`].
#[track_caller]
pub fn zip3_inplace<'x, T: Element, B: Element, C: Element>(
    exec: &Exec,
    x: impl Into<Output<'x, T>>,
    b: impl AsOperand<B>,
    c: impl AsOperand<C>,
    f: impl Fn(T, B, C) -> T + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip3_inplace");
    call.into3(
        Closure(f),
        None::<Operand<'_, T>>,
        Some(b.as_operand()),
        Some(c.as_operand()),
        x.into(),
    )
}

/// `f(a)` in a new tensor, with the strides that PyTorch chooses (see [`Layout::elementwise`]).
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
#[track_caller]
pub fn map<A: Element, R: Element, K>(
    exec: &Exec,
    a: impl AsOperand<A>,
    f: impl Fn(A) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "map").eval1(Closure(f), a.as_operand())
}

/// `f(a, b)` in a new tensor, inputs broadcast, with the strides that PyTorch chooses.
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast),
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
#[track_caller]
pub fn zip<A: Element, B: Element, R: Element, K>(
    exec: &Exec,
    a: impl AsOperand<A>,
    b: impl AsOperand<B>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "zip").eval2(Closure(f), a.as_operand(), b.as_operand())
}

/// `f(a, b, c)` in a new tensor, inputs broadcast, with the strides that PyTorch chooses.
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast),
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
#[track_caller]
pub fn zip3<A: Element, B: Element, C: Element, R: Element, K>(
    exec: &Exec,
    a: impl AsOperand<A>,
    b: impl AsOperand<B>,
    c: impl AsOperand<C>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "zip3").eval3(Closure(f), a.as_operand(), b.as_operand(), c.as_operand())
}

/// The name of the path of an elementwise operation: `contiguous`, `rows`, `packed_rows`,
/// `transposed`, `gathered`, …
///
/// The layout of the result comes first. So does the width of its elements in `widths`, which are
/// in bytes; they determine which rows are short.
///
/// It is the path of any function of these widths. Some named operations with a transposed operand
/// are computed in the registers that transpose it instead, which
/// [`explain_operation`](crate::explain_operation) tells.
///
/// ```
/// use tensor_kernels::{Layout, elementwise_path};
///
/// let pixels = Layout::contiguous(&[64, 64, 3])?;
/// let means = Layout::contiguous(&[3])?;
/// assert_eq!(elementwise_path([&pixels, &pixels, &means], [4; 3])?, "packed_rows");
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Expand`](crate::Error::Expand) if an input does not broadcast to the result's shape.
pub fn elementwise_path<const N: usize>(
    layouts: [&Layout; N],
    widths: [usize; N],
) -> Result<&'static str> {
    const { assert!(N > 0, "an operation has a result") };
    let shape = layouts[0].shape();
    let broadcast: DimVec<Layout> =
        layouts.iter().map(|layout| layout.broadcast_to(shape)).collect::<Result<_>>()?;
    let layouts = std::array::from_fn(|k| &broadcast[k]);
    Ok(ElementwiseWork::plan(layouts, widths, EqualResults::Copied, &Machine::REFERENCE).path)
}
