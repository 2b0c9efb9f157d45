//! Blocks whose rows and columns lie at offsets of tables.

use super::{Isa, Kernel, Line, Residency, Unit, check_moves, dispatch, extents, short_runs};
use crate::memory::{CACHE_LINE, LANE_BYTES};

/// A block: offsets of its columns and rows in destination and source, in elements, and the
/// adjacent elements at each of them.
#[derive(Clone, Debug)]
struct Block {
    columns: Vec<[isize; 2]>,
    rows: Vec<[isize; 2]>,
    run: usize,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Transpose,
    IndexedLines,
    Runs,
}

impl Block {
    /// The specification: source and destination offset of every element.
    fn moves(&self) -> Vec<(isize, isize)> {
        let add = |a: [isize; 2], b: [isize; 2]| [a[0] + b[0], a[1] + b[1]];
        let runs = self.rows.iter().flat_map(|&row| self.columns.iter().map(move |&c| add(row, c)));
        runs.flat_map(|[to, from]| (0..self.run as isize).map(move |i| (from + i, to + i)))
            .collect()
    }
}

struct Call<'b, L> {
    block: &'b Block,
    src: *const L,
    dst: *mut L,
}

impl<L: Unit> Kernel for Call<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let bytes = |table: &[[isize; 2]]| -> Vec<_> {
            table.iter().map(|at| at.map(|offset| offset * L::WIDTH as isize)).collect()
        };
        let (columns, rows) = (bytes(&self.block.columns), bytes(&self.block.rows));
        let (src, dst) = (self.src, self.dst);
        match self.block.step {
            // SAFETY: `check` allocates what the block's moves reach, M1, M2, M3.
            Step::Transpose => unsafe {
                isa.transpose_indexed(src, dst, (&columns, &rows), Residency::Cached);
            },
            Step::IndexedLines if I::STITCHES_LINES => {
                let mut pending = vec![Line([0xEE; CACHE_LINE]); rows.len()];
                let pending = pending.as_mut_ptr().cast();
                // SAFETY: as above; `pending` has a line for each row, and `check` gives addresses
                // that are multiples of an element's width, or of 4.
                unsafe { isa.transpose_indexed_lines(src, dst, (&columns, &rows), pending) };
                isa.fence();
            }
            // SAFETY: as above.
            Step::IndexedLines => unsafe {
                isa.transpose_indexed(src, dst, (&columns, &rows), Residency::Cached);
            },
            // SAFETY: as above.
            Step::Runs => unsafe {
                let len = self.block.run * L::WIDTH;
                short_runs::copy_indexed(
                    isa,
                    src.cast(),
                    dst.cast(),
                    (&columns, &rows),
                    len,
                    Residency::Cached,
                );
            },
        }
    }
}

/// Copies a block on every level, the memory `skew` bytes off alignment; see [`check_moves`].
fn check<L: Unit>(block: &Block, skew: usize) {
    check_moves::<L>(&block.moves(), skew, block, |level, src, dst| {
        dispatch(level, Call { block, src, dst });
    });
}

fn check_every_width(block: &Block) {
    check::<u8>(block, 1);
    check::<u16>(block, 0);
    check::<u32>(block, 1);
    check::<u64>(block, 0);
    check::<u128>(block, 1);
}

/// Offsets of two nested loops, of 3 iterations inside; the last one of the outer loop may be cut.
fn nested(len: usize, [outer, inner]: [isize; 2]) -> impl Iterator<Item = isize> {
    (0..len as isize).map(move |i| i / 3 * outer + i % 3 * inner)
}

/// Every pair of extents; the source's rows, and the destination's, lie at offsets of two loops.
fn check_transposes<L: Unit>(gap: isize, direction: isize) {
    for nu in extents::<L>().into_iter().filter(|&nu| nu > 0) {
        for nv in extents::<L>().into_iter().filter(|&nv| nv > 0) {
            let (width, height) = (nv as isize + gap, nu as isize + gap);
            let sources = nested(nu, [direction * width, direction * 40 * width]);
            let results = nested(nv, [height, 40 * height]);
            let block = Block {
                columns: (0..).zip(sources).map(|(u, from)| [u, from]).collect(),
                rows: (0..).zip(results).map(|(v, to)| [to, v]).collect(),
                run: 1,
                step: Step::Transpose,
            };
            check::<L>(&block, (nu + nv) % 2);
        }
    }
}

#[test]
fn indexed_transposes() {
    for (gap, direction) in [(0, 1), (3, -1)] {
        check_transposes::<u8>(gap, direction);
        check_transposes::<u16>(gap, direction);
        check_transposes::<u32>(gap, direction);
        check_transposes::<u64>(gap, direction);
        check_transposes::<u128>(gap, direction);
    }
}

/// Extents with and without columns beyond the last whole line, and rows beyond the last whole
/// lane, at several offsets in a line. The destination's rows lie at offsets of two loops.
fn check_indexed_lines<L: Unit>(direction: isize) {
    let (line, lane) = (CACHE_LINE / L::WIDTH, (LANE_BYTES / L::WIDTH).max(1));
    for (at, nu) in [line, line + 1, 2 * line, 3 * line - 1, 40 * line + 3].into_iter().enumerate()
    {
        for nv in [lane, lane + 1, 3 * lane, 4 * lane + 3, 70] {
            let (width, height) = (nv as isize + 1, nu as isize + 1);
            let sources = nested(nu, [direction * width, direction * 40 * width]);
            let results = nested(nv, [direction * height, 40 * height]);
            let block = Block {
                columns: (0..).zip(sources).map(|(u, from)| [u, from]).collect(),
                rows: (0..).zip(results).map(|(v, to)| [to, v]).collect(),
                run: 1,
                step: Step::IndexedLines,
            };
            check::<L>(&block, (at * nv * L::WIDTH.min(4)) % CACHE_LINE);
        }
    }
}

#[test]
fn lines_of_indexed_transposes() {
    for direction in [1, -1] {
        check_indexed_lines::<u8>(direction);
        check_indexed_lines::<u16>(direction);
        check_indexed_lines::<u32>(direction);
        check_indexed_lines::<u64>(direction);
        check_indexed_lines::<u128>(direction);
    }
}

#[test]
fn columns_of_an_indexed_transpose_may_start_behind_offset_0() {
    for (nu, nv) in [(3, 9), (5, 2), (20, 20), (70, 33)] {
        let block = Block {
            columns: (0..nu).map(|u| [u + 7, u * nv]).collect(),
            rows: (0..nv).map(|v| [v * 100 - 7, v]).collect(),
            run: 1,
            step: Step::Transpose,
        };
        check_every_width(&block);
    }
}

#[test]
fn indexed_transposes_to_rows_far_apart_whose_lines_are_prefetched() {
    for (nu, nv) in [(64, 9), (70, 33), (129, 16), (67, 130)] {
        let block = Block {
            columns: (0..nu).map(|u| [u, u * nv]).collect(),
            rows: (0..nv).map(|v| [v * 3077 - v % 3, v]).collect(),
            run: 1,
            step: Step::Transpose,
        };
        check_every_width(&block);
    }
}

#[test]
fn indexed_transposes_of_repeated_source_rows() {
    for (nu, nv) in [(7, 5), (70, 3), (70, 20), (3, 70), (140, 9)] {
        let block = Block {
            columns: (0..nu).map(|u| [u, u / 4 * nv]).collect(),
            rows: (0..nv).map(|v| [v * nu, v]).collect(),
            run: 1,
            step: Step::Transpose,
        };
        check_every_width(&block);
    }
}

#[test]
fn indexed_runs_leave_the_gaps_alone() {
    for run in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65] {
        for (nu, nv, gap) in [(1, 1, 0), (2, 9, 0), (9, 2, 1), (5, 5, 3)] {
            let len = (run + gap) as isize;
            let block = Block {
                columns: nested(nu, [12 * len, 4 * len]).map(|at| [at, -at]).collect(),
                rows: (0..nv).map(|v| [v * 40 * len, v * len]).collect(),
                run,
                step: Step::Runs,
            };
            check::<u8>(&block, 1);
            check::<u32>(&block, 0);
            check::<u128>(&block, 1);
        }
    }
}
