//! Where loops over the results of a reduction are cut.

use super::{Axis, CUT_ALIGNMENT_ELEMENTS};

impl Axis {
    /// A loop over results. Many are cut at whole cache lines of the smallest elements.
    pub(crate) fn of_results(len: usize) -> Self {
        Self::at_multiples(
            len,
            if len / 2 < CUT_ALIGNMENT_ELEMENTS { 1 } else { CUT_ALIGNMENT_ELEMENTS },
        )
    }
}
