//! Tensor methods that write: in place, and from elsewhere.
//!
//! A tensor is written through a shared reference, as its storage is borrowed at run time. A
//! mutable view needs an exclusive one. So there are two traits with the same methods.

use tensor_core::{AsOperand, Element, Output, Result, TensorBase, TensorViewMutBase};

#[cfg(feature = "elementwise")]
use super::inplace::*;
use crate::{
    api::copy::{copy_between, fill},
    exec::Exec,
};

#[cfg(doc)]
use crate::{Error, TensorExt};

/// The operations that copy.
macro_rules! copies {
    ([$self:ident, ($($receiver:tt)+)]) => {
        /// Copies elements, broadcast, into this one (PyTorch: `copy_`).
        ///
        /// # Errors
        /// Shapes that do not broadcast; operands that share elements.
        #[track_caller]
        fn copy_from($($receiver)+, from: impl AsOperand<T>) -> Result<()> {
            copy_between(Exec::current()?, from, $self.target())
        }

        /// Writes one value to every element (PyTorch: `fill_`).
        ///
        /// # Errors
        /// [`Error::WriteOverlap`].
        #[track_caller]
        fn fill($($receiver)+, value: T) -> Result<()> {
            fill(Exec::current()?, $self.target(), value)
        }
    };
}

/// The operations that write to a tensor.
///
/// A tensor is written through a shared reference: its storage is borrowed while an operation runs.
/// Every method fails with [`Error::Borrowed`] if it is borrowed otherwise.
///
/// ```
/// use tensor_kernels::prelude::*;
///
/// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
/// x.select(0, 0)?.mul_inplace(10.0)?;
/// x.t()?.add_inplace(&tensor![0.5f32, 0.25])?;
/// assert_eq!(x.to_vec()?, [10.5, 20.5, 3.25, 4.25]);
/// # Ok::<(), Error>(())
/// ```
pub trait TensorMutExt<T: Element> {
    /// This tensor as a result of [`ops`].
    fn target(&self) -> Output<'_, T>;

    copies! { [self, (&self)] }
    #[cfg(feature = "elementwise")]
    inplace_methods! { [self, (&self)] shared_unary shared_binary shared_ternary }
}

impl<T: Element, K> TensorMutExt<T> for TensorBase<T, K> {
    fn target(&self) -> Output<'_, T> {
        self.into()
    }
}

/// The operations that write to a mutable view: those of [`TensorMutExt`].
///
/// ```
/// use tensor_kernels::prelude::*;
///
/// let mut pixels = [0.5f32, 1.0, 1.5, 2.0];
/// let mut view = TensorViewMut::new(&mut pixels, Layout::contiguous(&[2, 2])?)?;
/// view.mul_inplace(2.0)?;
/// view.add_inplace(&tensor![10.0f32, 20.0])?;
/// assert_eq!(pixels, [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait TensorViewMutExt<T: Element> {
    /// This view as a result of [`ops`].
    fn target(&mut self) -> Output<'_, T>;

    copies! { [self, (&mut self)] }
    #[cfg(feature = "elementwise")]
    inplace_methods! { [self, (&mut self)] exclusive_unary exclusive_binary exclusive_ternary }
}

impl<T: Element, K> TensorViewMutExt<T> for TensorViewMutBase<'_, T, K> {
    fn target(&mut self) -> Output<'_, T> {
        self.into()
    }
}
