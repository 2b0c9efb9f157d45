//! Tiles: how many iterations of each loop are worked on at a time.
//!
//! The elements of a tile lie close to each other in every operand, so that cache lines are used
//! while they are cached, and there are few enough of them for scratch.

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use crate::nest::Loop;

/// A number of iterations for each loop.
pub(crate) type Counts = SmallVec<[usize; 6]>;

/// The smallest tile with `target` bytes that lie close to each other: of the result, and of each
/// operand that is packed.
pub(super) fn reach<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    (result, operand): (usize, usize),
) -> Counts {
    let mut counts: Counts = loops.iter().map(|_| 1).collect();
    extend(&mut counts, loops, 0, result / widths[0]);
    for k in (1..N).filter(|&k| packed[k]) {
        extend(&mut counts, loops, k, operand / widths[k]);
    }
    counts
}

/// Extends a tile until operand `k` has `target` elements of it that lie close to each other.
fn extend<const N: usize>(counts: &mut Counts, loops: &[Loop<N>], k: usize, target: usize) {
    let mut order: SmallVec<[usize; 6]> =
        (0..loops.len()).filter(|&at| loops[at].strides[k] != 0).collect();
    sort_by_key(&mut order, |&at| loops[at].strides[k].unsigned_abs());
    let mut run = 1;
    for at in order {
        if run >= target {
            return;
        }
        counts[at] = counts[at].max(target.div_ceil(run).min(loops[at].len));
        run *= counts[at];
    }
}

/// Extends a tile up to `limit` elements, along the innermost loops first; then cuts each loop into
/// tiles of about the same length.
pub(super) fn fill<const N: usize>(counts: &mut Counts, loops: &[Loop<N>], limit: usize) {
    for at in (0..loops.len()).rev() {
        let others: usize = counts.iter().product::<usize>() / counts[at];
        counts[at] = (limit / others).clamp(counts[at], loops[at].len);
    }
    for (count, l) in counts.iter_mut().zip(loops) {
        *count = l.len.div_ceil(l.len.div_ceil(*count));
    }
}
