//! Elementwise operations tile by tile: see `plan::elementwise::tiled`.

use smallvec::SmallVec;

use super::{
    bounce, copy,
    elementwise::{Task, advance},
    line_writer::LineWriter,
    regions::Region,
    tile_plans,
    walk::iterations,
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    exec::SimdLevel,
    kernel::{FenceOnDrop, Residency, RowBlock},
    nest::{Loop, Loops},
    plan::{Comparison, ElementwiseWork, Tile, Work},
    tuning::FULL_COMPARISON_BYTES,
};

impl<const N: usize> Task<'_, N> {
    /// All tiles of a plan.
    pub(super) fn by_tiles(self, tile: &Tile) {
        let bytes = self.work.block.scratch_bytes();
        if with_scratch(bytes, Hold::Leaf, |scratch| self.all_tiles(tile, scratch)).is_none() {
            let work = &self.work.within_scratch(RESERVE_BYTES);
            let (bytes, task) = (work.block.scratch_bytes(), Task { work, ..self });
            let tile = work.tile.as_ref().unwrap_or(tile);
            with_reserve(bytes, |scratch| task.all_tiles(tile, scratch));
        }
    }

    fn all_tiles(self, tile: &Tile, mut scratch: Scratch<'_>) {
        let _fence = self.work.stream.then(|| FenceOnDrop(self.simd));
        Region::for_each(&self.work.outer, &tile.counts, |region| {
            let plan = TilePlan::new(self.work, tile, &region.tile, self.simd);
            region.for_tiles(|corner| {
                let first = advance(self.start(), self.bytes(corner));
                // SAFETY: E1: the tile's iterations are some of the loops'.
                unsafe { self.tile(first, &plan, &mut scratch) };
            });
        });
    }

    /// One tile: packs operands, computes rows, unpacks the result.
    ///
    /// # Safety
    /// `first` points to the first element of each operand. The elements that the plan's loops
    /// visit from there on can be read, and those of operand 0 be written.
    unsafe fn tile(self, first: [*mut u8; N], plan: &TilePlan<N>, scratch: &mut Scratch<'_>) {
        let mut ptrs = first;
        for k in 0..N {
            let Some(area) = self.work.block.area(k) else { continue };
            ptrs[k] = scratch.area(area).start(1, plan.elements * self.work.widths[k]);
            if let (1.., Some(copy)) = (k, &plan.copies[k]) {
                let gaps_readable = self.operands.0[k].gaps_readable;
                // SAFETY: this function's contract; the area holds all elements of a tile.
                unsafe { copy::run_at(self.simd, copy, ptrs[k], first[k], gaps_readable) };
            }
        }
        // SAFETY: this function's contract, and the operands with an area have been packed.
        unsafe { self.rows(ptrs, &plan.rows) };
        if let Some(copy) = &plan.copies[0] {
            // SAFETY: this function's contract; every element of the area has been written.
            unsafe { copy::run_at(self.simd, copy, first[0], ptrs[0], true) };
        }
    }

    /// Computes rows.
    ///
    /// # Safety
    /// The elements that the loops visit from `ptrs` on can be read, and those of operand 0 be
    /// written. In the innermost loop they are adjacent, or one element.
    unsafe fn rows(self, ptrs: [*mut u8; N], loops: &[Loop<N>]) {
        let Some((&columns, around)) = loops.split_last() else { return };
        let (&rows, around) = around.split_last().unwrap_or((&Loop::ONCE, around));
        let row_strides = self.bytes(rows.strides);
        let is_adjacent = |&stride: &isize| matches!(stride, 0 | 1) || columns.len == 1;
        debug_assert!(columns.strides.iter().all(is_adjacent), "{columns:?}");
        let is_scalar = std::array::from_fn(|k| k > 0 && columns.strides[k] == 0);
        let (operation, simd, widths) = (self.operation, self.simd, self.work.widths);
        let mut out = self.work.stream.then(|| LineWriter::new(simd));
        for at in iterations(around) {
            let ptrs = advance(ptrs, self.bytes(at));
            let mut row_block =
                RowBlock { ptrs, row_strides, is_scalar, rows: rows.len, len: columns.len };
            match &mut out {
                // SAFETY: this function's contract. Elements in views are aligned, and scratch
                // starts at a cache line.
                None => unsafe { bounce::compute(operation, simd, &widths, &mut row_block) },
                // SAFETY: the same.
                Some(out) => unsafe {
                    bounce::compute_streamed(operation, simd, &widths, row_block, out);
                },
            }
        }
        if let Some(out) = &mut out {
            out.finish();
        }
    }
}

/// What is done for a tile, wherever it lies: the same for all tiles of an extent.
struct TilePlan<const N: usize> {
    elements: usize,
    /// For each operand with scratch, the copy to it; for the result, the copy from it.
    copies: [Option<Work>; N],
    /// The loops over scratch and the operands that are not packed.
    rows: Loops<N>,
}

impl<const N: usize> TilePlan<N> {
    fn new(work: &ElementwiseWork<N>, tile: &Tile, part: &Loops<N>, simd: SimdLevel) -> Self {
        let is_left_out = |l: &Loop<N>| tile.leaves_out(l);
        let order = tile.order(part);
        let (dense, elements) = dense_strides(part, &order, is_left_out);
        let mut rows = part.clone();
        let all = work.outer.iter().fold(work.widths[0], |bytes, l| bytes.saturating_mul(l.len));
        let comparison = match all >= FULL_COMPARISON_BYTES {
            true => Comparison::Full,
            false => Comparison::Brief,
        };
        let copies = std::array::from_fn(|k| {
            work.block.area(k)?;
            // An input is copied once, the result to all its places.
            let copied = part.iter().zip(&dense).filter(|(l, _)| k == 0 || !is_left_out(l));
            let of = copied.map(|(l, &scratch)| {
                let operand = l.strides[k];
                let strides = if k == 0 { [operand, scratch] } else { [scratch, operand] };
                Loop { len: l.len, strides }
            });
            let mut copy = tile_plans::plan(of, work.widths[k], comparison, simd.vector_bytes());
            if k > 0 && work.large {
                copy.residency = Residency::Memory;
            }
            for (row, &stride) in rows.iter_mut().zip(&dense) {
                row.strides[k] = stride;
            }
            Some(copy)
        });
        let is_computed = |at: &&usize| !is_left_out(&part[**at]);
        let mut rows: Loops<N> = order.iter().filter(is_computed).map(|&at| rows[at]).collect();
        fuse(&mut rows);
        Self { elements, copies, rows }
    }
}

/// The strides of elements without gaps, and their number. The loops are in this order, the
/// outermost first. Along a loop that is left out there is one element, which repeats.
fn dense_strides<const N: usize>(
    loops: &[Loop<N>],
    order: &[usize],
    is_left_out: impl Fn(&Loop<N>) -> bool,
) -> (SmallVec<[isize; 6]>, usize) {
    let mut strides: SmallVec<[isize; 6]> = loops.iter().map(|_| 0).collect();
    let mut elements = 1;
    for &at in order.iter().rev().filter(|&&at| !is_left_out(&loops[at])) {
        strides[at] = elements as isize;
        elements *= loops[at].len;
    }
    (strides, elements)
}

/// Fuses neighbouring loops; the innermost stays the innermost.
fn fuse<const N: usize>(loops: &mut Loops<N>) {
    let mut buffer: Loops<N> = Loops::new();
    let Some(mut inner) = loops.pop() else { return };
    while let Some(outer) = loops.pop() {
        if outer.len == 1 {
            continue;
        }
        let fits = (0..N).all(|k| outer.strides[k] == inner.strides[k] * inner.len as isize);
        if fits {
            inner.len *= outer.len;
        } else {
            buffer.push(inner);
            inner = outer;
        }
    }
    buffer.push(inner);
    loops.extend(buffer.into_iter().rev());
}
