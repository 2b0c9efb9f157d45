//! Runs of two loops: in any order, transposed, narrow and wide, read from memory and from caches.

use super::{CACHE_LINE, Isa, Kernel, Unit, dispatch, ends, levels, noise, short_runs};
use crate::nest::Loop;

/// Two loops over runs of `len` units, the inner one first.
#[derive(Clone, Copy, Debug)]
struct Nest {
    loops: [Loop<2>; 2],
    len: usize,
    is_far: bool,
}

impl Nest {
    /// Where each unit is written and read.
    fn moves(&self) -> Vec<[isize; 2]> {
        let [inner, outer] = self.loops;
        let index = |j: usize, i: usize, k: usize| {
            [0, 1].map(|at| {
                j as isize * outer.strides[at] + i as isize * inner.strides[at] + k as isize
            })
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
        if is_far {
            // SAFETY: `check` allocates what the moves reach, M1, M2, M3.
            unsafe { short_runs::copy_far_runs(isa, src, dst, len, loops) }
        } else {
            // SAFETY: as above.
            unsafe { short_runs::copy_runs(isa, src, dst, len, loops) }
        }
    }
}

/// Copies on every level, the memory `skew` bytes off alignment, and compares all bytes. The source
/// is allocated to the byte, the destination lies between canary bytes.
fn check<L: Unit>(nest: Nest, skew: usize) {
    let moves = nest.moves();
    let (dst_low, dst_high) = ends(moves.iter().map(|m| m[0]));
    let (src_low, src_high) = ends(moves.iter().map(|m| m[1]));
    let src = noise(skew + (src_high - src_low + 1) as usize * L::WIDTH);
    let margin = CACHE_LINE;
    let mut field = vec![0xA5_u8; (dst_high - dst_low + 1) as usize * L::WIDTH + skew + 2 * margin];
    let src_at = |offset: isize| skew + (offset - src_low) as usize * L::WIDTH;
    let dst_at = |offset: isize| margin + skew + (offset - dst_low) as usize * L::WIDTH;
    let mut expected = field.clone();
    for &[to, from] in &moves {
        expected[dst_at(to)..][..L::WIDTH].copy_from_slice(&src[src_at(from)..][..L::WIDTH]);
    }
    for level in levels() {
        field.fill(0xA5);
        let src = src.as_ptr().wrapping_add(src_at(0)).cast::<L>();
        let dst = field.as_mut_ptr().wrapping_add(dst_at(0)).cast::<L>();
        dispatch(level, Call { nest, src, dst });
        assert!(field == expected, "{level}, {} bytes, {skew} bytes off: {nest:?}", L::WIDTH);
    }
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
