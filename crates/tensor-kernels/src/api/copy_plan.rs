//! A copy that is planned once and run any number of times.

use std::{
    fmt,
    mem::MaybeUninit,
    time::{Duration, Instant},
};

use tensor_core::{
    AsOperand, Element, Error, Layout, Operand, Output, Result, TensorViewMutBase, ViewRef,
    ViewRefMut,
};

use crate::{
    api::copy::with_elements,
    exec::{Exec, Machine},
    nest::check_shapes,
    plan::{PlannedCopy, Work},
    run::{self, KeptCopy},
};

/// The plan of a copy between two layouts of one shape. It can be run any number of times.
///
/// A run of a new plan takes no longer than a call without one. So few elements, for which a plan
/// takes longer to start than to run, are copied by loops or by a list of offsets, as in such a
/// call; [`without_short_cuts`](Self::without_short_cuts) is the plan itself.
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
pub struct CopyPlan(pub(super) KeptCopy);

/// A plan that is considered for a copy; see [`CopyPlan::candidates`].
#[derive(Clone, Debug, PartialEq)]
pub struct CopyCandidate {
    /// The plan.
    pub plan: CopyPlan,
    /// The predicted time of a run on one thread, in nanoseconds.
    pub predicted_ns: f64,
}

/// The fewest runs of a candidate that is measured.
const MIN_TIMED_RUNS: usize = 3;

/// The least time for which a candidate is measured.
const TIMED: Duration = Duration::from_millis(1);

impl CopyPlan {
    /// Plans a copy of elements of `width` bytes.
    ///
    /// # Errors
    /// [`Error::OutputShape`] if the shapes differ, [`Error::TooLarge`] if the offsets of a layout
    /// exceed the address space.
    pub fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Result<Self> {
        check(from, to, width)?;
        Ok(Self(KeptCopy::new(from, to, width, machine)))
    }

    /// Every plan that is considered for a copy, with the time that is predicted for it; the
    /// shortest first, which is the plan that [`new`](Self::new) makes. They run
    /// [without short cuts](Self::without_short_cuts).
    ///
    /// A prediction counts cache lines, tiles and iterations of loops. It is in nanoseconds of a
    /// CPU of about 4 GHz; on other CPUs only quotients of predictions mean something.
    ///
    /// ```
    /// use tensor_kernels::{CopyPlan, Layout, Machine};
    ///
    /// let reversed = Layout::contiguous(&[2, 3, 5, 7, 11, 13])?.permute(&[5, 4, 3, 2, 1, 0])?;
    /// let to = Layout::contiguous(reversed.shape())?;
    /// let candidates = CopyPlan::candidates(&reversed, &to, 4, &Machine::REFERENCE)?;
    /// assert_eq!(candidates[0].plan, CopyPlan::new(&reversed, &to, 4, &Machine::REFERENCE)?);
    /// for candidate in &candidates {
    ///     println!("{:6.0} ns  {}", candidate.predicted_ns, candidate.plan);
    /// }
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn candidates(
        from: &Layout,
        to: &Layout,
        width: usize,
        machine: &Machine,
    ) -> Result<Vec<CopyCandidate>> {
        check(from, to, width)?;
        let candidate = |(work, predicted_ns)| CopyCandidate {
            plan: Self(KeptCopy::as_planned(PlannedCopy::with(from, to, width, work))),
            predicted_ns,
        };
        Ok(Work::candidates(from, to, width, machine).into_iter().map(candidate).collect())
    }

    /// The fastest of all [`candidates`](Self::candidates), found by running each of them: for a
    /// copy that is repeated often. `to` is written, with the elements of `from`.
    ///
    /// Each candidate runs for about a millisecond, large ones three times; that is 10 to 20 ms in
    /// all, or 60 copies of a large array. Like FFTW's `FFTW_MEASURE`.
    ///
    /// ```
    /// use tensor_kernels::{CopyPlan, Exec, Tensor};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::arange(0.0f32, 60_000.0, 1.0)?.view([300, 200])?;
    /// let y = Tensor::<f32>::zeros([200, 300])?;
    /// let (reading, mut writing) = (x.read()?, y.write()?);
    /// let (from, mut to) = (reading.as_view().t()?, writing.as_view_mut()?);
    /// let plan = CopyPlan::measured(exec, &from, &mut to)?;
    /// plan.run(exec, &from, &mut to)?;
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// A copy of a tensor to itself does nothing. Its plan is the one that [`new`](Self::new)
    /// makes.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn measured<'o, T: Element>(
        exec: &Exec,
        from: impl AsOperand<T>,
        to: impl Into<Output<'o, T>>,
    ) -> Result<Self> {
        let (from, mut fastest) = (from.as_operand(), None);
        let layout = match from {
            Operand::Tensor(tensor) => tensor.layout().clone(),
            _ => Layout::contiguous(from.shape())?,
        };
        with_elements(from, to.into(), |from, to| {
            fastest = Some(Self::fastest(exec, from, to)?);
            Ok(())
        })?;
        match fastest {
            Some(fastest) => Ok(fastest),
            None => Self::new(&layout, &layout, size_of::<T>(), &exec.machine),
        }
    }

    fn fastest<T: Element>(
        exec: &Exec,
        from: ViewRef<'_, T>,
        mut to: ViewRefMut<'_, T>,
    ) -> Result<Self> {
        let machine = &exec.machine;
        let layouts = (from.layout(), to.layout().clone());
        let mut fastest = Self::new(layouts.0, &layouts.1, size_of::<T>(), machine)?;
        let mut least = fastest.time(exec, from, &mut to)?;
        for candidate in Self::candidates(layouts.0, &layouts.1, size_of::<T>(), machine)? {
            let time = candidate.plan.time(exec, from, &mut to)?;
            if time < least {
                (fastest, least) = (candidate.plan, time);
            }
        }
        Ok(fastest)
    }

    /// The least time of a run.
    fn time<T: Element>(
        &self,
        exec: &Exec,
        from: ViewRef<'_, T>,
        to: &mut ViewRefMut<'_, T>,
    ) -> Result<Duration> {
        let (begin, mut least) = (Instant::now(), Duration::MAX);
        for runs in 1.. {
            let start = Instant::now();
            run::copy_kept(exec, &self.0, from, to)?;
            least = least.min(start.elapsed());
            if runs >= MIN_TIMED_RUNS && begin.elapsed() >= TIMED {
                break;
            }
        }
        Ok(least)
    }

    /// The same plan, which runs as it is printed, however few the elements are: for measuring and
    /// for testing plans.
    ///
    /// ```
    /// use tensor_kernels::{CopyPlan, Layout, Machine};
    ///
    /// let columns = Layout::contiguous([4, 4])?.t()?;
    /// let plan = CopyPlan::new(&columns, &columns.t()?, 4, &Machine::REFERENCE)?;
    /// assert_eq!(plan.clone().without_short_cuts(), plan);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    #[must_use]
    pub fn without_short_cuts(self) -> Self {
        Self(self.0.without_short_cut())
    }

    pub(super) fn work(&self) -> &Work {
        self.0.planned().work()
    }

    /// The name of the path that the copy takes: `memcpy`, `rows`, `fill`, `transpose`,
    /// `batched_transpose`, `strided_rows`, …
    pub fn path(&self) -> &'static str {
        self.work().path
    }

    /// The name of every path that a copy may take.
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
    pub fn run<'o, T: Element>(
        &self,
        exec: &Exec,
        from: impl AsOperand<T>,
        to: impl Into<Output<'o, T>>,
    ) -> Result<()> {
        with_elements(from.as_operand(), to.into(), |from, mut to| {
            run::copy_kept(exec, &self.0, from, &mut to)
        })
    }

    /// [`run`](Self::run) into memory that has not been written yet, which is returned as a view of
    /// elements.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use tensor_kernels::{CopyPlan, Exec, Layout, Machine, TensorView, TensorViewMut};
    ///
    /// let columns = Layout::contiguous([2, 3])?.t()?;
    /// let dense = Layout::contiguous([3, 2])?;
    /// let plan = CopyPlan::new(&columns, &dense, 1, &Machine::REFERENCE)?;
    /// let mut planes = [MaybeUninit::uninit(); 6];
    /// for pixels in [[1u8, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]] {
    ///     let from = TensorView::new(&pixels, columns.clone())?;
    ///     let to = TensorViewMut::new(&mut planes, dense.clone())?;
    ///     let mut written = plan.run_uninit(Exec::current()?, &from, to)?;
    ///     let [a, b, c, d, e, f] = pixels;
    ///     assert_eq!(written.as_slice_mut(), Some(&mut [a, d, b, e, c, f][..]));
    /// }
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](Self::run); nothing is written then.
    pub fn run_uninit<'t, T: Element, K>(
        &self,
        exec: &Exec,
        from: impl AsOperand<T>,
        to: TensorViewMutBase<'t, MaybeUninit<T>, K>,
    ) -> Result<TensorViewMutBase<'t, T, K>> {
        run::copy_kept_uninit(exec, &self.0, from.as_operand().read()?.elements(), to)
    }
}

/// # Errors
/// Those of [`CopyPlan::new`].
fn check(from: &Layout, to: &Layout, width: usize) -> Result<()> {
    check_reach(from, width)?;
    check_reach(to, width)?;
    check_shapes(from, to)
}

/// A layout without a view has not been checked against any memory, so its offsets may overflow.
pub(super) fn check_reach(layout: &Layout, width: usize) -> Result<()> {
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
        self.work().fmt(f)
    }
}
