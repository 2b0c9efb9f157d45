//! The second stage of a reduction: the partial results of a row's columns become results.

use std::iter;

use smallvec::SmallVec;

use super::task::Task;
use crate::{
    kernel::AccumulatorRows,
    nest::{Loop, Loops},
    plan::{
        Comparison, Extent, INPUT, OF_PARTIAL, OF_RESULT, RestOfRow, SecondStage, columns_of,
        reduces,
    },
    run::{
        copy,
        levels::Level,
        reduce_part::{Origin, Workspaces},
        tile_plans,
        walk::iterations,
        workspace::Scratch,
    },
};

impl Task<'_> {
    /// What follows the first stage: the rest of the input, the second stage, and the results.
    pub(super) fn second_stage(
        self,
        second: &SecondStage,
        origin: Origin,
        mut workspaces: Workspaces<'_>,
    ) {
        if let Some(rest) = second.rest {
            self.rest_of_row(rest, origin, workspaces.reborrow());
        }
        if second.is_arranged {
            return self.combine_arranged(second, workspaces);
        }
        let accumulators = &mut workspaces.accumulators;
        self.combine_loops(&second.loops, 0, accumulators);
        let around = self.levels.around_columns().iter().map(Level::as_kept);
        let kept: Loops<2> = around.chain(second.loops.iter().copied()).collect();
        self.finalize(accumulators, self.work.results(), kept);
    }

    /// Copies the partial results of all rows to another order, the reduced loops outermost, and
    /// combines those of all results at once. The pairs are the same as where they lie.
    fn combine_arranged(self, second: &SecondStage, workspaces: Workspaces<'_>) {
        let Workspaces { mut accumulators, mut halves, .. } = workspaces;
        let step = self.levels.block()[1].l.len;
        let arranged = Arranged::of(second, self.work.results() / step, step);
        self.arrange(&arranged, &mut accumulators, &mut halves);
        for l in &arranged.reduced {
            self.combine_loop(l.len, l.strides[TO] as usize, &mut halves);
        }
        let around = self.levels.around_columns().iter().map(|level| {
            let Loop { len, strides: [result, partial] } = level.as_kept();
            Loop { len, strides: [result, partial / step as isize * arranged.in_row as isize] }
        });
        let kept = second.loops.iter().filter(|l| !reduces(l)).zip(&arranged.kept);
        let kept = kept.map(|(l, copied)| Loop {
            len: l.len,
            strides: [l.strides[OF_RESULT], copied.strides[TO]],
        });
        self.finalize(&mut halves, arranged.results, around.chain(kept).collect());
    }

    /// Copies partial results from `accumulators`.
    fn arrange(&self, arranged: &Arranged, accumulators: &mut Scratch<'_>, to: &mut Scratch<'_>) {
        let (width, simd) = (self.work.widths.accumulator, self.run.simd);
        let copy = tile_plans::plan(arranged.loops(), width, Comparison::Full, simd.vector_bytes());
        let from = accumulators.start(self.work.results() * width).cast_const();
        let to = to.start(arranged.partial_results() * width);
        // SAFETY: `start` has checked that both hold what the loops visit; they are two parts of
        // scratch. All partial results have been initialised, those of gaps, too.
        unsafe { copy::run_at(simd, &copy, to, from, true) };
    }

    /// Combines the iterations of a loop, each of `len` adjacent partial results.
    fn combine_loop(&self, iterations: usize, len: usize, accumulators: &mut Scratch<'_>) {
        let width = self.work.widths.accumulator;
        for (half, others) in halves(iterations) {
            let (count, start) = (others * len, half * len);
            let ours = accumulators.start((start + count) * width);
            let theirs = ours.wrapping_add(start * width);
            // SAFETY: `start` has checked that both are in scratch, initialised by the copy. None
            // is among both: `others <= half`.
            unsafe { self.run.operation.combine(ours, theirs, AccumulatorRows::one(count)) };
        }
    }

    /// Combines the elements behind the last whole row with the partial results.
    fn rest_of_row(
        self,
        RestOfRow { columns, input }: RestOfRow,
        origin: Origin,
        workspaces: Workspaces<'_>,
    ) {
        let bytes = input * self.work.widths.input as isize;
        let origin = Origin { input: origin.input.wrapping_offset(bytes), ..origin };
        let levels = self.levels.of_row(columns);
        Task { levels: &levels, ..self }.nested_loops(0, origin, workspaces, 1);
    }

    /// Combines rows whose gaps cannot be read with their partial results: each run of adjacent
    /// columns by itself.
    pub(super) fn fold_runs(
        self,
        second: &SecondStage,
        Extent { rows, columns }: Extent,
        origin: Origin,
        accumulators: &mut Scratch<'_>,
    ) {
        let [row_level, _] = self.levels.block();
        let row_step = row_level.l.strides[INPUT] * self.work.widths.input as isize;
        let mut loops: SmallVec<[Loop<1>; 6]> = second
            .loops
            .iter()
            .map(|l| Loop { len: l.len, strides: [l.strides[OF_PARTIAL]] })
            .collect();
        let run = loops.last().filter(|l| l.strides == [1]).map(|l| l.len);
        loops.truncate(loops.len() - usize::from(run.is_some()));
        for [column] in iterations(&loops) {
            let column = column as usize;
            if column < columns {
                let bytes = [self.work.widths.accumulator, self.work.widths.input]
                    .map(|width| column * width);
                let (_, mut of_run) = accumulators.reborrow().split_at(bytes[0]);
                let src = origin.input.wrapping_add(bytes[1]);
                let extent = Extent { rows, columns: run.unwrap_or(1) };
                self.fold(extent, origin, &mut of_run, src, row_step);
            }
        }
    }

    /// Combines the partial results of loops that are reduced, which are halved until one iteration
    /// is left: from accumulator `from` of each row on, for all rows at once.
    fn combine_loops(&self, loops: &[Loop<2>], from: usize, accumulators: &mut Scratch<'_>) {
        let Some((l, inner)) = loops.split_first() else { return };
        let step = l.strides[OF_PARTIAL] as usize;
        if reduces(l) {
            for (half, others) in halves(l.len) {
                let len = (others - 1) * step + columns_of(inner);
                self.combine_halves([from, half * step, len], accumulators);
            }
            return self.combine_loops(inner, from, accumulators);
        }
        if inner.iter().any(reduces) {
            for at in 0..l.len {
                self.combine_loops(inner, from + at * step, accumulators);
            }
        }
    }

    /// In each row of partial results, combines the second `len` with those from `from` on; they
    /// are `half` behind them.
    fn combine_halves(&self, [from, half, len]: [usize; 3], accumulators: &mut Scratch<'_>) {
        let width = self.work.widths.accumulator;
        let step = self.levels.block()[1].l.len;
        let rows = AccumulatorRows { rows: self.work.results() / step, step, len };
        let all = accumulators.start((from + half + rows.span()) * width);
        let (ours, theirs) =
            (all.wrapping_add(from * width), all.wrapping_add((from + half) * width));
        // SAFETY: `start` has checked that the accumulators of all rows are in scratch; `init` has
        // initialised them. In each row `len <= half` and `from + half + len <= step`, so none is
        // among both.
        unsafe { self.run.operation.combine(ours, theirs, rows) };
    }
}

/// The stride of a copy's destination; that of its source follows.
const TO: usize = 0;

/// For each halving of a loop of `len` iterations, the number of those in the first half, and in
/// the second, which may have one fewer.
fn halves(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut left = len;
    iter::from_fn(move || {
        let (half, all) = (left.div_ceil(2), left);
        left = half;
        (all > 1).then_some((half, all - half))
    })
}

/// The loops of a copy of the partial results of some rows. The copy has no gaps.
struct Arranged {
    reduced: Loops<2>,
    rows: Loops<2>,
    kept: Loops<2>,
    /// The results of a row, and of all rows.
    in_row: usize,
    results: usize,
}

impl Arranged {
    /// Of `rows` rows, which are `step` partial results apart.
    fn of(second: &SecondStage, rows: usize, step: usize) -> Self {
        let row = Loop { len: rows, strides: [0, step as isize] };
        let (in_row, kept) = dense(second.loops.iter().filter(|l| !reduces(l)), 1);
        let (results, rows) = dense([row].iter(), in_row);
        let (_, reduced) = dense(second.loops.iter().filter(|l| reduces(l)), results);
        Self { reduced, rows, kept, in_row, results }
    }

    fn loops(&self) -> impl Iterator<Item = Loop<2>> + Clone {
        self.reduced.iter().chain(&self.rows).chain(&self.kept).copied()
    }

    fn partial_results(&self) -> usize {
        self.loops().map(|l| l.len).product()
    }
}

/// The loops of a copy that writes adjacent partial results, `inside` of them in each iteration of
/// the innermost loop; and the number of all that it writes.
fn dense<'l>(loops: impl Iterator<Item = &'l Loop<2>>, inside: usize) -> (usize, Loops<2>) {
    let (mut count, mut copied) = (inside, loops.copied().collect::<Loops<2>>());
    for l in copied.iter_mut().rev() {
        l.strides = [count as isize, l.strides[OF_PARTIAL]];
        count *= l.len;
    }
    (count, copied)
}
