//! Groups of loops: several short loops that together make one side of a block.
//!
//! Kernels work on elements that are adjacent in some operand. Where one loop has too few of them,
//! the loops that continue it are taken too. If an array of shape [2, 3, 5, 7, 11] is copied with
//! its dimensions reversed, the innermost three loops of the result, of 2, 3 and 5 iterations,
//! cover 30 adjacent elements of it. The offsets of a group's iterations are computed once, into a
//! table.

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use crate::nest::{Loop, Loops, NestBuilder};

/// Neighbouring loops of a plan that are one side of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    /// The number of loops.
    pub(crate) loops: usize,
    /// Iterations of the outermost loop in a block. Only this loop is split; inner loops always run
    /// completely.
    pub(crate) block: usize,
}

impl Group {
    /// The iterations of all loops of the group in a block.
    pub(super) fn iterations_in_block<const N: usize>(&self, loops: &[Loop<N>]) -> usize {
        self.block * iterations(&loops[1.min(loops.len())..])
    }

    /// The number of blocks.
    pub(super) fn blocks<const N: usize>(&self, loops: &[Loop<N>]) -> usize {
        loops.first().map_or(1, |cut| cut.len.div_ceil(self.block))
    }
}

/// Loops that make one side of a block, as indices into a nest, the innermost first.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) loops: SmallVec<[usize; 8]>,
    /// The operand that is adjacent along the side.
    pub(super) operand: usize,
    /// The iterations of all loops together.
    pub(super) len: usize,
    /// The iterations wanted.
    pub(super) target: usize,
}

impl Side {
    /// A side of one loop.
    pub(super) fn new<const N: usize>(
        builder: &NestBuilder<'_, N>,
        operand: usize,
        at: usize,
        target: usize,
    ) -> Self {
        let len = builder.loops()[at].len;
        Self { loops: SmallVec::from_slice(&[at]), operand, len, target }
    }

    fn is_long_enough(&self) -> bool {
        self.len > self.target / 2
    }

    /// Splits this side into blocks of at most `target` iterations, over all loops together, and of
    /// about the same length.
    pub(super) fn group<const N: usize>(&self, loops: &[Loop<N>]) -> Group {
        let outermost = self.loops.last().map_or(1, |&at| loops[at].len);
        let inner = self.len / outermost;
        let in_block = (self.target / inner).clamp(1, outermost);
        let block = outermost.div_ceil(outermost.div_ceil(in_block));
        Group { loops: self.loops.len(), block }
    }
}

/// Adds loops to sides until they are long enough, the shorter side first. `next` finds the next
/// loop of a side among those that are not taken. `unit` is what a stride of 1 adds to a start.
pub(super) fn grow<const N: usize>(
    sides: &mut [Side],
    builder: &mut NestBuilder<'_, N>,
    unit: usize,
    next: impl Fn(&Side, &NestBuilder<'_, N>, &dyn Fn(usize) -> bool) -> Option<usize>,
) {
    loop {
        let mut short: SmallVec<[usize; 2]> =
            (0..sides.len()).filter(|&k| !sides[k].is_long_enough()).collect();
        sort_by_key(&mut short, |&k| sides[k].len);
        let grown = short.into_iter().any(|k| {
            let taken = |at: usize| sides.iter().any(|side| side.loops.contains(&at));
            let Some(at) = next(&sides[k], builder, &taken) else { return false };
            ascend(builder, at, sides[k].operand, unit);
            sides[k].loops.push(at);
            sides[k].len = sides[k].len.saturating_mul(builder.loops()[at].len);
            true
        });
        if !grown {
            return;
        }
    }
}

/// The loop that continues a side without a gap, in either direction.
pub(super) fn continues<const N: usize>(
    side: &Side,
    builder: &NestBuilder<'_, N>,
    taken: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let fits = |at: usize| builder.loops()[at].strides[side.operand].unsigned_abs() == side.len;
    (0..builder.loops().len()).rev().find(|&at| fits(at) && !taken(at))
}

/// Makes a loop ascend in an operand.
pub(super) fn ascend<const N: usize>(
    builder: &mut NestBuilder<'_, N>,
    at: usize,
    operand: usize,
    unit: usize,
) {
    let Loop { len, strides } = builder.loops()[at];
    if strides[operand] < 0 {
        let end = (len - 1) as isize * unit as isize;
        builder.starts = std::array::from_fn(|k| builder.starts[k] + end * strides[k]);
        builder.loops_mut()[at].strides = strides.map(|stride| -stride);
    }
}

/// The iterations of all loops together. Saturates: a broadcast shape may exceed the address space.
pub(super) fn iterations<const N: usize>(loops: &[Loop<N>]) -> usize {
    loops.iter().fold(1, |count, l| count.saturating_mul(l.len))
}

/// The loops around the blocks, those of `v` and those of `u`, in a list that [`ordered`] has made.
pub(crate) fn split<const N: usize>(loops: &[Loop<N>], [u, v]: [Group; 2]) -> [&[Loop<N>]; 3] {
    let (rest, u_loops) = loops.split_at(loops.len() - u.loops);
    let (around, v_loops) = rest.split_at(rest.len() - v.loops);
    [around, v_loops, u_loops]
}

/// The loops in the order in which they run: those around the block, those of `v`, those of `u`.
pub(super) fn ordered<const N: usize>(loops: &[Loop<N>], [u, v]: &[Side; 2]) -> Loops<N> {
    let inside = |at: &usize| u.loops.contains(at) || v.loops.contains(at);
    let around = (0..loops.len()).filter(|at| !inside(at));
    let sides = v.loops.iter().rev().chain(u.loops.iter().rev());
    around.chain(sides.copied()).map(|at| loops[at]).collect()
}
