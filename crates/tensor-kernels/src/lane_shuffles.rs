//! Blocks of adjacent bytes whose sources lie close to each other, assembled a lane at a time.
//!
//! Mirrored pixels, rows of a few bytes and small transposes move bytes by less than a cache line.
//! Copied one by one, each byte takes a load and a store. A shuffle moves all bytes at once that
//! one lane of the source contributes to a lane of the result. The shuffles of a block are listed
//! once, and used for all blocks of the same layout.

use smallvec::SmallVec;

use crate::memory::LANE_BYTES;

/// The most lanes of the source from which a lane is assembled. Above, single loads and stores are
/// as fast.
const MAX_SOURCES: usize = 8;

/// The most lanes of a block, and of their sources, which are listed without an allocation: twice
/// the largest block that is cut out of longer loops, and as many sources as that one can have.
const MAX_LANES: usize = 16;
const MAX_LISTED_SOURCES: usize = 64;

/// An index with which a shuffle writes 0.
const ZERO: u8 = 0x80;

/// The offset of a byte that a lane of the source already contributes.
const FOUND: i32 = i32::MAX;

/// A lane of the source, and which of its bytes go where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneSource {
    /// Bytes from the start of the block's source to the lane.
    pub(crate) offset: i32,
    /// For each byte of the result the byte of this lane, or 128 or more if it is from another one.
    pub(crate) index: [u8; LANE_BYTES],
}

/// How a block is assembled: for each of its lanes the lanes of the source that have its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneShuffles {
    /// For each lane: its offset in the block, and the number of its sources.
    lanes: SmallVec<[(u16, u16); MAX_LANES]>,
    /// The sources of all lanes.
    sources: SmallVec<[LaneSource; MAX_LISTED_SOURCES]>,
}

impl LaneShuffles {
    /// The shuffles of a block of adjacent units of `unit` bytes, `unit` a divisor of a lane. Unit
    /// `i` is read `from[i]` bytes from the start of the block's source.
    ///
    /// `None` if a lane or the block has too many sources, the block too many lanes, or if the
    /// block or its source is smaller than a lane.
    /// No lane of the source extends beyond the block's lowest or highest byte.
    #[inline(always)]
    pub(crate) fn new(from: &[i32], unit: usize) -> Option<Self> {
        let bytes = from.len() * unit;
        let [lowest, highest] = [from.iter().min()?, from.iter().max()?].map(|&at| i64::from(at));
        let last = highest + unit as i64 - LANE_BYTES as i64;
        if !(LANE_BYTES..=MAX_LANES * LANE_BYTES).contains(&bytes) || last < lowest {
            return None;
        }
        let mut shuffles = Self::default();
        let mut start = 0;
        loop {
            let mut lane = [0; LANE_BYTES];
            let units = &from[start / unit..][..LANE_BYTES / unit];
            for (bytes, &at) in lane.chunks_exact_mut(unit).zip(units) {
                bytes.iter_mut().zip(at..).for_each(|(byte, at)| *byte = at);
            }
            shuffles.push_lane(start, lane, last as i32)?;
            if start + LANE_BYTES == bytes {
                return Some(shuffles);
            }
            // The last two lanes may overlap.
            start = (start + LANE_BYTES).min(bytes - LANE_BYTES);
        }
    }

    /// Adds the lane at `start` of the block, whose bytes are at the offsets `from`. No lane of the
    /// source starts behind `last`.
    #[inline(always)]
    fn push_lane(&mut self, start: usize, mut from: [i32; LANE_BYTES], last: i32) -> Option<()> {
        let mut sources = 0;
        loop {
            let lowest = from.iter().fold(FOUND, |lowest, &at| lowest.min(at));
            if lowest == FOUND {
                break;
            }
            if sources == MAX_SOURCES || self.sources.len() == MAX_LISTED_SOURCES {
                return None;
            }
            let offset = lowest.min(last);
            let mut index = [ZERO; LANE_BYTES];
            for (index, from) in index.iter_mut().zip(&mut from) {
                let at = from.wrapping_sub(offset) as u32;
                let in_lane = at < LANE_BYTES as u32;
                *index = if in_lane { at as u8 } else { ZERO };
                *from = if in_lane { FOUND } else { *from };
            }
            self.sources.push(LaneSource { offset, index });
            sources += 1;
        }
        self.lanes.push((start as u16, sources as u16));
        Some(())
    }

    /// The number of sources of all lanes.
    pub(crate) fn sources(&self) -> usize {
        self.sources.len()
    }

    /// For each lane: its offset in the block, and its sources, at least one.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> impl Iterator<Item = (usize, &[LaneSource])> {
        let mut rest = &self.sources[..];
        self.lanes.iter().map(move |&(start, count)| {
            let (sources, others) = rest.split_at(usize::from(count));
            rest = others;
            (usize::from(start), sources)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The block as the shuffles assemble it, of a source that starts at its lowest byte.
    fn assembled(shuffles: &LaneShuffles, source: &[u8], lowest: i32, bytes: usize) -> Vec<u8> {
        let mut block = vec![0; bytes];
        for (start, sources) in shuffles.lanes() {
            let mut lane = [0; LANE_BYTES];
            for source_lane in sources {
                let from = &source[(source_lane.offset - lowest) as usize..][..LANE_BYTES];
                for (byte, &at) in lane.iter_mut().zip(&source_lane.index) {
                    *byte |= from.get(usize::from(at)).copied().unwrap_or(0);
                }
            }
            block[start..][..LANE_BYTES].copy_from_slice(&lane);
        }
        block
    }

    proptest! {
        #[test]
        fn blocks_are_assembled_from_bytes_between_their_ends(
            from in prop::collection::vec(-40_i32..40, 1..130),
            unit in prop::sample::select(vec![1_usize, 2, 4, 8]),
        ) {
            let Some(shuffles) = LaneShuffles::new(&from, unit) else { return Ok(()) };
            let lowest = *from.iter().min().unwrap();
            let end = from.iter().max().unwrap() + unit as i32;
            let source: Vec<u8> = (0..end - lowest).map(|i| (i * 7 + 1) as u8).collect();
            let expected: Vec<u8> = from
                .iter()
                .flat_map(|at| source[(at - lowest) as usize..][..unit].to_vec())
                .collect();
            prop_assert_eq!(assembled(&shuffles, &source, lowest, expected.len()), expected);
        }
    }

    #[test]
    fn mirrored_bytes_have_one_source() {
        let from: Vec<i32> = (0..32).map(|i| -i).collect();
        let shuffles = LaneShuffles::new(&from, 1).unwrap();
        assert_eq!(
            shuffles.lanes().map(|(start, of)| (start, of.len())).collect::<Vec<_>>(),
            [(0, 1), (16, 1)]
        );
        assert_eq!(shuffles.sources(), 2);
    }

    #[test]
    fn distant_bytes_and_small_blocks_are_refused() {
        let distant: Vec<i32> = (0..32).map(|i| 100 * i).collect();
        assert!(LaneShuffles::new(&distant, 1).is_none());
        assert!(LaneShuffles::new(&[0; 16], 1).is_none(), "one byte of the source");
        assert!(LaneShuffles::new(&[0, 4, 8], 4).is_none(), "twelve bytes");
    }
}
