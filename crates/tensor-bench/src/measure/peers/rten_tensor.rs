//! rten-tensor: `copy_from` and `to_tensor`. Its strides are unsigned.

use std::hint::black_box;

use rten_tensor::{AsView, TensorView, TensorViewMut};

use super::{Copies, Look};
use crate::{
    Failure,
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
};

pub(super) struct RtenTensor;

impl Copies for RtenTensor {
    const NAME: &'static str = "rten-tensor";

    fn preallocated<'a, T: Sample>(from: Strided<'a, T>, to: &'a mut [T]) -> Option<Contender<'a>> {
        let mut to = TensorViewMut::from_data(from.layout().shape(), to);
        let from = view(from)?;
        Some(Contender::new(move || {
            black_box(&mut to).copy_from(black_box(&from));
            Ok::<_, Failure>(())
        }))
    }

    fn allocating<'a, T: Sample>(from: Strided<'a, T>, look: Look<'a, T>) -> Option<Contender<'a>> {
        let from = view(from)?;
        Some(Contender::new(move || {
            look(black_box(&from).to_tensor().data().unwrap_or_default());
            Ok::<_, Failure>(())
        }))
    }
}

fn view<T>(of: Strided<'_, T>) -> Option<TensorView<'_, T>> {
    let layout = of.layout();
    let strides: Option<Vec<usize>> =
        layout.strides().iter().map(|&stride| usize::try_from(stride).ok()).collect();
    let elements = &of.elements()[layout.offset()..];
    TensorView::from_slice_with_strides(layout.shape(), elements, &strides?).ok()
}
