//! What is computed of rows that are adjacent in memory: each loop over floats that the compiler
//! vectorises as it stands.
//!
//! # Tried and dropped
//! All on Zen 5:
//! - The elements after the last whole vector of a row as its last 64, without those that have been
//!   combined, or combined by themselves, instead of a copy on the stack. The compiler keeps the
//!   lanes in memory then: rows of whole vectors take up to three times as long, others little
//!   less. So `norm` takes 16 ns for 64 elements, but 31 ns for 100.
//! - 64 lanes for rows of 16 to 63 elements: softmax of 16 takes 2.5 times as long.
//! - 16 lanes for rows of 64 to 255: `norm` and `var` take three to seven times as long.

use crate::{element::Real, math::FmaMode};

/// Partial results side by side: four registers of the widest instruction set, as an addition takes
/// as long as four registers to begin one.
const LANES: usize = 64;

/// Those of rows with fewer elements than that.
const FEW_LANES: usize = 16;

/// Elements that are added in sequence by the lanes of one leaf of a sum.
const LEAF_ELEMENTS: usize = 64 * LANES;

/// All elements, as `f` has them, combined by `combine` from `identity` on: in lanes, and then
/// these in halves.
#[inline(always)]
fn combined<F: Real>(row: &[F], identity: F, f: impl Fn(F) -> F, combine: impl Fn(F, F) -> F) -> F {
    if row.len() < LANES {
        return in_few_lanes(row, identity, f, combine);
    }
    let mut lanes = [identity; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        // Not in place: a choice would be compiled to a store under a mask, and each comparison
        // would wait for the last one's. That took two fifths of the time of `logsumexp`.
        lanes = std::array::from_fn(|lane| combine(lanes[lane], f(chunk[lane])));
    }
    if !rest.is_empty() {
        let mut last = [identity; LANES];
        for (last, &x) in last.iter_mut().zip(rest) {
            *last = f(x);
        }
        lanes = std::array::from_fn(|lane| combine(lanes[lane], last[lane]));
    }
    halved(lanes, combine)
}

/// The same for fewer than [`LANES`] elements; those after the last whole vector one by one.
#[inline(always)]
fn in_few_lanes<F: Real>(
    row: &[F],
    identity: F,
    f: impl Fn(F) -> F,
    combine: impl Fn(F, F) -> F,
) -> F {
    let (chunks, rest) = row.as_chunks::<FEW_LANES>();
    let mut all = identity;
    if !chunks.is_empty() {
        let mut lanes = [identity; FEW_LANES];
        for chunk in chunks {
            lanes = std::array::from_fn(|lane| combine(lanes[lane], f(chunk[lane])));
        }
        all = halved(lanes, &combine);
    }
    rest.iter().fold(all, |a, &b| combine(a, f(b)))
}

#[inline(always)]
fn halved<F: Real, const LANES: usize>(mut lanes: [F; LANES], combine: impl Fn(F, F) -> F) -> F {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// The largest element; NaN is passed over. −∞ if there is none.
#[inline(always)]
pub(super) fn max_of<F: Real>(row: &[F]) -> F {
    let larger = |a: F, b: F| if a.is_less(b) { b } else { a };
    combined(row, F::from_f64(f64::NEG_INFINITY), |x| x, larger)
}

/// The largest magnitude, or the smallest; NaN if one is NaN.
#[inline(always)]
pub(super) fn extreme_magnitude<F: Real>(row: &[F], largest: bool) -> F {
    if largest {
        combined(row, F::from_f64(0.0), F::magnitude, F::maximum)
    } else {
        combined(row, F::from_f64(f64::INFINITY), F::magnitude, F::minimum)
    }
}

/// The sum of `f` of the elements. Each takes part in at most 65 additions in sequence in its lane,
/// 6 with other lanes, and one for each doubling beyond 4096 elements: at most 71, and of more than
/// 4096 elements at most 59 plus the logarithm of their number to base 2.
#[inline(always)]
pub(super) fn sum_of<F: Real>(row: &[F], f: impl Fn(F) -> F) -> F {
    if row.len() <= LEAF_ELEMENTS {
        return leaf_sum(row, &f);
    }
    let zero = F::from_f64(0.0);
    // The sum of 2^i leaves, if bit i of the number of leaves is set.
    let mut levels = [zero; usize::BITS as usize];
    let (mut leaves, mut total) = (0usize, zero);
    for leaf in row.chunks(LEAF_ELEMENTS) {
        let mut sum = leaf_sum(leaf, &f);
        let mut level = 0;
        while leaves >> level & 1 == 1 {
            sum = levels[level].plus(sum);
            level += 1;
        }
        levels[level] = sum;
        leaves += 1;
    }
    for (level, &sum) in levels.iter().enumerate() {
        if leaves >> level & 1 == 1 {
            total = total.plus(sum);
        }
    }
    total
}

#[inline(always)]
fn leaf_sum<F: Real>(leaf: &[F], f: &impl Fn(F) -> F) -> F {
    combined(leaf, F::from_f64(0.0), f, F::plus)
}

/// Elements that are checked for large arguments together.
const CHECKED_ELEMENTS: usize = 256;

/// Replaces the elements by their powers of e.
#[inline(always)]
pub(super) fn exp_in_place<M: FmaMode, F: Real>(elements: &mut [F]) {
    for chunk in elements.chunks_mut(CHECKED_ELEMENTS) {
        if F::EXP_HAS_LARGE_ARGUMENT_PATH
            && !chunk.iter().fold(false, |any, x| any | x.is_large_exp())
        {
            for x in chunk {
                *x = x.exp_fast::<M>();
            }
        } else {
            for x in chunk {
                *x = x.exp_with::<M>();
            }
        }
    }
}

/// Writes the elements minus a number.
#[inline(always)]
pub(super) fn subtract<F: Real>(elements: &[F], number: F, out: &mut [F]) {
    for (out, &x) in out.iter_mut().zip(elements) {
        *out = x.minus(number);
    }
}

/// Divides all elements by a number.
#[inline(always)]
pub(super) fn divide<F: Real>(elements: &mut [F], number: F) {
    for x in elements {
        *x = x.divided_by(number);
    }
}
