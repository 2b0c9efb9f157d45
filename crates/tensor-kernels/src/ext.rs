//! Method syntax for tensors: what copies or computes, on this machine, with the caller's threads.

use std::ops::Deref;

use tensor_core::{
    BinaryKernel, Element, Error, Layout, MemoryFormat, Result, TensorBase, UnaryKernel,
    infer_shape, op,
};

use crate::{
    Cast, Exec, Fraction, Number, Ordered,
    copy::{copy_between, fill, same_places, to_fresh_contiguous, to_fresh_format},
    elementwise::{map_fresh, map_inplace, zip_fresh, zip_inplace, zip3_fresh},
};

/// The kernels of this crate, as the second parameter of a tensor: they compute its operators.
#[derive(Clone, Copy, Debug)]
pub enum Simd {}

/// A tensor whose operators are computed by this crate.
pub type Tensor<T> = TensorBase<T, Simd>;

/// A tensor of a run-time element type, made of [`Tensor`]s.
pub type AnyTensor = tensor_core::AnyTensorBase<Simd>;

/// A reshaped tensor that knows whether its elements had to be copied; made by [`TensorExt::reshape`].
///
/// It can be used as the tensor that it holds.
#[derive(Clone, Debug)]
pub struct Reshaped<T, K = Simd> {
    tensor: TensorBase<T, K>,
    copied: bool,
}

impl<T, K> Reshaped<T, K> {
    /// Was a copy made? If not, it is a view of the input's storage.
    pub fn copied(&self) -> bool {
        self.copied
    }

    /// The tensor.
    pub fn into_tensor(self) -> TensorBase<T, K> {
        self.tensor
    }
}

impl<T, K> Deref for Reshaped<T, K> {
    type Target = TensorBase<T, K>;

    fn deref(&self) -> &TensorBase<T, K> {
        &self.tensor
    }
}

/// What copies or computes, as methods of tensors.
///
/// Every method fails with [`Error::Borrowed`] if the storage is borrowed in conflict, and with [`Error::OutOfMemory`] if there is no memory for a
/// fresh result.
///
/// ```
/// use tensor_kernels::{Tensor, TensorExt};
///
/// let t = Tensor::arange(0i64, 24, 1)?.view(&[1, 2, 3, 4])?;
/// let column = t.select(3, 2)?;
/// let flat = column.reshape(&[3, 2])?;
/// assert!(!flat.copied() && flat.same_storage(&t)); // not contiguous, but viewable
/// assert_eq!(flat.strides(), [8, 4]);
/// assert_eq!(flat.contiguous()?.to_vec()?, [2, 6, 10, 14, 18, 22]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
pub trait TensorExt<T: Element, K>: Sized {
    /// The tensor itself if it is contiguous, else a contiguous copy (PyTorch: `contiguous()`).
    ///
    /// # Errors
    /// See the trait.
    fn contiguous(&self) -> Result<TensorBase<T, K>>;

    /// The tensor itself if it is contiguous in a memory format, else such a copy (PyTorch: `contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// [`Error::FormatRank`]; [`Error::PreserveFormat`].
    fn to_contiguous(&self, format: MemoryFormat) -> Result<TensorBase<T, K>>;

    /// As [`contiguous`](Self::contiguous), but with row-major strides also for dimensions of size 1, whose strides do not matter to PyTorch, but to
    /// code that takes strides at their word. Never copies more than `contiguous` does.
    ///
    /// # Errors
    /// See the trait.
    fn contiguous_canonical(&self) -> Result<TensorBase<T, K>>;

    /// A copy in fresh memory; a dense tensor keeps its strides (PyTorch: `clone()`).
    ///
    /// # Errors
    /// See the trait.
    fn deep_clone(&self) -> Result<TensorBase<T, K>>;

    /// The elements under another shape: a view if strides can express it, else a copy (PyTorch: `reshape`).
    ///
    /// # Errors
    /// A shape with another number of elements.
    fn reshape(&self, sizes: &[isize]) -> Result<Reshaped<T, K>>;

    /// The elements under another shape, always in fresh contiguous memory.
    ///
    /// # Errors
    /// A shape with another number of elements.
    fn reshape_copy(&self, sizes: &[isize]) -> Result<TensorBase<T, K>>;

    /// Several dimensions as one: a view if strides can express it, else a copy (PyTorch: `flatten`).
    ///
    /// # Errors
    /// Dimensions out of range or in the wrong order.
    fn flattened(&self, start: isize, end: isize) -> Result<Reshaped<T, K>>;

    /// The tensor side by side with itself, `times` along each dimension (PyTorch: `repeat`, NumPy: `tile`).
    ///
    /// # Errors
    /// Fewer numbers than dimensions; a result too large.
    fn repeat(&self, times: &[usize]) -> Result<TensorBase<T, K>>;

    /// Writes the elements of another tensor, broadcast, into this one (PyTorch: `copy_`).
    ///
    /// # Errors
    /// Shapes that do not broadcast; tensors that share elements.
    fn copy_from(&self, from: &TensorBase<T, K>) -> Result<()>;

    /// Writes one value to every element (PyTorch: `fill_`).
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    fn fill(&self, value: T) -> Result<()>;

    /// The elements converted to another type (PyTorch: `to(dtype)`).
    ///
    /// # Errors
    /// See the trait.
    fn cast<U: Element>(&self) -> Result<TensorBase<U, K>>
    where
        T: Cast<U>;

    /// A function of each element.
    ///
    /// # Errors
    /// See the trait.
    fn map<R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<TensorBase<R, K>>;

    /// Replaces each element by a function of it.
    ///
    /// # Errors
    /// [`Error::WriteOverlap`].
    fn map_inplace(&self, f: impl Fn(T) -> T + Sync) -> Result<()>;

    /// A function of the elements of two tensors, broadcast.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn zip_map<B: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> R + Sync,
    ) -> Result<TensorBase<R, K>>;

    /// Replaces each element by a function of it and of the other tensor's, which is broadcast (PyTorch: `x.add_(b)` and its like).
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`]; [`Error::ReadWriteOverlap`] if the other tensor shares elements with
    /// this one without being the same view.
    fn zip_inplace(&self, b: &TensorBase<T, K>, f: impl Fn(T, T) -> T + Sync) -> Result<()>;

    /// A function of the elements of three tensors, broadcast.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn zip3_map<B: Element, C: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> R + Sync,
    ) -> Result<TensorBase<R, K>>;

    /// The sum, broadcast (PyTorch: `torch.add`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn add(&self, b: &TensorBase<T, K>) -> Result<TensorBase<T, K>>
    where
        T: Number,
    {
        self.zip_map(b, T::plus)
    }

    /// The difference, broadcast (PyTorch: `torch.sub`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn sub(&self, b: &TensorBase<T, K>) -> Result<TensorBase<T, K>>
    where
        T: Number,
    {
        self.zip_map(b, T::minus)
    }

    /// The product, broadcast (PyTorch: `torch.mul`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn mul(&self, b: &TensorBase<T, K>) -> Result<TensorBase<T, K>>
    where
        T: Number,
    {
        self.zip_map(b, T::times)
    }

    /// The quotient, broadcast (PyTorch: `torch.div`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn div(&self, b: &TensorBase<T, K>) -> Result<TensorBase<T, K>>
    where
        T: Fraction,
    {
        self.zip_map(b, T::over)
    }

    /// `self · factor + summand`, broadcast, rounded once for real numbers (PyTorch: `torch.addcmul`).
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    fn mul_add(
        &self,
        factor: &TensorBase<T, K>,
        summand: &TensorBase<T, K>,
    ) -> Result<TensorBase<T, K>>
    where
        T: Number,
    {
        self.zip3_map(factor, summand, T::times_plus)
    }

    /// The negatives (PyTorch: `torch.neg`).
    ///
    /// # Errors
    /// See the trait.
    fn neg(&self) -> Result<TensorBase<T, K>>
    where
        T: Number,
    {
        self.map(T::negated)
    }

    /// The elements, 0 where they are below; NaN stays (PyTorch: `torch.relu`).
    ///
    /// # Errors
    /// See the trait.
    fn relu(&self) -> Result<TensorBase<T, K>>
    where
        T: Ordered,
    {
        self.map(T::or_zero)
    }

    /// The square roots (PyTorch: `torch.sqrt`).
    ///
    /// # Errors
    /// See the trait.
    fn sqrt(&self) -> Result<TensorBase<T, K>>
    where
        T: Fraction,
    {
        self.map(T::root)
    }

    /// The powers of e (PyTorch: `torch.exp`).
    ///
    /// # Errors
    /// See the trait.
    fn exp(&self) -> Result<TensorBase<T, K>>
    where
        T: Fraction,
    {
        self.map(T::power_of_e)
    }
}

impl<T: Element, K> TensorExt<T, K> for TensorBase<T, K> {
    fn contiguous(&self) -> Result<TensorBase<T, K>> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        to_fresh_contiguous(Exec::current()?, &self.read()?.as_view())
    }

    fn to_contiguous(&self, format: MemoryFormat) -> Result<TensorBase<T, K>> {
        if format == MemoryFormat::Preserve {
            return Err(Error::PreserveFormat);
        }
        if self.layout().is_contiguous_as(format) {
            return Ok(self.clone());
        }
        to_fresh_format(Exec::current()?, &self.read()?.as_view(), format)
    }

    fn contiguous_canonical(&self) -> Result<TensorBase<T, K>> {
        if self.is_contiguous() {
            let strides = Layout::contiguous(self.shape())?;
            return self.with_layout(Layout::new(
                self.shape(),
                strides.strides(),
                self.storage_offset(),
            )?);
        }
        self.contiguous()
    }

    fn deep_clone(&self) -> Result<TensorBase<T, K>> {
        to_fresh_format(Exec::current()?, &self.read()?.as_view(), MemoryFormat::Preserve)
    }

    fn reshape(&self, sizes: &[isize]) -> Result<Reshaped<T, K>> {
        match self.view(sizes) {
            Ok(tensor) => Ok(Reshaped { tensor, copied: false }),
            Err(Error::NotViewable { .. }) => {
                Ok(Reshaped { tensor: self.reshape_copy(sizes)?, copied: true })
            }
            Err(refused) => Err(refused),
        }
    }

    fn reshape_copy(&self, sizes: &[isize]) -> Result<TensorBase<T, K>> {
        infer_shape(sizes, self.numel())?;
        to_fresh_contiguous(Exec::current()?, &self.read()?.as_view())?.view(sizes)
    }

    fn flattened(&self, start: isize, end: isize) -> Result<Reshaped<T, K>> {
        match self.flatten(start, end) {
            Ok(tensor) => Ok(Reshaped { tensor, copied: false }),
            Err(Error::NotViewable { .. }) => {
                let copy: TensorBase<T, K> =
                    to_fresh_contiguous(Exec::current()?, &self.read()?.as_view())?;
                Ok(Reshaped { tensor: copy.flatten(start, end)?, copied: true })
            }
            Err(refused) => Err(refused),
        }
    }

    fn repeat(&self, times: &[usize]) -> Result<TensorBase<T, K>> {
        crate::repeat::repeat(Exec::current()?, &self.read()?.as_view(), times)
    }

    fn copy_from(&self, from: &TensorBase<T, K>) -> Result<()> {
        copy_between(Exec::current()?, from, self)
    }

    fn fill(&self, value: T) -> Result<()> {
        fill(Exec::current()?, &mut self.write()?.as_view_mut()?, value)
    }

    fn cast<U: Element>(&self) -> Result<TensorBase<U, K>>
    where
        T: Cast<U>,
    {
        self.map(T::cast)
    }

    fn map<R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<TensorBase<R, K>> {
        map_fresh(Exec::current()?, &self.read()?.as_view(), f)
    }

    fn map_inplace(&self, f: impl Fn(T) -> T + Sync) -> Result<()> {
        map_inplace(Exec::current()?, &mut self.write()?.as_view_mut()?, f)
    }

    fn zip_map<B: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        f: impl Fn(T, B) -> R + Sync,
    ) -> Result<TensorBase<R, K>> {
        zip_fresh(Exec::current()?, &self.read()?.as_view(), &b.read()?.as_view(), f)
    }

    fn zip_inplace(&self, b: &TensorBase<T, K>, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        let exec = Exec::current()?;
        if !self.same_storage(b) {
            return zip_inplace(exec, &mut self.write()?.as_view_mut()?, &b.read()?.as_view(), f);
        }
        let mut guard = self.write()?;
        if same_places(b.layout(), self.layout()) {
            return map_inplace(exec, &mut guard.as_view_mut()?, |x| f(x, x));
        }
        let (b, mut x) = guard.as_view_pair("zip_inplace", b)?;
        zip_inplace(exec, &mut x, &b, f)
    }

    fn zip3_map<B: Element, C: Element, R: Element>(
        &self,
        b: &TensorBase<B, K>,
        c: &TensorBase<C, K>,
        f: impl Fn(T, B, C) -> R + Sync,
    ) -> Result<TensorBase<R, K>> {
        zip3_fresh(
            Exec::current()?,
            &self.read()?.as_view(),
            &b.read()?.as_view(),
            &c.read()?.as_view(),
            f,
        )
    }
}

impl<T: Number> BinaryKernel<op::Add, T> for Simd {
    fn binary(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
        a.add(b)
    }
}

impl<T: Number> BinaryKernel<op::Sub, T> for Simd {
    fn binary(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
        a.sub(b)
    }
}

impl<T: Number> BinaryKernel<op::Mul, T> for Simd {
    fn binary(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
        a.mul(b)
    }
}

impl<T: Fraction> BinaryKernel<op::Div, T> for Simd {
    fn binary(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
        a.div(b)
    }
}

impl<T: Number> UnaryKernel<op::Neg, T> for Simd {
    fn unary(a: &Tensor<T>) -> Result<Tensor<T>> {
        a.neg()
    }
}
