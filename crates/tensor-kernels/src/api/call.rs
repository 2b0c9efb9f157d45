//! One call of an elementwise operation: what is decided before an element is written, and then the work.
//!
//! 1. Shapes broadcast to one, and it is the result's.
//! 2. Operands that would have to be read after they were written are refused, or copied.
//! 3. The result is borrowed, then the operands. One that is the result itself has no view of its own: it is read where it is written.
//! 4. Divisors of 0 are refused, if there must be none: nobody can write one from here on.
//! 5. The work is planned and done.

use std::iter::repeat_n;

use tensor_core::{
    Beside, DimVec, Element, Elements, Error, Layout, Opened, Operand, Relation, Result, Target,
    TensorBase, TensorViewMut, broadcast_two,
};

use crate::{
    api::copy::copy_into,
    exec::{Broadcast, Exec, Overlapping},
    kernel::{Compute, Function1, Function2, Function3, Map, Zip, Zip3},
    plan::ElementwiseWork,
    run::{self, Ends, Place},
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

/// Where the first 0 is, in logical order, of elements that lie somewhere. They have the type that this was made for.
pub(super) type FirstZeroOf = fn(Call<'_>, Place<'_>, &Layout) -> Result<Option<usize>>;

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
        beside: &Beside<'b>,
        which: usize,
    ) -> Result<Opened<'b, T>> {
        match argument {
            Some(operand) => operand.open(beside, self.op, NAMES[which]),
            None => Ok(Opened::Target),
        }
    }

    /// A copy of an operand that meets the target elsewhere, if that is the policy; opening it will refuse it otherwise.
    #[inline]
    pub(crate) fn copied_first<A: Element, R: Element>(
        self,
        argument: &Argument<'_, A>,
        out: &Target<'_, R>,
    ) -> Result<Option<Copied<A>>> {
        match (self.exec.overlapping, argument) {
            (Overlapping::CopyFirst, Some(operand)) => match operand.relation(out) {
                Relation::Overlap(_) => Copied::of(self.exec, operand).map(Some),
                Relation::Same | Relation::Apart => Ok(None),
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

    /// Refuses divisors of 0, which operand `which` may hold; nothing is divided if the result is empty.
    #[inline]
    fn check_divisors(
        self,
        which: usize,
        (place, layout): (Place<'_>, &Layout),
        result: &[usize],
    ) -> Result<()> {
        match self.divisors {
            Divisors::NotZero(first_zero) if which == DIVISOR && !result.contains(&0) => {
                let refused =
                    |at| Error::DivisionByZero { op: self.op, index: index_of(at, layout.shape()) };
                first_zero(self, place, layout)?.map_or(Ok(()), |at| Err(refused(at)))
            }
            Divisors::NotZero(_) | Divisors::Any => Ok(()),
        }
    }
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

    pub(crate) fn elements(&self) -> Result<Elements<'_, T>> {
        Elements::new(&self.elements, &self.layout)
    }
}

/// The sizes of an argument; none for a value.
fn shape<'s, A: Element, R: Element>(
    argument: &'s Argument<'_, A>,
    out: &'s Target<'_, R>,
) -> Option<&'s [usize]> {
    argument.as_ref().map_or_else(|| Some(out.shape()), operand_shape)
}

fn operand_shape<'s, T: Element>(operand: &'s Operand<'_, T>) -> Option<&'s [usize]> {
    match operand {
        Operand::Value(_) => None,
        operand => Some(operand.shape()),
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

/// Where an operand's elements lie.
#[inline]
fn located<'v, T: Element>(
    opened: &'v Opened<'_, T>,
    target: (Place<'v>, &'v Layout),
) -> (Place<'v>, &'v Layout) {
    opened.elements().map_or(target, |elements| (elements.into(), elements.layout()))
}

/// An operand as the loops see it: broadcast to the result's shape, or the result itself.
pub(crate) struct Input<'v, T> {
    elements: Option<Elements<'v, T>>,
}

impl<'v, T: Element> Input<'v, T> {
    #[inline]
    pub(crate) fn of(
        opened: &'v Opened<'_, T>,
        shape: &[usize],
        room: &'v mut Option<Layout>,
    ) -> Result<Self> {
        let elements = opened.elements();
        Ok(Self { elements: elements.map(|it| it.broadcast_to(shape, room)).transpose()? })
    }

    #[inline]
    pub(crate) fn layout<'x>(&'x self, out: &'x Layout) -> &'x Layout {
        self.elements.as_ref().map_or(out, Elements::layout)
    }

    #[inline]
    pub(crate) fn place<'x>(&'x self, out: Place<'x>) -> Place<'x> {
        self.elements.map_or(out, Place::from)
    }
}

#[inline(always)]
fn plan<const N: usize, O: Compute<N>>(
    exec: &Exec,
    _: &O,
    layouts: [&Layout; N],
) -> ElementwiseWork<N> {
    ElementwiseWork::plan(layouts, O::WIDTHS, &exec.machine)
}

/// The two forms for a number of operands: into a given result, and into a fresh one.
macro_rules! forms {
    ($($into:ident $fresh:ident: $operation:ident of $function:ident($($arg:ident: $type:ident, $which:literal, $copy:ident);*))*) => {
        impl Call<'_> {$(
            pub(crate) fn $into<$($type: Element,)* R: Element>(
                self,
                function: impl $function<$($type,)* Output = R>,
                $($arg: Argument<'_, $type>,)*
                out: Target<'_, R>,
            ) -> Result<()> {
                self.check_shape(out.shape(), &[$(shape(&$arg, &out)),*])?;
                $(let $copy = self.copied_first(&$arg, &out)?;)*
                $(let $copy = $copy.as_ref().map(Copied::elements).transpose()?;)*
                $(let $arg = $copy.map_or($arg, |copy| Some(copy.into()));)*
                let mut writing = out.open()?;
                let (mut out, beside) = writing.split()?;
                $(let $arg = self.open(&$arg, &beside, $which)?;)*
                let (layout, place) = (out.layout(), Place::from(&mut out));
                $(self.check_divisors($which, located(&$arg, (place, layout)), layout.shape())?;)*
                $(let mut $copy = None;)*
                $(let $arg = Input::of(&$arg, layout.shape(), &mut $copy)?;)*
                let operation = $operation::new(function);
                let work = plan(self.exec, &operation, [layout, $($arg.layout(layout)),*]);
                run::compute(self.exec, &work, &operation, Ends::new([place, $($arg.place(place)),*]));
                Ok(())
            }

            pub(crate) fn $fresh<$($type: Element,)* R: Element, K>(
                self,
                function: impl $function<$($type,)* Output = R>,
                $($arg: Operand<'_, $type>,)*
            ) -> Result<TensorBase<R, K>> {
                let shape = self.shape(&[$(operand_shape(&$arg)),*])?;
                $(let $arg = $arg.read()?;)*
                $(let $arg = $arg.elements();)*
                $(self.check_divisors($which, ($arg.into(), $arg.layout()), &shape)?;)*
                let layout = Layout::elementwise(&[$($arg.layout()),*])?;
                $(let mut $copy = None;)*
                $(let $arg = $arg.broadcast_to(&shape, &mut $copy)?;)*
                let operation = $operation::new(function);
                let work = plan(self.exec, &operation, [&layout, $($arg.layout()),*]);
                run::computed(self.exec, &work, &operation, &[$($arg.into()),*], layout)
            }
        )*}
    };
}

forms! {
    into1 fresh1: Map of Function1(a: A, 0, a_copy)
    into2 fresh2: Zip of Function2(a: A, 0, a_copy; b: B, 1, b_copy)
    into3 fresh3: Zip3 of Function3(a: A, 0, a_copy; b: B, 1, b_copy; c: C, 2, c_copy)
}
