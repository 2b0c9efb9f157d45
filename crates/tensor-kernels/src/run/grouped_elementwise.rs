//! Elementwise operations whose blocks have groups of loops as sides: see
//! `plan::elementwise::grouped`.

use smallvec::SmallVec;

use super::{
    bounce,
    elementwise::{Task, advance, starts},
    pack::{self, IndexedPack},
    walk::walk,
    workspace::{Hold, Scratch, with_reserve, with_scratch},
};
use crate::{
    kernel::RowBlock,
    nest::Loop,
    plan::{Access, ElementwiseGroups, Extent, Group},
    tuning::GROUPED_COLUMNS,
};

/// The offsets of each operand in the iterations of a group, in bytes.
type Offsets<const N: usize> = SmallVec<[[isize; N]; GROUPED_COLUMNS]>;

/// Offsets in scratch and in an operand.
type Table = SmallVec<[[isize; 2]; GROUPED_COLUMNS]>;

/// One side of the blocks.
struct Side<'l, const N: usize> {
    /// The group's loops, outermost first.
    loops: &'l [Loop<N>],
    /// Iterations of the outermost loop in a block.
    block: usize,
    /// The offsets of a block's iterations.
    offsets: Offsets<N>,
}

impl<const N: usize> Task<'_, N> {
    /// All blocks of a plan by groups.
    pub(super) fn by_groups(self, groups: ElementwiseGroups) {
        let bytes = self.work.block.scratch_bytes();
        if with_scratch(bytes, Hold::Leaf, |scratch| self.all_groups(groups, scratch)).is_none() {
            with_reserve(bytes, |scratch| self.all_groups(groups, scratch));
        }
    }

    fn all_groups(self, groups: ElementwiseGroups, mut scratch: Scratch<'_>) {
        let outer = &self.work.outer[..];
        let (outer, column_loops) = outer.split_at(outer.len() - groups.columns.loops);
        let (around, row_loops) = outer.split_at(outer.len() - groups.rows.loops);
        let columns = self.side(groups.columns, column_loops);
        let rows = self.side(groups.rows, row_loops);
        let packs: SmallVec<[(usize, Pack); 3]> =
            (1..N).filter_map(|k| Some((k, self.pack_tables(k, &columns, &rows)?))).collect();
        walk(around, |at| {
            let base = advance(self.start(), self.bytes(at));
            rows.for_blocks(|j, row_count| {
                let base = advance(base, self.bytes(j));
                columns.for_blocks(|i, column_count| {
                    let corner = advance(base, self.bytes(i));
                    let extent = Extent { rows: row_count, columns: column_count };
                    for (k, pack) in &packs {
                        // SAFETY: E1 for the block's elements of operand `k`.
                        unsafe { self.pack_block(*k, corner[*k], pack, extent, &mut scratch) };
                    }
                    // SAFETY: E1 for the block's elements, which have been packed where needed.
                    unsafe { self.compute_block(corner, &rows, extent, &mut scratch) };
                });
            });
        });
    }

    fn side<'l>(&self, group: Group, loops: &'l [Loop<N>]) -> Side<'l, N> {
        let mut offsets = Offsets::new();
        offsets.push([0; N]);
        for (at, l) in loops.iter().enumerate().rev() {
            let len = if at == 0 { group.block } else { l.len };
            let (inner, strides) = (offsets.len(), self.bytes(l.strides));
            for iteration in 1..len as isize {
                for entry in 0..inner {
                    let offset = offsets[entry];
                    offsets.push(std::array::from_fn(|k| offset[k] + iteration * strides[k]));
                }
            }
        }
        Side { loops, block: group.block, offsets }
    }

    /// The tables by which operand `k` is packed, if it is.
    fn pack_tables(&self, k: usize, columns: &Side<'_, N>, rows: &Side<'_, N>) -> Option<Pack> {
        let (area, width) = (self.work.block.area(k)?, self.work.widths[k]);
        let is_transposed = self.work.block.access()[k] == Access::Transposed;
        let run = if is_transposed { 1 } else { columns.run(k) };
        let to = |at: usize, step: usize| (at * step) as isize;
        Some(Pack {
            run,
            is_transposed,
            columns: (0..columns.offsets.len())
                .step_by(run)
                .map(|i| [to(i, width), columns.offsets[i][k]])
                .collect(),
            rows: (0..rows.offsets.len())
                .map(|j| [to(j, area.pitch), rows.offsets[j][k]])
                .collect(),
        })
    }

    /// # Safety
    /// M1 for the elements of `extent` at `corner`, an element of operand `k`.
    unsafe fn pack_block(
        self,
        k: usize,
        corner: *const u8,
        pack: &Pack,
        extent: Extent,
        scratch: &mut Scratch<'_>,
    ) {
        let Some(area) = self.work.block.area(k) else { return };
        let indexed = IndexedPack {
            width: self.work.widths[k],
            columns: &pack.columns[..extent.columns / pack.run],
            rows: &pack.rows[..extent.rows],
            run: pack.run,
            is_transposed: pack.is_transposed,
        };
        let gaps_readable = self.operands.0[k].gaps_readable;
        let rows = scratch.area(area);
        // SAFETY: this function's contract; the tables' offsets in scratch are those of the area.
        unsafe { pack::pack_indexed(self.simd, indexed, corner, gaps_readable, rows, extent) };
    }

    /// # Safety
    /// `corner` points to the first element of each operand's block. The elements of `extent` from
    /// there on can be read, and those of operand 0 be written. Inputs with an area are packed.
    unsafe fn compute_block(
        self,
        corner: [*mut u8; N],
        rows: &Side<'_, N>,
        extent: Extent,
        scratch: &mut Scratch<'_>,
    ) {
        let areas: [Option<(*mut u8, usize)>; N] = std::array::from_fn(|k| {
            let (area, bytes) = (self.work.block.area(k)?, extent.columns * self.work.widths[k]);
            Some((scratch.area(area).start(extent.rows, bytes), area.pitch))
        });
        // The rows of the innermost loop have one stride.
        let (inner, strides) = match rows.loops {
            [] => (1, [0; N]),
            [one] => (extent.rows, self.bytes(one.strides)),
            [.., last] => (last.len, self.bytes(last.strides)),
        };
        let row_strides = std::array::from_fn(|k| areas[k].map_or(strides[k], |(_, p)| p as isize));
        for j in starts(extent.rows, inner) {
            let ptrs = std::array::from_fn(|k| match areas[k] {
                Some((start, pitch)) => start.wrapping_add(j * pitch),
                None => corner[k].wrapping_offset(rows.offsets[j][k]),
            });
            let (is_scalar, len) = (self.scalars(), extent.columns);
            let rows = inner.min(extent.rows - j);
            let row_block = RowBlock { ptrs, row_strides, is_scalar, rows, len };
            // SAFETY: rows lie in the operands (this function's contract), adjacent or scalar as
            // the plan's access says, or in areas of scratch that hold them (`start` has checked
            // it) and that have been packed. Both are aligned: areas start at cache lines, and
            // their pitch is a multiple of the element's width.
            unsafe { bounce::compute(self.operation, self.simd, self.work.widths, row_block) };
        }
    }
}

/// The tables by which an operand is packed.
struct Pack {
    /// Adjacent elements at each of the columns.
    run: usize,
    /// Is the operand adjacent along the rows?
    is_transposed: bool,
    columns: Table,
    rows: Table,
}

impl<const N: usize> Side<'_, N> {
    /// Calls `visit` with the offsets, in elements, and the iterations of each block.
    fn for_blocks(&self, mut visit: impl FnMut([isize; N], usize)) {
        let Some((cut, inner)) = self.loops.split_first() else { return visit([0; N], 1) };
        let inner: usize = inner.iter().map(|l| l.len).product();
        for start in starts(cut.len, self.block) {
            let count = self.block.min(cut.len - start);
            visit(cut.strides.map(|stride| stride * start as isize), inner * count);
        }
    }

    /// The adjacent elements of operand `k` in its innermost loops.
    fn run(&self, k: usize) -> usize {
        let inner = self.loops.iter().skip(1).rev();
        inner
            .fold((1, true), |(run, adjacent), l| {
                let adjacent = adjacent && l.strides[k] == run as isize;
                (if adjacent { run * l.len } else { run }, adjacent)
            })
            .0
    }
}
