//! The best key of adjacent elements, and the smallest index at which it occurs: the loops of
//! [`arg_reduce`](super::arg_reduce) for columns that are reduced.
//!
//! The key is found first, as a minimum or maximum is, without the indices. Only where it wins over
//! the key of all elements before are the elements read again, to find it. So most elements are
//! read once, and from the cache the second time. To keep the number of the best row beside each of
//! 64 keys took 1.2 to 2.7 times as long for rows of 300 floats and more (Zen 5).

use super::{arg_reduce::ArgOrder, reduction::read};
use crate::element::Compare;

/// Elements that are searched together.
const CHUNK: usize = 64;

/// Keys that are kept side by side: of many elements, and of few.
const MANY_KEYS: usize = 64;
const FEW_KEYS: usize = 16;

/// Elements that are compared with each other before they reach one of these keys.
const TREE: usize = 8;

/// The index of no element.
pub(super) const NO_INDEX: isize = isize::MAX;

/// The key of element `at`.
///
/// # Safety
/// The element can be read and is aligned.
#[inline(always)]
pub(super) unsafe fn key_at<T: Compare>(src: *const T, at: usize) -> T::Key {
    const {
        assert!(size_of::<T::Stored>() == size_of::<T>());
        assert!(align_of::<T::Stored>() == align_of::<T>());
    };
    // SAFETY: this function's contract, for bytes of the same size and alignment. An element has no
    // uninitialised bytes (`NoUninit`), and any bytes are a `Stored` (`AnyBitPattern`).
    T::key_of_stored(unsafe { read(src.cast::<T::Stored>(), at) })
}

/// Adjacent elements: rows that follow each other without gaps, and the indices of their elements.
#[derive(Clone, Copy)]
pub(super) struct AdjacentRows<T> {
    pub(super) src: *const T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The index of the first element, and its steps from row to row and from column to column.
    pub(super) index: isize,
    pub(super) row_stride: isize,
    pub(super) column_stride: isize,
}

impl<T: Compare> AdjacentRows<T> {
    /// No index of these elements is smaller.
    #[inline(always)]
    pub(super) fn least_index(&self) -> isize {
        let down = |stride: isize, len: usize| stride.min(0) * (len - 1) as isize;
        self.index + down(self.row_stride, self.rows) + down(self.column_stride, self.columns)
    }

    /// The key that precedes or equals all others.
    ///
    /// # Safety
    /// All elements can be read and are aligned; there is at least one.
    #[inline(always)]
    pub(super) unsafe fn best_key<F: ArgOrder<T>>(&self) -> T::Key {
        let len = self.rows * self.columns;
        if len >= TREE * MANY_KEYS {
            // SAFETY: this function's contract.
            return unsafe { best_of::<F, T, MANY_KEYS>(self.src, len) };
        }
        if len >= FEW_KEYS {
            // SAFETY: as above.
            return unsafe { best_of::<F, T, FEW_KEYS>(self.src, len) };
        }
        // SAFETY: as above; there is an element.
        unsafe { best_of::<F, T, 1>(self.src, len) }
    }

    /// The smallest index of an element that `best` does not precede, if `best` precedes or equals
    /// all keys; or any index that is not less than `below`, if none is.
    ///
    /// # Safety
    /// All elements can be read and are aligned.
    #[inline(always)]
    pub(super) unsafe fn index_of<F: ArgOrder<T>>(&self, best: T::Key, below: isize) -> isize {
        if self.rows > 1 && self.columns < CHUNK {
            // SAFETY: this function's contract.
            return unsafe { self.index_in_short_rows::<F>(best, below) };
        }
        let mut smallest = below;
        for row in 0..self.rows {
            let row = Self {
                src: self.src.wrapping_add(row * self.columns),
                rows: 1,
                index: self.index + row as isize * self.row_stride,
                ..*self
            };
            if row.least_index() < smallest {
                // SAFETY: this function's contract.
                smallest = smallest.min(unsafe { row.index_in_row::<F>(best) });
            }
        }
        smallest
    }

    /// The same for one row. Its elements are visited in the order of their indices.
    ///
    /// # Safety
    /// All elements can be read and are aligned.
    #[inline(always)]
    unsafe fn index_in_row<F: ArgOrder<T>>(&self, best: T::Key) -> isize {
        let (len, backwards, mut done) = (self.columns, self.column_stride < 0, 0);
        while done < len {
            let count = CHUNK.min(len - done);
            let at = if backwards { len - done - count } else { done };
            let start = self.src.wrapping_add(at);
            // SAFETY: this function's contract: `at + count <= len`.
            if unsafe { has_key::<F, T>(start, count, best) } {
                // SAFETY: as above.
                let found = at + unsafe { position::<F, T>(start, count, best, backwards) };
                return self.index + self.column_stride * found as isize;
            }
            done += count;
        }
        NO_INDEX
    }

    /// The same for rows of which a chunk has several, in the order of the indices of rows.
    ///
    /// # Safety
    /// All elements can be read and are aligned.
    #[inline(always)]
    unsafe fn index_in_short_rows<F: ArgOrder<T>>(&self, best: T::Key, below: isize) -> isize {
        let (len, backwards, mut smallest) = (self.rows * self.columns, self.row_stride < 0, below);
        let in_row = self.column_stride.min(0) * (self.columns - 1) as isize;
        let mut done = 0;
        while done < len {
            let count = CHUNK.min(len - done);
            let at = if backwards { len - done - count } else { done };
            let first = if backwards { (at + count - 1) / self.columns } else { at / self.columns };
            if self.index + first as isize * self.row_stride + in_row >= smallest {
                break;
            }
            let start = self.src.wrapping_add(at);
            // SAFETY: this function's contract: `at + count <= len`.
            if unsafe { has_key::<F, T>(start, count, best) } {
                // SAFETY: as above.
                smallest = smallest.min(unsafe { self.index_among::<F>(at, count, best) });
            }
            done += count;
        }
        smallest
    }

    /// The same for `count` elements from `at` on.
    ///
    /// # Safety
    /// These elements can be read and are aligned.
    #[inline(always)]
    unsafe fn index_among<F: ArgOrder<T>>(&self, at: usize, count: usize, best: T::Key) -> isize {
        let (mut row, mut column, mut smallest) = (at / self.columns, at % self.columns, NO_INDEX);
        for k in at..at + count {
            // SAFETY: this function's contract.
            if !F::precedes(best, unsafe { key_at(self.src, k) }) {
                let steps = row as isize * self.row_stride + column as isize * self.column_stride;
                smallest = smallest.min(self.index + steps);
            }
            column += 1;
            if column == self.columns {
                (row, column) = (row + 1, 0);
            }
        }
        smallest
    }
}

/// The best of `len` keys, `TREE * N` or `N` at a time. The last of them overlap those before.
///
/// # Safety
/// `len >= N` elements can be read and are aligned.
#[inline(always)]
unsafe fn best_of<F: ArgOrder<T>, T: Compare, const N: usize>(src: *const T, len: usize) -> T::Key {
    let mut best = [F::LAST_KEY; N];
    let mut at = 0;
    // The compiler keeps the best keys in memory, which a tree of elements reaches less often.
    while at < len && len >= TREE * N {
        let from = at.min(len - TREE * N);
        for (i, key) in best.iter_mut().enumerate() {
            macro_rules! pair {
                ($k:literal) => {
                    F::best(
                        // SAFETY: `i < N`, so `from + i + 7 * N < from + TREE * N <= len`.
                        unsafe { key_at(src, from + i + $k * N) },
                        // SAFETY: as above.
                        unsafe { key_at(src, from + i + ($k + 1) * N) },
                    )
                };
            }
            let halves = [F::best(pair!(0), pair!(2)), F::best(pair!(4), pair!(6))];
            *key = F::best(*key, F::best(halves[0], halves[1]));
        }
        at += TREE * N;
    }
    while at < len {
        let from = at.min(len - N);
        for (i, key) in best.iter_mut().enumerate() {
            // SAFETY: `from + i < from + N <= len`.
            *key = F::best(*key, unsafe { key_at(src, from + i) });
        }
        at += N;
    }
    if size_of::<T::Key>() < 4 {
        // Integers, of which the compiler makes the tree itself.
        let mut first = best[0];
        for &key in &best {
            first = F::best(first, key);
        }
        return first;
    }
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            best[i] = F::best(best[i], best[i + half]);
        }
        half /= 2;
    }
    best[0]
}

/// Is any of `count` keys not preceded by `best`?
///
/// # Safety
/// `count` elements can be read and are aligned.
#[inline(always)]
unsafe fn has_key<F: ArgOrder<T>, T: Compare>(src: *const T, count: usize, best: T::Key) -> bool {
    let mut found = false;
    if count == CHUNK {
        for i in 0..CHUNK {
            // SAFETY: `i < CHUNK = count`.
            found |= !F::precedes(best, unsafe { key_at(src, i) });
        }
    } else {
        for i in 0..count {
            // SAFETY: `i < count`.
            found |= !F::precedes(best, unsafe { key_at(src, i) });
        }
    }
    found
}

/// The first position, or the last if `backwards`, of a key that `best` does not precede; there is
/// one.
///
/// # Safety
/// `count` elements can be read and are aligned.
#[inline(always)]
unsafe fn position<F: ArgOrder<T>, T: Compare>(
    src: *const T,
    count: usize,
    best: T::Key,
    backwards: bool,
) -> usize {
    // Positions are counted from the end if backwards, so that the smallest is the one.
    let flip = if backwards { count as u32 - 1 } else { 0 };
    let sign = if backwards { u32::MAX } else { 1 };
    let mut least = u32::MAX;
    for i in 0..count {
        // SAFETY: `i < count`.
        let is_later = F::precedes(best, unsafe { key_at(src, i) });
        let here = flip.wrapping_add(sign.wrapping_mul(i as u32));
        least = least.min(if is_later { u32::MAX } else { here });
    }
    if backwards { count - 1 - least as usize } else { least as usize }
}
