//! Elementwise operations tile by tile: see `plan::elementwise::tiled`.

use smallvec::SmallVec;

use super::{
    bounce, copy,
    elementwise::{Task, advance},
    walk::walk,
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    kernel::RowBlock,
    nest::{Loop, Loops, NestBuilder},
    plan::{Tile, Work},
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
        let loops = &self.work.outer;
        if loops.iter().any(|l| l.len == 0) {
            return;
        }
        let mut at: Tile = loops.iter().map(|_| 0).collect();
        let mut part = loops.clone();
        loop {
            let mut corner = [0; N];
            for (d, l) in loops.iter().enumerate() {
                part[d].len = tile[d].min(l.len - at[d]);
                corner = std::array::from_fn(|k| corner[k] + l.strides[k] * at[d] as isize);
            }
            let first = advance(self.start(), self.bytes(corner));
            // SAFETY: E1: the part's iterations are some of the loops'.
            unsafe { self.tile(first, &part, &mut scratch) };
            if !next(&mut at, tile, loops) {
                return;
            }
        }
    }

    /// One tile: packs operands, computes rows, unpacks the result.
    ///
    /// # Safety
    /// `first` points to the first element of each operand. The elements that the loops visit from
    /// there on can be read, and those of operand 0 be written.
    unsafe fn tile(self, first: [*mut u8; N], loops: &[Loop<N>], scratch: &mut Scratch<'_>) {
        let (dense, elements) = dense_strides(loops);
        let mut rows: Loops<N> = loops.iter().copied().collect();
        let mut ptrs = first;
        for k in 0..N {
            let Some(area) = self.work.block.area(k) else { continue };
            ptrs[k] = scratch.area(area).start(1, elements * self.work.widths[k]);
            for (row, &stride) in rows.iter_mut().zip(&dense) {
                row.strides[k] = stride;
            }
            if k > 0 {
                let of = loops.iter().zip(&dense).map(|(l, &to)| (to, l.strides[k], l.len));
                let (work, gaps_readable) = (self.copy(k, of), self.operands.0[k].gaps_readable);
                // SAFETY: this function's contract; the area holds all elements of a tile.
                unsafe { copy::run_at(self.simd, &work, ptrs[k], first[k], gaps_readable) };
            }
        }
        // SAFETY: this function's contract, and the operands with an area have been packed.
        unsafe { self.rows(ptrs, &mut rows) };
        if self.work.block.area(0).is_some() {
            let of = loops.iter().zip(&dense).map(|(l, &from)| (l.strides[0], from, l.len));
            let work = self.copy(0, of);
            // SAFETY: this function's contract; every element of the area has been written.
            unsafe { copy::run_at(self.simd, &work, first[0], ptrs[0], true) };
        }
    }

    /// The copy of operand `k`'s elements of a tile, by strides of destination and source, and
    /// lengths.
    fn copy(&self, k: usize, loops: impl Iterator<Item = (isize, isize, usize)>) -> Work {
        let mut buffer: SmallVec<[Loop<2>; 9]> = SmallVec::new();
        buffer.resize(self.work.outer.len() + 1, Loop::NONE);
        let mut builder = NestBuilder::new(&mut buffer);
        for (to, from, len) in loops.filter(|&(_, _, len)| len > 1) {
            builder.push(Loop { len, strides: [to, from] });
        }
        builder.fuse();
        Work::of_nest(&mut builder, self.work.widths[k])
    }

    /// Computes rows.
    ///
    /// # Safety
    /// The elements that the loops visit from `ptrs` on can be read, and those of operand 0 be
    /// written. In the innermost loop they are adjacent, or one element.
    unsafe fn rows(self, ptrs: [*mut u8; N], loops: &mut Loops<N>) {
        fuse(loops);
        let Some(columns) = loops.pop() else { return };
        let rows = loops.pop().unwrap_or(Loop::ONCE);
        let row_strides = self.bytes(rows.strides);
        let is_scalar = std::array::from_fn(|k| k > 0 && columns.strides[k] == 0);
        walk(loops, |at| {
            let ptrs = advance(ptrs, self.bytes(at));
            let row_block =
                RowBlock { ptrs, row_strides, is_scalar, rows: rows.len, len: columns.len };
            // SAFETY: this function's contract. Elements in views are aligned, and scratch starts
            // at a cache line.
            unsafe { bounce::compute(self.operation, self.simd, self.work.widths, row_block) };
        });
    }
}

/// The strides of elements without gaps in the order of the loops, and their number.
fn dense_strides<const N: usize>(loops: &[Loop<N>]) -> (SmallVec<[isize; 6]>, usize) {
    let mut strides: SmallVec<[isize; 6]> = loops.iter().map(|_| 0).collect();
    let mut elements = 1;
    for (stride, l) in strides.iter_mut().zip(loops).rev() {
        *stride = elements as isize;
        elements *= l.len;
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

/// Advances to the next tile; returns `false` after the last one.
fn next<const N: usize>(at: &mut Tile, tile: &Tile, loops: &[Loop<N>]) -> bool {
    for d in (0..loops.len()).rev() {
        at[d] += tile[d];
        if at[d] < loops[d].len {
            return true;
        }
        at[d] = 0;
    }
    false
}
