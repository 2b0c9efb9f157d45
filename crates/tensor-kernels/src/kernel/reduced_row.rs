//! The elements of a row that is reduced become partial results: the part of [`fold`](super::fold)
//! that reads them.
//!
//! A long row is read in four streams at once, a short one from its first element to its last. In
//! memory this is more than the hardware follows: the streams of a row of some kilobytes end before
//! it has recognised them. So the rows some way ahead are prefetched.

use std::hint::black_box;

use super::{
    kept_columns::tree_of_rows,
    prefetch::prefetch_bytes,
    reduction::{Fold, read},
};
use crate::reduction_order::{PARTIALS_PER_ROW, ROWS_PER_TREE, STREAMED_ELEMENTS, TREE_LEAVES};

/// Parts of a row that are read side by side.
const STREAMS: usize = 4;

/// The leaves of a row of at least `P` elements and less than `8 P`, where `P` is `QUARTERS` times
/// [`TREE_LEAVES`].
///
/// The row has `P` partial results, each the tree of the elements `P` apart. All of them are
/// computed in one loop over the leaves, which the compiler vectorises: partial results in memory
/// would be read back before they are written. The last elements, less than `P`, are combined with
/// the leaves.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn leaves_of_short_row<F: Fold<T>, T: Copy, const QUARTERS: usize>(
    src: *const T,
    len: usize,
) -> [F::Accumulator; TREE_LEAVES] {
    let partials = const { QUARTERS * TREE_LEAVES };
    let whole = len / partials;
    let mut leaves = [F::IDENTITY; TREE_LEAVES];
    // Macros, because a closure might not be inlined.
    macro_rules! combine {
        ($first:expr) => { $first };
        ($first:expr, $($other:expr),+) => { F::combine($first, combine!($($other),+)) };
    }
    macro_rules! partial {
        ($at:expr, $(($($k:literal)+))+) => {{
            let at: usize = $at;
            combine!($(combine!($(
                // SAFETY: `$k < whole`, so `$k * partials + at < len`.
                F::from_element(unsafe { read(src, $k * partials + at) })
            ),+)),+)
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
    if !len.is_multiple_of(partials) {
        // SAFETY: this function's contract; the row has more than `TREE_LEAVES` elements.
        let ends = unsafe { ends_of_row::<F, T>(src, whole * partials, len) };
        combine_leaves::<F, T>(&mut leaves, &ends);
    }
    leaves
}

/// Combines leaves with others.
#[inline(always)]
pub(super) fn combine_leaves<F: Fold<T>, T>(
    leaves: &mut [F::Accumulator; TREE_LEAVES],
    others: &[F::Accumulator; TREE_LEAVES],
) {
    for (leaf, &other) in leaves.iter_mut().zip(others) {
        *leaf = F::combine(*leaf, other);
    }
}

/// The leaves of the last elements of a row, from `at` on, fewer than [`PARTIALS_PER_ROW`].
///
/// # Safety
/// `len` elements can be read and are aligned, and `at < len`; there are at least [`TREE_LEAVES`].
#[inline(always)]
unsafe fn ends_of_row<F: Fold<T>, T: Copy>(
    src: *const T,
    mut at: usize,
    len: usize,
) -> [F::Accumulator; TREE_LEAVES] {
    let mut ends = [F::IDENTITY; TREE_LEAVES];
    while at + TREE_LEAVES <= len {
        for (i, end) in ends.iter_mut().enumerate() {
            // SAFETY: `at + i < at + TREE_LEAVES <= len`.
            *end = F::combine(*end, F::from_element(unsafe { read(src, at + i) }));
        }
        at += TREE_LEAVES;
    }
    if at < len {
        // They are read together with some before them, which are left out.
        let last = src.wrapping_add(len - TREE_LEAVES);
        // Hidden from the compiler, which can tell that the first is left out and the last is not,
        // and would compute these two by themselves.
        let left_out = black_box((TREE_LEAVES - (len - at)) as u32);
        for (i, end) in ends.iter_mut().enumerate() {
            // SAFETY: `len - TREE_LEAVES + i < len`.
            let element = F::from_element(unsafe { read(last, i) });
            let element = if NUMBERS[i] < left_out { F::IDENTITY } else { element };
            *end = F::combine(*end, element);
        }
    }
    ends
}

/// The numbers of the leaves, as 32-bit integers. The counter of a loop has 64 bits, of which a
/// register compares half as many at once.
const NUMBERS: [u32; TREE_LEAVES] = {
    let mut numbers = [0; TREE_LEAVES];
    let mut at = 0;
    while at < TREE_LEAVES {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// Combines the elements of a row with its partial results, and the last ones, fewer than these,
/// with leaves of their own. What lies `ahead` bytes behind them is prefetched, unless that is 0.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn combine_row<F: Fold<T>, T: Copy>(
    src: *const T,
    len: usize,
    parts: &mut [F::Accumulator; PARTIALS_PER_ROW],
    ends: &mut [F::Accumulator; TREE_LEAVES],
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
    if len < TREE_LEAVES {
        // Not in `ends`, which has to stay in registers: an array that is indexed up to a length
        // known only at run time is kept in memory.
        let mut few = [F::IDENTITY; TREE_LEAVES];
        for (i, leaf) in few.iter_mut().enumerate().take(len) {
            // SAFETY: `i < len`.
            *leaf = F::from_element(unsafe { read(src, i) });
        }
        combine_leaves::<F, T>(ends, &few);
    } else if at < len {
        // SAFETY: this function's contract.
        combine_leaves::<F, T>(ends, &unsafe { ends_of_row::<F, T>(src, at, len) });
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
