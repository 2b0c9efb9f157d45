//! Programs that must not compile, each next to one that does and differs only in the mistake.
//!
//! The constants only carry the programs, which run as documentation tests.

/// A planned copy of elements with padding between their fields.
///
/// ```
/// # use tensor_kernels::*;
/// type Element = [u32; 2];
/// # fn run(
/// #     plan: &CopyPlan,
/// #     from: &TensorView<'_, Element>,
/// #     to: &mut TensorViewMut<'_, Element>,
/// # ) -> Result<()> {
/// plan.run(Exec::current()?, from, to)
/// # }
/// ```
/// ```compile_fail,E0277
/// # use tensor_kernels::*;
/// type Element = (u8, u32);
/// # fn run(
/// #     plan: &CopyPlan,
/// #     from: &TensorView<'_, Element>,
/// #     to: &mut TensorViewMut<'_, Element>,
/// # ) -> Result<()> {
/// plan.run(Exec::current()?, from, to)
/// # }
/// ```
const PADDED_ELEMENTS_OF_A_PLANNED_COPY: () = ();

/// A view that is read and written by one operation.
///
/// ```
/// # use tensor_kernels::*;
/// # let exec = Exec::current()?;
/// # let mut memory = [7u8; 6];
/// let (from, to) = memory.split_at_mut(3);
/// # let layout = Layout::contiguous(&[3])?;
/// let from = TensorView::new(from, layout.clone())?;
/// copy_into(exec, &from, &mut TensorViewMut::new(to, layout)?)?;
/// # Ok::<(), Error>(())
/// ```
/// ```compile_fail,E0502
/// # use tensor_kernels::*;
/// # let exec = Exec::current()?;
/// # let mut memory = [7u8; 6];
/// let (from, to) = (&memory[..3], &mut memory[1..4]);
/// # let layout = Layout::contiguous(&[3])?;
/// let from = TensorView::new(from, layout.clone())?;
/// copy_into(exec, &from, &mut TensorViewMut::new(to, layout)?)?;
/// # Ok::<(), Error>(())
/// ```
const SHIFTED_COPY_WITHIN_A_SLICE: () = ();

/// An operation on several threads whose function belongs to one of them.
///
/// ```
/// # use tensor_kernels::*;
/// # let x = Tensor::full([3], 7u8)?;
/// let count = std::sync::atomic::AtomicU8::new(0);
/// x.map(|x| x + count.fetch_add(1, std::sync::atomic::Ordering::Relaxed))?;
/// # Ok::<(), Error>(())
/// ```
/// ```compile_fail,E0277
/// # use tensor_kernels::*;
/// # let x = Tensor::full([3], 7u8)?;
/// let count = std::cell::Cell::new(0);
/// x.map(|x| x + count.replace(1))?;
/// # Ok::<(), Error>(())
/// ```
const FUNCTION_OF_ONE_THREAD: () = ();

/// A generic function whose elements have no bound: it is the trait [`Element`](crate::Element)
/// that is missing.
///
/// ```
/// # use tensor_kernels::*;
/// fn transposed<T: Element>(x: &Tensor<T>) -> Result<Tensor<T>> { x.t() }
/// ```
/// ```compile_fail,E0277
/// # use tensor_kernels::*;
/// fn transposed<T>(x: &Tensor<T>) -> Result<Tensor<T>> { x.t() }
/// ```
const ELEMENTS_WITHOUT_A_BOUND: () = ();

/// A generic function that computes with elements of any type.
///
/// ```
/// # use tensor_kernels::*;
/// fn powers<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> { x.exp() }
/// ```
/// ```compile_fail,E0277
/// # use tensor_kernels::*;
/// fn powers<T: Element>(x: &Tensor<T>) -> Result<Tensor<T>> { x.exp() }
/// ```
const ARITHMETIC_OF_ANY_ELEMENTS: () = ();

/// A literal of no generic type.
///
/// ```
/// # use tensor_kernels::*;
/// fn doubled<T: Real>(x: &TensorView<'_, T>) -> Tensor<T> { x * T::from_f64(2.0) }
/// ```
/// ```compile_fail,E0277
/// # use tensor_kernels::*;
/// fn doubled<T: Real>(x: &TensorView<'_, T>) -> Tensor<T> { x * 2.0 }
/// ```
const LITERAL_OF_ANOTHER_TYPE: () = ();

/// An operation in place of a view that is read only.
///
/// ```
/// # use tensor_kernels::prelude::*;
/// fn doubled(x: &mut TensorViewMut<'_, f32>) -> Result<(), Error> { x.mul_inplace(2.0) }
/// ```
/// ```compile_fail,E0599
/// # use tensor_kernels::prelude::*;
/// fn doubled(x: &mut TensorView<'_, f32>) -> Result<(), Error> { x.mul_inplace(2.0) }
/// ```
const READ_ONLY_VIEW_WRITTEN: () = ();

/// A mutable view that is written through a shared reference.
///
/// ```compile_fail,E0596
/// # use tensor_kernels::prelude::*;
/// fn doubled(x: &TensorViewMut<'_, f32>) -> Result<(), Error> { x.mul_inplace(2.0) }
/// ```
const MUTABLE_VIEW_WRITTEN_THROUGH_A_SHARED_REFERENCE: () = ();
