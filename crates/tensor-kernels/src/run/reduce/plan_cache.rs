//! The plans of reductions that a thread has made last, so that a repeated reduction is not planned
//! again: planning takes longer than to reduce a thousand elements.
//!
//! As with [copies](crate::run::plan_cache), offsets are not compared, and a slot has up to four
//! plans.

use std::cell::RefCell;

use tensor_core::{Layout, ReductionShape, Result};

use crate::{
    kernel::Reduction,
    plan::{PlannedReduce, ReduceWork},
    reduction_order::ReductionForm,
    run::plan_slot::{Slot, empty_slot, make_first},
};

/// Slots for the plans that a thread keeps, of some 3 KiB each plan.
const SLOTS: usize = 32;

/// Reductions of more dimensions are planned each time.
const MAX_DIMS: usize = 8;

/// In place of the result's stride along a dimension that is reduced; no stride is that long.
const REDUCED: isize = isize::MIN;

/// What a plan is made for.
#[derive(Clone, Copy)]
pub(super) struct Reduced<'a> {
    pub(super) input: &'a Layout,
    pub(super) result: &'a Layout,
    pub(super) shape: &'a ReductionShape,
    pub(super) operation: &'a dyn Reduction,
}

/// A plan, and what it was made for apart from the offsets.
struct Entry {
    ndim: usize,
    /// Of each dimension the size, the stride of the input, and the stride of the result.
    dims: [[isize; 3]; MAX_DIMS],
    form: ReductionForm,
    /// The offsets of result and input for which the plan's starts are right.
    offsets: [usize; 2],
    plan: PlannedReduce,
}

thread_local! {
    static PLANS: RefCell<[Slot<Entry>; SLOTS]> =
        const { RefCell::new([const { empty_slot() }; SLOTS]) };
}

/// Calls `run` with the plan of a reduction, which is made if it is not kept, and with the bytes by
/// which result and input lie behind the starts of the plan.
///
/// The plans are borrowed meanwhile: a reduction that this thread begins while it waits for others
/// is planned anew.
///
/// # Errors
/// None, if input and result have the shapes of the reduction.
pub(super) fn with_plan<R>(
    reduced: Reduced<'_>,
    run: impl FnOnce(&PlannedReduce, [isize; 2]) -> R,
) -> Result<R> {
    let mut run = Some(run);
    let found = PLANS.try_with(|plans| {
        let mut plans = plans.try_borrow_mut().ok()?;
        let entry = reduced.entry(&mut plans)?;
        let run = run.take()?;
        Some(run(&entry.plan, reduced.behind(entry)))
    });
    match (found, run) {
        (Ok(Some(result)), _) => Ok(result),
        (_, Some(run)) => reduced.with_new_plan(run),
        (_, None) => unreachable!("`run` is taken only to be called"),
    }
}

impl Reduced<'_> {
    /// Not a part of [`with_plan`], because the plan is large and would be on its stack, too.
    fn with_new_plan<R>(self, run: impl FnOnce(&PlannedReduce, [isize; 2]) -> R) -> Result<R> {
        Ok(run(&self.plan()?, [0; 2]))
    }

    fn plan(self) -> Result<PlannedReduce> {
        Ok(PlannedReduce::new(self.direct()?))
    }

    /// The plan that reads the input where it lies.
    ///
    /// # Errors
    /// None, if input and result have the shapes of the reduction.
    pub(super) fn direct(self) -> Result<ReduceWork> {
        let result = self.shape.broadcast_result(self.result)?;
        let form = self.operation.form();
        let indices = match form.returns_indices {
            true => self.shape.indices()?,
            false => self.shape.zero_layout()?,
        };
        let layouts = [self.input, &result, &indices];
        Ok(ReduceWork::plan(layouts, form.widths, form.repeats))
    }

    /// The entry of this reduction, which is made if it is not kept. `None` if it cannot be kept.
    fn entry<'s>(&self, slots: &'s mut [Slot<Entry>; SLOTS]) -> Option<&'s mut Entry> {
        let ndim = self.input.ndim();
        if ndim > MAX_DIMS {
            return None;
        }
        let dims = self.dims();
        let form = self.operation.form();
        let slot = &mut slots[slot(&dims[..ndim], form.widths.input)];
        let is_it = |entry: &Entry| entry.ndim == ndim && entry.dims == dims && entry.form == form;
        if !slot[0].first().is_some_and(is_it) {
            make_first(slot, is_it, |place| {
                let (plan, offsets) = (self.plan().ok()?, self.offsets());
                place.push(Entry { ndim, dims, form, offsets, plan });
                Some(())
            })?;
        }
        slot[0].first_mut()
    }

    /// Of each dimension the size, the stride of the input, and the stride of the result.
    fn dims(&self) -> [[isize; 3]; MAX_DIMS] {
        let keeps_dims = self.result.ndim() == self.input.ndim();
        let mut of_result = self.result.strides().iter();
        let mut dims = [[0; 3]; MAX_DIMS];
        let sizes = self.input.shape().iter().zip(self.input.strides());
        for (d, (dim, (&len, &stride))) in dims.iter_mut().zip(sizes).enumerate() {
            let is_reduced = self.shape.is_reduced(d);
            let of_result = if !is_reduced || keeps_dims { of_result.next() } else { None };
            let of_result = of_result.filter(|_| !is_reduced).copied().unwrap_or(REDUCED);
            *dim = [len as isize, stride, of_result];
        }
        dims
    }

    fn offsets(&self) -> [usize; 2] {
        [self.result, self.input].map(Layout::offset)
    }

    /// The bytes by which result and input lie behind the starts of the entry's plan.
    fn behind(&self, entry: &Entry) -> [isize; 2] {
        let widths = [entry.form.widths.output, entry.form.widths.input];
        std::array::from_fn(|k| {
            let elements = self.offsets()[k].wrapping_sub(entry.offsets[k]);
            elements.wrapping_mul(widths[k]) as isize
        })
    }
}

/// The slot of a reduction: a hash of shape, strides and width.
fn slot(dims: &[[isize; 3]], width: usize) -> usize {
    let hash = dims.as_flattened().iter().fold(width as u64, |hash, &word| {
        (hash ^ word as u64).wrapping_mul(HASH_FACTOR).rotate_left(29)
    });
    (hash.wrapping_mul(HASH_FACTOR) >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// 2⁶⁴ over the golden ratio: odd, with bits everywhere (Knuth, The Art of Computer Programming,
/// volume 3, section 6.4).
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use super::*;
    use crate::kernel::{Fold, FoldReduction};

    struct Sum;

    impl Fold<i32> for Sum {
        type Accumulator = i64;
        type Output = i64;

        const IDENTITY: i64 = 0;
        const ANY_ORDER: bool = false;

        fn from_element(element: i32) -> i64 {
            element.into()
        }

        fn combine(a: i64, b: i64) -> i64 {
            a + b
        }

        fn finalize(&self, sum: i64) -> i64 {
            sum
        }
    }

    /// A kept plan is the plan that is made anew, whatever was planned before.
    #[test]
    fn a_kept_plan_is_that_of_its_layouts() {
        let operation = FoldReduction(Sum, PhantomData);
        let whole = Layout::contiguous([5, 12, 9, 40]).unwrap();
        for len in (1..6 * SLOTS).chain(1..9) {
            let input =
                whole.select(0, (len % 5) as isize).unwrap().narrow(2, 0, 1 + len % 40).unwrap();
            for (over, keepdim) in [(0, false), (1, true), (2, false)] {
                let over = tensor_core::ReduceDims::from(over);
                let over = if keepdim { over.keepdim() } else { over };
                let shape = input.reduced("sum", over).unwrap();
                let result = Layout::contiguous(shape.shape()).unwrap();
                let reduced = Reduced {
                    input: &input,
                    result: &result,
                    shape: &shape,
                    operation: &operation,
                };
                let (kept, behind) = with_plan(reduced, |plan, by| (plan.clone(), by)).unwrap();
                if behind == [0, 0] {
                    assert_eq!(kept, reduced.plan().unwrap());
                } else {
                    let moved = (input.offset() as isize - kept_offset(&kept)) * 4;
                    assert_eq!(behind[1], moved);
                }
            }
        }
    }

    /// The offset of the input for which a plan was made, all of whose strides are positive.
    fn kept_offset(plan: &PlannedReduce) -> isize {
        match plan {
            PlannedReduce::Direct(work) => work.starts[0],
            PlannedReduce::Copied(copied) => copied.part(0).starts[1],
            PlannedReduce::Listed(listed) => listed.starts[1],
            PlannedReduce::TwoStage(two) => {
                two.pieces().map(|piece| piece.first.starts[0]).min().unwrap()
            }
        }
    }
}
