//! Copies of few elements, each register of the result assembled by picks out of registers of the
//! source.
//!
//! [Blocks](crate::register_picks) list the picks of one block each time they are run, which takes
//! as long as assembling it 25 times. Here the picks of all registers of a copy are listed once,
//! and kept for the next copies of the same layout. A batch of 18 transposes of 5 by 6 floats takes
//! 0.65 of the time of its plan then, each of 704 floats twice 0.39 of the time of picked blocks.
//! 260 random copies of 0.3 to 33 kB take 0.95 of the time in the mean (Zen 5, AVX-512).
//!
//! Registers of the same number of windows follow each other, so that one loop without branches
//! assembles them.

use smallvec::SmallVec;

use crate::{
    memory::CACHE_LINE,
    tuning::{PICKED_COPY_NS, PICKED_REGISTER_NS, PICKED_WINDOW_NS},
};

/// Bytes of a register out of which elements are picked: a cache line.
const REGISTER_BYTES: usize = CACHE_LINE;

/// The most windows of a register. With more, single elements are as fast.
pub(crate) const MAX_WINDOWS: usize = 8;

/// The most bytes of a copy, and picks of all its registers, which take 64 bytes each.
const MAX_BYTES: usize = 8 << 10;
const MAX_ALL_PICKS: usize = 384;

/// The offset of an element that has been found in a window.
const FOUND: i32 = i32::MAX;

/// For each element of a register, in the first of its bytes, its number among those picked so far
/// and, behind them, those of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct PickIndex(pub(crate) [u8; REGISTER_BYTES]);

/// A copy to adjacent elements. No window extends beyond the lowest or the highest byte of the
/// source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PickedCopy {
    /// Registers of one window come first, then those of two.
    registers: PickedRegisters,
    /// At `[k]`: the number of registers of `k + 1` windows.
    counts: [usize; MAX_WINDOWS],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PickedRegisters {
    /// Of each register its offset in the result, and the offsets of its windows from the first
    /// element of the source, in bytes.
    places: Vec<i32>,
    /// Of each register the [picks](picks_of).
    indices: Vec<PickIndex>,
}

/// Registers of the same number of windows: see [`PickedRegisters`].
pub(crate) type PickedGroup<'a> = (&'a [i32], &'a [PickIndex]);

/// The picks of a register: one for each window but the first, or one if there is one window.
pub(crate) const fn picks_of(windows: usize) -> usize {
    if windows > 1 { windows - 1 } else { 1 }
}

impl PickedCopy {
    /// Can copies of this many elements, of `width` bytes, be picked?
    pub(crate) fn suits(elements: usize, width: usize) -> bool {
        matches!(width, 2 | 4 | 8)
            && (REGISTER_BYTES..=MAX_BYTES).contains(&elements.saturating_mul(width))
    }

    /// The picks of elements of `width` bytes. Element `i` of the result is the one that lies
    /// `from[i]` elements behind the first.
    ///
    /// `None` if there are too many windows, if the source is smaller than a register, or without
    /// memory.
    pub(crate) fn new(from: &[i32], width: usize) -> Option<Self> {
        let per_register = REGISTER_BYTES / width;
        let [lowest, highest] = [from.iter().min()?, from.iter().max()?].map(|&at| i64::from(at));
        let last = highest + 1 - per_register as i64;
        let is_near = i32::try_from(lowest.abs().max(highest.abs()) * width as i64).is_ok();
        if !Self::suits(from.len(), width) || last < lowest || !is_near {
            return None;
        }
        let mut listed = ListedRegisters::default();
        let registers = from.len().div_ceil(per_register);
        listed.windows.try_reserve_exact(registers).ok()?;
        listed.registers.places.try_reserve_exact(registers * (1 + MAX_WINDOWS)).ok()?;
        let mut start = 0;
        loop {
            listed.push(start, &from[start..][..per_register], width, last as i32)?;
            if start + per_register == from.len() {
                return Self::sorted(&listed);
            }
            // The last two registers may overlap.
            start = (start + per_register).min(from.len() - per_register);
        }
    }

    fn sorted(listed: &ListedRegisters) -> Option<Self> {
        let mut sorted = Self::default();
        let PickedRegisters { places, indices } = &mut sorted.registers;
        places.try_reserve_exact(listed.registers.places.len()).ok()?;
        indices.try_reserve_exact(listed.registers.indices.len()).ok()?;
        for (count, windows) in sorted.counts.iter_mut().zip(1..) {
            for (_, of_register) in listed.iter().filter(|(of, _)| *of == windows) {
                places.extend_from_slice(of_register.0);
                indices.extend_from_slice(of_register.1);
                *count += 1;
            }
        }
        Some(sorted)
    }

    /// The predicted time, in nanoseconds.
    pub(crate) fn predicted_ns(&self) -> f64 {
        let registers: usize = self.counts.iter().sum();
        let windows = self.registers.places.len() - registers;
        PICKED_COPY_NS + registers as f64 * PICKED_REGISTER_NS + windows as f64 * PICKED_WINDOW_NS
    }

    /// All registers. [`split`](Self::split) takes those of one window off first.
    #[inline(always)]
    pub(crate) fn all(&self) -> PickedGroup<'_> {
        (&self.registers.places, &self.registers.indices)
    }

    /// The registers of `windows` windows, and those of more: of a group that begins with them.
    #[inline(always)]
    pub(crate) fn split<'a>(
        &self,
        windows: usize,
        (places, indices): PickedGroup<'a>,
    ) -> [PickedGroup<'a>; 2] {
        let count = self.counts[windows - 1];
        let (places, other_places) = places.split_at(count * (1 + windows));
        let (indices, other_indices) = indices.split_at(count * picks_of(windows));
        [(places, indices), (other_places, other_indices)]
    }
}

/// Registers in the order of the result.
#[derive(Default)]
struct ListedRegisters {
    registers: PickedRegisters,
    /// The number of windows of each.
    windows: Vec<usize>,
}

impl ListedRegisters {
    /// Adds the register that begins with element `start` of the result, whose elements are `from`
    /// and whose places there is room for. No window starts behind element `last`. `None` if there
    /// are too many, or without memory.
    fn push(&mut self, start: usize, from: &[i32], width: usize, last: i32) -> Option<()> {
        let mut left: SmallVec<[i32; REGISTER_BYTES / 2]> = SmallVec::from_slice(from);
        let PickedRegisters { places, indices } = &mut self.registers;
        indices.try_reserve(MAX_WINDOWS).ok()?;
        places.push((start * width) as i32);
        let (mut index, mut windows) = (PickIndex([0; REGISTER_BYTES]), 0);
        while let Some(&lowest) = left.iter().filter(|&&at| at != FOUND).min() {
            if windows == MAX_WINDOWS || indices.len() == MAX_ALL_PICKS {
                return None;
            }
            let window = lowest.min(last);
            let behind = if windows > 0 { from.len() } else { 0 };
            for (to, at) in left.iter_mut().enumerate().filter(|(_, at)| **at != FOUND) {
                let in_window = at.wrapping_sub(window) as u32 as usize;
                if in_window < from.len() {
                    index.0[to * width] = (behind + in_window) as u8;
                    *at = FOUND;
                }
            }
            places.push(window * width as i32);
            windows += 1;
            if windows > 1 {
                indices.push(index);
                // What has been picked stays where it is.
                let found = left.iter().enumerate().filter(|(_, at)| **at == FOUND);
                found.for_each(|(to, _)| index.0[to * width] = to as u8);
            }
        }
        if windows == 1 {
            indices.push(index);
        }
        self.windows.push(windows);
        Some(())
    }

    /// Each register, with its number of windows.
    fn iter(&self) -> impl Iterator<Item = (usize, PickedGroup<'_>)> {
        let (mut places, mut indices) = (&self.registers.places[..], &self.registers.indices[..]);
        self.windows.iter().map(move |&windows| {
            let (of_places, of_indices);
            (of_places, places) = places.split_at(1 + windows);
            (of_indices, indices) = indices.split_at(picks_of(windows));
            (windows, (of_places, of_indices))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset of each register in the result, and those of its windows.
    fn places(picks: &PickedCopy) -> Vec<Vec<i32>> {
        let (mut all, mut rest) = (Vec::new(), picks.all());
        for windows in 1..=MAX_WINDOWS {
            let [(places, indices), others] = picks.split(windows, rest);
            assert_eq!(indices.len() * (1 + windows), places.len() * picks_of(windows));
            all.extend(places.chunks_exact(1 + windows).map(<[i32]>::to_vec));
            rest = others;
        }
        assert!(rest.0.is_empty() && rest.1.is_empty());
        all
    }

    #[test]
    fn windows_lie_between_the_ends_of_the_source() {
        for (width, step) in [(4, 5), (8, -3), (2, 7)] {
            let from: Vec<i32> = (0..200).map(|i| i % 5 * 40 + i / 5 * step).collect();
            let picks = PickedCopy::new(&from, width).unwrap();
            let [lowest, highest] = [from.iter().min(), from.iter().max()].map(|at| *at.unwrap());
            let last = (highest + 1) * width as i32 - REGISTER_BYTES as i32;
            for register in places(&picks) {
                let inside = lowest * width as i32..=last;
                assert!(register[1..].iter().all(|at| inside.contains(at)), "{register:?}");
            }
        }
    }

    #[test]
    fn each_register_is_assembled_once() {
        let mirrored: Vec<i32> = (0..72).map(|i| i / 6 * 6 + 5 - i % 6).collect();
        let picks = PickedCopy::new(&mirrored, 4).unwrap();
        let mut starts: Vec<i32> = places(&picks).iter().map(|register| register[0]).collect();
        starts.sort_unstable();
        assert_eq!(starts, [0, 64, 128, 192, 224], "the last one overlaps");
    }

    #[test]
    fn what_is_small_or_large_or_far_apart_is_not_picked() {
        assert!(!PickedCopy::suits(usize::MAX / 8 + 20, 8), "more bytes than there are");
        assert_eq!(PickedCopy::new(&[0, 1, 2], 4), None, "less than a register");
        assert_eq!(PickedCopy::new(&[0; 16], 4), None, "one element of the source");
        let far: Vec<i32> = (0..16).map(|i| i * 100).collect();
        assert_eq!(PickedCopy::new(&far, 4), None, "16 windows");
        let beyond: Vec<i32> = (0..16).map(|i| i << 26).collect();
        assert_eq!(PickedCopy::new(&beyond, 8), None, "beyond 32 bits");
        let many: Vec<i32> = (0..4096).collect();
        assert_eq!(PickedCopy::new(&many, 4), None, "many bytes");
        let reversed: Vec<i32> = (0..16).rev().collect();
        assert!(PickedCopy::new(&reversed, 4).is_some());
        assert_eq!(PickedCopy::new(&reversed, 1), None, "bytes");
    }
}
