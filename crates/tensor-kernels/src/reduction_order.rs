//! The fixed sizes that determine the order in which a reduction combines elements.
//!
//! Plans cut loops by them and kernels combine by them, so they belong to neither. Changing them
//! changes the last bits of results. Machine, SIMD level and number of threads do not.

use std::ops::Range;

/// Partial results of a row that is reduced: 4 registers of f32, 8 of f64, with AVX-512.
pub(crate) const PARTIALS_PER_ROW: usize = 64;

/// Partial results of a row at the start of its tree, and the number of rows whose trees are
/// computed together.
pub(crate) const TREE_LEAVES: usize = 16;

/// Rows that are combined as a tree before they reach an accumulator.
pub(crate) const ROWS_PER_TREE: usize = 8;

/// Shorter rows of columns that are kept are not worth a kernel of their own: they are transposed.
/// Others of at most [`MAX_CHUNKED_ROW_BYTES`] are combined in chunks of as many columns, or of
/// [`CHUNK`] if they have those.
pub(crate) const SHORT_CHUNK: usize = 4;
pub(crate) const CHUNK: usize = 16;
pub(crate) const MAX_CHUNKED_ROW_BYTES: usize = 256;

/// Elements of a row that the streams of a row combine at a time.
pub(crate) const STREAMED_ELEMENTS: usize = ROWS_PER_TREE * PARTIALS_PER_ROW;

/// Elements of a row whose partial results are trees of few elements each.
pub(crate) const SHORT_ROW: Range<usize> = PARTIALS_PER_ROW..STREAMED_ELEMENTS;

/// Elements of a row that has [`TREE_LEAVES`] partial results: trees of few elements each. Shorter
/// rows are transposed: of 20 floats 0.75 to 0.8 of the time, of 33 0.8 to 0.9, of 48 1.5 to 1.8
/// times (AVX-512 and AVX2, Zen 4).
pub(crate) const SHORTEST_ROW: Range<usize> = 40..PARTIALS_PER_ROW;

/// Rows that are reduced by one call of a kernel.
pub(crate) const ROWS_PER_BLOCK: usize = 256;

/// Elements of a row that are reduced by one call of a kernel.
pub(crate) const ELEMENTS_PER_BLOCK_ROW: usize = PARTIALS_PER_ROW * ROWS_PER_BLOCK;

/// Of at most this many elements the offsets are listed. Each is at most the 128th of its part of a
/// sum.
pub(crate) const MAX_LISTED_ELEMENTS: usize = 1 << 10;

/// The most bytes of an input that are copied at a time: to scratch that is there even without
/// memory, and to scratch that has to be allocated.
pub(crate) const COPIED_BYTES: usize = 1 << 14;
pub(crate) const ALLOCATED_COPIED_BYTES: usize = 1 << 19;

/// The most partial results of a row in a reduction of two stages, and the most bytes of them with
/// those of all halves in progress. The reserve holds these bytes, so no reduction of two stages
/// lacks memory.
pub(crate) const MAX_PARTIAL_RESULTS: usize = 1 << 10;
pub(crate) const MAX_PARTIAL_RESULTS_BYTES: usize = 1 << 14;

/// Elements that an expanded input repeats fewer times are read as often: four times 47 floats take
/// 0.4 µs this way, and 0.6 if they are read once (Zen 4).
pub(crate) const MIN_REPETITIONS: usize = 8;

/// Bytes of an element of the input and of the result, and of an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Widths {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) accumulator: usize,
}

/// Are elements that are repeated, by a stride of 0, combined as often?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Repeats {
    Combined,
    /// Once: the result is the same.
    Skipped,
}

/// What a plan depends on, of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReductionForm {
    pub(crate) widths: Widths,
    /// Is the result an index among the elements that are reduced to one?
    pub(crate) returns_indices: bool,
    pub(crate) repeats: Repeats,
}
