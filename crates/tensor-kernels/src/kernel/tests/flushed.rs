//! Rows that are staged in scratch and written as whole lines.

use super::{Isa, Job, Line, check};
use crate::{kernel::StagedRows, memory::CACHE_LINE};

/// Stages rows in scratch, `at_once` bytes at a time, each at its offset within a line.
pub(super) fn flush<I: Isa>(
    isa: I,
    (src, dst): (*const u8, *mut u8),
    dst_step: isize,
    [len, rows, at_once]: [usize; 3],
) {
    let step = at_once.next_multiple_of(CACHE_LINE)
        + 4 * CACHE_LINE
        + dst_step.rem_euclid(CACHE_LINE as isize) as usize;
    let mut scratch = vec![Line([0xEE; CACHE_LINE]); rows * step / CACHE_LINE + 8];
    let front =
        scratch.as_mut_ptr().cast::<u8>().wrapping_add(CACHE_LINE + dst.addr() % CACHE_LINE);
    for at in (0..len).step_by(at_once) {
        let bytes = at_once.min(len - at);
        let staged = front.wrapping_add(at % CACHE_LINE);
        for r in 0..rows {
            // SAFETY: a part of a source row, and its area in scratch.
            unsafe { src.wrapping_add(r * len + at).copy_to(staged.wrapping_add(r * step), bytes) };
        }
        let rows = StagedRows {
            src: staged,
            src_step: step as isize,
            dst: dst.wrapping_add(at),
            dst_step,
            count: rows,
            bytes,
            is_first: at == 0,
            is_last: at + bytes == len,
            tail_shift: (at + bytes) / CACHE_LINE * CACHE_LINE - at / CACHE_LINE * CACHE_LINE,
        };
        // SAFETY: the rows' bytes are in scratch, at the same offset within a line as in the
        // destination.
        unsafe { isa.flush::<u8>(rows) };
    }
}

#[test]
fn flushed_rows_leave_in_whole_lines_and_completely() {
    for (len, at_once) in
        [(1, 64), (63, 64), (64, 64), (65, 64), (300, 64), (300, 100), (300, 128), (517, 256)]
    {
        for gap in [0, 1, 7, 64] {
            for skew in [0, 1, 33, 63] {
                check::<u8>(
                    Job::Flush { dst_stride: (len + gap) as isize, len, rows: 5, at_once },
                    skew,
                );
            }
        }
    }
}
