//! Reductions of few elements, whose offsets are listed.
//!
//! A result is one value in registers from its first element to its last, so there are no
//! accumulators in memory, no blocks and no loops to walk. It takes a cycle an element, whatever
//! the layout. The instructions are those of the target's baseline: single elements gain nothing
//! from wider registers.

use super::reduction::{Fold, read};

/// Sums of more elements are computed in this many parts side by side, so that none waits for the
/// one before.
const LANES: usize = 8;

/// The accumulator of some elements.
///
/// # Safety
/// Every offset of the list can be read from `src` on, and is aligned.
#[inline(always)]
pub(super) unsafe fn fold_listed<F: Fold<T>, T: Copy>(
    src: *const T,
    list: &[i32],
) -> F::Accumulator {
    let (whole, rest) = list.as_chunks::<LANES>();
    let mut last = F::IDENTITY;
    for &offset in rest {
        // SAFETY: this function's contract.
        let element = unsafe { element(src, offset) };
        last = F::combine(last, F::from_element(element));
    }
    if whole.is_empty() {
        return last;
    }
    // The array stays in registers, because it is indexed by constants only.
    let mut lanes = [F::IDENTITY; LANES];
    for offsets in whole {
        for (lane, &offset) in lanes.iter_mut().zip(offsets) {
            // SAFETY: this function's contract.
            let element = unsafe { element(src, offset) };
            *lane = F::combine(*lane, F::from_element(element));
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let first = F::combine(F::combine(a, b), F::combine(c, d));
    let all = F::combine(first, F::combine(F::combine(e, f), F::combine(g, h)));
    F::combine(all, last)
}

/// # Safety
/// The element can be read and is aligned.
#[inline(always)]
pub(super) unsafe fn element<T: Copy>(src: *const T, offset: i32) -> T {
    // SAFETY: this function's contract.
    unsafe { read(src.wrapping_offset(offset as isize), 0) }
}
