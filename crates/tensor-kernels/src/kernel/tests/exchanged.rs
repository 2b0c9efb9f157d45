//! Tiles that change places, in a matrix whose other bytes stay.

use super::{super::TileExchange, Isa, Kernel, Unit, dispatch, levels};
use crate::memory::CACHE_LINE;

struct Call<L> {
    tiles: [*mut L; 2],
    step: isize,
    how: TileExchange,
}

impl<L: Unit> Kernel for Call<L> {
    type Output = bool;

    /// False if the level has no registers for it.
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Self { tiles, step, how } = self;
        if I::EXCHANGED_BYTES > 0 {
            // SAFETY: `check` has a matrix around the tiles, which are one or apart.
            unsafe { isa.exchange_tiles::<L>(tiles.map(<*mut L>::cast), step, how) };
        }
        I::EXCHANGED_BYTES > 0
    }
}

/// Exchanges the tiles at two rows and columns of a matrix whose rows have some bytes more than a
/// tile needs. Its first byte is `skew` bytes behind the start of the memory.
fn check<L: Unit>(how: TileExchange, at: [(usize, usize); 2], more: usize, skew: usize) {
    let side = CACHE_LINE / L::WIDTH;
    let (rows, step) = (3 * side, 3 * CACHE_LINE + more);
    let before: Vec<u8> = (0..skew + rows * step).map(|k| (k ^ ((k >> 8) * 31)) as u8).collect();
    let start = |(row, column): (usize, usize)| skew + row * step + column * L::WIDTH;
    let mut expected = before.clone();
    for (from, to) in [(at[0], at[1]), (at[1], at[0])] {
        for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
            let [from, to] = [start((from.0 + i, from.1 + j)), start((to.0 + j, to.1 + i))];
            expected[to..to + L::WIDTH].copy_from_slice(&before[from..from + L::WIDTH]);
        }
    }
    for level in levels() {
        let mut matrix = before.clone();
        let first = matrix.as_mut_ptr();
        let tiles = at.map(|at| first.wrapping_add(start(at)).cast::<L>());
        if dispatch(level, Call { tiles, step: step as isize, how }) {
            let width = L::WIDTH;
            assert!(matrix == expected, "{level}: {how:?}, {width} bytes, {at:?}, {more}, {skew}");
        }
    }
}

fn check_tiles<L: Unit>() {
    let side = CACHE_LINE / L::WIDTH;
    for how in [TileExchange::Registers, TileExchange::Buffers] {
        for (more, skew) in [(0, 0), (1, 0), (20, 3), (CACHE_LINE, 16)] {
            check::<L>(how, [(0, side), (side, 0)], more, skew);
            check::<L>(how, [(1, 2 * side), (2 * side, 1)], more, skew);
            check::<L>(how, [(side, side); 2], more, skew);
        }
    }
}

#[test]
fn tiles_of_every_width_change_places() {
    check_tiles::<u8>();
    check_tiles::<u16>();
    check_tiles::<u32>();
    check_tiles::<u64>();
    check_tiles::<u128>();
}
