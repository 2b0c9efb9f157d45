//! Copies by bytes: into memory of the caller, into a new vector, and by a plan.

use std::mem::MaybeUninit;

#[cfg(doc)]
use tensor_core::Error;
use tensor_core::Result;

use super::view::{Byte, ByteView, ByteViewMut};
use crate::{
    api::copy_plan::CopyPlan,
    exec::{Exec, Machine},
    run,
};

/// Copies items into others of the same size and shape, whatever the strides of either. Large
/// copies run on the threads of `exec`: [`Exec::current`] has those of the current rayon pool,
/// [`Exec::serial`] none but the caller's. The plan is kept for the next copy between such layouts.
///
/// The first axis of a chunk of a stored array becomes its last one:
///
/// ```
/// use tensor_kernels::{ByteView, ByteViewMut, Exec, Layout, copy_bytes};
///
/// let (stored, item_size) = ([0u8; 4 * 6 * 8], 4);
/// let mut decoded = [1u8; 4 * 6 * 8];
/// let order = Layout::contiguous(&[6, 8])?.permute(&[1, 0])?;
/// let to = Layout::contiguous(order.shape())?;
/// let from = ByteView::new(&stored, item_size, order)?;
/// let mut to = ByteViewMut::new(&mut decoded, item_size, to)?;
/// copy_bytes(Exec::current()?, &from, &mut to)?;
/// assert_eq!(decoded, stored);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::ItemSize`] or [`Error::OutputShape`] if sizes differ; nothing is written then.
pub fn copy_bytes(exec: &Exec, from: &ByteView<'_>, to: &mut ByteViewMut<'_>) -> Result<()> {
    run::copy_items(exec, &from.0, &mut to.0)
}

/// Copies items into memory that has not been written yet, and returns it as written. So the memory
/// of a new vector is written once only.
///
/// ```
/// use tensor_kernels::{ByteView, ByteViewMut, Exec, Layout, copy_bytes_uninit};
///
/// let pixels = [1u8, 2, 3, 4, 5, 6];
/// let from = ByteView::new(&pixels, 1, Layout::contiguous(&[2, 3])?.t()?)?;
/// let mut planes = Vec::with_capacity(6);
/// let to = &mut planes.spare_capacity_mut()[..6];
/// let to = ByteViewMut::new(to, 1, Layout::contiguous(&[3, 2])?)?;
/// copy_bytes_uninit(Exec::current()?, &from, to)?;
/// // SAFETY: the copy has written 6 bytes.
/// unsafe { planes.set_len(6) };
/// assert_eq!(planes, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// Those of [`copy_bytes`].
pub fn copy_bytes_uninit<'t>(
    exec: &Exec,
    from: &ByteView<'_>,
    to: ByteViewMut<'t, MaybeUninit<u8>>,
) -> Result<ByteViewMut<'t>> {
    run::copy_items_uninit(exec, &from.0, to.0).map(ByteViewMut)
}

/// The items in row-major order, as a new vector. It has no spare capacity, so that a boxed slice
/// can be made of it without a copy.
///
/// ```
/// use tensor_kernels::{ByteView, Exec, Layout, to_byte_vec};
///
/// let pixels = [1u8, 2, 3, 4, 5, 6];
/// let columns = ByteView::new(&pixels, 1, Layout::contiguous(&[2, 3])?.t()?)?;
/// let boxed: Box<[u8]> = to_byte_vec(Exec::current()?, &columns)?.into_boxed_slice();
/// assert_eq!(*boxed, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`], [`Error::TooLarge`].
pub fn to_byte_vec(exec: &Exec, from: &ByteView<'_>) -> Result<Vec<u8>> {
    run::items_to_vec(exec, &from.0)
}

impl CopyPlan {
    /// Plans the copy between these views, and others of the same item size, shape and strides.
    /// Where strides are multiples of the item size it is the plan that [`new`](Self::new) makes.
    ///
    /// # Errors
    /// [`Error::ItemSize`] or [`Error::OutputShape`] if sizes differ.
    pub fn for_bytes<B: Byte>(
        from: &ByteView<'_>,
        to: &ByteViewMut<'_, B>,
        machine: &Machine,
    ) -> Result<Self> {
        run::plan_items(machine, &from.0, &to.0).map(Self)
    }

    /// Copies items by a plan for their layouts and their size.
    ///
    /// ```
    /// use tensor_kernels::{ByteView, ByteViewMut, CopyPlan, Exec, Layout, Machine};
    ///
    /// let (item_size, exec) = (3, Exec::current()?);
    /// let from = Layout::contiguous(&[50, 40])?.t()?;
    /// let to = Layout::contiguous(&[40, 50])?;
    /// let plan = CopyPlan::new(&from, &to, item_size, &Machine::REFERENCE)?;
    /// let mut result = vec![0; 50 * 40 * item_size];
    /// for image in [vec![1; 50 * 40 * item_size], vec![2; 50 * 40 * item_size]] {
    ///     let from = ByteView::new(&image, item_size, from.clone())?;
    ///     let mut to = ByteViewMut::new(&mut result, item_size, to.clone())?;
    ///     plan.run_bytes(exec, &from, &mut to)?;
    ///     assert_eq!(result, image);
    /// }
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotPlanned`] if the plan was made for other layouts or another item size; those of
    /// [`copy_bytes`].
    pub fn run_bytes(
        &self,
        exec: &Exec,
        from: &ByteView<'_>,
        to: &mut ByteViewMut<'_>,
    ) -> Result<()> {
        run::copy_items_kept(exec, &self.0, &from.0, &mut to.0)
    }

    /// [`run_bytes`](Self::run_bytes) into memory that has not been written yet, which is returned
    /// as written.
    ///
    /// # Errors
    /// Those of [`run_bytes`](Self::run_bytes).
    pub fn run_bytes_uninit<'t>(
        &self,
        exec: &Exec,
        from: &ByteView<'_>,
        to: ByteViewMut<'t, MaybeUninit<u8>>,
    ) -> Result<ByteViewMut<'t>> {
        run::copy_items_kept_uninit(exec, &self.0, &from.0, to.0).map(ByteViewMut)
    }
}
