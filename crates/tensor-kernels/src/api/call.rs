//! One call of an elementwise operation: what is decided before an element is written, and then the
//! work.
//!
//! 1. Shapes broadcast to one, and it is the result's.
//! 2. Operands that would have to be read after they were written are refused, or copied.
//! 3. The result is borrowed, then the operands. One that is the result itself has no view of its
//!    own: it is read where it is written.
//! 4. Divisors of 0 are refused, if there must be none: nobody can write one from here on.
//! 5. The work is planned and done.

use std::{any::TypeId, iter::repeat_n};

use tensor_core::{
    Aliasing, DimVec, Element, Error, Layout, Operand, Output, ResolvedOperand, Result, TensorBase,
    TensorViewMut, ViewRef, ViewRefMut, WriteScope, broadcast_two,
};

use crate::{
    api::copy::copy_into,
    exec::{Broadcast, Exec, Overlapping},
    kernel::{Function1, Function2, Function3, Map, OperationOf, Zip, Zip3},
    run::{self, Erased, Input},
};

/// Who calls, and how the work is to be done.
#[derive(Clone, Copy)]
pub(crate) struct Call<'e> {
    pub(crate) exec: &'e Exec,
    pub(crate) op: &'static str,
    /// What divisors have to be.
    pub(super) divisors: Divisors,
}

/// What is asked of an operation's second operand before anything is written.
#[derive(Clone, Copy)]
pub(super) enum Divisors {
    /// Nothing: any number has a result.
    Any,
    /// Not 0.
    NotZero(FirstZeroOf),
}

/// Where the first 0 is, in logical order, of elements of the type that this was made for.
pub(super) type FirstZeroOf = fn(Call<'_>, Erased<'_>) -> Result<Option<usize>>;

/// The operand that divides.
const DIVISOR: usize = 1;

/// An operand, or the target itself.
pub(crate) type Argument<'a, T> = Option<Operand<'a, T>>;

/// Operands by name, as messages have them.
const NAMES: [&str; 3] = ["a", "b", "c"];

impl<'e> Call<'e> {
    pub(crate) fn new(exec: &'e Exec, op: &'static str) -> Self {
        Self { exec, op, divisors: Divisors::Any }
    }

    /// Opens an argument, beside the target's elements.
    #[inline]
    pub(crate) fn open<'b, T: Element>(
        self,
        argument: &'b Argument<'_, T>,
        beside: &WriteScope<'b>,
        which: usize,
    ) -> Result<ResolvedOperand<'b, T>> {
        match argument {
            Some(operand) => operand.open(beside, self.op, NAMES[which]),
            None => Ok(ResolvedOperand::Output),
        }
    }

    /// A copy of an operand that meets the target elsewhere, if that is the policy; opening it will
    /// refuse it otherwise.
    #[inline]
    pub(crate) fn copied_first<A: Element, R: Element>(
        self,
        argument: &Argument<'_, A>,
        out: &Output<'_, R>,
    ) -> Result<Option<Copied<A>>> {
        match (self.exec.overlapping, argument) {
            (Overlapping::CopyFirst, Some(operand)) => match operand.relation(out) {
                Aliasing::Overlap(_) => Copied::of(self.exec, operand).map(Some),
                Aliasing::Same | Aliasing::Apart => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The shape that operands broadcast to, if they may; a value has none and goes with any.
    fn shape(self, shapes: &[Option<&[usize]>]) -> Result<DimVec<usize>> {
        let mut shapes = shapes.iter().flatten();
        let Some(first) = shapes.next() else { return Ok(DimVec::new()) };
        shapes.try_fold(DimVec::from_slice(first), |all, shape| self.broadcast(&all, shape))
    }

    fn broadcast(self, a: &[usize], b: &[usize]) -> Result<DimVec<usize>> {
        if a == b {
            return Ok(DimVec::from_slice(a));
        }
        let shape = broadcast_two(self.op, a, b)?;
        match self.exec.broadcast {
            Broadcast::Implicit => Ok(shape),
            Broadcast::Strict => Err(Error::ImplicitBroadcast {
                op: self.op,
                a_shape: a.to_vec(),
                b_shape: b.to_vec(),
            }),
        }
    }

    #[inline]
    fn check_shape(self, got: &[usize], shapes: &[Option<&[usize]>]) -> Result<()> {
        // Values alone fill any result.
        if shapes.iter().flatten().all(|&shape| shape == got) {
            return Ok(());
        }
        let expected = self.shape(shapes)?;
        if got == &expected[..] {
            return Ok(());
        }
        Err(Error::OutputShape { op: self.op, got: got.to_vec(), expected: expected.to_vec() })
    }

    /// Refuses divisors of 0, which operand `which` may hold; nothing is divided if the result is
    /// empty.
    #[inline]
    fn check_divisors(self, which: usize, operand: Erased<'_>, result: &[usize]) -> Result<()> {
        match self.divisors {
            Divisors::NotZero(first_zero) if which == DIVISOR && !result.contains(&0) => {
                let shape = operand.layout().shape();
                let refused =
                    |at| Error::DivisionByZero { op: self.op, index: index_of(at, shape) };
                first_zero(self, operand)?.map_or(Ok(()), |at| Err(refused(at)))
            }
            Divisors::NotZero(_) | Divisors::Any => Ok(()),
        }
    }
}

/// An operand whatever its type, or the result that it is.
#[inline]
fn erased<'x, T: Element, R: Element>(
    opened: &'x ResolvedOperand<'_, T>,
    out: &'x mut ViewRefMut<'_, R>,
) -> Erased<'x> {
    match opened.elements() {
        Some(elements) => Erased::of(elements),
        None => Erased::of_output::<T, R>(out),
    }
}

/// The index of the element at a place in logical order.
fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        (*i, place) = (place % size, place / size);
    }
    index
}

/// The elements of an operand, elsewhere.
pub(crate) struct Copied<T> {
    elements: Vec<T>,
    layout: Layout,
}

impl<T: Element> Copied<T> {
    fn of(exec: &Exec, operand: &Operand<'_, T>) -> Result<Self> {
        let reading = operand.read()?;
        let from = reading.elements().to_view();
        let (mut elements, bytes) = (Vec::new(), from.numel().saturating_mul(size_of::<T>()));
        elements.try_reserve_exact(from.numel()).map_err(|_| Error::OutOfMemory { bytes })?;
        // Any value will do until the elements are there; without elements there is none.
        elements.extend(from.iter().next().into_iter().flat_map(|any| repeat_n(any, from.numel())));
        let layout = Layout::contiguous(from.shape())?;
        copy_into(exec, &from, &mut TensorViewMut::new(&mut elements, layout.clone())?)?;
        Ok(Self { elements, layout })
    }

    pub(crate) fn elements(&self) -> Result<ViewRef<'_, T>> {
        ViewRef::new(&self.elements, &self.layout)
    }
}

/// The sizes of an argument; none for a value.
fn shape<'s, A: Element, R: Element>(
    argument: &'s Argument<'_, A>,
    out: &'s Output<'_, R>,
) -> Option<&'s [usize]> {
    argument.as_ref().map_or_else(|| Some(out.shape()), operand_shape)
}

fn operand_shape<'s, T: Element>(operand: &'s Operand<'_, T>) -> Option<&'s [usize]> {
    match operand {
        Operand::Value(_) => None,
        operand => Some(operand.shape()),
    }
}

/// An operand as the loops see it: broadcast to the result's shape, or the result itself.
#[inline]
pub(crate) fn input<'v, T: Element>(
    opened: &'v ResolvedOperand<'_, T>,
    shape: &[usize],
    room: &'v mut Option<Layout>,
) -> Result<Input<'v, T>> {
    match opened.elements() {
        Some(elements) => Ok(Input::View(elements.broadcast_to(shape, room)?)),
        None => Ok(Input::Output),
    }
}

/// No operand stands for the result, which then has its type: that is what the forms in place are.
#[inline]
fn check_type<A: Element, R: Element>(argument: &Argument<'_, A>) {
    let same = TypeId::of::<A>() == TypeId::of::<R>();
    assert!(argument.is_some() || same, "an operation in place gives what it takes");
}

/// The two forms for a number of operands: into a given result, and newly allocated. Each is a few
/// lines for every function, and the rest for every combination of element types.
macro_rules! forms {
    ($($into:ident $write:ident, $fresh:ident $allocate:ident: $compute:ident $computed:ident
        $operation:ident of $function:ident, $n:literal
        ($($arg:ident: $type:ident, $which:literal, $copy:ident);*))*) => {
        impl Call<'_> {$(
            pub(crate) fn $into<$($type: Element,)* R: Element>(
                self,
                function: impl $function<$($type,)* Output = R>,
                $($arg: Argument<'_, $type>,)*
                out: Output<'_, R>,
            ) -> Result<()> {
                self.$write($operation::new(function).of_types(), $($arg,)* out)
            }

            fn $write<$($type: Element,)* R: Element>(
                self,
                operation: OperationOf<'_, $n, ($($type,)* R)>,
                $($arg: Argument<'_, $type>,)*
                out: Output<'_, R>,
            ) -> Result<()> {
                self.check_shape(out.shape(), &[$(shape(&$arg, &out)),*])?;
                $(check_type::<$type, R>(&$arg);)*
                $(let $copy = self.copied_first(&$arg, &out)?;)*
                $(let $copy = $copy.as_ref().map(Copied::elements).transpose()?;)*
                $(let $arg = $copy.map_or($arg, |copy| Some(copy.into()));)*
                let mut writing = out.open()?;
                let (mut out, beside) = writing.split()?;
                $(let $arg = self.open(&$arg, &beside, $which)?;)*
                let shape = out.layout().shape();
                $(self.check_divisors($which, erased(&$arg, &mut out), shape)?;)*
                $(let mut $copy = None;)*
                $(let $arg = input(&$arg, shape, &mut $copy)?;)*
                run::$compute(self.exec, operation, &mut out, $($arg),*);
                Ok(())
            }

            pub(crate) fn $fresh<$($type: Element,)* R: Element, K>(
                self,
                function: impl $function<$($type,)* Output = R>,
                $($arg: Operand<'_, $type>,)*
            ) -> Result<TensorBase<R, K>> {
                self.$allocate($operation::new(function).of_types(), $($arg),*)
            }

            fn $allocate<$($type: Element,)* R: Element, K>(
                self,
                operation: OperationOf<'_, $n, ($($type,)* R)>,
                $($arg: Operand<'_, $type>,)*
            ) -> Result<TensorBase<R, K>> {
                let shape = self.shape(&[$(operand_shape(&$arg)),*])?;
                $(let $arg = $arg.read()?;)*
                $(let $arg = $arg.elements();)*
                $(self.check_divisors($which, Erased::of($arg), &shape)?;)*
                let layout = Layout::elementwise(&[$($arg.layout()),*])?;
                $(let mut $copy = None;)*
                $(let $arg = $arg.broadcast_to(&shape, &mut $copy)?;)*
                run::$computed(self.exec, operation, layout, $($arg),*)
            }
        )*}
    };
}

forms! {
    into1 write1, fresh1 allocate1: compute1 computed1 Map of Function1, 2
        (a: A, 0, a_copy)
    into2 write2, fresh2 allocate2: compute2 computed2 Zip of Function2, 3
        (a: A, 0, a_copy; b: B, 1, b_copy)
    into3 write3, fresh3 allocate3: compute3 computed3 Zip3 of Function3, 4
        (a: A, 0, a_copy; b: B, 1, b_copy; c: C, 2, c_copy)
}
