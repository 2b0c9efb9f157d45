//! A copy that is planned once and run any number of times.

use std::fmt;

use tensor_core::{Element, Error, Layout, Result, TensorView, TensorViewMut};

use crate::{
    exec::{Exec, Machine},
    nest::check_shapes,
    plan::{PlannedCopy, Work},
    run,
};

/// The plan of a copy between two layouts of one shape. It can be run any number of times.
///
/// ```
/// use tensor_kernels::{CopyPlan, Layout, Machine};
///
/// let rows = Layout::contiguous(&[128, 64])?;
/// let plan = CopyPlan::new(&rows.t()?, &Layout::contiguous(&[64, 128])?, 4, &Machine::REFERENCE)?;
/// assert_eq!(plan.path(), "transpose");
/// println!("{plan}");
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CopyPlan(PlannedCopy);

impl CopyPlan {
    /// Plans a copy of elements of `width` bytes.
    ///
    /// # Errors
    /// [`Error::OutputShape`] if the shapes differ, [`Error::TooLarge`] if the offsets of a layout
    /// exceed the address space.
    pub fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Result<Self> {
        check_reach(from, width)?;
        check_reach(to, width)?;
        check_shapes(from, to)?;
        Ok(Self(PlannedCopy::new(from, to, width, machine)))
    }

    /// The name of the path that the copy takes: `memcpy`, `rows`, `fill`, `transpose`,
    /// `batched_transpose`, `strided_rows`, …
    pub fn path(&self) -> &'static str {
        self.0.work().path
    }

    /// Every path, in the order in which strategies are tried.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        Work::paths()
    }

    /// Copies the elements.
    ///
    /// Elements have no padding: a type that is not an [`Element`] could not be copied as bytes.
    ///
    /// ```compile_fail
    /// # use tensor_kernels::*;
    /// # fn padded(
    /// #     plan: &CopyPlan,
    /// #     from: &TensorView<'_, (u8, u32)>,
    /// #     to: &mut TensorViewMut<'_, (u8, u32)>,
    /// # ) -> Result<()> {
    /// plan.run(Exec::current()?, from, to)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotPlanned`] if a view has another layout or element width than the plan was made
    /// for.
    pub fn run<T: Element>(
        &self,
        exec: &Exec,
        from: &TensorView<'_, T>,
        to: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        if run::copy_planned(exec, &self.0, from.into(), &mut to.into()) {
            return Ok(());
        }
        Err(Error::NotPlanned { from: from.shape().to_vec(), to: to.shape().to_vec() })
    }
}

/// A layout without a view has not been checked against any memory, so its offsets may overflow.
fn check_reach(layout: &Layout, width: usize) -> Result<()> {
    let end = layout.bounds().map_or(0, |(_, highest)| highest + 1);
    match end.checked_mul(width) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Error::TooLarge {
            what: "an offset in bytes",
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
        }),
    }
}

impl fmt::Display for CopyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.work().fmt(f)
    }
}
