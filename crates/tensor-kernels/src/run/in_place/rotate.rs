//! The transpose of a matrix in its own memory, by blocks: see `plan::in_place_blocks`.

use std::ops::Range;

use tensor_core::Layout;

use super::slice_copy::SliceCopy;
use crate::{
    exec::Exec,
    kernel::prefetch,
    memory::CACHE_LINE,
    plan::in_place::{BlockScratch, Blocks, MOVED_BYTES},
};

/// Blocks are prefetched this many bytes before they are moved, and at most this many blocks.
const PREFETCHED_BYTES: usize = 4 << 10;
const MAX_PREFETCHED_BLOCKS: usize = 16;

/// Asks for the first cache lines of a block. The CPU recognises longer runs.
#[inline]
fn prefetch_block(block: &[u8]) {
    let first = &block[..block.len().min(PREFETCHED_BYTES / 4)];
    first.iter().step_by(CACHE_LINE).for_each(|byte| prefetch(byte));
}

/// `[m][n]` items become `[n][m]`.
pub(super) struct Rotation {
    m: usize,
    n: usize,
    item: usize,
    blocks: Blocks,
    copies: Copies,
}

/// The plans of the copies, where there is something to copy.
struct Copies {
    /// The rows and columns that are in no block, to scratch.
    rows: Option<SliceCopy>,
    columns: Option<SliceCopy>,
    /// A panel of rows.
    row_panel: Option<SliceCopy>,
    /// A panel of columns: to scratch, and to columns of the result.
    column_panel: Option<[SliceCopy; 2]>,
}

/// The scratch of a transpose. Rows and columns that are in no block are kept transposed.
struct Kept<'s> {
    /// `[n][m - rows]` items.
    rows: &'s mut [u8],
    /// `[n - columns][rows]` items.
    columns: &'s mut [u8],
    work: &'s mut [u8],
}

impl Copies {
    fn new(m: usize, n: usize, item: usize, blocks: Blocks) -> Self {
        let (Blocks { m2, n2 }, (rows, columns)) = (blocks, blocks.whole(m, n));
        let across =
            |count: usize, len: usize| SliceCopy::gathering(&[len, count], &[1, n as isize], item);
        let column_panel = || {
            let shape = [n2, rows / m2, m2];
            let layout = |strides: [usize; 3]| {
                Layout::new(shape, strides.map(|stride| stride as isize), 0)
                    .expect("a part of the memory")
            };
            let panel = layout([m2, n2 * m2, 1]);
            [rows, m].map(|pitch| SliceCopy::new(&panel, &layout([pitch, m2, 1]), item))
        };
        Self {
            rows: (rows < m).then(|| across(m - rows, n)),
            columns: (columns < n)
                .then(|| SliceCopy::gathering(&[n - columns, rows], &[1, n as isize], item)),
            row_panel: (m2 > 1).then(|| across(m2, columns)),
            column_panel: (n2 > 1).then(column_panel),
        }
    }
}

impl Rotation {
    pub(super) fn new((m, n): (usize, usize), item: usize, blocks: Blocks) -> Self {
        Self { m, n, item, blocks, copies: Copies::new(m, n, item, blocks) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.m * self.n * self.item
    }

    pub(super) fn run(&self, exec: &Exec, memory: &mut [u8], scratch: &mut [u8]) {
        let sizes: BlockScratch = self.blocks.scratch(self.m, self.n, self.item);
        let (rows, rest) = scratch.split_at_mut(sizes.rows);
        let (columns, rest) = rest.split_at_mut(sizes.columns);
        let mut kept = Kept { rows, columns, work: &mut rest[..sizes.work] };
        self.keep(exec, memory, &mut kept);
        self.rows_to_panels(exec, memory, kept.work);
        self.move_blocks(memory, kept.work);
        self.panels_to_columns(exec, memory, &mut kept);
        self.restore(memory, &kept);
    }

    /// The rows and columns of whole blocks.
    fn whole(&self) -> (usize, usize) {
        self.blocks.whole(self.m, self.n)
    }

    /// Copies what is in no block into scratch.
    fn keep(&self, exec: &Exec, memory: &[u8], kept: &mut Kept<'_>) {
        let (rows, columns) = self.whole();
        if let Some(copy) = &self.copies.rows {
            copy.run(exec, &memory[rows * self.n * self.item..], kept.rows);
        }
        if let Some(copy) = &self.copies.columns {
            copy.run(exec, &memory[columns * self.item..], kept.columns);
        }
    }

    /// `[m1][m2][n]` becomes `[m1][columns][m2]`, without gaps; a place further to the front if
    /// panels are [shifted](Blocks::shifts).
    fn rows_to_panels(&self, exec: &Exec, memory: &mut [u8], work: &mut [u8]) {
        let ((rows, columns), Blocks { m2, .. }) = (self.whole(), self.blocks);
        let (pitch, panel) = (self.n * self.item, m2 * columns * self.item);
        let panels = rows / m2;
        let Some(copy) = &self.copies.row_panel else {
            if columns < self.n {
                for row in 1..rows {
                    memory.copy_within(row * pitch..row * pitch + panel, row * panel);
                }
            }
            return;
        };
        let work = &mut work[..panel];
        if self.blocks.shifts(self.m, self.n)[0] {
            copy.run(exec, memory, work);
            for at in 1..panels {
                let (front, back) = memory.split_at_mut(at * m2 * pitch);
                copy.run(exec, back, &mut front[(at - 1) * panel..][..panel]);
            }
            memory[(panels - 1) * panel..][..panel].copy_from_slice(work);
            return;
        }
        for at in 0..panels {
            copy.run(exec, &memory[at * m2 * pitch..], work);
            memory[at * panel..][..panel].copy_from_slice(work);
        }
    }

    /// `[m1][n1]` blocks become `[n1][m1]` blocks. Those of shifted panels of rows come from their
    /// places, and those of shifted panels of columns go to theirs.
    fn move_blocks(&self, memory: &mut [u8], work: &mut [u8]) {
        let ((rows, columns), Blocks { m2, n2 }) = (self.whole(), self.blocks);
        let (m1, n1, block) = (rows / m2, columns / n2, m2 * n2 * self.item);
        if m1 == 1 || n1 == 1 {
            return;
        }
        let (first, marks) = work.split_at_mut(block.min(MOVED_BYTES));
        let marks = &mut marks[..(m1 * n1).div_ceil(8)];
        marks.fill(0);
        let shifts = self.blocks.shifts(self.m, self.n);
        let source = |to: usize| {
            let [row, column] = [to % m1, to / m1];
            let row = if shifts[0] { row.checked_sub(1).unwrap_or(m1 - 1) } else { row };
            let next = if column + 1 == n1 { 0 } else { column + 1 };
            row * n1 + if shifts[1] { next } else { column }
        };
        let distance = (PREFETCHED_BYTES / block).clamp(1, MAX_PREFETCHED_BLOCKS);
        for start in 0..m1 * n1 {
            if marks[start / 8] & (1 << (start % 8)) != 0 || source(start) == start {
                continue;
            }
            for part in (0..block).step_by(MOVED_BYTES) {
                let len = MOVED_BYTES.min(block - part);
                let at = |number: usize| number * block + part;
                first[..len].copy_from_slice(&memory[at(start)..][..len]);
                let mut to = start;
                let mut ahead = (0..distance).fold(start, |at, _| source(at));
                loop {
                    marks[to / 8] |= 1 << (to % 8);
                    let from = source(to);
                    if from == start {
                        break;
                    }
                    ahead = source(ahead);
                    prefetch_block(&memory[at(ahead)..][..len]);
                    memory.copy_within(at(from)..at(from) + len, at(to));
                    to = from;
                }
                memory[at(to)..][..len].copy_from_slice(&first[..len]);
            }
        }
    }

    /// `[n1][m1][n2][m2]` becomes `[columns][m]`, with the rows that were kept; from the end, as it
    /// grows.
    fn panels_to_columns(&self, exec: &Exec, memory: &mut [u8], kept: &mut Kept<'_>) {
        let ((rows, columns), Blocks { n2, .. }) = (self.whole(), self.blocks);
        let (pitch, panel, run) = (self.m * self.item, n2 * rows * self.item, rows * self.item);
        let panels = columns / n2;
        let Some([to_scratch, to_columns]) = &self.copies.column_panel else {
            if run < pitch {
                for at in (0..columns).rev() {
                    memory.copy_within(at * run..(at + 1) * run, at * pitch);
                    self.write_kept_rows(memory, at..at + 1, kept.rows);
                }
            }
            return;
        };
        let is_shifted = self.blocks.shifts(self.m, self.n)[1];
        if is_shifted {
            to_scratch.run(exec, &memory[(panels - 1) * panel..][..panel], kept.work);
        }
        for at in (0..panels).rev() {
            if is_shifted && at > 0 {
                let (front, back) = memory.split_at_mut(at * n2 * pitch);
                to_columns.run(exec, &front[(at - 1) * panel..][..panel], back);
            } else {
                if !is_shifted {
                    to_scratch.run(exec, &memory[at * panel..][..panel], kept.work);
                }
                self.write_columns(memory, at * n2, &kept.work[..panel]);
            }
            self.write_kept_rows(memory, at * n2..(at + 1) * n2, kept.rows);
        }
    }

    /// Writes columns of whole blocks, from `first` on, where the rows that are in no block leave
    /// room for theirs.
    fn write_columns(&self, memory: &mut [u8], first: usize, columns: &[u8]) {
        let (pitch, run) = (self.m * self.item, self.whole().0 * self.item);
        let to = &mut memory[first * pitch..];
        if run == pitch {
            return to[..columns.len()].copy_from_slice(columns);
        }
        for (to, column) in to.chunks_mut(pitch).zip(columns.chunks_exact(run)) {
            to[..run].copy_from_slice(column);
        }
    }

    /// Writes what the kept rows have of some columns, behind the other items of each.
    fn write_kept_rows(&self, memory: &mut [u8], columns: Range<usize>, kept: &[u8]) {
        let (pitch, run) = (self.m * self.item, self.whole().0 * self.item);
        let rest = pitch - run;
        if rest > 0 {
            let kept = kept[columns.start * rest..].chunks_exact(rest);
            let to = memory[columns.start * pitch..columns.end * pitch].chunks_exact_mut(pitch);
            to.zip(kept).for_each(|(to, kept)| to[run..].copy_from_slice(kept));
        }
    }

    /// Writes the columns that were kept, behind all others.
    fn restore(&self, memory: &mut [u8], kept: &Kept<'_>) {
        let (_, columns) = self.whole();
        self.write_columns(memory, columns, kept.columns);
        self.write_kept_rows(memory, columns..self.n, kept.rows);
    }
}
