//! Blocks of adjacent bytes whose sources lie in few registers, assembled a register at a time.
//!
//! [Lane shuffles](crate::lane_shuffles) place each lane of the source by a load of its own,
//! because few instruction sets move bytes across lanes. AVX-512 picks elements of 2, 4 and 8 bytes
//! out of two whole registers: mirrored or permuted groups of a few elements then take a load and a
//! pick for 64 bytes, where lanes take some sixteen instructions.
//!
//! Bytes are picked in halves: the word of each even byte of the result, and the word of each odd
//! one. A shuffle within lanes moves the byte that is wanted to its place in the word. (CPUs with
//! AVX-512 VBMI pick bytes at once; not all with AVX-512 have it.)

use smallvec::SmallVec;

use crate::memory::{CACHE_LINE, LANE_BYTES};

/// Bytes of a register out of which elements are picked: a cache line.
const REGISTER_BYTES: usize = CACHE_LINE;

/// The most picks that assemble a register. Above, tiles and single elements are as fast.
pub(crate) const MAX_PICKS: usize = 4;

/// The most registers of a block, and the most windows of all of them. More are not listed, so that
/// lists need no allocation.
const MAX_REGISTERS: usize = 8;
const MAX_WINDOWS: usize = 20;

/// The offset of a unit that a window already contributes.
const FOUND: i32 = i32::MAX;

/// An index with which a shuffle writes 0.
const ZERO: u8 = 0x80;

/// A window of the source, and which of its words go where. There is a list for each of `P` parts
/// of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernels pick nothing")
)]
pub(crate) struct PickedWindow<const P: usize> {
    /// Bytes from the start of the block's source to the window.
    pub(crate) offset: i32,
    /// For each word of the result, in its first byte: its number among the words picked so far,
    /// which those of this window follow. Before the second window these are the words of the first
    /// one. The index of the first window is used if it is the only one.
    pub(crate) index: [[u8; REGISTER_BYTES]; P],
}

/// A register of the result, of `P` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernels pick nothing")
)]
pub(crate) struct PickedRegister<const P: usize> {
    /// Its offset in the block.
    pub(crate) start: usize,
    /// If there are two parts: for each byte of the result the byte in the lane of the words picked
    /// for this part, or 128 or more if it is of the other part.
    pub(crate) shuffles: [[u8; REGISTER_BYTES]; P],
    /// The number of windows, at least one.
    windows: usize,
}

/// How a block is assembled: for each of its registers the windows of the source to pick from. `P`
/// is 1 for units that are words of 2, 4 or 8 bytes, and 2 for bytes, which are halves of words.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterPicks<const P: usize> {
    registers: SmallVec<[PickedRegister<P>; MAX_REGISTERS]>,
    windows: SmallVec<[PickedWindow<P>; MAX_WINDOWS]>,
}

impl<const P: usize> RegisterPicks<P> {
    /// The picks of a block of adjacent units of `unit` bytes. Unit `i` is read `from[i]` bytes
    /// from the start of the block's source.
    ///
    /// `None` if there are too many registers or windows, or if the block or its source is smaller
    /// than a register. No window extends beyond the block's lowest or highest byte.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    pub(crate) fn new(from: &[i32], unit: usize) -> Option<Self> {
        debug_assert_eq!(P == 2, unit == 1, "bytes are halves of words");
        let bytes = from.len() * unit;
        let [lowest, highest] = [from.iter().min()?, from.iter().max()?].map(|&at| i64::from(at));
        let last = highest + unit as i64 - REGISTER_BYTES as i64;
        if bytes < REGISTER_BYTES || last < lowest || bytes > MAX_REGISTERS * REGISTER_BYTES {
            return None;
        }
        let mut picks = Self::default();
        let mut start = 0;
        loop {
            let mut register = [FOUND; REGISTER_BYTES];
            let units = &from[start / unit..][..REGISTER_BYTES / unit];
            let register = &mut register[..units.len()];
            register.copy_from_slice(units);
            picks.push_register(start, register, unit, last as i32)?;
            if start + REGISTER_BYTES == bytes {
                return Some(picks);
            }
            // The last two registers may overlap.
            start = (start + REGISTER_BYTES).min(bytes - REGISTER_BYTES);
        }
    }

    /// Adds the register at `start` of the block, whose units are at the offsets `from`. No window
    /// starts behind `last`.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    fn push_register(
        &mut self,
        start: usize,
        from: &mut [i32],
        unit: usize,
        last: i32,
    ) -> Option<()> {
        let (word, words) = (unit * P, from.len() / P);
        let mut index = [[0; REGISTER_BYTES]; P];
        let mut shuffles = [[ZERO; REGISTER_BYTES]; P];
        let mut windows = 0;
        loop {
            let lowest = from.iter().fold(FOUND, |lowest, &at| lowest.min(at));
            if lowest == FOUND {
                break;
            }
            if windows > MAX_PICKS || self.windows.len() == MAX_WINDOWS {
                return None;
            }
            let offset = lowest.min(last);
            let behind = if windows > 0 { words } else { 0 };
            for (to, at) in from.iter_mut().enumerate() {
                let in_window = at.wrapping_sub(offset) as u32 as usize;
                if in_window < REGISTER_BYTES {
                    let byte = to / P * word;
                    index[to % P][byte] = (behind + in_window / word) as u8;
                    // Bytes alone are shuffled.
                    shuffles[to % P][to] = ((byte + in_window % P) % LANE_BYTES) as u8;
                    *at = FOUND;
                }
            }
            self.windows.push(PickedWindow { offset, index });
            windows += 1;
            if windows > 1 {
                // What has been picked stays where it is.
                let found = from.iter().enumerate().filter(|(_, at)| **at == FOUND);
                found.for_each(|(to, _)| index[to % P][to / P * word] = (to / P) as u8);
            }
        }
        self.registers.push(PickedRegister { start, shuffles, windows });
        Some(())
    }

    /// The windows of all registers, and the number of registers.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.windows.len(), self.registers.len())
    }

    /// Each register, with its windows: one, or one and up to [`MAX_PICKS`] more.
    #[inline(always)]
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        allow(dead_code, reason = "the portable kernels pick nothing")
    )]
    pub(crate) fn registers(
        &self,
    ) -> impl Iterator<Item = (PickedRegister<P>, &[PickedWindow<P>])> {
        let mut rest = &self.windows[..];
        self.registers.iter().map(move |&register| {
            let (windows, others) = rest.split_at(register.windows);
            rest = others;
            (register, windows)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a block as a kernel does, with the offsets of bytes for bytes.
    fn assembled<const P: usize>(picks: &RegisterPicks<P>, len: usize, unit: usize) -> Vec<i32> {
        let (word, words) = (unit * P, REGISTER_BYTES / unit / P);
        let window = |offset: i32| (offset..offset + REGISTER_BYTES as i32).collect::<Vec<i32>>();
        let mut block = vec![i32::MIN; len * unit];
        for (register, windows) in picks.registers() {
            let (first, others) = windows.split_first().unwrap();
            let only = if others.is_empty() { windows } else { others };
            let mut parts = [(); P].map(|()| window(first.offset));
            for PickedWindow { offset, index } in only {
                for (part, index) in parts.iter_mut().zip(index) {
                    let pair = [part.clone(), window(*offset)].concat();
                    *part = (0..words)
                        .flat_map(|i| &pair[usize::from(index[i * word]) * word..][..word])
                        .copied()
                        .collect();
                }
            }
            let to = &mut block[register.start..][..REGISTER_BYTES];
            match &parts[..] {
                [whole] => to.copy_from_slice(whole),
                _ => {
                    for (part, index) in parts.iter().zip(&register.shuffles) {
                        for (i, &at) in index.iter().enumerate().filter(|(_, at)| **at != ZERO) {
                            to[i] = part[i / LANE_BYTES * LANE_BYTES + usize::from(at)];
                        }
                    }
                }
            }
        }
        block
    }

    fn check<const P: usize>(from: &[i32], unit: usize) {
        let Some(picks) = RegisterPicks::<P>::new(from, unit) else { return };
        let expected = from.iter().flat_map(|&at| at..at + unit as i32).collect::<Vec<i32>>();
        assert_eq!(assembled(&picks, from.len(), unit), expected, "units of {unit}");
        let [lowest, highest] = [from.iter().min(), from.iter().max()].map(|at| *at.unwrap());
        let last = highest + unit as i32 - REGISTER_BYTES as i32;
        let mut offsets = picks.windows.iter().map(|window| window.offset);
        assert!(offsets.all(|offset| (lowest..=last).contains(&offset)), "{from:?}");
    }

    #[test]
    fn each_unit_is_picked_from_its_place() {
        let mirrored = |i: i32| i / 6 * 6 + 5 - i % 6;
        let pairs = |i: i32| i / 2 % 5 * 4 + i % 2 + i / 10 * 20;
        let far = |i: i32| i % 4 * 1000 + i / 4;
        let places: [&dyn Fn(i32) -> i32; 5] = [&mirrored, &pairs, &far, &|i| i / 3, &|i| -i];
        for (unit, place) in [1, 2, 4, 8].into_iter().flat_map(|unit| places.map(|of| (unit, of))) {
            for len in [64 / unit, 64 / unit + 1, 100, 128] {
                let from: Vec<i32> = (0..len as i32).map(|i| place(i) * unit as i32).collect();
                match unit {
                    1 => check::<2>(&from, unit),
                    _ => check::<1>(&from, unit),
                }
            }
        }
    }

    #[test]
    fn a_mirrored_register_takes_one_pick() {
        let from: Vec<i32> = (0..16).map(|i| 4 * (15 - i)).collect();
        let picks = RegisterPicks::<1>::new(&from, 4).unwrap();
        assert_eq!(picks.counts(), (1, 1));
    }

    #[test]
    fn what_is_too_small_or_too_far_apart_is_not_picked() {
        assert!(RegisterPicks::<1>::new(&[0, 4, 8], 4).is_none(), "less than a register");
        let few: Vec<i32> = (0..32).map(|i| i / 4 * 4).collect();
        assert!(RegisterPicks::<1>::new(&few, 4).is_none(), "the source is less than a register");
        let far: Vec<i32> = (0..16).map(|i| i * 64).collect();
        assert!(RegisterPicks::<1>::new(&far, 4).is_none(), "sixteen windows");
    }
}
