//! Blocks: the rows and columns that are processed at a time, how each operand is accessed, and
//! where it lies in scratch memory.
//!
//! Copies, elementwise operations and reductions share this. The plan makes a [`Block`], whose
//! constructor lays out the scratch. The code that executes it asks for areas and computes none, so
//! a block whose scratch is too small cannot be made.
//!
//! # Invariants
//! - **B1.** A block has at least one row and one column.
//! - **B2.** The [`Area`] of an operand holds every row of a block with all its columns; for the
//!   result, only the rows that are computed at once. Rows do not overlap.
//! - **B3.** Areas start at cache lines, do not overlap, and end within [`Block::scratch_bytes`].

pub(crate) use super::area::{Area, Extent};

/// How an operand's elements of a row are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// The elements are adjacent.
    UnitStride,
    /// One element serves the whole row.
    Scalar,
    /// The elements are adjacent from row to row; a block is transposed into scratch.
    Transposed,
    /// The elements are a stride apart, and are gathered into scratch.
    Gather,
    /// Rows are short and have gaps between them; many are packed into one row in scratch.
    ShortRows,
    /// Every short row is the same; it is repeated in scratch.
    BroadcastRow,
    /// Each short row is one element, another one for every row. Each is repeated along its row in
    /// scratch.
    SplatPerRow,
}

impl Access {
    /// Is the operand accessed in place, without scratch?
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

    /// Are short rows packed into one long row?
    pub(crate) fn packs_rows(self) -> bool {
        matches!(self, Self::ShortRows | Self::BroadcastRow | Self::SplatPerRow)
    }
}

/// Rows and columns, how each of `N` operands is accessed, and its area in scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block<const N: usize> {
    extent: Extent,
    access: [Access; N],
    areas: [Option<Area>; N],
    scratch_bytes: usize,
}

impl<const N: usize> Block<N> {
    /// A block. Operand `k`, with elements of `widths[k]` bytes, goes through scratch if
    /// `scratch_rows[k]` is set, that many rows at a time.
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

    /// The extent of a full block. The last blocks of a loop may be smaller.
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

    /// The area of operand `k`, if it goes through scratch.
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
    use crate::memory::CACHE_LINE;

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
}
