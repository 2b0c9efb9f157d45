//! A case with its arrays made and its result checked, for whoever times or counts it in a way of his own: criterion, callgrind, a record.

use tensor_kernels::{Tensor, TensorView, to_contiguous};

use super::{Against, Case, Setup, measure::with_work, work::Work};
use crate::{Result, cases::sample::Sample, measure::setting::Setting};

/// The ways to do the work of a case. Each call does it once.
pub trait Ready {
    /// Into a result that is there already, planning included.
    ///
    /// # Errors
    /// The library's.
    fn preallocated(&self) -> Result<()>;

    /// Into a fresh result, which is dropped.
    ///
    /// # Errors
    /// The library's.
    fn allocating(&self) -> Result<()>;

    /// Into a result that is there already, every operand being contiguous and of full size. `None` for a copy, and with [`Care::Plain`].
    fn contiguous(&self) -> Option<Result<()>>;

    /// `contiguous()` of every operand that needs it, each into fresh memory, which is dropped.
    ///
    /// # Errors
    /// The library's.
    fn copies(&self) -> Result<()>;

    /// `contiguous()` of every operand that needs it, then the work, into a result that is there already.
    ///
    /// # Errors
    /// The library's.
    fn copy_then_compute(&self) -> Result<()>;
}

/// Makes a case ready, in the pool it is called from.
///
/// # Errors
/// A wrong result, too little memory, and what `act` returns.
pub fn with_ready(
    setting: &Setting,
    case: &Case,
    setup: Setup,
    act: &mut dyn FnMut(&dyn Ready) -> Result<()>,
) -> Result<()> {
    with_work(setting, case, Against::Naive, setup, &mut |work| {
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
        (!self.dense.is_empty()).then(|| self.compute(&self.dense))
    }

    fn copies(&self) -> Result<()> {
        self.operands.iter().try_for_each(|view| copied(self.setting, view).map(drop))
    }

    fn copy_then_compute(&self) -> Result<()> {
        with_copies(self.setting, &self.operands, &mut |operands| self.compute(operands))
    }
}

/// Runs `act` on the operands, of which those that are not contiguous have been copied.
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
