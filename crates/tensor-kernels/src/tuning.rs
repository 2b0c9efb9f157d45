//! Tuning constants: sizes that affect speed only, with the measurements behind them.
//!
//! Results do not depend on them; which plan is chosen may. The sizes that fix the order of a
//! reduction, and with it the last bits of results, are in `reduction_order` and `plan::reduce`;
//! the sizes of caches are in [`Machine`](crate::Machine). A comment names the machine of a
//! measurement where it is known.

use std::ops::Range;

use crate::memory::CACHE_LINE;

// Copies of adjacent bytes

/// From here on the C library's `memcpy` is at least as fast, including the call.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MEMCPY_BYTES: usize = 2048;

/// Shorter runs hold too few whole lines for non-temporal stores to pay for the alignment.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MIN_STREAMED_BYTES: usize = 4 * CACHE_LINE;

/// The smallest page: hardware prefetching stops at its end.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const PAGE_BYTES: usize = 4096;

/// Bytes that a long run is streamed in at a time, side by side: four pages.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const PAGE_GROUP_BYTES: usize = 4 * PAGE_BYTES;

/// Bytes streamed of one page before the next page of the group.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const BYTES_PER_PAGE_VISIT: usize = 4 * CACHE_LINE;

// Plans of copies

/// Copies of at most this many elements in up to two dimensions are not planned: 8 by 8 doubles
/// take 21 ns this way and 33 ns by a kept plan, 11 by 11 floats 35 and 39 ns (Zen 5).
pub(crate) const TINY_COPY_ELEMENTS: usize = 128;

/// As [`TINY_COPY_ELEMENTS`], in more dimensions, which take longer to walk: 4 by 2 by 2 by 2
/// doubles take 55 ns, 5 by 3 by 8 floats 65 ns; by a kept list of offsets 40 and 60 ns.
pub(crate) const TINY_NESTED_ELEMENTS: usize = 32;

/// Up to this many rows of adjacent elements are copied without a plan, if they are longer than
/// their number: 6 by 23 floats take 30 ns this way and 60 ns by a kept plan (Zen 5).
pub(crate) const MAX_FEW_ROWS: usize = 16;

/// The most bytes of [few rows](MAX_FEW_ROWS): more are worth a plan.
pub(crate) const FEW_ROWS_BYTES: usize = 16 << 10;

/// The source offsets of at most this many elements are listed, in 8 KiB.
pub(crate) const MAX_LISTED_ELEMENTS: usize = 2048;

/// A copy by a list of offsets takes this long, in nanoseconds, and this long for each element: a
/// cycle, for its store (Zen 5, widths 1 to 16). As in predictions, finding the plan is included.
pub(crate) const LISTED_COPY_NS: f64 = 30.0;

/// See [`LISTED_COPY_NS`].
pub(crate) const LISTED_ELEMENT_NS: f64 = 0.27;

/// Shorter runs are copied in blocks of two loops, so that little is done per run. Rows of 256
/// bytes in cache take 20.5 µs, and 26.9 µs if all loops are walked for each row.
pub(crate) const SHORT_RUN_BYTES: usize = 1024;

/// Out of cache, rows of this many bytes are visited in the order of the source: non-temporal
/// stores depend less on the order of addresses than reads do. With the heads of an attention
/// layer, rows of 256 bytes 4 KiB apart, the order of the result reaches 60 % of the copy
/// bandwidth, that of the source 100 %. (Copy bandwidth is that of the fastest plain copy of the
/// same bytes.)
pub(crate) const SOURCE_ORDER_ROW_BYTES: Range<usize> = 256..4096;

// Candidates of plans for copies

/// Bytes along each side of a block of groups, where they are adjacent. Over random layouts blocks
/// of 512 and 1024 bytes take 3 to 12 % longer than the best, blocks of 128 bytes 10 to 50 % (Zen
/// 5). Small blocks suffer less if rows share sets of the caches.
pub(crate) const GROUP_SIDES: [usize; 4] = [512, 1024, 256, 64];

/// The most iterations of a side: the entries of its table.
pub(crate) const MAX_GROUP_ITERATIONS: usize = 256;

/// The fewest iterations of a side that are aimed at.
pub(crate) const MIN_GROUP_ITERATIONS: usize = 4;

/// A table with fewer entries is the inner loop only if the other is shorter still.
pub(crate) const MIN_INNER_ENTRIES: usize = 16;

/// Units along each side of a block of a transpose, apart from one block for all.
pub(crate) const BLOCK_SIDES: [usize; 3] = [32, 64, 128];

/// A transpose with a shorter side is not cut into blocks.
pub(crate) const MIN_BLOCKED_SIDE_UNITS: usize = 16;

/// Transposes may be streamed from this part of [`Machine::stream`](crate::Machine::stream) on.
/// Their lines are written one by one, in pages far apart, which takes long as soon as they are not
/// in the second-level cache: on a Sapphire Rapids with 2 MiB of it, 1001 by 1001 floats took 8.1
/// ms through the caches and 0.43 ms streamed. On a Cascade Lake with 1 MiB, streaming loses
/// between 1 MiB (176 µs instead of 106) and 6 MiB.
pub(crate) const STREAMED_TRANSPOSES: usize = 8;

/// Longer rows are copied, or filled, one by one.
pub(crate) const MAX_COMPARED_RUN_BYTES: usize = 2048;

// Transposes

/// Bytes of a source row in a sweep of a transpose, before it continues with the next rows: a page,
/// which is how far the hardware prefetches.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const STRIP_BYTES: usize = 4096;

/// The most elements of a source row in a sweep. Each is a destination row, often in a page of its
/// own, and a second-level TLB holds about 1500 pages. A quarter faster than four times as many,
/// out of cache.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const STRIP_COLUMNS: usize = 1024;

/// Elements along each side of the blocks of a portable transpose. The cache lines of both sides
/// stay in the first-level cache until all of their elements are used.
pub(crate) const PORTABLE_BLOCK_SIDE_ELEMENTS: usize = 16;

/// Elements along the longer side, for blocks whose other side is shorter than
/// [`PORTABLE_BLOCK_SIDE_ELEMENTS`].
pub(crate) const PORTABLE_LONG_BLOCK_SIDE_ELEMENTS: usize = 256;

/// A side up to this long counts as channels; the other side alone gives long runs.
pub(crate) const MAX_CHANNELS: usize = 8;

// Transposes with non-temporal stores

/// Rows of the destination, which are columns of the source, in a sweep. Each may lie in a page of
/// its own, and a second-level TLB holds about 1500 pages.
pub(crate) const SWEEP_ROWS: usize = 1024;

/// Bytes of a row that are staged before they are written. With [`SWEEP_ROWS`] rows they take less
/// than half of a second-level cache.
pub(crate) const STAGED_ROW_BYTES: usize = 256;

/// The fewest cache lines in a row that is streamed.
pub(crate) const MIN_STREAMED_ROW_LINES: usize = 4;

/// Runs of the destination with fewer cache lines are made longer.
pub(crate) const LONG_RUN_LINES: usize = 16;

/// Source rows that are read side by side to stage columns: as many streams as the hardware
/// prefetches. A tile of bytes would read twice as many, and is a third slower.
pub(crate) const SOURCE_STREAMS: usize = 32;

// Elementwise operations

/// Bytes of scratch per operand of a block; two of them are a first-level cache of 32 KiB.
pub(crate) const ELEMENTWISE_SCRATCH_BYTES: usize = 16 << 10;

/// The elements of a row of a transposed block, in cache. A block has as many rows as a line of the
/// source has elements. 512 by 512 floats of a unary operation take 139 µs; blocks of 64 by 64 take
/// 209 µs, contiguous operands 85 µs.
pub(crate) const TRANSPOSED_ROW_ELEMENTS: usize = 512;

/// The bytes of a row of a transposed block, out of cache. A block takes an eighth of the
/// second-level cache, so that reads come in long runs on both sides. 4096 by 4096 floats with one
/// of two operands transposed take 33 ms. Rows twice as long, in twice the scratch, take 42 ms;
/// half as long, 57 ms.
pub(crate) const LARGE_TRANSPOSED_ROW_BYTES: usize = 256;

/// The most bytes of a short row, in copies and in elementwise operations. In the latter it also
/// limits the sum over all operands whose rows are copied through scratch (a row that repeats is
/// not counted): with three operands of 8 floats in wider rows, packing would take 4.9 ns a row
/// instead of 2.7 ns.
pub(crate) const SHORT_ROW_BYTES: usize = 64;

/// The fewest short rows that are packed. With rows of 3 floats, minus one row for all, 32 rows
/// take 0.6 µs either way; 64 rows take 0.8 µs row by row and 0.6 µs packed.
pub(crate) const MIN_PACKED_ROWS: usize = 64;

/// Bytes of the bounce buffer: of results, or of a repeated element, at a time. The product of
/// 10,000 floats in place took 790 ns with 4096 bytes, 970 ns with 1024 (Zen 5).
pub(crate) const BOUNCE_BUFFER_BYTES: usize = 4096;

/// Bytes of results per `memcpy` out of the bounce buffer. For the same floats all 4096 bytes at
/// once took 1030 ns, 1024 bytes at a time 800 ns (Zen 5).
pub(crate) const BOUNCE_MEMCPY_BYTES: usize = 2048;

// Elementwise operations by tiles

/// Operands with fewer adjacent elements are packed.
pub(crate) const MIN_DIRECT_RUN: usize = 24;

/// The bytes that lie close to each other in a tile: of the result, and of each operand that is
/// packed. The first pair for which the tile is small enough.
pub(crate) const TILE_TARGETS: [(usize, usize); 6] =
    [(1024, 256), (512, 256), (512, 128), (256, 128), (256, 64), (128, 32)];

/// If nothing but gaps keeps rows apart, their elements are copied together if all operands' copies
/// of a row have fewer elements. Rows of 17 floats, out of cache, take 0.23 ns an element where
/// they are, as if they were contiguous.
pub(crate) const MIN_COPIED_RUNS: usize = 16;

/// Blocks of two loops with fewer rows are not transposed by themselves, unless they have
/// [`MIN_TRANSPOSED_ELEMENTS`] and half as many rows.
pub(crate) const MIN_TRANSPOSED_ROWS: usize = 8;

/// See [`MIN_TRANSPOSED_ROWS`].
pub(crate) const MIN_TRANSPOSED_ELEMENTS: usize = 1024;

/// Elements farther apart are not gathered by themselves.
pub(crate) const MAX_GATHERED_STEP: usize = 8;

// Elementwise operations without a plan

/// Up to this many times the first-level cache, the bytes of all operands are computed without a
/// plan.
pub(crate) const SMALL_OPERATIONS_IN_L1: usize = 8;

/// More elements than this, in rows of at least [`LONG_ROW_ELEMENTS`], are computed where they lie:
/// the difference of 30 by 615 floats, two apart and adjacent rows, takes 2.2 µs, and 2.5 µs if
/// rows are copied first (Zen 5).
pub(crate) const MANY_ROW_ELEMENTS: usize = 1024;

/// See [`MANY_ROW_ELEMENTS`].
pub(crate) const LONG_ROW_ELEMENTS: usize = 64;

/// Elements that are checked for large arguments at a time.
pub(crate) const LARGE_ARGUMENT_BLOCK_ELEMENTS: usize = 1024;

// Reductions

/// Bytes of keys, or of row numbers, in a pass of argmin or argmax. They stay in the first-level
/// cache and in a small stack frame.
pub(crate) const ARG_REDUCE_PASS_BYTES: usize = 8 << 10;

/// All scratch of a task of a reduction, if that much memory is available.
pub(crate) const REDUCE_WORKSPACE_BYTES: usize = 96 << 10;

/// The fewest columns of a reduction that are cut for threads.
pub(crate) const MIN_SPLIT_COLUMNS: usize = 2 * CACHE_LINE;

// Scratch memory and threads

/// The most scratch on the stack. More comes from the buffers that the thread keeps, because
/// touching the guard pages of a larger stack frame takes as long as two hundred additions.
pub(crate) const MAX_FRAME_BYTES: usize = 8 << 10;

/// The most buffers that a thread keeps between operations.
pub(crate) const MAX_KEPT_BUFFERS: usize = 4;

/// The most bytes of a buffer that a thread keeps.
pub(crate) const MAX_KEPT_BUFFER_BYTES: usize = 8 << 20;

/// Tasks that work is cut into, per thread. With several a late thread can pass work on; they are
/// few, so that tasks stay large.
pub(crate) const TASKS_PER_THREAD: usize = 4;
