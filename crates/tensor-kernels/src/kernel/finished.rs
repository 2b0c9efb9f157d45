//! Transposes that compute an operation, as the kernels of an instruction set.
//!
//! The code that runs a copy walks loops and calls kernels. With these kernels in place of those of
//! the instruction set, the same code runs the copy of an operand and computes with it.

use pulp::NullaryFnOnce;

use super::{
    finishes::Finishes,
    indexed_block::IndexedBlock,
    isa::{Isa, Kernel, Vectorize},
    register_op::Finishing,
    staged_rows::StagedRows,
    transpose_block::{Residency, TransposeBlock},
    unit::Unit,
};
use crate::memory::Stores;

/// The transposes of an instruction set, with an operation computed between them and their stores.
/// The other kernels of [`Isa`] compute nothing. They write what the transposes have computed, from
/// scratch to memory; plans in which they copy elements of the source are not run with these.
#[derive(Clone, Copy)]
pub(crate) struct Finished<'f, I> {
    isa: I,
    finishing: &'f Finishing,
}

impl<'f, I: Isa> Finished<'f, I> {
    #[inline(always)]
    pub(crate) fn new(isa: I, finishing: &'f Finishing) -> Self {
        Self { isa, finishing }
    }

    /// # Safety
    ///
    /// M1, M2 and M3 for the block.
    #[inline(always)]
    unsafe fn finish<L: Unit>(self, block: TransposeBlock, stores: Stores) {
        // SAFETY: M1 to M3, by this function's contract; F1, as only operations make this.
        unsafe { self.isa.transpose_finished::<L>(block, stores, self.finishing) }
    }
}

/// A kernel that is run with these transposes.
struct WithFinishing<'f, K> {
    kernel: K,
    finishing: &'f Finishing,
}

impl<K: Kernel> Kernel for WithFinishing<'_, K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> K::Output {
        self.kernel.run(Finished { isa, finishing: self.finishing })
    }
}

impl<I: Isa> Vectorize for Finished<'_, I> {
    #[inline(always)]
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        self.isa.run_kernel(WithFinishing { kernel, finishing: self.finishing })
    }

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        self.isa.vectorize(f)
    }
}

/// What computes already computes nothing else.
impl<I: Isa> Finishes for Finished<'_, I> {}

impl<I: Isa> Isa for Finished<'_, I> {
    type FmaMode = I::FmaMode;

    const HAS_WIDE_REGISTERS: bool = I::HAS_WIDE_REGISTERS;

    type Copies = I;

    #[inline(always)]
    fn copies(self) -> I {
        self.isa
    }

    /// If other operands are transposed too, what is staged are results already.
    #[inline(always)]
    fn finishes_rows(self) -> bool {
        !self.finishing.transposes_others()
    }

    #[inline(always)]
    unsafe fn finish_rows<L: Unit>(self, rows: StagedRows) {
        // SAFETY: this function's contract.
        unsafe { self.isa.compute_rows::<L>(rows, self.finishing) }
    }

    const ONLY_FLOATS: bool = true;

    const STITCHES_LINES: bool = I::STITCHES_LINES;

    #[inline(always)]
    unsafe fn transpose<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        residency: Residency,
    ) {
        let residency = residency.max(self.finishing.residency);
        let block = TransposeBlock { residency, ..TransposeBlock::new(src, dst, extents) };
        // SAFETY: this function's contract.
        unsafe { self.finish::<L>(block, Stores::Plain) }
    }

    #[inline(always)]
    unsafe fn transpose_stream<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
    ) {
        let block = TransposeBlock::new(src, dst, extents);
        // SAFETY: this function's contract.
        unsafe { self.finish::<L>(block, Stores::NonTemporal) }
    }

    #[inline(always)]
    unsafe fn transpose_indexed<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        residency: Residency,
    ) {
        let residency = residency.max(self.finishing.residency);
        let block = IndexedBlock { src, dst, columns, rows, residency };
        // SAFETY: M1 to M3, by this function's contract; F1, as only operations make this.
        unsafe { self.isa.transpose_indexed_finished(block, self.finishing) }
    }

    #[inline(always)]
    unsafe fn transpose_stitched<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        pending: *mut u8,
        first: bool,
    ) {
        let (isa, pending) = (self.isa, (pending, first));
        // SAFETY: this function's contract; F1, as only operations make this.
        unsafe { isa.transpose_stitched_finished(src, dst, extents, pending, self.finishing) }
    }

    #[inline(always)]
    unsafe fn finish_stitched(self, dst: *mut u8, dst_step: isize, nv: usize, pending: *const u8) {
        // SAFETY: this function's contract: what is pending are results.
        unsafe { self.isa.finish_stitched(dst, dst_step, nv, pending) }
    }

    #[inline(always)]
    unsafe fn transpose_indexed_lines<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        tables: (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
    ) {
        // SAFETY: this function's contract; F1, as only operations make this.
        unsafe {
            self.isa.transpose_indexed_lines_finished(src, dst, tables, pending, self.finishing);
        }
    }

    #[inline(always)]
    unsafe fn flush<L: Unit>(self, rows: StagedRows) {
        if self.finishes_rows() {
            // SAFETY: this function's contract: elements have been staged.
            unsafe { self.isa.flush_finished::<L>(rows, self.finishing) }
        } else {
            // SAFETY: this function's contract: results have been staged.
            unsafe { self.isa.flush::<L>(rows) }
        }
    }

    #[inline(always)]
    unsafe fn run<L: Unit>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: this function's contract: results have been packed.
        unsafe { self.isa.run(src, dst, len, stores) }
    }

    #[inline(always)]
    fn fence(self) {
        self.isa.fence();
    }
}
