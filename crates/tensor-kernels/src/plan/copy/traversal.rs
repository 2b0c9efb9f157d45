//! The order in which a plan visits memory, as nested loops.
//!
//! Every step of a plan, a tile, a block of groups, a row, is a few loops inside of the plan's
//! outer loops. Written down as one list of loops, with blocks split into the part inside and the
//! part around, all plans can be compared by the cache lines that they touch.

use smallvec::SmallVec;

use super::{
    Along, GroupedStep, Inner, Runs, Side, Streamed, Work, grouped::rows_inside, kernel::tile_of,
    source_order, source_tile,
};
use crate::{
    kernel::Residency,
    memory::{CACHE_LINE, LANE_BYTES},
    nest::Loop,
    plan::group::{Group, split},
    tuning::{STRIP_BYTES, STRIP_COLUMNS, SWEEP_ROWS},
};

/// Loops of destination and source, the innermost first; strides in bytes.
pub(super) type Path = SmallVec<[Loop<2>; 16]>;

/// The loops of a plan in the order in which they run.
#[derive(Clone, Debug)]
pub(super) struct Traversal {
    /// All loops, the innermost first.
    pub(super) path: Path,
    /// How many of them run inside of one block, or of a row of blocks that follow each other.
    pub(super) block: usize,
    /// How many of them make a sweep along the source, which writes a line of each row.
    pub(super) sweep: usize,
}

/// The loops of a sweep of two loops: along a lane, a line of columns, the rows.
const SWEEP_LOOPS: usize = 3;

impl Traversal {
    /// The loops of a plan, on a machine with vectors of `vector` bytes.
    pub(super) fn of(work: &Work, vector: usize) -> Self {
        let mut inside = Inside { path: Path::new(), around: Path::new(), sweep: SWEEP_LOOPS };
        let mut outer: &[Loop<2>] = &work.outer;
        match work.inner {
            Inner::Nothing => {}
            Inner::PackedSource { elements } => {
                inside.tile_of_source(outer, &source_tile(outer, elements, work.unit));
                outer = &[];
            }
            Inner::Run { len } => inside.push(len, [1, 1]),
            Inner::Fill { len } => outer = inside.rows((len, [1, 0]), outer),
            Inner::Gather { len, step } => outer = inside.rows((len, [1, step]), outer),
            Inner::Scatter { len, step } => inside.push(len, [step, 1]),
            Inner::Tile { u, v, block } => {
                let (nu, nv) = (u.len.min(block), v.len.min(block));
                let tile = tile_of(nu, nv, LANE_BYTES / work.unit, vector / work.unit);
                let is_far = work.residency == Residency::Memory;
                let whole = (!is_far && tile.1 > LANE_BYTES / work.unit).then_some(nu);
                inside.tile((u, v), block, CACHE_LINE / work.unit, whole);
            }
            Inner::Streamed(plan) => inside.sweep(&plan, CACHE_LINE / work.unit),
            Inner::Grouped(groups) => {
                if let GroupedStep::Runs { len } = groups.step {
                    inside.push(len, [1, 1]);
                }
                let [around, v, u] = split(&work.outer, [groups.u, groups.v]);
                outer = around;
                let entries = [groups.u.iterations_in_block(u), groups.v.iterations_in_block(v)];
                let sides = [(u, groups.u), (v, groups.v)];
                match groups.step {
                    GroupedStep::Runs { .. } if rows_inside(entries) => {
                        inside.groups([sides[1], sides[0]]);
                    }
                    GroupedStep::Runs { .. } => inside.groups(sides),
                    GroupedStep::Transpose | GroupedStep::Packed => {
                        inside.grouped_tiles(sides, LANE_BYTES / work.unit);
                    }
                    GroupedStep::Stitched => inside.grouped_sweep(sides, work.unit),
                }
            }
            Inner::Shuffled(plan) => {
                let (around, block) = plan.split(&work.outer);
                outer = around;
                inside.group(block, plan.block);
            }
            Inner::Blocked2d { outer, inner, run, block } => {
                inside.push(run, [1, 1]);
                inside.cut(inner, block);
                inside.cut(outer, block);
            }
        }
        let Inside { mut path, around, sweep } = inside;
        let inside = path.len();
        path.extend(around);
        path.extend(outer.iter().rev().copied());
        // Blocks that are shuffled follow each other along a loop, as if they were one.
        let block = match work.inner {
            Inner::Shuffled(_) => (inside + 1).min(path.len()),
            _ => inside,
        };
        let bytes = work.unit as isize;
        path.iter_mut()
            .for_each(|l| l.strides = l.strides.map(|stride| stride.saturating_mul(bytes)));
        Self { path, block, sweep: sweep.min(block) }
    }
}

/// The loops inside of a block, and those around it.
struct Inside {
    path: Path,
    around: Path,
    sweep: usize,
}

impl Inside {
    /// Adds a loop that runs inside of a block.
    fn push(&mut self, len: usize, strides: [isize; 2]) {
        self.cut(Loop { len, strides }, len);
    }

    /// Adds the loop over a row, and that over all rows of a call of the kernel. Returns the loops
    /// around them.
    fn rows<'l>(
        &mut self,
        (len, strides): (usize, [isize; 2]),
        outer: &'l [Loop<2>],
    ) -> &'l [Loop<2>] {
        self.push(len, strides);
        let Some((rows, around)) = outer.split_last() else { return outer };
        self.push(rows.len, rows.strides);
        around
    }

    /// Adds a loop that is cut into blocks.
    fn cut(&mut self, l: Loop<2>, block: usize) {
        let block = block.clamp(1, l.len.max(1));
        let around = blocks_of(l, block);
        if block > 1 {
            self.path.push(Loop { len: block, ..l });
        }
        if around.len > 1 {
            self.around.push(around);
        }
    }

    /// A transpose in blocks. A tile reads a lane of each source row at a time. Tiles of a line of
    /// destination columns sweep along the source to the end of the block, line after line.
    /// Without blocks a sweep ends with a strip of the source.
    ///
    /// Tiles that go along the rows of the source take all of them, `whole`, at once.
    fn tile(&mut self, (u, v): (Side, Side), block: usize, line: usize, whole: Option<usize>) {
        let sweeps = block >= u.len.max(v.len);
        let strip = STRIP_COLUMNS.min(STRIP_BYTES / CACHE_LINE * line);
        let (columns, rows) = if sweeps { (line, strip) } else { (block, block) };
        let lane = lane_of_rows(v.len, line * LANE_BYTES / CACHE_LINE);
        let tile_columns = whole.unwrap_or_else(|| even_part(u.len, line));
        self.lanes(along_source(v), lane);
        self.lanes(along_destination(u), tile_columns);
        let around = self.around.len();
        self.cut(rest_of(along_source(v), lane), rows / lane);
        let rest = rest_of(along_destination(u), tile_columns);
        if sweeps && rest.len > 1 {
            // Inside of the strips.
            self.around.insert(around, rest);
        } else {
            self.cut(rest, columns / line);
        }
    }

    /// The iterations of a loop that a lane, or a line, holds.
    fn lanes(&mut self, l: Loop<2>, lane: usize) {
        self.push(lane.min(l.len), l.strides);
    }

    /// A tile that is packed in the order of the source. Tiles follow each other in the order of
    /// the destination.
    fn tile_of_source(&mut self, loops: &[Loop<2>], counts: &[usize]) {
        for at in source_order(loops) {
            self.push(counts[at], loops[at].strides);
        }
        for (l, &count) in loops.iter().zip(counts).rev() {
            self.around.push(blocks_of(*l, count));
        }
    }

    fn sweep(&mut self, plan: &Streamed, line: usize) {
        let Streamed { u, v, u2, v2, runs, block, .. } = *plan;
        let [along_u, along_u2, along_v, along_v2] =
            [(u, Along::U), (u2, Along::U2), (v, Along::V), (v2, Along::V2)]
                .map(|(side, along)| Loop { len: side.len, strides: plan.strides(along) });
        if plan.is_buffered() {
            // Parts of source rows, as many as are written at once.
            self.push(block.v, along_v.strides);
            self.push(block.u, along_u.strides);
            self.around.extend([blocks_of(along_u, block.u), blocks_of(along_v, block.v)]);
        } else if runs == Runs::UNITS {
            let lane = line * LANE_BYTES / CACHE_LINE;
            self.lanes(along_v, lane);
            self.cut(along_u, line);
            self.cut(rest_of(along_v, lane), SWEEP_ROWS / lane);
            self.push(along_v2.len, along_v2.strides);
            self.around.push(along_u2);
        } else {
            self.push(runs.len, [1, 1]);
            self.cut(along_u, block.u);
            self.cut(along_u2, block.u2);
            self.cut(along_v, block.v);
            self.cut(along_v2, block.v2);
        }
    }

    fn groups(&mut self, sides: [(&[Loop<2>], Group); 2]) {
        sides.into_iter().for_each(|(loops, group)| self.group(loops, group));
    }

    /// A block of groups that is transposed: a lane of each source row is read at a time.
    fn grouped_tiles(&mut self, [u, (v, rows)]: [(&[Loop<2>], Group); 2], lane: usize) {
        let Some((&adjacent, outer)) = v.split_last() else { return self.groups([u, (v, rows)]) };
        let most = if outer.is_empty() { rows.block } else { adjacent.len };
        let lane = lane_of_rows(most, lane);
        self.lanes(adjacent, lane);
        self.group(u.0, u.1);
        self.cut(rest_of(adjacent, lane), most.div_ceil(lane));
        self.group(outer, rows);
    }

    /// The same by sweeps along the source: a lane of the rows, a line of columns, all rows.
    fn grouped_sweep(&mut self, [u, (v, rows)]: [(&[Loop<2>], Group); 2], unit: usize) {
        let Some((&adjacent, outer)) = v.split_last() else { return self.groups([u, (v, rows)]) };
        let (lane, mut line) = (LANE_BYTES / unit, CACHE_LINE / unit);
        let most = if outer.is_empty() { rows.block } else { adjacent.len };
        let lane = lane_of_rows(most, lane);
        self.lanes(adjacent, lane);
        let mut rest = Path::new();
        for (at, &l) in u.0.iter().enumerate().rev() {
            let len = if at == 0 { u.1.block } else { l.len };
            let taken = even_part(len, line);
            self.lanes(l, taken);
            rest.push(Loop { len: len.div_ceil(taken), ..rest_of(l, taken) });
            line = (line / taken).max(1);
            if at == 0 {
                self.around.push(blocks_of(l, len));
            }
        }
        self.cut(rest_of(adjacent, lane), most.div_ceil(lane));
        self.group(outer, rows);
        self.sweep = self.path.len();
        rest.into_iter().for_each(|l| self.push(l.len, l.strides));
    }

    /// The loops of a group, of which the outermost is cut.
    fn group(&mut self, loops: &[Loop<2>], group: Group) {
        for (at, &l) in loops.iter().enumerate().rev() {
            self.cut(l, if at == 0 { group.block } else { l.len });
        }
    }
}

/// The loop over blocks of `count` iterations.
fn blocks_of(l: Loop<2>, count: usize) -> Loop<2> {
    let strides = l.strides.map(|stride| stride.saturating_mul(count as isize));
    Loop { len: l.len.div_ceil(count), strides }
}

/// The length of the fewest equal parts of at most `most` units. The last tile overlaps the one
/// before: 9 columns are covered by two tiles of 8, which touch the lines of 10 columns, not of 16.
fn even_part(len: usize, most: usize) -> usize {
    len.div_ceil(len.div_ceil(most.max(1)).max(1)).max(1)
}

/// The rows that a tile reads of each source row: a lane. Fewer than two lanes are read at once.
fn lane_of_rows(rows: usize, lane: usize) -> usize {
    if rows < 2 * lane { rows.max(1) } else { even_part(rows, lane) }
}

/// A loop over whole lanes, or lines.
fn rest_of(l: Loop<2>, lane: usize) -> Loop<2> {
    let strides = l.strides.map(|stride| stride.saturating_mul(lane as isize));
    Loop { len: l.len.div_ceil(lane), strides }
}

fn along_destination(side: Side) -> Loop<2> {
    Loop { len: side.len, strides: [1, side.stride] }
}

fn along_source(side: Side) -> Loop<2> {
    Loop { len: side.len, strides: [side.stride, 1] }
}

#[cfg(test)]
mod tests {
    use tensor_core::Layout;

    use super::*;
    use crate::exec::Machine;

    /// Blocks at the end of a loop may be shorter, which a traversal does not say.
    #[test]
    fn traversals_visit_all_elements_and_few_more() {
        for base in [vec![700, 900], vec![5, 6, 7, 8, 9, 10], vec![40, 3, 50, 60], vec![9000, 3]] {
            let base = Layout::contiguous(&base).unwrap();
            let dims: Vec<_> = (0..base.ndim() as isize).rev().collect();
            let from = base.permute(&dims).unwrap();
            let to = Layout::contiguous(from.shape()).unwrap();
            for (work, _) in Work::candidates(&from, &to, 4, &Machine::REFERENCE) {
                let visited: usize = Traversal::of(&work, 64).path.iter().map(|l| l.len).product();
                let all = from.numel();
                assert!((all..3 * all).contains(&visited), "{work}: {visited} of {all}");
            }
        }
    }
}
