//! ndarray: `assign` and `as_standard_layout`, and arithmetic by `Zip`. It takes every layout.

use std::{any::Any, hint::black_box};

use ndarray::{ArrayViewD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder, Zip};
use tensor_kernels::{Inexact, Number, Ordered};

use super::{Copies, Look, Preallocated};
use crate::{
    Failure,
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
    suite::Op,
};

pub(super) struct NdArray;

impl Copies for NdArray {
    const NAME: &'static str = "ndarray";

    fn preallocated<'a, T: Sample>(from: Strided<'a, T>, to: &'a mut [T]) -> Option<Contender<'a>> {
        let mut to = result(from, to)?;
        let from = view(from)?;
        Some(Contender::new(move || {
            black_box(&mut to).assign(black_box(&from));
            Ok::<_, Failure>(())
        }))
    }

    fn allocating<'a, T: Sample>(from: Strided<'a, T>, look: Look<'a, T>) -> Option<Contender<'a>> {
        let from = view(from)?;
        Some(Contender::new(move || {
            look(black_box(&from).as_standard_layout().into_owned().as_slice().unwrap_or_default());
            Ok::<_, Failure>(())
        }))
    }
}

/// ndarray makes views of positive strides, from the lowest offset on; axes of negative strides are
/// inverted afterwards.
fn view<T>(of: Strided<'_, T>) -> Option<ArrayViewD<'_, T>> {
    let (layout, strides) = (of.layout(), of.layout().strides());
    let (lowest, _) = layout.bounds()?;
    let sizes: Vec<usize> = strides.iter().map(|stride| stride.unsigned_abs()).collect();
    let shape = IxDyn(layout.shape()).strides(IxDyn(&sizes));
    let mut view = ArrayViewD::from_shape(shape, &of.elements()[lowest..]).ok()?;
    for (axis, _) in strides.iter().enumerate().filter(|(_, stride)| **stride < 0) {
        view.invert_axis(Axis(axis));
    }
    Some(view)
}

fn result<'a, T, R>(of: Strided<'_, T>, to: &'a mut [R]) -> Option<ArrayViewMutD<'a, R>> {
    ArrayViewMutD::from_shape(IxDyn(of.layout().shape()), to).ok()
}

/// The operations on real floats that `Zip` expresses in one line.
pub(super) fn elementwise<T: 'static>(op: Op) -> Option<Preallocated<T, T>> {
    known::<T, f32>(floats(op)?).or(known::<T, f64>(floats(op)?))
}

/// `f` if `F` is the type `T`.
fn known<T: 'static, F: 'static>(f: Preallocated<F, F>) -> Option<Preallocated<T, T>> {
    (&f as &dyn Any).downcast_ref().copied()
}

/// Real floats. Their exponential is that of the standard library, as users of ndarray write it.
trait Real: Sample + Number + Ordered + Inexact {
    fn std_exp(self) -> Self;
}

impl Real for f32 {
    fn std_exp(self) -> Self {
        self.exp()
    }
}

impl Real for f64 {
    fn std_exp(self) -> Self {
        self.exp()
    }
}

fn floats<T: Real>(op: Op) -> Option<Preallocated<T, T>> {
    Some(match op {
        Op::Add => |a, out| binary(a, out, T::plus),
        Op::Sub => |a, out| binary(a, out, T::minus),
        Op::Mul => |a, out| binary(a, out, T::times),
        Op::Div => |a, out| binary(a, out, T::divided_by),
        Op::Neg => |a, out| unary(a, out, T::negated),
        Op::Relu => |a, out| unary(a, out, T::relu),
        Op::Sqrt => |a, out| unary(a, out, T::square_root),
        Op::Exp => |a, out| unary(a, out, T::std_exp),
        _ => return None,
    })
}

fn unary<'a, T: Sample>(
    operands: &[Strided<'a, T>],
    out: &'a mut [T],
    f: impl Fn(T) -> T + 'a,
) -> Option<Contender<'a>> {
    let (mut out, a) = (result(operands[0], out)?, view(operands[0])?);
    Some(Contender::new(move || {
        Zip::from(black_box(&mut out)).and(black_box(&a)).for_each(|out, &a| *out = f(a));
        Ok::<_, Failure>(())
    }))
}

fn binary<'a, T: Sample>(
    operands: &[Strided<'a, T>],
    out: &'a mut [T],
    f: impl Fn(T, T) -> T + 'a,
) -> Option<Contender<'a>> {
    let (a, b) = (view(operands[0])?, view(operands[1])?);
    let mut out = result(operands[0], out)?;
    Some(Contender::new(move || {
        let (a, b) = (black_box(&a), black_box(&b));
        Zip::from(black_box(&mut out)).and(a).and(b).for_each(|out, &a, &b| *out = f(a, b));
        Ok::<_, Failure>(())
    }))
}
