//! What is computed of rows that are adjacent in memory: each loop over floats that the compiler
//! vectorises as it stands.

use crate::{element::Real, math::FmaMode};

/// Partial results side by side: a register of the widest instruction set.
const LANES: usize = 16;

/// Elements that are added in sequence by the lanes of one leaf of a sum.
const LEAF_ELEMENTS: usize = 64 * LANES;

/// The largest element; NaN is passed over. −∞ if there is none.
#[inline(always)]
pub(super) fn max_of<F: Real>(row: &[F]) -> F {
    let larger = |a: F, b: F| if a.is_less(b) { b } else { a };
    let least = F::from_f64(f64::NEG_INFINITY);
    let mut lanes = [least; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, x);
        }
    }
    rest.iter().chain(&lanes).fold(least, |a, &b| larger(a, b))
}

/// The sum of `f` of the elements. Each takes part in at most 64 additions in sequence in its lane,
/// 15 with other lanes, 15 after the last whole vector, and one for each doubling beyond 1024
/// elements.
#[inline(always)]
pub(super) fn sum_of<F: Real>(row: &[F], f: impl Fn(F) -> F) -> F {
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
    let zero = F::from_f64(0.0);
    let mut lanes = [zero; LANES];
    let chunks = leaf.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = lane.plus(f(x));
        }
    }
    rest.iter().fold(lanes.iter().fold(zero, |a, &b| a.plus(b)), |a, &b| a.plus(f(b)))
}

/// Replaces the elements by their powers of e.
#[inline(always)]
pub(super) fn exp_in_place<M: FmaMode, F: Real>(elements: &mut [F]) {
    for x in elements {
        *x = x.exp::<M>();
    }
}

/// Subtracts a number from all elements.
#[inline(always)]
pub(super) fn subtract<F: Real>(elements: &mut [F], number: F) {
    for x in elements {
        *x = x.minus(number);
    }
}

/// Divides all elements by a number.
#[inline(always)]
pub(super) fn divide<F: Real>(elements: &mut [F], number: F) {
    for x in elements {
        *x = x.divided_by(number);
    }
}
