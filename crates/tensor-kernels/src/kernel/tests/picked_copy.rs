//! Copies of few elements by listed picks.

use super::{Isa, Kernel, Unit, blocks::BlockCase, dispatch};
use crate::picked_copy::PickedCopy;

struct Call<'p, L> {
    picks: &'p PickedCopy,
    src: *const L,
    dst: *mut L,
}

impl<L: Unit> Kernel for Call<'_, L> {
    type Output = bool;

    /// False if the level does not pick.
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        if I::PICKS {
            // SAFETY: a `BlockCase` holds what the copy reads and writes, M1, M2, M3.
            unsafe { isa.copy_picked(self.src, self.dst, self.picks) };
        }
        I::PICKS
    }
}

/// Copies elements that lie `from[i]` elements behind the first; they are picked if `expected`.
fn check<L: Unit>(from: &[i32], expected: bool) {
    let picks = PickedCopy::new(from, L::WIDTH);
    assert_eq!(picks.is_some(), expected, "{} bytes: {from:?}", L::WIDTH);
    let Some(picks) = picks else { return };
    let in_bytes: Vec<i32> = from.iter().map(|at| at * L::WIDTH as i32).collect();
    let case = BlockCase::new(&in_bytes, L::WIDTH, 1, (0, false));
    case.check(&format!("{} bytes: {from:?}", L::WIDTH), |level, src, dst, _| {
        dispatch(level, Call { picks: &picks, src: src.cast::<L>(), dst: dst.cast() })
    });
}

#[test]
fn copies_from_every_number_of_windows() {
    for len in [32, 33, 47, 64, 130] {
        for planes in 1..=8 {
            // As many windows for each register as there are planes.
            let from: Vec<i32> = (0..len).map(|i| i % planes * 700 - i / planes).collect();
            check::<u16>(&from, true);
            check::<u32>(&from, true);
            check::<u64>(&from, true);
        }
        let far: Vec<i32> = (0..len).map(|i| i % 16 * 700).collect();
        check::<u32>(&far, false);
    }
}

#[test]
fn copies_of_repeated_and_reversed_elements() {
    for from in [
        (0..120).map(|i| i / 3).collect::<Vec<i32>>(),
        (0..90).map(|i| i / 6 * 6 - i % 6).collect(),
        (0..96).map(|i| i % 2 * 50 + i / 2 % 6 - i / 12 * 100).collect(),
        (0..96).rev().collect(),
    ] {
        check::<u16>(&from, true);
        check::<u32>(&from, true);
        check::<u64>(&from, true);
    }
}
