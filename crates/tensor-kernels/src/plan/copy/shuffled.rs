//! Plans copies that move bytes by less than a cache line: short rows that are mirrored, repeated
//! or have gaps between them, and transposes of a few elements.
//!
//! The innermost loops make a block of adjacent bytes of the result. If the source of each lane of
//! the block lies in few lanes, the block is assembled by [shuffles](crate::lane_shuffles).
//!
//! # Tried and dropped
//! Shuffles of single elements that lie far apart, two of eight bytes to a lane: they visit the
//! source in the order of the result, and took up to 1.5 times as long as blocks (transposes of
//! every second column, Zen 3).

use std::fmt;

use smallvec::{SmallVec, smallvec};

use super::{Inner, Work, kernel::has_windows};
use crate::{
    lane_shuffles::LaneShuffles,
    memory::LANE_BYTES,
    nest::{Loop, NestBuilder},
    plan::group::{Group, ascend},
    tuning::{MAX_SHUFFLED_UNIT, SHUFFLED_BLOCK_BYTES},
};

/// The path of a copy by shuffles.
pub(super) const SHUFFLED: &str = "shuffled_blocks";

/// The farthest that the source of a block may reach, in bytes: its offsets have 32 bits.
const MAX_REACH: usize = 1 << 30;

/// The most loops of a block, each of at least two iterations.
const MAX_LOOPS: usize = SHUFFLED_BLOCK_BYTES.ilog2() as usize;

/// A source of a lane takes as long to list as this many entries of a table (Zen 3).
const ENTRIES_OF_SOURCE: usize = 24;

/// The blocks of a copy by shuffles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shuffled {
    /// The loops of a block: the last of the outer ones. The destination is adjacent along them.
    pub(crate) block: Group,
    /// The lanes of the source that a block is assembled from, a lane counted once for each lane of
    /// the result that it contributes to.
    pub(super) sources: usize,
    /// The lanes of the result in a block.
    pub(super) lanes: usize,
}

impl Shuffled {
    /// What listing the shuffles takes, in entries of a table: an offset of every unit, and the
    /// bytes of a lane for each of its sources.
    pub(super) fn entries(self, outer: &[Loop<2>]) -> usize {
        self.block.iterations_in_block(self.split(outer).1) + self.sources * ENTRIES_OF_SOURCE
    }

    /// The loops around the blocks, and those of a block.
    pub(crate) fn split(self, loops: &[Loop<2>]) -> (&[Loop<2>], &[Loop<2>]) {
        loops.split_at(loops.len() - self.block.loops)
    }
}

/// `shuffled, blocks of 2 loops by 5`: the number of loops, and the iterations of the outermost one
/// in a block.
impl fmt::Display for Shuffled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Group { loops, block } = self.block;
        write!(f, "shuffled, blocks of {loops} loops by {block}")
    }
}

/// Plans a copy by shuffles; `false` if that does not suit the loops.
pub(super) fn plan(work: &mut Work, builder: &mut NestBuilder<'_, 2>) -> bool {
    let unit = work.unit;
    if unit > MAX_SHUFFLED_UNIT || builder.loops().last().is_none_or(|l| is_long_row(l, unit)) {
        return false;
    }
    let Some(block) = innermost_block(builder, unit) else { return false };
    let loops = builder.loops();
    let of_block = &loops[loops.len() - block.loops..];
    let Some(shuffles) = shuffles(of_block, block.block, unit) else { return false };
    // If lanes of the source have little more than one unit each, single loads and stores do the
    // same.
    if shuffles.sources() * 3 > block.iterations_in_block(of_block) * 2 {
        return false;
    }
    work.starts = builder.starts;
    work.outer = loops.iter().copied().collect();
    work.inner = Inner::Shuffled(Shuffled {
        block,
        sources: shuffles.sources(),
        lanes: shuffles.lanes().count(),
    });
    work.path = SHUFFLED;
    true
}

/// Is there a kernel for rows like this one, of adjacent units or of units one step apart?
fn is_long_row(row: &Loop<2>, unit: usize) -> bool {
    let [to, step] = row.strides;
    let lanes = row.len * unit / LANE_BYTES;
    to == 1 && (step == 1 && lanes >= 1 || has_windows(unit, row.len, step) && lanes >= 2)
}

/// The innermost loops along which the destination is adjacent, as many as a block needs.
fn innermost_block(builder: &mut NestBuilder<'_, 2>, unit: usize) -> Option<Group> {
    let target = SHUFFLED_BLOCK_BYTES / unit;
    let (mut len, mut block) = (1, None);
    for (loops, at) in (1..).zip((0..builder.loops().len()).rev()) {
        let l = builder.loops()[at];
        if l.strides[0].unsigned_abs() != len || target / len < 2 {
            break;
        }
        ascend(builder, at, 0, unit);
        // Blocks of about the same length.
        let in_block = l.len.div_ceil(l.len.div_ceil((target / len).clamp(1, l.len)));
        block = Some(Group { loops, block: in_block });
        if in_block < l.len {
            break;
        }
        len *= l.len;
    }
    block
}

/// The shuffles of a block: of `block` iterations of the outermost of these loops. Inlined into the
/// copy, which is compiled for wide registers.
#[inline(always)]
pub(crate) fn shuffles(loops: &[Loop<2>], block: usize, unit: usize) -> Option<LaneShuffles> {
    let mut from: SmallVec<[i32; SHUFFLED_BLOCK_BYTES]> = smallvec![0];
    for (at, l) in loops.iter().enumerate().rev() {
        let len = if at == 0 { block } else { l.len };
        let step = i32::try_from(l.strides[1].checked_mul(unit as isize)?).ok()?;
        if (step.unsigned_abs() as usize).saturating_mul(len) > MAX_REACH / MAX_LOOPS {
            return None;
        }
        let inner = from.len();
        for i in inner..inner * len {
            from.push(from[i - inner] + step);
        }
    }
    LaneShuffles::new(&from, unit)
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;
    use crate::exec::Machine;

    fn path(from: &Layout, width: usize) -> &'static str {
        let to = Layout::contiguous(from.shape()).unwrap();
        Work::new(from, &to, width, &Machine::REFERENCE).path
    }

    #[test]
    fn short_moves_of_narrow_elements_are_shuffled() {
        let pairs = Layout::contiguous([184, 189, 13, 2]).unwrap().permute([0, 1, 3, 2]).unwrap();
        assert_eq!(path(&pairs, 1), SHUFFLED);
        assert_eq!(path(&pairs, 2), SHUFFLED);
        let mirrored = Layout::contiguous([400, 41, 5]).unwrap().flip([2]).unwrap();
        assert_eq!(path(&mirrored, 1), SHUFFLED);
    }

    #[test]
    fn distant_or_wide_elements_are_not_shuffled() {
        let square = Layout::contiguous([400, 400]).unwrap().t().unwrap();
        assert_ne!(path(&square, 1), SHUFFLED);
        let mirrored = Layout::contiguous([400, 41, 5]).unwrap().flip([2]).unwrap();
        assert_ne!(path(&mirrored, 16), SHUFFLED);
    }
}
