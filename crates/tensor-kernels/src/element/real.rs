//! Real floating-point numbers: the bound of most generic code.

use tensor_core::ViewRef;

use super::{Inexact, Ordered};
use crate::math::FmaMode;

/// Real floating-point numbers.
///
/// The bound of generic code: it has literals ([`from_f64`](Self::from_f64),
/// [`ZERO`](tensor_core::Scalar::ZERO), [`ONE`](tensor_core::Scalar::ONE)), the operators of
/// numbers, and every operation of tensors and views of them.
///
/// ```
/// use tensor_kernels::{Real, prelude::*};
///
/// /// The elements, moved and scaled to lie from −1 to 1.
/// fn scaled<T: Real>(x: &TensorView<'_, T>) -> Result<Tensor<T>, Error> {
///     let (least, most) = (x.min_all()?, x.max_all()?);
///     Ok((x - least) * (T::from_f64(2.0) / (most - least)) - T::ONE)
/// }
///
/// let x = tensor![[1.0f32, 3.0], [2.0, 5.0]];
/// assert_eq!(scaled(&x.read()?.as_view())?.to_vec()?, [-1.0, 0.0, -0.5, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Real: Inexact + Ordered {
    /// The type in which rows are computed: the type itself, but f32 for f16 and bf16.
    type Wide: Real<Wide = Self::Wide>;

    /// The number in the wide type.
    #[must_use]
    fn widened(self) -> Self::Wide;
    /// The number rounded from the wide type.
    #[must_use]
    fn narrowed(wide: Self::Wide) -> Self;
    /// The same elements, if the wide type is the type itself.
    #[must_use]
    fn wide_elements(elements: ViewRef<'_, Self>) -> Option<ViewRef<'_, Self::Wide>>;
    /// The same elements, if the wide type is the type itself.
    #[must_use]
    fn narrow_elements(elements: ViewRef<'_, Self::Wide>) -> Option<ViewRef<'_, Self>>;
    /// The nearest number of this type.
    #[must_use]
    fn from_f64(number: f64) -> Self;
    /// The number in double precision.
    #[must_use]
    fn to_f64(self) -> f64;

    /// The angle of the point (x, self), from −π to π.
    #[must_use]
    fn atan2_with<M: FmaMode>(self, x: Self) -> Self;
    /// The number times the standard normal distribution function of it.
    #[must_use]
    fn gelu_with<M: FmaMode>(self) -> Self;
    /// `self / (1 + e^−self)`.
    #[must_use]
    fn silu_with<M: FmaMode>(self) -> Self;
}
