//! The second stage of a reduction: the partial results of a row's columns become results.

use smallvec::SmallVec;

use super::task::Task;
use crate::{
    kernel::AccumulatorRows,
    nest::{Loop, Loops},
    plan::{Extent, INPUT, OF_PARTIAL, OF_RESULT, RestOfRow, SecondStage, columns_of},
    run::{
        levels::Level,
        reduce_part::{Origin, Workspaces},
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
        let accumulators = &mut workspaces.accumulators;
        self.combine_loops(&second.loops, 0, accumulators);
        let around = self.levels.around_columns().iter().map(Level::as_kept);
        let kept: Loops<2> = around.chain(second.loops.iter().copied()).collect();
        self.finalize(accumulators, kept);
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
        let is_reduced = |l: &Loop<2>| l.strides[OF_RESULT] == 0;
        let Some((l, inner)) = loops.split_first() else { return };
        let step = l.strides[OF_PARTIAL] as usize;
        if is_reduced(l) {
            let mut left = l.len;
            while left > 1 {
                let half = left.div_ceil(2);
                let len = (left - half - 1) * step + columns_of(inner);
                self.combine_halves([from, half * step, len], accumulators);
                left = half;
            }
            return self.combine_loops(inner, from, accumulators);
        }
        if inner.iter().any(is_reduced) {
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
