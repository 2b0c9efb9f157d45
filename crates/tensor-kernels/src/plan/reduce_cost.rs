//! The predicted time of a reduction that reads its input where it lies, or from scratch.

use super::{Access, INDEX, INPUT, RESULT, ReduceWork, is_reduced};
use crate::{
    memory::CACHE_LINE,
    nest::Loop,
    reduction_order::{
        CHUNK, MAX_CHUNKED_ROW_BYTES, ROWS_PER_TREE, SHORT_CHUNK, SHORT_ROW, SHORTEST_ROW,
        TREE_LEAVES,
    },
    tuning::ARG_REDUCE_PASS_BYTES,
};

/// The time of a part of a copied input, apart from copy and reduction; and that of each part after
/// the first, to divide scratch, initialise accumulators and write the results.
pub(super) const PART_NS: f64 = 80.0;
pub(super) const NEXT_PART_NS: f64 = 270.0;

/// The time of a block, of one that a kernel gets with many others, and of bringing one into
/// scratch.
const BLOCK_NS: f64 = 20.0;
const WHOLE_BLOCK_NS: f64 = 5.0;
const PACKED_BLOCK_NS: f64 = 60.0;

/// The time of a row whose columns are reduced: alone, where sixteen share their trees, where these
/// rows also have as many elements as partial results but are not read in streams, and where an
/// index is kept.
const REDUCED_ROW_NS: f64 = 35.0;
const REDUCED_ROW_OF_SIXTEEN_NS: f64 = 15.0;
const REDUCED_SHORT_ROW_NS: f64 = 5.0;
const INDEXED_ROW_NS: f64 = 30.0;

/// The time of the search for a key in rows that are read as one for an index, and of each element
/// that is searched.
const SEARCH_NS: f64 = 100.0;
const SEARCHED_NS: f64 = 0.1;

/// The time of an accumulator with an index that a block is combined with.
const INDEXED_ACCUMULATOR_NS: f64 = 2.0;

/// The time of a row whose columns are kept: one with accumulators of its own, and one of those
/// that are combined before they reach accumulators.
const KEPT_ROW_NS: f64 = 6.0;
const COMBINED_ROW_NS: f64 = 1.5;

/// The same of rows that are combined in chunks of columns: a chunk of a row with accumulators of
/// its own, a row of a few that share accumulators, and one of those that are combined before they
/// reach them.
const KEPT_CHUNK_NS: f64 = 4.0;
const FEW_CHUNKS_NS: f64 = 1.5;
const COMBINED_CHUNKS_NS: f64 = 0.4;

/// The time of writing a result behind the one before it, and elsewhere.
const RESULT_NS: f64 = 0.1;
const SCATTERED_RESULT_NS: f64 = 1.5;

/// The time of a row that does not follow the one before it in memory, and of each of its bytes,
/// from an input that is larger than some caches.
const JUMP_NS: f64 = 8.0;
const JUMP_BYTE_NS: f64 = 1.6 * BYTE_NS;
const LARGE_INPUT_BYTES: usize = 1 << 20;

/// The time of a byte of an element or of its accumulator, whichever is wider.
const BYTE_NS: f64 = 0.013;

/// The time of converting an element of 2 bytes, most of which are halves.
const HALF_NS: f64 = 0.06;

/// The time of bringing an element into scratch: of 1 or 2 bytes, and of more, of which each byte
/// takes [`PACKED_BYTE_NS`], too.
const PACKED_NARROW_NS: f64 = 0.25;
const PACKED_WIDE_NS: f64 = 0.05;
const PACKED_BYTE_NS: f64 = 0.02;

/// The time of a cache line of a column that goes into scratch, if there are others between its
/// columns, from an input that is larger than the smallest caches.
const FAR_COLUMN_NS: f64 = 1.0;
const INPUT_BEYOND_L1_BYTES: usize = 1 << 17;

/// How much longer it takes if elements are gathered.
const GATHERED: f64 = 2.6;

impl ReduceWork {
    /// The predicted time in nanoseconds, on a CPU of about 4 GHz.
    pub(super) fn predicted_ns(&self) -> f64 {
        let around: f64 = self.outer.iter().map(|l| l.len as f64).product();
        let (rows, columns) = (self.rows.len, self.columns.len);
        let pieces = columns.div_ceil(self.block.columns()) as f64;
        let blocks = around * pieces * rows.div_ceil(self.block.rows()) as f64;
        let block_rows = rows.min(self.block.rows());
        let (is_indexed, chunks) = (self.is_indexed(), self.has_chunks());
        let row_ns = match (is_reduced(&self.columns), is_reduced(&self.rows)) {
            (true, true) if is_indexed && self.has_dense_rows() => 0.0,
            (true, _) if is_indexed => INDEXED_ROW_NS,
            (true, false) if self.sharing_rows(block_rows) < TREE_LEAVES => REDUCED_ROW_NS,
            (true, false) if (SHORTEST_ROW.start..SHORT_ROW.end).contains(&columns) => {
                REDUCED_SHORT_ROW_NS
            }
            (true, false) => REDUCED_ROW_OF_SIXTEEN_NS,
            (true, _) => REDUCED_ROW_NS,
            (false, true) if block_rows >= ROWS_PER_TREE && chunks => COMBINED_CHUNKS_NS,
            (false, true) if block_rows >= ROWS_PER_TREE => COMBINED_ROW_NS,
            (false, true) if chunks => FEW_CHUNKS_NS,
            (false, false) if chunks => columns.div_ceil(CHUNK) as f64 * KEPT_CHUNK_NS,
            (false, _) => KEPT_ROW_NS,
        };
        let indexed = if is_indexed && !is_reduced(&self.columns) {
            let rows_of_accumulator = if is_reduced(&self.rows) { block_rows } else { 1 };
            (self.rows.len.div_ceil(rows_of_accumulator) * columns) as f64 * INDEXED_ACCUMULATOR_NS
        } else if is_indexed && is_reduced(&self.rows) && self.has_dense_rows() {
            let in_pass = ARG_REDUCE_PASS_BYTES / self.widths.input;
            let searched = self.rows.len.saturating_mul(columns).min(in_pass);
            let each = self.results() as f64 / around;
            each * (SEARCH_NS + searched as f64 * SEARCHED_NS)
        } else {
            0.0
        };
        let rows = around * rows as f64 * pieces;
        let (row_ns, byte_ns) =
            if self.jumps() { (row_ns + JUMP_NS, JUMP_BYTE_NS) } else { (row_ns, BYTE_NS) };
        let elements = around * self.rows.len as f64 * columns as f64;
        let wider = self.widths.input.max(self.widths.accumulator) as f64;
        let packed = self.packed_ns(blocks, elements) + around * self.packed_jumps_ns();
        let converted = if self.widths.input == 2 { elements * HALF_NS } else { 0.0 };
        packed
            + converted
            + around * indexed
            + self.results_ns()
            + blocks * self.block_ns()
            + rows * row_ns
            + elements * wider * byte_ns
    }

    fn block_ns(&self) -> f64 {
        if self.gets_many_blocks() && !self.is_indexed() { WHOLE_BLOCK_NS } else { BLOCK_NS }
    }

    /// The time of writing the results, in the order of their accumulators.
    fn results_ns(&self) -> f64 {
        let innermost = self.loops().rev().find(|l| !is_reduced(l) && l.len > 1);
        let in_order = innermost.is_none_or(|l| l.strides[RESULT].unsigned_abs() == 1);
        self.results() as f64 * if in_order { RESULT_NS } else { SCATTERED_RESULT_NS }
    }

    fn is_indexed(&self) -> bool {
        self.loops().any(|l| l.strides[INDEX] != 0)
    }

    /// Do the rows of a block follow each other without gaps?
    fn has_dense_rows(&self) -> bool {
        let row = self.columns.len as isize;
        self.columns.strides[INPUT] == 1 && self.rows.strides[INPUT] == row
    }

    /// The rows of a block whose trees are computed together: those of other blocks that a kernel
    /// gets are among them.
    fn sharing_rows(&self, rows: usize) -> usize {
        let blocks =
            if self.gets_many_blocks() { self.outer.last().map_or(1, |l| l.len) } else { 1 };
        rows.saturating_mul(blocks)
    }

    /// Does a kernel get many blocks at a time?
    fn gets_many_blocks(&self) -> bool {
        !self.block.uses_scratch() && !self.outer.is_empty()
    }

    /// Are rows short enough to be combined in chunks of columns?
    fn has_chunks(&self) -> bool {
        let width = self.widths.input.max(self.widths.accumulator);
        let columns = self.columns.len;
        let is_short = columns.saturating_mul(width) <= MAX_CHUNKED_ROW_BYTES;
        columns >= SHORT_CHUNK && is_short && !self.is_indexed()
    }

    /// Do rows of a large input follow each other far apart?
    fn jumps(&self) -> bool {
        self.is_visited_out_of_order(&self.rows)
    }

    /// Does a loop around the block step over less of a large input than this loop of the block?
    fn is_visited_out_of_order(&self, inner: &Loop<3>) -> bool {
        let step = inner.strides[INPUT].unsigned_abs();
        let inside = |l: &Loop<3>| (1..step).contains(&l.strides[INPUT].unsigned_abs());
        self.bytes() >= LARGE_INPUT_BYTES && self.outer.iter().any(inside)
    }

    /// The time until the columns of transposed and gathered blocks arrive, if they lie far apart.
    fn packed_jumps_ns(&self) -> f64 {
        // The lines of a column, and the step up to which the next column's follow or are the same.
        let (lines, near) = match self.block.access()[0] {
            Access::UnitStride => (0, 0),
            Access::Gather => (self.rows.len, CACHE_LINE - 1),
            _ => {
                let lines = (self.rows.len * self.widths.input).div_ceil(CACHE_LINE);
                (lines, lines * CACHE_LINE)
            }
        };
        let step = self.columns.strides[INPUT].unsigned_abs().saturating_mul(self.widths.input);
        let line_ns = if self.is_visited_out_of_order(&self.columns) {
            JUMP_NS
        } else if step > near && self.bytes() >= INPUT_BEYOND_L1_BYTES {
            FAR_COLUMN_NS
        } else {
            0.0
        };
        self.columns.len as f64 * lines as f64 * line_ns
    }

    /// The time of bringing blocks into scratch.
    fn packed_ns(&self, blocks: f64, elements: f64) -> f64 {
        let width = self.widths.input;
        let element_ns = match width {
            1 | 2 => PACKED_NARROW_NS,
            _ => PACKED_WIDE_NS + PACKED_BYTE_NS * width as f64,
        };
        match self.block.access()[0] {
            Access::UnitStride => 0.0,
            Access::Gather => blocks * PACKED_BLOCK_NS + elements * element_ns * GATHERED,
            _ => blocks * PACKED_BLOCK_NS + elements * element_ns,
        }
    }
}
