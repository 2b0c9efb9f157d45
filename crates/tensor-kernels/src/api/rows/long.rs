//! Reductions of rows to one number each: of whole rows in blocks, and of long rows in parts.

use tensor_core::{DimVec, Element, Layout, ReductionShape, Result, TensorView};

use super::blocks::{BlockBuffer, BlockWork, Rows, halves, load, run_blocks, store};
use crate::{
    api::{call::Call, movement::Assemble},
    element::Real,
    exec::{Exec, pool},
    kernel::{self, Isa, Kernel},
    math::FmaMode,
    run::{Destination, Part},
};

/// Rows of more elements are computed in parts.
pub(super) const LONG_ROW_ELEMENTS: usize = 64 << 10;

/// The most elements of such a part.
const PART_ELEMENTS: usize = 16 << 10;

/// A reduction of the elements of a row, in the wide type `F`.
pub(super) trait Statistic<F: Real>: Sync {
    /// The result of some elements of a row.
    type Partial: Copy + Send;

    /// The partial result of at least one element; there is as much scratch.
    fn of<M: FmaMode>(&self, elements: &[F], scratch: &mut [F]) -> Self::Partial;

    /// The partial result of the elements of both.
    fn combine(&self, a: Self::Partial, b: Self::Partial) -> Self::Partial;

    /// The result of a row.
    fn finish(&self, partial: Self::Partial) -> F;

    /// The result of a row without elements.
    fn of_empty(&self) -> F;
}

/// A prepared reduction.
pub(super) struct Reduced<'v, T, S> {
    rows: Rows<'v, T>,
    statistic: S,
    layout: Layout,
}

impl<'v, T: Element, S> Reduced<'v, T, S> {
    pub(super) fn new(
        view: &TensorView<'v, T>,
        reduced: &ReductionShape,
        statistic: S,
    ) -> Result<Self> {
        let rows = Rows::new(view, |dim| reduced.is_reduced(dim))?;
        Ok(Self { rows, statistic, layout: Layout::contiguous(reduced.shape())? })
    }
}

impl<T: Real, S: Statistic<T::Wide>> Assemble<T> for Reduced<'_, T, S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if self.rows.view.numel() == 0 {
            return part.fill(call.exec, T::narrowed(self.statistic.of_empty()));
        }
        let kept = &self.rows.view.shape()[..self.rows.kept];
        let sizes: DimVec<isize> = kept.iter().map(|&size| size as isize).collect();
        let part = part.reshaped(|view| view.view(&sizes))?;
        let work =
            StatisticWork { statistic: &self.statistic, kept: self.rows.kept, exec: call.exec };
        if self.rows.len() > LONG_ROW_ELEMENTS {
            // One row after the other: the parts of each are shared among threads.
            let serial = Call { exec: &call.exec.serial(), ..call };
            return run_blocks(serial, &self.rows, 1, part, &work);
        }
        let most = self.rows.reduced_rows_per_block(call.exec);
        run_blocks(call, &self.rows, most, part, &work)
    }
}

struct StatisticWork<'a, S> {
    statistic: &'a S,
    kept: usize,
    /// What the parts of a long row may use.
    exec: &'a Exec,
}

impl<T: Real, S: Statistic<T::Wide>, W: Destination<T>> BlockWork<T, Part<'_, T, W>>
    for StatisticWork<'_, S>
{
    type Scratch = T::Wide;

    fn run(
        &self,
        exec: &Exec,
        rows: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<T::Wide>,
        part: Part<'_, T, W>,
    ) -> Result<()> {
        let count: usize = rows.shape()[..self.kept].iter().product();
        let len = rows.numel() / count;
        if len > LONG_ROW_ELEMENTS {
            return self.run_long(exec, rows, buffer, part);
        }
        let (elements, scratch) = load(exec, rows, buffer, count - 1 + len)?;
        let statistic = self.statistic;
        kernel::dispatch(exec.simd(), WholeRows { statistic, elements, len, scratch });
        store(exec, &scratch[..count], part)
    }
}

impl<S> StatisticWork<'_, S> {
    /// One long row.
    fn run_long<T: Real, W: Destination<T>>(
        &self,
        exec: &Exec,
        row: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<T::Wide>,
        part: Part<'_, T, W>,
    ) -> Result<()>
    where
        S: Statistic<T::Wide>,
    {
        let partial = partial_of(self.exec, self.statistic, row, buffer)?;
        store(exec, &[self.statistic.finish(partial)], part)
    }
}

/// The partial result of a long row, whose parts are shared among threads.
pub(super) fn partial_of<T: Real, S: Statistic<T::Wide>>(
    exec: &Exec,
    statistic: &S,
    row: &TensorView<'_, T>,
    buffer: &mut BlockBuffer<T::Wide>,
) -> Result<S::Partial> {
    let tasks = exec.tasks(row.numel().saturating_mul(4 * size_of::<T>()));
    partial(&exec.serial(), statistic, row, tasks, buffer)
}

fn partial<T: Real, S: Statistic<T::Wide>>(
    exec: &Exec,
    statistic: &S,
    row: &TensorView<'_, T>,
    tasks: usize,
    buffer: &mut BlockBuffer<T::Wide>,
) -> Result<S::Partial> {
    let stride = |&dim: &usize| row.strides()[dim].unsigned_abs();
    let dim = (0..row.ndim()).filter(|&dim| row.shape()[dim] > 1).max_by_key(stride);
    let Some(dim) = dim.filter(|_| row.numel() > PART_ELEMENTS) else {
        let (elements, scratch) = load(exec, row, buffer, row.numel())?;
        return Ok(kernel::dispatch(exec.simd(), RowPart { statistic, elements, scratch }));
    };
    let (first, second) = halves(row, dim, row.shape()[dim] / 2)?;
    if tasks <= 1 {
        let first = partial(exec, statistic, &first, 1, buffer)?;
        return Ok(statistic.combine(first, partial(exec, statistic, &second, 1, buffer)?));
    }
    let (mut before, mut after) = (None, None);
    pool::join(
        || before = Some(partial(exec, statistic, &first, tasks / 2, buffer)),
        || {
            let mut buffer = BlockBuffer::new();
            after = Some(partial(exec, statistic, &second, tasks - tasks / 2, &mut buffer));
        },
    );
    let done = |half: Option<Result<_>>| half.expect("both halves have run");
    Ok(statistic.combine(done(before)?, done(after)?))
}

/// Rows of at least one element. Their results are the first elements of scratch; the last ones,
/// from the last result on, are scratch of one row.
struct WholeRows<'a, S, F> {
    statistic: &'a S,
    elements: &'a [F],
    len: usize,
    scratch: &'a mut [F],
}

impl<F: Real, S: Statistic<F>> Kernel for WholeRows<'_, S, F> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { statistic, elements, len, scratch } = self;
        let last = elements.len() / len - 1;
        for (number, row) in elements.chunks_exact(len).enumerate() {
            let partial = statistic.of::<I::FmaMode>(row, &mut scratch[last..][..len]);
            scratch[number] = statistic.finish(partial);
        }
    }
}

struct RowPart<'a, S, F> {
    statistic: &'a S,
    elements: &'a [F],
    scratch: &'a mut [F],
}

impl<F: Real, S: Statistic<F>> Kernel for RowPart<'_, S, F> {
    type Output = S::Partial;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> S::Partial {
        self.statistic.of::<I::FmaMode>(self.elements, self.scratch)
    }
}
