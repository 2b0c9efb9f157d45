//! A prepared case, for criterion, callgrind and records, which time or count it themselves.

use tensor_kernels::{CopyPlan, Tensor, TensorView, to_contiguous};

use super::{Against, Case, Setup, measure::with_work, work::Work};
use crate::{Result, cases::sample::Sample, measure::setting::Setting};

/// The variants of a case. Each call runs one of them once.
pub trait Ready {
    /// With a preallocated result, planning included.
    ///
    /// # Errors
    /// Those of the library.
    fn preallocated(&self) -> Result<()>;

    /// With a newly allocated result, which is dropped.
    ///
    /// # Errors
    /// Those of the library.
    fn allocating(&self) -> Result<()>;

    /// With a preallocated result and contiguous operands of full size. `None` for a copy, and with
    /// [`Setup::Minimal`].
    fn contiguous(&self) -> Option<Result<()>>;

    /// The plans that are considered for a copy, the chosen one first; none for other work.
    ///
    /// # Errors
    /// Those of the library.
    fn candidates(&self) -> Result<Vec<CopyPlan>>;

    /// One of these plans, with a preallocated result.
    ///
    /// # Errors
    /// A plan for other layouts, work that is no copy.
    fn run_candidate(&self, plan: &CopyPlan) -> Result<()>;

    /// `contiguous()` of every operand that needs it; the copies are dropped.
    ///
    /// # Errors
    /// Those of the library.
    fn copies(&self) -> Result<()>;

    /// `contiguous()` of every operand that needs it, then the operation with a preallocated
    /// result.
    ///
    /// # Errors
    /// Those of the library.
    fn copy_then_compute(&self) -> Result<()>;
}

/// Prepares a case, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory, and what `act` returns.
pub fn with_ready(
    setting: &Setting,
    case: &Case,
    setup: Setup,
    act: &mut dyn FnMut(&dyn Ready) -> Result<()>,
) -> Result<()> {
    with_work(setting, case, Against::NAIVE, setup, &mut |work| {
        if setup == Setup::Verify {
            work.verify()?;
        }
        act(work)
    })
}

impl<T: Sample, R: Sample> Ready for Work<'_, T, R> {
    fn preallocated(&self) -> Result<()> {
        self.compute(&self.operands)
    }

    fn allocating(&self) -> Result<()> {
        Work::allocating(self).map(drop)
    }

    fn contiguous(&self) -> Option<Result<()>> {
        self.dense.first().map(|dense| self.compute_dense(dense))
    }

    fn candidates(&self) -> Result<Vec<CopyPlan>> {
        self.plans()
    }

    fn run_candidate(&self, plan: &CopyPlan) -> Result<()> {
        self.run_plan(plan)
    }

    fn copies(&self) -> Result<()> {
        self.operands.iter().try_for_each(|view| copied(self.setting, view).map(drop))
    }

    fn copy_then_compute(&self) -> Result<()> {
        with_copies(self.setting, &self.operands, &mut |operands| self.compute(operands))
    }
}

/// Copies the operands that are not contiguous, and calls `act` with all operands.
fn with_copies<T: Sample>(
    setting: &Setting,
    operands: &[TensorView<'_, T>],
    act: &mut dyn FnMut(&[TensorView<'_, T>]) -> Result<()>,
) -> Result<()> {
    let copied = operands.iter().map(|view| copied(setting, view));
    let copied = copied.collect::<Result<Vec<Option<Tensor<T>>>>>()?;
    let guards = copied.iter().map(|copy| copy.as_ref().map(Tensor::read).transpose());
    let guards = guards.collect::<Result<Vec<_>, _>>()?;
    let pairs = guards.iter().zip(operands);
    let operands = pairs.map(|(copy, view)| match copy {
        Some(copy) => copy.as_view(),
        None => view.clone(),
    });
    act(&operands.collect::<Vec<TensorView<'_, T>>>())
}

fn copied<T: Sample>(setting: &Setting, view: &TensorView<'_, T>) -> Result<Option<Tensor<T>>> {
    let copy = || to_contiguous(&setting.exec, view);
    Ok((!view.layout().is_contiguous()).then(copy).transpose()?)
}
