//! The methods that give the same elements under another layout: of a tensor a view of its storage
//! where possible, of a view always a copy, because the result owns its memory.

use tensor_core::{Element, Error, Layout, MemoryFormat, Result, TensorBase};

use super::{Reshaped, TensorExt};
use crate::{
    api::{
        copy::{contiguous_copy, format_copy, tensor_copy},
        ledger::{CopyReason, Purpose},
        rearrange,
    },
    exec::Exec,
};

/// A contiguous copy in a new tensor.
#[track_caller]
pub(super) fn copied<T: Element, K>(
    x: &impl TensorExt<T, K>,
    purpose: Purpose,
) -> Result<TensorBase<T, K>> {
    contiguous_copy(Exec::current()?, x.operand().read()?.elements(), purpose)
}

/// A contiguous copy of a view, which is made because the result owns its memory.
#[track_caller]
fn owned<T: Element, K>(x: &impl TensorExt<T, K>, op: &'static str) -> Result<TensorBase<T, K>> {
    copied(x, Purpose::new(op, CopyReason::OfView))
}

#[track_caller]
pub(super) fn contiguous<T: Element, K>(x: &impl TensorExt<T, K>) -> Result<TensorBase<T, K>> {
    match x.as_tensor() {
        Some(tensor) if tensor.is_contiguous() => Ok(tensor.clone()),
        Some(tensor) => tensor_copy(tensor, Purpose::contiguous("contiguous")),
        None => owned(x, "contiguous"),
    }
}

#[track_caller]
pub(super) fn to_contiguous<T: Element, K>(
    x: &impl TensorExt<T, K>,
    format: MemoryFormat,
) -> Result<TensorBase<T, K>> {
    if format == MemoryFormat::Preserve {
        return Err(Error::PreserveFormat);
    }
    let reason = match x.as_tensor() {
        Some(tensor) if tensor.layout().is_contiguous_as(format) => return Ok(tensor.clone()),
        Some(_) => CopyReason::NotInFormat(format),
        None => CopyReason::OfView,
    };
    let purpose = Purpose::new("to_contiguous", reason);
    format_copy(Exec::current()?, x.operand().read()?.elements(), format, purpose)
}

#[track_caller]
pub(super) fn contiguous_canonical<T: Element, K>(
    x: &impl TensorExt<T, K>,
) -> Result<TensorBase<T, K>> {
    match x.as_tensor() {
        Some(tensor) if tensor.is_contiguous() => {
            let strides = Layout::contiguous(tensor.shape())?;
            let (shape, offset) = (tensor.shape(), tensor.storage_offset());
            tensor.with_layout(Layout::new(shape, strides.strides(), offset)?)
        }
        _ => contiguous(x),
    }
}

/// Under another layout, which `view` gives to a tensor: of the tensor itself if strides can
/// express it, else of a copy. `check` refuses, before anything is copied, what no layout can have.
#[track_caller]
pub(super) fn reshaped<T: Element, K>(
    x: &impl TensorExt<T, K>,
    op: &'static str,
    view: impl Fn(&TensorBase<T, K>) -> Result<TensorBase<T, K>>,
    check: impl Fn(&Layout) -> Result<Layout>,
) -> Result<Reshaped<T, K>> {
    let copy = match x.as_tensor().map(|tensor| (tensor, view(tensor))) {
        Some((_, Ok(tensor))) => return Ok(Reshaped { tensor, copied: false }),
        Some((tensor, Err(refused @ Error::NotViewable { .. }))) => {
            tensor_copy(tensor, Purpose::new(op, CopyReason::of_refusal(&refused)))?
        }
        Some((_, Err(refused))) => return Err(refused),
        None => {
            check(&Layout::contiguous(x.operand().shape())?)?;
            owned(x, op)?
        }
    };
    Ok(Reshaped { tensor: view(&copy)?, copied: true })
}

/// Rearranged or repeated by a pattern.
#[track_caller]
pub(super) fn rearranged<T: Element, K>(
    x: &impl TensorExt<T, K>,
    pattern: &rearrange::Pattern,
    sizes: &[(&str, usize)],
) -> Result<Reshaped<T, K>> {
    let exec = Exec::current()?;
    match x.as_tensor() {
        Some(tensor) => rearrange::rearranged(exec, tensor, pattern, sizes),
        None => {
            let view = x.operand();
            let reading = view.read()?;
            rearrange::rearranged_copy(exec, &reading.elements().to_view(), pattern, sizes)
        }
    }
}
