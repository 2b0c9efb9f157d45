//! Non-temporal transposes of blocks whose rows lie at offsets of tables.
//!
//! Lines are stitched as those of [`stitch`], and rows are looked up as those of [`indexed`], so
//! columns and rows may be any number of loops. A block starts and ends its destination rows: their
//! first and last lines are written in part.

use pulp::NullaryFnOnce;

#[cfg(feature = "elementwise")]
use super::finish::Several;
use super::{
    across_lanes::FunnelShift,
    finish::{Epilogue, Keep},
    indexed,
    register::{Computes, Registers},
    source::Listed,
    source_ahead::IndexedAhead,
    stitch,
    unroll::unrolled,
};
#[cfg(feature = "elementwise")]
use crate::kernel::register_op::Finishing;
use crate::{
    kernel::{indexed_block::IndexedBlock, unit::Unit},
    memory::CACHE_LINE,
};

/// A stitched transpose, compiled as a function of its own.
///
/// Invariant: only [`transpose`] makes it; the block and `pending` meet its contract, and F1 if
/// there is an operation.
struct StitchedTranspose<'t, R, L, E> {
    isa: R,
    block: IndexedBlock<'t, L>,
    pending: *mut u8,
    epilogue: E,
}

/// The whole lines of a block, and what is before the first one. Returns the number of columns that
/// have been written; the others are too few for a line.
///
/// # Safety
///
/// That of [`Isa::transpose_indexed_lines`](crate::kernel::Isa::transpose_indexed_lines), and F1 if
/// the epilogue is an operation.
#[inline(always)]
pub(super) unsafe fn transpose<R: Registers, L: Unit, E: Epilogue>(
    isa: R,
    block: IndexedBlock<'_, L>,
    pending: *mut u8,
    epilogue: E,
) -> usize {
    isa.vectorize(StitchedTranspose { isa, block, pending, epilogue });
    let line = CACHE_LINE / L::WIDTH;
    block.columns.len() / line * line
}

/// A copy: all columns of a block.
///
/// # Safety
///
/// That of [`transpose`].
#[inline(always)]
pub(super) unsafe fn copy<R: Registers, L: Unit>(
    isa: R,
    block: IndexedBlock<'_, L>,
    pending: *mut u8,
) {
    // SAFETY: this function's contract.
    let done = unsafe { transpose::<R, L, _>(isa, block, pending, Keep) };
    if let Some(rest) = rest(block, done) {
        // SAFETY: M1 to M3 hold for the last columns of the block.
        unsafe { indexed::transpose(isa, rest) }
    }
}

/// The same of floats, whose results of an operation are written.
///
/// # Safety
///
/// That of [`transpose`], and F1.
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn finished<R: Registers, L: Unit>(
    isa: R,
    block: IndexedBlock<'_, L>,
    pending: *mut u8,
    finishing: &Finishing,
) {
    let done = if finishing.transposes_others() {
        // SAFETY: this function's contract.
        unsafe { transpose::<R, L, _>(isa, block, pending, Several(finishing)) }
    } else {
        // SAFETY: this function's contract.
        unsafe { transpose::<R, L, _>(isa, block, pending, finishing) }
    };
    if let Some(rest) = rest(block, done) {
        // SAFETY: M1 to M3 and F1 hold for the last columns of the block.
        unsafe { indexed::finished(isa, rest, finishing) }
    }
}

/// The columns of a block from `done` on, if there are any.
#[inline(always)]
pub(super) fn rest<L: Unit>(
    block: IndexedBlock<'_, L>,
    done: usize,
) -> Option<IndexedBlock<'_, L>> {
    let columns = &block.columns[done..];
    (!columns.is_empty()).then_some(IndexedBlock { columns, ..block })
}

impl<R: Registers, L: Unit, E: Epilogue> NullaryFnOnce for StitchedTranspose<'_, R, L, E> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block, pending, epilogue } = self;
        let line = CACHE_LINE / L::WIDTH;
        let last = block.rows.len() - L::PER_LANE;
        let ahead = IndexedAhead::new(&block);
        for u in (0..block.columns.len() / line * line).step_by(line) {
            let (mut v, mut nth) = (0, 0);
            loop {
                let at = v.min(last);
                if const { E::PREFETCHES } {
                    nth = ahead.prefetch(&block, (u, at), nth);
                }
                // SAFETY: the invariant, for the columns of one line and the rows of one lane. Rows
                // that the last tile shares with the one before have been written already.
                unsafe {
                    tile::<R::Full, L, E>(isa.into(), &block, (u, at), v - at, pending, epilogue);
                }
                v = at + L::PER_LANE;
                if v >= block.rows.len() {
                    break;
                }
            }
        }
        let end = block.columns.len() / line * CACHE_LINE;
        let dst = block.dst.cast::<u8>().wrapping_add(end);
        for (v, row) in block.rows.iter().enumerate() {
            let line = pending.wrapping_add(v * CACHE_LINE).cast_const();
            // SAFETY: the lines before have been stitched; M2 holds for the row.
            unsafe { stitch::finish_row(isa, dst.wrapping_offset(row[0]), line) };
        }
    }
}

/// One line of columns from `u` on, of one lane of rows from `v` on, of which the first `done` are
/// not written.
///
/// # Safety
///
/// That of [`transpose`]; the columns and rows are in the block.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn tile<V: FunnelShift + Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: &IndexedBlock<'_, L>,
    (u, v): (usize, usize),
    done: usize,
    pending: *mut u8,
    epilogue: E,
) {
    let columns = &block.columns[u..u + CACHE_LINE / L::WIDTH];
    let rows = &block.rows[v..v + L::PER_LANE];
    let src = block.src.wrapping_add(v).cast::<u8>();
    let dst = block.dst.wrapping_add(u).cast::<u8>();
    let at = |i: usize| dst.wrapping_offset(rows[i][0]);
    // SAFETY: M1 holds for a lane of each of these source rows, F1 for the block.
    let lines = unsafe { epilogue.load::<V, L>(token, (Listed(columns), src), at, None) };
    unrolled!(i in 0..L::PER_LANE, 16 => if i >= done {
        let line = pending.wrapping_add((v + i) * CACHE_LINE);
        // SAFETY: M2 holds for this row, whose line of `pending` this is.
        unsafe { stitch::put::<V, L>(token, lines[i], at(i), line, u == 0) }
    });
}
