//! The kernels of one instruction set, each with a portable default. A value of an [`Isa`] proves
//! that the CPU has the instructions.

use pulp::NullaryFnOnce;

#[cfg(feature = "elementwise")]
use super::finishes::Finishes;
#[cfg(feature = "in-place")]
use super::tile_exchange::TileExchange;
use super::{
    indexed_block::IndexedBlock,
    narrow_runs::NarrowRuns,
    portable,
    staged_rows::StagedRows,
    transpose_block::{Residency, TransposeBlock},
    unit::Unit,
};
#[cfg(feature = "elementwise")]
use crate::math::{Baseline, FmaMode};
use crate::{
    lane_shuffles::LaneShuffles, memory::Stores, nest::Loop, picked_copy::PickedCopy,
    register_picks::RegisterPicks,
};

/// An instruction set for which work can be compiled.
pub(crate) trait Vectorize: Copy {
    /// Runs `kernel`, compiled for this instruction set with everything that is inlined into it.
    ///
    /// As [`vectorize`](Self::vectorize), by fewer functions: every operation on every element type
    /// is a kernel, and those that pulp compiles around each were a fifth of a debug build.
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output;

    /// Runs `f`, compiled for this instruction set with everything that is inlined into it.
    /// Closures are accepted, but only a type whose `call` is `#[inline(always)]` is certain to be
    /// inlined.
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output;
}

/// Without operations on elements there are no kernels that compute.
#[cfg(not(feature = "elementwise"))]
pub(crate) trait Finishes {}

#[cfg(not(feature = "elementwise"))]
impl<T> Finishes for T {}

/// The kernels of one instruction set, and the proof (M5) that the CPU has it.
///
/// Strides and steps are signed and count elements, unless a parameter says bytes. The defaults are
/// the portable kernels.
pub(crate) trait Isa: Vectorize + Finishes + Send + Sync {
    #[cfg(feature = "elementwise")]
    /// Whether the level fuses a multiplication and an addition.
    type FmaMode: FmaMode;

    /// Has the CPU registers of 512 bits?
    #[cfg(feature = "elementwise")]
    const HAS_WIDE_REGISTERS: bool = false;

    /// Are these the kernels of an operation on floats, which no other widths have?
    const ONLY_FLOATS: bool = false;

    /// The kernels that copy, if these compute an operation.
    type Copies: Isa;

    /// See [`Copies`](Self::Copies).
    fn copies(self) -> Self::Copies;

    /// Is an operation computed on rows that [`copies`](Self::copies) have staged in scratch?
    #[inline(always)]
    fn finishes_rows(self) -> bool {
        false
    }

    /// Computes the operation on rows that have been staged in scratch, in place.
    ///
    /// # Safety
    ///
    /// The rows can be read and written in scratch; F1 for their places in the result.
    #[inline(always)]
    unsafe fn finish_rows<L: Unit>(self, rows: StagedRows) {
        let _ = rows;
    }

    /// Copies `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn run<L: Unit>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M1 to M3 hold for the same `len` elements, by this function's contract.
        unsafe { portable::run(src, dst, len) }
    }

    /// Copies adjacent bytes, more than a cache line: all but the first and the last register by
    /// stores of whole lines, because one across two lines waits for both.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the bytes.
    #[inline(always)]
    unsafe fn run_by_lines(self, src: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: M1 to M3 hold for the same bytes, by this function's contract.
        unsafe { portable::run(src, dst, bytes) }
    }

    /// Writes `value` to `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M2 for `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn fill<L: Unit>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M2 holds for the same `len` elements, by this function's contract.
        unsafe { portable::fill(value, dst, len) }
    }

    /// Gathers `len` elements `step` apart: `dst[i] = src[i * step]`. A step of -1 reverses.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements, `i < len`.
    #[inline(always)]
    unsafe fn gather_run<L: Unit>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        stores: Stores,
    ) {
        let _ = stores;
        // SAFETY: M1 to M3 hold for the same elements; `step` is converted to bytes.
        unsafe { portable::gather::<L>(src.cast(), step * L::WIDTH as isize, dst.cast(), len) }
    }

    /// [`gather_run`](Self::gather_run) in each iteration of a loop, whose strides are the
    /// destination's and the source's; by plain stores.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the elements of all rows.
    #[inline(always)]
    unsafe fn gather_rows<L: Unit>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        rows: Loop<2>,
    ) {
        let (mut src, mut dst) = (src, dst);
        for _ in 0..rows.len {
            // SAFETY: M1 to M3 hold for one row, by this function's contract.
            unsafe { self.gather_run(src, step, dst, len, Stores::Plain) };
            (dst, src) =
                (dst.wrapping_offset(rows.strides[0]), src.wrapping_offset(rows.strides[1]));
        }
    }

    /// Scatters `len` elements `step` apart: `dst[i * step] = src[i]`.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements, `i < len`.
    #[inline(always)]
    unsafe fn scatter_run<L: Unit>(self, src: *const L, dst: *mut L, step: isize, len: usize) {
        // SAFETY: M1 to M3 hold for the same elements; `step` is converted to bytes.
        unsafe { portable::scatter::<L>(src.cast(), dst.cast(), step * L::WIDTH as isize, len) }
    }

    /// Transposes: `dst[v * dst_stride + u] = src[u * src_stride + v]` for `u < nu` and `v < nv`,
    /// the extents.
    ///
    /// With a small `nu` this interleaves channel planes into pixels; with a small `nv` it
    /// separates pixels into channel planes.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn transpose<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        residency: Residency,
    ) {
        let block = TransposeBlock { residency, ..TransposeBlock::new(src, dst, extents) };
        // SAFETY: M1 to M3 hold for the same elements, by this function's contract.
        unsafe { portable::transpose::<L>(block) }
    }

    /// The bytes of the registers with which [`exchange_tiles`](Self::exchange_tiles) works; 0 if
    /// the level has none for it.
    #[cfg(feature = "in-place")]
    const EXCHANGED_BYTES: usize = 0;

    /// Exchanges two tiles, each transposed: of a cache line in each of as many rows as that is
    /// elements, `step` bytes apart. A tile that is both is transposed in its place. Only for
    /// levels that [have registers](Self::EXCHANGED_BYTES) for it.
    ///
    /// # Safety
    ///
    /// The tiles can be read and written, nobody else uses them, and they share no byte unless they
    /// are one.
    #[cfg(feature = "in-place")]
    #[inline(always)]
    unsafe fn exchange_tiles<L: Unit>(self, tiles: [*mut u8; 2], step: isize, how: TileExchange) {
        let _ = (tiles, step, how);
        unreachable!("no registers for tiles")
    }

    /// Transposes a block whose rows lie at offsets of tables, in bytes. The element at the offset
    /// `columns[u][1]` plus `rows[v][1]` from `src` is written at `columns[u][0]` plus `rows[v][0]`
    /// from `dst`.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements. The destination is adjacent along `columns`, the source along
    /// `rows`, the latter from offset 0 on.
    #[inline(always)]
    unsafe fn transpose_indexed<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        residency: Residency,
    ) {
        // SAFETY: M1 to M3 hold for the same elements, by this function's contract.
        unsafe { portable::transpose_indexed(IndexedBlock { src, dst, columns, rows, residency }) }
    }

    /// Assembles a block in each iteration of a loop, whose strides are in bytes: by the shuffles
    /// of the block, whose offsets are counted from `src` and `dst`.
    ///
    /// # Safety
    ///
    /// M1 for the sources of the shuffles of each block, M2 for the bytes of each block, M3.
    #[inline(always)]
    unsafe fn shuffle_blocks(
        self,
        src: *const u8,
        dst: *mut u8,
        shuffles: &LaneShuffles,
        blocks: Loop<2>,
    ) {
        // SAFETY: M1 to M3 hold for the same blocks, by this function's contract.
        unsafe { portable::shuffle_blocks(src, dst, shuffles, blocks) }
    }

    /// Transposes narrow runs. Returns `false`, and copies nothing, if the level has no registers
    /// for it.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the runs.
    #[inline(always)]
    unsafe fn transpose_narrow_runs(self, runs: NarrowRuns) -> bool {
        let _ = runs;
        false
    }

    /// Does this level pick elements out of whole registers?
    const PICKS: bool = false;

    /// Assembles a block in each iteration of a loop, whose strides are in bytes: by the picks of
    /// the block, whose offsets are counted from `src` and `dst`, and whose words are of type `L`.
    /// Only for levels that [pick](Self::PICKS).
    ///
    /// # Safety
    ///
    /// M1 for the windows of each block, M2 for the bytes of each block, M3.
    #[inline(always)]
    unsafe fn pick_blocks<L: Unit, const P: usize>(
        self,
        src: *const L,
        dst: *mut L,
        picks: &RegisterPicks<P>,
        blocks: Loop<2>,
    ) {
        let _ = (src, dst, picks, blocks);
        unreachable!("no instruction picks elements out of two registers")
    }

    /// Copies elements by listed picks. Only for levels that [pick](Self::PICKS).
    ///
    /// # Safety
    ///
    /// M1 for all bytes from the lowest element of the source to the highest, M2 for the result,
    /// M3. The elements are of type `L`, the first of each at `src` and `dst`.
    #[inline(always)]
    unsafe fn copy_picked<L: Unit>(self, src: *const L, dst: *mut L, picks: &PickedCopy) {
        let _ = (src, dst, picks);
        unreachable!("no instruction picks elements out of two registers")
    }

    /// [`Isa::transpose`] with non-temporal stores of the whole cache lines, and plain stores of
    /// the rest. It falls back to plain stores where the level has no non-temporal stores, or where
    /// `dst_stride` is not a multiple of a line, so that rows start at different offsets in a line.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn transpose_stream<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
    ) {
        // SAFETY: M1 to M3 hold for the same elements, by this function's contract.
        unsafe { self.transpose(src, dst, extents, Residency::Memory) }
    }

    /// True if the level has [`Isa::transpose_stitched`].
    const STITCHES_LINES: bool = false;

    /// Are these also stitched if `nv` is less than a lane has elements?
    const STITCHES_SHORT_ROWS: bool = false;

    /// [`Isa::transpose`] with non-temporal stores of whole cache lines, for rows that start at any
    /// offset in a line. The end of each row that does not fill a line is kept in `pending`, which
    /// has a line per row, and is written with the columns that follow. [`Isa::finish_stitched`]
    /// writes the last of it.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements. The level [stitches lines](Isa::STITCHES_LINES), `nu`
    /// elements are a whole number of lines, addresses and steps in bytes are multiples of `L`'s
    /// width, or of 4 if that is more. If `nv` is less than a lane has elements, M1 holds for the
    /// source rows of a line more.
    /// `pending` is aligned to a line and has `nv` lines; unless these columns are the `first`, the
    /// lines hold what the previous call left in them.
    #[inline(always)]
    unsafe fn transpose_stitched<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        pending: *mut u8,
        first: bool,
    ) {
        let _ = (pending, first);
        // SAFETY: M1 to M3 hold for the same elements, by this function's contract.
        unsafe { self.transpose(src, dst, extents, Residency::Memory) }
    }

    /// Writes what [`Isa::transpose_stitched`] has left in `pending`. `dst` is the address of the
    /// column that would follow.
    ///
    /// # Safety
    ///
    /// The rows and `pending` are those of the last call of [`Isa::transpose_stitched`].
    #[inline(always)]
    unsafe fn finish_stitched(self, dst: *mut u8, dst_step: isize, nv: usize, pending: *const u8) {
        let _ = (dst, dst_step, nv, pending);
    }

    /// [`Isa::transpose_indexed`] with non-temporal stores of whole cache lines, for destination
    /// rows that start at any offset in a line. Their first and last bytes, which do not fill a
    /// line, are written by plain stores.
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_indexed`]. The level [stitches lines](Isa::STITCHES_LINES). There
    /// are at least as many columns as a line has elements, and as many rows as a lane has.
    /// Addresses and offsets in bytes are multiples of `L`'s width, or of 4 if that is more.
    /// `pending` is aligned to a line and has a line for each row.
    #[inline(always)]
    unsafe fn transpose_indexed_lines<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        tables: (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
    ) {
        let _ = pending;
        // SAFETY: M1 to M3 hold for the same elements, by this function's contract.
        unsafe { self.transpose_indexed(src, dst, tables, Residency::Memory) }
    }

    /// Writes rows of columns from scratch to memory. Bytes that do not fill a line may stay in
    /// scratch: they are moved `tail_shift` bytes towards the front, and are written with the
    /// columns that follow.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the rows. Columns that are not the first follow those of the previous call.
    /// The first ones reach the end of their line, unless rows end with them.
    /// In scratch the line before each row and the line after it can be read and written. In every
    /// row `src` and `dst` have the same offset within a cache line.
    #[inline(always)]
    unsafe fn flush<L: Unit>(self, rows: StagedRows) {
        // SAFETY: M1 to M3 hold for the rows, by this function's contract.
        unsafe { portable::flush(rows) }
    }

    /// Makes non-temporal stores visible before any store that follows.
    #[inline(always)]
    fn fence(self) {}
}

/// The portable instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

#[cfg(feature = "elementwise")]
impl Finishes for Scalar {}

impl Isa for Scalar {
    type Copies = Self;

    #[inline(always)]
    fn copies(self) -> Self {
        self
    }

    #[cfg(feature = "elementwise")]
    type FmaMode = Baseline;
}

impl Vectorize for Scalar {
    #[inline(always)]
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(never)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        f.call()
    }
}

/// Work to be compiled for an instruction set that is chosen at run time.
pub(crate) trait Kernel {
    /// The result of the work.
    type Output;

    /// Does the work. Implementations are `#[inline(always)]`, and so is everything they call.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}
