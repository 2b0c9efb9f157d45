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
//! If several inputs lie alike and no other one moves, a tile is computed in their order: its
//! results are written to scratch, and copied from there. So one operand is copied and not each
//! input. Of 400 random layouts of 0.2 to 45 MB, all inputs alike, 151 take 0.25 to 0.9 of the
//! time, 0.87 in the mean of all; transposes of few long rows, whose results would be streamed,
//! take up to 1.2 (Zen 5). Where copies are transposes, floats are transposed together in
//! registers (`run::finished`).
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
//! Packing rows of 8 to 200 elements that descend in one of several inputs, which are computed one
//! by one (`run::bounce`): 1.2 to 2 times as long for most differences of an array and its flipped
//! rows, 0.1 to 12 MB (Zen 5).
//! Visiting tiles in the order of an input instead of that of the result: 0.98 to 1.0 of the time.

mod streamed_tiles;

use std::cmp::Reverse;

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

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
    /// The input in whose order a tile is computed, if it is not that of the result. The result is
    /// packed then.
    order_of: Option<usize>,
}

impl Tile {
    /// Is a loop left out: are results computed for one of its iterations, and copied to all?
    pub(crate) fn leaves_out<const N: usize>(&self, l: &Loop<N>) -> bool {
        self.leaves_out_broadcasts && broadcasts_all(l)
    }

    /// The loops in the order in which a tile is computed, the outermost first.
    pub(crate) fn order<const N: usize>(&self, loops: &[Loop<N>]) -> SmallVec<[usize; 6]> {
        match self.order_of {
            None => (0..loops.len()).collect(),
            Some(input) => in_order_of(input, loops),
        }
    }
}

/// The loops in the order in which they move an input, which they all do, the outermost first.
fn in_order_of<const N: usize>(input: usize, loops: &[Loop<N>]) -> SmallVec<[usize; 6]> {
    let mut order: SmallVec<[usize; 6]> = (0..loops.len()).collect();
    sort_by_key(&mut order, |&at| Reverse(loops[at].strides[input].unsigned_abs()));
    order
}

/// The input in whose order the operation is computed, if several lie alike and no other one moves:
/// only the results are copied then, and no input. Its rows are adjacent, and those of the result
/// are not.
fn order_of_inputs<const N: usize>(loops: &[Loop<N>]) -> Option<usize> {
    let moves = |k: &usize| loops.iter().any(|l| l.strides[*k] != 0);
    let mut moving = (1..N).filter(moves);
    let first = moving.next()?;
    let mut others = moving.peekable();
    others.peek()?;
    let alike = others.all(|k| loops.iter().all(|l| l.strides[k] == l.strides[first]));
    let moves_always = loops.iter().all(|l| l.strides[first] != 0);
    let in_order: Loops<N> = in_order_of(first, loops).iter().map(|&at| loops[at]).collect();
    let is_row = |l: &Loop<N>| l.strides[first] == 1;
    let has_other_rows = in_order.last().is_some_and(is_row) && !loops.last().is_some_and(is_row);
    (alike && moves_always && has_other_rows && adjacent(first, &in_order) >= MIN_DIRECT_RUN)
        .then_some(first)
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
    let order_of = order_of_inputs(loops);
    let packed: [bool; N] = std::array::from_fn(|k| match (order_of, broadcast) {
        (Some(_), _) => k == 0,
        (_, Some(_)) if k == 0 => true,
        _ => adjacent(k, &computed) < MIN_DIRECT_RUN,
    });
    let (none_left_out, any_packed) = (broadcast.is_none(), packed.contains(&true));
    let streamed = (large && none_left_out && any_packed && order_of.is_none())
        .then(|| streamed_tiles::counts(loops, packed, widths, machine))
        .flatten();
    let stream = streamed.is_some();
    let as_blocks = || !any_packed || is_simple(loops, packed, widths, large, machine.l1);
    if none_left_out && !stream && order_of.is_none() && as_blocks() {
        return None;
    }
    let counts = match streamed {
        Some(counts) => counts,
        None if order_of.is_some() => {
            let limit = limit(loops, packed, widths, None, machine);
            counts(loops, std::array::from_fn(|k| order_of == Some(k)), widths, limit)
        }
        None if large && loops.len() == 2 && none_left_out => {
            large_transpose(loops, packed, widths)
        }
        None => counts(loops, packed, widths, limit(loops, packed, widths, broadcast, machine)),
    };
    let tile = Tile { counts, leaves_out_broadcasts, order_of };
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
    l1: usize,
) -> bool {
    let Some((rows, columns, access)) = two_loops(loops, widths) else { return true };
    if access.iter().any(|access| access.packs_rows()) {
        return (0..N).all(|k| match access[k] {
            Access::ShortRows => keeps_lines(k, loops, &rows, widths[k], l1),
            access => access.is_direct() || access.packs_rows(),
        });
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

/// Do lines of operand `k`, which has short rows, stay in the first-level cache until the row
/// behind comes? Else each line is fetched for a part of it, and a tile that has several rows of a
/// line takes 0.3 to 0.7 of the time.
fn keeps_lines<const N: usize>(
    k: usize,
    loops: &[Loop<N>],
    rows: &Loop<N>,
    width: usize,
    l1: usize,
) -> bool {
    let bytes = |l: &Loop<N>| l.strides[k].unsigned_abs().saturating_mul(width);
    let Some((_, around)) = loops.split_last() else { return true };
    let shares_lines = |l: &Loop<N>| (1..CACHE_LINE).contains(&bytes(l));
    let Some(sharing) = around.iter().rposition(shares_lines) else { return true };
    let inside = around[sharing + 1..].iter().filter(|l| l.strides[k] != 0);
    let lines = inside.fold(1_usize, |lines, l| lines.saturating_mul(l.len));
    bytes(rows) <= CACHE_LINE || lines.saturating_mul(CACHE_LINE) <= l1
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
    fn inputs_that_lie_alike_are_computed_in_their_order() {
        let shape = [9, 200, 38];
        let result = Layout::contiguous(shape).unwrap();
        let columns = Layout::contiguous([38, 200, 9]).unwrap().permute([2, 1, 0]).unwrap();
        let value = Layout::contiguous([1]).unwrap().expand(shape).unwrap();
        let order = |inputs: [&Layout; 3]| {
            let layouts = [&result, inputs[0], inputs[1], inputs[2]];
            let work = ElementwiseWork::plan(layouts, [4; 4], EqualResults::Copied, &MACHINE);
            let packed = std::array::from_fn::<_, 4, _>(|k| work.block.area(k).is_some());
            work.tile.and_then(|tile| tile.order_of).map(|input| (input, packed))
        };
        let only_result = [true, false, false, false];
        assert_eq!(order([&columns; 3]), Some((1, only_result)));
        assert_eq!(order([&value, &columns, &columns]), Some((2, only_result)));
        let mirrored = columns.flip([2]).unwrap();
        assert_eq!(order([&mirrored; 3]), Some((1, only_result)));
        assert_eq!(order([&columns, &columns, &result]), None, "another order");
        assert_eq!(order([&columns, &columns, &mirrored]), None, "the reverse order");
        assert_eq!(order([&columns, &value, &value]), None, "one input");
        assert_eq!(order([&columns.flip([0]).unwrap(); 3]), None, "rows that descend");
        assert_eq!(order([&result; 3]), None, "the order of the result");
        let apart = Layout::new(shape, [1, 10, 2000], 0).unwrap();
        assert_eq!(order([&apart; 3]), None, "short rows");
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
    fn short_rows_whose_lines_are_displaced_are_copied_by_tiles() {
        let is_tiled = |rows: usize| {
            let shape = [20, 2 * rows, 3];
            let input = Layout::new(shape, [3, 100, 1], 0).unwrap();
            let result = Layout::contiguous(shape).unwrap();
            let work =
                ElementwiseWork::plan([&result, &input], [4; 2], EqualResults::Copied, &MACHINE);
            work.tile.is_some()
        };
        let lines = MACHINE.l1 / CACHE_LINE;
        assert!(is_tiled(lines) && !is_tiled(lines / 4));
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
