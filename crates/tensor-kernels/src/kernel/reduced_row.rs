//! The elements of a row that is reduced become partial results: the part of [`fold`](super::fold)
//! that reads them.
//!
//! A long row is read in four streams at once, a short one from its first element to its last. In
//! memory this is more than the hardware follows: the streams of a row of some kilobytes end before
//! it has recognised them. So the rows some way ahead are prefetched.

use super::{
    kept_columns::tree_of_rows,
    prefetch::prefetch_bytes,
    reduction::{Fold, read},
};
use crate::reduction_order::{PARTIALS_PER_ROW, ROWS_PER_TREE, STREAMED_ELEMENTS, TREE_LEAVES};

/// Parts of a row that are read side by side.
const STREAMS: usize = 4;

/// Fewer elements at the end of a row are combined one by one.
const MIN_LAST_ELEMENTS: usize = 16;

/// The leaves of a row of at least `P` elements and less than `8 P`, where `P` is `QUARTERS` times
/// [`TREE_LEAVES`].
///
/// The row has `P` partial results, each the tree of the elements `P` apart. The last elements are
/// read together with some before them, which are replaced. All of it is one loop over the leaves,
/// which the compiler vectorises: partial results in memory would be read back before they are
/// written.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn leaves_of_short_row<F: Fold<T>, T: Copy, const QUARTERS: usize>(
    src: *const T,
    len: usize,
) -> [F::Accumulator; TREE_LEAVES] {
    let partials = const { QUARTERS * TREE_LEAVES };
    let (whole, rest) = (len / partials, len % partials);
    let last = src.wrapping_add(len - partials);
    let replaced = (partials - rest) as u32;
    let mut leaves = [F::IDENTITY; TREE_LEAVES];
    // Macros, because a closure might not be inlined.
    macro_rules! combine {
        ($first:expr) => { $first };
        ($first:expr, $($other:expr),+) => { F::combine($first, combine!($($other),+)) };
    }
    macro_rules! partial {
        ($at:expr, $(($($k:literal)+))+) => {{
            let at: usize = $at;
            // SAFETY: `len - partials + at < len`.
            let end = F::from_element(unsafe { read(last, at) });
            let end = if NUMBERS[at] < replaced { F::IDENTITY } else { end };
            let whole = combine!($(combine!($(
                // SAFETY: `$k < whole`, so `$k * partials + at < len`.
                F::from_element(unsafe { read(src, $k * partials + at) })
            ),+)),+);
            F::combine(whole, end)
        }};
    }
    macro_rules! leaves_of {
        ($($tree:tt)+) => {
            for (i, leaf) in leaves.iter_mut().enumerate() {
                *leaf = if const { QUARTERS == 1 } {
                    partial!(i, $($tree)+)
                } else {
                    F::combine(
                        F::combine(
                            partial!(i, $($tree)+),
                            partial!(i + 2 * TREE_LEAVES, $($tree)+),
                        ),
                        F::combine(
                            partial!(i + TREE_LEAVES, $($tree)+),
                            partial!(i + 3 * TREE_LEAVES, $($tree)+),
                        ),
                    )
                };
            }
        };
    }
    match whole {
        1 => leaves_of!((0)),
        2 => leaves_of!((0 1)),
        3 => leaves_of!((0 1)(2)),
        _ if const { QUARTERS == 1 } => {}
        4 => leaves_of!((0 1)(2 3)),
        5 => leaves_of!((0 1)(2 3)(4)),
        6 => leaves_of!((0 1)(2 3)(4 5)),
        _ => leaves_of!((0 1)(2 3)(4 5)(6)),
    }
    leaves
}

/// Each number's own: compared as 32-bit integers, as the numbers of a loop would not be.
const NUMBERS: [u32; PARTIALS_PER_ROW] = {
    let mut numbers = [0; PARTIALS_PER_ROW];
    let mut at = 0;
    while at < PARTIALS_PER_ROW {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// Combines the elements of a row with its partial results. What lies `ahead` bytes behind them is
/// prefetched, unless that is 0.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn combine_row<F: Fold<T>, T: Copy>(
    src: *const T,
    len: usize,
    parts: &mut [F::Accumulator; PARTIALS_PER_ROW],
    ahead: isize,
) {
    let stream = len / STREAMED_ELEMENTS * (STREAMED_ELEMENTS / STREAMS);
    // The pointers are computed before the loop. If they were computed inside it, the compiler
    // would put about a hundred instructions that check for overflow in front of it.
    let mut r = [src; ROWS_PER_TREE];
    for (k, part) in r.iter_mut().enumerate() {
        *part = src.wrapping_add(k % STREAMS * stream + k / STREAMS * PARTIALS_PER_ROW);
    }
    for _ in (0..stream).step_by(STREAMED_ELEMENTS / STREAMS) {
        for part in &r {
            prefetch_partials(*part, ahead);
        }
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `i < PARTIALS_PER_ROW`, and all streams end before the row does.
            *part = F::combine(*part, unsafe { tree_of_rows::<F, T>(&r, i) });
        }
        for part in &mut r {
            *part = part.wrapping_add(STREAMED_ELEMENTS / STREAMS);
        }
    }
    let mut at = STREAMS * stream;
    while at + PARTIALS_PER_ROW <= len {
        prefetch_partials(src.wrapping_add(at), ahead);
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `at + i < at + PARTIALS_PER_ROW <= len`.
            *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
        }
        at += PARTIALS_PER_ROW;
    }
    if len - at >= MIN_LAST_ELEMENTS && len >= PARTIALS_PER_ROW {
        // The last elements are read together with some before them, which are left out.
        let last = src.wrapping_add(len - PARTIALS_PER_ROW);
        let left_out = (PARTIALS_PER_ROW - (len - at)) as u32;
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `len - PARTIALS_PER_ROW + i < len`.
            let combined = F::combine(*part, F::from_element(unsafe { read(last, i) }));
            *part = if NUMBERS[i] < left_out { *part } else { combined };
        }
        return;
    }
    for (i, part) in parts.iter_mut().enumerate().take(len - at) {
        // SAFETY: `i < len - at`, so `at + i < len`.
        *part = F::combine(*part, F::from_element(unsafe { read(src, at + i) }));
    }
}

/// Prefetches what lies `ahead` bytes behind the elements of [`PARTIALS_PER_ROW`] partial results,
/// unless that is 0.
#[inline(always)]
fn prefetch_partials<T>(elements: *const T, ahead: isize) {
    if ahead != 0 {
        let bytes = const { PARTIALS_PER_ROW * size_of::<T>() };
        prefetch_bytes(elements.wrapping_byte_offset(ahead).cast(), bytes);
    }
}
