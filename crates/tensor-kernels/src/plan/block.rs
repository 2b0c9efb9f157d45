//! How a piece of work is cut for the caches: the rows and columns of a block, how each operand
//! reaches them, and where its part of a block lies in scratch memory.
//!
//! Copies, elementwise operations and reductions share this. A [`Block`] is made once, by the plan,
//! and its constructor places the scratch; what executes it asks for areas and computes none. So a
//! block whose scratch is too small for it cannot be expressed.
//!
//! # Invariants
//! - **B1.** A block has at least one row and one column.
//! - **B2.** The [`Area`] of an operand holds every row of a block (of the result: those that are
//!   computed at once), each with all columns; rows do not overlap.
//! - **B3.** Areas start at cache lines, follow each other without overlap, and end within
//!   [`Block::scratch_bytes`].

use crate::memory::CACHE_LINE;

/// The rows of a block, and the elements of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// How an operand's elements of a row are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// They are adjacent.
    UnitStride,
    /// It is one element for all.
    Scalar,
    /// They are adjacent from row to row: a block is transposed into scratch.
    Transposed,
    /// They are a stride apart and gathered into scratch.
    Gather,
    /// They are adjacent, but few, and the next row's lie elsewhere: many rows are packed into one.
    ShortRows,
    /// They are few, and every row has the same: they are repeated in scratch.
    BroadcastRow,
    /// It is one element for a short row, and another for the next: each is repeated along its row
    /// in scratch.
    SplatPerRow,
}

impl Access {
    /// Is the operand read or written where it is, without scratch?
    pub(crate) fn is_direct(self) -> bool {
        match self {
            Self::UnitStride | Self::Scalar => true,
            Self::Transposed
            | Self::Gather
            | Self::ShortRows
            | Self::BroadcastRow
            | Self::SplatPerRow => false,
        }
    }

    /// Are short rows made one long row?
    pub(crate) fn joins_rows(self) -> bool {
        matches!(self, Self::ShortRows | Self::BroadcastRow | Self::SplatPerRow)
    }
}

/// Rows in scratch memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Area {
    /// Where the first row starts.
    pub(crate) start: usize,
    /// How many rows there are.
    pub(crate) rows: usize,
    /// The bytes of a row.
    pub(crate) row_bytes: usize,
    /// From row to row.
    pub(crate) pitch: usize,
}

impl Area {
    /// Rows of adjacent elements at the start of scratch. Rows of a multiple of half a kilobyte are
    /// a cache line further apart than they are long, so that they do not fall on the same cache
    /// sets.
    pub(crate) fn new(extent: Extent, width: usize) -> Self {
        let row_bytes = extent.columns * width;
        let spare =
            if row_bytes.is_multiple_of(512) { CACHE_LINE / width.max(1) * width } else { 0 };
        Self { start: 0, rows: extent.rows, row_bytes, pitch: row_bytes + spare }
    }

    /// The first byte behind the area, rounded up to a cache line.
    pub(crate) fn end(&self) -> usize {
        (self.start + self.rows * self.pitch).next_multiple_of(CACHE_LINE)
    }
}

/// Rows, columns, and the way of each of `N` operands through scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block<const N: usize> {
    extent: Extent,
    access: [Access; N],
    areas: [Option<Area>; N],
    scratch_bytes: usize,
}

impl<const N: usize> Block<N> {
    /// A block whose operand `k`, of elements of `widths[k]` bytes, goes through scratch if
    /// `scratch_rows[k]` says of how many rows at a time.
    pub(crate) fn new(
        extent: Extent,
        access: [Access; N],
        widths: [usize; N],
        scratch_rows: [Option<usize>; N],
    ) -> Self {
        assert!(extent.rows > 0 && extent.columns > 0, "B1: a block is not empty");
        let mut scratch_bytes = 0;
        let areas = std::array::from_fn(|k| {
            let rows = scratch_rows[k]?.min(extent.rows);
            let mut area = Area::new(Extent { rows, ..extent }, widths[k]);
            area.start = scratch_bytes;
            scratch_bytes = area.end();
            Some(area)
        });
        Self { extent, access, areas, scratch_bytes }
    }

    /// The largest block, the last ones of a loop may be smaller.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn rows(&self) -> usize {
        self.extent.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.extent.columns
    }

    pub(crate) fn access(&self) -> [Access; N] {
        self.access
    }

    /// Where operand `k` lies in scratch, if it goes through it.
    pub(crate) fn area(&self, k: usize) -> Option<Area> {
        self.areas[k]
    }

    /// Does any operand go through scratch?
    pub(crate) fn uses_scratch(&self) -> bool {
        self.areas.iter().any(Option::is_some)
    }

    /// The bytes of all areas.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_follow_each_other_and_hold_their_rows() {
        for (rows, columns) in [(1, 1), (3, 70), (64, 128), (7, 1365), (200, 3)] {
            let extent = Extent { rows, columns };
            let widths = [1, 8, 3, 16];
            let access = [Access::UnitStride, Access::Transposed, Access::Gather, Access::Scalar];
            let block = Block::new(extent, access, widths, [Some(5), Some(rows), Some(rows), None]);
            let mut end = 0;
            for (k, width) in widths.into_iter().enumerate().take(3) {
                let area = block.area(k).unwrap();
                assert!(area.start >= end && area.start.is_multiple_of(CACHE_LINE), "{area:?}");
                assert!(area.row_bytes == columns * width && area.pitch >= area.row_bytes);
                assert_eq!(area.pitch % width, 0, "rows start at elements: {area:?}");
                assert_eq!(area.rows, if k == 0 { rows.min(5) } else { rows });
                end = area.start + area.rows * area.pitch;
            }
            assert!(block.scratch_bytes() >= end && block.area(3).is_none());
        }
    }

    #[test]
    fn rows_of_half_a_page_do_not_share_cache_sets() {
        let area = Area::new(Extent { rows: 4, columns: 512 }, 4);
        assert_eq!((area.row_bytes, area.pitch), (2048, 2112));
    }
}
