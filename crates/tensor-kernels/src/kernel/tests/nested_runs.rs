//! Runs of two loops: in any order, transposed, narrow and wide, read from memory and from caches.

use super::{Isa, Kernel, Residency, Unit, check_moves, dispatch, short_runs};
use crate::nest::Loop;

/// Two loops over runs of `len` units, the inner one first.
#[derive(Clone, Copy, Debug)]
struct Nest {
    loops: [Loop<2>; 2],
    len: usize,
    is_far: bool,
}

impl Nest {
    /// Where each unit is read and written.
    fn moves(&self) -> Vec<(isize, isize)> {
        let [inner, outer] = self.loops;
        let index = |j: usize, i: usize, k: usize| {
            let [to, from] = [0, 1].map(|at| {
                j as isize * outer.strides[at] + i as isize * inner.strides[at] + k as isize
            });
            (from, to)
        };
        let of_row =
            |j| (0..inner.len).flat_map(move |i| (0..self.len).map(move |k| index(j, i, k)));
        (0..outer.len).flat_map(of_row).collect()
    }
}

struct Call<L> {
    nest: Nest,
    src: *const L,
    dst: *mut L,
}

impl<L: Unit> Kernel for Call<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { nest: Nest { loops, len, is_far }, src, dst } = self;
        let (src, dst) = (src.cast(), dst.cast());
        let (loops, len) = (loops.map(|l| l.in_bytes(L::WIDTH)), len * L::WIDTH);
        if is_far {
            // SAFETY: `check` allocates what the moves reach, M1, M2, M3.
            unsafe { short_runs::copy_far_runs(isa, src, dst, len, loops) }
        } else {
            // SAFETY: as above.
            unsafe { short_runs::copy_runs(isa, src, dst, len, loops, Residency::Cached) }
        }
    }
}

/// Copies runs on every level, the memory `skew` bytes off alignment; see [`check_moves`].
fn check<L: Unit>(nest: Nest, skew: usize) {
    check_moves::<L>(&nest.moves(), skew, &nest, |level, src, dst| {
        dispatch(level, Call { nest, src, dst });
    });
}

/// Rows and columns of runs, transposed: every length of a run, extents around lanes and registers,
/// gaps in source and destination, source rows and runs in both directions, either loop inside.
fn check_transposes<L: Unit>(lengths: &[usize]) {
    let extents = [1, 2, 3, 5, 8, 9, 16, 17, 35];
    for (at, (nu, nv)) in extents.iter().flat_map(|&u| extents.map(|v| (u, v))).enumerate() {
        for &len in lengths {
            let [gap, row_gap] = [at % 3 / 2, at % 4] as [usize; 2];
            let step = (len + gap) as isize;
            let (down, back) = (1 - 2 * (at as isize / 2 % 2), 1 - 2 * (at as isize / 3 % 2));
            let columns =
                Loop { len: nu, strides: [len as isize, down * (nv as isize * step + 1)] };
            let rows = Loop { len: nv, strides: [(nu * len + row_gap) as isize, back * step] };
            for is_far in [false, true] {
                check::<L>(Nest { loops: [columns, rows], len, is_far }, at % 5);
                check::<L>(Nest { loops: [rows, columns], len, is_far }, at % 5);
            }
        }
    }
}

#[test]
fn transposed_runs_of_bytes() {
    let lengths: Vec<_> = (1..=17).chain([31, 33, 64, 65, 127, 128]).collect();
    check_transposes::<u8>(&lengths);
}

#[test]
fn transposed_runs_of_wider_units() {
    check_transposes::<u16>(&[2, 3, 4, 5, 17, 40]);
    check_transposes::<u32>(&[1, 2, 3, 9, 32]);
    check_transposes::<u64>(&[1, 2, 5, 16]);
    check_transposes::<u128>(&[1, 3, 8]);
}
