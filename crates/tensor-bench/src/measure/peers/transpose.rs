//! transpose: transposes whole matrices, and takes no other layout.

use std::hint::black_box;

use transpose::transpose;

use super::Copies;
use crate::{
    Failure,
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
};

pub(super) struct Transpose;

impl Copies for Transpose {
    const NAME: &'static str = "transpose";

    fn preallocated<'a, T: Sample>(from: Strided<'a, T>, to: &'a mut [T]) -> Option<Contender<'a>> {
        let layout = from.layout();
        let (&[rows, columns], &[1, stride]) = (layout.shape(), layout.strides()) else {
            return None;
        };
        if usize::try_from(stride) != Ok(rows) {
            return None;
        }
        let from = &from.elements()[layout.offset()..][..layout.numel()];
        Some(Contender::new(move || {
            transpose(black_box(from), black_box(&mut *to), rows, columns);
            Ok::<_, Failure>(())
        }))
    }
}
