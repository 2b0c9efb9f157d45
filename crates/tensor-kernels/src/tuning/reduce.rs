//! Tuning constants of reductions.

use crate::memory::CACHE_LINE;

/// Bytes of keys, or of row numbers, in a pass of argmin or argmax. They stay in the first-level
/// cache and in a small stack frame.
pub(crate) const ARG_REDUCE_PASS_BYTES: usize = 8 << 10;

/// All scratch of a task of a reduction, if that much memory is available.
pub(crate) const REDUCE_WORKSPACE_BYTES: usize = 96 << 10;

/// The fewest columns of a reduction that are cut for threads.
pub(crate) const MIN_SPLIT_COLUMNS: usize = 2 * CACHE_LINE;
