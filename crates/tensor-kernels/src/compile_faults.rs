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
