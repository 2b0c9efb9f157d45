//! The element types of a view and of its copy: the same, or bytes and floats for the photograph.

use std::marker::PhantomData;

use tensor_kernels::{
    Accumulate, DType, Exec, Layout, Tensor, TensorExt, TensorView, TensorViewMut, copy_into,
    elementwise_path, map_into,
};

use crate::{cases::sample::Sample, measure::setting};

/// An element type whose sums can be checked. Every [`Sample`] is one.
pub trait Summed: Sample + Accumulate<Sum: Sample> {}

impl<T: Sample + Accumulate<Sum: Sample>> Summed for T {}

/// How a copy changes the element type.
pub trait Conversion {
    /// The elements of the view.
    type From: Summed;
    /// The elements of the copy.
    type To: Summed;

    /// The element type of the view.
    const FROM: DType = <Self::From as tensor_kernels::Scalar>::DTYPE;
    /// The element type of the copy.
    const TO: DType = <Self::To as tensor_kernels::Scalar>::DTYPE;

    /// Converts one element.
    fn convert(x: Self::From) -> Self::To;

    /// The elementwise pass for one element of the view; that of [`Same`] is used over the copy.
    fn pass(x: Self::From) -> Self::To {
        Self::convert(x).affine()
    }

    /// A copy with a preallocated result.
    fn copy_into(
        exec: &Exec,
        from: &TensorView<'_, Self::From>,
        to: &mut TensorViewMut<'_, Self::To>,
    ) -> crate::Result<()>;

    /// A newly allocated contiguous copy.
    fn allocating(view: &Tensor<Self::From>) -> crate::Result<Tensor<Self::To>>;

    /// The path of the copy.
    fn path(exec: &Exec, layout: &Layout) -> crate::Result<String>;
}

/// No conversion.
pub struct Same<T>(PhantomData<T>);

impl<T: Summed> Conversion for Same<T> {
    type From = T;
    type To = T;

    fn convert(x: T) -> T {
        x
    }

    fn copy_into(
        exec: &Exec,
        from: &TensorView<'_, T>,
        to: &mut TensorViewMut<'_, T>,
    ) -> crate::Result<()> {
        Ok(copy_into(exec, from, to)?)
    }

    fn allocating(view: &Tensor<T>) -> crate::Result<Tensor<T>> {
        Ok(view.contiguous()?)
    }

    fn path(exec: &Exec, layout: &Layout) -> crate::Result<String> {
        Ok(setting::copy_path(exec, layout, size_of::<T>())?.to_owned())
    }
}

/// Bytes to floats, as in image pipelines.
pub struct BytesToFloats;

impl Conversion for BytesToFloats {
    type From = u8;
    type To = f32;

    fn convert(x: u8) -> f32 {
        f32::from(x)
    }

    fn copy_into(
        exec: &Exec,
        from: &TensorView<'_, u8>,
        to: &mut TensorViewMut<'_, f32>,
    ) -> crate::Result<()> {
        Ok(map_into(exec, from, to, Self::convert)?)
    }

    fn allocating(view: &Tensor<u8>) -> crate::Result<Tensor<f32>> {
        let allocating = Tensor::zeros(view.shape())?;
        Self::copy_into(
            Exec::current()?,
            &view.read()?.as_view(),
            &mut allocating.write()?.as_view_mut()?,
        )?;
        Ok(allocating)
    }

    fn path(_: &Exec, layout: &Layout) -> crate::Result<String> {
        let result = Layout::contiguous(layout.shape())?;
        Ok(elementwise_path([&result, layout], [size_of::<f32>(), size_of::<u8>()])?.to_owned())
    }
}
