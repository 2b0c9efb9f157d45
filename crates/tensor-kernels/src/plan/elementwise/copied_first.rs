//! Which input of an operation is copied into the result first, to be combined with the others
//! there.
//!
//! Blocks and tiles of an input that lies otherwise than the result are read a few hundred bytes at
//! a time. A copy of the whole input is read and written in an order of its own, past the caches.
//! The result is read once more then, so this pays only if the result is larger than the caches:
//!
//! - *One input goes through scratch, and is transposed.* `neg` of transposed floats takes 0.8 ms
//!   instead of 1.4 ms (1809 by 1809) and 24 ms instead of 35 ms (8001 by 8001; Zen 5). Blocks that
//!   are streamed move fewer bytes, and unary operations take as long either way. An input that is
//!   read where it lies is read in pieces then: with one, the product of 1824 by 2000 floats takes
//!   3.9 ms instead of 5.0 ms, that of 3000 by 3008 floats 0.95 to 1.16 of the time (Zen 3).
//! - *Several inputs go through scratch.* A tile has adjacent elements of the result and of each of
//!   them, and in three orders they are few. Of 70 random layouts of 3 to 60 MB 34 have runs of at
//!   most two cache lines. Copying the input with the shortest ones takes 0.88 of the time in the
//!   mean, 0.5 to 1.4 of it (Zen 3 with 512 KiB of second-level cache). With longer runs it takes
//!   up to 1.5 times as long.
//!
//! # Tried and dropped
//! Copying the input with the longest runs: 0.91 in the mean of the same layouts. Several inputs
//! with short runs where the result fits the caches: 0.93 to 0.99 in the mean, 0.6 to 1.7. The only
//! input of functions that compute much: 93 random `exp` take 1.07 of the time in the mean up to 2
//! MB and 1.23 above, but two whose blocks have short parts of rows 0.65 (Zen 5).

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use super::ElementwiseWork;
use crate::{
    exec::Machine,
    memory::CACHE_LINE,
    nest::Loop,
    plan::Tile,
    tuning::{MAX_COPIED_IN_STREAMS, MAX_COPIED_TILE_RUN, MIN_COPIED_SIDE_BYTES},
};

impl<const N: usize> ElementwiseWork<N> {
    /// The input that is copied into the result before the operation. It is of those that can be:
    /// it has the result's type, and the result is no input itself.
    pub(crate) fn input_to_copy(
        &self,
        can_be_copied: [bool; N],
        machine: &Machine,
    ) -> Option<usize> {
        let packed: SmallVec<[usize; 4]> =
            (1..N).filter(|&k| self.block.area(k).is_some()).collect();
        let is_packed_result = self.block.area(0).is_some() && !self.stream;
        if !self.large || is_packed_result {
            return None;
        }
        let input = match (&packed[..], &self.tile) {
            (&[input], tile) => {
                let pays = !self.stream || tile.is_none() && self.reads_pieces(machine);
                let side = if self.has_pieces() { MIN_COPIED_SIDE_BYTES } else { CACHE_LINE };
                (pays && self.is_transposed(input, side)).then_some(input)
            }
            (inputs, Some(tile)) => self.with_short_runs(inputs, tile),
            _ => None,
        };
        input.filter(|&k| can_be_copied[k])
    }

    /// Is there an input in pieces, and is the result not far larger than the caches?
    fn reads_pieces(&self, machine: &Machine) -> bool {
        let bytes = self.loops().fold(self.widths[0], |bytes, l| bytes.saturating_mul(l.len));
        bytes / MAX_COPIED_IN_STREAMS <= machine.stream && self.has_pieces()
    }

    /// Is an input as large as the result read where it lies, block by block?
    fn has_pieces(&self) -> bool {
        (1..N).any(|k| {
            self.block.area(k).is_none() && self.loops().all(|l| l.len == 1 || l.strides[k] != 0)
        })
    }

    /// The input with the shortest runs of adjacent elements in a tile, if they are short.
    fn with_short_runs(&self, inputs: &[usize], tile: &Tile) -> Option<usize> {
        let runs = inputs.iter().map(|&k| (k, self.run_in_tile(k, tile)));
        let (input, run) = runs.min_by_key(|&(_, run)| run)?;
        (run.saturating_mul(self.widths[input]) <= MAX_COPIED_TILE_RUN).then_some(input)
    }

    /// The adjacent elements of operand `k` in a tile.
    fn run_in_tile(&self, k: usize, tile: &Tile) -> usize {
        let steps = self.outer.iter().zip(&tile.counts);
        let steps = steps.map(|(l, &count)| (l.strides[k].unsigned_abs(), l.len, count));
        let mut steps: SmallVec<[_; 6]> =
            steps.filter(|&(step, len, _)| step > 0 && len > 1).collect();
        sort_by_key(&mut steps, |&(step, ..)| step);
        let mut run = 1;
        for (step, len, count) in steps {
            if step != run {
                break;
            }
            run *= count;
            if count < len {
                break;
            }
        }
        run
    }

    /// Is operand `k` transposed: adjacent along another loop than the innermost one, for `side`
    /// bytes at least, with the elements of a row that far apart? Not so pixels of a few channels
    /// that become planes, whose rows share lines.
    pub(super) fn is_transposed(&self, k: usize, side: usize) -> bool {
        let bytes = |elements: usize| elements.saturating_mul(self.widths[k]);
        let mut loops = self.loops().rev();
        let row = loops.find(|l| l.len > 1).map_or(0, |l| l.strides[k].unsigned_abs());
        let is_adjacent =
            |l: &Loop<N>| l.strides[k].unsigned_abs() == 1 && bytes(l.len) >= MIN_COPIED_SIDE_BYTES;
        bytes(row) >= side && loops.any(is_adjacent)
    }

    /// All loops, outermost first.
    fn loops(&self) -> impl DoubleEndedIterator<Item = &Loop<N>> {
        self.outer.iter().chain([&self.rows, &self.columns])
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::{DimVec, Layout};

    use super::*;
    use crate::plan::EqualResults;

    const MACHINE: Machine = Machine { stream: 1 << 20, l2: 256 << 10, ..Machine::REFERENCE };

    /// The input that is copied of floats in a contiguous result and inputs whose dimensions lie in
    /// these orders.
    fn copied<const N: usize>(shape: &[usize], orders: [&[isize]; N]) -> Option<usize> {
        copied_if([true; N], shape, orders)
    }

    fn copied_if<const N: usize>(
        can_be_copied: [bool; N],
        shape: &[usize],
        orders: [&[isize]; N],
    ) -> Option<usize> {
        let layouts = orders.map(|order| {
            let sizes: DimVec<usize> = order.iter().map(|&dim| shape[dim as usize]).collect();
            let position = |dim| order.iter().position(|&at| at == dim).unwrap() as isize;
            let dims: DimVec<isize> = (0..shape.len() as isize).map(position).collect();
            Layout::contiguous(&sizes[..]).unwrap().permute(&dims[..]).unwrap()
        });
        let layouts = std::array::from_fn(|k| &layouts[k]);
        let work = ElementwiseWork::plan(layouts, [4; N], EqualResults::Copied, &MACHINE);
        work.input_to_copy(can_be_copied, &MACHINE)
    }

    #[test]
    fn a_transposed_input_is_copied_unless_blocks_are_streamed() {
        let (rows, columns): (&[isize], &[isize]) = (&[0, 1], &[1, 0]);
        assert_eq!(copied(&[999, 1001], [rows, columns]), Some(1));
        assert_eq!(copied(&[999, 1008], [rows, columns]), None, "streamed");
        assert_eq!(copied(&[499, 501], [rows, columns]), None, "in cache");
        assert_eq!(copied(&[999, 1001], [rows, rows, columns]), Some(2));
        assert_eq!(copied_if([true, true, false], &[999, 1001], [rows, rows, columns]), None);
    }

    #[test]
    fn rows_of_some_elements_are_copied_and_pixels_are_not() {
        let (rows, columns): (&[isize], &[isize]) = (&[0, 1], &[1, 0]);
        for (len, is_copied) in [(13, true), (7, true), (4, false), (3, false)] {
            let beside_another = copied(&[len, 300_001], [rows, columns, rows]);
            assert_eq!(beside_another.is_some(), is_copied, "{len} rows");
            assert!(copied(&[len, 300_001], [rows, columns]).is_none(), "{len} rows alone");
        }
    }

    #[test]
    fn another_input_that_is_read_in_pieces_makes_streamed_blocks_slow() {
        let (rows, columns): (&[isize], &[isize]) = (&[0, 1], &[1, 0]);
        assert_eq!(copied(&[999, 1008], [rows, rows, columns]), Some(2));
        assert_eq!(copied(&[999, 1008], [rows, columns, rows]), Some(1));
        assert_eq!(copied(&[1999, 2000], [rows, rows, columns]), None, "far larger");
        let shape = [999, 1008];
        let result = Layout::contiguous(shape).unwrap();
        let transposed = Layout::contiguous([1008, 999]).unwrap().t().unwrap();
        let row = Layout::contiguous([1008]).unwrap().broadcast_to(shape).unwrap();
        let layouts = [&result, &transposed, &row];
        let work = ElementwiseWork::plan(layouts, [4; 3], EqualResults::Copied, &MACHINE);
        assert!(work.stream && work.input_to_copy([true; 3], &MACHINE).is_none());
    }

    #[test]
    fn of_several_inputs_the_one_with_the_shortest_runs_is_copied() {
        let result: &[isize] = &[0, 1, 2, 3];
        let (far, near): (&[isize], &[isize]) = (&[3, 2, 1, 0], &[0, 1, 3, 2]);
        let shape = [57, 77, 41, 9];
        assert_eq!(copied(&shape, [result, far, &[2, 3, 0, 1]]), Some(1));
        assert_eq!(copied(&shape, [result, &[2, 3, 0, 1], far]), Some(1), "both are short");
        assert_eq!(copied(&shape, [result, near, far]), Some(2));
        assert_eq!(copied(&shape, [result, near, &[0, 2, 3, 1]]), None, "long runs");
        assert_eq!(copied_if([true, false, true], &shape, [result, far, near]), None);
    }
}
