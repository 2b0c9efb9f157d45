//! strided-perm: `copy_into`. It takes every layout; the caller allocates the result.

use std::hint::black_box;

use strided_perm::copy_into;
use strided_view::{StridedView, StridedViewMut};
use tensor_kernels::Layout;
use threadteam::Exec;

use super::Copies;
use crate::{
    Failure,
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
};

pub(super) struct StridedPerm;

impl Copies for StridedPerm {
    const NAME: &'static str = "strided-perm";

    fn preallocated<'a, T: Sample>(from: Strided<'a, T>, to: &'a mut [T]) -> Option<Contender<'a>> {
        let (elements, layout) = (from.elements(), from.layout());
        let (shape, offset) = (layout.shape(), layout.offset() as isize);
        let dense = Layout::contiguous(shape).ok()?;
        let from = StridedView::<T>::new(elements, shape, layout.strides(), offset).ok()?;
        let mut to = StridedViewMut::new(to, shape, dense.strides(), 0).ok()?;
        Some(Contender::new(move || {
            copy_into(black_box(&mut to), black_box(&from), Exec::serial()).map_err(Failure::work)
        }))
    }
}
