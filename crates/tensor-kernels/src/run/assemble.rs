//! Results that are put together from parts: each part is copied, filled, computed, or written row
//! by row, and none is written before that.
//!
//! A [`Part`] is the right to write some elements of a result. It can be split along a dimension,
//! and it is consumed when its elements are written. So no element is written twice, and a newly
//! allocated result is initialised exactly if as many elements have been written as it has.

#[cfg(feature = "reductions")]
mod compute;

use std::{
    marker::PhantomData,
    mem::{self, MaybeUninit},
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use tensor_core::{
    Element, Error, Layout, Result, TensorBase, TensorViewBase, TensorViewMut, Uninit, ViewRef,
    ViewRefMut,
};

use super::{
    copy::{CopyOperands, copy},
    operands::Destination,
};
use crate::exec::{Exec, pool};

/// Elements of a result that have not been written; `W` is `T` or uninitialised memory for it.
pub(crate) struct Part<'a, T, W> {
    view: TensorViewMut<'a, W>,
    /// The elements written so far, of all parts of the result.
    written: &'a AtomicUsize,
    element: PhantomData<fn(T)>,
}

/// A new tensor of a dense `layout` that `write` puts together.
///
/// # Panics
/// If `write` returns without having written every element.
pub(crate) fn assembled<T: Element, K>(
    layout: Layout,
    write: impl FnOnce(Part<'_, T, MaybeUninit<T>>) -> Result<()>,
) -> Result<TensorBase<T, K>> {
    let numel = layout.numel();
    let (mut result, written) = (Uninit::new(layout)?, AtomicUsize::new(0));
    write(Part { view: result.as_view_mut(), written: &written, element: PhantomData })?;
    assert_eq!(written.into_inner(), numel, "every element of the result is written");
    // SAFETY: as many elements have been written as there are, and none twice: a part has the
    // unique view of its elements, is consumed when they are written, and splits into disjoint
    // views.
    Ok(unsafe { result.assume_init() })
}

/// Puts together a given result.
pub(crate) fn assemble_into<T: Element>(
    out: ViewRefMut<'_, T>,
    write: impl FnOnce(Part<'_, T, T>) -> Result<()>,
) -> Result<()> {
    write(Part { view: out.into_view(), written: &AtomicUsize::new(0), element: PhantomData })
}

impl<'a, T: Element, W: Destination<T>> Part<'a, T, W> {
    pub(crate) fn layout(&self) -> &Layout {
        self.view.layout()
    }

    /// The first `at` indices of a dimension, and the rest.
    pub(crate) fn split(self, dim: usize, at: usize) -> Result<(Self, Self)> {
        let Self { view, written, element } = self;
        let (first, rest) = view.split_at_mut(dim as isize, at)?;
        Ok((Self { view: first, written, element }, Self { view: rest, written, element }))
    }

    /// The same elements under a transformed view.
    pub(crate) fn reshaped(
        self,
        transform: impl FnOnce(TensorViewMut<'a, W>) -> Result<TensorViewMut<'a, W>>,
    ) -> Result<Self> {
        Ok(Self { view: transform(self.view)?, ..self })
    }

    fn count(&self) {
        self.written.fetch_add(self.view.numel(), Ordering::Relaxed);
    }

    /// Writes all elements: those of a view of the same shape.
    pub(crate) fn copy_from<K>(self, exec: &Exec, from: &TensorViewBase<'_, T, K>) -> Result<()> {
        self.copy_elements(exec, from.into())
    }

    /// As [`copy_from`](Self::copy_from), of a view with a borrowed layout.
    pub(crate) fn copy_elements(mut self, exec: &Exec, from: ViewRef<'_, T>) -> Result<()> {
        copy(exec, CopyOperands::new(from, &mut (&mut self.view).into())?);
        self.count();
        Ok(())
    }

    /// Writes all elements: one value.
    pub(crate) fn fill(mut self, exec: &Exec, value: T) -> Result<()> {
        let mut buffer = None;
        let from = ViewRef::of_value(&value).broadcast_to(self.view.shape(), &mut buffer)?;
        copy(exec, CopyOperands::new(from, &mut (&mut self.view).into())?);
        self.count();
        Ok(())
    }

    /// Writes all elements of a contiguous part, row by row: `write` gets a range of rows and
    /// writes their elements. Ranges are shared among threads.
    ///
    /// # Errors
    /// [`Error::NotDense`] if the part is not contiguous.
    ///
    /// # Panics
    /// If `write` does not write all elements of its rows.
    pub(crate) fn write_rows(
        mut self,
        exec: &Exec,
        row: usize,
        write: &(impl Fn(Range<usize>, &mut RowWriter<'_, T, W>) + Sync),
    ) -> Result<()> {
        let bytes = self.view.numel().saturating_mul(2 * size_of::<T>());
        let layout = self.view.layout().clone();
        let Some(elements) = self.view.as_slice_mut() else { return Err(not_dense(&layout)) };
        if !elements.is_empty() {
            rows_in_parallel(elements, 0, row, exec.tasks(bytes), write);
        }
        self.count();
        Ok(())
    }
}

impl<T: Element, W: Destination<T>> Part<'_, T, W> {
    /// Writes all elements of a contiguous part of one dimension, in pieces of these lengths.
    /// Pieces are shared among threads.
    ///
    /// # Errors
    /// [`Error::NotDense`] if the part is not contiguous.
    ///
    /// # Panics
    /// If `write` does not write all elements of a piece, or pieces have not as many elements.
    pub(crate) fn write_pieces(
        mut self,
        tasks: usize,
        lens: &[usize],
        write: &(impl Fn(usize, &mut RowWriter<'_, T, W>) + Sync),
    ) -> Result<()> {
        let layout = self.view.layout().clone();
        let Some(elements) = self.view.as_slice_mut() else { return Err(not_dense(&layout)) };
        pieces_in_parallel(elements, 0, lens, tasks, write);
        self.count();
        Ok(())
    }
}

fn pieces_in_parallel<T: Element, W: Destination<T>>(
    elements: &mut [W],
    first: usize,
    lens: &[usize],
    tasks: usize,
    write: &(impl Fn(usize, &mut RowWriter<'_, T, W>) + Sync),
) {
    if tasks > 1 && lens.len() > 1 {
        let (here, there) = lens.split_at(lens.len() / 2);
        let (before, after) = elements.split_at_mut(here.iter().sum());
        return pool::join(
            || pieces_in_parallel(before, first, here, tasks / 2, write),
            || pieces_in_parallel(after, first + here.len(), there, tasks - tasks / 2, write),
        );
    }
    let mut writer = RowWriter { rest: elements, element: PhantomData };
    for at in 0..lens.len() {
        write(first + at, &mut writer);
    }
    assert!(writer.rest.is_empty(), "every element of the pieces is written");
}

fn not_dense(layout: &Layout) -> Error {
    let (shape, strides) = (layout.shape().to_vec(), layout.strides().to_vec());
    Error::NotDense { shape, strides, offset: layout.offset() }
}

fn rows_in_parallel<T: Element, W: Destination<T>>(
    elements: &mut [W],
    first: usize,
    row: usize,
    tasks: usize,
    write: &(impl Fn(Range<usize>, &mut RowWriter<'_, T, W>) + Sync),
) {
    let rows = elements.len() / row;
    if tasks > 1 && rows > 1 {
        let middle = rows / 2;
        let (before, after) = elements.split_at_mut(middle * row);
        return pool::join(
            || rows_in_parallel(before, first, row, tasks / 2, write),
            || rows_in_parallel(after, first + middle, row, tasks - tasks / 2, write),
        );
    }
    let mut writer = RowWriter { rest: elements, element: PhantomData };
    write(first..first + rows, &mut writer);
    assert!(writer.rest.is_empty(), "every element of the rows is written");
}

/// Writes adjacent elements one after the other.
pub(crate) struct RowWriter<'a, T, W> {
    rest: &'a mut [W],
    element: PhantomData<fn(T)>,
}

impl<T: Element, W: Destination<T>> RowWriter<'_, T, W> {
    /// The next `len` elements.
    ///
    /// # Panics
    /// If that are more than there are.
    #[inline(always)]
    fn next(&mut self, len: usize) -> &mut [W] {
        let (next, rest) = mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        next
    }

    /// Writes the elements of a slice.
    #[inline(always)]
    pub(crate) fn slice(&mut self, values: &[T]) {
        for (element, &value) in self.next(values.len()).iter_mut().zip(values) {
            *element = W::written(value);
        }
    }

    /// Writes one value `len` times.
    #[inline(always)]
    pub(crate) fn repeated(&mut self, value: T, len: usize) {
        self.next(len).fill(W::written(value));
    }

    /// Writes `len` elements: a function of their numbers.
    #[inline(always)]
    pub(crate) fn by_number(&mut self, len: usize, mut f: impl FnMut(usize) -> T) {
        for (number, element) in self.next(len).iter_mut().enumerate() {
            *element = W::written(f(number));
        }
    }
}
