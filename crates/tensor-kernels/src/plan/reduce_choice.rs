//! The four ways to run a reduction, of which the one with the least predicted time is taken.
//!
//! The plan determines the order in which elements are combined, so it must be the same on every
//! machine: it depends on sizes and strides only. Memory is left out of the predictions, because
//! every plan reads the input once.
//!
//! On 200 random reductions of 3 kB to 12 MB the plan with the least predicted time took as long as
//! the fastest in the median, and 1.2 to 1.4 times as long at the 95th percentile (Zen 5, one
//! thread; the costs of parts, of gathers and of rows with accumulators of their own have been
//! measured again since, on Zen 3).

use super::{
    ReduceWork,
    reduce_copied::{CopiedReduce, KeptAs},
    reduce_listed::ListedReduce,
    reduce_two_stage::TwoStageReduce,
};
use crate::reduction_order::{ALLOCATED_COPIED_BYTES, COPIED_BYTES};

/// How a reduction is run.
#[expect(clippy::large_enum_variant, reason = "without memory for a box the plan would be another")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedReduce {
    /// The input is read where it lies.
    Direct(ReduceWork),
    /// The input is copied to scratch first.
    Copied(CopiedReduce),
    /// There are few elements, whose offsets are listed.
    Listed(ListedReduce),
    /// The loops further out are reduced first, with rows of several loops.
    TwoStage(TwoStageReduce),
}

/// The time of accumulators in memory: to divide scratch, initialise them and write the results.
const ACCUMULATORS_NS: f64 = 150.0;

/// Where a copy and rows and columns in place are predicted to take about as long, the copy took
/// longer.
const COPIED_FACTOR: f64 = 1.15;

/// Where scratch has to be allocated, which may fail, a copy has to be this much faster than rows
/// and columns that have fewer elements than these.
const ALLOCATED_FACTOR: f64 = 1.5;
const SMALL_BLOCK_ELEMENTS: usize = 1 << 12;

/// Where two stages and one are predicted to take about as long, one was up to 1.6 times as fast.
const TWO_STAGE_FACTOR: f64 = 1.15;

impl PlannedReduce {
    /// The plan with the least predicted time.
    pub(crate) fn new(direct: ReduceWork) -> Self {
        let mut cheapest = Cheapest { ns: ACCUMULATORS_NS + direct.predicted_ns(), plan: None };
        cheapest.compare_listed(&direct);
        cheapest.compare_two_stages(&direct);
        for (part_bytes, factor) in
            [(COPIED_BYTES, COPIED_FACTOR), (ALLOCATED_COPIED_BYTES, ALLOCATED_FACTOR)]
        {
            for kept_as in [KeptAs::Rows, KeptAs::Columns] {
                cheapest.compare_copied(&direct, kept_as, part_bytes, factor);
            }
            let in_block = direct.rows.len.saturating_mul(direct.columns.len);
            if direct.bytes() <= part_bytes || in_block >= SMALL_BLOCK_ELEMENTS {
                break;
            }
        }
        cheapest.plan.unwrap_or(Self::Direct(direct))
    }
}

/// The plan with the least predicted time so far. Each kind of plan is compared by a function of
/// its own: plans are kilobytes, and without optimisation a function has a place on the stack for
/// each of its values.
struct Cheapest {
    ns: f64,
    /// `None`: the input is read where it lies.
    plan: Option<PlannedReduce>,
}

impl Cheapest {
    fn compare_listed(&mut self, direct: &ReduceWork) {
        if let Some((plan, ns)) = ListedReduce::plan(direct)
            && ns < self.ns
        {
            (self.ns, self.plan) = (ns, Some(PlannedReduce::Listed(plan)));
        }
    }

    fn compare_two_stages(&mut self, direct: &ReduceWork) {
        if let Some((plan, ns)) = TwoStageReduce::plan(direct)
            && ACCUMULATORS_NS + ns * TWO_STAGE_FACTOR < self.ns
        {
            self.ns = ACCUMULATORS_NS + ns;
            self.plan = Some(PlannedReduce::TwoStage(plan));
        }
    }

    fn compare_copied(
        &mut self,
        direct: &ReduceWork,
        kept_as: KeptAs,
        part_bytes: usize,
        factor: f64,
    ) {
        if let Some((plan, ns)) = CopiedReduce::plan(direct, kept_as, part_bytes)
            && ACCUMULATORS_NS + ns * factor < self.ns
        {
            self.ns = ACCUMULATORS_NS + ns * factor;
            self.plan = Some(PlannedReduce::Copied(plan));
        }
    }
}
