//! This library's copy by bytes, as one of the libraries that a typed copy is raced against: it
//! should take the same time.

use tensor_kernels::{ByteView, ByteViewMut, Exec, Layout, copy_bytes};

use super::{NAME_OF_BYTES, Peer};
use crate::{
    Failure,
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
};

pub(super) fn peer<T: Sample>() -> Peer<T, T> {
    Peer { name: NAME_OF_BYTES, preallocated, allocating: |_, _| None }
}

/// `None` for bools, whose memory cannot be borrowed as bytes.
fn preallocated<'a, T: Sample>(from: &[Strided<'a, T>], to: &'a mut [T]) -> Option<Contender<'a>> {
    let [from] = from else { return None };
    let exec = Exec::current().ok()?.serial();
    let layout = Layout::contiguous(from.layout().shape()).ok()?;
    let to = ByteViewMut::new(T::bytes_mut(to)?, size_of::<T>(), layout);
    let elements = bytemuck::cast_slice(from.elements());
    let from = ByteView::new(elements, size_of::<T>(), from.layout().clone());
    let (from, mut to) = (from.ok()?, to.ok()?);
    Some(Contender::new(move || copy_bytes(&exec, &from, &mut to).map_err(Failure::from)))
}
