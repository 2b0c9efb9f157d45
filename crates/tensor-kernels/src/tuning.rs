//! Tuning constants: sizes that affect speed only, with the measurements behind them.
//!
//! Results do not depend on them; which plan is chosen may. The sizes that fix the order of a
//! reduction, and with it the last bits of results, are in `reduction_order` and `plan::reduce`;
//! the sizes of caches are in [`Machine`](crate::Machine). A comment names the machine of a
//! measurement where it is known.

#[cfg(feature = "elementwise")]
mod elementwise;
#[cfg(feature = "elementwise")]
mod reduce;

use std::ops::Range;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::memory::CACHE_LINE;
#[cfg(feature = "elementwise")]
pub(crate) use elementwise::*;
#[cfg(feature = "elementwise")]
pub(crate) use reduce::*;

// Copies of adjacent bytes

/// From here on the C library's `memcpy` is at least as fast, including the call.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MEMCPY_BYTES: usize = 2048;

/// Shorter runs hold too few whole lines for non-temporal stores to pay for the alignment.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MIN_STREAMED_BYTES: usize = 4 * CACHE_LINE;

/// The smallest page: hardware prefetching stops at its end.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Bytes that a long run is streamed in at a time, side by side: four pages.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const PAGE_GROUP_BYTES: usize = 4 * PAGE_BYTES;

/// Bytes streamed of one page before the next page of the group.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const BYTES_PER_PAGE_VISIT: usize = 4 * CACHE_LINE;

/// Runs of this many bytes, of copies that do not stay in the first-level cache, are copied by
/// whole lines of the destination. In runs of 140 to 260 bytes 150 kB take 0.63 to 0.85 of the
/// time, 1 MB 0.7 to 0.84; runs of 1000 bytes take 1.06 times as long, and 12 kB in runs of 140
/// bytes, which stay in the first level, 1.3 (Emerald Rapids).
pub(crate) const COPIED_BY_LINES_BYTES: Range<usize> = 129..513;

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

/// A copy by listed picks takes this long, in nanoseconds, and this long for each register of the
/// result and each of its windows (Zen 5). Finding the plan is included.
pub(crate) const PICKED_COPY_NS: f64 = 25.0;

/// See [`PICKED_COPY_NS`].
pub(crate) const PICKED_REGISTER_NS: f64 = 0.5;

/// See [`PICKED_COPY_NS`].
pub(crate) const PICKED_WINDOW_NS: f64 = 0.6;

/// Where picks are predicted to take as long as the plan or its list, they take longer.
pub(crate) const PICKED_FACTOR: f64 = 1.2;

/// The picks of a copy are listed at this repetition of it: that takes as long as some 30 copies.
pub(crate) const PICKED_FROM_REPEAT: u8 = 8;

/// Shorter runs are copied in blocks of two loops, so that little is done per run. Rows of 256
/// bytes in cache take 20.5 µs, and 26.9 µs if all loops are walked for each row.
pub(crate) const SHORT_RUN_BYTES: usize = 1024;

/// Runs of one repeated element that are longer are filled by a function call each.
pub(crate) const MAX_SHORT_FILL: usize = 32;

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

/// The same of a transpose that is written by non-temporal stores: as many rows as a
/// [sweep](SWEEP_ROWS) has.
pub(crate) const MAX_STREAMED_ITERATIONS: usize = SWEEP_ROWS;

/// The fewest adjacent units of its source if lines are stitched. With 6 to 15 floats that reached
/// 0.6 to 1.3 times the speed of plain stores, with 6 complex doubles 0.4 times; with 24 units of 4
/// to 16 bytes, in rows of 99 or 303, it reaches 1.1 to 1.3 times (Zen 4).
pub(crate) const MIN_STITCHED_UNITS: usize = 16;

/// Scratch of a source that is packed takes this part of the second-level cache.
pub(crate) const PACKED_SOURCE_IN_L2: usize = 4;

/// The bytes that lie close to each other in a tile whose source is packed: of the destination, and
/// of the source. The first pair for which the tile is small enough.
pub(crate) const PACKED_SOURCE_TARGETS: [(usize, usize); 5] =
    [(256, 4096), (256, 1024), (256, 256), (128, 128), (64, 64)];

/// Shorter runs of the source, with gaps of less than a line, are not packed.
pub(crate) const MIN_PACKED_RUN: usize = 8;

/// A source with more adjacent units between its gaps is not packed.
pub(crate) const MAX_PACKED_ADJACENT: usize = 4;

/// Beyond the second-level cache, a source whose elements are at most this far apart is packed
/// without a comparison of predicted times.
pub(crate) const MAX_PACKED_STEP_BYTES: usize = 24;

/// Wider elements are packed only beyond the second-level cache.
pub(crate) const MAX_NARROW_UNIT: usize = 4;

/// Copies of fewer units are not packed: the two copies of a tile are planned the first time. Of
/// every second column of 50 by 50 to 75 by 69 elements of 2 bytes, transposed, the first takes 6.4
/// µs instead of 4.3, and later ones 1.4 instead of 2.4 (Zen 3).
pub(crate) const MIN_PACKED_UNITS: usize = 2048;

/// The most bytes of a block that is assembled by shuffles. More take longer to list, and fewer
/// leave lanes unfilled.
pub(crate) const SHUFFLED_BLOCK_BYTES: usize = 128;

/// The most bytes of a block that is all iterations of its loops, such as a small transpose.
pub(crate) const WHOLE_SHUFFLED_BLOCK_BYTES: usize = 256;

/// The most bytes of a block that is assembled by picks. More take longer to list.
pub(crate) const PICKED_BLOCK_BYTES: usize = 512;

/// Rows of units that are gathered are not picked if they are at least this long: reversed rows of
/// 82 and 160 bytes took 1.5 times as long, of 40 bytes a third of the time (from memory), rows of
/// every second of 64 floats 1.9 times as long (2 KB, Zen 5).
pub(crate) const SHORT_GATHERED_ROW_BYTES: usize = 64;

/// The same for rows that lie in the gaps of each other, which share what is read. A block holds
/// two of them. The even and the odd elements of rows of 32 to 64 elements take 0.25 to 0.55 of the
/// time (Zen 5).
pub(crate) const MAX_PICKED_ROW_BYTES: usize = PICKED_BLOCK_BYTES / 2 + 1;

/// The blocks of which the same register is assembled by picks at once.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const PICKED_BLOCKS_AT_ONCE: usize = 16;

/// Blocks that are picked from at least this many bytes of a source are prefetched: with a limit of
/// 1 MB, six copies of 3 to 17 MB of bytes and of floats took 1.1 to 1.2 times as long (Zen 4).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const PREFETCHED_BLOCKS_BYTES: usize = 12 << 20;

/// The fewest registers of a block that is prefetched: 18 MB in blocks of three registers took 1.1
/// times as long with prefetches (Zen 4).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MIN_PREFETCHED_REGISTERS: usize = 4;

/// Blocks are prefetched if they lie at most this many times their length apart: else most of the
/// lines between them would be read without use.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const MAX_BLOCK_DISTANCE: usize = 2;

/// Wider elements are not shuffled: two make a lane.
pub(crate) const MAX_SHUFFLED_UNIT: usize = 8;

/// The fewest iterations of a side that are aimed at.
pub(crate) const MIN_GROUP_ITERATIONS: usize = 4;

/// A table with fewer entries is the inner loop only if the other is shorter still.
pub(crate) const MIN_INNER_ENTRIES: usize = 16;

/// Matrices of narrow units with shorter sides may be transposed by tables.
pub(crate) const LEAST_SIDE_WITHOUT_TABLES: usize = 64;

/// Units along each side of a block of a transpose, apart from one block for all.
pub(crate) const BLOCK_SIDES: [usize; 3] = [32, 64, 128];

/// A transpose with a shorter side is not cut into blocks.
pub(crate) const MIN_BLOCKED_SIDE_UNITS: usize = 16;

/// Transposes may be streamed from this part of [`Machine::stream`](crate::Machine::stream) on.
/// Their lines are written one by one, in pages far apart, which takes long as soon as they are not
/// in the second-level cache. On an Emerald Rapids with 2 MiB of it, squares of 540 floats (1.2 MB)
/// take twice as long streamed as through the caches, those of 710 and more (from 2 MB on) as long.
/// On a Cascade Lake with 1 MiB, streaming loses between 1 MiB (176 µs instead of 106) and 6 MiB.
pub(crate) const STREAMED_TRANSPOSES: usize = 4;

/// The same of transposes whose rows share sets of the caches.
pub(crate) const STREAMED_CROWDED_TRANSPOSES: usize = 8;

/// Streamed transposes of at least this many units, or runs, at a time are the best plan of a large
/// copy without a comparison. 46 MB of 2 by 2 runs of 12 bytes took 12.6 ms.
pub(crate) const MIN_LARGE_TRANSPOSE_UNITS: usize = 64;

/// The same of transposes with a side shorter than [`MIN_LARGE_TRANSPOSE_SIDE`]: 41 MB of 99 by 2
/// by 2 floats within two other loops took 11.8 ms, and 3.3 ms by tables (Zen 5).
pub(crate) const MIN_LARGE_TRANSPOSE_UNITS_OF_FEW_ROWS: usize = 1024;

/// See [`MIN_LARGE_TRANSPOSE_UNITS_OF_FEW_ROWS`].
pub(crate) const MIN_LARGE_TRANSPOSE_SIDE: usize = 4;

/// Of this many rows of a transpose more than a quarter lie in one set of the first-level cache, if
/// they share sets of the caches.
pub(crate) const CROWDING_ROWS: usize = 16;

/// Longer rows are copied, or filled, one by one.
pub(crate) const MAX_COMPARED_RUN_BYTES: usize = 2048;

// Transposes

/// Bytes of a source row in a sweep of a transpose, before it continues with the next rows: a page,
/// which is how far the hardware prefetches.
pub(crate) const STRIP_BYTES: usize = 4096;

/// The most elements of a source row in a sweep. Each is a destination row, often in a page of its
/// own, and a second-level TLB holds about 1500 pages. A quarter faster than four times as many,
/// out of cache.
pub(crate) const STRIP_COLUMNS: usize = 1024;

/// Whether destination columns, `lane` to a lane, are better written a lane at a time than by tiles
/// of as many lanes as they fill. Tiles of two lanes must cover a quarter more of the block: 9
/// columns of floats are 3 lanes, or two tiles of 2; 13 columns are 4 lanes, which take longer than
/// two tiles. Tiles of one lane may cover a fifth less: they have `lane` rows, lanes are transposed
/// for `register` rows at a time, of which the last repeat others.
///
/// 17 to 24 columns of floats, two tiles of 4 lanes, take 0.9 of the time by lanes in cache, but up
/// to 1.9 times as long if their rows are far apart in memory: lines are then written in parts.
pub(crate) const fn pays_by_lanes(
    (columns, lane): (usize, usize),
    (rows, register): (usize, usize),
) -> bool {
    let (lanes, together) = (columns.div_ceil(lane), lanes_together(columns, lane));
    let by_lanes = lanes * rows.next_multiple_of(register);
    let by_tiles = lanes.next_multiple_of(together) * rows.next_multiple_of(lane);
    match together {
        1 => 4 * by_lanes <= 5 * by_tiles,
        2 => 5 * by_lanes <= 4 * by_tiles,
        _ => false,
    }
}

/// The lanes of destination columns that a tile writes at once: 4, 2 or 1.
pub(crate) const fn lanes_together(columns: usize, lane: usize) -> usize {
    match columns / lane {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

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

/// Lines in [one channel](crate::Machine::channel) of the memory that are written at once, in that
/// many rows. Rows 512 bytes apart: up to 32 at once reach full speed (Zen 5), 48 lose a fifth, 96
/// two thirds.
pub(crate) const CHANNEL_ROWS: usize = 16;

/// Lines of each of these rows that are written before the next rows, to as many channels. Doubles,
/// 20 MB: 14 GB/s without blocks, 45 GB/s with 4 lines, as with 8, and 28 GB/s with 2 (Zen 5).
pub(crate) const CHANNEL_LINES: usize = 4;

/// Bytes of a row that are staged before they are written. With [`SWEEP_ROWS`] rows they take less
/// than half of a second-level cache.
pub(crate) const STAGED_ROW_BYTES: usize = 256;

/// The same for runs of more than 8 bytes. 4000 by 3000 runs of 12 bytes take 9.2 ms, and 10.8 ms
/// with rows of 256 bytes; 1920 by 1080 of 36 bytes 5.7 and 6.2 ms. Of 3 bytes, which take 4.7 ms
/// with 256 bytes, 5.8 ms (Zen 5).
pub(crate) const STAGED_RUNS_BYTES: usize = 512;

/// Mirrored rows of bytes are written past the caches from this size on, of units of `n` bytes from
/// a part `n` of it. Of 24 MB those of 1024 doubles take 0.70 of the time, of 64 doubles 0.76, of
/// 256 floats 0.95, of 64 floats 1.8, of 16 floats five times as long (Zen 5).
pub(crate) const MIN_STREAMED_MIRRORED_BYTES: usize = 4 << 10;

/// The same for rows of units with gaps between them, of any width. Streaming takes 0.9 to 1.1 of
/// the time, but 2.5 times as long where rows of 128 bytes or 2 KiB are read from memory, far apart
/// (Zen 5).
pub(crate) const MIN_STREAMED_GATHER_BYTES: usize = 16 << 10;

/// A row that repeats is written by narrow stores up to this part of the first-level cache: of 16
/// KB they take 0.5 to 1.5 of the time, of 64 KB 1.8 to 2.5 times as long (Zen 5 with 48 KiB).
pub(crate) const NARROW_RUNS_IN_L1: usize = 2;

/// Shorter blocks of results are not repeated: each copy of one takes as long as gathering it.
pub(crate) const MIN_REPEATED_BLOCK_BYTES: usize = 64;

/// Longer runs are copied in the order of the destination: transposes of 1080 by 1920 and of 1009
/// by 1117 runs, staged and streamed, take 0.3 of the time for 5 to 20 bytes, 0.6 for 24, 0.9 for
/// 48, and 1.1 for 52 to 104 bytes (Zen 5).
pub(crate) const MAX_TRANSPOSED_RUN_BYTES: usize = 48;

/// How far ahead each source row is prefetched where runs are transposed from memory. 4000 by 3000
/// runs of 12 bytes take 20 ms without prefetching, and 11 ms with it; 128 and 512 bytes are as
/// good (Zen 5).
pub(crate) const PREFETCHED_RUN_BYTES: usize = 256;

/// The fewest cache lines in a row that is streamed.
pub(crate) const MIN_STREAMED_ROW_LINES: usize = 4;

/// Small matrices of 1- or 2-byte elements are packed if their rows have at most this many lines:
/// 48 random batches of 0.7 to 40 MB took 0.93 of the time (geometric mean, one thread, Zen 5), at
/// best half. With rows of 52 and 57 lines two took 1.4 and 1.7 times as long.
pub(crate) const MAX_PACKED_ROW_LINES: usize = 40;

/// Rows without gaps between them, of at most this many units, are packed if their length is no
/// multiple of a cache line: a page holds a cache line of each source row. Of 14 MB, rows of 33
/// doubles reach 0.71 of the copy bandwidth, and 0.43 stitched; rows of 31 complex doubles 0.9 and
/// 0.58. Longer rows of floats are stitched: 77 reach 0.42, and 0.6 packed, but 127 reach 0.5
/// either way (Zen 4).
pub(crate) const MAX_PACKED_ROW: usize = 64;

/// The bytes of packed rows that are transposed at a time, in scratch that lies within one page. A
/// store that crosses the end of a page waits for every load before it, here for the source in
/// memory. 14 MB in rows of 5 to 15 floats reach 0.65 to 0.95 of the copy bandwidth within a page,
/// and 0.35 to 0.6 with 3 to 16 KiB of scratch that cross pages. With a whole page, a line more
/// than this, rows of 2 and of 4 take 1.1 times as long (Zen 4).
pub(crate) const PACKED_BYTES: usize = PAGE_BYTES - CACHE_LINE;

/// Runs of the destination with fewer cache lines are made longer.
pub(crate) const LONG_RUN_LINES: usize = 16;

/// Source rows that are read side by side to stage columns: as many streams as the hardware
/// prefetches. A tile of bytes would read twice as many, and is a third slower.
pub(crate) const SOURCE_STREAMS: usize = 32;

/// Bytes of a row of the result that are written at once where the source is buffered.
pub(crate) const BUFFERED_ROW_BYTES: usize = 512;

/// The most rows of the result in a block whose source is buffered, and so the adjacent units of a
/// source row that are buffered at once.
pub(crate) const BUFFERED_ROWS: usize = 256;

/// The lines of a tile's source rows in one set of a first-level cache, which holds 8 or 12, from
/// which on they are buffered. 60 random transposes of single bytes took 0.80 of the time in the
/// median, 0.39 to 1.26, three of them over 1.05; with 16 lines three took 1.3 to 1.7 times as long
/// (Zen 5).
pub(crate) const CROWDED_SOURCE_LINES: usize = 32;

/// Fewer rows of the result, which are columns of the source, are not buffered.
pub(crate) const MIN_BUFFERED_COLUMNS: usize = 2 * BUFFERED_ROWS;

/// The same for each way of the cache, from which on source rows are buffered at any size of the
/// result, and of units of two bytes, too: those of a tile have at most 32 lines in a set, which is
/// enough of them for 8 ways, but not for 12. With 8 ways (Zen 4) squares of 2047 to 2049 units of
/// two bytes take 0.45 to 0.6 of the time, of 4096 and 4097 0.65 to 0.9, and squares of 8192 and
/// 8193 single bytes 0.6 to 0.7. With 12 ways (Zen 5) 30 random transposes of two bytes took 0.97
/// of the time in the median, but 11 of them 1.05 to 1.24 times as long.
pub(crate) const CROWDED_SOURCE_LINES_PER_WAY: usize = 3;

/// The widest units that are buffered. Floats, whose tiles have 16 rows, take 1.1 to 1.3 times as
/// long (1024 by 1024 to 4096 by 4096, Zen 5).
pub(crate) const MAX_BUFFERED_UNIT: usize = 2;

/// Transposes of fewer lines for each way are buffered up to this many times
/// [`Machine::stream`](crate::Machine::stream). 6144 by 6144 single bytes take 1.2 times as long
/// (Zen 5).
pub(crate) const BUFFERED_STREAMS: usize = 3;

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
