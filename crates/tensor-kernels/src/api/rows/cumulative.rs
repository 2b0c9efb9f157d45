//! Running sums.

use tensor_core::{
    AsOperand, Bare, Element, Int, Layout, Operand, Output, Result, TensorBase, TensorView,
    TensorViewMut, ViewRef, wrap_dim,
};

use super::blocks::{BlockBuffer, BlockWork, Rows, run_blocks};
#[cfg(tensor_compiled)]
use crate::{api::compiled::find_typed, kernel::Operation};
use crate::{
    api::{
        call::Call,
        compiled::{compiled, compiled_function},
        movement::{Assemble, apart, elements},
        tensor::Simd,
    },
    element::{Accumulate, Number},
    exec::{Exec, SimdLevel},
    kernel::{self, Function1, Isa, Kernel, Map},
    math::FmaMode,
    run::{self, Destination, Part},
};

/// The sums of all elements up to each along a dimension, in a new contiguous tensor (PyTorch:
/// `torch.cumsum`).
///
/// Element types of results are those of [`sum`](crate::ops::sum). Elements are added in sequence;
/// real and complex floats in double precision, rounded to each result, as in PyTorch, which sums
/// halves in single precision.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let lengths = Tensor::from_vec(vec![3i32, 1, 2], [3])?;
/// assert_eq!(ops::cumsum(exec, &lengths, 0)?.to_vec()?, [3i64, 4, 6]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// A dimension out of range.
#[track_caller]
pub fn cumsum<T: Accumulate>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
) -> Result<TensorBase<T::Sum, Simd>> {
    cumsum_eval(Call::new(exec, "cumsum"), &a.as_operand(), dim.saturated())
}

/// [`cumsum`] into a given result.
///
/// # Errors
/// Those of [`cumsum`]; a result of another shape, or that shares elements with the operand or with
/// itself.
#[track_caller]
pub fn cumsum_into<'o, T: Accumulate>(
    exec: &Exec,
    a: impl AsOperand<T>,
    dim: impl Int,
    out: impl Into<Output<'o, T::Sum>>,
) -> Result<()> {
    let (call, a, out) = (Call::new(exec, "cumsum"), a.as_operand(), out.into());
    if !call.is_apart(&a, &out, "a")? {
        let result: TensorBase<T::Sum, Bare> = cumsum_eval(call, &a, dim.saturated())?;
        return call.copy_result(&result, out);
    }
    let mut writing = out.open()?;
    let is_slice = writing.is_slice();
    let (out, scope) = writing.split()?;
    let a = call.open_apart(&a, Some(&scope), "a")?;
    let a = apart(elements(&a), call.op, "a")?;
    call.assemble_into(&RunningSum::new(call, &a, dim.saturated())?, out, is_slice)
}

pub(crate) fn cumsum_eval<T: Accumulate, K>(
    call: Call<'_>,
    a: &Operand<'_, T>,
    dim: isize,
) -> Result<TensorBase<T::Sum, K>> {
    let a = a.read()?;
    call.assemble(&RunningSum::new(call, &a.elements().to_view(), dim)?)
}

struct RunningSum<'v, T> {
    rows: Rows<'v, T>,
    layout: Layout,
}

impl<'v, T: Element> RunningSum<'v, T> {
    fn new(call: Call<'_>, view: &TensorView<'v, T>, dim: isize) -> Result<Self> {
        let dim = wrap_dim(call.op, dim, view.ndim().max(1))?;
        let layout = Layout::contiguous(view.shape())?;
        Ok(Self { rows: Rows::new(view, |d| d == dim)?, layout })
    }
}

impl<T: Accumulate> Assemble<T::Sum> for RunningSum<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T::Sum>>(
        &self,
        call: Call<'_>,
        part: Part<'_, T::Sum, W>,
    ) -> Result<()> {
        if self.layout.numel() == 0 {
            return part.fill(call.exec, T::Sum::default());
        }
        let part = part.reshaped(|view| view.permute(&self.rows.order))?;
        let most = match self.rows.len() {
            _ if self.rows.are_interleaved() => 8 * ROWS_AT_ONCE,
            len => ROWS_AT_ONCE.max(BLOCK_ELEMENTS / len),
        };
        run_blocks(call, &self.rows, most, part, &RunningSumWork { kept: self.rows.kept })
    }
}

/// The fewest rows that are summed side by side, if there are as many: an addition waits for the
/// one before it in its row, but not for those of other rows.
const ROWS_AT_ONCE: usize = 16;

/// The elements of a block of short rows.
const BLOCK_ELEMENTS: usize = 4 << 10;

/// The elements of scratch that a part of long rows takes.
const PART_ELEMENTS: usize = 8 << 10;

struct RunningSumWork {
    kept: usize,
}

impl<T: Accumulate, W: Destination<T::Sum>> BlockWork<T, Part<'_, T::Sum, W>> for RunningSumWork {
    type Scratch = T::Running;

    /// The rows are cut, and each part begins with the last sums of the one before. In scratch a
    /// part has its rows side by side as columns, all of which are summed at the same time. But if
    /// the elements of a row are adjacent, in the input and in the result, they are so in scratch,
    /// and a few rows are summed at a time: moving the elements takes longer than adding them.
    fn run(
        &self,
        exec: &Exec,
        rows: &TensorView<'_, T>,
        buffer: &mut BlockBuffer<T::Running>,
        part: Part<'_, T::Sum, W>,
    ) -> Result<()> {
        let count: usize = rows.shape()[..self.kept].iter().product();
        // A tensor without dimensions is one row of one element.
        let dim = if rows.ndim() > self.kept { Some(self.kept) } else { None };
        let len = dim.map_or(1, |dim| rows.shape()[dim]);
        let adjacent = |dim: usize| rows.strides()[dim] == 1 && part.layout().strides()[dim] == 1;
        let in_rows = count > 1 && dim.is_some_and(adjacent);
        // The dimension that is outermost in scratch.
        let moved = dim.filter(|_| !in_rows);
        let at_once = (PART_ELEMENTS / count).clamp(1, len);
        let scratch = buffer.get((at_once + 1) * count)?;
        let (mut rest, mut start) = (part, 0);
        while start < len {
            let now = at_once.min(len - start);
            let (view, first, others) = match dim {
                Some(dim) => {
                    let (first, others) = rest.split(dim, now)?;
                    (rows.narrow(dim as isize, start as isize, now)?, first, Some(others))
                }
                None => (rows.clone(), rest, None),
            };
            let (before, sums) = scratch.split_at_mut(count);
            let sums = &mut sums[..now * count];
            load(exec, &view, moved, sums)?;
            let add = if in_rows { find_row_sums() } else { find_sums() };
            add(exec.simd(), before, sums, start > 0);
            store::<T, W>(exec, sums, moved, first)?;
            let last = |row: usize| {
                if in_rows { row * now + now - 1 } else { (now - 1) * count + row }
            };
            for (row, before) in before.iter_mut().enumerate() {
                *before = sums[last(row)];
            }
            start += now;
            let Some(others) = others else { return Ok(()) };
            rest = others;
        }
        Ok(())
    }
}

/// Elements as running sums.
struct ToRunning;

compiled! { ToRunning, Accumulate, T => Map<ToRunning, T>, dyn Operation<2> }

impl<T: Accumulate> Function1<T> for ToRunning {
    type Output = T::Running;

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Map<Self, T>) -> Option<&dyn Operation<2>> {
        Self::find_compiled(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T) -> T::Running {
        a.to_running()
    }
}

/// The results of running sums of elements `T`.
struct Rounded<T>(std::marker::PhantomData<fn(T)>);

impl<T: Accumulate> Function1<T::Running> for Rounded<T> {
    type Output = T::Sum;

    #[cfg(tensor_compiled)]
    fn compiled(operation: &Map<Self, T::Running>) -> Option<&dyn Operation<2>> {
        find_rounded(operation)
    }

    #[inline(always)]
    fn call<M: FmaMode>(&self, a: T::Running) -> T::Sum {
        T::rounded_running(a)
    }
}

#[cfg(tensor_compiled)]
#[inline(never)]
fn find_rounded(operation: &dyn std::any::Any) -> Option<&dyn Operation<2>> {
    find_typed!(Accumulate, operation, T => Map<Rounded<T>, <T as Accumulate>::Running>)
}

/// Copies elements to scratch, those of different rows next to each other.
fn load<T: Accumulate>(
    exec: &Exec,
    view: &TensorView<'_, T>,
    dim: Option<usize>,
    scratch: &mut [T::Running],
) -> Result<()> {
    let view = match dim {
        Some(dim) => view.movedim([dim as isize], [0])?,
        None => view.clone(),
    };
    let mut scratch = TensorViewMut::new(scratch, Layout::contiguous(view.shape())?)?;
    let (map, input) = (Map::new(ToRunning), run::Input::View((&view).into()));
    run::compute1(exec, map.of_types::<T::Running>(), &mut (&mut scratch).into(), input);
    Ok(())
}

/// Copies results from scratch, and rounds them.
fn store<T: Accumulate, W: Destination<T::Sum>>(
    exec: &Exec,
    scratch: &[T::Running],
    dim: Option<usize>,
    part: Part<'_, T::Sum, W>,
) -> Result<()> {
    let part = match dim {
        Some(dim) => part.reshaped(|view| view.movedim([dim as isize], [0]))?,
        None => part,
    };
    let layout = Layout::contiguous(part.layout().shape())?;
    let map = Map::new(Rounded::<T>(std::marker::PhantomData));
    part.compute_from(exec, map.of_types::<T::Sum>(), ViewRef::new(scratch, &layout)?)
}

compiled_function! {
    find_sums<N: Number>: fn(SimdLevel, &[N], &mut [N], bool) = sum_columns for f64 i64
}

fn sum_columns<N: Number>(simd: SimdLevel, before: &[N], sums: &mut [N], continues: bool) {
    kernel::dispatch(simd, Sums { before, sums, count: before.len(), continues });
}

compiled_function! {
    find_row_sums<N: Number>: fn(SimdLevel, &[N], &mut [N], bool) = sum_rows for f64 i64
}

fn sum_rows<N: Number>(simd: SimdLevel, before: &[N], sums: &mut [N], continues: bool) {
    kernel::dispatch(simd, RowSums { before, sums, continues });
}

/// Sums along rows of one length, of which there are as many as sums before.
struct RowSums<'a, N> {
    before: &'a [N],
    sums: &'a mut [N],
    /// Are there any before?
    continues: bool,
}

impl<N: Number> Kernel for RowSums<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { before, sums, continues } = self;
        let len = sums.len() / before.len();
        let (before, sums) = row_groups::<8, N>(before, sums, len, continues);
        let (before, sums) = row_groups::<2, N>(before, sums, len, continues);
        for (before, row) in before.iter().zip(sums.chunks_exact_mut(len)) {
            single(row, continues.then_some(*before));
        }
    }
}

/// Sums along `ROWS` rows at a time, their sums in registers. Returns the rows that are left.
#[inline(always)]
fn row_groups<'b, 's, const ROWS: usize, N: Number>(
    before: &'b [N],
    sums: &'s mut [N],
    len: usize,
    continues: bool,
) -> (&'b [N], &'s mut [N]) {
    let (groups, left) = before.as_chunks::<ROWS>();
    let (grouped, rows_left) = sums.split_at_mut(groups.len() * ROWS * len);
    for (before, rows) in groups.iter().zip(grouped.chunks_exact_mut(ROWS * len)) {
        let mut sums: [N; ROWS] = std::array::from_fn(|k| {
            let first = &mut rows[k * len];
            if continues {
                *first = before[k].plus(*first);
            }
            *first
        });
        for i in 1..len {
            for (k, sum) in sums.iter_mut().enumerate() {
                let element = &mut rows[k * len + i];
                *sum = sum.plus(*element);
                *element = *sum;
            }
        }
    }
    (left, rows_left)
}

/// Sums down columns; each is a row of the tensor.
struct Sums<'a, N> {
    /// The sums before the first elements.
    before: &'a [N],
    sums: &'a mut [N],
    count: usize,
    /// Are there any before?
    continues: bool,
}

impl<N: Number> Kernel for Sums<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { before, sums, count, continues } = self;
        if count == 1 {
            return single(sums, continues.then_some(before[0]));
        }
        if continues {
            add(&mut sums[..count], before);
        }
        for at in 1..sums.len() / count {
            let (done, next) = sums.split_at_mut(at * count);
            add(&mut next[..count], &done[(at - 1) * count..]);
        }
    }
}

#[inline(always)]
fn add<N: Number>(elements: &mut [N], before: &[N]) {
    for (element, &sum) in elements.iter_mut().zip(before) {
        *element = sum.plus(*element);
    }
}

/// One row: its running sum stays in a register.
#[inline(always)]
fn single<N: Number>(sums: &mut [N], before: Option<N>) {
    let mut elements = sums.iter_mut();
    let mut sum = match (before, elements.next()) {
        (_, None) => return,
        (None, Some(first)) => *first,
        (Some(before), Some(first)) => {
            *first = before.plus(*first);
            *first
        }
    };
    for element in elements {
        sum = sum.plus(*element);
        *element = sum;
    }
}
