//! Blocks of adjacent bytes in memory that is allocated to the byte, for kernels that assemble them
//! from sources close to each other.

use super::{CACHE_LINE, levels, noise};
use crate::{exec::SimdLevel, nest::Loop};

/// What the destination holds before, and around the blocks.
const CANARY: u8 = 0xA5;

/// Some blocks, and what they become.
pub(super) struct BlockCase {
    src: Vec<u8>,
    /// The first byte of the first block's source, from which offsets are counted.
    first: usize,
    expected: Vec<u8>,
    /// The loop over the blocks, with strides in bytes.
    blocks: Loop<2>,
}

impl BlockCase {
    /// `count` blocks of units of `unit` bytes at the offsets `from`. Blocks are `gap` bytes apart
    /// on both sides, in the source backwards if `descending`.
    pub(super) fn new(
        from: &[i32],
        unit: usize,
        count: usize,
        (gap, descending): (usize, bool),
    ) -> Self {
        let lowest = from.iter().copied().min().unwrap();
        let reach = (from.iter().max().unwrap() - lowest) as usize + unit;
        let block = from.len() * unit;
        let (src_step, dst_step) = (reach + gap, block + gap);
        let src = noise((count - 1) * src_step + reach);
        let mut expected = vec![CANARY; (count - 1) * dst_step + block + 2 * CACHE_LINE];
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
        Self { src, first, expected, blocks: Loop { len: count, strides } }
    }

    /// Assembles the blocks on every level, by source, destination and the loop over blocks;
    /// `false` says that a level has no such kernel.
    pub(super) fn check(
        &self,
        what: &str,
        assemble: impl Fn(SimdLevel, *const u8, *mut u8, Loop<2>) -> bool,
    ) {
        for level in levels() {
            let mut field = vec![CANARY; self.expected.len()];
            let src = self.src.as_ptr().wrapping_add(self.first);
            let dst = field[CACHE_LINE..].as_mut_ptr();
            if assemble(level, src, dst, self.blocks) {
                assert!(field == self.expected, "{level}, {} blocks, {what}", self.blocks.len);
            }
        }
    }
}
