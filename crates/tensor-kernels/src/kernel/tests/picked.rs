//! Blocks that are assembled by picks out of whole registers.

use super::{Isa, Kernel, Unit, blocks::BlockCase, dispatch};
use crate::{nest::Loop, register_picks::RegisterPicks};

struct Call<'p, L, const P: usize> {
    picks: &'p RegisterPicks<P>,
    src: *const L,
    dst: *mut L,
    blocks: Loop<2>,
}

impl<L: Unit, const P: usize> Kernel for Call<'_, L, P> {
    type Output = bool;

    /// False if the level does not pick.
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Self { picks, src, dst, blocks } = self;
        if I::PICKS {
            // SAFETY: a `BlockCase` holds what the blocks reach, M1, M2, M3.
            unsafe { isa.pick_blocks(src, dst, picks, blocks) };
        }
        I::PICKS
    }
}

/// Assembles `count` blocks, of units of which `P` make an `L`, whose unit `i` is unit `from[i]` of
/// the block's source.
fn check<L: Unit, const P: usize>(from: &[i32], count: usize, gap: usize, descending: bool) {
    let unit = L::WIDTH / P;
    let from: Vec<i32> = from.iter().map(|at| at * unit as i32).collect();
    let Some(picks) = RegisterPicks::<P>::new(&from, unit) else { return };
    let case = BlockCase::new(&from, unit, count, (gap, descending));
    case.check(&format!("units of {unit}: {from:?}"), |level, src, dst, blocks| {
        dispatch(level, Call { picks: &picks, src: src.cast::<L>(), dst: dst.cast(), blocks })
    });
}

#[test]
fn picked_blocks_of_every_number_and_distance() {
    let mirrored: Vec<i32> = (0..90).map(|i| i / 6 * 6 - i % 6).collect();
    let pairs: Vec<i32> =
        (0..80).map(|i| i / 20 * 20 + i / 2 % 5 * 4 + i / 10 % 2 * 2 + i % 2).collect();
    let repeated: Vec<i32> = (0..200).map(|i| i / 3).collect();
    let planes: Vec<i32> = (0..64).map(|i| i % 4 * 500 + i / 4).collect();
    for count in [1, 2, 3, 15, 16, 17, 40] {
        for (gap, descending) in [(0, false), (3, true)] {
            for from in [&mirrored, &pairs, &repeated, &planes] {
                check::<u16, 2>(from, count, gap, descending);
                check::<u16, 1>(from, count, gap, descending);
                check::<u32, 1>(from, count, gap, descending);
                check::<u64, 1>(from, count, gap, descending);
            }
        }
    }
}

/// More than 12 MB of them, in blocks of five and ten registers.
#[test]
fn blocks_that_are_prefetched() {
    let pairs: Vec<i32> = (0..80).map(|i| i ^ 1).collect();
    check::<u32, 1>(&pairs, 40_000, 0, false);
    check::<u64, 1>(&pairs, 20_000, 0, false);
}

#[test]
fn a_block_of_one_register() {
    let reversed = |len| (0..len).rev().collect::<Vec<i32>>();
    check::<u16, 2>(&reversed(64), 5, 2, false);
    check::<u16, 1>(&reversed(32), 5, 2, false);
    check::<u32, 1>(&reversed(16), 5, 0, true);
    check::<u64, 1>(&reversed(8), 1, 0, false);
}
