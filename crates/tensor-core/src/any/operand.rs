//! What operations on tensors of run-time dtypes read and write: tensors of any kind, views, single
//! values, slices.

use super::{AnyTensorBase, AnyValue, BuiltIn};
use crate::{
    AsOperand, DType, Int, Layout, Operand, Output, Result, Scalar, TensorBase, TensorView,
    TensorViewBase, TensorViewMutBase, dtype::for_each_dtype,
};

/// An input of an operation on tensors of run-time dtypes: a tensor, typed or not, a view, or one
/// value.
///
/// A value is of any built-in element type, whose category alone takes part in promotion; see
/// [`result_type`](crate::result_type).
pub enum AnyOperand<'a, K> {
    /// A tensor.
    Tensor(&'a AnyTensorBase<K>),
    /// A handle to the storage of a typed tensor.
    Handle(AnyTensorBase<K>),
    /// A view.
    View(AnyInput<'a>),
    /// One value.
    Value(AnyValue),
}

impl<K> AnyOperand<'_, K> {
    /// The tensor; `None` if it is a view or a value.
    pub fn tensor(&self) -> Option<&AnyTensorBase<K>> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Handle(tensor) => Some(tensor),
            Self::View(_) | Self::Value(_) => None,
        }
    }

    /// The elements, by their dtype; `None` if it is a value.
    pub fn input(&self) -> Option<AnyInput<'_>> {
        match self {
            Self::Tensor(tensor) => Some(tensor.input()),
            Self::Handle(tensor) => Some(tensor.input()),
            Self::View(view) => Some(view.clone()),
            Self::Value(_) => None,
        }
    }

    /// The same operand, borrowed.
    pub fn reborrow(&self) -> AnyOperand<'_, K> {
        match self {
            Self::Tensor(tensor) => AnyOperand::Tensor(tensor),
            Self::Handle(tensor) => AnyOperand::Tensor(tensor),
            Self::View(view) => AnyOperand::View(view.clone()),
            Self::Value(value) => AnyOperand::Value(*value),
        }
    }

    /// The sizes; none for a value.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Tensor(tensor) => tensor.shape(),
            Self::Handle(tensor) => tensor.shape(),
            Self::View(view) => view.layout().shape(),
            Self::Value(_) => &[],
        }
    }

    /// The dtype; that of a value is the default of its category.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Tensor(tensor) => tensor.dtype(),
            Self::Handle(tensor) => tensor.dtype(),
            Self::View(view) => view.dtype(),
            Self::Value(value) => value.default_dtype(),
        }
    }
}

impl<'a, K> From<&'a AnyTensorBase<K>> for AnyOperand<'a, K> {
    fn from(tensor: &'a AnyTensorBase<K>) -> Self {
        Self::Tensor(tensor)
    }
}

impl<K> From<AnyTensorBase<K>> for AnyOperand<'_, K> {
    fn from(tensor: AnyTensorBase<K>) -> Self {
        Self::Handle(tensor)
    }
}

impl<K> From<AnyValue> for AnyOperand<'_, K> {
    fn from(value: AnyValue) -> Self {
        Self::Value(value)
    }
}

macro_rules! operands {
    ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        /// The elements that an operation reads, of a dtype known at run time: those of a tensor,
        /// which is not borrowed yet, or of a view.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "a variant is named after its element type")]
        pub enum AnyInput<'a> {
            $($(#[$gate])* #[non_exhaustive] $variant(Operand<'a, $type>),)*
        }

        /// The output of an operation, of a dtype known at run time: a tensor, a mutable view, or a
        /// slice or vector with as many elements as the result. The result is converted to it.
        ///
        /// ```
        /// # use tensor_core as tensor_kernels;
        /// use tensor_kernels::{AnyOutput, AnyTensor, DType, Tensor};
        ///
        /// let (any, typed) = (AnyTensor::zeros([2], DType::F16)?, Tensor::full([2], 1u8)?);
        /// let mut numbers = vec![0.5f64; 2];
        /// assert_eq!(AnyOutput::from(&any).dtype(), DType::F16);
        /// assert_eq!(AnyOutput::from(&typed).dtype(), DType::U8);
        /// assert_eq!(AnyOutput::from(&mut numbers).dtype(), DType::F64);
        /// # Ok::<(), tensor_core::Error>(())
        /// ```
        #[derive(Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "a variant is named after its element type")]
        pub enum AnyOutput<'a> {
            $($(#[$gate])* $variant(Output<'a, $type>),)*
        }

        impl AnyInput<'_> {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self {
                    $($(#[$gate])* Self::$variant(_) => <$type>::DTYPE,)*
                }
            }

            /// Sizes, strides and offset.
            pub fn layout(&self) -> &Layout {
                match self {
                    $($(#[$gate])* Self::$variant(operand) => layout_of(operand),)*
                }
            }

            /// The first element.
            ///
            /// # Errors
            /// No elements; a storage that is being written.
            pub fn first(&self) -> Result<AnyValue> {
                match self {
                    $(
                        $(#[$gate])*
                        Self::$variant(operand) => {
                            let reading = operand.read()?;
                            let view: TensorView<'_, $type> = reading.elements().to_view();
                            view.get(&vec![0; view.ndim()]).map(Into::into)
                        }
                    )*
                }
            }
        }

        impl AnyOutput<'_> {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self {
                    $($(#[$gate])* Self::$variant(_) => <$type>::DTYPE,)*
                }
            }

            /// The sizes; those of a slice are its length.
            pub fn shape(&self) -> &[usize] {
                match self {
                    $($(#[$gate])* Self::$variant(out) => out.shape(),)*
                }
            }

            /// Is it a slice or a vector, which has no shape of its own?
            pub fn is_slice(&self) -> bool {
                match self {
                    $($(#[$gate])* Self::$variant(out) => out.is_slice(),)*
                }
            }
        }

        impl<K> AnyTensorBase<K> {
            /// The elements as an input of operations.
            pub fn input(&self) -> AnyInput<'_> {
                match self {
                    $($(#[$gate])* Self::$variant(tensor) => AnyInput::$variant(tensor.into()),)*
                }
            }

            /// Calls `f` with two parts of the tensor along a dimension, the first `at` indices and
            /// the rest, as outputs that can be written at the same time, and returns what `f`
            /// returns.
            ///
            /// ```
            /// # use tensor_core as tensor_kernels;
            /// use tensor_kernels::{AnyTensor, DType};
            ///
            /// let grid = AnyTensor::zeros([4, 3], DType::F32)?;
            /// grid.split_at_mut(0, 1, |top, rest| {
            ///     // Each may be the result of an operation, on a thread of its own.
            ///     assert_eq!((top.shape(), rest.shape()), (&[1, 3][..], &[3, 3][..]));
            ///     assert!(grid.get(&[0, 0]).is_err()); // it is being written
            /// })?;
            /// # Ok::<(), tensor_core::Error>(())
            /// ```
            ///
            /// The tensor is borrowed for writing until `f` returns, as by
            /// [`TensorBase::split_at_mut`].
            ///
            /// # Errors
            /// Those of [`TensorBase::split_at_mut`]; `f` is not called then.
            pub fn split_at_mut<R>(
                &self,
                dim: impl Int,
                at: usize,
                f: impl FnOnce(AnyOutput<'_>, AnyOutput<'_>) -> R,
            ) -> Result<R> {
                match self {
                    $(
                        $(#[$gate])*
                        Self::$variant(tensor) => tensor.split_at_mut(dim, at, |mut a, mut b| {
                            f(AnyOutput::from(&mut a), AnyOutput::from(&mut b))
                        }),
                    )*
                }
            }
        }

        impl<'a, K> From<&'a AnyTensorBase<K>> for AnyOutput<'a> {
            fn from(tensor: &'a AnyTensorBase<K>) -> Self {
                match tensor {
                    $(
                        $(#[$gate])*
                        AnyTensorBase::$variant(tensor) => Self::$variant(tensor.into()),
                    )*
                }
            }
        }

        impl<'a, K> From<&'a mut AnyTensorBase<K>> for AnyOutput<'a> {
            fn from(tensor: &'a mut AnyTensorBase<K>) -> Self {
                (&*tensor).into()
            }
        }

        $(
            $(#[$gate])*
            impl<K> From<$type> for AnyOperand<'_, K> {
                fn from(value: $type) -> Self {
                    Self::Value(value.into())
                }
            }

            $(#[$gate])*
            impl<K> From<TensorBase<$type, K>> for AnyOperand<'_, K> {
                fn from(tensor: TensorBase<$type, K>) -> Self {
                    Self::Handle(tensor.into())
                }
            }

            $(#[$gate])*
            impl<K> From<&TensorBase<$type, K>> for AnyOperand<'_, K> {
                fn from(tensor: &TensorBase<$type, K>) -> Self {
                    Self::Handle(tensor.clone().into())
                }
            }

            $(#[$gate])*
            operands! { @views $variant $type: TensorViewBase TensorViewMutBase }
            $(#[$gate])*
            operands! {
                @outputs $variant $type:
                [K] TensorBase<$type, K>, [K] TensorViewMutBase<'_, $type, K>, [] [$type],
                [const N: usize] [$type; N], [] Vec<$type>
            }

            $(#[$gate])*
            impl<'a, K> From<&'a TensorBase<$type, K>> for AnyOutput<'a> {
                fn from(tensor: &'a TensorBase<$type, K>) -> Self {
                    Self::$variant(tensor.into())
                }
            }
        )*
    };

    (@views $variant:ident $type:ty: $($view:ident)*) => {$(
        impl<'a, K, L> From<&'a $view<'_, $type, L>> for AnyOperand<'a, K> {
            fn from(view: &'a $view<'_, $type, L>) -> Self {
                Self::View(AnyInput::$variant(view.as_operand()))
            }
        }
    )*};

    (@outputs $variant:ident $type:ty:
     $([$($generic:tt)*] $output:ty),*) => {$(
        impl<'a, $($generic)*> From<&'a mut $output> for AnyOutput<'a> {
            fn from(output: &'a mut $output) -> Self {
                Self::$variant(output.into())
            }
        }
    )*};
}

for_each_dtype!(operands);

impl<'a> AnyInput<'a> {
    /// The typed operand, if its elements are of type `T`.
    ///
    /// # Errors
    /// This input, if they are not.
    pub fn typed<T: BuiltIn>(self) -> std::result::Result<Operand<'a, T>, Self> {
        T::operand_of(self)
    }
}

impl<'a> AnyOutput<'a> {
    /// The typed output, if its elements are of type `T`.
    ///
    /// # Errors
    /// This output, if they are not.
    pub fn typed<T: BuiltIn>(self) -> std::result::Result<Output<'a, T>, Self> {
        T::output_of(self)
    }
}

/// The layout of a tensor or a view.
fn layout_of<'s, T: Scalar>(operand: &'s Operand<'_, T>) -> &'s Layout {
    match operand {
        Operand::Tensor(tensor) => tensor.layout(),
        Operand::View(elements) => elements.layout(),
        Operand::Value(_) => unreachable!("an input is made of tensors and views only"),
    }
}
