//! What one instruction set offers: the kernels, each with a portable default, and the proof that
//! the CPU has it.

use pulp::NullaryFnOnce;

use super::{portable, transpose_block::TransposeBlock, unit::Unit};
use crate::{
    math::{Baseline, FmaMode},
    memory::Stores,
};

/// Rows in scratch that are ready to leave it: see [`Isa::flush`]. Steps are in bytes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernel moves all bytes at once")
)]
pub(crate) struct StagedRows {
    /// The first column of the first row, in scratch.
    pub(crate) src: *mut u8,
    /// From row to row.
    pub(crate) src_step: isize,
    /// Where it belongs.
    pub(crate) dst: *mut u8,
    /// From row to row.
    pub(crate) dst_step: isize,
    /// How many rows.
    pub(crate) count: usize,
    /// The columns of a row.
    pub(crate) bytes: usize,
    /// Do rows start with these columns?
    pub(crate) is_first: bool,
    /// Do they end with them?
    pub(crate) is_last: bool,
    /// How far to move what is left in front, a multiple of a line.
    pub(crate) tail_shift: usize,
}

/// The kernels of one instruction set, and the proof (M5) that the CPU has it.
///
/// Strides and steps are signed and count elements. The defaults are the portable kernels.
pub(crate) trait Isa: Copy + Send + Sync {
    /// Whether products and sums can be fused.
    type FmaMode: FmaMode;

    /// Compiles `f`, and whatever is inlined into it, for this instruction set. A closure works; a
    /// type whose `call` is `#[inline(always)]` is sure to be inlined.
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output;

    /// Copies `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn run<L: Unit>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::run(src, dst, len) }
    }

    /// Writes `value` to `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M2 for `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn fill<L: Unit>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M2 for `len` elements: the same contract.
        unsafe { portable::fill(value, dst, len) }
    }

    /// Collects `len` elements `step` apart: `dst[i] = src[i * step]`. A step of -1 reverses.
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
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::gather::<L>(src.cast(), step * L::WIDTH as isize, dst.cast(), len) }
    }

    /// Spreads `len` elements `step` apart: `dst[i * step] = src[i]`.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements, `i < len`.
    #[inline(always)]
    unsafe fn scatter_run<L: Unit>(self, src: *const L, dst: *mut L, step: isize, len: usize) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::scatter::<L>(src.cast(), dst.cast(), step * L::WIDTH as isize, len) }
    }

    /// Transposes: `dst[v * dst_stride + u] = src[u * src_stride + v]` for `u < nu` and `v < nv`.
    ///
    /// Small extents are the interleaving of a few planes into pixels (`nu`), or the reverse
    /// (`nv`).
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn transpose<L: Unit>(
        self,
        src: *const L,
        src_stride: isize,
        dst: *mut L,
        dst_stride: isize,
        nu: usize,
        nv: usize,
    ) {
        let block = TransposeBlock::new((src, src_stride), (dst, dst_stride), (nu, nv));
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::transpose::<L>(block) }
    }

    /// [`Isa::transpose`] with streamed stores of whole lines, if the level has them and
    /// `dst_stride` is a multiple of a line, so that all rows start alike; with plain stores of the
    /// rest.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn transpose_stream<L: Unit>(
        self,
        src: *const L,
        src_stride: isize,
        dst: *mut L,
        dst_stride: isize,
        nu: usize,
        nv: usize,
    ) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { self.transpose(src, src_stride, dst, dst_stride, nu, nv) }
    }

    /// Are there streamed transposes of rows that do not start where lines do?
    const STITCHES_LINES: bool = false;

    /// [`Isa::transpose`] with streamed stores of whole lines, for rows that start anywhere: what
    /// does not fill a line is kept in `carry`, a line for each row, until the columns that follow.
    /// [`Isa::finish_stitched`] writes the last of it.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements. The level [carries](Isa::STITCHES_LINES), `nu` is a multiple of a
    /// line, addresses and steps in bytes are multiples of 4; `carry` is aligned and has `nv`
    /// lines, which hold what the columns before left in them unless these are the `first` ones.
    #[inline(always)]
    unsafe fn transpose_stitched<L: Unit>(
        self,
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
        pending: *mut u8,
        first: bool,
    ) {
        let _ = (pending, first);
        // SAFETY: M1 to M3 for these elements: the same contract.
        unsafe { self.transpose(src, src_stride, dst, dst_stride, nu, nv) }
    }

    /// Writes what [`Isa::transpose_stitched`] has left in `carry`; `dst` is where the columns that
    /// would follow start.
    ///
    /// # Safety
    ///
    /// Rows and `carry` as there.
    #[inline(always)]
    unsafe fn finish_stitched(self, dst: *mut u8, dst_step: isize, nv: usize, pending: *const u8) {
        let _ = (dst, dst_step, nv, pending);
    }

    /// Moves rows of columns from scratch to memory. What does not fill a line may stay in scratch,
    /// `back` bytes towards the front, and leaves with the columns that follow.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the rows; columns that are not the `first` follow those that the last call
    /// moved. In scratch the row's line before, and the line after, can be read and written; `src`
    /// and `dst` are at the same place within a line, in every row.
    #[inline(always)]
    unsafe fn flush(self, rows: StagedRows) {
        for r in 0..rows.count as isize {
            let (src, dst) = (
                rows.src.wrapping_offset(r * rows.src_step),
                rows.dst.wrapping_offset(r * rows.dst_step),
            );
            // SAFETY: M1 to M3 for row `r`, of so many bytes.
            unsafe { portable::run(src.cast_const(), dst, rows.bytes) };
        }
    }

    /// Makes streamed stores visible before any store that follows.
    #[inline(always)]
    fn fence(self) {}
}

/// The portable instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Isa for Scalar {
    type FmaMode = Baseline;

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        f.call()
    }
}

/// Work to be compiled for an instruction set that is chosen at run time.
pub(crate) trait Kernel {
    /// What the work gives back.
    type Output;

    /// The work. Implementations are `#[inline(always)]`, and so is all they call.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}
