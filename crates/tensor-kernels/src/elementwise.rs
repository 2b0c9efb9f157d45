//! Elementwise operations with any function: one, two or three inputs, into a given or a fresh result, or in place.
//!
//! Inputs are broadcast to the shape of the result. The function is compiled into the innermost loop, for each SIMD level: what the compiler can
//! vectorise over a slice it vectorises here. If it panics the panic reaches the caller; a given result then holds old and new elements.

use tensor_core::{
    DimVec, Element, Error, Layout, Result, TensorBase, TensorView, TensorViewMut, broadcast_two,
};

use crate::{
    Exec,
    drive::{self, Ends},
    micro::{Compute, Map, Zip, Zip3},
    nest::Nest,
    plan::ElementwiseWork,
};

/// `out = f(a)` (PyTorch: a unary operation with `out=`).
///
/// # Errors
/// [`Error::OutputShape`] if `out` has another shape than `a`.
pub fn map_into<A: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A) -> R + Sync,
) -> Result<()> {
    check_shape("map", a.shape(), out.shape())?;
    let operation = Map::new(f);
    let work = plan(&operation, [out.layout(), a.layout()]);
    drive::compute(exec, &work, &operation, Ends::new([out.into(), a.into()]));
    Ok(())
}

/// `out = f(a, b)`, inputs broadcast (PyTorch: a binary operation with `out=`, which is not resized).
///
/// ```
/// use tensor_kernels::{Exec, Tensor, zip_into};
///
/// let a = Tensor::arange(0.0f32, 12.0, 1.0)?.view(&[3, 4])?;
/// let b = Tensor::arange(0.0f32, 4.0, 1.0)?;
/// let sum = Tensor::zeros(&[4, 3])?.t()?;
/// zip_into(Exec::current()?, &a.read()?.as_view(), &b.read()?.as_view(), &mut sum.write()?.as_view_mut()?, |a, b| a + b)?;
/// assert_eq!(sum.get(&[2, 3])?, 14.0);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`]; [`Error::OutputShape`] if `out` does not have the broadcast shape.
pub fn zip_into<A: Element, B: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<()> {
    let shape = broadcast_two("zip", a.shape(), b.shape())?;
    check_shape("zip", &shape, out.shape())?;
    let (a, b) = (a.broadcast_to(&shape)?, b.broadcast_to(&shape)?);
    let operation = Zip::new(f);
    let work = plan(&operation, [out.layout(), a.layout(), b.layout()]);
    drive::compute(exec, &work, &operation, Ends::new([out.into(), (&a).into(), (&b).into()]));
    Ok(())
}

/// `out = f(a, b, c)`, inputs broadcast.
///
/// # Errors
/// As [`zip_into`].
pub fn zip3_into<A: Element, B: Element, C: Element, R: Element>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    c: &TensorView<'_, C>,
    out: &mut TensorViewMut<'_, R>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<()> {
    let shape = broadcast_three("zip3", a.shape(), b.shape(), c.shape())?;
    check_shape("zip3", &shape, out.shape())?;
    let (a, b, c) = (a.broadcast_to(&shape)?, b.broadcast_to(&shape)?, c.broadcast_to(&shape)?);
    let operation = Zip3::new(f);
    let work = plan(&operation, [out.layout(), a.layout(), b.layout(), c.layout()]);
    let ends = Ends::new([out.into(), (&a).into(), (&b).into(), (&c).into()]);
    drive::compute(exec, &work, &operation, ends);
    Ok(())
}

/// `x = f(x)`, in place.
///
/// # Errors
/// None today; the result has the form of the other operations.
pub fn map_inplace<T: Element>(
    exec: &Exec,
    x: &mut TensorViewMut<'_, T>,
    f: impl Fn(T) -> T + Sync,
) -> Result<()> {
    let operation = Map::new(f);
    let work = plan(&operation, [x.layout(), x.layout()]);
    let place = x.into();
    drive::compute(exec, &work, &operation, Ends::new([place, place]));
    Ok(())
}

/// `x = f(x, b)`, in place, `b` broadcast to `x` (PyTorch: `x.add_(b)` and its like).
///
/// # Errors
/// [`Error::Broadcast`]; [`Error::OutputShape`] if `b` would need a larger `x`.
pub fn zip_inplace<T: Element, B: Element>(
    exec: &Exec,
    x: &mut TensorViewMut<'_, T>,
    b: &TensorView<'_, B>,
    f: impl Fn(T, B) -> T + Sync,
) -> Result<()> {
    let shape = broadcast_two("zip_inplace", x.shape(), b.shape())?;
    check_shape("zip_inplace", &shape, x.shape())?;
    let b = b.broadcast_to(&shape)?;
    let operation = Zip::new(f);
    let work = plan(&operation, [x.layout(), x.layout(), b.layout()]);
    let place = x.into();
    drive::compute(exec, &work, &operation, Ends::new([place, place, (&b).into()]));
    Ok(())
}

/// `f(a)` in fresh memory, laid out as PyTorch does (see [`Layout::elementwise`]).
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn map_fresh<A: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    f: impl Fn(A) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    let layout = Layout::elementwise(&[a.layout()])?;
    let operation = Map::new(f);
    let work = plan(&operation, [&layout, a.layout()]);
    drive::computed(exec, &work, &operation, &[a.into()], layout)
}

/// `f(a, b)` in fresh memory, inputs broadcast, laid out as PyTorch does.
///
/// # Errors
/// [`Error::Broadcast`], [`Error::OutOfMemory`].
pub fn zip_fresh<A: Element, B: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    f: impl Fn(A, B) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    let shape = broadcast_two("zip", a.shape(), b.shape())?;
    let layout = Layout::elementwise(&[a.layout(), b.layout()])?;
    let (a, b) = (a.broadcast_to(&shape)?, b.broadcast_to(&shape)?);
    let operation = Zip::new(f);
    let work = plan(&operation, [&layout, a.layout(), b.layout()]);
    drive::computed(exec, &work, &operation, &[(&a).into(), (&b).into()], layout)
}

/// `f(a, b, c)` in fresh memory, inputs broadcast, laid out as PyTorch does.
///
/// # Errors
/// [`Error::Broadcast`], [`Error::OutOfMemory`].
pub fn zip3_fresh<A: Element, B: Element, C: Element, R: Element, K>(
    exec: &Exec,
    a: &TensorView<'_, A>,
    b: &TensorView<'_, B>,
    c: &TensorView<'_, C>,
    f: impl Fn(A, B, C) -> R + Sync,
) -> Result<TensorBase<R, K>> {
    let shape = broadcast_three("zip3", a.shape(), b.shape(), c.shape())?;
    let layout = Layout::elementwise(&[a.layout(), b.layout(), c.layout()])?;
    let (a, b, c) = (a.broadcast_to(&shape)?, b.broadcast_to(&shape)?, c.broadcast_to(&shape)?);
    let operation = Zip3::new(f);
    let work = plan(&operation, [&layout, a.layout(), b.layout(), c.layout()]);
    drive::computed(exec, &work, &operation, &[(&a).into(), (&b).into(), (&c).into()], layout)
}

/// The name of the path that an elementwise operation takes, the result's layout first: `lanes`, `rows_of_lanes`, `tiled_lanes`, `picked_lanes`, …
///
/// # Errors
/// [`Error::OutputShape`] if an input does not broadcast to the result's shape.
pub fn elementwise_path<const N: usize>(layouts: [&Layout; N]) -> Result<&'static str> {
    let shape = layouts[0].shape();
    let broadcast: DimVec<Layout> =
        layouts.iter().map(|layout| layout.broadcast_to(shape)).collect::<Result<_>>()?;
    Ok(ElementwiseWork::plan(Nest::of(std::array::from_fn(|k| &broadcast[k])), [1; N]).path)
}

fn plan<const N: usize, O: Compute<N>>(_: &O, layouts: [&Layout; N]) -> ElementwiseWork<N> {
    ElementwiseWork::plan(Nest::of(layouts), O::WIDTHS)
}

fn check_shape(op: &'static str, expected: &[usize], got: &[usize]) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::OutputShape { op, got: got.to_vec(), expected: expected.to_vec() })
}

fn broadcast_three(
    op: &'static str,
    a: &[usize],
    b: &[usize],
    c: &[usize],
) -> Result<DimVec<usize>> {
    broadcast_two(op, &broadcast_two(op, a, b)?, c)
}
