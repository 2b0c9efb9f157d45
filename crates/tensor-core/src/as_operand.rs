//! What converts to an operand: tensors, views and values.

use crate::{Element, Handle, Operand, TensorBase, TensorViewBase, TensorViewMutBase, ViewRef};

/// What can be an operand on either side of an operator: a tensor, a view or a single value, by
/// reference or by value.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{AsOperand, Tensor};
///
/// fn rank<T>(x: impl AsOperand<T>) -> usize
/// where
///     T: tensor_kernels::Element,
/// {
///     x.as_operand().shape().len()
/// }
///
/// let x = Tensor::full([2, 3], 1.5)?;
/// assert_eq!((rank(&x), rank(&x.read()?.as_view()), rank(1.5)), (2, 2, 0));
/// assert_eq!(rank(x.t()?), 2);
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of elements `{T}`",
    note = "an operand is a tensor, a view or one value, of the other operand's element type",
    note = "a value is written with that type, as `2.0` of floats; the elements of a tensor are \
            converted by `cast`"
)]
pub trait AsOperand<T> {
    /// The operand.
    fn as_operand(&self) -> Operand<'_, T>;
}

impl<T: Element> AsOperand<T> for T {
    #[inline]
    fn as_operand(&self) -> Operand<'_, T> {
        Operand::Value(*self)
    }
}

/// Operands that refer to a tensor or a view.
macro_rules! operands {
    ($($type:ty: |$of:ident| $operand:expr;)*) => {$(
        impl<T: Element, K> AsOperand<T> for $type {
            #[inline]
            fn as_operand(&self) -> Operand<'_, T> {
                let $of = self;
                $operand
            }
        }

        impl<T: Element, K> AsOperand<T> for &$type {
            #[inline]
            fn as_operand(&self) -> Operand<'_, T> {
                (**self).as_operand()
            }
        }

        impl<'a, T: Element, K> From<&'a $type> for Operand<'a, T> {
            #[inline]
            fn from(operand: &'a $type) -> Self {
                operand.as_operand()
            }
        }
    )*};
}

operands! {
    TensorBase<T, K>: |tensor| Operand::Tensor(Handle::of(tensor));
    TensorViewBase<'_, T, K>: |view| Operand::View(view.into());
    TensorViewMutBase<'_, T, K>: |view| Operand::View(view.into());
}

impl<T: Element> AsOperand<T> for Operand<'_, T> {
    #[inline]
    fn as_operand(&self) -> Operand<'_, T> {
        self.clone()
    }
}

impl<T: Element> AsOperand<T> for ViewRef<'_, T> {
    #[inline]
    fn as_operand(&self) -> Operand<'_, T> {
        Operand::View(*self)
    }
}

impl<'a, T> From<ViewRef<'a, T>> for Operand<'a, T> {
    fn from(elements: ViewRef<'a, T>) -> Self {
        Self::View(elements)
    }
}

impl<T: Element> From<T> for Operand<'_, T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}
