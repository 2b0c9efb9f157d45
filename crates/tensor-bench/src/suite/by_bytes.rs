//! This library's copy by bytes against its typed copy, which should take the same time.
//!
//! They differ by a few percent at most, less than one piece of memory differs from another. So
//! both read the same operand and write the same result, in a race of their own: either one
//! follows itself as often as the other, and both have as many samples.

use tensor_kernels::{ByteView, ByteViewMut, Layout, copy_bytes};

use super::{
    PeerTimes,
    work::{Work, fill_with_wrong_values},
};
use crate::{
    Result,
    cases::sample::Sample,
    measure::{
        engine::{Contender, race},
        stats::Timing,
    },
};

/// The name of the copy by bytes among the peers of a row.
const NAME: &str = "by bytes";

/// The times of a typed copy and of the copy by bytes.
pub(super) struct Pair {
    pub(super) typed: Timing,
    pub(super) by_bytes: PeerTimes,
}

/// Checks the result of the copy by bytes. `false` if there is none: bools and operations.
pub(super) fn verify<T: Sample, R: Sample>(work: &Work<'_, T, R>) -> Result<bool> {
    if !work.is_copy() || R::bytes_mut(&mut []).is_none() {
        return Ok(false);
    }
    work.with_result(fill_with_wrong_values)?;
    copies(work, 1)?;
    work.with_result(|result| work.check(result))??;
    Ok(true)
}

/// Races the two; `None` if there is no copy by bytes.
pub(super) fn race_pair<T: Sample, R: Sample>(work: &Work<'_, T, R>) -> Result<Option<Pair>> {
    if !verify(work)? {
        return Ok(None);
    }
    let typed = Contender::new(|| work.compute(&work.operands));
    let by_bytes = Contender::batches(|times| copies(work, times));
    let [typed, by_bytes] = race(&work.setting.budget, [typed, by_bytes])?;
    let by_bytes = PeerTimes {
        name: NAME.to_owned(),
        preallocated_ns: Some(by_bytes.best_ns),
        allocating_ns: None,
    };
    Ok(Some(Pair { typed, by_bytes }))
}

/// Copies by bytes this often. The views are made before, as those of the typed copy are.
fn copies<T: Sample, R: Sample>(work: &Work<'_, T, R>, times: u64) -> Result<()> {
    work.with_result(|result| {
        let Some(result) = R::bytes_mut(result) else { return Ok(()) };
        let from = work.given[0];
        let (item_size, dense) = (size_of::<T>(), Layout::contiguous(from.layout().shape())?);
        let mut to = ByteViewMut::new(result, item_size, dense)?;
        let elements = bytemuck::cast_slice(from.elements());
        let from = ByteView::new(elements, item_size, from.layout().clone())?;
        (0..times).try_for_each(|_| Ok(copy_bytes(&work.setting.exec, &from, &mut to)?))
    })?
}
