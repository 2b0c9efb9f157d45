//! Elementwise operations whose blocks have groups of loops as sides: see
//! `plan::elementwise::grouped`.

use smallvec::SmallVec;

use super::{
    bounce,
    elementwise::{Task, advance, starts},
    offsets,
    pack::{self, IndexedPack},
    walk::walk,
    workspace::{Hold, Scratch, with_reserve, with_scratch},
};
use crate::{
    kernel::RowBlock,
    nest::Loop,
    plan::{Access, ElementwiseGroups, Extent, split},
    tuning::GROUPED_COLUMNS,
};

/// The offsets of each operand in the iterations of a group, in bytes.
type Offsets<const N: usize> = SmallVec<[[isize; N]; GROUPED_COLUMNS]>;

/// Offsets in scratch and in an operand.
type Table = SmallVec<[[isize; 2]; GROUPED_COLUMNS]>;

/// The tables of a task.
struct Tables<const N: usize> {
    columns: Offsets<N>,
    rows: Offsets<N>,
    packs: [Pack; N],
}

/// The tables by which an operand is packed.
struct Pack {
    /// Adjacent elements at each of the columns.
    run: usize,
    columns: Table,
    rows: Table,
}

impl<const N: usize> Tables<N> {
    /// Empty tables.
    const EMPTY: Self = Self {
        columns: Offsets::new_const(),
        rows: Offsets::new_const(),
        packs: [const { Pack { run: 1, columns: Table::new_const(), rows: Table::new_const() } };
            N],
    };
}

/// One side of the blocks.
#[derive(Clone, Copy)]
struct Side<'l, const N: usize> {
    /// The group's loops, outermost first.
    loops: &'l [Loop<N>],
    /// Iterations of the outermost loop in a block.
    block: usize,
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
        let [around, row_loops, column_loops] =
            split(&self.work.outer, [groups.columns, groups.rows]);
        let columns = Side { loops: column_loops, block: groups.columns.block };
        let rows = Side { loops: row_loops, block: groups.rows.block };
        let mut tables = Tables::EMPTY;
        self.fill(&mut tables, columns, rows);
        let tables = &tables;
        walk(around, |at| {
            let base = advance(self.start(), self.bytes(at));
            rows.for_blocks(|j, row_count| {
                let base = advance(base, self.bytes(j));
                columns.for_blocks(|i, column_count| {
                    let corner = advance(base, self.bytes(i));
                    let extent = Extent { rows: row_count, columns: column_count };
                    for (k, &first) in corner.iter().enumerate().skip(1) {
                        // SAFETY: E1 for the block's elements of operand `k`.
                        unsafe { self.pack_block(k, first, tables, extent, &mut scratch) };
                    }
                    // SAFETY: E1 for the block's elements, which have been packed where needed.
                    unsafe { self.compute_block(corner, rows, tables, extent, &mut scratch) };
                });
            });
        });
    }

    /// Fills the tables for the first block, whose entries all blocks use.
    fn fill(&self, tables: &mut Tables<N>, columns: Side<'_, N>, rows: Side<'_, N>) {
        let Tables { columns: column_offsets, rows: row_offsets, packs } = tables;
        offsets::fill(column_offsets, columns.loops, columns.block, |strides| self.bytes(strides));
        offsets::fill(row_offsets, rows.loops, rows.block, |strides| self.bytes(strides));
        for (k, pack) in packs.iter_mut().enumerate() {
            let Some(area) = self.work.block.area(k) else { continue };
            let (width, is_transposed) = (self.work.widths[k], self.is_transposed(k));
            pack.run = if is_transposed { 1 } else { columns.run(k) };
            let of_runs = column_offsets.iter().enumerate().step_by(pack.run);
            pack.columns.extend(of_runs.map(|(i, from)| [(i * width) as isize, from[k]]));
            let of_rows = row_offsets.iter().enumerate();
            pack.rows.extend(of_rows.map(|(j, from)| [(j * area.pitch) as isize, from[k]]));
        }
    }

    /// Is operand `k` adjacent along the rows?
    fn is_transposed(&self, k: usize) -> bool {
        self.work.block.access()[k] == Access::Transposed
    }

    /// # Safety
    /// M1 for the elements of `extent` at `corner`, an element of operand `k`.
    unsafe fn pack_block(
        self,
        k: usize,
        corner: *const u8,
        tables: &Tables<N>,
        extent: Extent,
        scratch: &mut Scratch<'_>,
    ) {
        let Some(area) = self.work.block.area(k) else { return };
        let pack = &tables.packs[k];
        let indexed = IndexedPack {
            width: self.work.widths[k],
            columns: &pack.columns[..extent.columns / pack.run],
            rows: &pack.rows[..extent.rows],
            run: pack.run,
            is_transposed: self.is_transposed(k),
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
        rows: Side<'_, N>,
        tables: &Tables<N>,
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
                None => corner[k].wrapping_offset(tables.rows[j][k]),
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
