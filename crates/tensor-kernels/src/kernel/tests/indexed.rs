//! Blocks whose rows and columns lie at offsets of tables.

use super::{Isa, Kernel, Unit, check_moves, dispatch, extents, short_runs};

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
            Step::Transpose => unsafe { isa.transpose_indexed(src, dst, &columns, &rows) },
            // SAFETY: as above.
            Step::Runs => unsafe {
                let len = self.block.run * L::WIDTH;
                short_runs::copy_indexed(isa, src.cast(), dst.cast(), (&columns, &rows), len);
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

#[test]
fn indexed_transposes_of_repeated_source_rows() {
    for (nu, nv) in [(7, 5), (70, 3), (70, 20), (3, 70), (140, 9)] {
        let block = Block {
            columns: (0..nu).map(|u| [u, u / 4 * nv]).collect(),
            rows: (0..nv).map(|v| [v * nu, v]).collect(),
            run: 1,
            step: Step::Transpose,
        };
        check::<u8>(&block, 1);
        check::<u16>(&block, 0);
        check::<u32>(&block, 1);
        check::<u64>(&block, 0);
        check::<u128>(&block, 1);
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
