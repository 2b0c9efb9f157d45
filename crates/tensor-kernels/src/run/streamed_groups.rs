//! Transposes of groups of loops that are written by non-temporal stores: see
//! `plan::copy::grouped`.

use pulp::NullaryFnOnce;
use smallvec::SmallVec;

use super::{
    copy::GroupedTask,
    grouped::{Blocks, Offsets, Tables},
    stream::MAX_STITCHED_STEP,
    walk::iterations,
    workspace::Scratch,
};
use crate::{
    kernel::{Isa, Residency, StagedRows, Units, prefetch},
    memory::{CACHE_LINE, Stores},
    plan::{GroupedStep, split},
};

/// How far ahead each source row is prefetched if rows are packed, of which a line or two are read
/// at a time. 40 MB of 39 floats a row take 0.8 of the time with 128 to 512 bytes (Zen 4).
const PREFETCHED_ROW_BYTES: usize = 256;

/// The offsets of a side of a block: more than a stack frame has room for.
type LargeTable = SmallVec<[Offsets; 1]>;

/// All blocks of a plan whose groups are streamed. Without scratch it stores through the cache, and
/// without memory for the tables it takes two loops at a time.
///
/// Invariant: that of [`GroupedTask`].
pub(super) struct StreamedGroupsTask<'a, 's, I> {
    pub(super) task: GroupedTask<'a, I>,
    pub(super) scratch: Option<&'a mut Scratch<'s>>,
}

impl<I: Isa> NullaryFnOnce for StreamedGroupsTask<'_, '_, I> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { task, mut scratch } = self;
        let GroupedTask { units, work, groups, src, dst } = task;
        let [columns, rows] = groups.extent(&work.outer);
        let (Some(mut u), Some(mut v)) = (table(columns), table(rows)) else {
            return by_two_loops(task);
        };
        let (around, blocks) = Blocks::new(groups, &work.outer, units.width, [&mut u, &mut v]);
        for [to, from] in iterations(around) {
            let (to, from) = (units.bytes(to), units.bytes(from));
            let (dst, src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            blocks.for_each(src, dst, |at, tables| match (scratch.as_deref_mut(), groups.step) {
                // SAFETY: the invariant: M1 to M3 hold for the elements of a block; by the plan the
                // columns are adjacent in the destination, the rows in the source. Each row has a
                // line of scratch.
                (Some(scratch), GroupedStep::Stitched) if stitches(units, at.1, tables) => unsafe {
                    let pending = pending(scratch, tables.1.len());
                    units.transpose_indexed_lines(at.0, at.1, tables, pending);
                },
                // SAFETY: the same; by the plan rows lie one after the other without gaps.
                (Some(scratch), GroupedStep::Packed) => unsafe { pack(units, at, tables, scratch) },
                // SAFETY: the same.
                _ => unsafe { units.transpose_indexed(at.0, at.1, tables, work.residency) },
            });
        }
    }
}

/// An empty table with room for `len` entries; `None` if there is no memory.
fn table(len: usize) -> Option<LargeTable> {
    let mut table = LargeTable::new();
    table.try_reserve_exact(len).ok()?;
    Some(table)
}

/// A line for each of `rows` rows.
fn pending(scratch: &mut Scratch<'_>, rows: usize) -> *mut u8 {
    scratch.rows(0, (rows, CACHE_LINE), CACHE_LINE).start(rows, CACHE_LINE)
}

/// Transposes the innermost loop of either side, in each iteration of the others.
#[inline(always)]
fn by_two_loops<I: Isa>(GroupedTask { units, work, groups, src, dst }: GroupedTask<'_, I>) {
    let [around, v, u] = split(&work.outer, [groups.u, groups.v]);
    let (Some(rows), Some((columns, others))) = (v.last(), u.split_last()) else { return };
    let at = |[to, from]: [isize; 2]| {
        (dst.wrapping_offset(units.bytes(to)), src.wrapping_offset(units.bytes(from)))
    };
    for outer in iterations(&work.outer[..around.len() + v.len() - 1]) {
        for inner in iterations(others) {
            let (dst, src) = at([0, 1].map(|k| outer[k] + inner[k]));
            let (src, dst) = ((src, columns.strides[1]), (dst, rows.strides[0]));
            // SAFETY: the invariant of the task: M1 to M3 hold for these elements; by the plan the
            // columns are adjacent in the destination, the rows in the source.
            unsafe { units.transpose(src, dst, (columns.len, rows.len), work.residency) };
        }
    }
}

/// Can the level stitch lines of these rows, from `dst` on? Strides count units.
#[inline(always)]
fn stitches<I: Isa>(units: Units<I>, dst: *mut u8, (columns, rows): Tables<'_>) -> bool {
    I::STITCHES_LINES
        && dst.addr().is_multiple_of(units.width.min(MAX_STITCHED_STEP))
        && columns.len() >= CACHE_LINE / units.width
        && rows.len() >= units.per_lane()
}

/// Transposes rows in scratch, and writes them as one run.
///
/// # Safety
/// M1, M2 and M3 for the elements of the tables, whose columns are adjacent in the destination, and
/// rows in the source. In the destination rows lie one after the other without gaps, or descend so.
#[inline(always)]
unsafe fn pack<I: Isa>(
    units: Units<I>,
    (src, dst): (*const u8, *mut u8),
    (columns, rows): Tables<'_>,
    scratch: &mut Scratch<'_>,
) {
    let bytes = columns.len() * rows.len() * units.width;
    let packed = scratch.start_in_page(bytes);
    // Of rows that descend the last one lies at the start.
    let lowest = rows[rows.len() - 1][0].min(0);
    let (start, first) = (dst.wrapping_offset(lowest), packed.wrapping_offset(-lowest));
    for column in columns {
        let ahead = src.wrapping_offset(column[1]).wrapping_add(PREFETCHED_ROW_BYTES);
        let part = rows.len() * units.width;
        (0..part).step_by(CACHE_LINE).for_each(|at| prefetch(ahead.wrapping_add(at)));
    }
    if units.isa.finishes_rows() {
        let copies = Units { isa: units.isa.copies(), width: units.width };
        // SAFETY: M1 holds; the scratch has room for the rows, as they lie in the destination.
        unsafe { copies.transpose_indexed(src, first, (columns, rows), Residency::FirstLevel) };
        // SAFETY: the scratch has just been written, with the elements for these places.
        unsafe { units.finish_rows(StagedRows::one(packed, start, bytes)) };
    } else {
        // SAFETY: as above.
        unsafe { units.transpose_indexed(src, first, (columns, rows), Residency::FirstLevel) };
    }
    // SAFETY: the scratch has just been written; M2 holds for as many bytes without gaps.
    unsafe { units.isa.run(packed.cast_const(), start, bytes, Stores::NonTemporal) };
}
