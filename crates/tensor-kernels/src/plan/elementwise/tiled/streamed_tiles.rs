//! Tiles whose results are written past the caches, if the result is larger than these.
//!
//! A plain store first reads the cache line that it overwrites, so each line of the result crosses
//! the memory bus twice. Non-temporal stores write whole lines without reading them. The first and
//! the last line of each run of adjacent results are seldom whole and go through the caches
//! (`run::line_writer`), so runs are made long. As the scratch is limited, a tile then has shorter
//! runs of the inputs.
//!
//! Over 120 random layouts of 2 to 24 MB that nothing was fitted to, operations take 0.92 of the
//! time in the mean: the efficiency rises from 0.40 to 0.45 in the median, and from 0.22 to 0.23 at
//! the 5th percentile; on two threads from 0.46 to 0.49 in the median (f32, Zen 5 with 6 MiB as
//! [`Machine::stream`]).
//!
//! # Where it does not pay
//! - *An input is read where it lies*: it takes 0.8 to 1.6 of the time, 1.1 in the mean. Such
//!   operations keep blocks of two loops, or one input is copied into the result first.
//! - *An input is packed, but lies in the order of the result*, such as reversed rows: it takes up
//!   to 2.7 times as long, because it would be read once more, from scratch.
//! - *Two loops of a result that is far larger than the caches, one input*: 1.05 to 1.2 of the time
//!   from 16 MB on. The copy into the result first is written by a transpose with non-temporal
//!   stores, which reads longer runs.
//!
//! # Tried and dropped
//! Prefetching what the next tile reads, or the lines that it writes: no gain, or a loss, because
//! both phases are bound by the number of lines that a core can wait for. Tiles that stay in the
//! first-level cache, in either order: 1.1 to 1.6 of the time, for their short runs of operands.

use super::cached_bytes;
use crate::{
    exec::Machine,
    nest::Loop,
    plan::{
        ElementwiseWork,
        tile::{Counts, fill, reach},
    },
    tuning::{MIN_STREAMED_RUN_BYTES, STREAMED_TILE_TARGETS, STREAMED_TILES_IN_L2},
};

impl<const N: usize> ElementwiseWork<N> {
    /// The plan as it is run for an operation that computes much, or one that does not. Tiles of
    /// the former are stored through the caches: nothing is computed while lines wait for memory.
    /// Of 60 random `exp` of 2 to 30 MB, ten take 0.75 to 0.93 of the time, and all 0.97 in the
    /// mean (Zen 4).
    pub(crate) fn for_operation(self, computes_much: bool) -> Self {
        let stream = self.stream && !(computes_much && self.tile.is_some());
        Self { stream, ..self }
    }
}

/// The iterations of each loop in a tile whose results are streamed; `None` if it does not pay, or
/// no tile that fits has long runs of the result. The result is larger than the caches.
pub(super) fn counts<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    machine: &Machine,
) -> Option<Counts> {
    if packed[0]
        || (1..N).all(|k| lies_in_order(loops, k))
        || (1..N).any(|k| is_as_large(loops, k) && (!packed[k] || lies_in_order(loops, k)))
        || is_far_transpose(loops, packed, widths, machine)
    {
        return None;
    }
    let element: usize =
        (1..N).filter(|&k| packed[k]).map(|k| cached_bytes(loops, k, widths[k])).sum();
    let limit = machine.l2 / STREAMED_TILES_IN_L2 / element;
    let mut tiles =
        STREAMED_TILE_TARGETS.iter().map(|&target| reach(loops, packed, widths, target));
    let mut counts = tiles.find(|counts| counts.iter().product::<usize>() <= limit)?;
    fill(&mut counts, loops, limit);
    (result_run(loops, &counts) * widths[0] >= MIN_STREAMED_RUN_BYTES).then_some(counts)
}

/// Is an input about as large as the result?
fn is_as_large<const N: usize>(loops: &[Loop<N>], k: usize) -> bool {
    elements(loops, |l| l.strides[k] != 0) > elements(loops, |_| true) / 2
}

/// Does an input lie in the order of the result, but for broadcasts and descending loops?
fn lies_in_order<const N: usize>(loops: &[Loop<N>], k: usize) -> bool {
    let steps = loops.iter().map(|l| l.strides[k].unsigned_abs()).filter(|&step| step > 0);
    steps.is_sorted_by(|outer, inner| outer >= inner)
}

/// Can the only input that is not read where it lies be copied into a result far larger than the
/// caches, as the transpose of a matrix?
fn is_far_transpose<const N: usize>(
    loops: &[Loop<N>],
    packed: [bool; N],
    widths: [usize; N],
    machine: &Machine,
) -> bool {
    let mut inputs = (1..N).filter(|&k| packed[k]);
    let (Some(input), None) = (inputs.next(), inputs.next()) else { return false };
    let bytes = elements(loops, |_| true).saturating_mul(widths[0]);
    loops.len() == 2 && widths[input] == widths[0] && machine.is_far_larger(bytes)
}

/// The iterations of some loops. Saturates, as a broadcast shape may exceed the address space.
fn elements<const N: usize>(loops: &[Loop<N>], counts: impl Fn(&Loop<N>) -> bool) -> usize {
    loops.iter().filter(|l| counts(l)).fold(1, |all, l| all.saturating_mul(l.len))
}

/// The adjacent elements of the result in a tile.
fn result_run<const N: usize>(loops: &[Loop<N>], counts: &Counts) -> usize {
    let mut run = 1;
    for (l, &count) in loops.iter().zip(counts).rev() {
        if l.strides[0] != run as isize {
            break;
        }
        run *= count;
        if count < l.len {
            break;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use crate::{
        exec::Machine,
        plan::{ElementwiseWork, EqualResults},
    };

    const MACHINE: Machine = Machine { stream: 1 << 20, l2: 256 << 10, ..Machine::REFERENCE };

    fn plan<const N: usize>(layouts: [&Layout; N]) -> ElementwiseWork<N> {
        ElementwiseWork::plan(layouts, [4; N], EqualResults::Copied, &MACHINE)
    }

    fn reversed(shape: &[usize]) -> Layout {
        let base: Vec<usize> = shape.iter().rev().copied().collect();
        let dims: Vec<isize> = (0..shape.len() as isize).rev().collect();
        Layout::contiguous(&base[..]).unwrap().permute(&dims[..]).unwrap()
    }

    #[test]
    fn results_are_streamed_if_inputs_go_through_scratch() {
        let shape = [40, 99, 101];
        let (result, input) = (Layout::contiguous(shape).unwrap(), reversed(&shape));
        let one = plan([&result, &input]);
        assert!(one.stream && one.tile.is_some(), "{one}");
        assert!(one.block.scratch_bytes() <= MACHINE.l2 / 2, "{one}");
        let other = Layout::contiguous([99, 101, 40]).unwrap().permute([2, 0, 1]).unwrap();
        assert!(plan([&result, &input, &other]).stream);
        assert!(!plan([&result, &input, &input]).stream, "they are computed in their order");
        let direct = plan([&result, &input, &result]);
        assert!(!direct.stream, "{direct}");
        let exp = one.clone().for_operation(true);
        assert!(!exp.stream && exp.tile == one.tile, "functions that compute much");
        let mirrored = result.flip([-1]).unwrap();
        assert!(!plan([&result, &mirrored]).stream, "it is read in the order of the result");
        let bias = Layout::contiguous([101]).unwrap().broadcast_to(shape).unwrap();
        assert!(plan([&result, &input, &bias]).stream, "a bias is read again and again");
    }

    #[test]
    fn small_results_and_far_transposes_are_not_streamed_by_tiles() {
        for (shape, streams) in [([500, 501], false), ([600, 601], true), ([799, 801], false)] {
            let work = plan([&Layout::contiguous(shape).unwrap(), &reversed(&shape)]);
            assert_eq!(work.stream && work.tile.is_some(), streams, "{shape:?}: {work}");
        }
    }
}
