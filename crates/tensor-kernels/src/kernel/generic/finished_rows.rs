//! Computes an operation on rows of elements that a copy has staged in scratch, in place.
//!
//! Rows are transposed to scratch in blocks of any extents, by many kernels. They stay in the
//! first-level cache: one more pass over them takes less time than the few kernels that compute
//! would. In the registers that transpose them `neg` of 124,476 floats in blocks of 22 by 6 took
//! 1.6 times as long as the copy (Zen 5).

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

use super::{
    finish::adjacent,
    register::{Registers, Vector},
};
use crate::kernel::{portable, register_op::Finishing, staged_rows::StagedRows, unit::Unit};

/// Computes rows. A function of its own, as each of its calls computes many.
///
/// Invariant: only [`compute`] makes it; its contract.
struct FinishRows<'f, R, L> {
    isa: R,
    rows: StagedRows,
    finishing: &'f Finishing,
    unit: PhantomData<L>,
}

/// See [`Finishes::compute_rows`](crate::kernel::finishes::Finishes::compute_rows).
///
/// # Safety
///
/// The rows can be read and written in scratch; F1 for them.
#[inline(always)]
pub(super) unsafe fn compute<R: Registers, L: Unit>(
    isa: R,
    rows: StagedRows,
    finishing: &Finishing,
) {
    isa.vectorize(FinishRows { isa, rows, finishing, unit: PhantomData::<L> });
}

impl<R: Registers, L: Unit> NullaryFnOnce for FinishRows<'_, R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, rows, finishing, .. } = self;
        let token = isa.into();
        for row in 0..rows.count as isize {
            let src = rows.src.wrapping_offset(row * rows.src_step);
            let dst = rows.dst.wrapping_offset(row * rows.dst_step);
            let mut done = 0;
            while done + R::Native::BYTES <= rows.bytes {
                let (src, dst) = (src.wrapping_add(done), dst.wrapping_add(done));
                // SAFETY: the invariant: a register of the row.
                let t: R::Native = unsafe { Vector::load(token, src.cast_const()) };
                // SAFETY: F1 holds for the elements of this register.
                let result = unsafe { adjacent::<_, L>(finishing, token, t, dst) };
                // SAFETY: the invariant: a register of the row.
                unsafe { result.store(src) };
                done += R::Native::BYTES;
            }
            while done < rows.bytes {
                let (src, dst) = (src.wrapping_add(done), dst.wrapping_add(done));
                // SAFETY: the invariant, for an element.
                unsafe { portable::finish_in_place::<L>(src, dst, finishing) };
                done += L::WIDTH;
            }
        }
    }
}
