//! Rows of keys, compared column by column: the loops of [`arg_reduce`](super::arg_reduce) that
//! read elements.

use super::{arg_reduce::ArgOrder, reduction::read};
use crate::{
    element::{Compare, RowNumber},
    reduction_order::PARTIALS_PER_ROW,
};

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

/// The keys of a row.
///
/// # Safety
/// `keys.len()` elements can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn first_row<T: Compare>(keys: &mut [T::Key], src: *const T) {
    for (i, key) in keys.iter_mut().enumerate() {
        // SAFETY: `i < keys.len()`: the element can be read.
        *key = unsafe { key_at(src, i) };
    }
}

/// Compares the first row with all others, column by column. `keys` holds the keys of the first row
/// on entry and the best keys on return; `row_numbers` receives the number of the row of each best
/// key.
///
/// # Safety
/// `keys.len()` elements of each row can be read and are aligned.
#[inline(always)]
pub(super) unsafe fn compare_rows<F: ArgOrder<T>, T: Compare>(
    keys: &mut [T::Key],
    row_numbers: &mut [T::RowNumber],
    src: *const T,
    step: isize,
    rows: usize,
) {
    let columns = keys.len();
    let row_numbers = &mut row_numbers[..columns];
    let mut j = 1;
    while j < rows {
        // Four rows at a time. If fewer are left the last row is compared repeatedly, which changes
        // nothing.
        let at = |k: usize| (j + k).min(rows - 1);
        let r = [at(0), at(1), at(2), at(3)];
        let from: [*const T; 4] = [
            src.wrapping_byte_offset(r[0] as isize * step),
            src.wrapping_byte_offset(r[1] as isize * step),
            src.wrapping_byte_offset(r[2] as isize * step),
            src.wrapping_byte_offset(r[3] as isize * step),
        ];
        for i in 0..columns {
            let (mut key, mut row) = (keys[i], row_numbers[i]);
            for k in 0..4 {
                // SAFETY: row `r[k] < rows` and element `i < columns` can be read.
                let other = unsafe { key_at(from[k], i) };
                let better = F::precedes(other, key);
                key = if better { other } else { key };
                row = if better { T::RowNumber::of(r[k] as u8) } else { row };
            }
            keys[i] = key;
            row_numbers[i] = row;
        }
        j += 4;
    }
}

/// The best key of `row_len` columns, and the first position that has it. Positions count through
/// the rows one after the other, from the last column of each if `backwards`.
#[inline(always)]
pub(super) fn best_of<F: ArgOrder<T>, T: Compare>(
    best: &[T::Key; PARTIALS_PER_ROW],
    row_numbers: &[T::RowNumber; PARTIALS_PER_ROW],
    row_len: usize,
    backwards: bool,
) -> (T::Key, usize) {
    let mut keys = *best;
    macro_rules! halves {
        ($($len:literal)*) => {
            $(for i in 0..$len {
                let (a, b) = (keys[i], keys[i + $len]);
                keys[i] = if F::precedes(b, a) { b } else { a };
            })*
        };
    }
    halves!(32 16 8 4 2 1);
    let (best_key, last) = (keys[0], row_len as u32 - 1);
    let mut position = u32::MAX;
    for i in 0..row_len {
        let column = if backwards { last - i as u32 } else { i as u32 };
        let here = row_numbers[i].to_u32() * row_len as u32 + column;
        let here = if F::precedes(best_key, best[i]) { u32::MAX } else { here };
        position = position.min(here);
    }
    (best_key, position as usize)
}
