//! Rows that are staged in scratch and written as whole lines.

use super::{Isa, Job, Line, check};
use crate::{
    kernel::{StagedRows, unit::Unit},
    memory::CACHE_LINE,
};

/// Stages rows in scratch, `at_once` bytes at a time, each at its offset within a line.
pub(super) fn flush<I: Isa, L: Unit>(
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
        unsafe { isa.flush::<L>(rows) };
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

/// Elements that do not fill a line are moved, and computed when they are written.
#[cfg(feature = "elementwise")]
#[test]
fn flushed_rows_are_computed_once() {
    use crate::{
        exec::SimdLevel,
        kernel::{Finish, Finished, Finishing, Kernel, OtherOperand, Residency, dispatch},
    };

    struct Negated<'f> {
        finishing: &'f Finishing,
        dst_step: isize,
        extents: [usize; 3],
    }

    impl Kernel for Negated<'_> {
        type Output = ();

        #[inline(always)]
        fn run<I: Isa>(self, isa: I) {
            let isa = Finished::new(isa, self.finishing);
            let operands = (self.finishing.source, self.finishing.result);
            flush::<_, u32>(isa, operands, self.dst_step, self.extents);
        }
    }

    const ROWS: usize = 3;
    for simd in SimdLevel::available() {
        for (len, at_once) in [(1, 16), (15, 16), (40, 16), (75, 25), (130, 16), (130, 64)] {
            for (gap, skew) in [(0, 0), (0, 5), (3, 15), (16, 1)] {
                let src: Vec<f32> = (1..=ROWS * len).map(|at| at as f32).collect();
                let mut lines = vec![Line([0xEE; CACHE_LINE]); ROWS * (len + gap) / 16 + 3];
                let dst = lines.as_mut_ptr().cast::<f32>().wrapping_add(skew);
                let source = src.as_ptr().cast::<u8>();
                let other = OtherOperand { base: source, is_transposed: false, mask: 0 };
                let result = dst.cast::<u8>();
                let (finish, others, residency) = (Finish::Neg, [other; 2], Residency::Cached);
                let finishing = &Finishing { finish, result, source, others, residency };
                let dst_step = 4 * (len + gap) as isize;
                let extents = [4 * len, ROWS, 4 * at_once];
                dispatch(simd, Negated { finishing, dst_step, extents });
                for (at, x) in src.iter().enumerate() {
                    let place = dst.wrapping_add(at / len * (len + gap) + at % len);
                    // SAFETY: an element of a row of the destination.
                    let found = unsafe { place.read() };
                    assert_eq!(found, -x, "{simd} {at} of {len}, {at_once} at once, {gap} {skew}");
                }
            }
        }
    }
}
