//! Rows of keys, compared column by column: the loops of [`arg_reduce`](super::arg_reduce) that
//! read elements.

use super::{adjacent_keys::key_at, arg_reduce::ArgOrder};
use crate::element::{Compare, RowNumber};

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
    let mut j = 0;
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
        // Rows of the four have numbers that are constants, to which the first row's is added.
        let numbers = [0, 1, 2, 3].map(T::RowNumber::of);
        let first_number = T::RowNumber::of(j as u8);
        for i in 0..columns {
            // SAFETY: this function's contract, as `r[k] < rows` and `i < columns`.
            let [a, b, c, d] = unsafe { from_each(&from, i) };
            let first = better::<F, T>((a, numbers[0]), (b, numbers[1]));
            let second = better::<F, T>((c, numbers[2]), (d, numbers[3]));
            let (key, number) = better::<F, T>(first, second);
            let here = (key, number.plus(first_number));
            (keys[i], row_numbers[i]) = better::<F, T>((keys[i], row_numbers[i]), here);
        }
        j += 4;
    }
}

/// A key and the number of its row.
type Numbered<T> = (<T as Compare>::Key, <T as Compare>::RowNumber);

/// The better of two, or the first.
#[inline(always)]
fn better<F: ArgOrder<T>, T: Compare>(a: Numbered<T>, b: Numbered<T>) -> Numbered<T> {
    let is_second = F::precedes(b.0, a.0);
    (if is_second { b.0 } else { a.0 }, if is_second { b.1 } else { a.1 })
}

/// The keys of four rows in a column.
///
/// # Safety
/// Element `column` of each row can be read and is aligned.
#[inline(always)]
unsafe fn from_each<T: Compare>(rows: &[*const T; 4], column: usize) -> [T::Key; 4] {
    macro_rules! key {
        ($k:literal) => {
            // SAFETY: this function's contract.
            unsafe { key_at(rows[$k], column) }
        };
    }
    [key!(0), key!(1), key!(2), key!(3)]
}
