//! Blocks of adjacent bytes whose sources lie in few registers, assembled a register at a time.
//!
//! [Lane shuffles](crate::lane_shuffles) place each lane of the source by a load of its own, because
//! few instruction sets move bytes across lanes. AVX-512 picks elements of 2, 4 and 8 bytes out of
//! two whole registers: mirrored or permuted groups of a few elements then take a load and a pick
//! for 64 bytes, where lanes take some sixteen instructions.

use smallvec::SmallVec;

use crate::memory::CACHE_LINE;

/// Bytes of a register out of which elements are picked: a cache line.
const REGISTER_BYTES: usize = CACHE_LINE;

/// The most picks that assemble a register. Above, tiles and single elements are as fast.
pub(crate) const MAX_PICKS: usize = 4;

/// Blocks of up to this many registers are listed without an allocation.
const INLINE_REGISTERS: usize = 8;

/// The offset of a unit that a window already contributes.
const FOUND: i32 = i32::MAX;

/// A window of the source, and which of its units go where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PickedWindow {
    /// Bytes from the start of the block's source to the window.
    pub(crate) offset: i32,
    /// For each unit of the result, in the first byte of it: the number of a unit among those
    /// picked so far, or, counted on from there, of this window.
    pub(crate) index: [u8; REGISTER_BYTES],
}

/// A register of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PickedRegister {
    /// Its offset in the block.
    pub(crate) start: usize,
    /// Bytes from the start of the block's source to the window that picking begins with.
    pub(crate) first: i32,
    /// The number of picks, at least one.
    picks: usize,
}

impl PickedRegister {
    /// The windows read. The only one is picked from, too.
    fn reads(self, windows: &[PickedWindow]) -> usize {
        windows.len() + usize::from(windows[0].offset != self.first)
    }
}

/// How a block is assembled: for each of its registers the windows of the source to pick from.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterPicks {
    registers: SmallVec<[PickedRegister; INLINE_REGISTERS]>,
    windows: SmallVec<[PickedWindow; INLINE_REGISTERS]>,
}

impl RegisterPicks {
    /// The picks of a block of adjacent units of `unit` bytes: 2, 4 or 8. Unit `i` is read
    /// `from[i]` bytes from the start of the block's source.
    ///
    /// `None` if a register takes too many picks, or if the block or its source is smaller than a
    /// register. No window extends beyond the block's lowest or highest byte.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    pub(crate) fn new(from: &[i32], unit: usize) -> Option<Self> {
        let bytes = from.len() * unit;
        let [lowest, highest] = [from.iter().min()?, from.iter().max()?].map(|&at| i64::from(at));
        let last = highest + unit as i64 - REGISTER_BYTES as i64;
        if bytes < REGISTER_BYTES || last < lowest {
            return None;
        }
        let mut picks = Self::default();
        let mut start = 0;
        loop {
            let mut register = [FOUND; REGISTER_BYTES / 2];
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
        let whole = from.len();
        let mut index = [0; REGISTER_BYTES];
        let (mut first, mut picks) = (None, 0);
        loop {
            let lowest = from.iter().fold(FOUND, |lowest, &at| lowest.min(at));
            if lowest == FOUND {
                break;
            }
            let offset = lowest.min(last);
            let behind = if first.is_some() { whole } else { 0 };
            for (to, at) in from.iter_mut().enumerate() {
                let in_window = at.wrapping_sub(offset) as u32 as usize;
                if in_window < REGISTER_BYTES {
                    index[to * unit] = (behind + in_window / unit) as u8;
                    *at = FOUND;
                }
            }
            if first.is_none() {
                first = Some(offset);
                continue;
            }
            if picks == MAX_PICKS {
                return None;
            }
            self.windows.push(PickedWindow { offset, index });
            picks += 1;
            // What has been picked stays where it is.
            let found = from.iter().enumerate().filter(|(_, at)| **at == FOUND);
            found.for_each(|(to, _)| index[to * unit] = to as u8);
        }
        let first = first?;
        if picks == 0 {
            self.windows.push(PickedWindow { offset: first, index });
            picks = 1;
        }
        self.registers.push(PickedRegister { start, first, picks });
        Some(())
    }

    /// The windows read for all registers.
    pub(crate) fn windows(&self) -> usize {
        self.registers().map(|(register, windows)| register.reads(windows)).sum()
    }

    /// The number of registers.
    pub(crate) fn len(&self) -> usize {
        self.registers.len()
    }

    /// Each register, with the windows picked from after the first: one to [`MAX_PICKS`]. If there
    /// is one window alone, it is the first and the only one picked from.
    #[inline(always)]
    pub(crate) fn registers(&self) -> impl Iterator<Item = (PickedRegister, &[PickedWindow])> {
        let mut rest = &self.windows[..];
        self.registers.iter().map(move |&register| {
            let (windows, others) = rest.split_at(register.picks);
            rest = others;
            (register, windows)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a block as a kernel does, with numbers of units for bytes.
    fn assembled(picks: &RegisterPicks, from: &[i32], unit: usize) -> Vec<i32> {
        let whole = REGISTER_BYTES / unit;
        let window = |offset: i32| (0..whole).map(move |i| offset + (i * unit) as i32);
        let mut block = vec![i32::MIN; from.len()];
        for (register, windows) in picks.registers() {
            let mut picked: Vec<i32> = window(register.first).collect();
            for PickedWindow { offset, index } in windows {
                let pair: Vec<i32> = picked.iter().copied().chain(window(*offset)).collect();
                picked = (0..whole).map(|i| pair[usize::from(index[i * unit])]).collect();
            }
            block[register.start / unit..][..whole].copy_from_slice(&picked);
        }
        block
    }

    #[test]
    fn each_unit_is_picked_from_its_place() {
        let mirrored = |i: i32| i / 6 * 6 + 5 - i % 6;
        let pairs = |i: i32| i / 2 % 5 * 4 + i % 2 + i / 10 * 20;
        let far = |i: i32| i % 4 * 1000 + i / 4;
        for unit in [2, 4, 8] {
            for len in [64 / unit, 64 / unit + 1, 100, 128] {
                for place in [&mirrored as &dyn Fn(i32) -> i32, &pairs, &far, &|i| i / 3, &|i| -i] {
                    let from: Vec<i32> = (0..len as i32).map(|i| place(i) * unit as i32).collect();
                    let Some(picks) = RegisterPicks::new(&from, unit) else { continue };
                    assert_eq!(assembled(&picks, &from, unit), from, "units of {unit}");
                    let [lowest, highest] =
                        [from.iter().min(), from.iter().max()].map(|at| *at.unwrap());
                    let last = highest + unit as i32 - REGISTER_BYTES as i32;
                    let windows = picks.windows.iter().map(|window| window.offset);
                    let mut all = windows.chain(picks.registers.iter().map(|of| of.first));
                    assert!(all.all(|offset| (lowest..=last).contains(&offset)), "{from:?}");
                }
            }
        }
    }

    #[test]
    fn a_mirrored_register_takes_one_pick() {
        let from: Vec<i32> = (0..16).map(|i| 4 * (15 - i)).collect();
        let picks = RegisterPicks::new(&from, 4).unwrap();
        assert_eq!((picks.len(), picks.windows()), (1, 1));
    }

    #[test]
    fn what_is_too_small_or_too_far_apart_is_not_picked() {
        assert!(RegisterPicks::new(&[0, 4, 8], 4).is_none(), "less than a register");
        let few: Vec<i32> = (0..32).map(|i| i / 4 * 4).collect();
        assert!(RegisterPicks::new(&few, 4).is_none(), "the source is less than a register");
        let far: Vec<i32> = (0..16).map(|i| i * 64).collect();
        assert!(RegisterPicks::new(&far, 4).is_none(), "sixteen windows");
    }
}
