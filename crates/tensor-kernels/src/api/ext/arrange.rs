//! The methods that give the same elements under another layout: a view where possible.
//!
//! What makes a contiguous tensor copies a view always, because the result owns its memory.

use tensor_core::{Element, Error, Layout, MemoryFormat, Result, TensorBase, TensorViewBase};

use super::{Reshaped, ReshapedView, TensorExt};
use crate::{
    api::{
        copy::{contiguous_copy, format_copy, tensor_copy},
        copy_reason::CopyReason,
        ledger::Purpose,
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

/// A tensor under another layout, which `view` gives: of the tensor itself if strides can express
/// it, else of a copy.
#[track_caller]
pub(super) fn reshaped<T: Element, K>(
    x: &TensorBase<T, K>,
    op: &'static str,
    view: impl Fn(&TensorBase<T, K>) -> Result<TensorBase<T, K>>,
) -> Result<Reshaped<T, K>> {
    match view(x) {
        Ok(tensor) => Ok(Reshaped { tensor, copied: false }),
        Err(refused @ Error::NotViewable { .. }) => {
            let copy = tensor_copy(x, Purpose::new(op, CopyReason::of_refusal(&refused)))?;
            Ok(Reshaped { tensor: view(&copy)?, copied: true })
        }
        Err(refused) => Err(refused),
    }
}

/// The same of a view. `of_copy` gives the layout to a copy.
#[track_caller]
pub(super) fn reshaped_view<'a, T: Element, K>(
    x: &TensorViewBase<'a, T, K>,
    op: &'static str,
    view: impl Fn(&TensorViewBase<'a, T, K>) -> Result<TensorViewBase<'a, T, K>>,
    of_copy: impl Fn(&TensorBase<T, K>) -> Result<TensorBase<T, K>>,
) -> Result<ReshapedView<'a, T, K>> {
    match view(x) {
        Ok(view) => Ok(ReshapedView::View(view)),
        Err(refused @ Error::NotViewable { .. }) => {
            let purpose = Purpose::new(op, CopyReason::of_refusal(&refused));
            let copy = contiguous_copy(Exec::current()?, x.into(), purpose)?;
            of_copy(&copy).map(ReshapedView::Copy)
        }
        Err(refused) => Err(refused),
    }
}
