//! Tuning constants of elementwise operations.

use super::MAX_LISTED_ELEMENTS;
use crate::memory::CACHE_LINE;

/// Bytes of scratch per operand of a block; two of them are a first-level cache of 32 KiB.
pub(crate) const ELEMENTWISE_SCRATCH_BYTES: usize = 16 << 10;

/// The elements of a row of a transposed block, in cache. A block has as many rows as fit, of whole
/// cache lines of the source. Over 16 matrices of 60 x 61 to 512 x 512 floats, rows of 256 take
/// 0.96 of the time for a conversion to f64, but 1.01 for `sigmoid`, and up to 1.12 for `exp`; rows
/// of 128 take 1.00 and 1.03 (Zen 3).
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

/// Bytes of results that are computed before they are written past the caches.
pub(crate) const STREAMED_RESULT_BYTES: usize = 4096;

/// If the innermost loop has at least this many rows, it is the loop over the rows of a block. Rows
/// of 33 floats take 17.8 ns each in blocks of 2 rows, and 5 to 8 ns in long blocks (Zen 3).
pub(crate) const MANY_DIRECT_ROWS: usize = 16;

/// The innermost loop is that over rows also if these have at least this many bytes: they are then
/// read in the order of memory. The product of 35 by 31 by 2 rows of 1360 bytes took 1.2 times as
/// long in another order (Zen 3).
pub(crate) const LONG_DIRECT_ROW_BYTES: usize = 1024;

/// The rows of a block that follow another loop than the innermost lie in at most this many bytes
/// of each operand: they stay in the second-level cache, and in 32 pages.
pub(crate) const NEAR_ROWS_BYTES: usize = 128 << 10;

// Blocks that are transposed into scratch, of operands that lie in memory

/// Columns that are transposed at a time, and how far behind them those lie that are prefetched
/// meanwhile. Sums along rows of 3 and 10 floats or doubles, 64 MB in memory, take 0.7 to 0.86 of
/// the time so; of 10 to 16 MB in a last-level cache 1.0 to 1.3 times; with 4 KiB at a time, or one
/// prefetch for all columns of a block, 64 MB take as long as without any (Zen 4).
pub(crate) const PACKED_AT_ONCE: usize = 64;
pub(crate) const PACKED_AHEAD_BYTES: usize = 16 << 10;

/// Columns are prefetched if they are at most this many times their length apart: else most of the
/// lines between them would be read without use.
pub(crate) const MAX_COLUMN_GAP: usize = 8;

// Elementwise operations by tiles

/// Operands with fewer adjacent elements are packed.
pub(crate) const MIN_DIRECT_RUN: usize = 24;

/// Scratch of a tile takes this part of the second-level cache. Of 200 random layouts of 32 kB to
/// 24 MB, the 90 that are computed by tiles take 0.82 of the time that they take with 64 KiB of
/// scratch, those of several inputs 0.78 (f32, two threads, Zen 5 with 1 MiB). With an eighth they
/// take 0.91, with three eighths as long as with a quarter.
pub(crate) const TILES_IN_L2: usize = 4;

/// A tile may have this many times its elements, if runs of [`TILE_TARGETS`] need them: 0.98 of the
/// time.
pub(crate) const LARGER_TILES: usize = 2;

/// From this many bytes of results on, all plans are compared for the copies of a tile. A brief
/// comparison assumes that everything stays in the first-level cache: where it does not, an operand
/// of 1.4 MB whose lines are used eight times took 3.5 times as long (Zen 5), `relu` of 200 kB,
/// every second column transposed, 1.28 times (Zen 3). Over random layouts of 2 to 24 MB the 5th
/// percentile rises from 0.15 to 0.18 of the contiguous speed (Zen 5); with a limit of 32 kB, 94 of
/// 32 kB to 2 MB take 0.99 of the time in the mean, if they are repeated and their plans kept (Zen
/// 3). The first time, planning takes some microseconds longer.
pub(crate) const FULL_COMPARISON_BYTES: usize = 128 << 10;

/// The bytes that lie close to each other in a tile: of the result, and of each operand that is
/// packed. The first pair for which the tile is small enough.
pub(crate) const TILE_TARGETS: [(usize, usize); 8] = [
    (1024, 512),
    (512, 512),
    (1024, 256),
    (512, 256),
    (512, 128),
    (256, 128),
    (256, 64),
    (128, 32),
];

/// The same for two loops, where the result is larger than the caches. Rows in scratch are not a
/// power of two of bytes long, so that they do not meet in the same sets of the cache. `neg` of
/// transposed floats takes 0.95 ms this way instead of 1.25 ms by blocks (1809 by 1809), and 3.6 ms
/// instead of 4.6 ms (3000 by 3000; Zen 5). With rows of 2 to 8 KiB, or 256 or 1024 bytes of the
/// operand, it takes up to a third more.
pub(crate) const LARGE_TRANSPOSED_TILE: (usize, usize) = (1088, 512);

/// Scratch of a tile whose results are streamed takes this part of the second-level cache. With a
/// quarter operations take as long.
pub(crate) const STREAMED_TILES_IN_L2: usize = 2;

/// As [`TILE_TARGETS`], if results are streamed.
pub(crate) const STREAMED_TILE_TARGETS: [(usize, usize); 7] =
    [(8192, 512), (8192, 256), (4096, 256), (8192, 128), (4096, 128), (2048, 128), (2048, 64)];

/// Shorter runs of results are not streamed: with runs of 1088 bytes that do not start at cache
/// lines, `relu` of 1457 by 1458 transposed floats took 2.3 ms, and 0.58 ms through the caches
/// (Zen 5).
pub(crate) const MIN_STREAMED_RUN_BYTES: usize = 2048;

/// If nothing but gaps keeps rows apart, their elements are copied together if all operands' copies
/// of a row have fewer elements. Rows of 17 floats, out of cache, take 0.23 ns an element where
/// they are, as if they were contiguous.
pub(crate) const MIN_COPIED_RUNS: usize = 16;

/// Blocks of two loops with fewer rows are not transposed by themselves, unless they have
/// [`MIN_TRANSPOSED_ELEMENTS`] and half as many rows.
pub(crate) const MIN_TRANSPOSED_ROWS: usize = 8;

/// See [`MIN_TRANSPOSED_ROWS`].
pub(crate) const MIN_TRANSPOSED_ELEMENTS: usize = 1024;

/// Fewer gathered elements in two of several loops are copied tile by tile, over all loops: ten
/// operations whose blocks had 110 to 1000 elements take 0.67 to 1.02 of the time, 0.92 in the mean
/// (Zen 5).
pub(crate) const MIN_GATHERED_ELEMENTS: usize = 1024;

/// Elements farther apart are not gathered by themselves.
pub(crate) const MAX_GATHERED_STEP: usize = 8;

// Inputs that are copied into the result first

/// A transposed input beside another one is copied if this many bytes of it are adjacent. Of 70
/// random operations on channels or short rows of 6 to 40 MB, those on 10 to 13 floats and another
/// input take 0.60 to 0.68 of the time that they took with a limit of a cache line; without another
/// input, `exp` takes 0.8 to 1.4 of the time (Zen 5).
pub(crate) const MIN_COPIED_SIDE_BYTES: usize = 24;

/// If inputs have shorter runs in a tile, one is copied: see `plan::elementwise::copied_first`.
pub(crate) const MAX_COPIED_TILE_RUN: usize = 2 * CACHE_LINE;

/// Up to this many times [`Machine::stream`](crate::Machine::stream), an input is copied instead of
/// streaming blocks beside another input: with 24 MB of results it takes 0.7 to 0.8 of the time,
/// with 36 MB 0.95 to 1.16 (Zen 3 with 3 MiB as `stream`, and 32 MiB of third-level cache).
pub(crate) const MAX_COPIED_IN_STREAMS: usize = 8;

// Elementwise operations without a plan

/// Up to this many times the first-level cache, the bytes of all operands are computed without a
/// plan.
pub(crate) const SMALL_OPERATIONS_IN_L1: usize = 8;

/// More elements than this, in rows of at least [`LONG_ROW_ELEMENTS`], are computed where they lie:
/// the difference of 30 by 615 floats, two apart and adjacent rows, takes 2.2 µs, and 2.5 µs if
/// rows are copied first (Zen 5).
pub(crate) const MANY_ROW_ELEMENTS: usize = 1024;

/// The least elements of rows that are computed where they lie if several inputs would be copied
/// otherwise, within two loops and within more. A sum of 8,000 floats in rows of 12 with gaps takes
/// 1.0 µs instead of 2.2, within more loops 2.4 instead of 2.7 (Zen 5).
///
/// If one input would be copied, these are rows of a [chunk](crate::kernel::chunk). `neg` of 12
/// rows of 8 floats takes 46 ns instead of 90, of 40 rows 54 instead of 154 (Zen 3).
pub(crate) const MIN_ROW_IN_PLACE: [usize; 2] = [4, 12];

/// The same for functions that compute much: of the end of a row they compute one result at a time.
pub(crate) const MIN_ROW_COMPUTED_IN_PLACE: usize = 128;

/// The least elements of rows that are computed where they lie within more than two loops.
pub(crate) const MIN_ROWS_IN_PLACE: usize = 64;

/// Up to this many elements are copied by the loops over them: the sum of 3 by 6 by 7 floats, both
/// inputs permuted, takes 104 ns this way, and 135 ns by kept plans (Zen 5).
pub(crate) const MAX_COPIED_ELEMENTS: usize = 128;

/// Up to this many elements of matrices are computed one by one where they lie, by operations that
/// are cheap. Of 36 sums, products and the like of 56 to 190 elements they take 0.61 to 0.97 of the
/// time that copies of the inputs take; transposed matrices of 240 elements 1.05 to 1.27 (Zen 5).
pub(crate) const MAX_MATRIX_ONE_BY_ONE: usize = 192;

/// The same of at most four loops, if several inputs would be copied: they lie in several orders,
/// or have gaps. Operations on 100 to 280 elements take 0.45 to 0.95 of the time, of five and six
/// loops they took 0.8 to 1.7 (Zen 5); on 300 to 1,200 elements 0.77 in the mean of the 80 that
/// change, 0.41 at best, three of them over 1.1 (Zen 4).
pub(crate) const MAX_UNLIKE_ONE_BY_ONE: usize = 1024;

/// Fewer elements in another order are copied by loops, not by transposes in registers. `relu` of
/// squares of 13 to 20 floats takes 0.75 to 0.86 of the time by transposes, of 4 and 5 floats 1.05
/// to 1.09 (Zen 3).
pub(crate) const MIN_TRANSPOSED_WITHOUT_PLAN: usize = 96;

/// See [`MANY_ROW_ELEMENTS`].
pub(crate) const LONG_ROW_ELEMENTS: usize = 64;

/// The fewest elements for which a transpose that computes is looked for if other operands have to
/// be packed first: fewer are mostly packed by a list of offsets.
pub(crate) const MIN_PACKED_AND_FINISHED_ELEMENTS: usize = MAX_LISTED_ELEMENTS + 1;

/// The smallest results that are computed in the registers that transpose them, in elements.
pub(crate) struct LeastTransposes {
    /// All elements. For fewer no transpose is looked for, which would take 30 to 70 ns (Zen 5).
    pub(crate) elements: usize,
    /// Those of one transpose, of which there may be a batch, and its shorter side.
    pub(crate) area: usize,
    pub(crate) side: usize,
    /// Those of one with a shorter side.
    pub(crate) narrow_area: usize,
}

/// See [`LeastTransposes`]: of an operation on one input. `relu` of 29 transposes of 5 by 13 floats
/// takes 1.8 times as long in registers as a copy and one row, of 24 of 23 by 32 0.85 of it (Zen
/// 5).
pub(crate) const MIN_FINISHED_TILE: LeastTransposes =
    LeastTransposes { elements: 1536, area: 400, side: 12, narrow_area: 1000 };

/// The same with other inputs that lie as the result does. The sum of 42 by 42 floats takes 1.3
/// times as long in registers, of 65 by 66 as long, of 123 by 122 0.9 of it (Zen 5).
pub(crate) const MIN_FINISHED_TILE_OF_SEVERAL: LeastTransposes =
    LeastTransposes { elements: 4096, area: 900, side: 5, narrow_area: 4096 };

/// Results larger than the caches are computed in registers, with others that lie as they do, if
/// one side of the transpose is at most this long. Sums and `mul_add` of 10 to 140 MB with 4 to 7
/// rows or columns take 0.5 to 0.9 of the time of streamed blocks and tiles, with 8 rows 0.8 to
/// 1.3, of squares up to 3.4 (Zen 4).
pub(crate) const MAX_LARGE_FINISHED_SIDE: usize = 7;

/// The fewest elements of one transpose for that if others are packed first. 88 by 13 take 1.25
/// times as long in registers, 19 by 3978 0.84 of it (Zen 5).
pub(crate) const MIN_PACKED_AND_FINISHED_TILE: usize = 8192;

/// The fewest elements that are computed by transposes whose sides are groups of loops, of one
/// input and with others: up to 30 kB of floats with others take 1.1 to 1.4 times as long as copies
/// and one row, `relu` of 25 kB 0.84 of the time (Zen 5).
pub(crate) const MIN_GROUPED_FINISHED_ELEMENTS: [usize; 2] = [4096, 8192];

/// The fewest bytes of results for which several inputs are transposed in registers, if they could
/// be computed in their own order. The sum of two transposed matrices of 74 by 97 floats takes 0.66
/// of the time in registers, of 46 by 25 floats 1.16 of it (Zen 5).
pub(crate) const MIN_SEVERAL_TRANSPOSED_BYTES: usize = 16 << 10;

/// The fewest rows and columns for that. Sums of batches of smaller matrices take 0.7 to 1.7 of the
/// time in registers: the last tile of each overlaps the one before (Zen 5).
pub(crate) const MIN_SEVERAL_TRANSPOSED_SIDE: usize = 32;

/// Blocks of fewer destination columns than a register has elements, and rows of at least this many
/// registers, are read along the rows where an operation is computed. The sum of 14 transposed rows
/// of 300 floats and another operand takes 0.91 of the time, of 14 rows of 40 floats 1.2 (Zen 5).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const FINISHED_ALONG_ROWS_REGISTERS: usize = 6;

/// Operations on one operand are computed on the way of a streamed transpose if its rows are long:
/// two cache lines, or [`MIN_FINISHED_ROW_BYTES`] if there are fewer than 16 of them, of which this
/// is the fewest. Over 160 random transposes of 2 to 40 MB of floats the others take up to 2.3
/// times as long as by tiles, because the copy does (Zen 5).
pub(crate) const MIN_FINISHED_ROWS: usize = 4;

/// See [`MIN_FINISHED_ROWS`].
pub(crate) const MIN_FINISHED_ROW_BYTES: usize = 2048;

/// The fewest rows that are packed for that, if the result is far larger than the caches: 8 MB of
/// rows of 7 floats took 1.2 times as long as by tiles (Zen 5).
pub(crate) const MIN_PACKED_FINISHED_ROWS: usize = 256;

/// Operands that are packed before the last one is transposed to the result take at most this part
/// of the second-level cache.
pub(crate) const PACKED_IN_L2: usize = 2;

/// Elements that are checked for large arguments at a time.
pub(crate) const LARGE_ARGUMENT_BLOCK_ELEMENTS: usize = 1024;

/// The most bytes of a row that is computed in chunks. `neg` of rows of 64 floats takes 5.4 ns
/// instead of 6.5, of 128 floats 11.9 instead of 12.2; u8 to f32, 128 of them, 7.9 instead of 9.7
/// (Zen 3).
pub(crate) const CHUNKED_ROW_BYTES: usize = 512;

/// Rows of at least as many elements are not computed in chunks by functions that compute much, if
/// registers have 512 bits: the loops for rows of any length fill these, and a chunk of floats has
/// 256 bits. `tanh` of rows of 48 floats takes 12 ns instead of 20, of 128 floats 28 instead of 52;
/// rows of 24 as long either way (Zen 5).
pub(crate) const MIN_WIDE_ROW: usize = 32;

/// The same for roots and reciprocals: `sqrt` of rows of 64 floats takes 6.1 ns instead of 10.2, of
/// 48 floats 12 instead of 8 (Zen 5).
pub(crate) const MIN_WIDE_ROW_OF_ROOTS: usize = 64;

/// Elements of a row that functions of one argument compute at a time. Any large constant does: see
/// where it is used.
pub(crate) const ROW_PART_ELEMENTS: usize = 1 << 16;
