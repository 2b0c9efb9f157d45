//! Cuts loops into tiles. Tiles of one extent follow each other, so that each extent is planned
//! once: first the whole tiles, then those at the ends of the loops.

use super::walk::iterations;
use crate::{
    nest::{Loop, Loops},
    plan::Counts,
};

/// Tiles of one extent: along each loop all whole ones, or the shorter one behind them.
pub(super) struct Region<const N: usize> {
    /// The loops within a tile.
    pub(super) tile: Loops<N>,
    /// The offset of the first tile of each operand, in elements.
    corner: [isize; N],
    /// The loops over the tiles.
    tiles: Loops<N>,
}

impl<const N: usize> Region<N> {
    /// Calls `visit` with every region of the loops, if tiles have at most `counts` iterations.
    pub(super) fn for_each(loops: &Loops<N>, counts: &Counts, mut visit: impl FnMut(&Self)) {
        debug_assert_eq!(counts.len(), loops.len());
        if loops.iter().any(|l| l.len == 0) {
            return;
        }
        let wholes = whole_tiles(loops, counts);
        let mut start: Counts = loops.iter().map(|_| 0).collect();
        loop {
            visit(&Self::new(loops, counts, &wholes, &start));
            if !advance(&mut start, &wholes, loops) {
                return;
            }
        }
    }

    /// Calls `visit` with the offsets of the first element of each tile.
    pub(super) fn for_tiles(&self, mut visit: impl FnMut([isize; N])) {
        for at in iterations(&self.tiles) {
            visit(std::array::from_fn(|k| self.corner[k] + at[k]));
        }
    }

    /// The region that starts at these iterations: at the first of a loop, or behind its whole
    /// tiles.
    fn new(loops: &Loops<N>, counts: &Counts, wholes: &Counts, start: &Counts) -> Self {
        let mut region = Self { corner: [0; N], tile: loops.clone(), tiles: loops.clone() };
        for (d, l) in loops.iter().enumerate() {
            let len = if start[d] == 0 { wholes[d] } else { l.len - start[d] };
            let count = counts[d].min(len);
            region.tile[d].len = count;
            region.tiles[d] =
                Loop { len: len / count, strides: l.strides.map(|s| s * count as isize) };
            for (corner, stride) in region.corner.iter_mut().zip(l.strides) {
                *corner += stride * start[d] as isize;
            }
        }
        region
    }
}

/// The iterations of each loop that whole tiles cover; all of a loop that is shorter than a tile.
fn whole_tiles<const N: usize>(loops: &Loops<N>, counts: &Counts) -> Counts {
    let whole = |(l, &count): (&Loop<N>, &usize)| match l.len < count {
        true => l.len,
        false => l.len / count * count,
    };
    loops.iter().zip(counts).map(whole).collect()
}

/// Advances to the next region, which starts behind the whole tiles of a loop; `false` after the
/// last one.
fn advance<const N: usize>(start: &mut Counts, wholes: &Counts, loops: &[Loop<N>]) -> bool {
    for d in (0..loops.len()).rev() {
        start[d] += wholes[d];
        if start[d] < loops[d].len {
            return true;
        }
        start[d] = 0;
    }
    false
}
