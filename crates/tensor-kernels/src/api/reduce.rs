//! One call of a reduction: the checks before any element is read, and then the work.
//!
//! 1. Dimensions are checked. A given result must have the shape that remains.
//! 2. An input that overlaps the result at other indices is refused, or copied.
//! 3. An empty input gives the result that the operation defines for it, or an error.
//! 4. The work is planned along the input's memory, and run.

use tensor_core::{
    Element, Layout, Operand, Output, ReduceDims, ReductionShape, Result, TensorBase,
    TensorViewMut, ViewRef, ViewRefMut,
};

use super::{
    call::{Call, input},
    copied::Copied,
    reduction::Reduce,
};
use crate::run::{self, Input};

impl Call<'_> {
    /// Reduces to a new contiguous tensor, as PyTorch does.
    pub(crate) fn reduce_new<T: Element, O: Reduce<T>, K>(
        self,
        a: &Operand<'_, T>,
        over: ReduceDims,
    ) -> Result<TensorBase<O::Output, K>> {
        let reading = a.read()?;
        let a = reading.elements();
        let reduced = a.layout().reduced(self.op, over)?;
        let layout = Layout::contiguous(reduced.shape())?;
        if a.layout().numel() == 0 {
            return TensorBase::full(layout.shape(), self.of_empty::<T, O>(&reduced)?);
        }
        run::reduced(self.exec, &O::kernels(reduced.count()), a, &reduced, layout)
    }

    /// Reduces to a given result.
    pub(crate) fn reduce_into<T: Element, O: Reduce<T>>(
        self,
        a: Operand<'_, T>,
        over: ReduceDims,
        out: Output<'_, O::Output>,
    ) -> Result<()> {
        let reduced = Layout::contiguous(a.shape())?.reduced(self.op, over)?;
        let out = if out.is_slice() { out.with_shape(&reduced.shape())? } else { out };
        self.check_result(out.shape(), &reduced.shape())?;
        let a = Some(a);
        let copy = self.copied_if_overlapping(&a, &out)?;
        let copy = copy.as_ref().map(Copied::elements).transpose()?;
        let a = copy.map_or(a, |copy| Some(copy.into()));
        let mut writing = out.open()?;
        let (out, scope) = writing.split()?;
        let a = self.open(&a, &scope, 0)?;
        let mut buffer = None;
        let a = input(&a, &reduced.input_shape(), &mut buffer)?;
        self.reduce_elements::<T, O>(a, out, &reduced)
    }

    /// Reduces all elements to one value.
    pub(crate) fn reduce_all<T: Element, O: Reduce<T>>(
        self,
        a: Operand<'_, T>,
    ) -> Result<O::Output> {
        let mut result = [O::Output::default()];
        let mut out = TensorViewMut::new(&mut result, Layout::contiguous(())?)?;
        self.reduce_into::<T, O>(a, ReduceDims::ALL, (&mut out).into())?;
        Ok(result[0])
    }

    fn reduce_elements<T: Element, O: Reduce<T>>(
        self,
        a: Input<'_, T>,
        mut out: ViewRefMut<'_, O::Output>,
        reduced: &ReductionShape,
    ) -> Result<()> {
        if a.layout(out.layout()).numel() == 0 {
            return self.fill(self.of_empty::<T, O>(reduced)?, out);
        }
        run::reduce(self.exec, &O::kernels(reduced.count()), a, &mut out, reduced)
    }

    fn of_empty<T: Element, O: Reduce<T>>(self, reduced: &ReductionShape) -> Result<O::Output> {
        match O::of_empty() {
            Some(result) => Ok(result),
            None => reduced.check_not_empty(self.op).map(|()| O::Output::default()),
        }
    }

    fn fill<R: Element>(self, value: R, mut out: ViewRefMut<'_, R>) -> Result<()> {
        let mut buffer = None;
        let from = ViewRef::of_value(&value).broadcast_to(out.layout().shape(), &mut buffer)?;
        run::copy(self.exec, run::CopyOperands::new(from, &mut out)?);
        Ok(())
    }
}
