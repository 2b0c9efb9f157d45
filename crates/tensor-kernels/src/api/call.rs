//! One call of an elementwise operation: the checks before any element is written, and then the
//! work.
//!
//! 1. Shapes are broadcast to one shape, which must be the result's.
//! 2. An operand that overlaps the result at other indices is refused, or copied.
//! 3. The result is borrowed, then the operands. An operand that is the result itself has no view
//!    of its own: its elements are read where they are overwritten.
//! 4. If the operation refuses division by zero, divisors are searched for 0. They are borrowed, so
//!    nobody can write a 0 afterwards.
//! 5. The work is planned and run.

use std::{any::TypeId, panic::Location};

use tensor_core::{
    DimVec, Element, Error, Layout, Operand, Output, ResolvedOperand, Result, TensorBase,
    TensorViewBase, ViewRefMut, WriteScope, broadcast_two,
};

use crate::{
    api::{copied::Copied, ledger::Purpose},
    exec::{Broadcast, Exec},
    kernel::{Function1, Function2, Function3, Map, OperationOf, Zip, Zip3},
    nest::same_shape,
    run::{self, Erased, Input},
};

/// The name of an operation, and how it runs.
#[derive(Clone, Copy)]
pub(crate) struct Call<'e> {
    pub(crate) exec: &'e Exec,
    pub(crate) op: &'static str,
    /// The condition on the divisors.
    pub(super) divisors: Divisors,
    /// The call of the operation, in the user's code.
    pub(super) location: &'static Location<'static>,
}

/// The condition on an operation's second operand, checked before anything is written.
#[derive(Clone, Copy)]
pub(super) enum Divisors {
    /// None: division by zero has a result.
    Any,
    /// No divisor is 0.
    NotZero(FirstZeroOf),
}

/// Searches divisors for 0 and returns the first one's position in row-major order. Each function
/// of this type is made for one element type.
pub(super) type FirstZeroOf = fn(Call<'_>, Erased<'_>) -> Result<Option<usize>>;

/// The operand that divides.
const DIVISOR: usize = 1;

/// An operand; `None` stands for the result itself.
pub(crate) type Argument<'a, T> = Option<Operand<'a, T>>;

/// The names of operands in error messages.
const NAMES: [&str; 3] = ["a", "b", "c"];

impl<'e> Call<'e> {
    #[track_caller]
    pub(crate) fn new(exec: &'e Exec, op: &'static str) -> Self {
        Self { exec, op, divisors: Divisors::Any, location: Location::caller() }
    }

    /// A call with [`Exec::current`].
    #[track_caller]
    pub(crate) fn current(op: &'static str) -> Result<Call<'static>> {
        Ok(Call::new(Exec::current()?, op))
    }

    /// Opens an argument for reading, next to the borrowed result.
    #[inline(always)]
    pub(crate) fn open<'b, T: Element>(
        self,
        argument: &'b Argument<'_, T>,
        scope: &WriteScope<'b>,
        which: usize,
    ) -> Result<ResolvedOperand<'b, T>> {
        match argument {
            Some(operand) => operand.open(scope, self.op, NAMES[which]),
            None => Ok(ResolvedOperand::Output),
        }
    }

    /// A copy of an operand in a new tensor of a dense layout, for the operation only. The ledger
    /// has it at the call of the operation.
    pub(crate) fn operand_copy<T: Element, K, V>(
        self,
        operand: &TensorViewBase<'_, T, V>,
        layout: Layout,
        purpose: Purpose,
    ) -> Result<TensorBase<T, K>> {
        let layouts = [operand.layout(), &layout];
        purpose.record_at(self.location, self.exec, size_of::<T>(), layouts)?;
        run::copied(self.exec, operand.into(), layout)
    }

    /// A contiguous copy of an operand that is not contiguous.
    pub(crate) fn contiguous_operand<T: Element, K, V>(
        self,
        operand: &TensorViewBase<'_, T, V>,
    ) -> Result<TensorBase<T, K>> {
        let layout = Layout::contiguous(operand.shape())?;
        self.operand_copy(operand, layout, Purpose::contiguous(self.op))
    }

    /// A copy of an operand that overlaps the result at other indices, if the policy is to copy it.
    /// Otherwise opening the operand reports the error.
    #[inline(always)]
    pub(crate) fn copied_if_overlapping<A: Element, R: Element>(
        self,
        argument: &Argument<'_, A>,
        out: &Output<'_, R>,
    ) -> Result<Option<Copied<A>>> {
        match argument {
            Some(operand) => {
                Copied::if_overlapping(self.exec, (self.op, self.location), operand, out)
            }
            None => Ok(None),
        }
    }

    /// The shape that operands broadcast to. A value has no shape and fits any.
    fn shape(self, shapes: &[Option<&[usize]>]) -> Result<DimVec<usize>> {
        let mut shapes = shapes.iter().flatten();
        let Some(first) = shapes.next() else { return Ok(DimVec::new()) };
        shapes.try_fold(DimVec::from_slice(first), |all, shape| self.broadcast_pair(&all, shape))
    }

    /// The shape that two operands, which are no values, broadcast to.
    pub(crate) fn broadcast_pair(self, a: &[usize], b: &[usize]) -> Result<DimVec<usize>> {
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

    /// A slice as the result, under the shape that operands broadcast to. Not inlined: it would
    /// enlarge the stack frame of every call.
    #[cold]
    #[inline(never)]
    fn shaped<'o, R: Element>(
        self,
        out: Output<'o, R>,
        shapes: &[Option<&[usize]>],
    ) -> Result<Output<'o, R>> {
        out.with_shape(&self.shape(shapes)?)
    }

    /// Checks the shape of a given result.
    pub(crate) fn check_result(self, got: &[usize], expected: &[usize]) -> Result<()> {
        if got == expected {
            return Ok(());
        }
        Err(Error::OutputShape { op: self.op, got: got.to_vec(), expected: expected.to_vec() })
    }

    #[inline]
    fn check_shape(self, got: &[usize], shapes: &[Option<&[usize]>]) -> Result<()> {
        // Values fit a result of any shape.
        if shapes.iter().flatten().all(|&shape| shape == got) {
            return Ok(());
        }
        self.check_result(got, &self.shape(shapes)?)
    }

    /// Is there nothing to check for views of these layouts? Views hold borrows, so no input shares
    /// an element with the result.
    #[inline]
    fn takes_views<const N: usize>(self, out: &Layout, inputs: [&Layout; N]) -> bool {
        matches!(self.divisors, Divisors::Any)
            && inputs.iter().all(|input| same_shape(input.shape(), out.shape()))
    }

    /// Refuses divisors of 0 in operand `which`. If the result is empty nothing is divided.
    #[inline(always)]
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

/// An operand with its element type erased; the elements of the result if it is the result.
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

/// The index of the element at a position in row-major order.
fn index_of(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        (*i, position) = (position % size, position / size);
    }
    index
}

/// The shape of an argument; `None` for a value.
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

/// An operand as the loops take it: broadcast to the result's shape, or the result itself.
#[inline(always)]
pub(crate) fn input<'v, T: Element>(
    opened: &'v ResolvedOperand<'_, T>,
    shape: &[usize],
    buffer: &'v mut Option<Layout>,
) -> Result<Input<'v, T>> {
    match opened.elements() {
        Some(elements) => Ok(Input::View(elements.broadcast_to(shape, buffer)?)),
        None => Ok(Input::Output),
    }
}

/// In the forms in place the first argument is the result itself, so it must have the result's
/// type.
#[inline]
fn check_type<A: Element, R: Element>(argument: &Argument<'_, A>) {
    let same = TypeId::of::<A>() == TypeId::of::<R>();
    assert!(
        argument.is_some() || same,
        "an operation in place returns the type of its first operand"
    );
}

/// The two forms for each number of operands: into a given result, and to a new tensor. The outer
/// functions are short and compiled per function; the inner ones are compiled per combination of
/// element types.
macro_rules! forms {
    ($($into:ident $views:ident $write:ident, $eval:ident $allocate:ident:
        $compute:ident $compute_views:ident $computed:ident
        $operation:ident of $function:ident, $n:literal
        ($($arg:ident: $type:ident, $which:literal, $copy:ident);*))*) => {
        impl Call<'_> {$(
            pub(crate) fn $into<$($type: Element,)* R: Element>(
                self,
                function: impl $function<$($type,)* Output = R>,
                $($arg: Argument<'_, $type>,)*
                mut out: Output<'_, R>,
            ) -> Result<()> {
                let function = $operation::new(function);
                match self.$views(function.of_types(), $(&$arg,)* &mut out) {
                    true => Ok(()),
                    false => self.$write(function.of_types(), $($arg,)* out),
                }
            }

            /// Computes if all arguments are views of one shape. Returns `false`, and computes
            /// nothing, if not.
            #[inline]
            fn $views<$($type: Element,)* R: Element>(
                self,
                operation: OperationOf<'_, $n, ($($type,)* R)>,
                $($arg: &Argument<'_, $type>,)*
                out: &mut Output<'_, R>,
            ) -> bool {
                let (Output::View(out), $(Some(Operand::View($arg))),*) = (out, $($arg),*) else {
                    return false;
                };
                let takes_views = self.takes_views(out.layout(), [$($arg.layout()),*]);
                if takes_views {
                    run::$compute_views(self.exec, operation, out, $($arg),*);
                }
                takes_views
            }

            /// Not inlined: it moves its arguments, which waits for the stores of their fields.
            #[inline(never)]
            fn $write<$($type: Element,)* R: Element>(
                self,
                operation: OperationOf<'_, $n, ($($type,)* R)>,
                $($arg: Argument<'_, $type>,)*
                out: Output<'_, R>,
            ) -> Result<()> {
                let out = match out {
                    Output::Slice(_) => {
                        self.shaped(out, &[$($arg.as_ref().and_then(operand_shape)),*])?
                    }
                    shaped => shaped,
                };
                self.check_shape(out.shape(), &[$(shape(&$arg, &out)),*])?;
                $(check_type::<$type, R>(&$arg);)*
                $(let $copy = self.copied_if_overlapping(&$arg, &out)?;)*
                $(let $copy = $copy.as_ref().map(Copied::elements).transpose()?;)*
                $(let $arg = $copy.map_or($arg, |copy| Some(copy.into()));)*
                let mut writing = out.open()?;
                let (mut out, scope) = writing.split()?;
                $(let $arg = self.open(&$arg, &scope, $which)?;)*
                let shape = out.layout().shape();
                $(self.check_divisors($which, erased(&$arg, &mut out), shape)?;)*
                $(let mut $copy = None;)*
                $(let $arg = input(&$arg, shape, &mut $copy)?;)*
                run::$compute(self.exec, operation, &mut out, $($arg),*);
                Ok(())
            }

            pub(crate) fn $eval<$($type: Element,)* R: Element, K>(
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
    into1 views1 write1, eval1 allocate1: compute1 compute_views1 computed1 Map of Function1, 2
        (a: A, 0, a_copy)
    into2 views2 write2, eval2 allocate2: compute2 compute_views2 computed2 Zip of Function2, 3
        (a: A, 0, a_copy; b: B, 1, b_copy)
    into3 views3 write3, eval3 allocate3: compute3 compute_views3 computed3 Zip3 of Function3, 4
        (a: A, 0, a_copy; b: B, 1, b_copy; c: C, 2, c_copy)
}
