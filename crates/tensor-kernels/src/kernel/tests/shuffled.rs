//! Blocks that are assembled by shuffles.

use super::{CACHE_LINE, Isa, Kernel, dispatch, levels, noise};
use crate::{lane_shuffles::LaneShuffles, nest::Loop};

struct Call<'s> {
    shuffles: &'s LaneShuffles,
    src: *const u8,
    dst: *mut u8,
    blocks: Loop<2>,
}

impl Kernel for Call<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { shuffles, src, dst, blocks } = self;
        // SAFETY: `check` allocates what the blocks reach, M1, M2, M3.
        unsafe { isa.shuffle_blocks(src, dst, shuffles, blocks) };
    }
}

/// Assembles `count` blocks of units at the offsets `from` on every level. Blocks are `gap` bytes
/// apart on both sides, in the source backwards if `descending`. The source is allocated to the
/// byte, the destination lies between canary bytes.
fn check(from: &[i32], unit: usize, count: usize, gap: usize, descending: bool) {
    let shuffles = LaneShuffles::new(from, unit).expect("few sources");
    let lowest = from.iter().copied().min().unwrap();
    let reach = (from.iter().max().unwrap() - lowest) as usize + unit;
    let block = from.len() * unit;
    let (src_step, dst_step) = (reach + gap, block + gap);
    let src = noise((count - 1) * src_step + reach);
    let mut expected = vec![0xA5_u8; (count - 1) * dst_step + block + 2 * CACHE_LINE];
    let place = |b: usize| if descending { count - 1 - b } else { b };
    for b in 0..count {
        for (i, &at) in from.iter().enumerate() {
            let unit_at = place(b) * src_step + (at - lowest) as usize;
            expected[CACHE_LINE + b * dst_step + i * unit..][..unit]
                .copy_from_slice(&src[unit_at..][..unit]);
        }
    }
    let direction = if descending { -1 } else { 1 };
    let strides = [dst_step as isize, direction * src_step as isize];
    let first = place(0) * src_step + (-lowest) as usize;
    for level in levels() {
        let mut field = vec![0xA5_u8; expected.len()];
        let (src, dst) = (src.as_ptr().wrapping_add(first), field[CACHE_LINE..].as_mut_ptr());
        let blocks = Loop { len: count, strides };
        dispatch(level, Call { shuffles: &shuffles, src, dst, blocks });
        assert!(field == expected, "{level}, {count} blocks, units of {unit}: {from:?}");
    }
}

#[test]
fn blocks_of_every_number_and_distance() {
    let mirrored: Vec<i32> = (0..9).flat_map(|row| (0..5).map(move |i| 5 * row - i)).collect();
    let halves: Vec<i32> = (0..40).map(|i| i / 2 + i % 2 * 20).collect();
    let repeated: Vec<i32> = (0..50).map(|i| i / 3).collect();
    for count in [1, 2, 3, 4, 5, 7, 8, 9, 17] {
        for (gap, descending) in [(0, false), (3, true)] {
            for from in [&mirrored, &halves, &repeated] {
                for unit in [1, 2, 4, 8] {
                    let from: Vec<i32> = from.iter().map(|at| at * unit as i32).collect();
                    if LaneShuffles::new(&from, unit).is_some() {
                        check(&from, unit, count, gap, descending);
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_of_one_lane() {
    check(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], 1, 6, 1, false);
    check(&[8, 0], 8, 5, 0, true);
}
