//! The view operations and the queries, for tensors of run-time dtypes. They concern the layout
//! alone, so nothing here depends on the element type.

use super::{AnyTensorBase, AnyValue, BuiltIn};
#[cfg(doc)]
use crate::{Layout, MovementError};
use crate::{
    Lint, Result, Sizes, Storage, TensorBase, WhyNotContiguous, WhyNotView,
    dtype::for_each_dtype,
    methods::{argument_type, for_each_split, for_each_view},
};

/// An expression of the typed tensor.
macro_rules! on_variant {
    ([$any:expr, $tensor:ident => $value:expr]
     $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        match $any {
            $($(#[$gate])* AnyTensorBase::$variant($tensor) => $value,)*
        }
    };
}

pub(super) use on_variant;

/// The view operations, by the methods of the same names of [`Layout`].
macro_rules! any_views {
    ($($name:ident($($arg:ident: $kind:ident),*) $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
        pub fn $name(&self, $($arg: argument_type!($kind)),*) -> Result<Self> {
            self.with_layout(self.layout().$name($($arg),*)?)
        }
    )*};
}

/// The operations that return several views.
macro_rules! any_splits {
    ($($name:ident($($arg:ident: $kind:ident),*) $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
        pub fn $name(&self, $($arg: argument_type!($kind)),*) -> Result<Vec<Self>> {
            let parts = self.layout().$name($($arg),*)?;
            parts.into_iter().map(|layout| self.with_layout(layout)).collect()
        }
    )*};
}

impl<K> AnyTensorBase<K> {
    for_each_view! { any_views => }
    for_each_split! { any_splits => }

    /// The same storage under sizes and non-negative strides (PyTorch: `as_strided`). The offset
    /// defaults to this tensor's.
    ///
    /// # Errors
    /// Negative strides, lengths that differ, elements outside the storage.
    pub fn as_strided(
        &self,
        shape: impl Sizes,
        strides: impl Sizes,
        offset: Option<usize>,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, strides.into_sizes()?);
        self.with_layout(self.layout().as_strided(&shape, &strides, offset)?)
    }

    /// The sizes (PyTorch: `size()`).
    pub fn shape(&self) -> &[usize] {
        self.layout().shape()
    }

    /// The strides, in elements (PyTorch: `stride()`).
    pub fn strides(&self) -> &[isize] {
        self.layout().strides()
    }

    /// The offset of the first element, in elements (PyTorch: `storage_offset()`).
    pub fn storage_offset(&self) -> usize {
        self.layout().offset()
    }

    /// The number of dimensions (PyTorch: `dim()`).
    pub fn ndim(&self) -> usize {
        self.layout().ndim()
    }

    /// The number of elements (PyTorch: `numel()`).
    pub fn numel(&self) -> usize {
        self.layout().numel()
    }

    /// The width of one element in bytes (PyTorch: `itemsize`).
    pub fn itemsize(&self) -> usize {
        self.dtype().size()
    }

    /// Does memory order equal logical order? (PyTorch: `is_contiguous()`)
    pub fn is_contiguous(&self) -> bool {
        self.layout().is_contiguous()
    }

    /// Why [`view`](Self::view) refuses a shape; see [`Layout::why_not_view`].
    ///
    /// # Errors
    /// Those of [`Layout::why_not_view`].
    pub fn why_not_view(&self, sizes: impl Sizes) -> Result<Option<WhyNotView>> {
        let why = self.layout().why_not_view(&sizes.into_sizes()?)?;
        Ok(why.map(|why| why.in_bytes(self.itemsize())))
    }

    /// Why it is not contiguous; see [`Layout::why_not_contiguous`].
    pub fn why_not_contiguous(&self) -> Option<WhyNotContiguous> {
        self.layout().why_not_contiguous().map(|why| why.in_bytes(self.itemsize()))
    }

    /// What is slow about the strides; see [`Layout::lints`].
    pub fn lints(&self) -> Vec<Lint> {
        self.layout().lints(self.itemsize())
    }

    /// The storage (PyTorch: `untyped_storage()`).
    pub fn storage(&self) -> &Storage {
        for_each_dtype!(on_variant, self, tensor => tensor.storage())
    }

    /// Do both view the same storage?
    pub fn same_storage<L>(&self, other: &AnyTensorBase<L>) -> bool {
        self.storage().same(other.storage())
    }

    /// The typed tensor, if its elements are of type `T`.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// let any = AnyTensor::zeros([2, 3], DType::F32)?;
    /// assert_eq!(any.typed::<f32>().map(|t| t.numel()), Some(6));
    /// assert!(any.typed::<f64>().is_none());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn typed<T: BuiltIn>(&self) -> Option<&TensorBase<T, K>> {
        T::tensor_of(self)
    }

    /// The element at `index`.
    ///
    /// # Errors
    /// An index of another length than the rank or beyond a size; a storage that is being written.
    pub fn get(&self, index: &[usize]) -> Result<AnyValue> {
        for_each_dtype!(on_variant, self, tensor => tensor.get(index).map(Into::into))
    }

    /// Writes the element at `index`, converted to the dtype; see [`AnyValue::checked_to`].
    ///
    /// # Errors
    /// [`DTypeError::ValueOverflow`](crate::DTypeError::ValueOverflow); an index of another length
    /// than the rank or beyond a size; a storage that is borrowed.
    pub fn set(&self, index: &[usize], value: impl Into<AnyValue>) -> Result<()> {
        let value = value.into();
        for_each_dtype!(on_variant, self, tensor => tensor.set(index, value.checked_to()?))
    }

    /// The value of the only element (PyTorch: `item()`).
    ///
    /// # Errors
    /// [`MovementError::NotOneElement`] for another number of elements.
    pub fn item(&self) -> Result<AnyValue> {
        for_each_dtype!(on_variant, self, tensor => tensor.item().map(Into::into))
    }
}
