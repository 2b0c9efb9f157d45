//! Transposes of few elements, without a plan: rows of the source become columns in registers.

use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel, Residency, Units},
    memory::LANE_BYTES,
    nest::Loop,
};

/// The fewest elements of a side, and not fewer than those of a lane of a register.
const MIN_SIDE: usize = 4;

/// Loops over a destination and a source. Along the columns of the destination elements are
/// adjacent there, along its rows they are in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FewTransposes {
    around: [Loop<2>; 2],
    rows: Loop<2>,
    columns: Loop<2>,
}

impl FewTransposes {
    /// The transposes that these loops over elements of `width` bytes are, if the last one is along
    /// the columns. The order of loops does not change what they visit.
    #[inline(always)]
    pub(super) fn of(width: usize, [a, b, c, columns]: [Loop<2>; 4]) -> Option<Self> {
        let least = MIN_SIDE.max(LANE_BYTES / width);
        if columns.strides[0] != 1 || columns.len < least {
            return None;
        }
        let is_row = |l: &Loop<2>| l.strides[1] == 1 && l.len >= least;
        let (around, rows) = match [a, b, c] {
            [a, b, rows] if is_row(&rows) => ([a, b], rows),
            [a, rows, b] | [rows, a, b] if is_row(&rows) => ([a, b], rows),
            _ => return None,
        };
        Some(Self { around, rows, columns })
    }

    /// Copies elements of `width` bytes, 1 to 16 and a power of two.
    ///
    /// # Safety
    /// M1, M2 and M3 for the elements of the loops, from these addresses on.
    pub(super) unsafe fn copy(self, simd: SimdLevel, width: usize, from: *const u8, to: *mut u8) {
        kernel::dispatch(simd, Task { loops: self, width, src: from, dst: to });
    }
}

/// Transposes of units.
///
/// Invariant: only [`FewTransposes::copy`] makes it: M1, M2 and M3 for the units of the loops.
struct Task {
    loops: FewTransposes,
    width: usize,
    src: *const u8,
    dst: *mut u8,
}

impl Kernel for Task {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { loops: FewTransposes { around: [a, b], rows, columns }, width, src, dst } = self;
        let units = Units { isa, width };
        let (src_stride, dst_stride) = (columns.strides[1], rows.strides[0]);
        for i in 0..a.len as isize {
            for j in 0..b.len as isize {
                let at = |k: usize| units.bytes(i * a.strides[k] + j * b.strides[k]);
                let src = (src.wrapping_offset(at(1)), src_stride);
                let dst = (dst.wrapping_offset(at(0)), dst_stride);
                // SAFETY: the invariant, for one iteration of the outer loops.
                unsafe {
                    units.transpose(src, dst, (columns.len, rows.len), Residency::FirstLevel);
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: Loop<2> = Loop::ONCE;

    fn of(len: usize, strides: [isize; 2]) -> Loop<2> {
        Loop { len, strides }
    }

    #[test]
    fn rows_of_the_source_are_found_in_any_loop_around_the_columns() {
        let (columns, rows, batch) = (of(10, [1, 12]), of(12, [10, 1]), of(3, [120, 120]));
        let found = Some(FewTransposes { around: [ONCE, batch], rows, columns });
        assert_eq!(FewTransposes::of(4, [ONCE, batch, rows, columns]), found);
        assert_eq!(FewTransposes::of(4, [ONCE, rows, batch, columns]), found);
        let outermost = FewTransposes::of(4, [rows, ONCE, batch, columns]);
        assert_eq!(outermost, found);
    }

    #[test]
    fn sides_hold_a_lane_and_are_adjacent() {
        let square = |len: usize| [ONCE, ONCE, of(len, [len as isize, 1]), of(len, [1, 99])];
        let least = |width: usize| (1..32).find(|&n| FewTransposes::of(width, square(n)).is_some());
        assert_eq!([1, 2, 4, 8, 16].map(least), [16, 8, 4, 4, 4].map(Some));
        let [.., rows, columns] = square(20);
        let apart = |l: Loop<2>| of(l.len, l.strides.map(|s| 2 * s));
        assert_eq!(FewTransposes::of(4, [ONCE, ONCE, apart(rows), columns]), None);
        assert_eq!(FewTransposes::of(4, [ONCE, ONCE, rows, apart(columns)]), None);
    }
}
