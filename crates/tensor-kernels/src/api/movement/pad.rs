//! Padding: a copy of the elements into the middle of the result, and one fill or copy for each
//! border.

use tensor_core::{
    AsOperand, Bare, DimVec, Element, Error, Layout, MovementError, Operand, Output, Result, Sizes,
    TensorBase, TensorView,
};

use super::{Assemble, assembled};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part},
};

/// The elements of the borders that [`pad`] adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode<T> {
    /// One value.
    Constant(T),
    /// The elements mirrored at the border, which is not repeated: `[2, 1, | 0, 1, 2]`. A border is
    /// shorter than the dimension.
    Reflect,
    /// The outermost element: `[0, 0, | 0, 1, 2]`.
    Replicate,
    /// The elements of the opposite end: `[1, 2, | 0, 1, 2]`. A border is at most as long as the
    /// dimension.
    Circular,
}

impl<T> PadMode<T> {
    fn name(&self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::Reflect => "reflect",
            Self::Replicate => "replicate",
            Self::Circular => "circular",
        }
    }
}

/// The tensor with borders added, in a new tensor of the same memory format (PyTorch:
/// `torch.nn.functional.pad`).
///
/// `padding` has two numbers for each padded dimension, the last dimension first: the elements
/// before and after. Negative numbers remove elements. PyTorch pads by other modes than a constant
/// only the last one to three dimensions of tensors of certain ranks; here any are padded.
///
/// ```
/// use tensor_kernels::{Exec, PadMode, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let row = Tensor::arange(0i32, 3, 1)?;
/// assert_eq!(ops::pad(exec, &row, &[1, 2], PadMode::Constant(7))?.to_vec()?, [7, 0, 1, 2, 7, 7]);
/// assert_eq!(ops::pad(exec, &row, &[2, 1], PadMode::Reflect)?.to_vec()?, [2, 1, 0, 1, 2, 1]);
/// assert_eq!(ops::pad(exec, &row, &[-1, 1], PadMode::Replicate)?.to_vec()?, [1, 2, 2]);
/// assert_eq!(ops::pad(exec, &row, &[1, 0], PadMode::Circular)?.to_vec()?, [2, 0, 1, 2]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// An odd number of paddings, too many, or a padding that the mode cannot make
/// ([`Error::Movement`]); a result too large.
#[track_caller]
pub fn pad<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    padding: impl Sizes,
    mode: PadMode<T>,
) -> Result<TensorBase<T, Simd>> {
    pad_eval(Call::new(exec, "pad"), &a.as_operand(), &padding.into_sizes()?, mode)
}

/// [`pad`] into a given result.
///
/// # Errors
/// Those of [`pad`]; a result of another shape, or that shares elements with the operand or with
/// itself.
#[track_caller]
pub fn pad_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    padding: impl Sizes,
    mode: PadMode<T>,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    pad_write(Call::new(exec, "pad"), &a.as_operand(), &padding.into_sizes()?, mode, out.into())
}

assembled! {
    pad_eval, pad_write, T: Element; a: T, "a";
    |call, padding: &[isize], mode: PadMode<T>| Pad::new(call, a, padding, mode)?
}

/// The padding of one dimension.
#[derive(Clone, Copy, Debug)]
struct Border {
    dim: usize,
    size: usize,
    before: isize,
    after: isize,
}

/// Dimensions that are padded from the view's elements at once. Their borders and corners are 26
/// copies; those of a tenth dimension would be 59,048.
const PADDED_AT_ONCE: usize = 3;

pub(crate) struct Pad<'v, T: Element> {
    source: Source<'v, T>,
    borders: DimVec<Border>,
    mode: PadMode<T>,
    layout: Layout,
}

/// The elements to pad: those of the operand, or already padded along some dimensions.
enum Source<'v, T: Element> {
    View(TensorView<'v, T>),
    Padded(TensorBase<T, Bare>),
}

impl<'v, T: Element> Pad<'v, T> {
    pub(crate) fn new(
        call: Call<'_>,
        view: TensorView<'v, T>,
        padding: &[isize],
        mode: PadMode<T>,
    ) -> Result<Self> {
        let borders = borders(view.shape(), padding)?;
        for border in &borders {
            border.check(&mode)?;
        }
        Self::of(call, view, &borders, mode)
    }

    fn of(
        call: Call<'_>,
        view: TensorView<'v, T>,
        borders: &[Border],
        mode: PadMode<T>,
    ) -> Result<Self> {
        let layout = result_layout(&view, borders, &mode)?;
        if matches!(mode, PadMode::Constant(_)) || borders.len() <= PADDED_AT_ONCE {
            let borders = DimVec::from_slice(borders);
            return Ok(Self { source: Source::View(view), borders, mode, layout });
        }
        let (last, first) = borders.split_at(PADDED_AT_ONCE);
        let padded = call.assemble(&Self::of(call, view, first, mode)?)?;
        let borders = DimVec::from_slice(last);
        Ok(Self { source: Source::Padded(padded), borders, mode, layout })
    }
}

/// The paddings that are not 0, the last dimension first.
fn borders(shape: &[usize], padding: &[isize]) -> Result<DimVec<Border>> {
    let (given, ndim) = (padding.len(), shape.len());
    if !given.is_multiple_of(2) || given / 2 > ndim {
        return Err(MovementError::PadLength { given, ndim }.into());
    }
    let pairs = padding.chunks_exact(2).zip((0..ndim).rev());
    let border = |(pair, dim): (&[isize], usize)| Border {
        dim,
        size: shape[dim],
        before: pair[0],
        after: pair[1],
    };
    Ok(pairs.map(border).filter(|border| (border.before, border.after) != (0, 0)).collect())
}

fn padded_shape(shape: &[usize], borders: &[Border]) -> Result<DimVec<usize>> {
    let mut padded = DimVec::from_slice(shape);
    for border in borders {
        let size = border.kept() as isize;
        let sum = size.checked_add(border.before.max(0));
        let sum = sum.and_then(|sum| sum.checked_add(border.after.max(0)));
        padded[border.dim] = sum.ok_or_else(|| Error::TooLarge {
            what: "the number of elements",
            shape: shape.to_vec(),
            strides: Vec::new(),
        })? as usize;
    }
    Ok(padded)
}

/// In the memory format of the elements, as in PyTorch; if elements are only removed, in their
/// order.
fn result_layout<T: Element>(
    view: &TensorView<'_, T>,
    borders: &[Border],
    mode: &PadMode<T>,
) -> Result<Layout> {
    let shape = padded_shape(view.shape(), borders)?;
    let only_removes = borders.iter().all(|border| border.before.max(border.after) <= 0);
    match mode {
        PadMode::Constant(_) if only_removes => {
            Layout::new(&shape, view.strides(), view.storage_offset())?.preserved()
        }
        PadMode::Circular => Layout::contiguous(&shape),
        _ => Layout::with_format(&shape, view.layout().suggest_memory_format()),
    }
}

impl Border {
    /// The elements that negative paddings leave; 0 if they remove more than there are.
    fn kept(self) -> usize {
        let removed = |padding: isize| padding.min(0).unsigned_abs();
        self.size.saturating_sub(removed(self.before)).saturating_sub(removed(self.after))
    }

    fn check<T>(self, mode: &PadMode<T>) -> Result<()> {
        let Self { dim, size, before, after } = self;
        let longest = before.max(after).max(0) as usize;
        let removed = before.min(0).unsigned_abs().saturating_add(after.min(0).unsigned_abs());
        let fits = match mode {
            PadMode::Constant(_) => true,
            PadMode::Reflect => longest == 0 || longest < size,
            PadMode::Replicate => longest == 0 || size > 0,
            PadMode::Circular => longest <= self.kept(),
        };
        if fits && removed <= size {
            return Ok(());
        }
        Err(MovementError::PadSize { mode: mode.name(), before, after, dim, size }.into())
    }

    /// The elements that stay.
    fn middle<'v, T: Element>(self, view: &TensorView<'v, T>) -> Result<TensorView<'v, T>> {
        view.narrow(self.dim as isize, self.before.min(0).saturating_neg(), self.kept())
    }

    /// The elements of the border before the middle, and of that after it.
    fn sides<'v, T: Element>(
        self,
        view: &TensorView<'v, T>,
        mode: &PadMode<T>,
    ) -> Result<[TensorView<'v, T>; 2]> {
        let (dim, size) = (self.dim as isize, self.size as isize);
        let (before, after) = (self.before.max(0), self.after.max(0));
        let part = |view: &TensorView<'v, T>, start: isize, len: isize| {
            view.narrow(dim, start, len.unsigned_abs())
        };
        match mode {
            PadMode::Reflect => Ok([
                part(view, before.min(1), before)?.flip([dim])?,
                part(view, size - after - after.min(1), after)?.flip([dim])?,
            ]),
            PadMode::Circular => {
                let middle = self.middle(view)?;
                let len = self.kept() as isize;
                Ok([part(&middle, len - before, before)?, part(&middle, 0, after)?])
            }
            PadMode::Replicate | PadMode::Constant(_) => {
                let edge = |start: isize, len: isize| {
                    let one = part(view, start, size.min(1))?;
                    let mut shape = DimVec::from_slice(view.shape());
                    shape[self.dim] = len.unsigned_abs();
                    if len == 0 { part(view, 0, 0) } else { one.broadcast_to(&shape) }
                };
                Ok([edge(0, before)?, edge(size - size.min(1), after)?])
            }
        }
    }
}

impl<T: Element> Assemble<T> for Pad<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        match &self.source {
            Source::View(view) => self.pad(call, view, &self.borders, part),
            Source::Padded(tensor) => {
                self.pad(call, &tensor.read()?.as_view(), &self.borders, part)
            }
        }
    }
}

impl<T: Element> Pad<'_, T> {
    fn pad<W: Destination<T>>(
        &self,
        call: Call<'_>,
        view: &TensorView<'_, T>,
        borders: &[Border],
        part: Part<'_, T, W>,
    ) -> Result<()> {
        let Some((border, others)) = borders.split_first() else {
            return part.copy_from(call.exec, view);
        };
        let (first, rest) = part.split(border.dim, border.before.max(0).unsigned_abs())?;
        let (middle, last) = rest.split(border.dim, border.kept())?;
        self.pad(call, &border.middle(view)?, others, middle)?;
        if let PadMode::Constant(value) = self.mode {
            first.fill(call.exec, value)?;
            return last.fill(call.exec, value);
        }
        let [before, after] = border.sides(view, &self.mode)?;
        self.pad(call, &before, others, first)?;
        self.pad(call, &after, others, last)
    }
}
