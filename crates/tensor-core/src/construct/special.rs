//! Constructors of tensors of a simple pattern: ones, the identity matrix, equal distances, and
//! tensors in the shape of another one. And the one element of a tensor that has only one.

use std::mem::MaybeUninit;

use crate::{
    Element, Layout, MovementError, Progression, Result, Scalar, Sizes, Storage, TensorBase,
    TensorViewBase, TensorViewMutBase, Uninit,
};

/// Ones, an identity, numbers at equal distances, and tensors like another one.
impl<T: Element, K> TensorBase<T, K> {
    /// A row-major tensor of ones (PyTorch: `ones`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::<f32>::ones([2])?.to_vec()?, [1.0, 1.0]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn ones(shape: impl Sizes) -> Result<Self>
    where
        T: Scalar,
    {
        Self::full(shape, T::ONE)
    }

    /// A matrix with ones on its main diagonal and zeros elsewhere (PyTorch: `eye`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::<i32>::eye(2, 3)?.to_vec()?, [1, 0, 0, 0, 1, 0]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape too large, or no memory.
    pub fn eye(rows: usize, columns: usize) -> Result<Self>
    where
        T: Scalar,
    {
        let matrix = Self::zeros([rows, columns])?;
        let diagonal = matrix.diagonal(0, 0, 1)?;
        diagonal.write()?.as_view_mut()?.iter_mut().for_each(|element| *element = T::ONE);
        Ok(matrix)
    }

    /// `steps` values from `start` to `end`, both included, at equal distances (PyTorch:
    /// `linspace`). They are computed in double precision and rounded once; of integers they are
    /// rounded towards 0.
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::linspace(0.0f32, 1.0, 5)?.to_vec()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// No memory.
    pub fn linspace(start: T, end: T, steps: usize) -> Result<Self>
    where
        T: Progression,
    {
        let mut at = 0;
        Self::from_fn(&[steps], |_| {
            at += 1;
            T::between(start, end, steps, at - 1)
        })
    }

    /// A tensor of zeros in the shape of this one (PyTorch: `zeros_like`). If this one is dense,
    /// the order of its dimensions in memory is kept.
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let x = Tensor::full([2, 3], 1.5)?.t()?;
    /// assert_eq!(x.zeros_like()?.strides(), [1, 3]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// No memory.
    pub fn zeros_like(&self) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        Self::zeroed_like(self.layout())
    }

    /// A tensor of ones in the shape of this one (PyTorch: `ones_like`); see
    /// [`zeros_like`](Self::zeros_like).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::full([2], 1.5)?.ones_like()?.to_vec()?, [1.0, 1.0]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// No memory.
    pub fn ones_like(&self) -> Result<Self>
    where
        T: Scalar,
    {
        self.full_like(T::ONE)
    }

    /// A tensor of one value in the shape of this one (PyTorch: `full_like`); see
    /// [`zeros_like`](Self::zeros_like).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// let x = Tensor::full([2, 3], 1.5)?.t()?;
    /// let same = x.full_like(7.0)?;
    /// assert_eq!((same.strides(), same.get(&[2, 1])?), (&[1, 3][..], 7.0));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// No memory.
    pub fn full_like(&self, value: T) -> Result<Self> {
        Self::full_of(self.layout().preserved()?, value)
    }

    /// Zeros in the shape of a layout; the order of its dimensions is kept if it is dense.
    fn zeroed_like(layout: &Layout) -> Result<Self>
    where
        T: bytemuck::Zeroable,
    {
        let layout = layout.preserved()?;
        let storage = Storage::zeroed(layout.dense_bytes(size_of::<T>())?, align_of::<T>())?;
        // SAFETY: tensor invariants. 1: the storage is aligned for `T`, and zero bytes are a valid
        // `T: Zeroable`. 2: it has the size of the dense layout.
        Ok(unsafe { Self::from_storage(storage, layout) })
    }

    /// A tensor of one value in a dense layout.
    pub(crate) fn full_of(layout: Layout, value: T) -> Result<Self> {
        let mut uninit = Uninit::new(Layout::contiguous([layout.numel()])?)?;
        let mut view = uninit.as_view_mut();
        view.as_slice_mut().unwrap_or_default().fill(MaybeUninit::new(value));
        // SAFETY: `fill` wrote every element: one dimension is contiguous.
        let elements: Self = unsafe { uninit.assume_init() };
        elements.with_layout(layout)
    }

    /// The element of a tensor that has only one, of any rank (PyTorch: `item()`).
    ///
    /// ```
    /// # use tensor_core::Tensor;
    /// assert_eq!(Tensor::full([1, 1], 1.5)?.item()?, 1.5);
    /// assert!(Tensor::full([2], 1.5)?.item().is_err());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of elements ([`Error::Movement`](crate::Error::Movement)); a storage that is
    /// being written.
    pub fn item(&self) -> Result<T> {
        self.read()?.as_view().item()
    }
}

/// What views have of the above: the results are tensors.
macro_rules! of_views {
    ($($view:ident)*) => {$(
        impl<T: Element, K> $view<'_, T, K> {
            /// A tensor of zeros in the shape of this view (PyTorch: `zeros_like`). If the view is
            /// dense, the order of its dimensions in memory is kept.
            ///
            /// # Errors
            /// No memory.
            pub fn zeros_like(&self) -> Result<TensorBase<T, K>>
            where
                T: bytemuck::Zeroable,
            {
                TensorBase::zeroed_like(self.layout())
            }

            /// A tensor of ones in the shape of this view (PyTorch: `ones_like`).
            ///
            /// # Errors
            /// No memory.
            pub fn ones_like(&self) -> Result<TensorBase<T, K>>
            where
                T: Scalar,
            {
                self.full_like(T::ONE)
            }

            /// A tensor of one value in the shape of this view (PyTorch: `full_like`).
            ///
            /// # Errors
            /// No memory.
            pub fn full_like(&self, value: T) -> Result<TensorBase<T, K>> {
                TensorBase::full_of(self.layout().preserved()?, value)
            }

            /// The element of a view that has only one, of any rank (PyTorch: `item()`).
            ///
            /// # Errors
            /// Another number of elements ([`Error::Movement`](crate::Error::Movement)).
            pub fn item(&self) -> Result<T> {
                match self.iter().next() {
                    Some(element) if self.numel() == 1 => Ok(element),
                    _ => {
                        let (numel, shape) = (self.numel(), self.shape().to_vec());
                        Err(MovementError::NotOneElement { numel, shape }.into())
                    }
                }
            }
        }
    )*};
}

of_views! { TensorViewBase TensorViewMutBase }
