//! Shuffle tables for elements a small stride apart, computed at compile time.

use super::register::LANE_BYTES;

/// An index that makes a shuffle write 0.
const ZERO: u8 = 0x80;

/// The shuffle of lane `k` of a window that picks the elements at `first`, `first + step`, … that
/// lie in this lane, and puts each at its index in the result. The bitwise or of the shuffles of
/// all lanes is the result.
pub(super) const fn gather_shuffle(
    width: usize,
    first: usize,
    step: isize,
    k: usize,
) -> [u8; LANE_BYTES] {
    let mut index = [ZERO; LANE_BYTES];
    let mut b = 0;
    while b < LANE_BYTES {
        let element = first as isize + (b / width) as isize * step;
        let from = element as usize * width + b % width;
        if from / LANE_BYTES == k {
            index[b] = (from % LANE_BYTES) as u8;
        }
        b += 1;
    }
    index
}

/// The shuffle of plane `c` of `n` that puts its elements at their positions in lane `k` of the
/// interleaved result. The bitwise or of the shuffles of all planes is the lane. If `descending`,
/// the elements of a plane are in reverse.
pub(super) const fn interleave_shuffle(
    width: usize,
    n: usize,
    c: usize,
    k: usize,
    descending: bool,
) -> [u8; LANE_BYTES] {
    let last = LANE_BYTES / width - 1;
    let mut index = [ZERO; LANE_BYTES];
    let mut b = 0;
    while b < LANE_BYTES {
        let element = (k * LANE_BYTES + b) / width;
        if element % n == c {
            let at = if descending { last - element / n } else { element / n };
            index[b] = (at * width + b % width) as u8;
        }
        b += 1;
    }
    index
}
