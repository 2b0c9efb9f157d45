//! Implements the kernels of [`Finishes`] for every instruction set with [`Registers`].

use super::{
    finish::Several, finished_rows, indexed, register::Registers, row_writer, stitch,
    stitch_indexed, transpose,
};
use crate::{
    kernel::{
        finishes::Finishes,
        indexed_block::IndexedBlock,
        register_op::Finishing,
        staged_rows::StagedRows,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::Stores,
};

impl<R: Registers> Finishes for R {
    #[inline(always)]
    unsafe fn transpose_finished<L: Unit>(
        self,
        block: TransposeBlock,
        stores: Stores,
        finishing: &Finishing,
    ) {
        // SAFETY: M1 to M3 and F1 hold for the elements of the block.
        unsafe { transpose::finished::<R, L>(self, block, stores, finishing) }
    }

    #[inline(always)]
    unsafe fn compute_rows<L: Unit>(self, rows: StagedRows, finishing: &Finishing) {
        // SAFETY: this function's contract.
        unsafe { finished_rows::compute::<R, L>(self, rows, finishing) }
    }

    #[inline(always)]
    unsafe fn transpose_indexed_finished<L: Unit>(
        self,
        block: IndexedBlock<'_, L>,
        finishing: &Finishing,
    ) {
        // SAFETY: M1 to M3 and F1 hold for the elements of the block.
        unsafe { indexed::finished(self, block, finishing) }
    }

    #[inline(always)]
    unsafe fn transpose_stitched_finished<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        (pending, first): (*mut u8, bool),
        finishing: &Finishing,
    ) {
        let block = TransposeBlock::new(src, dst, extents);
        if finishing.transposes_others() {
            // SAFETY: `Isa::transpose_stitched`'s contract and F1, for the same elements.
            unsafe { stitch::transpose::<R, L, _>(self, block, pending, first, Several(finishing)) }
        } else {
            // SAFETY: `Isa::transpose_stitched`'s contract and F1, for the same elements.
            unsafe { stitch::transpose::<R, L, _>(self, block, pending, first, finishing) }
        }
    }

    #[inline(always)]
    unsafe fn transpose_indexed_lines_finished<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
        finishing: &Finishing,
    ) {
        let residency = Residency::Memory;
        let block = IndexedBlock { src, dst, columns, rows, residency };
        // SAFETY: `Isa::transpose_indexed_lines`'s contract and F1, for the same elements.
        unsafe { stitch_indexed::finished(self, block, pending, finishing) }
    }

    #[inline(always)]
    unsafe fn flush_finished<L: Unit>(self, rows: StagedRows, finishing: &Finishing) {
        // SAFETY: `Isa::flush`'s contract and F1, for the same rows.
        unsafe { row_writer::flush_finished::<R, L>(self, rows, finishing) }
    }
}
