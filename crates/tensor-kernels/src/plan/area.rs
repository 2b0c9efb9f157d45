//! Rows and columns, and the scratch memory that they take.

use crate::memory::CACHE_LINE;

/// Rows, and columns: the elements of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Rows in scratch memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Area {
    /// The offset of the first row.
    pub(crate) start: usize,
    /// The number of rows.
    pub(crate) rows: usize,
    /// The bytes of a row.
    pub(crate) row_bytes: usize,
    /// The distance from one row to the next.
    pub(crate) pitch: usize,
}

impl Area {
    /// Rows of adjacent elements at the start of scratch. Rows whose length is a multiple of 512
    /// bytes get a cache line of padding, so that they do not compete for the same cache sets.
    pub(crate) fn new(extent: Extent, width: usize) -> Self {
        let row_bytes = extent.columns * width;
        let spare =
            if row_bytes.is_multiple_of(512) { CACHE_LINE / width.max(1) * width } else { 0 };
        Self { start: 0, rows: extent.rows, row_bytes, pitch: row_bytes + spare }
    }

    /// The end of the area, rounded up to a cache line.
    pub(crate) fn end(&self) -> usize {
        (self.start + self.rows * self.pitch).next_multiple_of(CACHE_LINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_half_a_page_do_not_share_cache_sets() {
        let area = Area::new(Extent { rows: 4, columns: 512 }, 4);
        assert_eq!((area.row_bytes, area.pitch), (2048, 2112));
    }
}
