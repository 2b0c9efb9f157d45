//! The operation of a case for one element type: preallocated, allocating, by the naive loop, by
//! other libraries, and for one element as the reference.

use tensor_kernels::{
    Cast, CopyPlan, Element, Exec, Inexact, Number, Ordered, Result, Tensor, TensorView,
    TensorViewMut, copy_into, ops, to_contiguous,
};

use super::Op;
use crate::{
    cases::{sample::Sample, strided::Strided},
    measure::{
        naive_loop,
        peers::{self, Peer},
        reference::identical,
    },
};

/// The dimensions that a reduction reduces; none for other operations.
pub(super) type Dims<'a> = &'a [isize];
type Preallocated<T, R> =
    fn(&Exec, &[TensorView<'_, T>], Dims<'_>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Allocating<T, R> = fn(&Exec, &[TensorView<'_, T>], Dims<'_>) -> Result<Tensor<R>>;
type Planned<T, R> =
    fn(&CopyPlan, &Exec, &TensorView<'_, T>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Naive<T, R> = fn(&[Strided<'_, T>], Dims<'_>, &mut [R]);

/// From operands of type `T` to a result of type `R`. All functions take [`Op::arity`] operands.
pub(super) struct Kernel<T: 'static, R: Element> {
    pub(super) preallocated: Preallocated<T, R>,
    pub(super) allocating: Allocating<T, R>,
    pub(super) naive: Naive<T, R>,
    pub(super) peers: Vec<Peer<T, R>>,
    /// A copy by a given plan; `None` for other operations.
    pub(super) planned: Option<Planned<T, R>>,
    /// Whether the bound is measured too, which is not known of reductions.
    pub(super) bounded: bool,
    /// One element of the result, of an element of each operand or of all that are reduced to it.
    pub(super) one: fn(&[T]) -> R,
    /// Whether two results of this number of elements are equal.
    pub(super) same: fn(R, R, usize) -> bool,
    /// The same for the naive loop, which adds one by one.
    pub(super) naive_same: fn(R, R, usize) -> bool,
}

macro_rules! kernel {
    (1: $allocating:path, $preallocated:path, $one:expr, $peers:expr) => {
        Kernel {
            preallocated: |exec, a, _, out| $preallocated(exec, &a[0], out),
            allocating: |exec, a, _| $allocating(exec, &a[0]),
            naive: |a, _, out| naive_loop::compute([a[0]], out, |[a]| $one(a)),
            peers: $peers,
            planned: None,
            bounded: true,
            one: |a| $one(a[0]),
            same: |a, b, _| a.close(b),
            naive_same: |a, b, _| a.close(b),
        }
    };
    (2: $allocating:path, $preallocated:path, $one:expr, $peers:expr) => {
        Kernel {
            preallocated: |exec, a, _, out| $preallocated(exec, &a[0], &a[1], out),
            allocating: |exec, a, _| $allocating(exec, &a[0], &a[1]),
            naive: |a, _, out| naive_loop::compute([a[0], a[1]], out, |[a, b]| $one(a, b)),
            peers: $peers,
            planned: None,
            bounded: true,
            one: |a| $one(a[0], a[1]),
            same: |a, b, _| a.close(b),
            naive_same: |a, b, _| a.close(b),
        }
    };
    (3: $allocating:path, $preallocated:path, $one:expr, $peers:expr) => {
        Kernel {
            preallocated: |exec, a, _, out| $preallocated(exec, &a[0], &a[1], &a[2], out),
            allocating: |exec, a, _| $allocating(exec, &a[0], &a[1], &a[2]),
            naive: |a, _, out| {
                naive_loop::compute([a[0], a[1], a[2]], out, |[a, b, c]| $one(a, b, c))
            },
            peers: $peers,
            planned: None,
            bounded: true,
            one: |a| $one(a[0], a[1], a[2]),
            same: |a, b, _| a.close(b),
            naive_same: |a, b, _| a.close(b),
        }
    };
}

/// A row-major copy; results are equal bitwise.
pub(super) fn copy<T: Sample>() -> Kernel<T, T> {
    Kernel {
        preallocated: |exec, a, _, out| copy_into(exec, &a[0], out),
        allocating: |exec, a, _| to_contiguous(exec, &a[0]),
        naive: |a, _, out| naive_loop::compute([a[0]], out, |[a]| a),
        peers: peers::copies(),
        planned: Some(|plan, exec, from, to| plan.run(exec, from, to)),
        bounded: true,
        one: |a| a[0],
        same: |a, b, _| identical(a, b),
        naive_same: |a, b, _| identical(a, b),
    }
}

pub(super) fn cast<T: Sample + Cast<R>, R: Sample>() -> Kernel<T, R> {
    kernel!(1: ops::cast, ops::cast_into, T::cast, Vec::new())
}

/// The operations of all numbers; `None` for others.
pub(super) fn number<T: Sample + Number>(op: Op) -> Option<Kernel<T, T>> {
    let peers = peers::elementwise(op);
    match op {
        Op::Add => Some(kernel!(2: ops::add, ops::add_into, T::plus, peers)),
        Op::Sub => Some(kernel!(2: ops::sub, ops::sub_into, T::minus, peers)),
        Op::Mul => Some(kernel!(2: ops::mul, ops::mul_into, T::times, peers)),
        Op::Neg => Some(kernel!(1: ops::neg, ops::neg_into, T::negated, peers)),
        Op::MulAdd => Some(kernel!(3: ops::mul_add, ops::mul_add_into, T::times_plus, peers)),
        _ => None,
    }
}

/// The operations of real numbers; `None` for the others.
pub(super) fn ordered<T: Sample + Ordered>(op: Op) -> Option<Kernel<T, T>> {
    let peers = peers::elementwise(op);
    (op == Op::Relu).then_some(kernel!(1: ops::relu, ops::relu_into, T::relu, peers))
}

/// The operations of integers whose results are f32; `None` for the others.
pub(super) fn integer_fraction<T: Sample + Number<Float = f32>>(op: Op) -> Option<Kernel<T, f32>> {
    match op {
        Op::Div => Some(kernel!(2: ops::div, ops::div_into, quotient, Vec::new())),
        Op::Sqrt => Some(kernel!(1: ops::sqrt, ops::sqrt_into, root, Vec::new())),
        Op::Exp => Some(kernel!(1: ops::exp, ops::exp_into, exponential, Vec::new())),
        _ => None,
    }
}

fn quotient<T: Number<Float = f32>>(a: T, b: T) -> f32 {
    a.to_float().divided_by(b.to_float())
}

fn root<T: Number<Float = f32>>(a: T) -> f32 {
    a.to_float().square_root()
}

fn exponential<T: Number<Float = f32>>(a: T) -> f32 {
    Inexact::exp(a.to_float())
}

/// The operations of real and complex floats; `None` for the others.
pub(super) fn fraction<T: Sample + Inexact>(op: Op) -> Option<Kernel<T, T>> {
    let peers = peers::elementwise(op);
    match op {
        Op::Div => Some(kernel!(2: ops::div, ops::div_into, T::divided_by, peers)),
        Op::Sqrt => Some(kernel!(1: ops::sqrt, ops::sqrt_into, T::square_root, peers)),
        Op::Exp => Some(kernel!(1: ops::exp, ops::exp_into, T::exp, peers)),
        _ => None,
    }
}
