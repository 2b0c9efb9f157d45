//! The fixed sizes of the order in which a reduction combines elements.
//!
//! Plans cut loops by them and kernels combine by them, so they belong to neither. They change
//! results in the last bits: no machine, SIMD level or number of threads does.

/// Partial results of a row that is reduced: 4 registers of f32, 8 of f64.
pub(crate) const PARTIALS_PER_ROW: usize = 64;

/// Rows that are joined before they meet a slot.
pub(crate) const ROWS_PER_TREE: usize = 8;

/// Rows that are reduced in one go.
pub(crate) const ROWS_PER_BLOCK: usize = 256;

/// Elements of a row that are reduced in one go.
pub(crate) const ELEMENTS_PER_BLOCK_ROW: usize = PARTIALS_PER_ROW * ROWS_PER_BLOCK;

/// Bytes of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Widths {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) accumulator: usize,
}
