//! Non-temporal transposes whose destination rows do not start at a cache line.
//!
//! A tile produces one register per row: as many columns as a line has elements, which lie across
//! two lines of memory. The kernel keeps the previous register of every row in `pending`, a line
//! per row. It stitches the next whole line from the end of the previous register and the start of
//! the new one. So only whole lines are written, whatever the alignment of each row.
//!
//! # Tried and dropped
//!
//! - Stitching through memory: each register is stored after the one before it, and whole lines are
//!   read back. The reads wait for the stores before them, including the non-temporal ones.
//! - Scratch that collects some lines of each row before they are written: reads and writes of
//!   memory no longer overlap. A third slower.

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

use super::{
    across_lanes::FunnelShift,
    copy::copy_plain,
    finish::Epilogue,
    gather::{Sink, register_of_short_rows},
    register::{Computes, Registers, Vector},
    source::Strided,
    source_ahead::{prefetch_distance, prefetch_source},
    unroll::unrolled,
};
use crate::{
    kernel::{transpose_block::TransposeBlock, unit::Unit},
    memory::CACHE_LINE,
};

/// A stitched transpose, compiled as a function of its own.
///
/// Invariant: only [`transpose`] makes it; the block and `pending` meet its contract, and F1 if
/// there is an operation.
struct StitchedTranspose<R, L, E> {
    isa: R,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
    epilogue: E,
    unit: PhantomData<L>,
}

/// See [`Isa::transpose_stitched`](crate::kernel::Isa::transpose_stitched).
///
/// # Safety
///
/// That of [`Isa::transpose_stitched`](crate::kernel::Isa::transpose_stitched), and F1 if the
/// epilogue is an operation.
#[inline(always)]
pub(super) unsafe fn transpose<R: Registers, L: Unit, E: Epilogue>(
    isa: R,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
    epilogue: E,
) {
    let unit = PhantomData::<L>;
    isa.vectorize(StitchedTranspose { isa, block, pending, first, epilogue, unit });
}

impl<R: Registers, L: Unit, E: Epilogue> NullaryFnOnce for StitchedTranspose<R, L, E> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block, pending, first, epilogue, .. } = self;
        let tile_rows = CACHE_LINE / L::WIDTH;
        if block.nv < L::PER_LANE {
            // SAFETY: the invariant; only copies have source rows shorter than a lane.
            return unsafe { short_rows::<R::Full, L>(isa.into(), block, pending, first) };
        }
        let distance = prefetch_distance::<L>(block);
        for u in (0..block.nu).step_by(tile_rows) {
            let part = block.rows_from::<L>(u);
            let mut v = 0;
            loop {
                let at = v.min(block.nv.saturating_sub(L::PER_LANE));
                let columns = part.columns_from::<L>(at);
                if const { E::PREFETCHES } {
                    prefetch_source::<L>(part, at, L::PER_LANE, distance);
                }
                // Rows that the last tile shares with the one before have been written already.
                let done = v - at;
                // SAFETY: the invariant, for the columns of one line and `PER_LANE` rows; the lines
                // of rows from `at` on are their own.
                unsafe {
                    tile::<R::Full, L, E>(
                        isa.into(),
                        columns,
                        pending.wrapping_add(at * CACHE_LINE),
                        (first && u == 0, done),
                        epilogue,
                    );
                };
                v = at + L::PER_LANE;
                if v >= block.nv {
                    break;
                }
            }
        }
    }
}

/// Source rows shorter than a lane.
///
/// # Safety
///
/// That of [`transpose`].
#[inline(always)]
unsafe fn short_rows<V: FunnelShift + Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
) {
    for u in (0..block.nu).step_by(CACHE_LINE / L::WIDTH) {
        let lines = PendingLines { token, pending, first: first && u == 0, unit: PhantomData::<L> };
        // SAFETY: the contract of [`transpose`]: M1 holds for these rows and those of a line more.
        unsafe { register_of_short_rows::<V, L>(token, block.rows_from::<L>(u), lines) }
    }
}

/// A line for each destination row, which holds the bytes before the next columns unless these are
/// the `first`.
///
/// Invariant: `pending` has a line for each row of the blocks whose registers are put.
struct PendingLines<V: Vector, L> {
    token: V::Token,
    pending: *mut u8,
    first: bool,
    unit: PhantomData<L>,
}

impl<V: Vector, L> Clone for PendingLines<V, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Vector, L> Copy for PendingLines<V, L> {}

impl<V: FunnelShift + Vector, L: Unit> Sink<V> for PendingLines<V, L> {
    #[inline(always)]
    unsafe fn put(self, register: V, block: TransposeBlock, row: usize) {
        let line = self.pending.wrapping_add(row * CACHE_LINE);
        // SAFETY: this function's contract, and the invariant.
        unsafe { put::<V, L>(self.token, register, block.dst_row(row), line, self.first) }
    }
}

/// The source rows of one line by `PER_LANE` columns, of which the first `done` are not written.
///
/// # Safety
///
/// That of [`transpose`].
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn tile<V: FunnelShift + Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    pending: *mut u8,
    (first, done): (bool, usize),
    epilogue: E,
) {
    let source = (Strided(block.src_step), block.src);
    // SAFETY: M1 holds: the source rows have `PER_LANE` elements from here on. F1 holds for the
    // block.
    let columns = unsafe { epilogue.load::<V, L>(token, source, |i| block.dst_row(i), None) };
    unrolled!(i in 0..L::PER_LANE, 16 => if i >= done {
        // SAFETY: M2 holds for destination row `i`, whose pending line is line `i` of `pending`.
        unsafe {
            let line = pending.wrapping_add(i * CACHE_LINE);
            put::<V, L>(token, columns[i], block.dst_row(i), line, first);
        }
    });
}

/// Writes the line that this register completes, and keeps the register in `pending`.
///
/// # Safety
///
/// M2 for the register's bytes at `dst`. `pending` is an aligned line; unless these columns are the
/// `first` it holds the bytes before them.
#[inline(always)]
pub(super) unsafe fn put<V: FunnelShift, L: Unit>(
    token: V::Token,
    register: V,
    dst: *mut u8,
    pending: *mut u8,
    first: bool,
) {
    if first {
        // SAFETY: M2 holds for a register at `dst`.
        unsafe { register.store(dst) }
    } else {
        // SAFETY: `pending` is an aligned line that the previous call has written.
        let before = unsafe { V::load(token, pending) };
        let back = dst.addr() % CACHE_LINE;
        // SAFETY: M2 holds for this whole line; its first bytes belong to the columns before.
        unsafe { before.funnel_shift::<L>(register, back).stream(dst.wrapping_sub(back)) }
    }
    // SAFETY: `pending` is an aligned line that belongs to this row alone.
    unsafe { register.store(pending) }
}

/// See [`Isa::finish_stitched`](crate::kernel::Isa::finish_stitched).
///
/// # Safety
///
/// That of [`Isa::finish_stitched`](crate::kernel::Isa::finish_stitched).
#[inline(always)]
pub(super) unsafe fn finish<R: Registers>(
    isa: R,
    dst: *mut u8,
    dst_step: isize,
    nv: usize,
    pending: *const u8,
) {
    for v in 0..nv {
        let dst = dst.wrapping_offset(v as isize * dst_step);
        // SAFETY: this function's contract, for a row.
        unsafe { finish_row(isa, dst, pending.wrapping_add(v * CACHE_LINE)) };
    }
}

/// Writes what has been left in the line `pending` of a row; the next column would be at `dst`.
///
/// # Safety
///
/// M2 for the row's bytes before `dst` and in its line. The line of `pending` ends with them.
#[inline(always)]
pub(super) unsafe fn finish_row<R: Registers>(isa: R, dst: *mut u8, pending: *const u8) {
    let left = dst.addr() % CACHE_LINE;
    let from = pending.wrapping_add(CACHE_LINE - left);
    // SAFETY: this function's contract.
    unsafe { copy_plain(isa, from, dst.wrapping_sub(left), left) }
}
