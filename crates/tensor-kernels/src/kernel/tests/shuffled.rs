//! Blocks that are assembled by shuffles.

use super::{Isa, Kernel, blocks::BlockCase, dispatch};
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
        // SAFETY: a `BlockCase` holds what the blocks reach, M1, M2, M3.
        unsafe { isa.shuffle_blocks(src, dst, shuffles, blocks) };
    }
}

/// Assembles `count` blocks of units at the offsets `from`.
fn check(from: &[i32], unit: usize, count: usize, gap: usize, descending: bool) {
    let shuffles = LaneShuffles::new(from, unit).expect("few sources");
    let case = BlockCase::new(from, unit, count, (gap, descending));
    case.check(&format!("units of {unit}: {from:?}"), |level, src, dst, blocks| {
        dispatch(level, Call { shuffles: &shuffles, src, dst, blocks });
        true
    });
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
