//! A copy of an operand that overlaps the result, where the policy is to copy it first.

use std::panic::Location;

use tensor_core::{Aliasing, Element, Layout, Operand, Output, Result, ViewRef};

use super::{copy_reason::CopyReason, ledger::Purpose};
use crate::{
    exec::{Exec, Overlapping},
    run,
};

/// The elements of the copy, in row-major order.
pub(crate) struct Copied<T> {
    elements: Vec<T>,
    layout: Layout,
}

impl<T: Element> Copied<T> {
    /// The copy, if the operand overlaps the result at other indices and the policy is to copy it.
    /// Otherwise opening the operand reports the error.
    #[inline(always)]
    pub(super) fn if_overlapping<R: Element>(
        exec: &Exec,
        (op, location): (&'static str, &'static Location<'static>),
        operand: &Operand<'_, T>,
        out: &Output<'_, R>,
    ) -> Result<Option<Self>> {
        match exec.overlapping {
            Overlapping::Refuse => Ok(None),
            Overlapping::CopyFirst => match operand.relation(out) {
                Aliasing::Overlap(_) => Self::of(exec, (op, location), operand).map(Some),
                Aliasing::Same | Aliasing::Apart => Ok(None),
            },
        }
    }

    /// Not inlined: its layouts would enlarge the stack frame of every call.
    #[cold]
    #[inline(never)]
    fn of(
        exec: &Exec,
        (op, location): (&'static str, &'static Location<'static>),
        operand: &Operand<'_, T>,
    ) -> Result<Self> {
        let reading = operand.read()?;
        let from = reading.elements();
        let layout = Layout::contiguous(from.layout().shape())?;
        let purpose = Purpose::new(op, CopyReason::OverlapsResult);
        purpose.record_at(location, exec, size_of::<T>(), [from.layout(), &layout])?;
        Ok(Self { elements: run::copied_to_vec(exec, from)?, layout })
    }

    pub(crate) fn elements(&self) -> Result<ViewRef<'_, T>> {
        ViewRef::new(&self.elements, &self.layout)
    }
}
