//! The elements of short rows, a register or two of results at a time.
//!
//! The loops that the compiler makes for rows of any length choose among several bodies, and
//! compute the last elements one by one. Here a row is computed in chunks of a fixed length. The
//! last chunk ends with the row, so it overlaps the one before. It is computed first and stored
//! last, because the result may be an input. `neg` of rows of 31 floats takes 3.0 ns a row instead
//! of 7.0, `sqrt` 6.3 instead of 15.7, the sum of rows of 31 bytes 1.5 instead of 4.9 (Zen 3).
//!
//! Not for functions that count their calls, for those that check for large arguments, and for
//! those without a vector instruction: integer divisions of rows of 20 took 1.6 times as long,
//! because a chunk and its overlap are 12 more of them.
//!
//! Those that check, and longer rows of functions that take long, have the compiler's loops, but
//! the last elements are computed once more together with others ([`parts`]). `exp` of rows of 63
//! floats takes 17 ns a row instead of 25, `sin` 21 instead of 38, `pow` 68 instead of 98, `tanh`
//! 16.5 instead of 27 (Zen 5).
//!
//! # Tried and dropped
//! Chunks of 16 floats for functions that take long (Zen 5): `tanh` and `sqrt` were as fast as
//! now, but `ln` and `pow` took three times as long, because the compiler did not vectorise them,
//! and rows of `relu` twice as long, because it vectorised across chunks instead of within them.

use std::mem::MaybeUninit;

use crate::tuning::CHUNKED_ROW_BYTES;

/// `out[at] = value` for each element of a short row, whose results have the type `result`. `value`
/// is computed twice for some.
macro_rules! each_in_chunks {
    ($result:ty, $out:expr, $len:expr, $at:ident => $value:expr) => {
        match $crate::kernel::chunk(size_of::<$result>()) {
            16 => each_in_chunks!(@16, $out, $len, $at => $value),
            8 => each_in_chunks!(@8, $out, $len, $at => $value),
            _ => each_in_chunks!(@4, $out, $len, $at => $value),
        }
    };
    (@$chunk:literal, $out:expr, $len:expr, $at:ident => $value:expr) => {{
        let (out, last) = ($out, $len - $chunk);
        let at_end = values!($chunk, last, $at => $value);
        let mut start = 0;
        while start < last {
            let values = values!($chunk, start, $at => $value);
            // SAFETY: `Compute::rows`: `len` elements from `out` on can be written, and
            // `start + chunk < len`. An array is aligned as its elements are.
            unsafe { array_ptr(out, start).write(values) };
            start += $chunk;
        }
        // SAFETY: as above, for the last elements.
        unsafe { array_ptr(out, last).write(at_end) };
    }};
}

/// The values of as many elements from `start` on.
macro_rules! values {
    ($chunk:literal, $start:expr, $at:ident => $value:expr) => {{
        let mut values = [const { std::mem::MaybeUninit::uninit() }; $chunk];
        for (i, element) in values.iter_mut().enumerate() {
            let $at = $start + i;
            element.write($value);
        }
        values
    }};
}

/// Are short rows of a function computed in chunks?
macro_rules! in_chunks {
    ($function:ty) => {
        !<$function>::IS_COUNTED
            && !<$function>::HAS_LARGE_ARGUMENT_PATH
            && !<$function>::is_scalar_code()
    };
}

pub(super) use {each_in_chunks, in_chunks, values};

/// The results that are computed together in a short row, if they have `width` bytes.
pub(crate) const fn chunk(width: usize) -> usize {
    match width {
        1 | 2 => 16,
        4 => 8,
        _ => 4,
    }
}

/// Start and length of two parts of a row of any length, for a loop over each. The compiler's loops
/// compute whole registers, and then the last elements one by one. Where these are more than a few,
/// the second part is a register that ends with the row and overlaps the first. Not so if the
/// result is an input, whose elements would be computed twice.
#[inline(always)]
pub(super) fn parts(len: usize, is_input: bool) -> [(usize, usize); 2] {
    let few = len % 8;
    if few < 3 || len < 8 || is_input {
        return [(0, len - few), (len - few, few)];
    }
    let register = if len > 16 && len % 16 > 8 { 16 } else { 8 };
    // A constant number of elements would be computed by code of its own, one by one.
    [(0, len - len % register), (len - register, std::hint::black_box(register))]
}

/// Is a row one for [`each_in_chunks!`]?
#[inline(always)]
pub(super) fn is_short<R>(len: usize) -> bool {
    (chunk(size_of::<R>())..=CHUNKED_ROW_BYTES / size_of::<R>()).contains(&len)
}

/// Where the chunk from `start` on is written.
#[inline(always)]
pub(super) fn array_ptr<R, const CHUNK: usize>(
    out: *mut R,
    start: usize,
) -> *mut [MaybeUninit<R>; CHUNK] {
    out.wrapping_add(start).cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubled<R: Copy + From<u8> + std::ops::Add<Output = R> + PartialEq + std::fmt::Debug>() {
        let least = chunk(size_of::<R>());
        for len in least..CHUNKED_ROW_BYTES / size_of::<R>() + 4 {
            let number = |n: usize| R::from((n % 100) as u8);
            let mut row: Vec<R> = (0..len + 1).map(number).collect();
            let doubled = (0..len).map(|n| number(n) + number(n));
            let expected: Vec<R> = doubled.chain([number(len)]).collect();
            let out = row.as_mut_ptr();
            // SAFETY: the row has `len` elements, and `at < len`.
            let value = |at: usize| unsafe { out.wrapping_add(at).read() };
            each_in_chunks!(R, out, len, at => value(at) + value(at));
            assert_eq!(row, expected, "{len}");
        }
    }

    #[test]
    fn a_row_that_is_its_own_input_is_computed_once() {
        doubled::<u8>();
        doubled::<u16>();
        doubled::<f32>();
        doubled::<f64>();
    }

    #[test]
    fn parts_cover_a_row_and_overlap_only_if_they_may() {
        for len in 0..100 {
            let [(start, count), (last, rest)] = parts(len, true);
            assert_eq!((start, count, last + rest), (0, last, len));
            let [(start, count), (last, rest)] = parts(len, false);
            assert!(start == 0 && last <= count && last + rest == len, "{len}");
            assert!(rest < 3 || len < 8 || rest % 8 == 0, "{rest} of {len} one by one");
        }
    }

    #[test]
    fn short_rows_are_a_chunk_at_least() {
        assert_eq!([15, 16, 512, 513].map(is_short::<u8>), [false, true, true, false]);
        assert_eq!([7, 8, 128, 129].map(is_short::<f32>), [false, true, true, false]);
    }
}
