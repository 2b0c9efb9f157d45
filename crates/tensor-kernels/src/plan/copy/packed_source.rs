//! Plans copies of a source that has gaps between its elements and another order than the
//! destination, such as the transpose of every second column.
//!
//! Transposes need source rows of adjacent elements. Without them each element is copied by itself,
//! which takes about 1 ns, because each lies in another cache line than the one before. So the
//! source is packed into scratch, tile by tile: in its own order, without its gaps. From there a
//! tile is copied to the destination. Both are copies again, planned as such: the first takes runs
//! that are one step apart, the second transposes.
//!
//! Over 140 random layouts that nothing was fitted to, steps and slices of the last dimension in
//! another order, copies take 0.75 of the time from 2 MB on (0.28 instead of 0.22 of the copy
//! bandwidth in the median, 0.08 instead of 0.03 at the 5th percentile), and 0.85 from 50 kB to 2
//! MB (one thread, Zen 5).
//!
//! Fewer units gain as much. Over 200 random layouts of 3 to 160 kB, steps of 2 to 6 in another
//! order, drawn when the limit and the rates had been chosen, copies of 1 and 2 bytes take 0.68 and
//! 0.70 of the time that they took when packing began at 32 kB. Those of 4 bytes take 0.97; 2 of 63
//! take 1.4 and 1.5 (Zen 3, AVX2). With AVX-512 that is not measured.
//!
//! # Tried and dropped
//! - Blocks of groups of loops that are gathered into scratch and transposed there, as in
//!   `grouped`: the runs of a block are short, and 0.6 to 1.4 of the time remained.
//! - Non-temporal stores when a tile is copied on: as long in the mean beyond the caches, and up to
//!   seven times as long in them, because the ends of runs share cache lines.
//! - Tiles with 1 KiB of the destination and 512 bytes of the source: 1.04 of the time.

use std::cmp::Reverse;

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use super::{Inner, Work};
use crate::{
    exec::Machine,
    memory::{CACHE_LINE, LANE_BYTES},
    nest::{Loop, NestBuilder},
    plan::tile::{Counts, fill, reach},
    tuning::{
        MAX_NARROW_UNIT, MAX_PACKED_ADJACENT, MAX_PACKED_STEP_BYTES, MIN_PACKED_RUN,
        PACKED_SOURCE_IN_L2, PACKED_SOURCE_TARGETS,
    },
};

/// The path of a copy whose source is packed first.
pub(super) const PACKED_SOURCE: &str = "packed_source";

/// Plans a copy by packing the source; `false` if that does not suit the loops.
pub(super) fn plan(work: &mut Work, builder: &NestBuilder<'_, 2>, machine: &Machine) -> bool {
    if !suits(builder.loops(), work.unit) {
        return false;
    }
    work.starts = builder.starts;
    work.outer = builder.loops().iter().copied().collect();
    let elements = (machine.l2 / PACKED_SOURCE_IN_L2 / work.unit).max(1);
    work.inner = Inner::PackedSource { elements };
    work.path = PACKED_SOURCE;
    true
}

/// What planning the copies of all tiles takes, in entries of a table: two plans for each shape of
/// a tile, of which a loop that tiles do not divide has two. Not counted for wide elements, whose
/// source is packed beyond the second-level cache only: the copy takes a hundred times as long.
pub(super) fn entries(loops: &[Loop<2>], elements: usize, unit: usize) -> usize {
    if unit > MAX_NARROW_UNIT {
        return 0;
    }
    let counts = source_tile(loops, elements, unit);
    let is_cut_short = |(l, count): (&Loop<2>, &usize)| !l.len.is_multiple_of(*count);
    let cut_short = loops.iter().zip(&counts).filter(|&at| is_cut_short(at)).count();
    TILE_PLAN_ENTRIES << cut_short.min(MAX_CUT_SHORT)
}

/// As 1.2 µs (Zen 3): two plans take 2 to 10 µs, but a thread keeps those of the copies it repeats.
const TILE_PLAN_ENTRIES: usize = 1440;

/// More loops that end with a shorter tile are not told apart.
const MAX_CUT_SHORT: usize = 8;

/// Does the source lie in another order than the destination, with gaps that are shorter than cache
/// lines after every element, or every few?
fn suits(loops: &[Loop<2>], unit: usize) -> bool {
    let order = source_order(loops);
    let step = |at: usize| loops[at].strides[1].unsigned_abs();
    let [nearest, ..] = order[..] else { return false };
    let (mut run, mut extent) = (1, 1);
    for at in order {
        if step(at) > extent.max(CACHE_LINE / unit) {
            break;
        }
        run = loops[at].len.saturating_mul(run);
        extent = loops[at].len.saturating_mul(step(at));
    }
    let adjacent = adjacent(loops);
    let is_short = adjacent <= MAX_PACKED_ADJACENT && adjacent * unit < LANE_BYTES;
    nearest + 1 < loops.len() && is_short && run >= MIN_PACKED_RUN
}

/// Is packing the best plan of a copy beyond the second-level cache? It is if several elements, or
/// pairs and so on, share a line of the source, and those that follow each other in the destination
/// do not: a copy of single elements fetches each line several times, and takes 1.2 to 5 times as
/// long. Predictions chose wrongly for half of such copies.
pub(super) fn shares_lines(loops: &[Loop<2>], unit: usize) -> bool {
    let (adjacent, order) = (adjacent(loops), source_order(loops));
    let mut apart = order.into_iter().skip_while(|&at| is_within(&loops[at], adjacent));
    let Some(next) = apart.next() else { return false };
    let step = loops[next].strides[1].unsigned_abs();
    let follow = adjacent > 1 && next + 1 == loops.len();
    unit <= MAX_NARROW_UNIT
        && !follow
        && (adjacent + 1..=MAX_PACKED_STEP_BYTES / unit).contains(&step)
}

/// Does a loop visit only the first `adjacent` units of the source?
fn is_within(l: &Loop<2>, adjacent: usize) -> bool {
    l.strides[1].unsigned_abs() < adjacent
}

/// The loops that move the source, the shortest step first; of equal steps the inner loop. So loops
/// that have been sorted by their steps stay in their order, and a tile that is packed in this
/// order is not packed again.
pub(crate) fn source_order(loops: &[Loop<2>]) -> SmallVec<[usize; 6]> {
    let mut order: SmallVec<[usize; 6]> =
        (0..loops.len()).filter(|&at| loops[at].strides[1] != 0).collect();
    sort_by_key(&mut order, |&at| (loops[at].strides[1].unsigned_abs(), Reverse(at)));
    order
}

/// The adjacent units of the source.
pub(super) fn adjacent(loops: &[Loop<2>]) -> usize {
    let is_adjacent =
        source_order(loops).first().is_some_and(|&at| loops[at].strides[1].abs() == 1);
    if is_adjacent { gathered(loops) } else { 1 }
}

/// The units of the source that are one step apart.
pub(super) fn gathered(loops: &[Loop<2>]) -> usize {
    let order = source_order(loops);
    let step = |at: usize| loops[at].strides[1].unsigned_abs();
    let first = order.first().map_or(0, |&at| step(at));
    order.into_iter().fold(1, |run, at| {
        if step(at) == first.saturating_mul(run) { loops[at].len.saturating_mul(run) } else { run }
    })
}

/// The iterations of each loop in a tile of at most `elements` units.
pub(crate) fn source_tile(loops: &[Loop<2>], elements: usize, unit: usize) -> Counts {
    let mut counts = Counts::new();
    for target in PACKED_SOURCE_TARGETS {
        counts = reach(loops, [false, true], [unit; 2], target);
        if counts.iter().product::<usize>() <= elements {
            break;
        }
    }
    while counts.iter().product::<usize>() > elements {
        let Some(longest) = counts.iter_mut().max() else { break };
        *longest = longest.div_ceil(2);
    }
    fill(&mut counts, loops, elements);
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tensor_core::{Layout, Slice};

    use super::*;

    fn plan_of(from: &Layout, width: usize) -> Work {
        let to = Layout::contiguous(from.shape()).unwrap();
        Work::new(from, &to, width, &Machine::REFERENCE)
    }

    /// Every `step`th column of a matrix.
    fn columns(rows: usize, columns: usize, step: usize) -> Layout {
        let all = Layout::contiguous([rows, columns * step]).unwrap();
        all.slice(1, Slice { step: step as isize, ..Slice::from(..) }).unwrap()
    }

    #[test]
    fn transposes_of_every_second_column_are_packed() {
        for (step, width) in [(2, 1), (3, 2), (2, 4), (5, 4)] {
            let work = plan_of(&columns(1500, 1501, step).t().unwrap(), width);
            assert!(matches!(work.inner, Inner::PackedSource { .. }), "{step}, {width}: {work}");
        }
    }

    #[test]
    fn few_narrow_units_are_packed_too() {
        let is_packed = |side: usize, width: usize, vector: usize| {
            let from = columns(side, side, 3).t().unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            let work = Work::new(&from, &to, width, &Machine { vector, ..Machine::REFERENCE });
            matches!(work.inner, Inner::PackedSource { .. })
        };
        for (vector, side) in [(32, 64), (64, 100)] {
            assert!(is_packed(side, 1, vector) && is_packed(side, 2, vector), "{vector}");
            assert!(!is_packed(40, 1, vector) && !is_packed(side, 8, vector), "{vector}");
        }
    }

    #[test]
    fn planes_of_some_channels_are_packed_unless_they_follow_pixels() {
        let first_of = |channels: usize, kept: usize| {
            let image = Layout::contiguous([1300, 1200, channels]).unwrap();
            image.narrow(2, 0, kept).unwrap()
        };
        let is_packed = |from: Layout, width: usize| {
            matches!(plan_of(&from, width).inner, Inner::PackedSource { .. })
        };
        // The rows of a plane are the columns of the image: pixels of one lie far apart.
        for (channels, kept, width) in [(4, 2, 1), (6, 3, 2), (4, 2, 4)] {
            let columns = first_of(channels, kept).permute([1, 2, 0]).unwrap();
            assert!(is_packed(columns, width), "{kept} of {channels}, {width} bytes");
        }
        assert!(!is_packed(first_of(4, 2).permute([2, 0, 1]).unwrap(), 1), "pixels are near");
        assert!(!is_packed(first_of(4, 4).permute([1, 2, 0]).unwrap(), 1), "no gaps");
    }

    #[test]
    fn rows_transposes_and_distant_elements_are_not_packed() {
        for from in [
            columns(1500, 1501, 2),
            columns(1500, 1501, 1).t().unwrap(),
            columns(150, 151, 40).t().unwrap(),
            columns(20, 21, 2).t().unwrap(),
        ] {
            let work = plan_of(&from, 4);
            assert!(!matches!(work.inner, Inner::PackedSource { .. }), "{from:?}: {work}");
        }
    }

    proptest! {
        #[test]
        fn tiles_fit_into_scratch(
            lens in prop::collection::vec(1_usize..5000, 1..6),
            elements in 1_usize..100_000,
            unit in prop::sample::select(vec![1_usize, 2, 4, 8, 16]),
        ) {
            let mut stride = 3;
            let loops: Vec<_> = lens.iter().map(|&len| {
                let l = Loop { len, strides: [stride * 7, stride] };
                stride = stride.saturating_mul(len as isize);
                l
            }).collect();
            let counts = source_tile(&loops, elements, unit);
            prop_assert!(counts.iter().product::<usize>() <= elements);
            prop_assert!(counts.iter().zip(&lens).all(|(count, len)| (1..=*len).contains(count)));
        }
    }

    #[test]
    fn tiles_fetch_each_line_of_the_destination_once() {
        // Every second byte, transposed: columns of the destination would fetch each line 93 times.
        let steps = Layout::new([1931, 93], [2, 11_583], 0).unwrap();
        // Three of five channels of images, the pixels of each image side by side.
        let window = Layout::new([42, 3, 59, 15], [295, 1, 5, 12_390], 0).unwrap();
        for vector in [32, 64] {
            let machine = Machine { vector, ..Machine::REFERENCE };
            for from in [&steps, &window] {
                let to = Layout::contiguous(from.shape()).unwrap();
                assert_eq!(Work::new(from, &to, 1, &machine).path, PACKED_SOURCE, "{from:?}");
            }
        }
    }
}
