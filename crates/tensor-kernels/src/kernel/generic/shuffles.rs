//! Shuffle tables for elements a few apart, made at compile time.

use super::register::PIECE;

/// The index that makes a shuffle write 0.
const NOTHING: u8 = 0x80;

/// The shuffle that takes from piece `k` of a window the elements at `first`, `first + step`, … and
/// puts them side by side, each where it belongs in the result; the shuffles of all pieces of the
/// window, joined, are the result.
pub(super) const fn pick(width: usize, first: usize, step: isize, k: usize) -> [u8; PIECE] {
    let mut index = [NOTHING; PIECE];
    let mut b = 0;
    while b < PIECE {
        let element = first as isize + (b / width) as isize * step;
        let from = element as usize * width + b % width;
        if from / PIECE == k {
            index[b] = (from % PIECE) as u8;
        }
        b += 1;
    }
    index
}

/// The shuffle that puts the elements of plane `c` of `n` where they belong in piece `k` of the
/// interleaved result; the shuffles of all planes, joined, are the piece.
pub(super) const fn weave(width: usize, n: usize, c: usize, k: usize) -> [u8; PIECE] {
    let mut index = [NOTHING; PIECE];
    let mut b = 0;
    while b < PIECE {
        let element = (k * PIECE + b) / width;
        if element % n == c {
            index[b] = (element / n * width + b % width) as u8;
        }
        b += 1;
    }
    index
}
