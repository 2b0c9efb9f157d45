//! One call of a reduction: what is decided before an element is read, and then the work.
//!
//! 1. Dimensions are checked; a result that is given has the shape that remains.
//! 2. An input that would have to be read after it was written is refused, or copied.
//! 3. No elements give what the operation says, or are refused.
//! 4. The work is planned along the input's memory, and done.

use tensor_core::{
    Element, Error, Layout, Operand, Over, Reduced, Result, Scalar, Target, TensorBase,
    TensorViewMut,
};

use crate::{
    copy::fill,
    drive::{self, Ends, Place},
    elementwise::call::{Call, Copied, Input},
    micro::Reduction,
    nest::Nest,
    plan::ReduceWork,
};

/// A reduction of elements `T`, as calls see it.
pub(crate) trait Reduce<T: Element> {
    /// The elements of the result.
    type Output: Scalar;

    /// Is the result a place?
    const IS_PLACE: bool = false;

    /// The kernels, for results of `count` elements each.
    fn kernels(count: usize) -> impl Reduction;

    /// The result of no elements, if it has one.
    fn of_nothing() -> Option<Self::Output>;
}

impl Call<'_> {
    /// Into fresh, contiguous memory, as PyTorch does.
    pub(crate) fn reduce_fresh<T: Element, O: Reduce<T>, K>(
        self,
        a: &Operand<'_, T>,
        over: Over<'_>,
    ) -> Result<TensorBase<O::Output, K>> {
        let a = a.read()?;
        let a = a.as_view();
        let reduced = a.layout().reduced(self.op, over)?;
        let layout = Layout::contiguous(&reduced.shape())?;
        if a.numel() == 0 {
            return TensorBase::full(layout.shape(), self.of_nothing::<T, O>(&reduced)?);
        }
        let kernels = O::kernels(reduced.count());
        let work = plan::<T, O>(a.layout(), &layout, &reduced, &kernels)?;
        drive::reduced(self.exec, &work, &kernels, Place::from(&a), layout)
    }

    /// Into what is given.
    pub(crate) fn reduce_into<T: Element, O: Reduce<T>>(
        self,
        a: Operand<'_, T>,
        over: Over<'_>,
        out: Target<'_, O::Output>,
    ) -> Result<()> {
        let reduced = Layout::contiguous(a.shape())?.reduced(self.op, over)?;
        let (got, expected) = (out.shape(), reduced.shape());
        if got != &expected[..] {
            let (got, expected) = (got.to_vec(), expected.to_vec());
            return Err(Error::OutputShape { op: self.op, got, expected });
        }
        let a = Some(a);
        let copy = self.copied_first(&a, &out)?;
        let copy = copy.as_ref().map(Copied::as_view).transpose()?;
        let a = copy.as_ref().map_or(a, |copy| Some(copy.into()));
        let mut writing = out.open()?;
        let (mut out, beside) = writing.split()?;
        let a = self.open(&a, &beside, 0)?;
        let a = Input::of(&a, &reduced.input_shape())?;
        self.reduce_views::<T, O>(&a, &mut out, &reduced)
    }

    fn reduce_views<T: Element, O: Reduce<T>>(
        self,
        a: &Input<'_, T>,
        out: &mut TensorViewMut<'_, O::Output>,
        reduced: &Reduced,
    ) -> Result<()> {
        let layout = a.layout(out.layout());
        if layout.numel() == 0 {
            return fill(self.exec, out, self.of_nothing::<T, O>(reduced)?);
        }
        let kernels = O::kernels(reduced.count());
        let work = plan::<T, O>(layout, out.layout(), reduced, &kernels)?;
        let place = Place::from(out);
        drive::reduce(self.exec, &work, &kernels, Ends::new([place, a.place(place)]));
        Ok(())
    }

    /// All elements to one value.
    pub(crate) fn reduce_all<T: Element, O: Reduce<T>>(
        self,
        a: Operand<'_, T>,
    ) -> Result<O::Output> {
        let mut result = [O::Output::default()];
        let mut out = TensorViewMut::new(&mut result, Layout::contiguous(&[])?)?;
        self.reduce_into::<T, O>(a, Over::ALL, (&mut out).into())?;
        Ok(result[0])
    }

    fn of_nothing<T: Element, O: Reduce<T>>(self, reduced: &Reduced) -> Result<O::Output> {
        match O::of_nothing() {
            Some(result) => Ok(result),
            None => reduced.check_not_empty(self.op).map(|()| O::Output::default()),
        }
    }
}

fn plan<T: Element, O: Reduce<T>>(
    input: &Layout,
    result: &Layout,
    reduced: &Reduced,
    kernels: &impl Reduction,
) -> Result<ReduceWork> {
    let result = reduced.spread(result)?;
    let places = if O::IS_PLACE { reduced.places()? } else { reduced.nowhere()? };
    Ok(ReduceWork::plan(&Nest::of([input, &result, &places]), kernels.widths()))
}
