//! The kernels that compute an operation in the registers that transpose an operand, or on rows of
//! it in scratch; each with a portable default. Strides and steps are signed, and count elements.

use super::{
    indexed_block::IndexedBlock,
    portable,
    register_op::Finishing,
    staged_rows::StagedRows,
    transpose_block::{Residency, TransposeBlock},
    unit::Unit,
};
use crate::memory::Stores;

/// See the module.
pub(crate) trait Finishes: Copy {
    /// The transpose of a block of floats as wide as `L`, by plain or by non-temporal stores, as
    /// [`Isa::transpose_stream`](super::Isa::transpose_stream) has them. The results of an
    /// operation are written in their places.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 and F1 for these elements.
    #[inline(always)]
    unsafe fn transpose_finished<L: Unit>(
        self,
        block: TransposeBlock,
        stores: Stores,
        finishing: &Finishing,
    ) {
        let _ = stores;
        // SAFETY: M1 to M3 and F1 hold for the same elements, by this function's contract.
        unsafe { portable::transpose_finished::<L>(block, finishing) }
    }

    /// [`Isa::transpose_indexed`](super::Isa::transpose_indexed), as
    /// [`transpose_finished`](Self::transpose_finished).
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_indexed`](super::Isa::transpose_indexed), and F1.
    #[inline(always)]
    unsafe fn transpose_indexed_finished<L: Unit>(
        self,
        block: IndexedBlock<'_, L>,
        finishing: &Finishing,
    ) {
        // SAFETY: M1 to M3 and F1 hold for the same elements, by this function's contract.
        unsafe { portable::transpose_indexed_finished(block, finishing) }
    }

    /// [`Isa::transpose_stitched`](super::Isa::transpose_stitched), as
    /// [`transpose_finished`](Self::transpose_finished).
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_stitched`](super::Isa::transpose_stitched), and F1.
    #[inline(always)]
    unsafe fn transpose_stitched_finished<L: Unit>(
        self,
        src: (*const L, isize),
        dst: (*mut L, isize),
        extents: (usize, usize),
        (pending, first): (*mut u8, bool),
        finishing: &Finishing,
    ) {
        let _ = (pending, first);
        let block = TransposeBlock::new(src, dst, extents);
        // SAFETY: M1 to M3 and F1 hold for the same elements, by this function's contract.
        unsafe { self.transpose_finished::<L>(block, Stores::Plain, finishing) }
    }

    /// [`Isa::transpose_indexed_lines`](super::Isa::transpose_indexed_lines), as
    /// [`transpose_finished`](Self::transpose_finished).
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_indexed_lines`](super::Isa::transpose_indexed_lines), and F1.
    #[inline(always)]
    unsafe fn transpose_indexed_lines_finished<L: Unit>(
        self,
        src: *const L,
        dst: *mut L,
        (columns, rows): (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
        finishing: &Finishing,
    ) {
        let _ = pending;
        let block = IndexedBlock { src, dst, columns, rows, residency: Residency::Memory };
        // SAFETY: M1 to M3 and F1 hold for the same elements, by this function's contract.
        unsafe { self.transpose_indexed_finished(block, finishing) }
    }

    /// [`Isa::flush`](super::Isa::flush) of floats as wide as `L`, on which an operation is
    /// computed on the way.
    ///
    /// # Safety
    ///
    /// That of [`Isa::flush`](super::Isa::flush), and F1 for the lines that the rows have a part
    /// in: other operands are single values.
    #[inline(always)]
    unsafe fn flush_finished<L: Unit>(self, rows: StagedRows, finishing: &Finishing) {
        // SAFETY: this function's contract.
        unsafe { self.compute_rows::<L>(rows, finishing) }
        // SAFETY: this function's contract.
        unsafe { portable::flush(rows) }
    }

    /// Computes an operation on rows of floats as wide as `L` in scratch, in place.
    ///
    /// # Safety
    ///
    /// The rows can be read and written in scratch; F1 for their places in the result.
    #[inline(always)]
    unsafe fn compute_rows<L: Unit>(self, rows: StagedRows, finishing: &Finishing) {
        for row in 0..rows.count as isize {
            let src = rows.src.wrapping_offset(row * rows.src_step);
            let dst = rows.dst.wrapping_offset(row * rows.dst_step);
            for at in (0..rows.bytes).step_by(L::WIDTH) {
                let (src, dst) = (src.wrapping_add(at), dst.wrapping_add(at));
                // SAFETY: this function's contract, for an element.
                unsafe { portable::finish_in_place::<L>(src, dst, finishing) };
            }
        }
    }
}
