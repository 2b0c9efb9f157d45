//! Tuning constants of reductions.

use crate::memory::CACHE_LINE;

/// Bytes of keys, or of row numbers, in a pass of argmin or argmax. They stay in the first-level
/// cache and in a small stack frame.
pub(crate) const ARG_REDUCE_PASS_BYTES: usize = 8 << 10;

/// All scratch of a task of a reduction, if that much memory is available.
pub(crate) const REDUCE_WORKSPACE_BYTES: usize = 96 << 10;

/// The fewest columns of a reduction that are cut for threads.
pub(crate) const MIN_SPLIT_COLUMNS: usize = 2 * CACHE_LINE;

/// The elements of a larger input are prefetched. Sums along rows of 600 to 4096 floats take 0.45
/// to 0.7 of the time so, 64 MB in memory, and 0.8 to 0.9, 16 MB in a last-level cache; of 5.5 MB
/// up to 1.3 times (Zen 4).
pub(crate) const FAR_INPUT_BYTES: usize = 8 << 20;

/// How far behind a row those lie that are prefetched. With 4 KiB sums of 64 MB take 1.0 to 1.3
/// times as long, with 16 or 64 KiB as long (Zen 4).
pub(crate) const PREFETCH_DISTANCE_BYTES: usize = 32 << 10;

/// Shorter rows follow each other as the hardware expects.
pub(crate) const MIN_PREFETCHED_ROW_BYTES: usize = 320;

/// Results that lie in another order than their partial results, with fewer in a row, are written
/// along a longer dimension: of 7 of 503 random reductions the time falls to 0.5 to 0.9 (Zen 4).
/// The number is an estimate.
pub(crate) const MIN_RESULT_RUN: usize = 16;
