//! Cyclic shifts: each dimension is cut in two, and the parts are copied in exchanged places.

use tensor_core::{
    AsOperand, DimVec, Element, Layout, MovementError, Operand, Output, Result, Sizes, TensorBase,
    TensorView, wrap_dim,
};

use super::{Assemble, Source, assembled, through_copy};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part},
};

/// The elements shifted along dimensions; those that leave at the end enter at the start, in a new
/// contiguous tensor (PyTorch: `torch.roll`).
///
/// Without dimensions, all elements are shifted in row-major order by the one shift.
///
/// ```
/// use tensor_kernels::{Exec, Tensor, ops};
///
/// let exec = Exec::current()?;
/// let x = Tensor::arange(0i32, 6, 1)?.view([2, 3])?;
/// assert_eq!(ops::roll(exec, &x, &[1], &[1])?.to_vec()?, [2, 0, 1, 5, 3, 4]);
/// assert_eq!(ops::roll(exec, &x, [-1], ())?.to_vec()?, [1, 2, 3, 4, 5, 0]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Another number of shifts than of dimensions ([`Error::Movement`](crate::Error::Movement)), a
/// dimension out of range.
#[track_caller]
pub fn roll<T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    shifts: impl Sizes,
    dims: impl Sizes,
) -> Result<TensorBase<T, Simd>> {
    roll_eval(Call::new(exec, "roll"), &a.as_operand(), &shifts.into_sizes()?, &dims.into_sizes()?)
}

/// [`roll`] into a given result.
///
/// # Errors
/// Those of [`roll`]; a result of another shape, or that shares elements with the operand or with
/// itself.
#[track_caller]
pub fn roll_into<'o, T: Element>(
    exec: &Exec,
    a: impl AsOperand<T>,
    shifts: impl Sizes,
    dims: impl Sizes,
    out: impl Into<Output<'o, T>>,
) -> Result<()> {
    roll_write(
        Call::new(exec, "roll"),
        &a.as_operand(),
        &shifts.into_sizes()?,
        &dims.into_sizes()?,
        out.into(),
    )
}

assembled! {
    roll_eval, roll_write, T: Element; a: T, "a";
    |call, shifts: &[isize], dims: &[isize]| Roll::new(call, a, shifts, dims)?
}

/// Dimensions that are shifted at once, by one copy for each corner.
const SHIFTED_AT_ONCE: usize = 4;

pub(crate) struct Roll<'v, T: Element> {
    /// The elements to shift. A copy is already shifted along some dimensions, or contiguous.
    source: Source<'v, T>,
    /// Dimensions, and the number of elements that leave each at its end.
    shifts: DimVec<(usize, usize)>,
    layout: Layout,
}

impl<'v, T: Element> Roll<'v, T> {
    pub(crate) fn new(
        call: Call<'_>,
        view: TensorView<'v, T>,
        shifts: &[isize],
        dims: &[isize],
    ) -> Result<Self> {
        let layout = Layout::contiguous(view.shape())?;
        if let (&[shift], []) = (shifts, dims) {
            let source = Source::flat(call, &view)?;
            let shifts = reduced_shifts(&[view.numel()], &[shift], &[0])?;
            return Ok(Self { source, shifts, layout });
        }
        if shifts.len() != dims.len() || dims.is_empty() {
            let (shifts, dims) = (shifts.len(), dims.len());
            return Err(MovementError::RollLength { shifts, dims }.into());
        }
        let shifts = reduced_shifts(view.shape(), shifts, dims)?;
        Self::of(call, view, &shifts, layout)
    }

    fn of(
        call: Call<'_>,
        view: TensorView<'v, T>,
        shifts: &[(usize, usize)],
        layout: Layout,
    ) -> Result<Self> {
        let (now, before) = shifts.split_at(shifts.len().min(SHIFTED_AT_ONCE));
        let source = if before.is_empty() {
            Source::View(view)
        } else {
            Source::Copy(call.assemble(&Self::of(call, view, before, layout.clone())?)?)
        };
        Ok(Self { source, shifts: DimVec::from_slice(now), layout })
    }
}

/// One shift for each dimension that moves, less than its size.
fn reduced_shifts(
    shape: &[usize],
    shifts: &[isize],
    dims: &[isize],
) -> Result<DimVec<(usize, usize)>> {
    let mut by_dim: DimVec<usize> = DimVec::from_elem(0, shape.len());
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let dim = wrap_dim("roll", dim, shape.len())?;
        let size = shape[dim].max(1);
        let shift = shift.rem_euclid(size as isize).unsigned_abs();
        by_dim[dim] = (by_dim[dim] + shift) % size;
    }
    Ok(by_dim.into_iter().enumerate().filter(|&(_, shift)| shift > 0).collect())
}

impl<T: Element> Assemble<T> for Roll<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        self.source.with(|view| self.roll(call, view, part))
    }
}

impl<T: Element> Roll<'_, T> {
    fn roll<W: Destination<T>>(
        &self,
        call: Call<'_>,
        view: &TensorView<'_, T>,
        part: Part<'_, T, W>,
    ) -> Result<()> {
        if view.ndim() == self.layout.ndim() {
            return shifted(call, view, &self.shifts, part);
        }
        let part = match self.layout.is_contiguous() && part.layout().view([-1]).is_ok() {
            true => part.reshaped(|out| out.view([-1]))?,
            false => return through_copy(call, self, part),
        };
        shifted(call, view, &self.shifts, part)
    }
}

fn shifted<T: Element, W: Destination<T>>(
    call: Call<'_>,
    view: &TensorView<'_, T>,
    shifts: &[(usize, usize)],
    part: Part<'_, T, W>,
) -> Result<()> {
    let Some((&(dim, shift), others)) = shifts.split_first() else {
        return part.copy_from(call.exec, view);
    };
    let stay = view.shape()[dim] - shift;
    let (first, rest) = part.split(dim, shift)?;
    let dim = dim as isize;
    shifted(call, &view.narrow(dim, stay as isize, shift)?, others, first)?;
    shifted(call, &view.narrow(dim, 0, stay)?, others, rest)
}
