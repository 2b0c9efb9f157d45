//! The transpose of a matrix in its own memory, by blocks: see `plan::in_place_blocks`.

use super::staged::SliceCopy;
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
#[derive(Clone, Copy)]
pub(super) struct Rotation<'e> {
    pub(super) exec: &'e Exec,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) item: usize,
    pub(super) blocks: Blocks,
}

/// The scratch of a transpose. Rows and columns that are in no block are kept transposed.
struct Kept<'s> {
    /// `[n][m - rows]` items.
    rows: &'s mut [u8],
    /// `[n - columns][rows]` items.
    columns: &'s mut [u8],
    work: &'s mut [u8],
}

impl Rotation<'_> {
    pub(super) fn run(self, memory: &mut [u8], scratch: &mut [u8]) {
        let sizes: BlockScratch = self.blocks.scratch(self.m, self.n, self.item);
        let (rows, rest) = scratch.split_at_mut(sizes.rows);
        let (columns, rest) = rest.split_at_mut(sizes.columns);
        let mut kept = Kept { rows, columns, work: &mut rest[..sizes.work] };
        self.keep(memory, &mut kept);
        self.rows_to_panels(memory, kept.work);
        self.move_blocks(memory, kept.work);
        self.panels_to_columns(memory, &mut kept);
        self.restore(memory, &kept);
    }

    /// The rows and columns of whole blocks.
    fn whole(&self) -> (usize, usize) {
        self.blocks.whole(self.m, self.n)
    }

    /// Copies what is in no block into scratch.
    fn keep(&self, memory: &[u8], kept: &mut Kept<'_>) {
        let (rows, columns) = self.whole();
        let (pitch, item) = (self.n as isize, self.item);
        if rows < self.m {
            let copy = SliceCopy::gathering(&[self.n, self.m - rows], &[1, pitch], item);
            copy.run(self.exec, &memory[rows * self.n * item..], kept.rows);
        }
        if columns < self.n {
            let copy = SliceCopy::gathering(&[self.n - columns, rows], &[1, pitch], item);
            copy.run(self.exec, &memory[columns * item..], kept.columns);
        }
    }

    /// `[m1][m2][n]` becomes `[m1][columns][m2]`, without gaps.
    fn rows_to_panels(&self, memory: &mut [u8], work: &mut [u8]) {
        let ((rows, columns), Blocks { m2, .. }) = (self.whole(), self.blocks);
        let (pitch, panel) = (self.n * self.item, m2 * columns * self.item);
        if m2 == 1 {
            if columns < self.n {
                for row in 1..rows {
                    memory.copy_within(row * pitch..row * pitch + panel, row * panel);
                }
            }
            return;
        }
        let copy = SliceCopy::gathering(&[columns, m2], &[1, self.n as isize], self.item);
        for at in 0..rows / m2 {
            copy.run(self.exec, &memory[at * m2 * pitch..], work);
            memory[at * panel..][..panel].copy_from_slice(&work[..panel]);
        }
    }

    /// `[m1][n1]` blocks become `[n1][m1]` blocks.
    fn move_blocks(&self, memory: &mut [u8], work: &mut [u8]) {
        let ((rows, columns), Blocks { m2, n2 }) = (self.whole(), self.blocks);
        let (m1, n1, block) = (rows / m2, columns / n2, m2 * n2 * self.item);
        if m1 == 1 || n1 == 1 {
            return;
        }
        let (first, marks) = work.split_at_mut(block.min(MOVED_BYTES));
        let marks = &mut marks[..(m1 * n1).div_ceil(8)];
        marks.fill(0);
        let source = |to: usize| to % m1 * n1 + to / m1;
        let distance = (PREFETCHED_BYTES / block).clamp(1, MAX_PREFETCHED_BLOCKS);
        // The first and the last block stay where they are.
        for start in 1..m1 * n1 - 1 {
            if marks[start / 8] & (1 << (start % 8)) != 0 {
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
    fn panels_to_columns(&self, memory: &mut [u8], kept: &mut Kept<'_>) {
        let ((rows, columns), Blocks { m2, n2 }) = (self.whole(), self.blocks);
        let (pitch, panel, run) = (self.m * self.item, n2 * rows * self.item, rows * self.item);
        let tail = pitch - run;
        if n2 == 1 && tail == 0 {
            return;
        }
        let copy =
            (n2 > 1).then(|| SliceCopy::permuting(&[rows / m2, n2, m2], &[1, 0, 2], self.item));
        for at in (0..columns / n2).rev() {
            match &copy {
                Some(copy) => copy.run(self.exec, &memory[at * panel..][..panel], kept.work),
                None => memory.copy_within(at * run..(at + 1) * run, at * pitch),
            }
            if copy.is_some() && tail == 0 {
                memory[at * panel..][..panel].copy_from_slice(&kept.work[..panel]);
                continue;
            }
            for column in 0..n2 {
                let to = &mut memory[(at * n2 + column) * pitch..][..pitch];
                if copy.is_some() {
                    to[..run].copy_from_slice(&kept.work[column * run..][..run]);
                }
                to[run..].copy_from_slice(&kept.rows[(at * n2 + column) * tail..][..tail]);
            }
        }
    }

    /// Writes the columns that were kept, behind all others.
    fn restore(&self, memory: &mut [u8], kept: &Kept<'_>) {
        let (rows, columns) = self.whole();
        let (pitch, run) = (self.m * self.item, rows * self.item);
        let tail = pitch - run;
        for column in columns..self.n {
            let to = &mut memory[column * pitch..][..pitch];
            to[..run].copy_from_slice(&kept.columns[(column - columns) * run..][..run]);
            to[run..].copy_from_slice(&kept.rows[column * tail..][..tail]);
        }
    }
}
