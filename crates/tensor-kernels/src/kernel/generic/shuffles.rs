//! Shuffle tables for elements a few apart, made at compile time.

use super::register::LANE_BYTES;

/// The index that makes a shuffle write 0.
const ZERO: u8 = 0x80;

/// The shuffle that takes from lane `k` of a window the elements at `first`, `first + step`, … and
/// puts them side by side, each where it belongs in the result; the shuffles of all lanes of the
/// window, joined, are the result.
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

/// The shuffle that puts the elements of plane `c` of `n` where they belong in lane `k` of the
/// interleaved result; the shuffles of all planes, joined, are the lane.
pub(super) const fn interleave_shuffle(
    width: usize,
    n: usize,
    c: usize,
    k: usize,
) -> [u8; LANE_BYTES] {
    let mut index = [ZERO; LANE_BYTES];
    let mut b = 0;
    while b < LANE_BYTES {
        let element = (k * LANE_BYTES + b) / width;
        if element % n == c {
            index[b] = (element / n * width + b % width) as u8;
        }
        b += 1;
    }
    index
}
