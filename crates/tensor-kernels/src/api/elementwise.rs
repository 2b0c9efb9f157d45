//! Elementwise operations with any function of one, two or three inputs: into a given result, to a
//! new tensor, or in place.
//!
//! Inputs are broadcast to the shape of the result. The function is compiled into the innermost
//! loop, for each SIMD level, so it is vectorised where the compiler would vectorise it over a
//! slice. A panic of the function reaches the caller; a given result then holds old and new
//! elements.
//!
//! The functions here take views and closures. The named operations also take tensors, values, and
//! a result that is an operand; [`call`](super::call) resolves these.

use tensor_core::{
    DimVec, Element, Layout, Operand, Result, TensorBase, TensorView, TensorViewMut,
};

use super::call::Call;
use crate::{
    exec::{Exec, Machine},
    kernel::Closure,
    plan::ElementwiseWork,
};

/// `out = f(a)` (PyTorch: a unary operation with `out=`).
///
/// # Errors
/// [`Error::OutputShape`](crate::Error::OutputShape) if `out` has another shape than `a`.
#[track_caller]
pub fn map_into<A: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A) -> R + Sync,
) -> Result<()> {
    Call::new(exec, "map").into1(Closure(f), Some(a.into()), out.into())
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
/// let (a, b, mut out) = (a.read()?, b.read()?, sum.write()?);
/// zip_into(Exec::current()?, &a.as_view(), &b.as_view(), &mut out.as_view_mut()?, |a, b| a + b)?;
/// drop(out);
/// assert_eq!(sum.get(&[2, 3])?, 14.0);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast); [`Error::OutputShape`](crate::Error::OutputShape)
/// if `out` does not have the broadcast shape.
#[track_caller]
pub fn zip_into<A: Element, B: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<()> {
    Call::new(exec, "zip").into2(Closure(f), Some(a.into()), Some(b.into()), out.into())
}

/// `out = f(a, b, c)`, inputs broadcast.
///
/// # Errors
/// As [`zip_into`].
#[track_caller]
pub fn zip3_into<A: Element, B: Element, C: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    c: &TensorView<'_, C>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip3");
    call.into3(Closure(f), Some(a.into()), Some(b.into()), Some(c.into()), out.into())
}

/// `x = f(x)`, in place.
///
/// # Errors
/// None today; the signature is that of the other operations.
#[track_caller]
pub fn map_inplace<T: Element>(
    exec: &Exec,
    x: &mut TensorViewMut<'_, T>,
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
pub fn zip_inplace<T: Element, B: Element>(
    exec: &Exec,
    x: &mut TensorViewMut<'_, T>,
    b: &TensorView<'_, B>,
    f: impl Fn(T, B) -> T + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip_inplace");
    call.into2(Closure(f), None::<Operand<'_, T>>, Some(b.into()), x.into())
}

/// `x = f(x, b, c)`, in place; `b` and `c` are broadcast to the shape of `x`.
///
/// # Errors
/// As [`zip_inplace`].
#[track_caller]
pub fn zip3_inplace<T: Element, B: Element, C: Element>(
    exec: &Exec,
    x: &mut TensorViewMut<'_, T>,
    b: &TensorView<'_, B>,
    c: &TensorView<'_, C>,
    f: impl Fn(T, B, C) -> T + Sync,
) -> Result<()> {
    let call = Call::new(exec, "zip3_inplace");
    call.into3(Closure(f), None::<Operand<'_, T>>, Some(b.into()), Some(c.into()), x.into())
}

/// `f(a)` in a new tensor, with the strides that PyTorch chooses (see [`Layout::elementwise`]).
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn map<A: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    f: impl Fn(A) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "map").eval1(Closure(f), a.into())
}

/// `f(a, b)` in a new tensor, inputs broadcast, with the strides that PyTorch chooses.
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast),
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn zip<A: Element, B: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "zip").eval2(Closure(f), a.into(), b.into())
}

/// `f(a, b, c)` in a new tensor, inputs broadcast, with the strides that PyTorch chooses.
///
/// # Errors
/// [`Error::Broadcast`](crate::Error::Broadcast),
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn zip3<A: Element, B: Element, C: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    c: &TensorView<'_, C>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    Call::new(exec, "zip3").eval3(Closure(f), a.into(), b.into(), c.into())
}

/// The name of the path of an elementwise operation: `lanes`, `rows`, `packed_rows`,
/// `transposed`, `gathered`, …
///
/// The layout of the result comes first. So does the width of its elements in `widths`, which are
/// in bytes; they determine which rows are short.
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
    Ok(ElementwiseWork::plan(layouts, widths, &Machine::REFERENCE).path)
}
