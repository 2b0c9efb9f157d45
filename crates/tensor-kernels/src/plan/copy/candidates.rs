//! The plans that a copy could be run by, and the choice of the one with the least predicted time.
//!
//! A candidate is a way to cover the loops: by the table of strategies, by groups of loops, by two
//! loops as a block; with blocks of several sizes; with plain or non-temporal stores. Small copies
//! have few candidates, because comparing them takes time, too: 1 to 2 µs each (Zen 3).

use tensor_core::sort::sort_by_key;

use super::{
    Inner, Lines, Repeats, Work, grouped, packed_source, repeats, shuffled,
    strategies::{self, blocked, source_forwards},
    unit,
};
use crate::{
    exec::Machine,
    memory::{CACHE_LINE, most_lines_in_a_set},
    nest::{Loop, Loops, NestBuilder},
    plan::group::iterations,
    tuning::{
        BLOCK_SIDES, CROWDING_ROWS, GROUP_SIDES, LEAST_SIDE_WITHOUT_TABLES, MAX_COMPARED_RUN_BYTES,
        MAX_NARROW_UNIT, MIN_BLOCKED_SIDE_UNITS, MIN_LARGE_TRANSPOSE_SIDE,
        MIN_LARGE_TRANSPOSE_UNITS, MIN_LARGE_TRANSPOSE_UNITS_OF_FEW_ROWS, MIN_PACKED_UNITS,
        STREAMED_CROWDED_TRANSPOSES, STREAMED_TRANSPOSES, TINY_COPY_ELEMENTS,
    },
};

/// The loops of a copy, from which candidates are made.
struct Candidates<'m> {
    loops: Loops<2>,
    starts: [isize; 2],
    unit: usize,
    bytes: usize,
    machine: &'m Machine,
}

/// Calls `visit` with every candidate for the loops of `builder`, which count elements of `width`
/// bytes.
pub(super) fn visit(
    builder: &mut NestBuilder<'_, 2>,
    width: usize,
    machine: &Machine,
    visit: &mut dyn FnMut(Work),
) {
    let bytes = iterations(builder.loops()).saturating_mul(width);
    let unit = unit::count_in_units(builder, width);
    source_forwards(builder, unit);
    let mut candidates = Candidates {
        loops: Loops::from_slice(builder.loops()),
        starts: builder.starts,
        unit,
        bytes,
        machine,
    };
    candidates.visit(visit);
    candidates.with_repetitions(visit);
}

/// Is a streamed plan a transpose of many units at a time? One of few spends its time on calls.
fn is_large_transpose(work: &Work) -> bool {
    let Inner::Streamed(plan) = work.inner else { return false };
    let least = match plan.u.len.min(plan.v.len) {
        0..MIN_LARGE_TRANSPOSE_SIDE => MIN_LARGE_TRANSPOSE_UNITS_OF_FEW_ROWS,
        _ => MIN_LARGE_TRANSPOSE_UNITS,
    };
    plan.u.len * plan.v.len >= least
}

/// Is it a streamed transpose that does not stage rows, and reads whole lines of the source?
fn writes_lines(work: &Work) -> bool {
    let Inner::Streamed(plan) = work.inner else { return false };
    plan.lines != Lines::Staged && plan.v.len * plan.v2.len >= CACHE_LINE / work.unit
}

/// Makes a plan of a copy of loops, if there is one of its kind. `dyn`: all kinds of plans are made
/// by one compiled function.
type Make<'a> = &'a dyn Fn(&mut Work, &mut NestBuilder<'_, 2>) -> bool;

impl Candidates<'_> {
    fn visit(&self, visit: &mut dyn FnMut(Work)) {
        if self.bytes > self.machine.l2
            && packed_source::shares_lines(&self.loops, self.unit)
            && let Some(work) =
                self.plan(&|work, builder| packed_source::plan(work, builder, self.machine))
        {
            return visit(work);
        }
        let Some(has_lines) = self.ungrouped(visit) else { return };
        if self.has_one_way() {
            return;
        }
        self.pairs(visit);
        self.streamed_groups(has_lines, visit);
        self.add(visit, &|work, builder| shuffled::plan(work, builder, self.machine));
        if self.may_pack() {
            self.add(visit, &|work, builder| packed_source::plan(work, builder, self.machine));
        }
        for &bytes in self.group_sides() {
            self.add(visit, &|work, builder| grouped::plan_transpose(work, builder, bytes));
            self.add(visit, &|work, builder| grouped::plan_runs(work, builder, bytes));
        }
    }

    /// The plans without groups. Returns whether one of them writes lines of a large result, or
    /// `None` if there is no need to compare more.
    fn ungrouped(&self, visit: &mut dyn FnMut(Work)) -> Option<bool> {
        let work = self.plan(&|work, builder| {
            strategies::ungrouped(work, builder);
            true
        })?;
        let streamed = self.streamed(&work);
        let has_lines = streamed.as_ref().is_some_and(writes_lines);
        match streamed.filter(|_| self.is_far_from_caches()) {
            Some(streamed) if is_large_transpose(&streamed) => {
                visit(streamed);
                self.streamed_groups(has_lines, visit);
                None
            }
            _ => {
                self.with_blocks(work, visit);
                Some(has_lines)
            }
        }
    }

    /// The plans that copy the results of a loop that does not move the source once, and repeat
    /// them. It is left out of the loops.
    fn with_repetitions(&mut self, visit: &mut dyn FnMut(Work)) {
        let Some(at) = repeats::repeated(&self.loops, self.unit) else { return };
        if iterations(&self.loops) <= TINY_COPY_ELEMENTS {
            return;
        }
        let of_loops = Repeats::new(&self.loops, at, self.unit, self.machine);
        let start = self.starts[0];
        self.bytes /= self.loops.remove(at).len;
        self.visit(&mut |mut work| {
            work.repeats = Some(of_loops.started(work.starts[0] - start));
            work.path = repeats::REPEATED;
            visit(work);
        });
    }

    /// Is there nothing to compare? There is one loop, or rows are so long that the loops around
    /// them do not matter, or there are few elements.
    fn has_one_way(&self) -> bool {
        let Some((row, around)) = self.loops.split_last() else { return true };
        let long = MAX_COMPARED_RUN_BYTES / self.unit;
        around.is_empty()
            || row.len > long && row.strides[0] == 1 && matches!(row.strides[1], 0 | 1)
            || iterations(&self.loops) <= TINY_COPY_ELEMENTS
    }

    /// The sides of blocks of groups. What stays in a first-level cache needs one size only. The
    /// transpose of a matrix needs no tables, except for blocks so small that rows which share sets
    /// of the caches stay in them, and not even these if its units are narrow: squares of 255 to
    /// 2049 of them take 1.05 to 2.5 times as long by tables (Zen 5). So do batches of matrices:
    /// 1.7 times for 2 of 96 by 550 bytes, 1.4 for 11 of 157 by 212 floats (Zen 4).
    fn group_sides(&self) -> &'static [usize] {
        match self.matrix() {
            _ if self.bytes <= self.machine.l1 / 2 => &GROUP_SIDES[..1],
            Some(least_side) => {
                let is_narrow = self.unit <= 2 && least_side >= LEAST_SIDE_WITHOUT_TABLES;
                if is_narrow { &[] } else { &GROUP_SIDES[GROUP_SIDES.len() - 1..] }
            }
            None if self.is_medium() => &GROUP_SIDES[..2],
            None => &GROUP_SIDES,
        }
    }

    /// The shorter side of the matrix that is transposed, if this is all, or the matrices of a
    /// batch are large.
    fn matrix(&self) -> Option<usize> {
        let adjacent = |k: usize| self.loops.iter().position(|l| l.strides[k].unsigned_abs() == 1);
        let (columns, rows) = (adjacent(0)?, adjacent(1)?);
        let is_transposed = rows != columns && self.loops[columns].strides[1] != 0;
        let least_side = self.loops[rows].len.min(self.loops[columns].len);
        let is_enough = self.loops.len() == 2 || least_side >= LEAST_SIDE_WITHOUT_TABLES;
        (is_transposed && is_enough).then_some(least_side)
    }

    /// Is the result so large that streaming a transpose is the best plan without a comparison?
    /// Where predictions of plain stores were too low, a choice by them cost up to seven times the
    /// time (4096 by 4096 elements of two bytes, Zen 5).
    fn is_far_from_caches(&self) -> bool {
        self.machine.is_far_larger(self.bytes)
    }

    /// Is the copy large enough to pack the source? Wide elements that are cached are copied one by
    /// one as fast.
    fn may_pack(&self) -> bool {
        let narrow = self.unit <= MAX_NARROW_UNIT || self.bytes > self.machine.l2;
        narrow && self.bytes / self.unit >= MIN_PACKED_UNITS
    }

    /// Does the copy take only some ten times as long as comparing all candidates?
    fn is_medium(&self) -> bool {
        self.bytes <= self.machine.l2 / 2
    }

    /// A transpose whose sides are groups, of a result larger than the caches. Without tables tiles
    /// write lines of four loops, if they may `have_lines`.
    fn streamed_groups(&self, has_lines: bool, visit: &mut dyn FnMut(Work)) {
        if self.bytes >= self.machine.stream && !has_lines {
            self.add(visit, &|work, builder| grouped::plan_streamed(work, builder, self.machine));
        }
    }

    /// Makes a plan of a copy of the loops.
    fn plan(&self, make: Make<'_>) -> Option<Work> {
        let mut loops = self.loops.clone();
        let mut builder = NestBuilder::over(&mut loops, self.starts);
        let mut work = Work { unit: self.unit, ..Work::nothing() };
        make(&mut work, &mut builder).then_some(work)
    }

    fn add(&self, visit: &mut dyn FnMut(Work), make: Make<'_>) {
        if let Some(work) = self.plan(make) {
            visit(work);
        }
    }

    /// A plan by strategies: a transpose with blocks of each size, and with non-temporal stores.
    fn with_blocks(&self, work: Work, visit: &mut dyn FnMut(Work)) {
        if let Some(streamed) = self.streamed(&work) {
            visit(streamed);
        }
        if let Inner::Tile { u, v, .. } = work.inner
            && u.len.min(v.len) >= MIN_BLOCKED_SIDE_UNITS
            && self.bytes > self.machine.l1 / 2
        {
            let sides = if self.is_medium() { &BLOCK_SIDES[1..2] } else { &BLOCK_SIDES[..] };
            for &side in sides.iter().filter(|&&side| side < u.len.max(v.len)) {
                visit(Work { inner: Inner::Tile { u, v, block: side }, ..work.clone() });
            }
        }
        visit(work);
    }

    /// The least bytes of a transpose that may be streamed. Of both operands: how many rows, and
    /// how many units they are apart.
    fn streamed_from(&self, rows: [(usize, isize); 2]) -> usize {
        let share_sets = |(len, stride): (usize, isize)| {
            let pitch = stride.unsigned_abs().saturating_mul(self.unit);
            // Rows closer to each other are in one line.
            pitch >= CACHE_LINE
                && most_lines_in_a_set(pitch, len.min(CROWDING_ROWS), 1) > CROWDING_ROWS / 4
        };
        match (rows.into_iter().any(share_sets), self.machine.keeps_transposes) {
            (true, _) => self.machine.stream / STREAMED_CROWDED_TRANSPOSES,
            (false, true) => self.machine.stream,
            (false, false) => self.machine.stream / STREAMED_TRANSPOSES,
        }
    }

    /// The plan with stores that suit a result larger than the caches, if it is that large.
    fn streamed(&self, work: &Work) -> Option<Work> {
        let from = match work.inner {
            Inner::Tile { u, v, .. } => self.streamed_from([(u.len, u.stride), (v.len, v.stride)]),
            Inner::Blocked2d { outer, inner, .. } => {
                let both = |at: usize| [outer, inner].map(|l| (l.len, l.strides[at]));
                self.streamed_from(both(0)).min(self.streamed_from(both(1)))
            }
            _ => self.machine.stream,
        };
        if self.bytes < from {
            return None;
        }
        let mut streamed = work.clone();
        strategies::stream(&mut streamed, self.bytes, self.machine);
        let is_suitable = match streamed.inner {
            Inner::Tile { .. } => false,
            Inner::Streamed(plan) if self.bytes < self.machine.stream => {
                plan.jumps_between_lines(CACHE_LINE / self.unit)
            }
            Inner::Streamed(plan) => plan.fills_lines(CACHE_LINE / self.unit),
            _ => streamed != *work && self.bytes >= self.machine.stream,
        };
        is_suitable.then_some(streamed)
    }

    /// Two loops as a block, inside of the others: the longest two, and those nearest in memory.
    /// What a row repeats is filled: 20 MB of 37 complex numbers each took 0.78 ms by blocks, and
    /// take 0.23 (Zen 5).
    fn pairs(&self, visit: &mut dyn FnMut(Work)) {
        let is_filled = |l: &Loop<2>| l.strides == [1, 0] && l.len * self.unit >= CACHE_LINE;
        if self.loops.last().is_some_and(is_filled) {
            return;
        }
        self.add(visit, &|work, builder| {
            pair(work, builder, &|loops| sort_by_key(loops, |l| l.len))
        });
        if self.bytes > self.machine.l1 / 2 {
            self.add(visit, &|work, builder| {
                pair(work, builder, &|loops| {
                    sort_by_key(loops, |l| std::cmp::Reverse(l.strides[1].unsigned_abs()));
                })
            });
        }
    }
}

/// The last two loops, in some order, as a block of runs.
fn pair(work: &mut Work, builder: &mut NestBuilder<'_, 2>, order: &dyn Fn(&mut [Loop<2>])) -> bool {
    let mut loops = Loops::from_slice(builder.loops());
    let run = match loops.last() {
        Some(&Loop { len, strides: [1, 1] }) => {
            loops.pop();
            len
        }
        _ => 1,
    };
    order(&mut loops);
    let Some(inner) = loops.pop() else { return false };
    let outer = loops.pop().unwrap_or(Loop::ONCE);
    work.starts = builder.starts;
    work.outer = loops;
    work.inner = blocked(outer, inner, run, work.unit);
    work.path = if run > 1 { strategies::ROWS } else { strategies::BLOCKED };
    true
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;
    use crate::memory::Stores;

    /// The candidates of a copy to contiguous memory, the chosen one first.
    fn candidates(
        shape: &[usize],
        strides: &[isize],
        width: usize,
        machine: &Machine,
    ) -> Vec<Work> {
        let descents = shape.iter().zip(strides).filter(|&(_, &stride)| stride < 0);
        let offset = descents.map(|(&len, stride)| (len - 1) * stride.unsigned_abs()).sum();
        let from = Layout::new(shape, strides, offset).unwrap();
        let to = Layout::contiguous(shape).unwrap();
        let found = Work::candidates(&from, &to, width, machine);
        found.into_iter().map(|(work, _)| work).collect()
    }

    fn any_streamed(candidates: &[Work]) -> bool {
        candidates.iter().any(|work| work.stores == Stores::NonTemporal)
    }

    #[test]
    fn transposes_that_a_near_cache_keeps_are_not_streamed_unless_rows_share_sets() {
        let near = Machine { stream: 8 << 20, keeps_transposes: true, ..Machine::REFERENCE };
        for (len, may_be_streamed) in [(1000, false), (1001, false), (1024, true), (1026, true)] {
            let strides = [1, len as isize];
            let streamed = |machine| any_streamed(&candidates(&[len, len], &strides, 4, machine));
            assert_eq!(streamed(&near), may_be_streamed, "{len}");
            assert!(streamed(&Machine::REFERENCE), "{len}, without such a cache");
        }
        let pixels = candidates(&[6, 1_000_000], &[1, 6], 1, &near);
        assert!(!any_streamed(&pixels), "rows of the source that share lines share no sets");
    }

    #[test]
    fn short_rows_are_not_gathered_past_the_caches() {
        let machine = &Machine::REFERENCE;
        let rows = |len: usize, step: isize, width: usize| {
            let pitch = len as isize * step.abs() + 3;
            any_streamed(&candidates(
                &[(20 << 20) / (len * width), len],
                &[pitch, step],
                width,
                machine,
            ))
        };
        assert!(!rows(16, 2, 8) && !rows(1028, 4, 2));
        assert!(rows(5000, 2, 4));
        assert!(!rows(64, -1, 4) && rows(600, -1, 4) && rows(64, -1, 8));
    }

    #[test]
    fn rows_that_repeat_are_narrow_up_to_half_of_the_first_level() {
        let narrow = |len: usize| {
            let repeated =
                candidates(&[(20 << 20) / (4 * len), len], &[0, 1], 4, &Machine::REFERENCE);
            repeated.iter().any(|work| work.stores == Stores::Narrow)
        };
        assert!(narrow(4000) && !narrow(5000));
    }

    #[test]
    fn large_matrices_are_transposed_without_tables() {
        let has_tables = |shape: [usize; 3], strides: [isize; 3]| {
            candidates(&shape, &strides, 1, &Machine::REFERENCE)
                .iter()
                .any(|work| matches!(work.inner, Inner::Grouped(_)))
        };
        assert!(!has_tables([40, 96, 550], [52_800, 1, 96]), "a batch");
        assert!(has_tables([40, 60, 550], [33_000, 1, 60]), "small ones");
        assert!(has_tables([40, 96, 550], [96, 1, 0]), "columns that repeat");
    }

    #[test]
    fn a_streamed_transpose_of_few_runs_is_one_of_several_plans() {
        let (shape, strides) = ([2, 2970, 2, 161, 2, 3], [6, 3864, 3, 12, 1932, 1]);
        let found = candidates(&shape, &strides, 4, &Machine::REFERENCE);
        assert!(found.len() > 3 && !matches!(found[0].inner, Inner::Streamed(_)), "{found:?}");
        let found =
            candidates(&[2, 193, 133, 2, 99], &[1, -52_668, 4, -2, 532], 4, &Machine::REFERENCE);
        assert!(found.len() > 3 && !matches!(found[0].inner, Inner::Streamed(_)), "{found:?}");
        let square = candidates(&[3000, 3000], &[1, 3000], 4, &Machine::REFERENCE);
        assert!(matches!(&square[..], [only] if matches!(only.inner, Inner::Streamed(_))));
    }

    #[test]
    fn a_source_that_descends_along_two_loops_is_read_forwards() {
        let first = |strides: [isize; 3]| {
            let found = candidates(&[3, 8739, 986], &strides, 1, &Machine::REFERENCE);
            found[0].starts[1]
        };
        let rows = 985 * 26_217;
        assert_eq!(first([-1, -3, 26_217]), 0, "channels and columns");
        assert_eq!(first([-1, -3, -26_217]), rows, "rows are not adjacent to them");
        assert_eq!(first([1, -3, 26_217]), 0, "columns alone");
    }

    #[test]
    fn what_a_row_repeats_is_filled() {
        let repeated = |len: usize| candidates(&[5000, len], &[1, 0], 16, &Machine::REFERENCE);
        let is_pair = |work: &Work| matches!(work.inner, Inner::Blocked2d { .. });
        assert!(!repeated(37).iter().any(is_pair) && repeated(3).iter().any(is_pair));
    }

    #[test]
    fn large_matrices_of_narrow_units_have_no_tables() {
        let has_tables = |shape: [usize; 2], width: usize| {
            let strides = [1, shape[0] as isize];
            let found = candidates(&shape, &strides, width, &Machine::REFERENCE);
            found.iter().any(|work| matches!(work.inner, Inner::Grouped(_)))
        };
        assert!(!has_tables([1025, 1025], 1) && !has_tables([1025, 1025], 2));
        assert!(has_tables([1025, 1025], 4) && has_tables([1025, 13], 1));
    }
}
