//! Copies whose blocks have groups of loops as sides: see `plan::copy::grouped`.

use smallvec::{Array, SmallVec};

use super::{offsets, walk::starts};
use crate::{
    kernel::{Isa, Residency, Units, short_runs},
    nest::Loop,
    plan::{Group, Grouped, GroupedStep, rows_inside, split},
    tuning::MAX_GROUP_ITERATIONS,
};

/// The offsets in bytes of an iteration, in the destination and in the source.
pub(super) type Offsets = [isize; 2];

/// The offsets of all iterations of one side of a block.
pub(super) type Table = SmallVec<[Offsets; MAX_GROUP_ITERATIONS]>;

/// The offsets of the columns and of the rows of a block.
pub(super) type Tables<'t> = (&'t [Offsets], &'t [Offsets]);

/// One side of a block.
struct Side<'t> {
    table: &'t [Offsets],
    /// The entries of the table for each iteration of the loop that is cut into blocks.
    inner_len: usize,
    /// That loop, with strides in bytes.
    cut: Loop<2>,
    /// Its iterations in a block.
    block: usize,
}

impl<'t> Side<'t> {
    /// Fills the table of some loops, of which the outermost is cut.
    fn new<A: Array<Item = Offsets>>(
        table: &'t mut SmallVec<A>,
        loops: &[Loop<2>],
        block: usize,
        unit: usize,
    ) -> Self {
        let bytes = |strides: [isize; 2]| strides.map(|stride| stride * unit as isize);
        offsets::fill(table, loops, block, bytes);
        let cut =
            loops.first().map_or(Loop::ONCE, |cut| Loop { strides: bytes(cut.strides), ..*cut });
        Self { table, inner_len: table.len() / block, cut, block }
    }

    /// For each block: the offsets of its first iteration, and its table.
    #[inline(always)]
    fn blocks(&self) -> impl Iterator<Item = (Offsets, &'t [Offsets])> {
        starts(self.cut.len, self.block).map(|start| {
            let count = self.block.min(self.cut.len - start);
            let first = self.cut.strides.map(|stride| stride * start as isize);
            (first, &self.table[..self.inner_len * count])
        })
    }
}

/// The two sides of all blocks of a plan.
pub(super) struct Blocks<'t> {
    u: Side<'t>,
    v: Side<'t>,
    step: GroupedStep,
}

impl<'t> Blocks<'t> {
    /// The blocks of a step, whose groups are the last of `loops`; and the loops around them.
    #[inline(always)]
    pub(super) fn new<'l, A: Array<Item = Offsets>>(
        Grouped { u, v, step }: Grouped,
        loops: &'l [Loop<2>],
        unit: usize,
        [u_table, v_table]: [&'t mut SmallVec<A>; 2],
    ) -> (&'l [Loop<2>], Self) {
        let [around, v_loops, u_loops] = split(loops, [u, v]);
        let side =
            |table, group: Group, loops: &[Loop<2>]| Side::new(table, loops, group.block, unit);
        (around, Self { u: side(u_table, u, u_loops), v: side(v_table, v, v_loops), step })
    }

    /// Calls `visit` with the addresses of the first element of each block, and with its tables of
    /// columns and rows.
    #[inline(always)]
    pub(super) fn for_each(
        &self,
        src: *const u8,
        dst: *mut u8,
        mut visit: impl FnMut((*const u8, *mut u8), Tables<'t>),
    ) {
        for ([to, from], rows) in self.v.blocks() {
            let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
            for ([to, from], columns) in self.u.blocks() {
                let (src, dst) = (src.wrapping_offset(from), dst.wrapping_offset(to));
                visit((src, dst), (columns, rows));
            }
        }
    }

    /// Copies all blocks, by plain stores. `residency` says where the operands lie.
    ///
    /// # Safety
    /// M1, M2 and M3 for the elements of the groups' loops.
    #[inline(always)]
    pub(super) unsafe fn copy<I: Isa>(
        &self,
        units: Units<I>,
        (src, dst): (*const u8, *mut u8),
        residency: Residency,
    ) {
        self.for_each(src, dst, |(src, dst), (columns, rows)| match self.step {
            // SAFETY: M1 to M3 hold for the runs of a block.
            GroupedStep::Runs { len } => unsafe {
                let tables = match rows_inside([columns.len(), rows.len()]) {
                    true => (rows, columns),
                    false => (columns, rows),
                };
                short_runs::copy_indexed(units.isa, src, dst, tables, len * units.width, residency);
            },
            // SAFETY: M1 to M3 hold for the elements of a block; by the plan `u` is adjacent in the
            // destination and `v` in the source.
            _ => unsafe { units.transpose_indexed(src, dst, (columns, rows), residency) },
        });
    }
}
