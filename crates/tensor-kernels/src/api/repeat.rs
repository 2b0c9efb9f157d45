//! Repetition along dimensions, as one copy.

use tensor_core::{
    AsOperand, DimVec, Element, Error, Layout, Result, Sizes, TensorBase, TensorViewBase,
};

use super::{copy::copied, ledger::Purpose};
use crate::exec::Exec;

/// Repeats the elements `times` along each dimension, in a new contiguous tensor
/// (PyTorch: `repeat`, NumPy: `tile`).
///
/// A dimension of size n that is repeated r times is two dimensions, r with stride 0 and n. So this
/// is one copy of an expanded view. `ops::repeat_into` writes it to a given result.
///
/// # Errors
/// [`Error::RepeatRank`]; a result too large.
#[track_caller]
pub fn repeat<T: Element, K>(
    exec: &Exec,
    from: impl AsOperand<T>,
    times: impl Sizes,
) -> Result<TensorBase<T, K>> {
    let (from, times) = (from.as_operand(), times.into_shape()?);
    let reading = from.read()?;
    repeated(exec, &reading.elements().to_view(), &times)
}

#[track_caller]
fn repeated<T: Element, K>(
    exec: &Exec,
    from: &TensorViewBase<'_, T, K>,
    times: &[usize],
) -> Result<TensorBase<T, K>> {
    let (expanded, shape) = expanded(from, times)?;
    let layout = Layout::contiguous(expanded.shape())?;
    copied(exec, (&expanded).into(), layout, Purpose::requested("repeat"))?.view(&shape)
}

/// The elements with two dimensions for each of the result, and the shape of the result.
pub(crate) fn expanded<'v, T: Element, K>(
    from: &TensorViewBase<'v, T, K>,
    times: &[usize],
) -> Result<(TensorViewBase<'v, T, K>, DimVec<usize>)> {
    let Some(lead) = times.len().checked_sub(from.ndim()) else {
        return Err(Error::RepeatRank { given: times.len(), ndim: from.ndim() });
    };
    let size = |d: usize| d.checked_sub(lead).map_or(1, |own| from.shape()[own]);
    let mut paired = from.clone();
    let mut pairs = DimVec::new();
    let mut shape = DimVec::new();
    for (d, &count) in times.iter().enumerate() {
        let repeated = size(d).checked_mul(count).filter(|&n| isize::try_from(n).is_ok());
        let repeated = repeated.ok_or_else(|| too_large(times))?;
        pairs.extend([count, size(d)]);
        shape.push(repeated);
        // Leading dimensions that the input lacks are inserted with their repeats. For the others
        // only the repeats are inserted.
        let at = 2 * d as isize;
        paired =
            if d < lead { paired.unsqueeze(at)?.unsqueeze(at)? } else { paired.unsqueeze(at)? };
    }
    Ok((paired.broadcast_to(&pairs)?, shape))
}

fn too_large(times: &[usize]) -> Error {
    Error::TooLarge { what: "the number of elements", shape: times.to_vec(), strides: Vec::new() }
}
