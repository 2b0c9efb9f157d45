//! Cuts a tensor into blocks of whole rows, and brings each to scratch memory.

use tensor_core::{DimVec, Element, Error, Layout, Result, TensorView, TensorViewMut, ViewRef};

#[cfg(tensor_compiled)]
use crate::{api::compiled::find_typed, kernel::Operation};
use crate::{
    api::{call::Call, compiled::compiled},
    element::Real,
    exec::{Exec, pool},
    kernel::{Function1, Map},
    math::FmaMode,
    run::{self, Destination, Part},
};

/// The elements of a block: 32 KiB of floats, which leave room in the first-level cache.
const BLOCK_ELEMENTS: usize = 8 << 10;

/// The elements of a block whose rows are not adjacent: a cache line of them from each row. It fits
/// the second-level cache.
const LARGE_BLOCK_ELEMENTS: usize = 96 << 10;

/// Rows of which a cache line is read at a time.
const ROWS_PER_LINE: usize = 16;

/// A view whose kept dimensions come first, and the dimensions of its rows last.
pub(super) struct Rows<'v, T> {
    pub(super) view: TensorView<'v, T>,
    /// The number of dimensions that number the rows.
    pub(super) kept: usize,
    /// The order of the dimensions in the original.
    pub(super) order: DimVec<isize>,
}

impl<'v, T: Element> Rows<'v, T> {
    /// Rows along the dimensions for which `is_row`.
    pub(super) fn new(view: &TensorView<'v, T>, is_row: impl Fn(usize) -> bool) -> Result<Self> {
        let (rows, mut order): (DimVec<isize>, DimVec<isize>) =
            (0..view.ndim() as isize).partition(|&dim| is_row(dim.unsigned_abs()));
        let kept = order.len();
        order.extend(rows);
        Ok(Self { view: view.permute(&order)?, kept, order })
    }

    /// The number of elements of a row.
    pub(super) fn len(&self) -> usize {
        self.view.shape()[self.kept..].iter().product()
    }

    pub(super) fn bytes(&self) -> usize {
        // Arithmetic takes about as long as twice the memory accesses of a copy.
        self.view.numel().saturating_mul(4 * size_of::<T>())
    }

    /// Are the elements next to each other in memory those of different rows?
    pub(super) fn are_interleaved(&self) -> bool {
        let strides = self.view.strides();
        let sizes = self.view.shape();
        let step = |dims: std::ops::Range<usize>| {
            dims.filter(|&dim| sizes[dim] > 1).map(|dim| strides[dim].unsigned_abs()).min()
        };
        let (across, along) = (step(0..self.kept), step(self.kept..sizes.len()));
        across.is_some_and(|across| along.is_none_or(|along| across < along))
    }

    /// The most rows of a block.
    pub(super) fn rows_per_block(&self) -> usize {
        let len = self.len().max(1);
        let rows = (BLOCK_ELEMENTS / len).max(1);
        let in_large = LARGE_BLOCK_ELEMENTS / len;
        if self.are_interleaved() && in_large >= ROWS_PER_LINE {
            return rows.max(in_large.min(4 * ROWS_PER_LINE));
        }
        rows
    }
}

impl<T: Real> Rows<'_, T> {
    /// The most rows of a block that are reduced to a number each. Rows that are read where they
    /// lie take no scratch but for their results, so a block has more of them, as long as each
    /// task has some blocks.
    pub(super) fn reduced_rows_per_block(&self, exec: &Exec) -> usize {
        let small = self.rows_per_block();
        let wide = T::wide_elements((&self.view).into()).map(ViewRef::to_view);
        if wide.as_ref().and_then(TensorView::as_slice).is_none() {
            return small;
        }
        let rows = self.view.shape()[..self.kept].iter().product::<usize>();
        let shared = match exec.tasks(self.bytes()) {
            0 | 1 => rows,
            tasks => rows / (4 * tasks),
        };
        let most = (LARGE_BLOCK_ELEMENTS / self.len().max(1)).min(BLOCK_ELEMENTS);
        small.max(shared.min(most))
    }
}

/// Memory for the elements of one block, allocated when first needed.
pub(super) struct BlockBuffer<F>(Vec<F>);

impl<F: Element + Default> BlockBuffer<F> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// The first `len` elements; their values are any.
    pub(super) fn get(&mut self, len: usize) -> Result<&mut [F]> {
        let more = len.saturating_sub(self.0.len());
        let bytes = len.saturating_mul(size_of::<F>());
        self.0.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { bytes })?;
        self.0.resize(self.0.len() + more, F::default());
        Ok(&mut self.0[..len])
    }
}

/// What is done with a block of rows and the part of the result that belongs to them.
pub(super) trait BlockWork<T: Element, P>: Sync {
    /// The element type of scratch.
    type Scratch: Element + Default;

    /// # Errors
    /// Those of the copies; no memory.
    fn run(
        &self,
        exec: &Exec,
        rows: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<Self::Scratch>,
        part: P,
    ) -> Result<()>;
}

/// A part of a result that can be cut along the dimensions that number the rows.
pub(super) trait Cut: Sized + Send {
    fn cut(self, dim: usize, at: usize) -> Result<(Self, Self)>;
}

impl<T: Element, W: Destination<T>> Cut for Part<'_, T, W> {
    fn cut(self, dim: usize, at: usize) -> Result<(Self, Self)> {
        self.split(dim, at)
    }
}

/// Runs `work` for each block of at most `most` rows and the part of the result that belongs to it.
pub(super) fn run_blocks<T: Element, P: Cut, B: BlockWork<T, P>>(
    call: Call<'_>,
    rows: &Rows<'_, T>,
    most: usize,
    part: P,
    work: &B,
) -> Result<()> {
    let cutting = Cutting { exec: &call.exec.serial(), kept: rows.kept, most, work };
    let tasks = call.exec.tasks(rows.bytes());
    cutting.run(&rows.view, part, tasks, &mut BlockBuffer::new())
}

struct Cutting<'a, B> {
    /// Of one task.
    exec: &'a Exec,
    kept: usize,
    most: usize,
    work: &'a B,
}

impl<B> Cutting<'_, B> {
    fn run<T: Element, P: Cut>(
        &self,
        view: &TensorView<'_, T>,
        part: P,
        tasks: usize,
        buffer: &mut BlockBuffer<B::Scratch>,
    ) -> Result<()>
    where
        B: BlockWork<T, P>,
    {
        let Some((dim, at)) = self.cut(view.layout()) else {
            return self.work.run(self.exec, view, buffer, part);
        };
        let (first, rest) = part.cut(dim, at)?;
        let (here, there) = halves(view, dim, at)?;
        if tasks <= 1 {
            self.run(&here, first, 1, buffer)?;
            return self.run(&there, rest, 1, buffer);
        }
        let (mut before, mut after) = (Ok(()), Ok(()));
        pool::join(
            || before = self.run(&here, first, tasks / 2, buffer),
            || after = self.run(&there, rest, tasks - tasks / 2, &mut BlockBuffer::new()),
        );
        before.and(after)
    }

    /// Where to cut rows that are more than a block: the dimension of the largest stride, at its
    /// middle, or at a whole number of cache lines.
    fn cut(&self, layout: &Layout) -> Option<(usize, usize)> {
        let shape = &layout.shape()[..self.kept];
        let rows = shape.iter().product::<usize>();
        if rows <= self.most {
            return None;
        }
        let stride = |&dim: &usize| layout.strides()[dim].unsigned_abs();
        let dim = (0..self.kept).filter(|&dim| shape[dim] > 1).max_by_key(stride)?;
        Some((dim, middle(shape[dim])))
    }
}

fn middle(size: usize) -> usize {
    let half = size / 2;
    if half >= ROWS_PER_LINE { half.next_multiple_of(ROWS_PER_LINE) } else { half }
}

/// The indices of a dimension before `at`, and those from there on.
pub(super) fn halves<'v, T: Element>(
    view: &TensorView<'v, T>,
    dim: usize,
    at: usize,
) -> Result<(TensorView<'v, T>, TensorView<'v, T>)> {
    let (dim, size) = (dim as isize, view.shape()[dim]);
    Ok((view.narrow(dim, 0, at)?, view.narrow(dim, at as isize, size - at)?))
}

/// Converts to the wide type.
struct Widen;

compiled! { Widen, Real, T => Map<Widen, T>, dyn Operation<2> }

impl<T: Real> Function1<T> for Widen {
    type Output = T::Wide;

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Map<Self, T>) -> Option<&dyn Operation<2>> {
        Self::find_compiled(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> T::Wide {
        a.widened()
    }
}

/// Rounds from the wide type.
struct Narrow<T>(std::marker::PhantomData<fn() -> T>);

impl<T: Real> Function1<T::Wide> for Narrow<T> {
    type Output = T;

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Map<Self, T::Wide>) -> Option<&dyn Operation<2>> {
        find_narrowing(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T::Wide) -> T {
        T::narrowed(a)
    }
}

#[cfg(tensor_compiled)]
#[inline(never)]
fn find_narrowing(operation: &dyn std::any::Any) -> Option<&dyn Operation<2>> {
    find_typed!(Real, operation, T => Map<Narrow<T>, <T as Real>::Wide>)
}

/// The elements of a block, and scratch.
pub(super) type Loaded<'s, F> = (&'s [F], &'s mut [F]);

/// The elements of a block in row-major order, in the wide type, and some scratch: in place if they
/// lie so in memory, else copied to scratch.
pub(super) fn load<'s, T: Real>(
    exec: &Exec,
    view: &'s TensorView<'_, T>,
    buffer: &'s mut BlockBuffer<T::Wide>,
    scratch: usize,
) -> Result<Loaded<'s, T::Wide>> {
    let numel = view.numel();
    let same = T::wide_elements(view.into()).map(ViewRef::to_view);
    if let Some(elements) = same.as_ref().and_then(TensorView::as_slice) {
        return Ok((elements, buffer.get(scratch)?));
    }
    let (elements, scratch) = buffer.get(numel + scratch)?.split_at_mut(numel);
    let layout = Layout::contiguous(view.shape())?;
    let mut to = TensorViewMut::new(elements, layout)?;
    match same {
        Some(same) => {
            run::copy(exec, run::CopyOperands::new((&same).into(), &mut (&mut to).into())?);
        }
        None => {
            let (map, input) = (Map::new(Widen), run::Input::View(view.into()));
            run::compute1(exec, map.of_types::<T::Wide>(), &mut (&mut to).into(), input);
        }
    }
    Ok((elements, scratch))
}

/// Copies results from scratch, in row-major order, and rounds them.
pub(super) fn store<T: Real, W: Destination<T>>(
    exec: &Exec,
    scratch: &[T::Wide],
    part: Part<'_, T, W>,
) -> Result<()> {
    let layout = Layout::contiguous(part.layout().shape())?;
    let scratch = ViewRef::new(scratch, &layout)?;
    match T::narrow_elements(scratch) {
        Some(same) => part.copy_elements(exec, same),
        None => {
            let map = Map::new(Narrow::<T>(std::marker::PhantomData));
            part.compute_from(exec, map.of_types::<T>(), scratch)
        }
    }
}
