//! What is computed of rows that are adjacent in memory: each loop over floats that the compiler
//! vectorises as it stands.

use crate::{element::Real, math::FmaMode};

/// Partial results side by side: a register of the widest instruction set, or four of them, as an
/// addition takes as long as four registers to begin one.
const FEW_LANES: usize = 16;
const LANES: usize = 64;

/// Rows of fewer elements are combined in few lanes.
const SHORT_ROW_ELEMENTS: usize = 4 * LANES;

/// Elements that are added in sequence by the lanes of one leaf of a sum.
const LEAF_ELEMENTS: usize = 64 * LANES;

/// All elements combined by `combine` from `identity` on: in lanes, and then these in halves.
#[inline(always)]
fn combined<F: Real>(row: &[F], identity: F, combine: impl Fn(F, F) -> F) -> F {
    if row.len() < SHORT_ROW_ELEMENTS {
        in_lanes::<FEW_LANES, F>(row, identity, combine)
    } else {
        in_lanes::<LANES, F>(row, identity, combine)
    }
}

#[inline(always)]
fn in_lanes<const LANES: usize, F: Real>(row: &[F], identity: F, combine: impl Fn(F, F) -> F) -> F {
    let mut lanes = [identity; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    if row.len() < LANES {
        return rest.iter().fold(identity, |a, &b| combine(a, b));
    }
    for chunk in chunks {
        // Not in place: a choice would be compiled to a store under a mask, and each comparison
        // would wait for the last one's. That took two fifths of the time of `logsumexp`.
        lanes = std::array::from_fn(|lane| combine(lanes[lane], chunk[lane]));
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    rest.iter().fold(lanes[0], |a, &b| combine(a, b))
}

/// The largest element; NaN is passed over. −∞ if there is none.
#[inline(always)]
pub(super) fn max_of<F: Real>(row: &[F]) -> F {
    let larger = |a: F, b: F| if a.is_less(b) { b } else { a };
    combined(row, F::from_f64(f64::NEG_INFINITY), larger)
}

/// The largest magnitude, or the smallest; NaN if one is NaN.
#[inline(always)]
pub(super) fn extreme_magnitude<F: Real>(row: &[F], largest: bool) -> F {
    if largest {
        combined(row, F::from_f64(0.0), |a, b| a.maximum(b.magnitude()))
    } else {
        combined(row, F::from_f64(f64::INFINITY), |a, b| a.minimum(b.magnitude()))
    }
}

/// The sum of `f` of the elements. Each takes part in at most 64 additions in sequence in its lane,
/// 6 with other lanes, 63 with the elements after the last whole vector, and one for each doubling
/// beyond 4096 elements: at most 121 and the logarithm of their number to base 2.
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
    let add = |sum: F, x: F| sum.plus(f(x));
    if leaf.len() < SHORT_ROW_ELEMENTS {
        sum_in_lanes::<FEW_LANES, F>(leaf, add)
    } else {
        sum_in_lanes::<LANES, F>(leaf, add)
    }
}

#[inline(always)]
fn sum_in_lanes<const LANES: usize, F: Real>(leaf: &[F], add: impl Fn(F, F) -> F) -> F {
    let zero = F::from_f64(0.0);
    let chunks = leaf.chunks_exact(LANES);
    let rest = chunks.remainder();
    let mut sum = zero;
    if leaf.len() >= LANES {
        let mut lanes = [zero; LANES];
        for chunk in chunks {
            lanes = std::array::from_fn(|lane| add(lanes[lane], chunk[lane]));
        }
        sum = in_lanes::<LANES, F>(&lanes, zero, F::plus);
    }
    rest.iter().fold(sum, |sum, &x| add(sum, x))
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
