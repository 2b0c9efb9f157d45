//! Operations that move elements and compute none: joining, padding, rolling, indexing, masks.
//!
//! Large blocks are moved by the copies of [`copy`](super::copy): a concatenation is one copy into
//! each part of a result that has not been written before. What follows a tensor of indices is
//! moved in rows: whole inner blocks where they are adjacent, else element by element.
//!
//! Each operation prepares a value of a type that implements [`Assemble`] from views of its
//! operands. All checks are made there, before anything is allocated or written.

mod gather;
mod index;
mod join;
mod masked;
pub(super) mod methods;
mod odometer;
mod pad;
mod repeats;
mod roll;
mod scatter;
mod triangle;

use tensor_core::{
    Aliasing, Bare, DimVec, Element, Error, Layout, Operand, Output, Overlap, ResolvedOperand,
    Result, TensorBase, TensorView, TensorViewMut, ViewRef, ViewRefMut, WriteScope,
};

use super::call::Call;
use crate::{
    exec::Overlapping,
    run::{self, Destination, Part},
};

pub use self::{
    gather::*, index::*, join::*, masked::*, pad::*, repeats::*, roll::*, scatter::*, triangle::*,
};

/// A prepared operation whose result is put together from parts.
pub(crate) trait Assemble<T: Element> {
    /// The layout of a new result.
    fn layout(&self) -> &Layout;

    /// Writes every element of a result of the same shape.
    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()>;
}

impl Call<'_> {
    /// The result in a new tensor.
    pub(crate) fn assemble<T: Element, K>(
        self,
        operation: &impl Assemble<T>,
    ) -> Result<TensorBase<T, K>> {
        run::assembled(operation.layout().clone(), |part| operation.write(self, part))
    }

    /// The result in a given tensor, view or slice, which shares no element with the operands. A
    /// slice takes the shape of the result.
    pub(crate) fn assemble_into<T: Element>(
        self,
        operation: &impl Assemble<T>,
        out: ViewRefMut<'_, T>,
        is_slice: bool,
    ) -> Result<()> {
        let expected = operation.layout().shape();
        let mut out: TensorViewMut<'_, T> = out.into_view();
        if is_slice && out.numel() == operation.layout().numel() {
            out = out.view(expected)?;
        }
        self.check_result(out.shape(), expected)?;
        run::assemble_into((&mut out).into(), |part| operation.write(self, part))
    }

    /// Whether an operand shares no element with the result. If it does, the operation is refused,
    /// or is to be computed in a new tensor first.
    pub(crate) fn is_apart<A: Element, R: Element>(
        self,
        operand: &Operand<'_, A>,
        out: &Output<'_, R>,
        name: &'static str,
    ) -> Result<bool> {
        let overlap = match operand.relation(out) {
            Aliasing::Apart => return Ok(true),
            _ if self.exec.overlapping == Overlapping::CopyFirst => return Ok(false),
            Aliasing::Overlap(overlap) => overlap,
            Aliasing::Same if out.shape().contains(&0) => return Ok(false),
            Aliasing::Same => {
                let first = DimVec::from_elem(0, out.shape().len());
                Overlap::Yes { second: first.clone(), first }
            }
        };
        let overlap = Box::new(overlap);
        Err(Error::ReadWriteOverlap { op: self.op, operand: name, overlap })
    }

    /// Opens an operand that [is apart](Self::is_apart) from the result.
    pub(crate) fn open_apart<'b, A: Element>(
        self,
        operand: &'b Operand<'_, A>,
        scope: Option<&WriteScope<'b>>,
        name: &'static str,
    ) -> Result<ResolvedOperand<'b, A>> {
        match scope {
            Some(scope) => operand.open(scope, self.op, name),
            None => operand.read().map(ResolvedOperand::View),
        }
    }

    /// Writes a new result to a given one.
    pub(crate) fn copy_result<T: Element>(
        self,
        result: &TensorBase<T, Bare>,
        out: Output<'_, T>,
    ) -> Result<()> {
        self.check_result(out.shape(), result.shape())?;
        let reading = result.read()?;
        let mut writing = out.open()?;
        let (out, _) = writing.split()?;
        run::assemble_into(out, |part| part.copy_from(self.exec, &reading.as_view()))
    }
}

/// Writes a result that is not contiguous by way of a new one that is.
pub(crate) fn through_copy<T: Element, W: Destination<T>>(
    call: Call<'_>,
    operation: &impl Assemble<T>,
    part: Part<'_, T, W>,
) -> Result<()> {
    let result: TensorBase<T, Bare> = call.assemble(operation)?;
    let reading = result.read()?;
    part.copy_from(call.exec, &reading.as_view())
}

/// Calls `f` with the elements of a view as a slice in row-major order, copied if they are not
/// contiguous.
fn with_slice<T: Element, R>(
    call: Call<'_>,
    view: &TensorView<'_, T>,
    f: impl FnOnce(&[T]) -> Result<R>,
) -> Result<R> {
    if let Some(elements) = view.as_slice() {
        return f(elements);
    }
    let copy: TensorBase<T, Bare> = call.contiguous_operand(view)?;
    let reading = copy.read()?;
    f(reading.as_view().as_slice().unwrap_or_default())
}

/// The elements of an operand: its own memory, or a copy in another order.
enum Source<'v, T: Element> {
    View(TensorView<'v, T>),
    Copy(TensorBase<T, Bare>),
}

impl<'v, T: Element> Source<'v, T> {
    /// The elements in row-major order, as one dimension: a view if strides can express it.
    fn flat(call: Call<'_>, view: &TensorView<'v, T>) -> Result<Self> {
        match view.view([-1]) {
            Ok(flat) => Ok(Self::View(flat)),
            Err(_) => Ok(Self::Copy(call.contiguous_operand(view)?.view([-1])?)),
        }
    }

    /// The elements under their shape, contiguous.
    fn contiguous(call: Call<'_>, view: &TensorView<'v, T>) -> Result<Self> {
        match view.as_slice() {
            Some(_) => Ok(Self::View(view.clone())),
            None => call.contiguous_operand(view).map(Self::Copy),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> Result<R>) -> Result<R> {
        match self {
            Self::View(view) => f(view),
            Self::Copy(copy) => f(&copy.read()?.as_view()),
        }
    }
}

/// Calls `f` with the memory of a view and its layout there, copied if the gaps between the
/// elements cannot be read.
fn with_span<T: Element, R>(
    call: Call<'_>,
    view: &TensorView<'_, T>,
    f: impl FnOnce(&[T], &Layout) -> Result<R>,
) -> Result<R> {
    match view.as_span() {
        Some((span, layout)) => f(span, &layout),
        None => with_slice(call, view, |elements| f(elements, &Layout::contiguous(view.shape())?)),
    }
}

/// The elements of an operand that is apart from the result.
pub(crate) fn elements<'v, A: Element>(
    opened: &'v ResolvedOperand<'_, A>,
) -> Option<TensorView<'v, A>> {
    opened.elements().map(ViewRef::to_view)
}

/// Defines the two forms of an operation: `eval`, and with `@into` only `into`. `prepare` makes the
/// operation from views of the operands.
macro_rules! assembled {
    (@into $eval:ident, $into:ident, $t:ident: $bound:ident;
        $($arg:ident: $type:ty, $operand:literal);+;
        |$call:ident $(, $extra:ident: $extra_type:ty)*| $prepare:expr) => {
        pub(crate) fn $into<$t: $bound>(
            $call: Call<'_>,
            $($arg: &Operand<'_, $type>,)+
            $($extra: $extra_type,)*
            out: Output<'_, $t>,
        ) -> Result<()> {
            if !($($call.is_apart($arg, &out, $operand)? &)+ true) {
                let result: TensorBase<$t, $crate::Bare> = $eval($call, $($arg,)+ $($extra),*)?;
                return $call.copy_result(&result, out);
            }
            let mut writing = out.open()?;
            let is_slice = writing.is_slice();
            let (out, scope) = writing.split()?;
            $(let $arg = $call.open_apart($arg, Some(&scope), $operand)?;)+
            $(let $arg = $crate::api::movement::elements(&$arg);)+
            $(let $arg = $crate::api::movement::apart($arg, $call.op, $operand)?;)+
            $call.assemble_into(&$prepare, out, is_slice)
        }
    };
    ($eval:ident, $into:ident, $t:ident: $bound:ident; $($arg:ident: $type:ty, $operand:literal);+;
        |$call:ident $(, $extra:ident: $extra_type:ty)*| $prepare:expr) => {
        pub(crate) fn $eval<$t: $bound, K>(
            $call: Call<'_>,
            $($arg: &Operand<'_, $type>,)+
            $($extra: $extra_type,)*
        ) -> Result<TensorBase<$t, K>> {
            $(let $arg = $arg.read()?;)+
            $(let $arg = $arg.elements().to_view();)+
            $call.assemble(&$prepare)
        }

        $crate::api::movement::assembled! {
            @into $eval, $into, $t: $bound; $($arg: $type, $operand);+;
            |$call $(, $extra: $extra_type)*| $prepare
        }
    };
}

/// The elements of an operand that has been found to be apart from the result.
pub(crate) fn apart<'v, A>(
    elements: Option<TensorView<'v, A>>,
    op: &'static str,
    operand: &'static str,
) -> Result<TensorView<'v, A>> {
    let overlap = || Box::new(Overlap::TooHard);
    elements.ok_or_else(|| Error::ReadWriteOverlap { op, operand, overlap: overlap() })
}

pub(crate) use assembled;
