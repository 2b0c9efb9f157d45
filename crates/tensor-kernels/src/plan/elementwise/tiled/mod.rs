//! Plans elementwise operations with operands that are not adjacent along the same loops as the
//! result: they are computed tile by tile.
//!
//! A tile is some iterations of every loop. The elements that an operand has in it are copied into
//! scratch, in the order of the result, as a copy of its own: it is planned like any other
//! (`plan::copy`), so every layout that copies handle well is handled well here. Then the operation
//! runs over long rows. A tile has enough iterations of the loops along which the result is
//! adjacent for long rows, and enough of those along which each operand is adjacent for whole cache
//! lines.
//!
//! Loops along which every input is broadcast are left out: what is computed once is copied to all
//! its places in the result. Not so for a user's function, which is called once for each result.
//!
//! # Tried and dropped
//! Measured on random layouts (f32, Zen 5, one thread; load from other programs). Groups of loops
//! with tables of offsets of their own took 1.2 to 1.9 times as long in the median of the layouts
//! that took them, and needed kernels that copies have in better form. Tiles for transposes of two
//! loops: 1.25 to 1.5 times as long in cache as blocks of rows and columns, so they keep those
//! unless the result is larger than the caches.
//! Several transposed inputs of the same strides, computed in their order and only the results
//! transposed: 1.3 to 2.2 times as long out of cache (Zen 4), whatever the tile, because results
//! are then written in short runs. In cache it is faster, and `run::small` does it. Floats are
//! transposed together where copies are transposes (`run::finished`).
//! Packing rows of 8 to 200 elements that descend in one of several inputs, which are computed one
//! by one (`run::bounce`): 1.2 to 2 times as long for most differences of an array and its flipped
//! rows, 0.1 to 12 MB (Zen 5).
//! Visiting tiles in the order of an input instead of that of the result: 0.98 to 1.0 of the time.

mod streamed_tiles;

use super::{
    Access, Block, ElementwiseWork, EqualResults, Extent, MAX_PACKED_ELEMENT_BYTES, accesses,
    rows_loop, rows_start_alike,
};
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::{Loop, Loops},
    plan::tile::{Counts, fill, reach},
    tuning::{
        LARGE_TRANSPOSED_TILE, LARGER_TILES, MAX_GATHERED_STEP, MIN_COPIED_RUNS, MIN_DIRECT_RUN,
        MIN_GATHERED_ELEMENTS, MIN_TRANSPOSED_ELEMENTS, MIN_TRANSPOSED_ROWS, TILE_TARGETS,
        TILES_IN_L2,
    },
};

/// How much of the loops is computed at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    /// The iterations of each loop.
    pub(crate) counts: Counts,
    /// Are the loops left out along which every input is broadcast? The result is packed then, and
    /// there is another loop.
    leaves_out_broadcasts: bool,
}

impl Tile {
    /// Is a loop left out: are results computed for one of its iterations, and copied to all?
    pub(crate) fn leaves_out<const N: usize>(&self, l: &Loop<N>) -> bool {
        self.leaves_out_broadcasts && broadcasts_all(l)
    }
}

/// The plan by tiles; `None` if blocks of two loops are as good.
#[inline]
pub(super) fn plan<const N: usize>(
    starts: [isize; N],
    loops: &[Loop<N>],
    widths: [usize; N],
    equal: EqualResults,
    machine: &Machine,
) -> Option<ElementwiseWork<N>> {
    let fits = |&width: &usize| (1..=MAX_PACKED_ELEMENT_BYTES).contains(&width);
    let elements = loops.iter().fold(1_usize, |count, l| count.saturating_mul(l.len));
    if loops.len() < 2 || !widths.iter().all(fits) {
        return None;
    }
    let large = elements.saturating_mul(widths[0]) >= machine.stream;
    let copies_equal = equal == EqualResults::Copied && !packs_short_rows(loops, widths);
    let broadcast = broadcast_len(loops).filter(|_| copies_equal);
    let leaves_out_broadcasts = broadcast.is_some();
    let is_computed = |l: &&Loop<N>| !(leaves_out_broadcasts && broadcasts_all(l));
    let computed: Loops<N> = loops.iter().filter(is_computed).copied().collect();
    let packed: [bool; N] = std::array::from_fn(|k| match (k, broadcast) {
        (0, Some(_)) => true,
        _ => adjacent(k, &computed) < MIN_DIRECT_RUN,
    });
    let (none_left_out, any_packed) = (broadcast.is_none(), packed.contains(&true));
    let streamed = (large && none_left_out && any_packed)
        .then(|| streamed_tiles::counts(loops, packed, widths, machine))
        .flatten();
    let stream = streamed.is_some();
    if none_left_out && !stream && (!any_packed || is_simple(loops, packed, widths, large)) {
        return None;
    }
    let counts = match streamed {
        Some(counts) => counts,
        None if large && loops.len() == 2 && none_left_out => {
            large_transpose(loops, packed, widths)
        }
        None => counts(loops, packed, widths, limit(loops, packed, widths, broadcast, machine)),
    };
    let tile = Tile { counts, leaves_out_broadcasts };
    let once = Loop { len: 1, strides: [0; N] };
    let work = ElementwiseWork {
        starts,
        outer: loops.iter().copied().collect(),
        rows: once,
        columns: once,
        widths,
        block: block(loops, &tile, packed, widths),
        tile: Some(tile),
        large,
        stream,
        path: "tiled",
    };
    // Tiles of many or narrow operands may be larger than the second-level cache.
    Some(if large { work.within_scratch(machine.l2) } else { work })
}

/// Is every input broadcast along a loop?
fn broadcasts_all<const N: usize>(l: &Loop<N>) -> bool {
    l.strides[1..].iter().all(|&stride| stride == 0)
}

/// The length of the innermost loop, if every input is broadcast along it, and not along all loops.
fn broadcast_len<const N: usize>(loops: &[Loop<N>]) -> Option<usize> {
    let innermost = loops.last().filter(|l| broadcasts_all(l))?;
    (!loops.iter().all(broadcasts_all)).then_some(innermost.len)
}

/// Are rows so short that many of them are packed into one? With one input that is broadcast along
/// them this takes about half as long as a tile, with two about as long (Zen 4).
fn packs_short_rows<const N: usize>(loops: &[Loop<N>], widths: [usize; N]) -> bool {
    two_loops(loops, widths).is_some_and(|(.., access)| access.iter().any(|a| a.packs_rows()))
}

/// The rows and the columns of a block of two loops, and how it accesses the operands.
fn two_loops<const N: usize>(
    loops: &[Loop<N>],
    widths: [usize; N],
) -> Option<(Loop<N>, Loop<N>, [Access; N])> {
    let (&columns, around) = loops.split_last()?;
    let rows = rows_loop(around, &columns, widths).map_or(Loop::ONCE, |at| around[at]);
    Some((rows, columns, accesses(&rows, &columns, widths)))
}

/// Are two loops enough for all operands that are packed?
fn is_simple<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    large: bool,
) -> bool {
    let Some((rows, columns, access)) = two_loops(loops, widths) else { return true };
    if access.iter().any(|access| access.packs_rows()) {
        return access.iter().all(|access| access.is_direct() || access.packs_rows());
    }
    if access.iter().all(|access| access.is_direct()) {
        // Starting a row takes as long as copying one of a few elements.
        let copies = packed.iter().filter(|&&packed| packed).count();
        return columns.len * copies >= MIN_COPIED_RUNS;
    }
    (0..N).all(|k| match access[k] {
        // Blocks of a large result are streamed if all rows start at the same offset in a line.
        Access::Transposed if loops.len() == 2 => {
            !large || rows_start_alike(loops[..1].iter(), widths[0])
        }
        Access::Transposed => {
            let is_large = rows.len.saturating_mul(columns.len) >= MIN_TRANSPOSED_ELEMENTS;
            rows.len >= MIN_TRANSPOSED_ROWS && columns.len >= MIN_DIRECT_RUN
                || rows.len >= MIN_TRANSPOSED_ROWS / 2 && is_large
        }
        Access::Gather => {
            columns.len >= 2 * MIN_DIRECT_RUN
                && columns.strides[k].unsigned_abs() <= MAX_GATHERED_STEP
                && (loops.len() == 2
                    || rows.len.saturating_mul(columns.len) >= MIN_GATHERED_ELEMENTS)
        }
        _ => !packed[k] || columns.len >= MIN_DIRECT_RUN,
    })
}

/// The block of a tile: one row of all elements that are computed.
pub(super) fn block<const N: usize>(
    loops: &[Loop<N>],
    tile: &Tile,
    packed: [bool; N],
    widths: [usize; N],
) -> Block<N> {
    let inner = loops.iter().rfind(|l| !tile.leaves_out(l));
    let access = std::array::from_fn(|k| match (packed[k], inner.map(|l| l.strides[k])) {
        (true, _) => Access::Gather,
        (false, Some(0)) => Access::Scalar,
        (false, _) => Access::UnitStride,
    });
    let scratch_rows = packed.map(|packed| packed.then_some(1));
    let counted = loops.iter().zip(&tile.counts).filter(|(l, _)| !tile.leaves_out(l));
    let extent = Extent { rows: 1, columns: counted.map(|(_, &count)| count).product() };
    Block::new(extent, access, widths, scratch_rows)
}

/// The number of adjacent elements of operand `k`, or repetitions of one, in its innermost loops.
fn adjacent<const N: usize>(k: usize, loops: &[Loop<N>]) -> usize {
    let Some(step @ (0 | 1)) = loops.last().map(|l| l.strides[k]) else { return 1 };
    let mut run = 1;
    for l in loops.iter().rev() {
        if l.strides[k] != step * run as isize {
            break;
        }
        run *= l.len;
    }
    run
}

/// The most elements of a tile.
fn limit<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    broadcast: Option<usize>,
    machine: &Machine,
) -> usize {
    let cached = (machine.l2 / TILES_IN_L2).max(machine.l1);
    let element = (0..N).filter(|&k| packed[k]).map(|k| cached_bytes(loops, k, widths[k]));
    let distinct = cached / element.sum::<usize>();
    // A broadcast takes no scratch, but threads receive whole tiles.
    distinct.saturating_mul(broadcast.unwrap_or(1)).min(distinct.max(machine.l2 / widths[0]))
}

/// The bytes of the caches that an element of operand `k` takes, with those of the gaps around it.
fn cached_bytes<const N: usize>(loops: &[Loop<N>], k: usize, width: usize) -> usize {
    let strides = loops.iter().map(|l| l.strides[k].unsigned_abs());
    let step = strides.filter(|&stride| stride > 0).min().unwrap_or(1);
    step.saturating_mul(width).clamp(width, CACHE_LINE.max(width))
}

/// The iterations of each loop in a tile of at most `limit` elements.
fn counts<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    limit: usize,
) -> Counts {
    let mut counts = Counts::new();
    for target in TILE_TARGETS {
        counts = reach(loops, packed, widths, target);
        if counts.iter().product::<usize>() <= limit.saturating_mul(LARGER_TILES) {
            break;
        }
    }
    fill(&mut counts, loops, limit);
    counts
}

/// The tile of two loops, where the result is larger than the caches.
fn large_transpose<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
) -> Counts {
    reach(loops, packed, widths, LARGE_TRANSPOSED_TILE)
}

#[cfg(test)]
mod tests {
    use tensor_core::{Layout, Slice};

    use super::*;

    const MACHINE: Machine = Machine { stream: 1 << 20, l2: 256 << 10, ..Machine::REFERENCE };

    fn transposed(rows: usize, columns: usize) -> Layout {
        Layout::contiguous([columns, rows]).unwrap().t().unwrap()
    }

    #[test]
    fn tiles_of_large_transposes_fit_into_the_second_level_cache() {
        let shape = [1999, 2001];
        let (result, input) = (Layout::contiguous(shape).unwrap(), transposed(1999, 2001));
        for width in [1, 2, 4, 8, 16] {
            let layouts = [&result, &input, &input, &input];
            let work = ElementwiseWork::plan(layouts, [width; 4], EqualResults::Copied, &MACHINE);
            let bytes = work.block.scratch_bytes();
            assert!(work.tile.is_some() && bytes <= MACHINE.l2, "{width}: {bytes}");
            assert!(bytes >= 32 << 10, "{width}: {bytes}");
        }
        let lines = [Layout::contiguous([2000, 2048]).unwrap(), transposed(2000, 2048)];
        let streamed =
            ElementwiseWork::plan([&lines[0], &lines[1]], [4; 2], EqualResults::Copied, &MACHINE);
        assert!(streamed.stream && streamed.tile.is_none(), "{streamed}");
    }

    #[test]
    fn gathered_rows_are_blocks_if_there_are_many_in_two_loops() {
        let is_tiled = |shape: [usize; 3]| {
            let [a, b, c] = shape;
            let strides = [a * b * c * 2, c * 2 * 3, 2].map(|stride| stride as isize);
            let input = Layout::new(shape, strides, 0).unwrap();
            let result = Layout::contiguous(shape).unwrap();
            let work =
                ElementwiseWork::plan([&result, &input], [4; 2], EqualResults::Copied, &MACHINE);
            work.tile.is_some()
        };
        assert!(is_tiled([100, 2, 55]) && !is_tiled([100, 20, 55]) && !is_tiled([100, 2, 1024]));
    }

    #[test]
    fn pixels_and_steps_are_not_transposed() {
        let is_transposed = |input: &Layout| {
            let result = Layout::contiguous(input.shape()).unwrap();
            ElementwiseWork::plan([&result, input], [4; 2], EqualResults::Copied, &MACHINE)
                .is_transposed(1, CACHE_LINE)
        };
        assert!(is_transposed(&transposed(1999, 2001)));
        assert!(is_transposed(&transposed(1999, 2001).flip([0]).unwrap()));
        let batch = Layout::contiguous([7, 61, 4, 999]).unwrap();
        assert!(is_transposed(&batch.permute([0, 3, 2, 1]).unwrap()));
        let pixels = Layout::contiguous([700, 900, 4]).unwrap();
        assert!(!is_transposed(&pixels.permute([2, 0, 1]).unwrap()));
        let every_other = Layout::contiguous([1200, 1998]).unwrap();
        let every_other = every_other.slice(1, Slice::new(None, None, 2)).unwrap();
        assert!(!is_transposed(&every_other.t().unwrap()));
        assert!(!is_transposed(&every_other));
    }
}
